/** What came in place of a stream of events, in words, with what to do. Loaded where that happens. */

import { ToolwellError } from '../../base/errors.js'
import { isRecord } from '../../base/guards.js'
import { describeKind, invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'
import { isPromise } from '../../tool/foreign-form.js'

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
          : describeKind(given)
  return invalid('stream', `${takes}, not ${is}.`)
}

/** Something that can be read piece by piece. */
export function isStream(value: unknown): boolean {
  const stream = value as { readonly [Symbol.asyncIterator]?: unknown; readonly getReader?: unknown } | null
  return typeof stream?.[Symbol.asyncIterator] === 'function' || typeof stream?.getReader === 'function'
}
