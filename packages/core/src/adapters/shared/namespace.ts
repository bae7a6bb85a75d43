/**
 * Groups functions into namespaces by source, as OpenAI's models expect the tools of a server. A request may declare
 * a namespace once: compatible servers refuse it in a second item (openai/codex issues 44378 and 44729), and the
 * first item cannot grow without changing the prefix. So functions of the same source that come later have no
 * namespace.
 */

import { isRecord } from '../../base/data.js'
import { safeJson } from '../../base/text.js'
import type { Prompts } from '../../surface/prompts.js'
import { hasSameItems } from './thread.js'

export interface Namespace<Member> {
  readonly type: 'namespace'
  readonly name: string
  readonly description: string
  readonly tools: readonly Member[]
}

/** Names that the API uses itself. */
const RESERVED = new Set(['functions', 'tool_search'])

/** The namespace of a source; undefined if its name is not allowed. */
export function chooseNamespace(source: string): string | undefined {
  const name = source.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)
  return /[a-zA-Z0-9]/.test(name) && !RESERVED.has(name) ? name : undefined
}

/** Groups the members by source, at the position of the first one. */
export function groupBySource<Member>(
  members: readonly { readonly source?: string | undefined; readonly member: Member }[],
  prompts: Prompts,
): (Member | Namespace<Member>)[] {
  const spaces = new Map<string, { readonly source: string; readonly tools: Member[] }>()
  return members.flatMap(({ source = '', member }): readonly (Member | Namespace<Member>)[] => {
    const name = chooseNamespace(source)
    if (name === undefined) return [member]
    const known = spaces.get(name)
    // Two sources with the same namespace: the second gets none.
    if (known && known.source !== source) return [member]
    known?.tools.push(member)
    if (known) return []
    const tools = [member]
    spaces.set(name, { source, tools })
    return [{ type: 'namespace', name, description: prompts.namespace({ source: safeJson(source) }), tools }]
  })
}

/** Replaces namespaces that were declared before by their members. Adds new ones to `declared`. */
export function removeDeclared(tools: readonly unknown[], declared: Set<string>): readonly unknown[] {
  const made = tools.flatMap((tool) => {
    if (!isNamespace(tool)) return [tool]
    if (declared.has(tool.name)) return tool.tools
    declared.add(tool.name)
    return [tool]
  })
  return hasSameItems(made, tools) ? tools : made
}

export function isNamespace(tool: unknown): tool is Namespace<unknown> {
  return (
    isRecord(tool) && tool.type === 'namespace' && typeof tool.name === 'string' && Array.isArray(tool.tools)
  )
}
