/** Connects a request of a client with the server behind it: progress, logs and questions of the server go to this client. */
import { randomUUID } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type CreateMessageResult,
  type ElicitResult,
  type ListRootsResult,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { dropUndefined, isRecord } from '@toolwell/core/internal'
import type { Telemetry, TraceContext } from '@toolwell/core/telemetry'
import type { Caller, CallerCapabilities, CallerHandlers, CallOptions } from '@toolwell/mcp'
import { traceRequest } from '../servers/trace.js'
import type { View } from '../servers/view.js'
import type { OpenCall, SuspendedCalls } from './suspended-calls.js'

export type Request = ServerContext['mcpReq']

/** Options of the request to a server. `isAllowed`: asked again when the client answers a question of the server. */
export type OptionsFor = (source: string, isAllowed?: () => boolean) => CallOptions

/** Milliseconds for a question to a client of the older protocol. The user may have to answer. */
const QUESTION_TIMEOUT = 10 * 60_000

export interface RelayOptions {
  readonly server: Server
  readonly caller: Caller
  readonly hasLogs: boolean
  readonly suspended: SuspendedCalls
  /** The principal that may answer questions. */
  readonly owner: string
  readonly telemetry: Telemetry | undefined
}

export interface RelayedRequest {
  readonly request: Request
  readonly params: Readonly<Record<string, unknown>>
  readonly caller: Caller
  readonly view: View
  /** The span of the request. */
  readonly trace?: TraceContext | undefined
  /** Called with a question that the client cannot answer. */
  readonly onRefused?: (method: string) => void
}

/** One for each connected client; in the newer protocol, one for each request. */
export class Relay {
  readonly #options: RelayOptions
  /** Running requests. Any of them leads to the client. */
  readonly #running = new Map<Request, RelayedRequest['onRefused']>()
  /** By kind: a server that runs several calls of this client may ask for any of them, and must see the same handlers. */
  readonly #handlers = new Map<string, CallerHandlers>()
  #level: LoggingLevel | undefined

  constructor(options: RelayOptions) {
    this.#options = options
    if (options.hasLogs && options.caller.era === 'legacy')
      options.server.setRequestHandler('logging/setLevel', ({ params }) => {
        this.#level = params.level
        return {}
      })
  }

  /** Runs the work for a request. */
  async during(relayed: RelayedRequest, work: (optionsFor: OptionsFor) => Promise<Result>): Promise<Result> {
    const { telemetry } = this.#options
    if (!telemetry) return this.#relay(relayed, work)
    return traceRequest(telemetry, relayed.request, relayed.params, (trace) =>
      this.#relay({ ...relayed, trace }, work),
    )
  }

  async #relay(relayed: RelayedRequest, work: (optionsFor: OptionsFor) => Promise<Result>): Promise<Result> {
    const { suspended, owner } = this.#options
    if (this.#options.caller.era === 'modern')
      return suspended
        .run(relayed.request, owner, relayed.params, (call) =>
          work((source, isAllowed) => {
            if (isAllowed) call.allowIf(isAllowed)
            return this.#modernOptions(relayed, call, source)
          }),
        )
        .catch((error) => askForUrls(error, relayed.request))
    this.#running.set(relayed.request, relayed.onRefused)
    try {
      return await work((source) => this.#legacyOptions(relayed, source))
    } finally {
      this.#running.delete(relayed.request)
    }
  }

  /** A question goes to the client as a request on the stream of its call. */
  #legacyOptions({ request, caller, view, trace }: RelayedRequest, source: string): CallOptions {
    const asked = this.#options.server.getClientCapabilities() ?? {}
    const hasRoots = view.isSeparate(source)
    const hasLogs = view.serverHas(source, 'logging')
    const kind = JSON.stringify([hasRoots, hasLogs])
    const handlers = this.#handlers.get(kind) ?? this.#createHandlers(asked, hasRoots, hasLogs)
    this.#handlers.set(kind, handlers)
    const logLevel = hasLogs ? this.#level : undefined
    return {
      ...commonOptions(request, trace, () => request, request.signal),
      caller: { ...caller, handlers, capabilities: pick(asked, handlers), ...dropUndefined({ logLevel }) },
    }
  }

  #createHandlers(
    { elicitation, sampling, roots }: ClientCapabilities,
    hasRoots: boolean,
    hasLogs: boolean,
  ): CallerHandlers {
    const latest = () => [...this.#running.keys()].at(-1)
    const ask = async (
      method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list',
      params: object,
      signal?: AbortSignal,
    ) => {
      const request = latest()
      if (!request) throw new Error('The call is over.')
      return request.send(
        { method, params: { ...params } },
        { timeout: QUESTION_TIMEOUT, ...dropUndefined({ signal }) },
      )
    }
    return dropUndefined({
      elicit:
        elicitation &&
        ((params: object, signal: AbortSignal) =>
          ask('elicitation/create', addElicitationId(params), signal) as Promise<ElicitResult>),
      completed: (elicitationId: string) => {
        const message = { method: 'notifications/elicitation/complete', params: { elicitationId } } as const
        const request = latest()
        // The user may finish after the call.
        void (request ? request.notify(message) : this.#options.server.notification(message)).catch(
          () => undefined,
        )
      },
      sample:
        sampling &&
        ((params: object, signal: AbortSignal) =>
          ask('sampling/createMessage', params, signal) as Promise<CreateMessageResult>),
      roots:
        roots && hasRoots ? async () => ((await ask('roots/list', {})) as ListRootsResult).roots : undefined,
      log: hasLogs
        ? (message: object) => void notify(latest(), 'notifications/message', { ...message })
        : undefined,
      refused: (method: string) => [...this.#running.values()].at(-1)?.(method),
    })
  }

  /** A server of the newer protocol asks through its result; one of the older protocol through a suspended call. */
  #modernOptions(
    { request, caller, view, trace, onRefused = () => undefined }: RelayedRequest,
    call: OpenCall,
    source: string,
  ): CallOptions {
    const envelope: Envelope = request.envelope ?? {}
    const log = (message: object) => notify(call.request(), 'notifications/message', { ...message })
    const handlers = { ...call.handlers, log, refused: onRefused }
    const requestState = request.requestState<string>()
    const { inputResponses } = request
    return {
      ...commonOptions(request, trace, call.request, call.signal),
      caller: createModernCaller(caller, envelope, handlers, view, source),
      relay: { capabilities: readCapabilities(envelope), ...dropUndefined({ inputResponses, requestState }) },
    }
  }
}

/** The newer protocol has no id for a URL, the older one requires it. */
function addElicitationId(params: object): object {
  return 'mode' in params && params.mode === 'url' ? { elicitationId: randomUUID(), ...params } : params
}

/**
 * A server of the older protocol may refuse a request until the user has opened URLs. The newer protocol has no such error: the
 * client is asked, and repeats the request.
 */
function askForUrls(error: unknown, { envelope = {}, inputResponses = {} }: Request): Result {
  if (!(error instanceof ProtocolError) || error.code !== ProtocolErrorCode.UrlElicitationRequired)
    throw error
  const { elicitations } = isRecord(error.data) ? error.data : {}
  const urls = (Array.isArray(elicitations) ? elicitations : []).filter(isRecord)
  const inputRequests = Object.fromEntries(
    urls.map(({ elicitationId, message, url }, index) => [
      typeof elicitationId === 'string' ? elicitationId : `url_${index + 1}`,
      { method: 'elicitation/create', params: { mode: 'url', message, url } },
    ]),
  )
  const isDeclined = Object.keys(inputRequests).some((id) => {
    const answer = Object.hasOwn(inputResponses, id) ? inputResponses[id] : undefined
    return isRecord(answer) && answer.action !== 'accept'
  })
  if (urls.length === 0 || isDeclined || !readCapabilities(envelope).elicitation?.url)
    throw new ProtocolError(ProtocolErrorCode.InternalError, error.message)
  return { resultType: 'input_required', inputRequests }
}

type Envelope = Readonly<Record<string, unknown>>

function readCapabilities(envelope: Envelope): ClientCapabilities {
  return (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities
}

/** The caller of a request of the newer protocol, with those handlers that the server may need. */
export function createModernCaller(
  caller: Caller,
  envelope: Envelope,
  { elicit, sample, roots, log, refused }: CallerHandlers,
  view: View,
  source: string,
): Caller {
  const capabilities = readCapabilities(envelope)
  const level = envelope[LOG_LEVEL_META_KEY] as LoggingLevel | undefined
  // A request without a level wants no logs.
  const hasLogs = level !== undefined && view.serverHas(source, 'logging')
  const isOlder = view.era(source) === 'legacy'
  const handlers = dropUndefined({
    elicit: isOlder && capabilities.elicitation ? elicit : undefined,
    sample: isOlder && capabilities.sampling ? sample : undefined,
    roots: isOlder && capabilities.roots && view.isSeparate(source) ? roots : undefined,
    log: hasLogs ? log : undefined,
    refused,
  })
  return {
    ...caller,
    handlers,
    capabilities: pick(capabilities, handlers),
    ...(hasLogs ? { logLevel: level } : {}),
  }
}

/** `now`: the request to which progress belongs. */
function commonOptions(
  { _meta: meta }: Request,
  trace: TraceContext | undefined,
  now: () => Request,
  signal: AbortSignal,
): CallOptions {
  const isWatched = meta?.progressToken !== undefined
  return {
    signal,
    ...(meta || trace ? { meta: { ...meta, ...trace } } : {}),
    ...(isWatched
      ? {
          onProgress: (progress) => {
            const progressToken = now()._meta?.progressToken
            if (progressToken !== undefined)
              notify(now(), 'notifications/progress', { ...progress, progressToken })
          },
        }
      : {}),
  }
}

function notify(request: Request | undefined, method: string, params: Record<string, unknown>): void {
  // If the client left, the signal of the call is aborted.
  request?.notify({ method, params }).catch(() => undefined)
}

/** The capabilities that have a handler. */
function pick(
  { elicitation, sampling, roots }: ClientCapabilities,
  handlers: CallerHandlers,
): CallerCapabilities {
  return dropUndefined({
    elicitation: handlers.elicit && elicitation,
    sampling: handlers.sample && sampling,
    roots: handlers.roots && roots,
  })
}
