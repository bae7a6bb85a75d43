/** Connects a request of a client with the server behind it: progress and logs of the server go to this client. */
import type { LoggingLevel, Server, ServerContext } from '@modelcontextprotocol/server'
import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/server'
import { dropUndefined } from '@toolwell/core/internal'
import type { Caller, CallerHandlers, CallOptions } from '@toolwell/mcp'
import type { View } from '../servers/view.js'

export type Request = ServerContext['mcpReq']

/** Options of the request to a server. */
export type OptionsFor = (source: string) => CallOptions

/** One for each connected client; in the newer protocol, one for each request. */
export class Relay {
  readonly #caller: Caller
  /** Running requests. Any of them leads to the client. */
  readonly #running = new Set<Request>()
  /** Always the same object: a server that runs several calls of this client may answer to any of them. */
  readonly #handlers: CallerHandlers
  #level: LoggingLevel | undefined

  constructor(server: Server, caller: Caller, hasLogs: boolean) {
    this.#caller = caller
    this.#handlers = {
      log: (message) =>
        void this.#latest()
          ?.notify({ method: 'notifications/message', params: { ...message } })
          .catch(() => undefined),
    }
    if (hasLogs && caller.era === 'legacy')
      server.setRequestHandler('logging/setLevel', ({ params }) => {
        this.#level = params.level
        return {}
      })
  }

  /** Runs the work for a request. `client` identifies the caller. */
  async during<T>(
    request: Request,
    client: Caller,
    view: View,
    work: (optionsFor: OptionsFor) => Promise<T>,
  ): Promise<T> {
    this.#running.add(request)
    const { _meta: meta, signal } = request
    const token = meta?.progressToken
    const level = readLevel(request) ?? this.#level
    // In the newer protocol, a request without a level wants no logs.
    const wantsLogs = this.#caller.era === 'legacy' || level !== undefined
    try {
      return await work((source) => ({
        caller: {
          ...client,
          ...(wantsLogs && view.serverHas(source, 'logging')
            ? { handlers: this.#handlers, ...dropUndefined({ logLevel: level }) }
            : {}),
        },
        signal,
        ...(meta ? { meta } : {}),
        ...(token === undefined
          ? {}
          : {
              onProgress: (progress) =>
                void request
                  .notify({ method: 'notifications/progress', params: { ...progress, progressToken: token } })
                  // The client left; the signal of the call is aborted.
                  .catch(() => undefined),
            }),
      }))
    } finally {
      this.#running.delete(request)
    }
  }

  #latest(): Request | undefined {
    return [...this.#running].at(-1)
  }
}

function readLevel({ envelope = {} }: Request): LoggingLevel | undefined {
  return (envelope as Readonly<Record<string, unknown>>)[LOG_LEVEL_META_KEY] as LoggingLevel | undefined
}
