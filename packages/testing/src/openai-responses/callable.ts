/** Which functions a model can call on the OpenAI Responses wire, and in which namespace: declared, added or loaded. */

import { itemsOf, type ResponsesItem, type ResponsesRequestBody, type ResponsesTool } from './request.js'

/** The functions a model can call, by namespace; `DEFAULT_NAMESPACE` holds those that are called without one. */
export type CallableTools = ReadonlyMap<string, ReadonlySet<string>>

export const DEFAULT_NAMESPACE = ''

type Growing = Map<string, Set<string>>

/** What the model can call after the whole input. Takes a body without violations. */
export function callableTools(body: Pick<ResponsesRequestBody, 'tools' | 'input'>): CallableTools {
  const callable = declaredTools(body)
  for (const item of itemsOf(body)) load(item, callable)
  return callable
}

export function declaredTools({ tools = [] }: Pick<ResponsesRequestBody, 'tools'>): Growing {
  const callable: Growing = new Map([[DEFAULT_NAMESPACE, new Set()]])
  for (const tool of tools) offer(tool, callable)
  return callable
}

export function load({ type, tools = [] }: ResponsesItem, callable: Growing): void {
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
