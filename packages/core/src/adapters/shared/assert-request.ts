/** What is given to `begin` beside a history, checked: a system prompt in the words of another wire is told at once. */

import { isRecord } from '../../base/data.js'
import { assertKnownKeys, invalid } from '../../base/options.js'

/** What the wires call the system prompt that is given to `begin`. */
const PROMPTS = ['system', 'instructions', 'systemInstruction']

/** `own`: what this wire takes in `begin` besides the id of the request. */
export function assertRequest(request: unknown, own: readonly string[]): void {
  const foreign = isRecord(request)
    ? PROMPTS.find((key) => request[key] !== undefined && !own.includes(key))
    : undefined
  if (foreign !== undefined) {
    const [here] = own.filter((key) => PROMPTS.includes(key))
    throw invalid(
      `begin.${foreign}`,
      here === undefined
        ? "On this wire the system prompt is a message of your history: { role: 'system', content: … }."
        : `On this wire the system prompt is given as ${JSON.stringify(here)}, not as ${JSON.stringify(foreign)}.`,
    )
  }
  assertKnownKeys(request, ['requestId', ...own], 'begin')
}
