/**
 * What a strict OpenAI Responses server refuses with a 400 before any model runs: the gate of the scripted endpoint on
 * that wire, used without state, so that each request carries its whole history. Messages are worded as OpenAI words
 * them where its text is known, because hosts and their logs match on it. The codes are OpenAI's where it has one; it
 * sends `null` for pairing and namespaces, which get names here so that a test can tell them apart.
 */

import type { Violation } from './protocol.js'

/** A tool definition; which fields it has depends on its type. A namespace holds its members in `tools`. */
export interface ResponsesTool {
  readonly type: string
  readonly name?: string
  readonly description?: string | null
  readonly parameters?: { readonly [keyword: string]: unknown } | null
  readonly strict?: boolean | null
  readonly defer_loading?: boolean
  readonly execution?: 'server' | 'client'
  readonly tools?: readonly ResponsesTool[]
  readonly [field: string]: unknown
}

/** An item of the input; which fields it has depends on its type, and one without a type is a message. */
export interface ResponsesItem {
  readonly type?: string
  readonly id?: string | null
  readonly role?: string
  readonly call_id?: string | null
  readonly name?: string
  readonly namespace?: string | null
  readonly execution?: 'server' | 'client'
  readonly tools?: readonly ResponsesTool[]
  readonly [field: string]: unknown
}

/** The shape of a body without violations. */
export interface ResponsesRequestBody {
  readonly model: string
  readonly input: string | readonly ResponsesItem[]
  readonly instructions?: string | null
  readonly tools?: readonly ResponsesTool[]
  readonly tool_choice?: unknown
  readonly stream?: boolean | null
  readonly [field: string]: unknown
}

export interface ResponsesRuleOptions {
  /**
   * Judges a function without `strict` as if it were true. OpenAI tries strict mode on such a function and falls back
   * in silence where the schema does not allow it: a host that means `strict: false` has to say so, and this shows
   * where it does not.
   */
  readonly strictByDefault?: boolean
}

/** The functions a model can call, by namespace; `DEFAULT_NAMESPACE` holds those that are called without one. */
export type CallableTools = ReadonlyMap<string, ReadonlySet<string>>

export const DEFAULT_NAMESPACE = ''

type Found = Violation | undefined
type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown, at: string) => Found

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const ID = /^[a-zA-Z0-9_-]+$/
const MAX_ID = 64
const ROLES = ['user', 'assistant', 'system', 'developer']
const EXECUTIONS = ['server', 'client']
/** What the server would have to remember or run by itself. The endpoint keeps nothing between requests. */
const STATEFUL = ['previous_response_id', 'conversation', 'prompt', 'background']
const INPUT_PARTS = ['input_text', 'input_image', 'input_file']
const OUTPUT_PARTS = ['output_text', 'refusal']
/** Run by the provider, so no script can call them. They pass with no more than their type. */
const HOSTED_TOOLS = [
  'file_search',
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'computer',
  'computer_use_preview',
  'mcp',
  'code_interpreter',
  'programmatic_tool_calling',
  'image_generation',
  'local_shell',
  'shell',
  'apply_patch',
]
const MEMBER_TOOLS = ['function', 'custom']
const LOADABLE_TOOLS = ['function', 'custom', 'namespace', 'mcp']
const TOOLS = ['function', 'custom', 'namespace', 'tool_search', ...HOSTED_TOOLS]
const NOT_AT_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'not']
const NOT_IN_STRICT = ['oneOf', 'allOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas']

/** The first rule that the body breaks, shapes before pairing. Reads the body; keeps and changes nothing. */
export function responsesViolationOf(body: unknown, options: ResponsesRuleOptions = {}): Found {
  if (!isObject(body)) return wrongType(null, 'an object', body)
  return (
    modelViolation(body.model) ??
    statefulViolation(body) ??
    optional(body.instructions, 'instructions', stringViolation) ??
    inputViolation(body.input, options) ??
    (body.tools === undefined ? undefined : toolListViolation(body.tools, 'tools', TOOLS, options)) ??
    streamViolation(body) ??
    // The shapes have been checked above, so the body is one.
    togetherViolation(body as unknown as ResponsesRequestBody)
  )
}

/** What the model can call after the whole input. Takes a body without violations. */
export function callableTools(body: Pick<ResponsesRequestBody, 'tools' | 'input'>): CallableTools {
  const callable = declaredTools(body)
  for (const item of itemsOf(body)) load(item, callable)
  return callable
}

/** Everything offered from the start or by the application: `tools`, then the `additional_tools` items in order. */
export function offeredTools(body: Pick<ResponsesRequestBody, 'tools' | 'input'>): readonly ResponsesTool[] {
  return [...(body.tools ?? []), ...toolsOf(body, 'additional_tools')]
}

/** A string is short for one message of the user. */
export function itemsOf({ input }: Pick<ResponsesRequestBody, 'input'>): readonly ResponsesItem[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input
}

function modelViolation(model: unknown): Found {
  if (model === undefined || model === '') return missing('model')
  return stringViolation(model, 'model')
}

function statefulViolation(body: Fields): Found {
  const field = STATEFUL.find(
    (name) => body[name] !== undefined && body[name] !== null && body[name] !== false,
  )
  if (field === undefined) return undefined
  const reason = "this endpoint keeps no responses. Send the whole history in 'input'."
  return violation(`Unsupported parameter: '${field}': ${reason}`, field, 'unsupported_parameter')
}

function streamViolation({ stream, stream_options: options }: Fields): Found {
  const found = optional(stream, 'stream', booleanViolation)
  if (found || options === undefined || options === null) return found
  if (!isObject(options)) return wrongType('stream_options', 'an object', options)
  if (stream === true) return undefined
  const reason = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
  return violation(`Invalid value for 'stream_options': ${reason}`, 'stream_options', 'invalid_value')
}

// Items, each for itself.

function inputViolation(input: unknown, options: ResponsesRuleOptions): Found {
  if (input === undefined || input === '') return missing('input')
  if (typeof input === 'string') return undefined
  if (!Array.isArray(input)) return wrongType('input', 'a string or an array of items', input)
  if (input.length === 0) {
    const reason = 'Expected an array with minimum length 1, but got an empty array instead.'
    return violation(`Invalid 'input': empty array. ${reason}`, 'input', 'empty_array')
  }
  const checks = itemChecks(options)
  return eachOf(input, 'input', (item, at) => itemViolation(item, at, checks))
}

interface ItemCheck {
  /** What the id of such an item begins with. */
  readonly prefix?: string
  readonly check: (item: Fields, at: string) => Found
}

function itemChecks(options: ResponsesRuleOptions): ReadonlyMap<unknown, ItemCheck> {
  return new Map<unknown, ItemCheck>([
    ['message', { prefix: 'msg', check: messageViolation }],
    ['function_call', { prefix: 'fc', check: callViolation }],
    ['function_call_output', { prefix: 'fc', check: outputViolation }],
    ['reasoning', { prefix: 'rs', check: reasoningViolation }],
    ['tool_search_call', { prefix: 'tsc', check: searchCallViolation }],
    ['tool_search_output', { prefix: 'tso', check: (item, at) => searchOutputViolation(item, at, options) }],
    ['additional_tools', { check: (item, at) => additionalViolation(item, at, options) }],
    ['compaction', { check: ({ encrypted_content }, at) => compactionViolation(encrypted_content, at) }],
  ])
}

function itemViolation(item: unknown, at: string, checks: ReadonlyMap<unknown, ItemCheck>): Found {
  if (!isObject(item)) return wrongType(at, 'an object', item)
  const known = checks.get(item.type ?? 'message')
  if (known === undefined) return wrongValue(`${at}.type`, item.type, [...checks.keys()])
  return (
    optional(item.id, `${at}.id`, (id, place) => itemIdViolation(id, place, known.prefix)) ??
    known.check(item, at)
  )
}

function itemIdViolation(id: unknown, at: string, prefix = ''): Found {
  if (typeof id !== 'string') return wrongType(at, 'a string', id)
  if (id.length > MAX_ID) return tooLong(at, MAX_ID, id)
  if (!ID.test(id)) {
    const reason = 'Expected an ID that contains letters, numbers, underscores, or dashes'
    const message = `Invalid '${at}': '${id}'. ${reason}, but this value contained additional characters.`
    return violation(message, at, 'invalid_value')
  }
  if (id.startsWith(prefix)) return undefined
  return violation(
    `Invalid '${at}': '${id}'. Expected an ID that begins with '${prefix}'.`,
    at,
    'invalid_value',
  )
}

function messageViolation({ role, content }: Fields, at: string): Found {
  if (role === undefined) return missing(`${at}.role`)
  if (!ROLES.includes(role as string)) return wrongValue(`${at}.role`, role, ROLES)
  return contentViolation(content, `${at}.content`, role === 'assistant' ? OUTPUT_PARTS : INPUT_PARTS)
}

function contentViolation(content: unknown, at: string, allowed: readonly string[]): Found {
  if (content === undefined) return missing(at)
  if (typeof content === 'string') return undefined
  if (!Array.isArray(content)) return wrongType(at, 'a string or an array of parts', content)
  return eachOf(content, at, (part, place) => {
    if (!isObject(part)) return wrongType(place, 'an object', part)
    if (!allowed.includes(part.type as string)) return wrongValue(`${place}.type`, part.type, allowed)
    if (part.type === 'refusal') return stringViolation(part.refusal, `${place}.refusal`)
    return part.type === allowed[0] ? stringViolation(part.text, `${place}.text`) : undefined
  })
}

function callViolation(item: Fields, at: string): Found {
  return (
    callIdViolation(item.call_id, `${at}.call_id`) ??
    nameViolation(item.name, `${at}.name`) ??
    optional(item.namespace, `${at}.namespace`, nameViolation) ??
    // Text that is no JSON passes: the model wrote it, and the host has to send it back.
    stringViolation(item.arguments, `${at}.arguments`)
  )
}

function outputViolation(item: Fields, at: string): Found {
  return (
    callIdViolation(item.call_id, `${at}.call_id`) ??
    contentViolation(item.output, `${at}.output`, INPUT_PARTS)
  )
}

function reasoningViolation({ id, summary }: Fields, at: string): Found {
  if (id === undefined || id === null) return missing(`${at}.id`)
  if (summary === undefined) return missing(`${at}.summary`)
  return Array.isArray(summary) ? undefined : wrongType(`${at}.summary`, 'an array', summary)
}

function searchCallViolation(item: Fields, at: string): Found {
  if (item.arguments === undefined) return missing(`${at}.arguments`)
  return searchPairViolation(item, at)
}

function searchOutputViolation(item: Fields, at: string, options: ResponsesRuleOptions): Found {
  return (
    searchPairViolation(item, at) ?? toolListViolation(item.tools, `${at}.tools`, LOADABLE_TOOLS, options)
  )
}

/** A search that the client runs is paired by its call id; one that the server ran has none. */
function searchPairViolation({ execution, call_id: id }: Fields, at: string): Found {
  if (execution !== undefined && !EXECUTIONS.includes(execution as string)) {
    return wrongValue(`${at}.execution`, execution, EXECUTIONS)
  }
  return execution === 'client' || (id !== undefined && id !== null)
    ? callIdViolation(id, `${at}.call_id`)
    : undefined
}

function additionalViolation({ role, tools }: Fields, at: string, options: ResponsesRuleOptions): Found {
  if (role === undefined) return missing(`${at}.role`)
  if (role !== 'developer') return wrongValue(`${at}.role`, role, ['developer'])
  return toolListViolation(tools, `${at}.tools`, TOOLS, options)
}

function compactionViolation(content: unknown, at: string): Found {
  if (content === undefined) return missing(`${at}.encrypted_content`)
  return stringViolation(content, `${at}.encrypted_content`)
}

function callIdViolation(id: unknown, at: string): Found {
  if (id === undefined || id === null || id === '') return missing(at)
  if (typeof id !== 'string') return wrongType(at, 'a string', id)
  return id.length > MAX_ID ? tooLong(at, MAX_ID, id) : undefined
}

// Tool definitions, in `tools` and in the items that carry some.

/** An empty list passes: it is how a search says that it found nothing. */
function toolListViolation(
  tools: unknown,
  at: string,
  allowed: readonly string[],
  options: ResponsesRuleOptions,
): Found {
  if (tools === undefined) return missing(at)
  if (!Array.isArray(tools)) return wrongType(at, 'an array', tools)
  const names = new Set<string>()
  return eachOf(tools, at, (tool, place) => {
    if (!isObject(tool)) return wrongType(place, 'an object', tool)
    if (!allowed.includes(tool.type as string)) return wrongValue(`${place}.type`, tool.type, allowed)
    const found = toolViolation(tool, place, options)
    if (found || tool.name === undefined) return found
    // A namespace and a function may share a name: they are never called in the same place.
    const key = `${tool.type === 'namespace'} ${tool.name}`
    if (names.has(key)) return duplicateTool(`${place}.name`, String(tool.name))
    names.add(key)
    return undefined
  })
}

function toolViolation(tool: Fields, at: string, options: ResponsesRuleOptions): Found {
  if (tool.type === 'function') return functionViolation(tool, at, options)
  if (tool.type === 'namespace') return namespaceViolation(tool, at, options)
  if (tool.type === 'tool_search') return searchToolViolation(tool, at)
  if (tool.type === 'custom') return nameViolation(tool.name, `${at}.name`)
  return undefined
}

function functionViolation(
  tool: Fields,
  at: string,
  { strictByDefault = false }: ResponsesRuleOptions,
): Found {
  const found =
    nameViolation(tool.name, `${at}.name`) ??
    optional(tool.description, `${at}.description`, stringViolation) ??
    optional(tool.strict, `${at}.strict`, booleanViolation) ??
    optional(tool.defer_loading, `${at}.defer_loading`, booleanViolation)
  if (found) return found
  const strict = tool.strict === undefined ? strictByDefault : tool.strict === true
  return optional(tool.parameters, `${at}.parameters`, (parameters, place) =>
    parametersViolation(parameters, place, String(tool.name), strict),
  )
}

function namespaceViolation(tool: Fields, at: string, options: ResponsesRuleOptions): Found {
  const found = nameViolation(tool.name, `${at}.name`)
  if (found) return found
  if (tool.description === undefined) return missing(`${at}.description`)
  if (tool.defer_loading !== undefined) {
    const reason = "a namespace is not deferred; set 'defer_loading' on the functions inside it."
    return violation(
      `Unknown parameter: '${at}.defer_loading': ${reason}`,
      `${at}.defer_loading`,
      'unknown_parameter',
    )
  }
  return (
    stringViolation(tool.description, `${at}.description`) ??
    toolListViolation(tool.tools, `${at}.tools`, MEMBER_TOOLS, options)
  )
}

/** Stricter than OpenAI's types, where a client's search may lack both: its arguments would have no agreed shape. */
function searchToolViolation({ execution, description, parameters }: Fields, at: string): Found {
  if (execution !== undefined && !EXECUTIONS.includes(execution as string)) {
    return wrongValue(`${at}.execution`, execution, EXECUTIONS)
  }
  if (execution !== 'client') return undefined
  if (typeof description !== 'string' || description === '') return missing(`${at}.description`)
  if (parameters === undefined || parameters === null) return missing(`${at}.parameters`)
  return parametersViolation(parameters, `${at}.parameters`, 'tool_search', false)
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
  const reason = strict ? strictObjection(parameters, []) : undefined
  return reason === undefined ? undefined : refuse(reason)
}

/** Strict mode takes only closed objects whose properties are all required, at every depth. */
function strictObjection(schema: unknown, context: readonly string[]): string | undefined {
  if (!isObject(schema)) return undefined
  const place = `In context=(${context.map((step) => `'${step}'`).join(', ')})`
  const refused = NOT_IN_STRICT.find((keyword) => Object.hasOwn(schema, keyword))
  if (refused !== undefined) return `${place}, '${refused}' is not permitted.`
  const { type, properties, required, additionalProperties } = schema
  const names = isObject(properties) ? Object.keys(properties) : []
  if (type === 'object' || (Array.isArray(type) && type.includes('object')) || names.length > 0) {
    if (additionalProperties !== false) {
      return `${place}, 'additionalProperties' is required to be supplied and to be false.`
    }
    const absent = names.find((name) => !Array.isArray(required) || !required.includes(name))
    if (absent !== undefined) {
      const rule =
        "'required' is required to be supplied and to be an array including every key in properties."
      return `${place}, ${rule} Missing '${absent}'.`
    }
  }
  for (const keyword of ['properties', '$defs', 'definitions', 'anyOf']) {
    for (const [key, child] of Object.entries(schema[keyword] ?? {})) {
      const reason = strictObjection(child, [...context, keyword, key])
      if (reason !== undefined) return reason
    }
  }
  return strictObjection(schema.items, [...context, 'items'])
}

// What holds between the parts of a request, once each has its shape.

function togetherViolation(body: ResponsesRequestBody): Found {
  return nativeSearchViolation(body) ?? toolChoiceViolation(body) ?? historyViolation(body)
}

function nativeSearchViolation(body: ResponsesRequestBody): Found {
  const offered = offeredTools(body)
  const searches = offered.filter((tool) => tool.type === 'tool_search')
  if (searches.length > 1) return duplicateTool('tools', 'tool_search')
  if (searches.length === 0) {
    if (!offered.some(hasDeferred)) return undefined
    const message = "Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search."
    return violation(message, 'tools', 'invalid_value')
  }
  const loaded = toolsOf(body, 'tool_search_output')
  const taken = [...offered, ...loaded].some(
    (tool) => tool.name === 'tool_search' && tool.type !== 'namespace',
  )
  if (!taken) return undefined
  // Its calls would read like the native tool's own, and clients replay them as such.
  const reason = "the name is taken by the tool of type 'tool_search'."
  return violation(`Invalid function name 'tool_search': ${reason}`, 'tools', 'reserved_tool_name')
}

function toolsOf(body: Pick<ResponsesRequestBody, 'input'>, type: string): readonly ResponsesTool[] {
  return itemsOf(body).flatMap((item) => (item.type === type ? (item.tools ?? []) : []))
}

function hasDeferred(tool: ResponsesTool): boolean {
  return tool.defer_loading === true || (tool.tools ?? []).some(hasDeferred)
}

function toolChoiceViolation(body: ResponsesRequestBody): Found {
  const { tool_choice: choice } = body
  const offered = offeredTools(body)
  if (choice === undefined) return undefined
  if (typeof choice === 'string') {
    const allowed = ['none', 'auto', 'required']
    if (!allowed.includes(choice)) return wrongValue('tool_choice', choice, allowed)
    if (choice !== 'required' || offered.length > 0) return undefined
    const message = "Tool choice 'required' must be specified with 'tools' parameter."
    return violation(message, 'tool_choice', 'invalid_value')
  }
  if (!isObject(choice)) return wrongType('tool_choice', 'a string or an object', choice)
  if (choice.type !== 'allowed_tools') return chosenViolation(choice, 'tool_choice', offered)
  const modes = ['auto', 'required']
  if (!modes.includes(choice.mode as string)) return wrongValue('tool_choice.mode', choice.mode, modes)
  if (!Array.isArray(choice.tools)) return wrongType('tool_choice.tools', 'an array', choice.tools)
  return eachOf(choice.tools, 'tool_choice.tools', (entry, at) => chosenViolation(entry, at, offered))
}

/** Only what the model can call from the start is chosen: no deferred tool, no member of a namespace, no search. */
function chosenViolation(chosen: unknown, at: string, offered: readonly ResponsesTool[]): Found {
  if (!isObject(chosen)) return wrongType(at, 'an object', chosen)
  const choosable = [...MEMBER_TOOLS, ...HOSTED_TOOLS]
  if (!choosable.includes(chosen.type as string)) return wrongValue(`${at}.type`, chosen.type, choosable)
  const named = MEMBER_TOOLS.includes(chosen.type as string)
  if (named && typeof chosen.name !== 'string') return missing(`${at}.name`)
  const param = named ? `${at}.name` : `${at}.type`
  const label = named ? chosen.name : chosen.type
  const tool = offered.find(({ type, name }) => type === chosen.type && (!named || name === chosen.name))
  if (tool === undefined) {
    return violation(`Tool choice '${label}' not found in 'tools' parameter.`, param, 'invalid_value')
  }
  if (tool.defer_loading !== true) return undefined
  return violation(
    `Tool choice '${label}' is a deferred tool, which cannot be chosen.`,
    param,
    'deferred_tool_choice',
  )
}

/** A call that the input has to answer. Searches that the server ran are answered by the server and not kept here. */
interface OpenCall {
  readonly answer: 'function_call_output' | 'tool_search_output'
  answered: boolean
}

/**
 * Every call is answered exactly once, anywhere behind it, and names a function that was callable where it stands:
 * declared, or loaded by an item before it.
 */
function historyViolation(body: ResponsesRequestBody): Found {
  const callable = declaredTools(body)
  const calls = new Map<string, OpenCall>()
  const ids = new Set<string>()
  for (const [index, item] of itemsOf(body).entries()) {
    const at = `input[${index}]`
    const found = duplicateItemViolation(item, ids) ?? turnViolation(item, at, calls, callable)
    if (found) return found
    load(item, callable)
  }
  const open = [...calls].find(([, call]) => !call.answered)
  if (open === undefined) return undefined
  const kind = open[1].answer === 'function_call_output' ? 'function call' : 'tool search call'
  return violation(`No tool output found for ${kind} ${open[0]}.`, 'input', 'unanswered_tool_calls')
}

function duplicateItemViolation({ id }: ResponsesItem, ids: Set<string>): Found {
  if (typeof id !== 'string') return undefined
  if (ids.has(id)) {
    const message = `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`
    return violation(message, 'input', 'duplicate_item')
  }
  ids.add(id)
  return undefined
}

function turnViolation(
  item: ResponsesItem,
  at: string,
  calls: Map<string, OpenCall>,
  callable: CallableTools,
): Found {
  const { type, call_id: id } = item
  if (typeof id !== 'string') return undefined
  if (type === 'function_call_output' || type === 'tool_search_output') {
    const call = calls.get(id)
    if (call?.answer !== type) return orphanViolation(id, type)
    if (call.answered) {
      const message = `Duplicate tool output found for call_id '${id}'.`
      return violation(message, `${at}.call_id`, 'duplicate_tool_answer')
    }
    call.answered = true
    return undefined
  }
  if (type !== 'function_call' && type !== 'tool_search_call') return undefined
  if (calls.has(id)) {
    return violation(`Duplicate value for 'call_id' of '${id}'.`, `${at}.call_id`, 'duplicate_tool_call_id')
  }
  const isSearch = type === 'tool_search_call'
  calls.set(id, { answer: isSearch ? 'tool_search_output' : 'function_call_output', answered: false })
  return isSearch ? undefined : historicCallViolation(item, at, callable)
}

function orphanViolation(id: string, type: string): Violation {
  const kind = type === 'function_call_output' ? 'function call output' : 'tool search output'
  return violation(`No tool call found for ${kind} with call_id ${id}.`, 'input', 'orphan_tool_answer')
}

function historicCallViolation(
  { name = '', namespace }: ResponsesItem,
  at: string,
  callable: CallableTools,
): Found {
  const space = callable.get(namespace ?? DEFAULT_NAMESPACE)
  if (space?.has(name)) return undefined
  if (typeof namespace === 'string' && space === undefined) {
    const message = `Invalid '${at}.namespace': namespace '${namespace}' of function_call '${name}' does not exist.`
    return violation(message, `${at}.namespace`, 'unknown_namespace')
  }
  if (typeof namespace !== 'string' && [...callable.values()].some((names) => names.has(name))) {
    return violation(
      `Missing namespace for function_call '${name}'. It does not exist in the default namespace. ` +
        "Round-trip the model's function_call item with its namespace field included.",
      `${at}.namespace`,
      'missing_namespace',
    )
  }
  // Stricter than OpenAI, which takes any legal name in the history. Compatible servers that render the history with a
  // template look each called tool up, so a host that drops a tool after its use, or its loading item, fails there.
  return violation(
    `Invalid '${at}.name': '${name}' is neither declared in 'tools' nor loaded by an item before it.`,
    `${at}.name`,
    'undeclared_tool',
  )
}

type Growing = Map<string, Set<string>>

function declaredTools({ tools = [] }: Pick<ResponsesRequestBody, 'tools'>): Growing {
  const callable: Growing = new Map([[DEFAULT_NAMESPACE, new Set()]])
  for (const tool of tools) offer(tool, callable)
  return callable
}

function load({ type, tools = [] }: ResponsesItem, callable: Growing): void {
  if (type === 'additional_tools') for (const tool of tools) offer(tool, callable)
  // Deferred or not, what a search brings is loaded; a lone function then lives in a namespace of its own name.
  if (type === 'tool_search_output') {
    for (const tool of tools) {
      if (tool.type === 'namespace') for (const member of tool.tools ?? []) add(tool.name, member, callable)
      else add(tool.name, tool, callable)
    }
  }
}

function offer(tool: ResponsesTool, callable: Growing): void {
  const members = tool.type === 'namespace' ? (tool.tools ?? []) : [tool]
  const namespace = tool.type === 'namespace' ? tool.name : DEFAULT_NAMESPACE
  for (const member of members) add(namespace, member, callable, member.defer_loading !== true)
}

/** The namespace exists from here on, even if nothing in it can be called yet. */
function add(
  namespace = DEFAULT_NAMESPACE,
  { type, name }: ResponsesTool,
  callable: Growing,
  isLoaded = true,
): void {
  if (type !== 'function' || name === undefined) return
  const names = callable.get(namespace) ?? new Set()
  callable.set(namespace, isLoaded ? names.add(name) : names)
}

// Wording and guards.

function nameViolation(name: unknown, at: string): Found {
  if (name === undefined) return missing(at)
  if (typeof name !== 'string') return wrongType(at, 'a string', name)
  if (name.length > 64) return tooLong(at, 64, name)
  if (NAME.test(name)) return undefined
  return violation(
    `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '${NAME.source}'.`,
    at,
    'invalid_value',
  )
}

function stringViolation(value: unknown, at: string): Found {
  return typeof value === 'string' ? undefined : wrongType(at, 'a string', value)
}

function booleanViolation(value: unknown, at: string): Found {
  return typeof value === 'boolean' ? undefined : wrongType(at, 'a boolean', value)
}

/** Most optional fields of this wire may be null as well as absent. */
function optional(value: unknown, at: string, check: Check): Found {
  return value === undefined || value === null ? undefined : check(value, at)
}

function duplicateTool(at: string, name: string): Violation {
  return violation(`Invalid '${at}': duplicate tool '${name}'. Names must be unique.`, at, 'duplicate_tool')
}

function tooLong(at: string, limit: number, text: string): Violation {
  const reason = `Expected a string with maximum length ${limit}, but got a string with length ${text.length} instead.`
  return violation(`Invalid '${at}': string too long. ${reason}`, at, 'string_above_max_length')
}

function missing(at: string): Violation {
  return violation(`Missing required parameter: '${at}'.`, at, 'missing_required_parameter')
}

function wrongValue(at: string, value: unknown, allowed: readonly unknown[]): Violation {
  const supported = allowed.map((entry) => `'${entry}'`).join(', ')
  return violation(
    `Invalid value: '${String(value)}'. Supported values are: ${supported}.`,
    at,
    'invalid_value',
  )
}

function wrongType(at: string | null, expected: string, value: unknown): Violation {
  const place = at === null ? 'the request body' : `'${at}'`
  return violation(
    `Invalid type for ${place}: expected ${expected}, but got ${kindOf(value)} instead.`,
    at,
    'invalid_type',
  )
}

function violation(message: string, param: string | null, code: string): Violation {
  return { message, param, code }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function eachOf(list: readonly unknown[], at: string, check: Check): Found {
  for (const [index, entry] of list.entries()) {
    const found = check(entry, `${at}[${index}]`)
    if (found) return found
  }
  return undefined
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
