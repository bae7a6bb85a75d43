/** What adding up a stream gives: the same on every wire. */

import type { Usage } from '../../accounting/measurement.js'
import { ToolwellError } from '../../base/errors.js'
import { isRecord } from '../../base/guards.js'
import { invalid, kindOf } from '../../base/options.js'
import { quote } from '../../base/text.js'
import { isPromise } from '../../tool/foreign-form.js'

export interface StreamedReply<Reply, Message> {
  /** For `run`. */
  readonly reply: Reply
  /** For your history: push these, then what `run` gives. None where the model said nothing. */
  readonly messages: readonly Message[]
  /** The provider's own word for why the reply ended; undefined where the stream did not say. */
  readonly finish: string | undefined
  /** Ready for `recordRequest`. */
  readonly usage: Usage
  /** The figures as the provider gave them. */
  readonly rawUsage: unknown
  /** What broke the stream, or what the provider said of a failure; a `ToolwellError` where there was no stream, with what there was. */
  readonly error: unknown
  /** False where the stream broke off or failed: do not run its calls, begin again with the same history. */
  readonly complete: boolean
}

function isIterable(value: unknown): boolean {
  const given = value as Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined
  return typeof given === 'object' && !!(given?.[Symbol.asyncIterator] ?? given?.[Symbol.iterator])
}

/** The events that `assemble` was given. Throws at what is none: nobody has read the bytes of a body yet. */
export async function* eventsIn(given: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  const refuse = (is: unknown) =>
    noStream(
      is,
      'assemble takes the events of a stream: give readEvents(response.body), or the stream of an SDK',
    )
  if (!isIterable(given)) throw refuse(given)
  for await (const event of given) {
    if (ArrayBuffer.isView(event) || isRaw(event)) throw refuse(event)
    yield event
  }
}

/** The text of a body that somebody has decoded and not read. */
function isRaw(event: unknown): boolean {
  return typeof event === 'string' && /^(?:data|event):/.test(event)
}

/** A number somewhere in the figures of a provider. */
export function figure(usage: unknown, ...path: readonly string[]): number | undefined {
  const found = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), usage)
  return typeof found === 'number' ? found : undefined
}

/** The sum of those that are there. */
export function total(...figures: readonly (number | undefined)[]): number | undefined {
  const given = figures.filter((each) => each !== undefined)
  return given.length === 0 ? undefined : given.reduce((sum, each) => sum + each, 0)
}

// Server-sent events, as all wires stream them: one JSON value per event.

/**
 * The parsed data of each event of a response body, up to `[DONE]` where a wire sends one. Works on any chunking, within a
 * character too. Names of events are not read: on every wire the data say what they are. Throws at data that are no JSON,
 * and at a body that is no event stream, with what it says: an error of the API, a whole reply, a page of HTML.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  if (!isIterable(body)) throw noStream(body, 'readEvents takes the body of a response (response.body)')
  for await (const data of dataOf(body)) {
    if (data.trim() === '[DONE]') return
    if (data.trim() !== '') yield JSON.parse(data)
  }
}

/** An event ends at an empty line; one without that at the end counts: some servers close the connection right behind it. */
async function* dataOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = []
  /** All that came, as long as no line is one of an event stream. */
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
  if (text) throw noEvents(text)
}

/** What a line of an event stream begins with. A comment has no name. */
const FIELDS = ['', 'data', 'event', 'id', 'retry']

/** Lines end in a line feed, a carriage return, or both. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // It also takes a byte order mark away.
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

// What came in place of a stream of events, in words, with what to do. Loaded where that happens.

const STATUS = 'Look at the status of a response (response.ok) before you read its events.'

/** A body that holds no event at all: an error of the API, a whole reply, the page of a proxy. */
export function noEvents(body: string): ToolwellError {
  const value = parsed(body)
  // Gemini gives a list of chunks to whoever does not ask for events.
  const first: unknown = Array.isArray(value) ? value[0] : value
  const failure = failureIn(first)
  const problem =
    failure === undefined
      ? (wholeReply(first) ?? `This is no event stream: it says ${quote(readable(body), 300)}. ${STATUS}`)
      : `The API answered with an error: ${quote(failure, 300)}. ${STATUS}`
  return new ToolwellError('invalid-option', problem, { path: 'body' }, { cause: value ?? body })
}

/** What an API says of a failure, where this is one. Servers differ in where they say it. */
export function failureIn(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  const { error, message, detail } = value
  const said = isRecord(error) || error instanceof Error ? error.message : error
  return [said, message, detail].find((each) => typeof each === 'string' && each !== '') as string | undefined
}

function wholeReply(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  if ('candidates' in value)
    return 'This is no event stream, but a whole answer of Gemini: ask streamGenerateContent with alt=sse in its address, or give run the response of generateContent.'
  return ['choices', 'output', 'content'].some((key) => key in value)
    ? 'This is no event stream, but a whole reply: ask for a stream with "stream": true, or give run the reply itself, await response.json().'
    : undefined
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** The words of a page. */
function readable(body: string): string {
  const text = body.slice(0, 4000)
  const words = text
    .replace(/<(style|script)\b[^<]*<\/\1>/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
  return words.trim() || text
}

/** What is iterated in place of the bytes of a body, or of events. `takes`: what was wanted of whom. */
export function noStream(given: unknown, takes: string): ToolwellError {
  const is = isPromise(given)
    ? 'a promise: await it'
    : isRecord(given) && 'body' in given
      ? 'a Response'
      : ArrayBuffer.isView(given)
        ? 'its bytes'
        : typeof given === 'string'
          ? 'its text'
          : kindOf(given)
  return invalid('stream', `${takes}, not ${is}.`)
}

/** Something that can be read piece by piece. */
export function isStream(value: unknown): boolean {
  const stream = value as { readonly [Symbol.asyncIterator]?: unknown; readonly getReader?: unknown } | null
  return typeof stream?.[Symbol.asyncIterator] === 'function' || typeof stream?.getReader === 'function'
}
