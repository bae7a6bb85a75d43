/** pi writes the id of a call anew for each provider: these are the names under which the ledger knows it. */
import { isRecord } from '@toolwell/core/internal'
import type { SessionEntry } from './pi.js'

/** On the Responses API, pi keeps the id of the item behind that of the call. */
export const callIdOf = (id: string): string => id.split('|', 1)[0] ?? id

/** What the id is called in requests to other providers, whose rules pi follows: allowed characters, at most 64 or 40 of them. */
const writtenAs = (id: string): string[] =>
  [id, callIdOf(id)].flatMap((each) => {
    const plain = each.replace(/[^a-zA-Z0-9_-]/g, '_')
    return [each, plain.slice(0, 64), plain.slice(0, 40), each.slice(0, 40)]
  })

/** From an id in a request to the id of the call in the ledger. */
export function callIdsIn(branch: readonly SessionEntry[]): (id: string) => string {
  const known = new Map<string, string>()
  for (const { message } of branch) {
    if (!isRecord(message) || message.role !== 'assistant' || !Array.isArray(message.content)) continue
    for (const block of message.content) {
      if (!isRecord(block) || block.type !== 'toolCall' || typeof block.id !== 'string') continue
      for (const written of writtenAs(block.id)) known.set(written, callIdOf(block.id))
    }
  }
  return (id) => known.get(id) ?? id
}

/** The keys under which the four wires keep ids of calls. Others hold what belongs to a model, and are not looked into. */
const ID_KEYS = new Set(['tool_use_id', 'tool_call_id', 'call_id'])
const WITHIN = new Set(['content', 'tool_calls', 'parts', 'functionCall', 'functionResponse'])

/** A history with the ids of the ledger. */
export function withCallIds(history: unknown, idOf: (id: string) => string): unknown {
  if (Array.isArray(history)) return history.map((each) => withCallIds(each, idOf))
  if (!isRecord(history)) return history
  const isCall = history.type === 'tool_use' || history.type === 'function' || !('type' in history)
  return Object.fromEntries(
    Object.entries(history).map(([key, value]) => {
      if (typeof value === 'string' && (ID_KEYS.has(key) || (key === 'id' && isCall)))
        return [key, idOf(value)]
      return [key, WITHIN.has(key) ? withCallIds(value, idOf) : value]
    }),
  )
}
