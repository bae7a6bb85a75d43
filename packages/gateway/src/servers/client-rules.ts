/** Applies the permission rules of a client to the tools of the gateway. */
import { createWireName, matchesGlob } from '@toolwell/core/internal'
import type { ClientRules, Rule, RuleAction } from '../bridge/client-rules.js'

/** Compares without case, and with `_` for characters that a tool name of a model API cannot contain. */
const clean = (name: string) => name.replace(/[^\w*-]/g, '_').toLowerCase()

/** `tool` is `*` to ask about the whole server. The strictest layer counts. */
export function judgeByRules(rules: ClientRules, server: string, tool: string): RuleAction {
  const { separator, layers, renamed } = rules
  const servers = [server, ...(Object.hasOwn(renamed, server) ? (renamed[server] ?? []) : [])]
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
