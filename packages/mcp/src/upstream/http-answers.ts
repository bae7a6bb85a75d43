/** Limits the length of HTTP answers, like messages on a pipe, and reads the status of HTTP errors. */

import { type FetchLike, ProtocolErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { isRecord } from '@toolwell/core/internal'
import { MOST_BYTES, TOO_LONG } from './line-reader.js'

/** Limits the length of a body, or of each event in a stream. */
export function limitAnswers(inner: FetchLike): FetchLike {
  return async (address, init) => {
    const response = await inner(address, init)
    const { body, headers } = response
    if (!body) return response
    if (headers.get('content-type')?.includes('text/event-stream')) {
      const events = through(body, createEventReader(), () => refusalOf(init?.body))
      return Object.defineProperty(response, 'body', { value: events })
    }
    // `content-length` is reliable unless the body is compressed.
    const isShort = Number(headers.get('content-length') ?? Number.NaN) <= MOST_BYTES
    if (isShort && !headers.has('content-encoding')) return response
    const counted = new Response(through(body, createCounter()))
    // Keep the same object: logins use it to find the refused token.
    return Object.defineProperties(response, {
      body: { value: counted.body },
      json: { value: () => counted.json() },
      text: { value: () => counted.text() },
    })
  }
}

interface Reader {
  /** Returns the bytes to pass on. Undefined if the limit is exceeded. */
  push(piece: Uint8Array): readonly Uint8Array[] | undefined
  /** Returns the rest at the end. */
  rest(): readonly Uint8Array[]
}

/** Reads only as fast and as far as the consumer does. */
function through(
  body: ReadableStream<Uint8Array>,
  { push, rest }: Reader,
  lastWords: () => string | undefined = () => undefined,
): ReadableStream<Uint8Array> {
  const source = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        const { done, value } = await source.read()
        const passed = done ? rest() : push(value)
        if (!passed) {
          source.cancel().catch(() => undefined)
          const words = lastWords()
          if (words === undefined) throw new Error(TOO_LONG)
          controller.enqueue(Buffer.from(words))
          return controller.close()
        }
        if (passed.length > 0) controller.enqueue(joined(passed))
        if (done) return controller.close()
        if (passed.length > 0) return
      }
    },
    cancel: (reason) => source.cancel(reason),
  })
}

function createCounter(): Reader {
  let length = 0
  return {
    push(piece) {
      length += piece.length
      return length > MOST_BYTES ? undefined : [piece]
    },
    rest: () => [],
  }
}

const LINE_FEED = 10
const RETURN = 13

/** Passes on whole events. Otherwise the consumer would search a line again for each of its pieces. */
function createEventReader(): Reader {
  let waiting: Uint8Array[] = []
  let length = 0
  /** Consecutive line ends; `\r\n` is one. */
  let ends = 0
  let last = 0
  return {
    push(piece) {
      let whole = 0
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at] ?? 0
        if (byte !== LINE_FEED && byte !== RETURN) ends = 0
        else if (byte === RETURN || last !== RETURN) ends++
        if (ends > 1) whole = at + 1
        last = byte
      }
      const passed = whole > 0 ? [...waiting, piece.subarray(0, whole)] : []
      if (whole > 0) {
        waiting = []
        length = 0
      }
      if (whole < piece.length) waiting.push(piece.subarray(whole))
      length += piece.length - whole
      return length > MOST_BYTES ? undefined : passed
    },
    rest: () => waiting,
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces
  return first && pieces.length === 1 ? first : Buffer.concat(pieces)
}

/** An error event for a request with a too long answer, so that it does not have to time out. */
function refusalOf(body: unknown): string | undefined {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : undefined
  if (!isRecord(message) || message.id === undefined) return undefined
  const error = { code: ProtocolErrorCode.InternalError, message: TOO_LONG }
  return `data: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, error })}\n\n`
}

/** The older transport has the status only in its message. */
const POSTING = /^Error POSTing to endpoint(?: \(HTTP (\d+)\))?:? ?(.*)$/s

const messageOf = (error: unknown) => (error instanceof Error ? error.message : '')

export function readStatus(error: unknown): number | undefined {
  if (!(error instanceof SdkHttpError)) {
    const [, status] = POSTING.exec(messageOf(error)) ?? []
    return status === undefined ? undefined : Number(status)
  }
  const { status } = error.data as { status?: unknown }
  return typeof status === 'number' ? status : undefined
}

/** `status 500 ("out of memory")`. Undefined for other errors. Hides secrets before cutting the text. */
export function describeStatus(error: unknown, hide: (text: string) => string): string | undefined {
  const status = readStatus(error)
  if (status === undefined) return undefined
  const head = quoted(hide(readAnswerText(error)))
  return `status ${status}${head === '' ? '' : ` (${head.slice(2)})`}`
}

/** The text of the answer on one line; empty for a web page. For a protocol error, its message. */
export function readAnswerText(error: unknown): string {
  const [, , text = ''] = POSTING.exec(messageOf(error)) ?? []
  const line = (messageIn(text) ?? text).replace(/[\p{C}\s]+/gu, ' ').trim()
  return line.startsWith('<') || line === 'null' ? '' : line
}

const MOST_CHARACTERS = 160

export const quoted = (line: string) =>
  line === '' ? '' : `: ${JSON.stringify(line.slice(0, MOST_CHARACTERS))}`

function messageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    const message = isRecord(error) ? error.message : undefined
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
