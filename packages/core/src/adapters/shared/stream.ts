/** Reads streamed replies: server-sent events, and the result of assembling them, in the same form for all wires. */

import type { Usage } from '../../accounting/measurement.js'
import { isRecord } from '../../base/data.js'
import { ToolwellError } from '../../base/errors.js'
import { describeKind, invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'
import { isPromise } from '../../tool/define-tool.js'

export interface StreamedReply<Reply, Message> {
  /** Pass it to `run`. */
  readonly reply: Reply
  /** Push these onto your history, then the messages of `run`. Empty if the model sent nothing. */
  readonly messages: readonly Message[]
  /** The provider's reason for the end of the reply, if the stream has one. */
  readonly finish: string | undefined
  /** Pass it to `recordRequest`. */
  readonly usage: Usage
  /** The usage as the provider sent it. */
  readonly rawUsage: unknown
  /** The error that broke the stream, or that the provider reported. A `ToolwellError` if the input was not a stream. */
  readonly error: unknown
  /** False if the stream broke or failed. Do not run its calls: begin again with the same history. */
  readonly complete: boolean
}

function isIterable(value: unknown): boolean {
  const given = value as Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined
  return typeof given === 'object' && !!(given?.[Symbol.asyncIterator] ?? given?.[Symbol.iterator])
}

/** The events passed to `assemble`. Throws if they are raw bytes or text. */
export async function* checkEvents(given: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  const refuse = (is: unknown) =>
    describeNonStream(
      is,
      'assemble takes the events of a stream: pass readEvents(response.body), or the stream of an SDK',
    )
  if (!isIterable(given)) throw refuse(given)
  for await (const event of given) {
    if (ArrayBuffer.isView(event) || isRaw(event)) throw refuse(event)
    yield event
  }
}

/** Whether this is decoded text of a body, not a parsed event. */
function isRaw(event: unknown): boolean {
  return typeof event === 'string' && /^(?:data|event):/.test(event)
}

/** A number at this path of a provider's usage. */
export function readFigure(usage: unknown, ...path: readonly string[]): number | undefined {
  const found = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), usage)
  return typeof found === 'number' ? found : undefined
}

/** The sum of the defined figures. */
export function addFigures(...figures: readonly (number | undefined)[]): number | undefined {
  const given = figures.filter((each) => each !== undefined)
  return given.length === 0 ? undefined : given.reduce((sum, each) => sum + each, 0)
}

/**
 * Yields the parsed data of each event in a response body, up to `[DONE]` if the wire sends it. Chunks may end
 * anywhere, even inside a character. Event names are ignored: on every wire the data contain the type. Throws if the
 * data are not JSON, or if the body is not an event stream: an API error, a whole reply, an HTML page.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  if (!isIterable(body))
    throw describeNonStream(body, 'readEvents takes the body of a response (response.body)')
  for await (const data of dataOf(body)) {
    if (data.trim() === '[DONE]') return
    if (data.trim() !== '') yield JSON.parse(data)
  }
}

/** An event ends at an empty line. The last event may lack it: some servers close the connection right after the data. */
async function* dataOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = []
  /** All lines, until one is a line of an event stream. */
  let other: string[] | undefined = []
  for await (const line of linesOf(body)) {
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (line !== '' && FIELDS.includes(field)) other = undefined
    other?.push(line)
    if (field === 'data') data.push(value)
    if (line !== '' || data.length === 0) continue
    yield data.join('\n')
    data = []
  }
  if (data.length > 0) yield data.join('\n')
  const text = other?.join('\n').trim()
  if (text) throw describeBody(text)
}

/** The field names of an event stream. A comment has no name. */
const FIELDS = ['', 'data', 'event', 'id', 'retry']

/** Lines end in a line feed, a carriage return, or both. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // It also removes a byte order mark.
  const decoder = new TextDecoder()
  let open = ''
  let isAfterReturn = false
  for await (const bytes of body) {
    const decoded = decoder.decode(bytes, { stream: true })
    if (decoded === '') continue
    const text: string = isAfterReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded
    isAfterReturn = text.endsWith('\r')
    const [first = '', ...rest] = text.split(/\r\n|\r|\n/)
    open += first
    for (const line of rest) {
      yield open
      open = line
    }
  }
  open += decoder.decode()
  if (open !== '') yield open
}

const STATUS = 'Check the status of the response (response.ok) before you read its events.'

/** Describes a body without events: an API error, a whole reply, the page of a proxy. */
export function describeBody(body: string): ToolwellError {
  const value = parseJson(body)
  // Without `alt=sse`, Gemini sends a list of chunks.
  const first: unknown = Array.isArray(value) ? value[0] : value
  const failure = findFailure(first)
  const problem =
    failure === undefined
      ? (describeWholeReply(first) ??
        `This is not an event stream. It contains ${quote(readPage(body), 300)}. ${STATUS}`)
      : `The API answered with an error: ${quote(failure, 300)}. ${STATUS}`
  return new ToolwellError('invalid-option', problem, { path: 'body' }, { cause: value ?? body })
}

/** The error message of an API. Servers differ in where they put it. */
export function findFailure(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  const { error, message, detail } = value
  const said = isRecord(error) || error instanceof Error ? error.message : error
  return [said, message, detail].find((each) => typeof each === 'string' && each !== '') as string | undefined
}

function describeWholeReply(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  if ('candidates' in value)
    return 'This is not an event stream, but a whole reply of Gemini. Call streamGenerateContent with alt=sse in its URL, or pass the response of generateContent to run.'
  return ['choices', 'output', 'content'].some((key) => key in value)
    ? 'This is not an event stream, but a whole reply. Ask for a stream with "stream": true, or pass the reply to run: await response.json().'
    : undefined
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** The text of an HTML page. */
function readPage(body: string): string {
  const text = body.slice(0, 4000)
  const words = text
    .replace(/<(style|script)\b[^<]*<\/\1>/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
  return words.trim() || text
}

/** Describes a value that is not a stream. `takes`: what the function takes instead. */
export function describeNonStream(given: unknown, takes: string): ToolwellError {
  const is = isPromise(given)
    ? 'a promise: await it'
    : isRecord(given) && 'body' in given
      ? 'a Response'
      : ArrayBuffer.isView(given)
        ? 'its bytes'
        : typeof given === 'string'
          ? 'its text'
          : describeKind(given)
  return invalid('stream', `${takes}, not ${is}.`)
}

/** Whether a value is a readable stream. */
export function isStream(value: unknown): boolean {
  const stream = value as { readonly [Symbol.asyncIterator]?: unknown; readonly getReader?: unknown } | null
  return typeof stream?.[Symbol.asyncIterator] === 'function' || typeof stream?.getReader === 'function'
}
