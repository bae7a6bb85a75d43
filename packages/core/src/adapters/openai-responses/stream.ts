/** Reads a streamed reply: events to the one response they add up to. */
import { isRecord } from '../shared/thread.js'
import type { ResponsesItem, ResponsesReply } from './wire.js'

export { readEvents } from '../shared/sse.js'

/** A reply like one that came whole: give it to `run`, and push its `output`. */
export interface StreamedReply<Item extends ResponsesItem = ResponsesItem> extends ResponsesReply {
  readonly output: readonly Item[]
  /** `completed`, `incomplete`, `failed` …; undefined where the stream ended without saying. */
  readonly status: string | undefined
  readonly usage: unknown
  /** What the provider said about a failure. */
  readonly error: unknown
  /** False where the stream broke off or failed: do not run its calls, ask again with the same request id. */
  readonly complete: boolean
}

const ENDINGS = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
])

/** Adds up events, whether parsed here or given by an SDK. A source that fails half-way gives an incomplete reply, not a throw. */
export async function assemble<Item extends ResponsesItem = ResponsesItem>(
  events: AsyncIterable<unknown>,
): Promise<StreamedReply<Item>> {
  const items = new Map<number, ResponsesItem>()
  let final: Readonly<Record<string, unknown>> = {}
  let status: string | undefined
  let error: unknown
  try {
    for await (const event of events) {
      if (!isRecord(event)) continue
      const ending = ENDINGS.get(String(event.type))
      if (event.type === 'response.output_item.done' && isRecord(event.item))
        items.set(typeof event.output_index === 'number' ? event.output_index : items.size, event.item)
      else if (event.type === 'error') [status, error] = ['failed', event.error ?? event]
      else if (ending !== undefined) {
        status = ending
        final = isRecord(event.response) ? event.response : {}
      }
    }
  } catch (cause) {
    // A connection may break after the end has come; then nothing is missing.
    error ??= status === undefined ? cause : undefined
  }
  // Some servers leave the items out of the last event.
  const whole = Array.isArray(final.output) && final.output.length > 0
  const finished = [...items].sort(([a], [b]) => a - b).map(([, item]) => item)
  return {
    output: (whole ? final.output : finished) as readonly Item[],
    status,
    usage: final.usage ?? undefined,
    error: final.error ?? error,
    complete: status === 'completed' || status === 'incomplete',
  }
}
