/**
 * Calls that a provider ran itself, with their results in the model's own messages. The SDK hands them to whichever
 * provider comes next, some as calls that nobody declared, and sends one half where the other was cut off.
 */
import { isRecord } from '../../base/data.js'
import { withoutLastThoughts } from './normalise.js'
import type { ProtocolRules } from './protocol.js'
import { type AiMessage, type AiPart, isCall, isResult, partsOf } from './types.js'

export function withProviderCalls(messages: readonly AiMessage[], rules: ProtocolRules): AiMessage[] {
  const { ran } = rules
  if (!ran) return [...messages]
  const lost = ran === 'paired' ? unpaired(messages) : foreign(messages, ran)
  return messages.flatMap((message): readonly AiMessage[] => {
    const given = partsOf(message)
    const kept = given.filter((part) => !lost.has(part))
    if (kept.length === given.length) return [message]
    const content = rules.endsInWords ? withoutLastThoughts(kept) : kept
    return content.length > 0 ? [{ ...message, content }] : []
  })
}

interface RunPart extends AiPart {
  readonly toolCallId: string
}

/** Both halves, in the order in which they stand. */
function halves(message: AiMessage): readonly RunPart[] {
  if (message.role !== 'assistant') return []
  return partsOf(message).filter(
    (part): part is RunPart => isResult(part) || (part.type === 'tool-call' && !isCall(part)),
  )
}

/** A call may wait for its result while the host answers calls of its own, and it is the last thing that was said. */
function unpaired(messages: readonly AiMessage[]): ReadonlySet<AiPart> {
  const open = new Map<string, AiPart>()
  const lost = new Set<AiPart>()
  const giveUp = (ids: Iterable<string>) => {
    for (const id of ids) {
      const part = open.get(id)
      if (part && open.delete(id)) lost.add(part)
    }
  }
  for (const message of messages) {
    if (message.role === 'user') giveUp([...open.keys()])
    for (const part of halves(message)) {
      const { toolCallId: id } = part
      if (!isResult(part)) {
        giveUp([id])
        open.set(id, part)
      } else if (!open.delete(id)) lost.add(part)
    }
  }
  return lost
}

/** What this provider did not run. Its own it knows again by an id in its options, where it knows any. */
function foreign(messages: readonly AiMessage[], ran: 'none' | 'named'): ReadonlySet<AiPart> {
  const isOwn = ({ providerOptions }: AiPart) =>
    ran === 'named' &&
    isRecord(providerOptions) &&
    Object.values(providerOptions).some((options) => isRecord(options) && 'serverToolCallId' in options)
  return new Set(messages.flatMap(halves).filter((part) => !isOwn(part)))
}
