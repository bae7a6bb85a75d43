/**
 * The namespace of every call in the history. The API puts a function that a search brought into a namespace of its own
 * name, and refuses a call of it without; a function that is declared or added is called without one. Where a function
 * stands may change at a latch, so what a call was recorded with does not tell.
 */

import { safeJson } from '../../base/text.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Warn } from '../shared/warning.js'
import { isCall, type ResponsesItem } from './types.js'

export function withNamespaces(
  items: readonly ResponsesItem[],
  view: SurfaceView,
  warn: Warn,
): ResponsesItem[] {
  const isOff = view.mode === 'off'
  const plain = new Set(view.tools.map(({ name }) => name))
  const spaces = new Map<string, Set<string>>()
  return items.map((item) => {
    learn(item, plain, spaces)
    if (!isCall(item)) return item
    const { name, namespace } = item
    if (typeof namespace === 'string' && spaces.get(namespace)?.has(name)) return item
    if (!isOff && !plain.has(name) && spaces.get(name)?.has(name)) return { ...item, namespace: name }
    if (namespace == null) return item
    // One of the host's own stays, unless the function stands only outside of it now: the API would refuse the call.
    if (isOff || namespace !== name) {
      if (!plain.has(name)) return item
      warn(
        'namespace-dropped',
        `took the namespace ${safeJson(namespace)} from a call of ${safeJson(name)}: nothing offers it`,
      )
    }
    const { namespace: _, ...rest } = item
    return rest
  })
}

function learn(item: ResponsesItem, plain: Set<string>, spaces: Map<string, Set<string>>): void {
  const { type, tools } = item
  if (!Array.isArray(tools) || (type !== 'additional_tools' && type !== 'tool_search_output')) return
  const add = (space: string, name: string) => spaces.set(space, (spaces.get(space) ?? new Set()).add(name))
  for (const tool of tools as readonly LoadedTool[]) {
    if (typeof tool?.name !== 'string') continue
    if (tool.type === 'namespace') for (const member of tool.tools ?? []) add(tool.name, String(member.name))
    else if (type === 'additional_tools') plain.add(tool.name)
    else add(tool.name, tool.name)
  }
}

interface LoadedTool {
  readonly type?: unknown
  readonly name?: unknown
  readonly tools?: readonly { readonly name?: unknown }[]
}
