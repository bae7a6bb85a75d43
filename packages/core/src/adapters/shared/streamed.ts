/** What adding up a stream gives: the same on every wire. */
import type { Usage } from '../../accounting/measurement.js'
import { isRecord } from '../../base/guards.js'

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
  /** What broke the stream, or what the provider said of a failure. */
  readonly error: unknown
  /** False where the stream broke off or failed: do not run its calls, begin again with the same history. */
  readonly complete: boolean
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
