/** What is given in place of a reply, or beside a history, and what was meant: told at once. */

import { isRecord } from '../../base/guards.js'
import { assertKnownKeys, invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'

/** Throws at a promise, a response that nobody has read, and an error of the API. Anything else is for the wire to judge. */
export function assertReply(reply: unknown): void {
  if (!isRecord(reply)) return
  if (typeof reply.then === 'function')
    throw invalid('reply', 'This is a promise of a reply. Give run what it resolves to: await it first.')
  if (typeof reply.json === 'function' && typeof reply.status === 'number')
    throw invalid('reply', 'This is a Response of fetch. Give run what is in it: await response.json().')
  const { error } = reply
  const isAnswer = ['choices', 'candidates', 'output', 'content', 'message'].some((key) => key in reply)
  if (isAnswer || !isRecord(error) || typeof error.message !== 'string') return
  throw invalid(
    'reply',
    `The API answered with an error: ${quote(error.message, 300)}. Nothing was run. Look at the status of a response before you give it to run.`,
  )
}

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
