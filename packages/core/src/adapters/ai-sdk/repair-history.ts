/** Makes a history fit for the SDK, which refuses one with a call that nobody answered before any model is asked. */
import { createState } from '../../ledger/fold.js'
import { project } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import { placeAnchors } from '../shared/anchors.js'
import { repair } from '../shared/repair.js'
import { readMessages } from './read.js'
import { type AiMessage, isCall, isResult, partsOf } from './types.js'
import { writeMessages } from './write.js'

/** Undefined where nothing has to be repaired. */
export function repairHistory(
  messages: readonly AiMessage[],
  prompts: Prompts,
): readonly AiMessage[] | undefined {
  if (!isBroken(messages)) return undefined
  const { placed } = placeAnchors(readMessages(messages))
  const names = placed.flatMap(({ unit }) => (unit.kind === 'assistant' ? unit.calls : []))
  const callable = new Set(names.map(({ name }) => name))
  const settled = repair(placed, project(createState(), ''), callable, prompts, () => undefined)
  return writeMessages(
    settled.map(({ unit }) => unit),
    { protocol: 'ai-sdk', section: '', prompts },
  )
}

/** A call without an answer before the next turn, by the SDK's own rule. */
function isBroken(messages: readonly AiMessage[]): boolean {
  const open = new Set<string>()
  for (const message of messages) {
    if (open.size > 0 && (message.role === 'user' || message.role === 'system')) return true
    for (const part of partsOf(message)) {
      if (message.role === 'assistant' && isCall(part)) open.add(part.toolCallId)
      if (message.role === 'tool' && isResult(part)) open.delete(part.toolCallId)
    }
  }
  return open.size > 0
}
