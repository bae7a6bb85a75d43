/** A definition in which a server repeats none of its secrets: neither a model nor a file is told them. */
import { isRecord } from '@toolwell/core/internal'
import type { ServerDefinition } from './server-definition.js'

/** Names of tools and keys stay: they are what is called. */
export function withoutSecrets(listed: ServerDefinition, hide: (text: string) => string): ServerDefinition {
  const { tools, instructions, info } = listed
  const text = JSON.stringify([tools, instructions, info])
  // Nearly always: nothing is repeated, and nothing is copied.
  if (hide(text) === text) return listed
  const clean = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') return key === 'name' ? value : hide(value)
    if (Array.isArray(value)) return value.map((item) => clean(item))
    if (!isRecord(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, clean(each, name)]))
  }
  return clean(listed) as ServerDefinition
}
