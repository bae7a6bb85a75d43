/** A definition in which a server repeats none of its secrets: neither a model nor a file is told them. */
import { isRecord } from '@toolwell/core/internal'
import type { DefinitionRedactor } from '../config/redact.js'
import { HIDDEN } from '../config/show-word.js'
import type { McpTool, ServerDefinition, UnusableEntry } from './server-definition.js'

/** Names of tools and keys are what is called, and stay; a tool that has a secret there is left out. */
export function withoutSecrets(listed: ServerDefinition, redactor: DefinitionRedactor): ServerDefinition {
  const text = JSON.stringify(listed)
  // Nearly always: nothing is repeated, and nothing is copied.
  if (redactor.hide(text) === text) return listed
  const isLeftOut = (tool: McpTool) => redactor.isTold(tool.name) || hasKey(tool, redactor.isTold)
  const skipped = new Set(listed.tools.filter(isLeftOut))
  const names = new Set(listed.tools.flatMap((tool) => (skipped.has(tool) ? [] : [tool.name])))
  const hide = (told: string) => redactor.hide(told, names)
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return hide(value)
    if (Array.isArray(value)) return value.map(clean)
    if (!isRecord(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [redactor.isTold(key) ? hide(key) : key, clean(each)]),
    )
  }
  const tools: McpTool[] = []
  const unusable: UnusableEntry[] = (listed.unusable ?? []).map((entry) => clean(entry) as UnusableEntry)
  for (const [index, tool] of listed.tools.entries())
    if (skipped.has(tool))
      unusable.push({
        entry: index + 1,
        // Not in part either: what is around a secret may belong to it.
        name: redactor.isTold(tool.name) ? HIDDEN : hide(tool.name),
        reason: 'has a value of its config in a name, and is left out',
      })
    else tools.push({ ...(clean(tool) as McpTool), name: tool.name })
  return { ...(clean({ ...listed, tools: [] }) as ServerDefinition), tools, unusable }
}

function hasKey(value: unknown, isTold: (key: string) => boolean): boolean {
  if (Array.isArray(value)) return value.some((each) => hasKey(each, isTold))
  return isRecord(value) && Object.entries(value).some(([key, each]) => isTold(key) || hasKey(each, isTold))
}

/** Every string of a value without secrets, however deep. */
export function hidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value)
  if (Array.isArray(value)) return value.map((each) => hidden(each, hide))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hidden(each, hide)]))
}
