/** Who makes a call, and what a server may ask of whoever made it. */

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
import { assertKnownKeys, canonicalJson, defined, invalid, isRecord } from '@toolwell/core/internal'

/** A line that a server logs. */
export interface LogMessage {
  readonly level: LoggingLevel
  readonly logger?: string
  readonly data: unknown
}

/** What a server may ask back, and tell. Left out: the server is told that it cannot be asked. */
export interface CallerHandlers {
  /** Asks the user for input: a form, or where `capabilities` say so an address to open. */
  readonly elicit?: (request: ElicitRequestParams, signal: AbortSignal) => Promise<ElicitResult>
  /** Asks the caller's model; with tools only where `capabilities` say so. */
  readonly sample?: (
    request: CreateMessageRequestParams,
    signal: AbortSignal,
  ) => Promise<CreateMessageResult | CreateMessageResultWithTools>
  /** The folders that the caller works in. */
  readonly roots?: () => readonly Root[] | Promise<readonly Root[]>
  /** What the server logs while it works for this caller. */
  readonly log?: (message: LogMessage) => void
}

/** What a caller can do, as the protocol writes it. */
export type CallerCapabilities = Pick<ClientCapabilities, 'elicitation' | 'sampling' | 'roots'>

export interface Caller {
  /** One program or person; `share: client` keeps a server for each. Those without one count as one client. */
  readonly client?: string
  /** `share: conversation` keeps a server for each. Left out: all of it is one conversation of the client. */
  readonly conversation?: string
  /** The folder of the project, absolute. Left out: the one that the config was read for. */
  readonly workspace?: string
  /** What the caller itself speaks: a server that speaks both is spoken to in the same way. Left out: the newest that the server speaks. */
  readonly era?: 'modern' | 'legacy'
  readonly handlers?: CallerHandlers
  /** What it can do of what its handlers are for. Left out: forms, completions without tools, roots that do not change. */
  readonly capabilities?: CallerCapabilities
  /** From which level on it wants to have logs. Left out: what the server sends by itself. */
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
const HANDLER_KEYS = ['elicit', 'sample', 'roots', 'log'] as const satisfies readonly (keyof CallerHandlers)[]
const CAPABILITY_KEYS = {
  elicitation: 'elicit',
  sampling: 'sample',
  roots: 'roots',
} as const satisfies Record<keyof CallerCapabilities, keyof CallerHandlers>
/** The most talkative first. */
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

/** Throws `invalid-option` for a handler that nobody would call. */
function assertHandlers(handlers: unknown, path: string): void {
  assertKnownKeys(handlers, HANDLER_KEYS, path)
  for (const [name, handler] of Object.entries(handlers as object))
    if (handler !== undefined && typeof handler !== 'function')
      throw invalid(`${path}.${name}`, `${path}.${name} must be a function.`)
}

/** Throws `invalid-option` for a caller that means something else than it says. */
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
        `${path}.capabilities.${name} needs ${path}.handlers.${handler}: a server would ask, and nobody would answer.`,
      )
}

/** What a server is told that it may ask: what the caller can do, and has a handler for. */
export function readCapabilities({ handlers = {}, capabilities }: Caller): CallerCapabilities {
  const { elicit, sample, roots } = handlers
  const { elicitation, sampling, roots: changing } = capabilities ?? DEFAULT_CAPABILITIES
  const has = (value: unknown) => (value === undefined ? undefined : {})
  return defined({
    elicitation:
      elicit && elicitation
        ? // Where neither is named, forms are meant.
          defined({
            form: has(elicitation.form ?? (elicitation.url === undefined ? {} : undefined)),
            url: has(elicitation.url),
          })
        : undefined,
    sampling:
      sample && sampling
        ? defined({ context: has(sampling.context), tools: has(sampling.tools) })
        : undefined,
    roots: roots && changing ? defined({ listChanged: changing.listChanged || undefined }) : undefined,
  })
}

const DEFAULT_CAPABILITIES: CallerCapabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }

/** What may be asked, as a key. */
export function capabilityKey(capabilities: CallerCapabilities): string {
  return Object.keys(capabilities).length === 0 ? '' : canonicalJson(capabilities)
}

/** Whether all of these are among those. */
export function isWithin(these: unknown, those: unknown): boolean {
  if (!isRecord(these) || !isRecord(those)) return these === undefined || isRecord(these) === isRecord(those)
  return Object.keys(these).every((key) => Object.hasOwn(those, key) && isWithin(these[key], those[key]))
}

/** Whether a caller that asked for this level wants a line of that one. */
export function isLoudEnough(level: LoggingLevel, from: LoggingLevel | undefined): boolean {
  return from === undefined || LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(from)
}

export function isLogLevel(value: unknown): value is LoggingLevel {
  return LOG_LEVELS.includes(value as LoggingLevel)
}
