/** Messages to units, one each. */

import { plainText, textOf, type Unit, type UnitCall } from '../shared/thread.js'
import { callsOf, givenId, ownId } from './calls.js'
import { isNormal, normaliseContent } from './normalise.js'
import { type ChatMessage, WIRE } from './types.js'

export function readMessages(messages: readonly ChatMessage[]): readonly Unit[] {
  let open: readonly UnitCall[] = []
  return messages.map((message) => {
    const unit = readMessage(message, open)
    if (unit.kind === 'assistant') open = unit.calls
    if (unit.kind === 'answer') open = open.filter(({ id }) => id !== unit.callId)
    return unit
  })
}

function readMessage(message: ChatMessage, open: readonly UnitCall[]): Unit {
  const native = { wire: WIRE, value: message }
  const kind = kindOf(message)
  const text = textOf(normaliseContent(message.content))
  if (kind === 'answer') return { kind, callId: answeredBy(message, open), text, native }
  if (kind !== 'assistant') return { kind, text, native }
  const calls = callsOf(message)
  return { kind, text, calls, native, ...(isNormal(message, calls) ? {} : { repaired: true as const }) }
}

/** Of a role that is not known here, a message with calls is the model's, and any other is the user's. */
function kindOf({ role, tool_calls: calls }: ChatMessage): 'system' | 'user' | 'assistant' | 'answer' {
  if (role === 'tool' || role === 'function') return 'answer'
  if (role === 'system' || role === 'developer') return 'system'
  if (role === 'user') return 'user'
  return role === 'assistant' || (Array.isArray(calls) && calls.length > 0) ? 'assistant' : 'user'
}

/**
 * The call that a message answers. Where the model's calls had no ids, or one id twice, answers have it too, and belong
 * to those calls in their order. A message of the role `function` has a name only.
 */
function answeredBy(message: ChatMessage, open: readonly UnitCall[]): string {
  const { role, name, tool_call_id: given } = message as ChatMessage & { readonly name?: unknown }
  const id = givenId(given)
  const call =
    role === 'function' && id === ''
      ? open.find((each) => each.name === name)
      : (open.find((each) => each.id === id) ?? open.find((each) => ownId(each) === id))
  return call?.id ?? (id || plainText(role === 'function' ? name : ''))
}
