/** Cache marks of our own, where the host asked for them: behind the tools, the system prompt and the last message. */
import { dropUndefined, isRecord } from '../../base/data.js'
import type { AnthropicParts } from './types.js'
import { type AnthropicCacheControl, blocksOf, isBlank, isThinking } from './types.js'

/** The API takes no more in one request. */
const LIMIT = 4

/** The host's own marks stay, and count. The last message comes first: it is worth most. */
export function withMarks(parts: AnthropicParts, ttl: '5m' | '1h'): AnthropicParts {
  const inTools = marksIn(parts.tools)
  const inSystem = marksIn(parts.system)
  const inMessages = marksIn(parts.messages)
  const own = [...inTools, ...inSystem, ...inMessages]
  let left = LIMIT - own.length
  const take = () => left-- > 0
  /** A longer life may not stand behind a shorter one, in the order in which the API reads: tools, system, messages. */
  const mark = (before: readonly Mark[], behind: readonly Mark[]): AnthropicCacheControl => {
    const long = behind.some(isLong) || (ttl === '1h' && before.every(isLong))
    return long ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  }

  const messages = [...parts.messages]
  const last = messages.at(-1)
  const blocks = blocksOf(last?.content)
  const end = blocks.at(-1)
  if (last && end && !isThinking(end) && !isBlank(end) && !isMarked(end) && take())
    messages[messages.length - 1] = {
      ...last,
      content: [...blocks.slice(0, -1), { ...end, cache_control: mark(own, []) }],
    }

  let { system, tools } = parts
  const said = typeof system === 'string' ? (blocksOf(system) as unknown as AnthropicSystem) : system
  const closing = said?.at(-1)
  if (said && closing && !isMarked(closing) && take())
    system = [
      ...said.slice(0, -1),
      { ...closing, cache_control: mark([...inTools, ...inSystem], inMessages) },
    ]

  const shown = tools?.findLastIndex((tool) => !tool.defer_loading) ?? -1
  const tool = tools?.[shown]
  if (tools && tool && !isMarked(tool) && take())
    tools = tools.with(shown, { ...tool, cache_control: mark(inTools, [...inSystem, ...inMessages]) })

  return { ...parts, messages, ...(tools ? { tools } : {}), ...dropUndefined({ system }) }
}

type Mark = { readonly ttl?: unknown }

function isLong({ ttl }: Mark): boolean {
  return ttl === '1h'
}

type AnthropicSystem = Exclude<AnthropicParts['system'], string | undefined>

function isMarked(block: object): boolean {
  return isRecord((block as { cache_control?: unknown }).cache_control)
}

/** Marks in their order, also inside the results of tools. */
function marksIn(value: unknown): Mark[] {
  if (Array.isArray(value)) return value.flatMap(marksIn)
  if (!isRecord(value)) return []
  const { cache_control: mark, content } = value
  return [...marksIn(content), ...(isRecord(mark) ? [mark] : [])]
}
