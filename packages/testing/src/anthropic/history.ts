/**
 * Rules about a whole conversation on the Anthropic wire: order of roles, pairs of calls and results, known tools, images and
 * documents.
 */
import { detectImageType, type Fields, type Found, firstOf, isBase64, isObject } from '../shared/guards.js'
import {
  type AnthropicBlock,
  type AnthropicMessage,
  type AnthropicRequestBody,
  type AnthropicTool,
  isCompaction,
  listReferences,
  missing,
  readBlocks,
  violation,
  wrongType,
  wrongValue,
} from './request.js'

export interface HistoryOptions {
  readonly strictHistory?: boolean
  readonly strictReveal?: boolean
}

/** A block and its place in the body. */
interface Placed {
  readonly block: AnthropicBlock
  readonly at: string
}

/** Consecutive messages of one role, which the API joins. `at` is the place of the last one. */
interface Turn {
  readonly role: AnthropicMessage['role']
  readonly at: string
  readonly blocks: readonly Placed[]
}

/** Expects a body whose shape was checked. */
export function historyViolation(body: AnthropicRequestBody, options: HistoryOptions): Found {
  return (
    placementViolation(body.messages) ??
    compactionViolation(body.messages) ??
    toolsNeededViolation(body) ??
    pairingViolation(turnsOf(body.messages)) ??
    serverPairingViolation(body.messages) ??
    firstOf(body.messages.entries(), ([index, message]) => lastBlockViolation(message, index)) ??
    knowledgeViolation(body, options)
  )
}

/** Consecutive system messages are judged together. */
function placementViolation(messages: readonly AnthropicMessage[]): Found {
  const first = messages[0]
  if (first?.role === 'assistant' && readBlocks(first.content)[0]?.type !== 'compaction') {
    return violation('messages', 'first message must use the "user" role', 'first_role')
  }
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'system' || readBlocks(message.content).length === 0) continue
    const refuse = (reason: string) => violation(`messages.${index}`, reason, 'misplaced_system')
    const before = messages[index - 1]
    if (!before) return refuse("use the top-level 'system' parameter for the initial system prompt")
    if (before.role === 'assistant' && !endsInServerResult(before)) {
      return refuse(
        "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result",
      )
    }
    if (messages[index + 1]?.role === 'user') {
      return refuse("role 'system' must precede an 'assistant' message or end the array")
    }
  }
  return undefined
}

/**
 * A signed block is sent back first, in place of the messages it summarises (SDK type `BetaCompactionConfig`, error
 * `CompactionBlockMisplacedError`). An empty summary is refused (`BetaCompactionBlockParam`).
 */
function compactionViolation(messages: readonly AnthropicMessage[]): Found {
  for (const [index, { content }] of messages.entries())
    for (const [place, block] of readBlocks(content).entries()) {
      if (block.type !== 'compaction') continue
      const at = `messages.${index}.content.${place}`
      if (block.content === '') return violation(`${at}.content`, 'summary must be non-empty', 'empty_text')
      if (typeof block.signature !== 'string' || (index === 0 && place === 0)) continue
      return violation(at, 'a signed `compaction` block must come first', 'compaction_block_misplaced')
    }
  return undefined
}

function endsInServerResult({ content }: AnthropicMessage): boolean {
  return readBlocks(content).at(-1)?.type.endsWith('_tool_result') ?? false
}

function toolsNeededViolation({ tools = [], messages }: AnthropicRequestBody): Found {
  if (tools.length > 0) return undefined
  const types = messages.flatMap(({ content }) => readBlocks(content).map(({ type }) => type))
  if (!types.includes('tool_use') && !types.includes('tool_result')) return undefined
  const reason = 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
  return { ...violation(null, reason, 'tools_required'), param: 'tools' }
}

/** System messages never split a turn: they come before an assistant message or at the end. */
function turnsOf(messages: readonly AnthropicMessage[]): readonly Turn[] {
  const turns: Turn[] = []
  for (const [index, { role, content }] of messages.entries()) {
    if (role === 'system') continue
    const at = `messages.${index}`
    const blocks = readBlocks(content).map((block, place) => ({ block, at: `${at}.content.${place}` }))
    const last = turns.at(-1)
    if (last?.role === role) turns[turns.length - 1] = { role, at, blocks: [...last.blocks, ...blocks] }
    else turns.push({ role, at, blocks })
  }
  return turns
}

/** Every call is answered exactly once, at the start of the next turn, and no id repeats in a conversation. */
function pairingViolation(turns: readonly Turn[]): Found {
  const everyId = new Set<string>()
  for (const [index, turn] of turns.entries()) {
    const calls = idsOf(turn, 'tool_use', 'id')
    for (const [id, at] of calls) {
      if (everyId.has(id)) return violation(at, '`tool_use` ids must be unique', 'duplicate_tool_use_id')
      everyId.add(id)
    }
    const before = turns[index - 1]
    const found =
      resultsViolation(turn, before ? idsOf(before, 'tool_use', 'id') : []) ??
      codeResultsViolation(turn, before)
    if (found) return found
    const answered = new Set(idsOf(turns[index + 1], 'tool_result', 'tool_use_id').map(([id]) => id))
    const open = calls.filter(([id]) => !answered.has(id)).map(([id]) => id)
    if (open.length > 0) return unanswered(turn.at, open, 'unanswered_tool_use')
  }
  return undefined
}

/** Code reads the results of its calls, so their turn has nothing else (tool-use/programmatic-tool-calling). */
function codeResultsViolation(turn: Turn, before: Turn | undefined): Found {
  const isOfCode = before?.blocks.some(
    ({ block: { type, caller } }) => type === 'tool_use' && isObject(caller) && caller.type !== 'direct',
  )
  const other = isOfCode ? turn.blocks.find(({ block }) => block.type !== 'tool_result') : undefined
  if (!other) return undefined
  const reason = 'only `tool_result` blocks are allowed in the answer to programmatic tool calls'
  return violation(other.at, reason, 'text_beside_code_result')
}

/**
 * Calls that the API itself ran have their result in the same assistant turn. Calls of the client and their results may come in
 * between; a call made by an API tool names it as its caller.
 */
function serverPairingViolation(messages: readonly AnthropicMessage[]): Found {
  const open = new Map<string, { readonly kind: string; readonly index: number }>()
  const unansweredOf = (ids: Iterable<string>) =>
    firstOf(ids, (id) => {
      const call = open.get(id)
      const reason = `\`${call?.kind}\` with id \`${id}\` was found without a corresponding result block`
      return call && violation(`messages.${call.index}`, reason, 'unanswered_server_call')
    })
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = readBlocks(content)
    if (role === 'user' && !blocks.some(({ type }) => type === 'tool_result')) {
      const found = unansweredOf(open.keys())
      if (found) return found
    }
    if (role !== 'assistant') continue
    const before = [...open.keys()]
    for (const [place, { type, id, tool_use_id: of }] of blocks.entries()) {
      if (SERVER_CALLS.includes(type)) {
        const found = unansweredOf([String(id)])
        if (found) return found
        open.set(String(id), { kind: type, index })
      }
      if (!type.endsWith('_tool_result') || open.delete(String(of))) continue
      const reason = `unexpected \`tool_use_id\` found in \`${type}\` blocks: ${String(of)}. No call with that id precedes it.`
      return violation(`messages.${index}.content.${place}`, reason, 'orphan_server_result')
    }
    const called = blocks.flatMap(({ caller }) => (isObject(caller) ? [String(caller.tool_id)] : []))
    const found = unansweredOf(before.filter((id) => open.get(id)?.index !== index && !called.includes(id)))
    if (found) return found
  }
  return undefined
}

const SERVER_CALLS = ['server_tool_use', 'mcp_tool_use']

function lastBlockViolation({ role, content }: AnthropicMessage, index: number): Found {
  const type = role === 'assistant' ? readBlocks(content).at(-1)?.type : undefined
  if (type !== 'thinking' && type !== 'redacted_thinking') return undefined
  const reason = `The final block in an assistant message cannot be \`${type}\`.`
  return violation(`messages.${index}`, reason, 'final_thinking')
}

/** Each id of a turn with the place of its block. */
function idsOf(turn: Turn | undefined, type: string, field: string): readonly (readonly [string, string])[] {
  const blocks = turn?.blocks.filter(({ block }) => block.type === type) ?? []
  return blocks.map(({ block, at }) => [String(block[field]), at])
}

function resultsViolation(turn: Turn, calls: readonly (readonly [string, string])[]): Found {
  const called = new Set(calls.map(([id]) => id))
  const answered = new Set<string>()
  for (const [index, { block, at }] of turn.blocks.entries()) {
    if (block.type !== 'tool_result') continue
    const id = String(block.tool_use_id)
    if (!called.has(id)) {
      const reason =
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
        'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.'
      return violation(at, reason, 'orphan_tool_result')
    }
    if (answered.has(id)) {
      const reason = `each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`
      return violation(at, reason, 'duplicate_tool_result')
    }
    // Anthropic ignores a result after another block.
    if (turn.blocks[index - 1] && turn.blocks[index - 1]?.block.type !== 'tool_result') {
      return unanswered(at, [id], 'misplaced_tool_result')
    }
    answered.add(id)
  }
  return undefined
}

function unanswered(at: string, ids: readonly string[], code: string): Found {
  const reason =
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. ` +
    'Each `tool_use` block must have a corresponding `tool_result` block in the next message.'
  return violation(at, reason, code)
}

/**
 * Walks the conversation with the tools that are defined and visible. Unless `strictReveal` is off, a tool must be visible when
 * it is used.
 */
function knowledgeViolation(body: AnthropicRequestBody, options: HistoryOptions): Found {
  const { strictHistory = true, strictReveal = true } = options
  const { tools = [], messages } = body
  const defined = new Map(tools.flatMap((tool) => (tool.name === undefined ? [] : [[tool.name, tool]])))
  const servers = new Set(tools.map(({ mcp_server_name: server }) => server))
  const visible = () => [...defined.keys()].filter((name) => !defined.get(name)?.defer_loading)
  const known = new Set(visible())
  const callers = new Map<string, string>()

  function changeViolation(block: AnthropicBlock, at: string): Found {
    const change = block.tool as {
      type: string
      name?: string
      server_name?: string
      definition?: AnthropicTool
    }
    if (change.definition) {
      const { name } = change.definition
      if (name === undefined) return undefined
      const holder = defined.get(name)
      if (holder && (holder.type ?? 'custom') !== (change.definition.type ?? 'custom')) {
        return violation(at, `Tool name '${name}' is held by a tool of another kind`, 'tool_name_conflict')
      }
      defined.set(name, change.definition)
      known.add(name)
      return undefined
    }
    if (change.server_name !== undefined) {
      return servers.has(change.server_name) ? undefined : unresolved(at, change.server_name)
    }
    const name = String(change.name)
    if (!defined.has(name)) return unresolved(at, name)
    if (block.type === 'tool_addition') known.add(name)
    else known.delete(name)
    return undefined
  }

  function callViolation({ name: called, id, toolset_name: toolset }: AnthropicBlock, at: string): Found {
    const name = String(called)
    callers.set(String(id), name)
    // A member of a toolset is declared under the toolset's type.
    if (toolset !== undefined && toolset !== null) return undefined
    if (!defined.has(name)) {
      if (!strictHistory) return undefined
      return violation(`${at}.tool_use.name`, `'${name}' is not declared in 'tools'`, 'undeclared_tool')
    }
    if (known.has(name) || !strictReveal) return undefined
    const reason = `'${name}' is called where the model does not have it: deferred and not revealed, or removed`
    return violation(`${at}.tool_use.name`, reason, 'unrevealed_tool')
  }

  function referencesViolation(block: AnthropicBlock, at: string): Found {
    const references = listReferences(block)
    const stranger = references.find((name) => !defined.has(name))
    if (stranger !== undefined) return unresolved(at, stranger)
    const searcher = callers.get(String(block.tool_use_id)) ?? ''
    if (references.length > 0 && defined.get(searcher)?.defer_loading) {
      const reason = `Tool '${searcher}' returns tool_reference blocks and cannot have defer_loading=true`
      return violation(at, reason, 'deferred_search_tool')
    }
    for (const name of references) known.add(name)
    return undefined
  }

  /** The model sees nothing before the block. `tool_changes` restores the tools of the compacted range (`BetaCompactionBlock`). */
  function compactedViolation({ tool_changes: changes }: AnthropicBlock, at: string): Found {
    known.clear()
    for (const name of visible()) known.add(name)
    return firstOf(Array.isArray(changes) ? changes : [], (change: AnthropicBlock) =>
      changeViolation(change, `${at}.tool_changes`),
    )
  }

  for (const [index, { content }] of messages.entries()) {
    for (const [place, block] of readBlocks(content).entries()) {
      const at = `messages.${index}.content.${place}`
      let found: Found
      if (isCompaction(block)) found = compactedViolation(block, at)
      else if (block.type === 'tool_use') found = callViolation(block, at)
      else if (block.type === 'tool_addition' || block.type === 'tool_removal')
        found = changeViolation(block, at)
      else found = referencesViolation(block, at)
      if (found) return found
    }
  }
  return undefined
}

function unresolved(at: string, name: string): Found {
  return violation(at, `Tool reference '${name}' not found in available tools`, 'tool_reference_unresolved')
}

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  image: ['base64', 'url', 'file'],
  document: ['base64', 'text', 'content', 'url', 'file'],
}
/** The API counts base64 characters, not decoded bytes. */
const MAX_IMAGE = 5 * 1024 * 1024

/**
 * Checks images and documents, in messages and results. Sources and media types follow the official types (`ImageBlockParam`,
 * `DocumentBlockParam`), the limits build-with-claude/vision (5 MB per image, 8,000 pixels).
 */
export function mediaViolation(block: Fields, at: string): Found {
  const kinds = SOURCES[String(block.type)]
  if (!kinds) return undefined
  const { source } = block
  if (source === undefined) return missing(`${at}.source`)
  if (!isObject(source)) return wrongType(`${at}.source`, 'a valid dictionary')
  const { type, url, file_id: file, data } = source
  if (!kinds.includes(String(type))) return wrongValue(`${at}.source.type`, kinds)
  if (type === 'url') return typeof url === 'string' ? undefined : missing(`${at}.source.url`)
  if (type === 'file') return typeof file === 'string' ? undefined : missing(`${at}.source.file_id`)
  if (type === 'content') return undefined
  if (typeof data !== 'string') return missing(`${at}.source.data`)
  if (type === 'text') return typeViolation(source, at, ['text/plain'])
  return (
    typeViolation(source, at, block.type === 'image' ? IMAGE_TYPES : ['application/pdf']) ??
    bytesViolation(data, String(source.media_type), `${at}.source.base64`)
  )
}

function typeViolation({ media_type: type }: Fields, at: string, known: readonly string[]): Found {
  if (type === undefined) return missing(`${at}.source.media_type`)
  return known.includes(String(type)) ? undefined : wrongValue(`${at}.source.media_type`, known)
}

function bytesViolation(data: string, mediaType: string, at: string): Found {
  if (!isBase64(data)) return violation(`${at}.data`, 'Invalid base64 data', 'invalid_base64')
  if (!mediaType.startsWith('image/')) return undefined
  if (data.length > MAX_IMAGE) {
    const reason = `image exceeds 5 MB maximum: ${data.length} bytes > ${MAX_IMAGE} bytes`
    return violation(at, reason, 'image_too_large')
  }
  const found = detectImageType(data)
  if (found === undefined) return violation(`${at}.data`, 'Could not process image', 'unreadable_image')
  if (found === mediaType) return undefined
  const reason = `The image was specified using the ${mediaType} media type, but the image appears to be a ${found} image`
  return violation(`${at}.media_type`, reason, 'wrong_media_type')
}
