/** A definition in which a server repeats none of its secrets: neither a model nor a file is told them. */
import { isRecord } from '@toolwell/core/internal'
import type { ServerDefinition } from './server-definition.js'

/** Names of tools and keys stay: they are what is called. */
export function withoutSecrets(listed: ServerDefinition, hide: (text: string) => string): ServerDefinition {
  const { tools, instructions, info } = listed
  const text = JSON.stringify([tools, instructions, info])
  // Nearly always: nothing is repeated, and nothing is copied.
  if (hide(text) === text) return listed
  return hidden(listed, hide, (key) => key === 'name') as ServerDefinition
}

/** Every string of a value without secrets, however deep; but for those under keys that stay. */
export function hidden(
  value: unknown,
  hide: (text: string) => string,
  stays: (key: string) => boolean = () => false,
): unknown {
  const clean = (each: unknown, key = ''): unknown => {
    if (typeof each === 'string') return stays(key) ? each : hide(each)
    if (Array.isArray(each)) return each.map((item) => clean(item))
    if (!isRecord(each)) return each
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, clean(inner, name)]))
  }
  return clean(value)
}
