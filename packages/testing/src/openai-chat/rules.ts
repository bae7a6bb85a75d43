/**
 * Rules of a strict Chat Completions server, which answers 400 before running a model. Messages use OpenAI's wording, because
 * hosts match on it. The codes are OpenAI's if it has one. It sends `null` for pairing rules, which have names here so that tests
 * can tell them apart.
 */
import {
  detectImageType,
  type Fields,
  type Found,
  isBase64,
  isObject,
  readDataUrl,
  unicodeViolation,
  violation,
} from '../shared/guards.js'
import {
  argumentsViolation,
  arrayViolation,
  eachOf,
  missing,
  nameViolation,
  schemaObjection,
  strictObjection,
  tooLong,
  wrongType,
  wrongValue,
} from '../shared/openai.js'
import type { Violation } from '../shared/protocol.js'
import type { ChatMessage, ChatRequestBody, ChatRole, ChatTool, ChatToolCall } from './request.js'

/** Why a strict server of this wire answers 400. */
export type ChatViolation = Violation

/**
 * The kind of server. `mistral` also checks the order of roles. `template` stands for servers whose chat template drops old
 * reasoning (GLM, MiniMax, Qwen): same rules as OpenAI, shorter rendering.
 */
export type ChatFamily = 'openai' | 'mistral' | 'template'

/** Limits of certain servers, all off by default. */
export interface ChatRuleOptions {
  /** Default: `openai`. */
  readonly family?: ChatFamily
  /**
   * Requires call ids of nine letters and digits, and generates such ids. Mistral's API answers 400 to others: "Tool call id was
   * call_98660886 but must be a-z, A-Z, 0-9, with a length of 9." (code 3280; `mistral-common`).
   */
  readonly nineCharacterIds?: boolean
  /** OpenAI's limit is 128. */
  readonly maxTools?: number
  /** Maximum characters of a tool description. Azure and older OpenAI models stop at 1,024. */
  readonly maxDescription?: number
  /**
   * Allows `image_url` parts in tool messages. OpenAI accepts only text there (the official type
   * `ChatCompletionToolMessageParam`); some compatible servers, such as vLLM, accept images.
   */
  readonly imageResults?: boolean
}

const ROLES: readonly unknown[] = ['system', 'developer', 'user', 'assistant', 'tool'] satisfies ChatRole[]
const MAX_CALL_ID = 40
/** Mistral's reasoning models put their thinking into the content (docs.mistral.ai, capabilities/reasoning). */
const ASSISTANT_PARTS: Readonly<Record<string, readonly string[]>> = {
  assistant: ['text', 'refusal'],
  mistral: ['text', 'refusal', 'thinking'],
}
const NOT_AT_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not']

/** First rule that the body breaks: shape first, then pairing. Does not change the body. */
export function findChatViolation(body: unknown, options: ChatRuleOptions = {}): ChatViolation | undefined {
  if (!isObject(body)) return wrongType(null, 'an object', body)
  return (
    unicodeViolation(body) ??
    modelViolation(body.model) ??
    messagesViolation(body.messages, options) ??
    toolsViolation(body.tools, options) ??
    toolChoiceViolation(body) ??
    streamViolation(body) ??
    // The shape was checked above.
    pairingViolation(body as ChatRequestBody) ??
    (options.nineCharacterIds ? idViolation(body as ChatRequestBody) : undefined) ??
    (options.family === 'mistral' ? orderViolation(body as ChatRequestBody) : undefined)
  )
}

function modelViolation(model: unknown): Found {
  if (model === undefined || model === '') return missing('model')
  return typeof model === 'string' ? undefined : wrongType('model', 'a string', model)
}

function messagesViolation(messages: unknown, options: ChatRuleOptions): Found {
  if (messages === undefined) return missing('messages')
  return (
    arrayViolation('messages', messages) ??
    eachOf(messages, 'messages', (message, at) => messageViolation(message, at, options))
  )
}

function messageViolation(message: unknown, at: string, { imageResults, family }: ChatRuleOptions): Found {
  if (!isObject(message)) return wrongType(at, 'an object', message)
  if (message.role === undefined) return missing(`${at}.role`)
  if (!ROLES.includes(message.role)) return wrongValue(`${at}.role`, message.role, ROLES)
  if (message.role === 'assistant') return assistantViolation(message, at, family)
  if (message.role === 'tool' && typeof message.tool_call_id !== 'string')
    return missing(`${at}.tool_call_id`)
  const isOpen = message.role === 'tool' && imageResults === true
  return contentViolation(message.content, `${at}.content`, isOpen ? 'user' : message.role)
}

function assistantViolation(message: Fields, at: string, family: ChatFamily | undefined): Found {
  const calls = message.tool_calls
  const inReasoning = reasoningViolation(message.reasoning_details, `${at}.reasoning_details`)
  if (inReasoning) return inReasoning
  if (calls !== undefined) {
    const found =
      arrayViolation(`${at}.tool_calls`, calls) ?? eachOf(calls, `${at}.tool_calls`, toolCallViolation)
    if (found) return found
    if (message.content === undefined || message.content === null) return undefined
  }
  return (
    (family === 'mistral' && calls === undefined ? emptyViolation(message.content, at) : undefined) ??
    contentViolation(message.content, `${at}.content`, family === 'mistral' ? 'mistral' : 'assistant')
  )
}

/** Mistral's API answers 400 with this message (OpenHands/OpenHands#8685; `mistral-common`, `_validate_assistant_message`). */
function emptyViolation(content: unknown, at: string): Found {
  if (content !== '' && content !== null && content !== undefined) return undefined
  const reason = 'Assistant message must have either content or tool_calls, but not none.'
  return violation(reason, `${at}.content`, 'empty_message')
}

/**
 * A block of reasoning is sent back as the model made it, with its signature: a block that was streamed in pieces is one entry
 * again. Source: openrouter.ai/docs/guides/best-practices/reasoning-tokens, "Preserving reasoning".
 */
function reasoningViolation(details: unknown, at: string): Found {
  const seen = new Set<string>()
  return eachOf(details, at, (entry, place) => {
    if (!isObject(entry) || !['reasoning.text', 'reasoning.summary'].includes(String(entry.type)))
      return undefined
    const block = `${entry.type} ${entry.index}`
    if (entry.index !== undefined && seen.has(block))
      return violation(
        `Invalid '${place}': a piece of the block ${entry.index}.`,
        place,
        'reasoning_in_pieces',
      )
    seen.add(block)
    return undefined
  })
}

function contentViolation(content: unknown, at: string, role: unknown): Found {
  if (typeof content === 'string') return undefined
  if (!Array.isArray(content)) return wrongType(at, 'a string or an array of parts', content)
  return arrayViolation(at, content) ?? eachOf(content, at, (part, place) => partViolation(part, place, role))
}

/** Users may send any kind of part, because servers add their own. Other roles send text, and assistants also refusals and thinking. */
function partViolation(part: unknown, at: string, role: unknown): Found {
  if (!isObject(part)) return wrongType(at, 'an object', part)
  if (typeof part.type !== 'string') return missing(`${at}.type`)
  const allowed = ASSISTANT_PARTS[String(role)] ?? ['text']
  if (role !== 'user' && !allowed.includes(part.type)) return wrongValue(`${at}.type`, part.type, allowed)
  if (part.type === 'image_url') return imageViolation(part.image_url, `${at}.image_url`)
  if (part.type !== 'text' || typeof part.text === 'string') return undefined
  return wrongType(`${at}.text`, 'a string', part.text)
}

/** A URL, or a base64 image in a `data:` URL. */
function imageViolation(image: unknown, at: string): Found {
  if (!isObject(image)) return wrongType(at, 'an object', image)
  if (typeof image.url !== 'string') return missing(`${at}.url`)
  const data = readDataUrl(image.url)
  if (/^https?:\/\//.test(image.url) || (data && isBase64(data.data) && detectImageType(data.data)))
    return undefined
  return violation(`Invalid '${at}.url': not an image that can be read.`, `${at}.url`, 'invalid_image_url')
}

function toolCallViolation(call: unknown, at: string): Found {
  if (!isObject(call)) return wrongType(at, 'an object', call)
  if (call.id === undefined || call.id === '') return missing(`${at}.id`)
  if (typeof call.id !== 'string') return wrongType(`${at}.id`, 'a string', call.id)
  if (call.id.length > MAX_CALL_ID) return tooLong(`${at}.id`, MAX_CALL_ID, call.id)
  if (call.type === 'custom') return customCallViolation(call.custom, `${at}.custom`)
  if (call.type !== 'function') return wrongValue(`${at}.type`, call.type, ['function', 'custom'])
  if (!isObject(call.function)) return wrongType(`${at}.function`, 'an object', call.function)
  const { name, arguments: text } = call.function
  // Meta's API: "`arguments` must be valid JSON" (MetaFARS/codex-relay#57; also brave/brave-browser#56601).
  if (text === '')
    return violation('`arguments` must be valid JSON', `${at}.function.arguments`, 'invalid_arguments')
  return nameViolation(name, `${at}.function.name`) ?? argumentsViolation(text, `${at}.function.arguments`)
}

/** A call of a tool without a schema: its input is plain text. */
function customCallViolation(custom: unknown, at: string): Found {
  if (!isObject(custom)) return wrongType(at, 'an object', custom)
  const inInput =
    typeof custom.input === 'string' ? undefined : wrongType(`${at}.input`, 'a string', custom.input)
  return nameViolation(custom.name, `${at}.name`) ?? inInput
}

function toolsViolation(tools: unknown, { maxTools, maxDescription }: ChatRuleOptions): Found {
  if (tools === undefined) return undefined
  const outer = arrayViolation('tools', tools)
  if (outer) return outer
  const names = new Set<unknown>()
  return eachOf(tools, 'tools', (tool, at, index) => {
    if (maxTools !== undefined && index === maxTools) return tooManyTools(maxTools, tools)
    const found = toolViolation(tool, at, maxDescription)
    if (found) return found
    const { name } = (tool as ChatTool).function
    if (names.has(name)) {
      return violation(
        `Invalid '${at}.function.name': duplicate function name '${name}'. Names must be unique.`,
        `${at}.function.name`,
        'duplicate_tool',
      )
    }
    names.add(name)
    return undefined
  })
}

function toolViolation(tool: unknown, at: string, maxDescription: number | undefined): Found {
  if (!isObject(tool)) return wrongType(at, 'an object', tool)
  if (tool.type !== 'function') return wrongValue(`${at}.type`, tool.type, ['function'])
  if (!isObject(tool.function)) return wrongType(`${at}.function`, 'an object', tool.function)
  const { name, description, parameters, strict } = tool.function
  const place = `${at}.function`
  const inName = nameViolation(name, `${place}.name`)
  if (inName) return inName
  if (description !== undefined && typeof description !== 'string') {
    return wrongType(`${place}.description`, 'a string', description)
  }
  if (maxDescription !== undefined && description !== undefined && description.length > maxDescription) {
    return tooLong(`${place}.description`, maxDescription, description)
  }
  if (strict !== undefined && strict !== null && typeof strict !== 'boolean') {
    return wrongType(`${place}.strict`, 'a boolean', strict)
  }
  return parameters === undefined
    ? undefined
    : parametersViolation(parameters, `${place}.parameters`, String(name), strict === true)
}

function parametersViolation(parameters: unknown, at: string, name: string, strict: boolean): Found {
  if (!isObject(parameters)) return wrongType(at, 'an object', parameters)
  const refuse = (reason: string) =>
    violation(`Invalid schema for function '${name}': ${reason}`, at, 'invalid_function_parameters')
  if (parameters.type !== 'object') {
    const type = JSON.stringify(parameters.type) ?? '"None"'
    return refuse(`schema must be a JSON Schema of 'type: "object"', got 'type: ${type}'.`)
  }
  if (NOT_AT_TOP.some((keyword) => Object.hasOwn(parameters, keyword))) {
    return refuse(`schema must have type 'object' and not have '${NOT_AT_TOP.join("'/'")}' at the top level.`)
  }
  const reason = schemaObjection(parameters) ?? (strict ? strictObjection(parameters) : undefined)
  return reason === undefined ? undefined : refuse(reason)
}

/** Expects checked tools. */
function toolChoiceViolation({ tools, tool_choice: choice, parallel_tool_calls: parallel }: Fields): Found {
  for (const [param, value] of Object.entries({ tool_choice: choice, parallel_tool_calls: parallel })) {
    if (value !== undefined && tools === undefined) {
      const reason = `'${param}' is only allowed when 'tools' are specified.`
      return violation(`Invalid value for '${param}': ${reason}`, param, 'invalid_value')
    }
  }
  if (choice === undefined) return undefined
  if (typeof choice === 'string') {
    const allowed = ['none', 'auto', 'required']
    return allowed.includes(choice) ? undefined : wrongValue('tool_choice', choice, allowed)
  }
  if (!isObject(choice)) return wrongType('tool_choice', 'a string or an object', choice)
  const declared = new Set((tools as readonly ChatTool[]).map((tool) => tool.function.name))
  if (choice.type === 'function') return chosenViolation(choice, 'tool_choice', declared)
  if (choice.type !== 'allowed_tools') {
    return wrongValue('tool_choice.type', choice.type, ['function', 'allowed_tools'])
  }
  const list = isObject(choice.allowed_tools) ? choice.allowed_tools.tools : undefined
  const at = 'tool_choice.allowed_tools.tools'
  return (
    arrayViolation(at, list) ?? eachOf(list, at, (entry, place) => chosenViolation(entry, place, declared))
  )
}

function chosenViolation(chosen: unknown, at: string, declared: ReadonlySet<string>): Found {
  const name = isObject(chosen) && isObject(chosen.function) ? chosen.function.name : undefined
  if (typeof name !== 'string') return missing(`${at}.function.name`)
  if (declared.has(name)) return undefined
  return violation(
    `Tool choice '${name}' not found in 'tools' parameter.`,
    `${at}.function.name`,
    'invalid_value',
  )
}

function streamViolation({ stream, stream_options: options }: Fields): Found {
  if (stream !== undefined && typeof stream !== 'boolean') return wrongType('stream', 'a boolean', stream)
  if (options === undefined || options === null) return undefined
  if (!isObject(options)) return wrongType('stream_options', 'an object', options)
  if (stream === true) return undefined
  const reason = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
  return violation(`Invalid value for 'stream_options': ${reason}`, 'stream_options', 'invalid_value')
}

/**
 * Every call is answered exactly once, directly after its message. Later assistant messages may reuse an id, because some servers
 * restart their ids with every completion.
 */
function pairingViolation({ messages, tools = [] }: ChatRequestBody): Found {
  const declared = new Set(tools.map((tool) => tool.function.name))
  /** Call ids of the latest assistant message, and whether each was answered. Empty after a message of another role. */
  let batch = new Map<string, boolean>()
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`
    if (message.role === 'tool') {
      const found = answerViolation(message.tool_call_id ?? '', at, batch)
      if (found) return found
      batch.set(message.tool_call_id ?? '', true)
      continue
    }
    const unanswered = unansweredViolation(batch, at)
    if (unanswered) return unanswered
    batch = new Map()
    if (message.role !== 'assistant') continue
    for (const [position, call] of (message.tool_calls ?? []).entries()) {
      const found = historicCallViolation(call, `${at}.tool_calls[${position}]`, batch, declared)
      if (found) return found
      batch.set(call.id, false)
    }
  }
  return unansweredViolation(batch, 'messages')
}

function idViolation({ messages }: ChatRequestBody): Found {
  return eachOf([...messages], 'messages', (message, at) =>
    eachOf([...((message as ChatMessage).tool_calls ?? [])], `${at}.tool_calls`, (call, place) => {
      const { id } = call as ChatToolCall
      if (/^[a-zA-Z0-9]{9}$/.test(id)) return undefined
      const reason = `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`
      return violation(reason, `${place}.id`, '3280')
    }),
  )
}

/**
 * Only another result or the model may follow a result. Mistral's API answers 400 with this message. Rule of its public validator
 * (`mistral-common`, `_validate_message_order`: after the role `tool` it expects `assistant` or `tool`); releases that allow a
 * user there still refuse a system message.
 */
function orderViolation({ messages }: ChatRequestBody): Found {
  for (const [index, { role }] of messages.entries()) {
    const before = messages[index - 1]?.role
    if (before !== 'tool' || role === 'assistant' || role === 'tool') continue
    return violation(
      `Unexpected role '${role}' after role '${before}'`,
      `messages[${index}].role`,
      'unexpected_role',
    )
  }
  return undefined
}

function answerViolation(id: string, at: string, batch: ReadonlyMap<string, boolean>): Found {
  const answered = batch.get(id)
  if (answered === false) return undefined
  if (answered) {
    return violation(
      `Duplicate response for tool_call_id '${id}'.`,
      `${at}.tool_call_id`,
      'duplicate_tool_answer',
    )
  }
  return violation(
    // OpenAI's spelling.
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    `${at}.role`,
    'orphan_tool_answer',
  )
}

function unansweredViolation(batch: ReadonlyMap<string, boolean>, at: string): Found {
  const open = [...batch].filter(([, answered]) => !answered).map(([id]) => id)
  if (open.length === 0) return undefined
  return violation(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${open.join(', ')}`,
    at === 'messages' ? at : `${at}.role`,
    'unanswered_tool_calls',
  )
}

function historicCallViolation(
  call: ChatToolCall,
  at: string,
  batch: ReadonlyMap<string, boolean>,
  declared: ReadonlySet<string>,
): Found {
  if (batch.has(call.id)) {
    return violation(
      `Duplicate value for 'tool_call_id' of '${call.id}'.`,
      `${at}.id`,
      'duplicate_tool_call_id',
    )
  }
  // Custom tools are not checked.
  if (call.type === 'custom' || declared.has(call.function.name)) return undefined
  // Stricter than OpenAI, which accepts any legal name here. Some compatible servers render the history with a template that
  // looks up each called tool in `tools`, so dropping a tool after its use fails there.
  return violation(
    `Invalid '${at}.function.name': '${call.function.name}' is not declared in 'tools'.`,
    `${at}.function.name`,
    'undeclared_tool',
  )
}

function tooManyTools(limit: number, tools: unknown): Violation {
  const length = Array.isArray(tools) ? tools.length : 0
  const reason = `Expected an array with maximum length ${limit}, but got an array with length ${length} instead.`
  return violation(`Invalid 'tools': array too long. ${reason}`, 'tools', 'array_above_max_length')
}
