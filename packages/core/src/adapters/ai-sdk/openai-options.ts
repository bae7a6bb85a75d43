/** What OpenAI's provider keeps with a call: the id of its item, and its namespace. On Azure it goes by that name. */
import { isRecord } from '../shared/thread.js'
import type { AiPart } from './wire.js'

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
