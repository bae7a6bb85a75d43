/** Adds cache marks after the tools, the system prompt and the last message, if the host asked for them. */
import { dropUndefined, isRecord } from '../../base/data.js'
import type { AnthropicParts } from './types.js'
import { type AnthropicCacheControl, isBlank, isThinking, readBlocks } from './types.js'

/** The limit of the API for one request. */
const LIMIT = 4

/** Keeps the host's marks, which count towards the limit. The last message comes first: its mark saves most. */
export function addCacheMarks(parts: AnthropicParts, ttl: '5m' | '1h'): AnthropicParts {
  const inTools = marksIn(parts.tools)
  const inSystem = marksIn(parts.system)
  const inMessages = marksIn(parts.messages)
  const own = [...inTools, ...inSystem, ...inMessages]
  let left = LIMIT - own.length
  const take = () => left-- > 0
  /** The API refuses a longer lifetime after a shorter one. It reads tools, then system, then messages. */
  const mark = (before: readonly Mark[], behind: readonly Mark[]): AnthropicCacheControl => {
    const long = behind.some(isLong) || (ttl === '1h' && before.every(isLong))
    return long ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  }

  const messages = [...parts.messages]
  const last = messages.at(-1)
  const blocks = readBlocks(last?.content)
  const end = blocks.at(-1)
  if (last && end && !isThinking(end) && !isBlank(end) && !isMarked(end) && take())
    messages[messages.length - 1] = {
      ...last,
      content: [...blocks.slice(0, -1), { ...end, cache_control: mark(own, []) }],
    }

  let { system, tools } = parts
  const said = typeof system === 'string' ? (readBlocks(system) as unknown as AnthropicSystem) : system
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

/** All marks in order, including those inside tool results. */
function marksIn(value: unknown): Mark[] {
  if (Array.isArray(value)) return value.flatMap(marksIn)
  if (!isRecord(value)) return []
  const { cache_control: mark, content } = value
  return [...marksIn(content), ...(isRecord(mark) ? [mark] : [])]
}
