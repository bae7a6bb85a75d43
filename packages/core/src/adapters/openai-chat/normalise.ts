/** Shapes that servers refuse, and the nearest ones that they take. Nothing that was said is lost on the way. */

import { isRecord } from '../../base/guards.js'
import type { UnitCall } from '../shared/thread.js'
import { plainText } from '../shared/thread.js'
import { fromCall } from './calls.js'
import type { ChatMessage } from './types.js'

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool']

/** Text, or a list of parts that say what they are. Kinds of parts that are not known here pass: servers add their own. */
export function normaliseContent(content: unknown): unknown {
  if (!Array.isArray(content)) return plainText(content)
  if (content.length > 0 && content.every(isPart)) return content
  const parts = content.flatMap(normalisePart)
  return parts.length > 0 ? parts : ''
}

/** Whether a server takes a message as it is. `calls`: those that were read from it. */
export function isNormal(message: ChatMessage, calls: readonly UnitCall[]): boolean {
  const { role, content, tool_calls: given } = message
  const { function_call: single } = message as { readonly function_call?: unknown }
  if (!ROLES.includes(role)) return false
  if (role !== 'assistant') return content === normaliseContent(content)
  if (isRecord(single)) return false
  if (calls.length === 0) return given === undefined && content === normaliseContent(content)
  const normal =
    calls.length === given?.length && calls.every((call, index) => fromCall(call) === given[index])
  return normal && (content == null || content === normaliseContent(content))
}

function normalisePart(part: unknown): readonly object[] {
  if (isPart(part)) return [part]
  if (isRecord(part) && typeof part.text === 'string') return [{ ...part, type: 'text' }]
  const text = plainText(part)
  return text === '' ? [] : [{ type: 'text', text }]
}

function isPart(part: unknown): part is object {
  return (
    isRecord(part) && typeof part.type === 'string' && (part.type !== 'text' || typeof part.text === 'string')
  )
}
