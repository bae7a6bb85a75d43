/** The caller of a tool, and the questions that a server may ask this caller. */

import { isAbsolute } from 'node:path'
import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitRequestParams,
  ElicitResult,
  LoggingLevel,
  Root,
} from '@modelcontextprotocol/client'
import { assertKnownKeys, canonicalJson, dropUndefined, invalid, isRecord } from '@toolwell/core/internal'

/** A log message of a server. */
export interface LogMessage {
  readonly level: LoggingLevel
  readonly logger?: string
  readonly data: unknown
}

/** Handlers of a server's questions and logs. Without a handler, the capability is not announced to the server. */
export interface CallerHandlers {
  /** Asks the user for input with a form, or with a URL if `capabilities` say so. */
  readonly elicit?: (request: ElicitRequestParams, signal: AbortSignal) => Promise<ElicitResult>
  /** Asks the caller's model. With tools only if `capabilities` say so. */
  readonly sample?: (
    request: CreateMessageRequestParams,
    signal: AbortSignal,
  ) => Promise<CreateMessageResult | CreateMessageResultWithTools>
  /** The folders in which the caller works. */
  readonly roots?: () => readonly Root[] | Promise<readonly Root[]>
  /** Receives logs of the server for this caller. */
  readonly log?: (message: LogMessage) => void
  /** Called when the user has finished at a URL that the server asked to open. Servers of the older protocol may report it. */
  readonly completed?: (elicitationId: string) => void
  /** Called if the server asks something for which there is no handler. The server gets an error. */
  readonly refused?: (method: string) => void
}

/** Capabilities of a caller, as in the protocol. */
export type CallerCapabilities = Pick<ClientCapabilities, 'elicitation' | 'sampling' | 'roots'>

export interface Caller {
  /** A program or person. With `share: client`, each client has its own server. Callers without a client count as one. */
  readonly client?: string
  /** With `share: conversation`, each conversation has its own server. Default: one conversation per client. */
  readonly conversation?: string
  /** Absolute path of the project folder. Default: the folder for which the config was read. */
  readonly workspace?: string
  /** Protocol of the caller, used for servers that support both. Default: the newest protocol of the server. */
  readonly era?: 'modern' | 'legacy'
  readonly handlers?: CallerHandlers
  /** Details of the handlers. Default: forms, completions without tools, roots that do not change. */
  readonly capabilities?: CallerCapabilities
  /** Minimum level of logs. Default: the server decides. */
  readonly logLevel?: LoggingLevel
}

const CALLER_KEYS = [
  'client',
  'conversation',
  'workspace',
  'era',
  'handlers',
  'capabilities',
  'logLevel',
] as const satisfies readonly (keyof Caller)[]
const HANDLER_KEYS = [
  'elicit',
  'sample',
  'roots',
  'log',
  'completed',
  'refused',
] as const satisfies readonly (keyof CallerHandlers)[]
const CAPABILITY_KEYS = {
  elicitation: 'elicit',
  sampling: 'sample',
  roots: 'roots',
} as const satisfies Record<keyof CallerCapabilities, keyof CallerHandlers>
/** Most verbose first. */
const LOG_LEVELS: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

/** Throws `invalid-option` for unknown handlers. */
function assertHandlers(handlers: unknown, path: string): void {
  assertKnownKeys(handlers, HANDLER_KEYS, path)
  for (const [name, handler] of Object.entries(handlers as object))
    if (handler !== undefined && typeof handler !== 'function')
      throw invalid(`${path}.${name}`, `${path}.${name} must be a function.`)
}

/** Throws `invalid-option` for an invalid caller. */
export function assertCaller(caller: Caller, path = 'caller'): void {
  assertKnownKeys(caller, CALLER_KEYS, path)
  const { workspace, era, handlers, capabilities, logLevel } = caller
  if (handlers !== undefined) assertHandlers(handlers, `${path}.handlers`)
  if (workspace !== undefined && (typeof workspace !== 'string' || !isAbsolute(workspace)))
    throw invalid(`${path}.workspace`, `${path}.workspace must be the absolute path of a folder.`)
  if (era !== undefined && era !== 'modern' && era !== 'legacy')
    throw invalid(`${path}.era`, `${path}.era must be "modern" or "legacy".`)
  if (logLevel !== undefined && !LOG_LEVELS.includes(logLevel))
    throw invalid(`${path}.logLevel`, `${path}.logLevel must be one of ${LOG_LEVELS.join(', ')}.`)
  if (capabilities === undefined) return
  assertKnownKeys(capabilities, Object.keys(CAPABILITY_KEYS), `${path}.capabilities`)
  for (const [name, handler] of Object.entries(CAPABILITY_KEYS))
    if (capabilities[name as keyof CallerCapabilities] !== undefined && handlers?.[handler] === undefined)
      throw invalid(
        `${path}.capabilities`,
        `${path}.capabilities.${name} needs ${path}.handlers.${handler} to answer the server's questions.`,
      )
}

/** Capabilities that are announced to a server: those with a handler. */
export function readCapabilities({ handlers = {}, capabilities }: Caller): CallerCapabilities {
  const { elicit, sample, roots } = handlers
  const { elicitation, sampling, roots: changing } = capabilities ?? DEFAULT_CAPABILITIES
  const has = (value: unknown) => (value === undefined ? undefined : {})
  return dropUndefined({
    elicitation:
      elicit && elicitation
        ? // Default: forms.
          dropUndefined({
            form: has(elicitation.form ?? (elicitation.url === undefined ? {} : undefined)),
            url: has(elicitation.url),
          })
        : undefined,
    sampling:
      sample && sampling
        ? dropUndefined({ context: has(sampling.context), tools: has(sampling.tools) })
        : undefined,
    roots: roots && changing ? dropUndefined({ listChanged: changing.listChanged || undefined }) : undefined,
  })
}

const DEFAULT_CAPABILITIES: CallerCapabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }

/** Key of capabilities. */
export function capabilityKey(capabilities: CallerCapabilities): string {
  return Object.keys(capabilities).length === 0 ? '' : canonicalJson(capabilities)
}

/** Are all of these capabilities among those? */
export function isWithin(these: unknown, those: unknown): boolean {
  if (!isRecord(these) || !isRecord(those)) return these === undefined || isRecord(these) === isRecord(those)
  return Object.keys(these).every((key) => Object.hasOwn(those, key) && isWithin(these[key], those[key]))
}

/** Does a message of `level` reach the minimum level `from`? */
export function isLoudEnough(level: LoggingLevel, from: LoggingLevel | undefined): boolean {
  return from === undefined || LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(from)
}

export function isLogLevel(value: unknown): value is LoggingLevel {
  return LOG_LEVELS.includes(value as LoggingLevel)
}
