/** Applies the permission rules of a client to the tools of the gateway. */
import { createWireName, matchesGlob } from '@toolwell/core/internal'
import type { ClientRules, Rule, RuleAction } from '../bridge/client-rules.js'

/** Compares without case, and with `_` for characters that a tool name of a model API cannot contain. */
const clean = (name: string) => name.replace(/[^\w*-]/g, '_').toLowerCase()

/**
 * `tool` is `*` to ask about the whole server. `twins`: other servers with the same program or address; a rule for one counts for
 * all. The strictest layer counts.
 */
export function judgeByRules(
  { separator, layers, own }: ClientRules,
  server: string,
  tool: string,
  twins: readonly string[] = [],
): RuleAction {
  const isOwn = (name: string) => Object.hasOwn(own, name)
  const before = (name: string) => (isOwn(name) ? (own[name] ?? []) : [])
  if (!isOwn(server) && (twins.some(isOwn) || Object.values(own).some((names) => names.includes(server))))
    return 'deny'
  const servers = [server, ...twins].flatMap((name) => [name, ...before(name)])
  const names = servers.flatMap((each) => [
    clean(`${each}${separator}${tool}`),
    // `mcp__server` is every tool of the server.
    ...(separator === '__' ? [clean(each)] : []),
  ])
  names.push(clean(createWireName(server, tool)), clean(`${server}__${tool}`))
  const isMatch = ([, pattern, owner]: Rule) =>
    owner === undefined
      ? names.some((name) => matchesGlob(clean(pattern), name))
      : matchesGlob(pattern.toLowerCase(), tool.toLowerCase()) &&
        servers.some((each) => matchesGlob(owner.toLowerCase(), each.toLowerCase()))
  const found = layers.map((layer) => layer.findLast(isMatch)?.[0])
  return found.includes('deny') ? 'deny' : found.includes('ask') ? 'ask' : 'allow'
}
