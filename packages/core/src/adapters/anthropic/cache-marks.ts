/** Cache marks of our own, where the host asked for them: behind the tools, the system prompt and the last message. */
import { isRecord } from '../shared/thread.js'
import type { AnthropicParts } from './anthropic-wire.js'
import { type AnthropicCacheControl, blocksOf, isBlank, isThinking } from './wire.js'

/** The API takes no more in one request. */
const LIMIT = 4

/** The host's own marks stay, and count. The last message comes first: it is worth most. */
export function withMarks(parts: AnthropicParts, ttl: '5m' | '1h'): AnthropicParts {
  const own = marksIn(parts)
  let left = LIMIT - own.length
  // A shorter life may not stand before a longer one.
  const mark: AnthropicCacheControl =
    ttl === '1h' && own.every((each) => each.ttl === '1h')
      ? { type: 'ephemeral', ttl }
      : { type: 'ephemeral' }
  const take = () => left-- > 0

  const messages = [...parts.messages]
  const last = messages.at(-1)
  const blocks = blocksOf(last?.content)
  const end = blocks.at(-1)
  if (last && end && !isThinking(end) && !isBlank(end) && !isMarked(end) && take())
    messages[messages.length - 1] = {
      ...last,
      content: [...blocks.slice(0, -1), { ...end, cache_control: mark }],
    }

  let { system, tools } = parts
  const said = typeof system === 'string' ? (blocksOf(system) as unknown as AnthropicSystem) : system
  const closing = said?.at(-1)
  if (said && closing && !isMarked(closing) && take())
    system = [...said.slice(0, -1), { ...closing, cache_control: mark }]

  const shown = tools?.findLastIndex((tool) => !tool.defer_loading) ?? -1
  const tool = tools?.[shown]
  if (tools && tool && !isMarked(tool) && take())
    tools = tools.map((each, index) => (index === shown ? { ...tool, cache_control: mark } : each))

  return { ...parts, messages, ...(tools ? { tools } : {}), ...(system === undefined ? {} : { system }) }
}

type AnthropicSystem = Exclude<AnthropicParts['system'], string | undefined>

function isMarked(block: object): boolean {
  return isRecord((block as { cache_control?: unknown }).cache_control)
}

/** Marks anywhere in the request, also inside the results of tools. */
function marksIn(value: unknown): { readonly ttl?: unknown }[] {
  if (Array.isArray(value)) return value.flatMap(marksIn)
  if (!isRecord(value)) return []
  const { cache_control: mark, content, messages, tools, system } = value
  return [...(isRecord(mark) ? [mark] : []), ...[content, messages, tools, system].flatMap(marksIn)]
}
