/** The last checks of written items: the namespace of each call, and reasoning that the API accepts again. */

import { isRecord } from '../../base/data.js'
import { safeJson } from '../../base/text.js'
import type { SurfaceView } from '../../surface/project.js'
import { chooseNamespace, isNamespace, removeDeclared } from '../shared/namespace.js'
import type { Warn } from '../shared/wire.js'
import { isCall, isOfModel, type ResponsesCall, type ResponsesItem, removeId } from './types.js'

/**
 * Sets the namespace of every call. A function that a search found or an item added is in the namespace of its source.
 * Without one, a found function has a namespace with its own name, and an added function has none. The API refuses
 * calls with another namespace. A function may move when the prefix is frozen again, so the recorded namespace of a
 * call may be wrong.
 */
export function setNamespaces(
  items: readonly ResponsesItem[],
  view: SurfaceView,
  warn: Warn,
): ResponsesItem[] {
  const declared = new Set<string>()
  /** Functions without a namespace. */
  const plain = new Set(view.tools.map(({ name }) => name))
  const spaces = new Map<string, Set<string>>()
  return items.map((given) => {
    const item = removeDeclaredSpaces(given, declared)
    // While deferral is on, the items are Toolwell's own, so no warning.
    if (item !== given && view.mode === 'off')
      warn('form-repaired', 'repaired the form of an entry of the history, because servers refuse it')
    recordSpaces(item, plain, spaces)
    return isCall(item) ? setNamespace(item, view, plain, spaces, warn) : item
  })
}

/** The item, without the namespaces that were declared before. */
function removeDeclaredSpaces(item: ResponsesItem, declared: Set<string>): ResponsesItem {
  if (!bringsTools(item)) return item
  const tools = removeDeclared(item.tools, declared)
  return tools === item.tools ? item : { ...item, tools }
}

function setNamespace(
  item: ResponsesCall,
  view: SurfaceView,
  plain: ReadonlySet<string>,
  spaces: ReadonlyMap<string, ReadonlySet<string>>,
  warn: Warn,
): ResponsesItem {
  const { name, namespace } = item
  if (typeof namespace === 'string' && spaces.get(namespace)?.has(name)) return item
  const holder = [...spaces].find(([, names]) => names.has(name))?.[0]
  // While deferral is off, a call without a namespace stays unchanged.
  const isSettled = view.mode === 'off' && namespace == null
  if (!isSettled && !plain.has(name) && holder !== undefined) return { ...item, namespace: holder }
  if (namespace == null) return item
  const isOwn =
    view.mode === 'on' && (namespace === name || namespace === chooseNamespace(view.sources.get(name) ?? ''))
  // Keep the host's namespace, unless the function is now declared only outside it: the API would refuse the call.
  if (!isOwn) {
    if (!plain.has(name)) return item
    warn(
      'namespace-dropped',
      `removed the namespace ${safeJson(namespace)} from a call of ${safeJson(name)}, because nothing offers it`,
    )
  }
  const { namespace: _, ...rest } = item
  return rest
}

function recordSpaces(item: ResponsesItem, plain: Set<string>, spaces: Map<string, Set<string>>): void {
  if (!bringsTools(item)) return
  const add = (space: string, name: string) => spaces.set(space, (spaces.get(space) ?? new Set()).add(name))
  for (const tool of item.tools) {
    if (isNamespace(tool)) for (const name of tool.tools.flatMap(nameOf)) add(tool.name, name)
    else if (item.type === 'additional_tools') for (const name of nameOf(tool)) plain.add(name)
    else for (const name of nameOf(tool)) add(name, name)
  }
}

function bringsTools(item: ResponsesItem): item is ResponsesItem & { readonly tools: readonly unknown[] } {
  const { type, tools } = item
  return Array.isArray(tools) && (type === 'additional_tools' || type === 'tool_search_output')
}

function nameOf(tool: unknown): readonly string[] {
  return isRecord(tool) && typeof tool.name === 'string' ? [tool.name] : []
}

/**
 * Removes reasoning that the API refuses. It accepts reasoning once per id, and only before the item it led to.
 * Reasoning of a reply that reached its limit led to nothing. An item without its reasoning loses its id.
 */
export function removeLostReasoning(items: readonly ResponsesItem[], warn: Warn): ResponsesItem[] {
  const seen = new Set<string>()
  const output: ResponsesItem[] = []
  let lost = false
  items.forEach((item, index) => {
    if (item.type === 'reasoning') {
      lost = !isFollowed(items, index) || isRepeated(item, seen)
      if (lost) warn('reasoning-dropped', 'dropped reasoning that led to nothing or was repeated')
      else output.push(item)
    } else if (isOfModel(item)) {
      output.push(lost ? removeId(item) : item)
    } else {
      output.push(item)
      lost = false
    }
  })
  return output
}

/** Whether an item of the model follows this reasoning. */
function isFollowed(items: readonly ResponsesItem[], index: number): boolean {
  let next = index + 1
  while (items[next]?.type === 'reasoning') next++
  const item = items[next]
  return item !== undefined && isOfModel(item)
}

/** Reasoning that carries its content needs no id, so a second one with the same id is sent without it. */
function isRepeated({ id, encrypted_content }: ResponsesItem, seen: Set<string>): boolean {
  if (typeof id !== 'string') return false
  const repeated = seen.has(id) && typeof encrypted_content !== 'string'
  seen.add(id)
  return repeated
}

/** Removes repeated item ids: the API refuses the second occurrence. */
export function removeRepeatedIds(items: readonly ResponsesItem[], warn: Warn): ResponsesItem[] {
  const seen = new Set<string>()
  return items.map((item) => {
    const { id, ...rest } = item
    if (typeof id !== 'string') return item
    if (!seen.has(id)) {
      seen.add(id)
      return item
    }
    warn('form-repaired', 'removed the id of an entry, because an earlier entry has the same id')
    return rest
  })
}
