/**
 * Rules of a strict Anthropic Messages server, which answers 400 before running a model. Messages use Anthropic's wording if it
 * is known. The wire carries only two codes; the others are ours, so that tests can tell rules apart.
 */
import { type Fields, type Found, isObject, unicodeViolation } from '../shared/guards.js'
import type { Violation } from '../shared/protocol.js'
import { keywordObjection } from '../shared/schema-keywords.js'
import { bindingViolation, thinkingViolation } from './binding.js'
import { historyViolation, mediaViolation } from './history.js'
import {
  type AnthropicRequestBody,
  type AnthropicTool,
  eachOf,
  listMarks,
  missing,
  readBlocks,
  violation,
  wrongType,
  wrongValue,
} from './request.js'

export type {
  AnthropicBlock,
  AnthropicMessage,
  AnthropicRequestBody,
  AnthropicTool,
} from './request.js'

export interface AnthropicRuleOptions {
  /** Allows deferred tools. Default: true. Older models and old proxies refuse them. */
  readonly deferral?: boolean
  /**
   * Allows system messages in `messages`, with `tool_addition` and `tool_removal`. Default: false, because not all models accept
   * them. Also covers the beta headers, which the rules do not see.
   */
  readonly midConversationSystem?: boolean
  /** Allows a definition in `tool_addition`: the beta `inline-tools-2026-09-15`. Default: false. */
  readonly inlineTools?: boolean
  /**
   * Requires tools called in the history to be declared. Default: true. Anthropic accepts any name, but compatible servers render
   * the history with a template that looks up each called tool in `tools`.
   */
  readonly strictHistory?: boolean
  /**
   * Requires a deferred tool to be revealed before the history calls it (PI-1). Default: true. A model cannot call a tool that it
   * has not seen, so such a history has lost its reveal, or the tool was deferred after its use.
   */
  readonly strictReveal?: boolean
  /** Binds thinking to everything before it (`binding.ts`). Default: depends on the model, as at Anthropic: from Claude Fable 5.1 on. */
  readonly boundThinking?: boolean
}

const NAME = /^[a-zA-Z0-9_-]{1,128}$/
const PROPERTY_KEY = /^[a-zA-Z0-9_.-]{1,64}$/
const CALL_ID = /^[a-zA-Z0-9_-]+$/
/** Type names of Anthropic's tools: they end with a version date, except these. */
const OWN_TOOL = /_\d{8}$|^tool_search_tool_(bm25|regex)$|^mcp_toolset$/
const SEARCH_TOOL = /^tool_search_tool_/
const NOT_AT_TOP = ['oneOf', 'allOf', 'anyOf']
const MAX_MARKS = 4
const IN_RESULT = ['text', 'image', 'search_result', 'document', 'tool_reference', 'browser_state']
const IN_SYSTEM = ['text', 'tool_addition', 'tool_removal']
/** Blocks allowed for one role only. A `tool_reference` is allowed only in results. */
const SPEAKER = new Map([
  ['tool_result', 'user'],
  ['tool_use', 'assistant'],
  ['server_tool_use', 'assistant'],
  ['tool_search_tool_result', 'assistant'],
  ['thinking', 'assistant'],
  ['redacted_thinking', 'assistant'],
  ['tool_addition', 'system'],
  ['tool_removal', 'system'],
  ['tool_reference', 'tool_result'],
])

/** First rule that the body breaks: shape first, then history. Does not change the body. */
export function findAnthropicViolation(
  body: unknown,
  options: AnthropicRuleOptions = {},
): Violation | undefined {
  if (!isObject(body)) return violation(null, 'Input should be a valid dictionary', 'invalid_type')
  return (
    unicodeViolation(body) ??
    fieldsViolation(body) ??
    systemViolation(body.system) ??
    messagesViolation(body.messages, options) ??
    deferralViolation(body.tools, options) ??
    toolsViolation(body.tools) ??
    toolChoiceViolation(body) ??
    // The shape was checked above.
    marksViolation(body as AnthropicRequestBody) ??
    thinkingViolation(body as AnthropicRequestBody, options) ??
    historyViolation(body as AnthropicRequestBody, options) ??
    bindingViolation(body as AnthropicRequestBody, options)
  )
}

/** Wording of a server that validates against the API before deferral. */
function deferralViolation(tools: unknown, { deferral = true }: AnthropicRuleOptions): Found {
  if (deferral || !Array.isArray(tools)) return undefined
  const index = tools.findIndex((tool) => isObject(tool) && 'defer_loading' in tool)
  if (index < 0) return undefined
  const at = `tools.${index}.custom.defer_loading`
  return violation(at, 'Extra inputs are not permitted', 'extra_forbidden')
}

/** `max_tokens: 0` is legal: it warms the cache without an answer. */
function fieldsViolation({ model, max_tokens: limit, stream, cache_control: mark }: Fields): Found {
  if (model === undefined || model === '') return missing('model')
  if (typeof model !== 'string') return wrongType('model', 'a valid string')
  if (limit === undefined) return missing('max_tokens')
  if (!Number.isInteger(limit)) return wrongType('max_tokens', 'a valid integer')
  if (Number(limit) < 0) {
    return violation('max_tokens', 'Input should be greater than or equal to 0', 'invalid_value')
  }
  if (stream !== undefined && typeof stream !== 'boolean') return wrongType('stream', 'a valid boolean')
  return markViolation(mark, 'cache_control')
}

function systemViolation(system: unknown): Found {
  if (system === undefined || typeof system === 'string') return undefined
  if (!Array.isArray(system)) return wrongType('system', 'a valid list')
  return eachOf(system, 'system', (block, at) => {
    if (!isObject(block)) return wrongType(at, 'a valid dictionary')
    return block.type === 'text' ? textViolation(block, at, 'system') : wrongValue(`${at}.type`, ['text'])
  })
}

function messagesViolation(messages: unknown, options: AnthropicRuleOptions): Found {
  if (messages === undefined) return missing('messages')
  if (!Array.isArray(messages)) return wrongType('messages', 'a valid list')
  if (messages.length === 0) return violation('messages', 'at least one message is required', 'empty_array')
  return eachOf(messages, 'messages', (message, at, index) => {
    if (!isObject(message)) return wrongType(at, 'a valid dictionary')
    if (message.role === undefined) return missing(`${at}.role`)
    if (message.role === 'system') return systemMessageViolation(message, at, options)
    if (message.role !== 'user' && message.role !== 'assistant') {
      return wrongValue(`${at}.role`, ['user', 'assistant'])
    }
    const mayBeEmpty = message.role === 'assistant' && index === messages.length - 1
    return contentViolation(message.content, at, message.role, mayBeEmpty)
  })
}

function systemMessageViolation(message: Fields, at: string, options: AnthropicRuleOptions): Found {
  if (!options.midConversationSystem) {
    return violation(at, "role 'system' is not supported on this model", 'unsupported_role')
  }
  const { content, clear_at: clear, output_config: config } = message
  if (clear !== undefined && clear !== null && clear !== 'never' && clear !== 'next_user_message') {
    return wrongValue(`${at}.clear_at`, ['never', 'next_user_message'])
  }
  const isEmpty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0)
  if (isEmpty) {
    if (isObject(config) && config.effort) return undefined
    return violation(at, 'system content must contain at least one block', 'empty_content')
  }
  if (
    Array.isArray(content) &&
    content.some((block) => isObject(block) && !IN_SYSTEM.includes(String(block.type)))
  ) {
    const reason = "role 'system' supports text, tool_addition, and tool_removal blocks only"
    return violation(at, reason, 'invalid_value')
  }
  return contentViolation(content, at, 'system', false, options)
}

function contentViolation(
  content: unknown,
  at: string,
  role: string,
  mayBeEmpty: boolean,
  options: AnthropicRuleOptions = {},
): Found {
  if (content === undefined) return missing(`${at}.content`)
  if (typeof content !== 'string' && !Array.isArray(content)) {
    return wrongType(`${at}.content`, 'a valid string or list')
  }
  if (content.length === 0 && !mayBeEmpty) {
    const reason = 'all messages must have non-empty content except for the optional final assistant message'
    return violation(at, reason, 'empty_content')
  }
  if (typeof content === 'string') {
    return content === '' ? undefined : textViolation({ text: content }, at, 'messages')
  }
  return eachOf(content, `${at}.content`, (block, place) => {
    if (!isObject(block)) return wrongType(place, 'a valid dictionary')
    if (typeof block.type !== 'string') return missing(`${place}.type`)
    const speaker = SPEAKER.get(block.type) ?? role
    if (speaker !== role) {
      const where = speaker === 'tool_result' ? '`tool_result` blocks' : `\`${speaker}\` messages`
      return violation(place, `\`${block.type}\` blocks can only be in ${where}`, 'misplaced_block')
    }
    return blockViolation(block, place, options)
  })
}

/** Required fields of thinking blocks. */
const SEALS = new Map<unknown, readonly string[]>([
  ['thinking', ['thinking', 'signature']],
  ['redacted_thinking', ['data']],
])

/** Other kinds of blocks are accepted unchanged. */
function blockViolation(block: Fields, at: string, options: AnthropicRuleOptions): Found {
  if (block.type === 'text') return textViolation(block, at, 'messages')
  const inMark = markViolation(block.cache_control, `${at}.cache_control`)
  if (inMark) return inMark
  if (block.type === 'tool_use') return toolUseViolation(block, `${at}.tool_use`)
  if (block.type === 'tool_result') return toolResultViolation(block, `${at}.tool_result`)
  const inMedia = mediaViolation(block, `${at}.${block.type}`)
  if (inMedia) return inMedia
  const unsealed = SEALS.get(block.type)?.find((field) => typeof block[field] !== 'string')
  if (unsealed !== undefined) return missing(`${at}.${block.type}.${unsealed}`)
  if (block.type === 'tool_addition' || block.type === 'tool_removal') {
    return toolChangeViolation(block, `${at}.${block.type}.tool`, options)
  }
  return undefined
}

/** Anthropic names only the outer field here. */
function textViolation(block: Fields, at: string, outer: string): Found {
  if (typeof block.text !== 'string') return wrongType(`${at}.text`, 'a valid string')
  const reason = block.text === '' ? 'be non-empty' : 'contain non-whitespace text'
  if (block.text.trim() !== '') return markViolation(block.cache_control, `${at}.cache_control`)
  return { ...violation(outer, `text content blocks must ${reason}`, 'empty_text'), param: `${at}.text` }
}

function toolUseViolation({ id, name, input }: Fields, at: string): Found {
  return (
    idViolation(id, `${at}.id`) ??
    (typeof name === 'string' && name !== '' ? undefined : missing(`${at}.name`)) ??
    (isObject(input) ? undefined : wrongType(`${at}.input`, 'a valid dictionary'))
  )
}

/**
 * References must be alone in their result. The types allow text next to them, but the API answers 400, so the text of a search
 * follows in a block after the results.
 */
function toolResultViolation({ tool_use_id: id, content, is_error: isError }: Fields, at: string): Found {
  const inId = idViolation(id, `${at}.tool_use_id`)
  if (inId) return inId
  if (isError !== undefined && typeof isError !== 'boolean')
    return wrongType(`${at}.is_error`, 'a valid boolean')
  if (isError && (content === undefined || content === '')) {
    return violation(`${at}.content`, 'content cannot be empty if `is_error` is true', 'empty_content')
  }
  if (content === undefined || typeof content === 'string') return undefined
  if (!Array.isArray(content)) return wrongType(`${at}.content`, 'a valid string or list')
  if (content.length === 0) {
    return violation(`${at}.content`, 'List should have at least 1 item', 'empty_content')
  }
  const found = eachOf(content, `${at}.content`, (part, place) => {
    if (!isObject(part)) return wrongType(place, 'a valid dictionary')
    if (!IN_RESULT.includes(String(part.type))) return wrongValue(`${place}.type`, IN_RESULT)
    if (part.type === 'text') return textViolation(part, place, 'messages')
    if (part.type === 'tool_reference' && typeof part.tool_name !== 'string')
      return missing(`${place}.tool_name`)
    return (
      mediaViolation(part, `${place}.${part.type}`) ??
      markViolation(part.cache_control, `${place}.cache_control`)
    )
  })
  if (found) return found
  // Wording of the API, as reported in vellum-ai/vellum-assistant#18387.
  if (isError && content.some((part) => part.type !== 'text')) {
    const reason = 'all content must be type `text` if `is_error` is true'
    return violation(`${at}.content`, reason, 'media_in_error')
  }
  const references = content.filter((part) => part.type === 'tool_reference').length
  if (references === 0 || references === content.length) return undefined
  return violation(`${at}.content`, 'Tool definitions cannot be mixed with other content', 'mixed_references')
}

/** Called `name` here and `tool_name` in a search result. */
function toolChangeViolation(block: Fields, at: string, { inlineTools }: AnthropicRuleOptions): Found {
  const { tool } = block
  if (!isObject(tool)) return missing(at)
  const kinds = ['tool_reference', 'mcp_tool_reference', 'mcp_toolset_reference']
  if (block.type === 'tool_addition' && inlineTools) kinds.push('tool_definition')
  if (!kinds.includes(String(tool.type))) return wrongValue(`${at}.type`, kinds)
  if (tool.type === 'tool_definition') return toolViolation(tool.definition, `${at}.definition`)
  const fields = { tool_reference: ['name'], mcp_tool_reference: ['server_name', 'name'] }[String(tool.type)]
  const absent = (fields ?? ['server_name']).find((field) => typeof tool[field] !== 'string')
  return absent === undefined ? undefined : missing(`${at}.${absent}`)
}

/** An empty list is legal and means no tools. */
function toolsViolation(tools: unknown): Found {
  if (tools === undefined) return undefined
  if (!Array.isArray(tools)) return wrongType('tools', 'a valid list')
  const names = new Set<string>()
  const found = eachOf(tools, 'tools', (tool, at) => {
    const inTool = toolViolation(tool, at)
    if (inTool) return inTool
    const { name } = tool as AnthropicTool
    if (name === undefined) return undefined
    if (names.has(name)) {
      return { ...violation('tools', 'Tool names must be unique.', 'duplicate_tool'), param: `${at}.name` }
    }
    names.add(name)
    return undefined
  })
  if (found) return found
  const types = tools.map(({ type }: AnthropicTool) => type)
  const foundCaller = eachOf(tools, 'tools', (tool, at) => callersViolation(tool as AnthropicTool, at, types))
  if (foundCaller) return foundCaller
  if (tools.length === 0 || tools.some((tool: AnthropicTool) => !tool.defer_loading)) return undefined
  const reason = 'At least one tool must have defer_loading=false. All tools cannot be deferred.'
  return { ...violation(null, reason, 'all_tools_deferred'), param: 'tools' }
}

/** Callers are `direct` and declared code execution tools (tool-use/programmatic-tool-calling). */
function callersViolation({ allowed_callers: callers }: AnthropicTool, at: string, types: unknown[]): Found {
  if (callers === undefined) return undefined
  if (!Array.isArray(callers) || callers.length === 0)
    return wrongType(`${at}.allowed_callers`, 'a valid list')
  const stranger = callers.find((caller) => caller !== 'direct' && !types.includes(caller))
  if (stranger === undefined) return undefined
  const reason = `'${String(stranger)}' is not a declared code execution tool`
  return violation(`${at}.allowed_callers`, reason, 'unknown_caller')
}

function toolViolation(tool: unknown, at: string): Found {
  if (!isObject(tool)) return wrongType(at, 'a valid dictionary')
  const { type, name, defer_loading: deferred, cache_control: mark } = tool
  const isCustom = type === undefined || type === null || type === 'custom'
  if (!isCustom && !OWN_TOOL.test(String(type))) {
    const reason = `Input tag '${String(type)}' found using 'type' does not match any of the expected tags`
    return violation(at, reason, 'invalid_value')
  }
  const inFields = isCustom ? customToolViolation(tool, `${at}.custom`) : undefined
  if (inFields) return inFields
  if (deferred !== undefined && typeof deferred !== 'boolean')
    return wrongType(`${at}.defer_loading`, 'a valid boolean')
  const inMark = markViolation(mark, `${at}.cache_control`)
  if (inMark || !deferred) return inMark
  if (SEARCH_TOOL.test(String(type))) {
    return violation(`${at}.defer_loading`, 'A tool search tool cannot be deferred', 'deferred_search_tool')
  }
  if (mark === undefined || mark === null) return undefined
  const reason =
    `Tool '${String(name)}' cannot have both defer_loading=true and cache_control set. ` +
    'Tools with defer_loading cannot use prompt caching.'
  return { ...violation(null, reason, 'deferred_cache_control'), param: `${at}.cache_control` }
}

function customToolViolation({ name, description, input_schema: schema }: Fields, at: string): Found {
  if (name === undefined) return missing(`${at}.name`)
  if (typeof name !== 'string') return wrongType(`${at}.name`, 'a valid string')
  if (!NAME.test(name)) {
    return violation(`${at}.name`, `String should match pattern '${NAME.source}'`, 'invalid_value')
  }
  if (description !== undefined && typeof description !== 'string') {
    return wrongType(`${at}.description`, 'a valid string')
  }
  if (schema === undefined) return missing(`${at}.input_schema`)
  if (!isObject(schema)) return wrongType(`${at}.input_schema`, 'a valid dictionary')
  if (schema.type === undefined) return missing(`${at}.input_schema.type`)
  if (schema.type !== 'object') return wrongValue(`${at}.input_schema.type`, ['object'])
  const keys = isObject(schema.properties) ? Object.keys(schema.properties) : []
  if (keys.some((key) => !PROPERTY_KEY.test(key))) {
    const reason = `Property keys should match pattern '${PROPERTY_KEY.source}'`
    return violation(`${at}.input_schema.properties`, reason, 'invalid_value')
  }
  const ill = keywordObjection(schema)
  if (ill !== undefined) {
    const reason = `JSON schema is invalid. It must match JSON Schema draft 2020-12: ${ill}`
    return violation(`${at}.input_schema`, reason, 'invalid_value')
  }
  if (!NOT_AT_TOP.some((keyword) => Object.hasOwn(schema, keyword))) return undefined
  const reason = 'input_schema does not support oneOf, allOf, or anyOf at the top level'
  return violation(`${at}.input_schema`, reason, 'invalid_value')
}

/** Expects checked tools. */
function toolChoiceViolation({ tools, tool_choice: choice }: Fields): Found {
  if (choice === undefined) return undefined
  if (!isObject(choice)) return wrongType('tool_choice', 'a valid dictionary')
  const kinds = ['auto', 'any', 'tool', 'none']
  if (!kinds.includes(String(choice.type))) return wrongValue('tool_choice.type', kinds)
  const declared = (tools ?? []) as readonly AnthropicTool[]
  if (choice.type !== 'none' && declared.length === 0) {
    return violation('tool_choice', 'may only be specified while providing tools', 'invalid_value')
  }
  if (choice.type !== 'tool') return undefined
  if (typeof choice.name !== 'string') return missing('tool_choice.name')
  const chosen = declared.find(({ name }) => name === choice.name)
  if (chosen && !chosen.defer_loading) return undefined
  const reason = chosen ? 'is deferred and cannot be chosen' : 'not found in provided tools'
  return violation('tool_choice.name', `Tool '${choice.name}' ${reason}`, 'invalid_value')
}

function markViolation(mark: unknown, at: string): Found {
  if (mark === undefined || mark === null) return undefined
  if (!isObject(mark)) return wrongType(at, 'a valid dictionary')
  if (mark.type !== 'ephemeral') return wrongValue(`${at}.type`, ['ephemeral'])
  if (mark.ttl === undefined || mark.ttl === '5m' || mark.ttl === '1h') return undefined
  return wrongValue(`${at}.ttl`, ['5m', '1h'])
}

/** The mark on the request itself counts as one of the four. */
function marksViolation({ tools = [], system, messages, cache_control: mark }: AnthropicRequestBody): Found {
  const marked = [...tools, ...readBlocks(system), ...messages.flatMap(({ content }) => readBlocks(content))]
  const marks = [...marked.flatMap(listMarks), ...(isObject(mark) ? [mark] : [])]
  const count = marks.length
  const short = marks.findIndex(({ ttl }) => ttl !== '1h')
  if (short >= 0 && marks.slice(short).some(({ ttl }) => ttl === '1h')) {
    const order = 'Blocks are processed in the order `tools`, `system`, `messages`.'
    const reason = `a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ${order}`
    return violation(null, reason, 'cache_marks_order')
  }
  if (count <= MAX_MARKS) return undefined
  const reason = `A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${count}.`
  return violation(null, reason, 'too_many_cache_marks')
}

function idViolation(id: unknown, at: string): Found {
  if (id === undefined) return missing(at)
  if (typeof id !== 'string') return wrongType(at, 'a valid string')
  if (CALL_ID.test(id)) return undefined
  return violation(at, `String should match pattern '${CALL_ID.source}'`, 'invalid_value')
}
