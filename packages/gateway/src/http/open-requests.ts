/** The requests of one session that have no answer yet. Those that were sent together are answered in one stream. */
import type { RequestId, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'

interface Stream {
  readonly waiting: Set<RequestId>
  readonly cancelled: Set<RequestId>
}

export class OpenRequests {
  readonly #transport: WebStandardStreamableHTTPServerTransport
  readonly #send: WebStandardStreamableHTTPServerTransport['send']
  readonly #streams = new Map<RequestId, Stream>()

  /** Sees every answer that the transport is given from now on. */
  constructor(transport: WebStandardStreamableHTTPServerTransport) {
    this.#transport = transport
    this.#send = transport.send.bind(transport)
    transport.send = async (message, options) => {
      const id = 'method' in message ? undefined : message.id
      const stream = id === undefined ? undefined : this.#take(id)
      await this.#send(message, options)
      if (id !== undefined && stream) this.#endIfOver(stream, id)
    }
  }

  has(id: RequestId): boolean {
    return this.#streams.has(id)
  }

  /** They were sent together. */
  add(ids: readonly RequestId[]): void {
    const stream: Stream = { waiting: new Set(ids), cancelled: new Set() }
    for (const id of ids) this.#streams.set(id, stream)
  }

  /** They were refused: nothing has begun. */
  drop(ids: readonly RequestId[]): void {
    for (const id of ids) this.#take(id)
  }

  /** What is cancelled is not answered, and the transport ends a stream only with its last answer. */
  cancel(id: RequestId): void {
    const stream = this.#take(id)
    if (!stream) return
    stream.cancelled.add(id)
    this.#endIfOver(stream, id)
  }

  #take(id: RequestId): Stream | undefined {
    const stream = this.#streams.get(id)
    this.#streams.delete(id)
    stream?.waiting.delete(id)
    return stream
  }

  #endIfOver({ waiting, cancelled }: Stream, last: RequestId): void {
    if (waiting.size > 0) return
    this.#transport.closeSSEStream(last)
    for (const id of cancelled) {
      // It is that of another request by now.
      if (this.#streams.has(id)) continue
      // Reaches nobody, for the stream is closed: the transport forgets a request with its answer.
      const error = { code: -32000, message: 'The request was cancelled.' }
      this.#send({ jsonrpc: '2.0', id, error }).catch(() => undefined)
    }
  }
}
