/** What OpenAI's provider keeps with a call: the id of its item, and its namespace. On Azure it goes by that name. */

import { isRecord } from '../../base/guards.js'
import { sameItems } from '../shared/thread.js'
import { type AiMessage, type AiPart, partsOf } from './types.js'

type Options = Readonly<Record<string, unknown>>

export function openaiOptions({ providerOptions }: AiPart): Options {
  const { openai, azure } = isRecord(providerOptions) ? providerOptions : {}
  return isRecord(openai) ? openai : isRecord(azure) ? azure : {}
}

/** Under both names: the provider reads its own. */
export function withOpenaiOptions<Part extends AiPart>(part: Part, options: Options): Part {
  const { providerOptions, ...rest } = part
  const { openai: _, azure: __, ...others } = isRecord(providerOptions) ? providerOptions : {}
  const own = Object.keys(options).length > 0 ? { openai: options, azure: options } : {}
  const all = { ...others, ...own }
  return { ...rest, ...(Object.keys(all).length > 0 ? { providerOptions: all } : {}) } as unknown as Part
}

/** A part without what ties it to the item it was: it has become another call. */
export function untied<Part extends AiPart>(part: Part): Part {
  const { itemId, namespace, ...others } = openaiOptions(part)
  return itemId === undefined && namespace === undefined ? part : withOpenaiOptions(part, others)
}

/**
 * A message that stands twice in a history keeps the ids of its items once: the API refuses the second. Reasoning may have
 * one id in several parts of its message.
 */
export function withUniqueItems(messages: readonly AiMessage[]): AiMessage[] {
  const seen = new Set<unknown>()
  return messages.map((message) => {
    if (message.role !== 'assistant') return message
    const parts = partsOf(message)
    const ids = parts.map((part) => openaiOptions(part).itemId)
    const made = parts.map((part, index) => (seen.has(ids[index]) ? withoutItem(part) : part))
    for (const id of ids) if (id !== undefined) seen.add(id)
    return sameItems(made, parts) ? message : { ...message, content: made }
  })
}

function withoutItem(part: AiPart): AiPart {
  const { itemId: _, ...others } = openaiOptions(part)
  return withOpenaiOptions(part, others)
}
