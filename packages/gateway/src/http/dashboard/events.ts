/** Server-sent events. Each browser has a bounded queue. A browser that reads slowly misses events, and gets their number. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DashboardEvents } from './api-types.js'

type Name = keyof DashboardEvents

/** Bytes that may wait for one browser. */
const MOST_WAITING = 256 * 1024
const HEARTBEAT = 15_000
const MOST_STREAMS = 50

interface Stream {
  readonly response: ServerResponse
  missed: number
}

export class EventStreams {
  readonly #streams = new Set<Stream>()
  #beating: NodeJS.Timeout | undefined

  /** Number of open streams. */
  get size(): number {
    return this.#streams.size
  }

  /** False if there are too many. */
  open(request: IncomingMessage, response: ServerResponse, hello: DashboardEvents['hello']): boolean {
    if (this.#streams.size >= MOST_STREAMS) return false
    const stream: Stream = { response, missed: 0 }
    response.writeHead(200, { 'Content-Type': 'text/event-stream', Connection: 'keep-alive' })
    response.write(writeEvent('hello', hello))
    response.on('drain', () => this.#catchUp(stream))
    request.on('close', () => this.#leave(stream))
    response.on('close', () => this.#leave(stream))
    this.#streams.add(stream)
    this.#beating ??= setInterval(() => this.#beat(), HEARTBEAT)
    this.#beating.unref()
    return true
  }

  send<N extends Name>(name: N, data: DashboardEvents[N]): void {
    if (this.#streams.size === 0) return
    const text = writeEvent(name, data)
    for (const stream of this.#streams) this.#write(stream, text)
  }

  close(): void {
    for (const { response } of this.#streams) response.end(writeEvent('bye', {}))
    this.#streams.clear()
    clearInterval(this.#beating)
  }

  #write(stream: Stream, text: string): void {
    if (stream.missed > 0 || stream.response.writableLength > MOST_WAITING) stream.missed++
    else stream.response.write(text)
  }

  #catchUp(stream: Stream): void {
    const { missed } = stream
    if (missed === 0) return
    stream.missed = 0
    stream.response.write(writeEvent('missed', { count: missed }))
  }

  #beat(): void {
    for (const { response } of this.#streams) if (response.writableLength === 0) response.write(': \n\n')
  }

  #leave(stream: Stream): void {
    this.#streams.delete(stream)
    if (this.#streams.size > 0) return
    clearInterval(this.#beating)
    this.#beating = undefined
  }
}

function writeEvent<N extends Name>(name: N, data: DashboardEvents[N]): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
