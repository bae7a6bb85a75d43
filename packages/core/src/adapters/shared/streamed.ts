/** What adding up a stream gives: the same on every wire. */
import type { Usage } from '../../accounting/measurement.js'
import { lazily } from '../../base/async.js'
import { isRecord } from '../../base/data.js'

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

export const refusing = lazily(() => import('./no-stream.js'))

export function isIterable(value: unknown): boolean {
  const given = value as Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined
  return typeof given === 'object' && !!(given?.[Symbol.asyncIterator] ?? given?.[Symbol.iterator])
}

/** The events that `assemble` was given. Throws at what is none: nobody has read the bytes of a body yet. */
export async function* eventsIn(given: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  const refuse = async (is: unknown) =>
    (await refusing()).noStream(
      is,
      'assemble takes the events of a stream: give readEvents(response.body), or the stream of an SDK',
    )
  if (!isIterable(given)) throw await refuse(given)
  for await (const event of given) {
    if (ArrayBuffer.isView(event) || isRaw(event)) throw await refuse(event)
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
