/** Rules about tool definitions and `tool_choice` on the OpenAI Responses wire, and the functions a model can call. */
import { type Fields, type Found, isObject, violation } from '../shared/guards.js'
import {
  eachOf,
  missing,
  nameViolation,
  schemaObjection,
  strictObjection,
  wrongType,
  wrongValue,
} from '../shared/openai.js'
import type { Violation } from '../shared/protocol.js'
import {
  booleanViolation,
  collectTools,
  offeredTools,
  optional,
  type ResponsesItem,
  type ResponsesRequestBody,
  type ResponsesRuleOptions,
  type ResponsesTool,
  readItems,
  stringViolation,
} from './request.js'

export const EXECUTIONS = ['server', 'client']
/** Run by the provider, so a script cannot call them. Only their type is checked. */
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
export const LOADABLE_TOOLS = ['function', 'custom', 'namespace', 'mcp']
export const TOOLS = ['function', 'custom', 'namespace', 'tool_search', ...HOSTED_TOOLS]
const NOT_AT_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'not']

/** An empty list is legal: a search that found nothing returns it. */
export function toolListViolation(
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
    if (tool.type === 'tool_search' && options.toolSearch === false)
      return violation(
        `Tool 'tool_search' is not supported with this model.`,
        `${place}.type`,
        'unsupported_value',
      )
    if (tool.type === 'namespace' && options.namespaces === false)
      return violation(
        `${place}.type: unknown variant \`namespace\`, expected one of \`function\`, \`custom\``,
        `${place}.type`,
        'unknown_variant',
      )
    const found = toolViolation(tool, place, options)
    if (found || tool.name === undefined) return found
    // A namespace and a function may share a name, because they are called in different ways.
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

/** Stricter than OpenAI's types, in which a client's search may lack both: its arguments would have no agreed shape. */
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
  const reason = schemaObjection(parameters) ?? (strict ? strictObjection(parameters) : undefined)
  return reason === undefined ? undefined : refuse(reason)
}

export function nativeSearchViolation(body: ResponsesRequestBody): Found {
  const offered = offeredTools(body)
  const searches = offered.filter((tool) => tool.type === 'tool_search')
  if (searches.length > 1) return duplicateTool('tools', 'tool_search')
  if (searches.length === 0) {
    if (!offered.some(hasDeferred)) return undefined
    const message = "Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search."
    return violation(message, 'tools', 'invalid_value')
  }
  const loaded = collectTools(body, 'tool_search_output')
  const taken = [...offered, ...loaded].some(
    (tool) => tool.name === 'tool_search' && tool.type !== 'namespace',
  )
  if (!taken) return undefined
  // Its calls would look like those of the native tool, and clients would replay them so.
  const reason = "the name is taken by the tool of type 'tool_search'."
  return violation(`Invalid function name 'tool_search': ${reason}`, 'tools', 'reserved_tool_name')
}

/**
 * A request declares a namespace once, in `tools` or in one item. Compatible servers refuse a second declaration (DeepSeek,
 * OpenCode Go: openai/codex issues 44378 and 44729, with this message); reports about OpenAI differ.
 */
export function namespaceListViolation(body: ResponsesRequestBody): Found {
  const declared = new Set<string>()
  const inList = (tools: readonly ResponsesTool[], at: string) =>
    eachOf(tools, at, (tool, place) => {
      const { type, name = '' } = tool as ResponsesTool
      if (type !== 'namespace') return undefined
      if (declared.has(name)) {
        const message = `Duplicate namespace name '${name}' in ${place}. Namespace names must be unique.`
        return violation(message, place, 'duplicate_namespace')
      }
      declared.add(name)
      return undefined
    })
  return (
    inList(body.tools ?? [], 'tools') ??
    eachOf(readItems(body), 'input', (item, place) =>
      inList((item as { readonly tools?: readonly ResponsesTool[] }).tools ?? [], `${place}.tools`),
    )
  )
}

function hasDeferred(tool: ResponsesTool): boolean {
  return tool.defer_loading === true || (tool.tools ?? []).some(hasDeferred)
}

function duplicateTool(at: string, name: string): Violation {
  return violation(`Invalid '${at}': duplicate tool '${name}'. Names must be unique.`, at, 'duplicate_tool')
}

export function toolChoiceViolation(body: ResponsesRequestBody): Found {
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

/** Only tools that are callable from the start can be chosen: no deferred tool, no member of a namespace, no search. */
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

/** Callable functions by namespace. `DEFAULT_NAMESPACE` holds those called without one. */
export type CallableTools = ReadonlyMap<string, ReadonlySet<string>>

export const DEFAULT_NAMESPACE = ''

type Growing = Map<string, Set<string>>

/** Functions that the model can call after the whole input. Expects a body without violations. */
export function callableTools(body: Pick<ResponsesRequestBody, 'tools' | 'input'>): CallableTools {
  const callable = declaredTools(body)
  for (const item of readItems(body)) load(item, callable)
  return callable
}

export function declaredTools({ tools = [] }: Pick<ResponsesRequestBody, 'tools'>): Growing {
  const callable: Growing = new Map([[DEFAULT_NAMESPACE, new Set()]])
  for (const tool of tools) offer(tool, callable)
  return callable
}

export function load({ type, tools = [] }: ResponsesItem, callable: Growing): void {
  if (type === 'additional_tools') for (const tool of tools) offer(tool, callable)
  // A search loads what it returns, deferred or not. A lone function then lives in a namespace with its name.
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

/** Creates the namespace, even if nothing in it can be called yet. */
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
