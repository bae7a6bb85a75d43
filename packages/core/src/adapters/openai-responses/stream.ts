/** Assembles the events of a streamed reply into one response. */
import type { Usage } from '../../accounting/measurement.js'
import { isRecord } from '../../base/data.js'
import { checkEvents, readFigure, type StreamedReply } from '../shared/stream.js'
import type { ResponsesItem, ResponsesReply } from './types.js'

export { readEvents } from '../shared/stream.js'

/** Converts `usage` of a response for `recordRequest`. */
export function readUsage(usage: unknown): Usage {
  return {
    inputTokens: readFigure(usage, 'input_tokens'),
    cachedTokens: readFigure(usage, 'input_tokens_details', 'cached_tokens'),
    outputTokens: readFigure(usage, 'output_tokens'),
  }
}

const ENDINGS = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
])

/**
 * Assembles events that were parsed here or by an SDK. If the source fails, returns an incomplete reply instead of
 * throwing.
 */
export async function assemble<Item extends ResponsesItem = ResponsesItem>(
  events: AsyncIterable<unknown>,
): Promise<StreamedReply<ResponsesReply & { readonly output: readonly Item[] }, Item>> {
  const items = new Map<number, ResponsesItem>()
  let final: Readonly<Record<string, unknown>> = {}
  /** `completed`, `incomplete`, `failed` … */
  let finish: string | undefined
  let error: unknown
  try {
    for await (const event of checkEvents(events)) {
      if (!isRecord(event)) continue
      const ending = ENDINGS.get(String(event.type))
      if (event.type === 'response.output_item.done' && isRecord(event.item))
        items.set(typeof event.output_index === 'number' ? event.output_index : items.size, event.item)
      // Some servers send an error without a type.
      else if (event.type === 'error' || (event.type === undefined && event.error))
        [finish, error] = ['failed', event.error ?? event]
      else if (ending !== undefined) {
        finish = ending
        final = isRecord(event.response) ? event.response : {}
      }
    }
  } catch (cause) {
    // If the connection breaks after the last event, nothing is missing.
    error ??= finish === undefined ? (cause ?? 'the stream broke off') : undefined
  }
  // Some servers omit the items in the last event.
  const whole = Array.isArray(final.output) && final.output.length > 0
  const finished = [...items].sort(([a], [b]) => a - b).map(([, item]) => item)
  const output = (whole ? final.output : finished) as readonly Item[]
  return {
    reply: {
      output,
      ...(Array.isArray(final.tools) && { tools: final.tools }),
      ...(finish === 'incomplete' && { status: finish }),
    },
    messages: output,
    finish,
    usage: readUsage(final.usage),
    rawUsage: final.usage ?? undefined,
    error: final.error ?? error,
    complete: finish === 'completed' || finish === 'incomplete',
  }
}
