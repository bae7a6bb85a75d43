/**
 * Functions in the namespace of their source: the form in which OpenAI's models know the tools of a server. A request declares
 * a namespace once. Compatible servers refuse it in a second item (openai/codex issues 44378 and 44729), and the first item
 * cannot grow without new bytes in the prefix: so what comes later of the same source comes by itself, as the host's own do.
 */

import { isRecord } from '../../base/guards.js'
import { safeJson } from '../../base/text.js'
import type { Prompts } from '../../surface/prompts.js'
import { sameItems } from './thread.js'

export interface Namespace<Member> {
  readonly type: 'namespace'
  readonly name: string
  readonly description: string
  readonly tools: readonly Member[]
}

/** The API's own: the default one, and its search. */
const RESERVED = new Set(['functions', 'tool_search'])

/** What the namespace of a source is called; undefined where it can have none. */
export function namespaceOf(source: string): string | undefined {
  const name = source.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)
  return /[a-zA-Z0-9]/.test(name) && !RESERVED.has(name) ? name : undefined
}

/** The members in their order, those of one source together where its first stands. */
export function bySource<Member>(
  members: readonly { readonly source?: string | undefined; readonly member: Member }[],
  prompts: Prompts,
): (Member | Namespace<Member>)[] {
  const spaces = new Map<string, { readonly source: string; readonly tools: Member[] }>()
  return members.flatMap(({ source = '', member }): readonly (Member | Namespace<Member>)[] => {
    const name = namespaceOf(source)
    if (name === undefined) return [member]
    const known = spaces.get(name)
    // Two sources whose names become one: the second has none.
    if (known && known.source !== source) return [member]
    known?.tools.push(member)
    if (known) return []
    const tools = [member]
    spaces.set(name, { source, tools })
    return [{ type: 'namespace', name, description: prompts.namespace({ source: safeJson(source) }), tools }]
  })
}

/** The list with what a namespace holds in its place, where that was declared before. `declared` grows. */
export function declaredOnce(tools: readonly unknown[], declared: Set<string>): readonly unknown[] {
  const made = tools.flatMap((tool) => {
    if (!isNamespace(tool)) return [tool]
    if (declared.has(tool.name)) return tool.tools
    declared.add(tool.name)
    return [tool]
  })
  return sameItems(made, tools) ? tools : made
}

export function isNamespace(tool: unknown): tool is Namespace<unknown> {
  return (
    isRecord(tool) && tool.type === 'namespace' && typeof tool.name === 'string' && Array.isArray(tool.tools)
  )
}
