/** A connection as one of several has it: closing it leaves it to the others, and takes back only the calls of whoever closes it. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'
import type { CallOptions, Connection } from './connection.js'
import { AnswerLost, ConnectionLost } from './connection-lost.js'

export interface LeaseOptions {
  /** Whoever had it is gone. Resolves when the connection has ended, where nobody else has it. */
  readonly leave: () => Promise<void>
  /** The connection does not work any more. */
  readonly fail: () => Promise<void>
}

const CLOSED = 'the connection was closed'

export class Lease implements Connection {
  readonly era: Connection['era']
  readonly closed: Promise<string>
  readonly #connection: Connection
  readonly #options: LeaseOptions
  readonly #calls = new Set<AbortController>()
  #end: (reason: string) => void = () => undefined
  #isOver = false
  #leaving: Promise<void> | undefined

  constructor(connection: Connection, options: LeaseOptions) {
    this.era = connection.era
    this.#connection = connection
    this.#options = options
    this.closed = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  get pid(): number | null {
    return this.#connection.pid
  }

  /** Of everyone who has it. */
  get busy(): number {
    return this.#connection.busy
  }

  get isClosed(): boolean {
    return this.#isOver || this.#connection.isClosed
  }

  /** The connection has ended. */
  end(reason: string): void {
    this.#isOver = true
    this.#end(reason)
  }

  list(signal: AbortSignal): Promise<ServerDefinition> {
    return this.#connection.list(signal)
  }

  async call(
    tool: McpTool,
    input: Record<string, unknown>,
    { signal, ...options }: CallOptions,
  ): Promise<CallToolResult> {
    if (this.isClosed) throw new ConnectionLost(CLOSED, false)
    const call = new AbortController()
    const stop = () => call.abort(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    this.#calls.add(call)
    try {
      return await this.#connection.call(tool, input, { ...options, signal: call.signal })
    } catch (error) {
      const isLost = error instanceof ConnectionLost && !(error instanceof AnswerLost)
      if (isLost) void this.#options.fail().catch(() => undefined)
      // Taken back by our end, not by whoever called.
      else if (call.signal.aborted && !signal?.aborted)
        throw new ConnectionLost(CLOSED, true, { cause: error })
      throw error
    } finally {
      this.#calls.delete(call)
      signal?.removeEventListener('abort', stop)
    }
  }

  rootsChanged(): Promise<void> {
    return this.#connection.rootsChanged()
  }

  close(): Promise<void> {
    this.#leaving ??= this.#leave()
    return this.#leaving
  }

  async #leave(): Promise<void> {
    this.end(CLOSED)
    for (const call of this.#calls) call.abort(new Error(CLOSED))
    await this.#options.leave()
  }
}
