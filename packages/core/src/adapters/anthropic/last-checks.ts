/**
 * The last step before messages are sent, also while deferral is off. Removes things that the API sends but does not
 * accept: the extra fields of a reply, blank texts, inputs that are not objects, empty replies. Also reorders blocks
 * and system messages that a host wrote in places that the API refuses.
 */

import { isRecord } from '../../base/data.js'
import { safeJson } from '../../base/text.js'
import { argumentsObject, describeReferences, hasSameItems, readArguments } from '../shared/thread.js'
import type { Warn } from '../shared/wire.js'
import {
  type AnthropicBlock,
  type AnthropicMessage,
  createReference,
  isBlank,
  isCall,
  isResult,
  isThinking,
  readBlocks,
  readReferences,
} from './types.js'

export interface Limits {
  /** Every name that a reference may have. */
  readonly known: ReadonlySet<string>
  /** Whether the model accepts system messages between other messages. */
  readonly systemBetween: boolean
  /** Whether the API's own search is declared: its results may refer to tools that only the API knows. */
  readonly keepsSearches?: boolean
}

/** Returns the same list if nothing has to change. */
export function checkMessages(
  messages: readonly AnthropicMessage[],
  limits: Limits,
  warn: Warn,
): readonly AnthropicMessage[] {
  if (messages.every(isSimple)) return messages
  const lost: Lost = {
    searches: limits.keepsSearches ? new Set() : findLostSearches(messages, limits.known),
    blocks: findUnpaired(messages),
  }
  const made = messages.flatMap((message, index): readonly AnthropicMessage[] => {
    const { role, content } = message
    if (role === 'system') return limits.systemBetween ? [message] : writeAsUser(message, warn)
    const given = readBlocks(content)
    const blocks =
      role === 'user'
        ? checkUserBlocks(given, limits.known, warn)
        : checkModelBlocks(given, limits, lost, warn)
    // The last message may be empty.
    const mayBeEmpty = index === messages.length - 1 || (role === 'user' && given.length === 0)
    if (blocks.length === 0 && !mayBeEmpty) {
      warn('entry-dropped', 'dropped an empty entry of the history')
      return []
    }
    if (Array.isArray(content) && !hasSameItems(blocks, content)) {
      warn(
        'form-repaired',
        `repaired the form of a message with the role ${safeJson(role)}, because servers refuse it`,
      )
      return [role === 'user' ? { ...message, content: blocks } : { role, content: blocks }]
    }
    // No warning about the extra fields of a reply: most hosts keep the reply unchanged.
    return role === 'assistant' && isReply(message) ? [{ role, content }] : [message]
  })
  return hasSameItems(made, messages) ? messages : made
}

/** Whether no check below would change this message. True for most messages. */
function isSimple(message: AnthropicMessage): boolean {
  const { role, content } = message
  if (role === 'assistant' ? isReply(message) : role !== 'user') return false
  if (typeof content === 'string') return content.trim() !== ''
  if (!Array.isArray(content) || content.length === 0) return false
  let isBehind = false
  for (const block of content) {
    const isPlain = role === 'user' ? isOfUser(block, isBehind) : isOfModel(block)
    if (!isPlain) return false
    if (block.type !== 'tool_result') isBehind = true
  }
  return role === 'user' || !isThinking(content.at(-1))
}

/** `isBehind`: the block follows something other than a result. */
function isOfUser(block: AnthropicBlock, isBehind: boolean): boolean {
  if (block.type !== 'tool_result') return !isBlank(block)
  const { content } = block
  return isResult(block) && !isBehind && (!Array.isArray(content) || !content.some(isReference))
}

function isReference(part: unknown): boolean {
  return isRecord(part) && part.type === 'tool_reference'
}

function isOfModel(block: AnthropicBlock): boolean {
  return block.type === 'tool_use'
    ? isRecord(block.input)
    : isThinking(block) || (block.type === 'text' && !isBlank(block))
}

/** Splits off the leading system messages: the API takes them as a separate field. */
export function splitSystem(
  messages: readonly AnthropicMessage[],
): readonly [leading: readonly AnthropicMessage[], others: readonly AnthropicMessage[]] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  if (first === 0) return [[], messages]
  const end = first < 0 ? messages.length : first
  return [messages.slice(0, end), messages.slice(end)]
}

function isReply(message: AnthropicMessage): boolean {
  return 'type' in message || 'stop_reason' in message
}

function writeAsUser({ content }: AnthropicMessage, warn: Warn): readonly AnthropicMessage[] {
  const said = readBlocks(content).filter((block) => block.type === 'text' && !isBlank(block))
  warn(
    'system-message-moved',
    'sent a system message between the others as user text, because not every model accepts it',
  )
  return said.length === 0 ? [] : [{ role: 'user', content: typeof content === 'string' ? content : said }]
}

/** Results come first. */
function checkUserBlocks(
  given: readonly AnthropicBlock[],
  known: ReadonlySet<string>,
  warn: Warn,
): readonly AnthropicBlock[] {
  const blocks = given.flatMap((block) => (isBlank(block) ? [] : [removeUnknown(block, known, warn)]))
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))]
}

/** Replaces references to undeclared tools by text: the API refuses them. */
function removeUnknown(block: AnthropicBlock, known: ReadonlySet<string>, warn: Warn): AnthropicBlock {
  const names = isResult(block) ? readReferences(block.content) : []
  const left = names.filter((name) => known.has(name))
  if (left.length === names.length) return block
  warnDropped(names, known, warn)
  return { ...block, content: left.length > 0 ? left.map(createReference) : describeReferences(names) }
}

function checkModelBlocks(
  given: readonly AnthropicBlock[],
  { known, keepsSearches }: Limits,
  lost: Lost,
  warn: Warn,
): readonly AnthropicBlock[] {
  const isLost = (block: AnthropicBlock) =>
    lost.blocks.has(block) || lost.searches.has(isServerCall(block) ? block.id : block.tool_use_id)
  const blocks = given.flatMap((block): readonly AnthropicBlock[] => {
    if (isBlank(block)) return []
    if (lost.blocks.has(block)) {
      warn(
        'block-dropped',
        `dropped a block of the type ${safeJson(block.type)}, because its other half is missing`,
      )
      return []
    }
    if (isCall(block) && !isRecord(block.input))
      return [{ ...block, input: argumentsObject(readArguments(block.input)) }]
    if (isServerCall(block) && isLost(block)) return []
    const names = keepsSearches ? [] : readSearched(block)
    if (names.every((name) => known.has(name))) return [block]
    warnDropped(names, known, warn)
    if (isLost(block)) return []
    const left = names.filter((name) => known.has(name)).map(createReference)
    return [{ ...block, content: { ...(block.content as object), tool_references: left } }]
  })
  // Thinking must not come last: it led to nothing.
  const spoken = blocks.findLastIndex((block) => !isThinking(block)) + 1
  return spoken === blocks.length ? blocks : blocks.slice(0, spoken)
}

/** Parts of server tools that the API does not accept again: whole searches by id, and single blocks. */
interface Lost {
  readonly searches: ReadonlySet<unknown>
  readonly blocks: ReadonlySet<AnthropicBlock>
}

/** The ids of the API's searches whose tools are all undeclared. Such a search is removed completely. */
function findLostSearches(
  messages: readonly AnthropicMessage[],
  known: ReadonlySet<string>,
): ReadonlySet<unknown> {
  const results = messages
    .flatMap(({ content }) => readBlocks(content))
    .filter((block) => {
      const names = readSearched(block)
      return names.length > 0 && !names.some((name) => known.has(name))
    })
  return new Set(results.map((block) => block.tool_use_id))
}

/** The tools that the result of the API's search refers to. */
function readSearched({ type, content }: AnthropicBlock): readonly string[] {
  return type === 'tool_search_tool_result' && isRecord(content)
    ? readReferences(content.tool_references)
    : []
}

function warnDropped(names: readonly string[], known: ReadonlySet<string>, warn: Warn): void {
  for (const name of names)
    if (!known.has(name))
      warn(
        'reference-dropped',
        `removed a reference to ${safeJson(name)}, because it is not declared on this request`,
      )
}

const CALLS = ['server_tool_use', 'mcp_tool_use']

function isServerCall({ type }: AnthropicBlock): boolean {
  return CALLS.includes(type)
}

export function isServerResult(block: AnthropicBlock): boolean {
  return block.type.endsWith('_tool_result')
}

/**
 * Finds the blocks of server tools whose call or result is missing, because a reply or a history was cut. The API
 * refuses the other half. An open call may wait for its result while the client answers other calls.
 */
function findUnpaired(messages: readonly AnthropicMessage[]): ReadonlySet<AnthropicBlock> {
  const open = new Map<unknown, AnthropicBlock>()
  const lost = new Set<AnthropicBlock>()
  const giveUp = (ids: Iterable<unknown>) => {
    for (const id of ids) {
      const block = open.get(id)
      if (block && open.delete(id)) lost.add(block)
    }
  }
  for (const { role, content } of messages) {
    const blocks = readBlocks(content)
    if (role === 'user' && !blocks.some(isResult)) giveUp([...open.keys()])
    if (role !== 'assistant') continue
    const before = [...open.keys()]
    for (const block of blocks) {
      if (isServerCall(block)) {
        giveUp([block.id])
        open.set(block.id, block)
      } else if (isServerResult(block) && !open.delete(block.tool_use_id)) lost.add(block)
    }
    const callers = new Set(blocks.map(({ caller }) => (isRecord(caller) ? caller.tool_id : undefined)))
    giveUp(before.filter((id) => !callers.has(id) && !blocks.some((block) => block.id === id)))
  }
  return lost
}
