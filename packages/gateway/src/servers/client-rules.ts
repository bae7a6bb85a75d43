/** Applies the permission rules of a client to the tools of the gateway. */
import { createWireName, matchesGlob } from '@toolwell/core/internal'
import type { ClientRules, Rule, RuleAction } from '../bridge/client-rules.js'

/** The name of the gateway in the client. */
const GATEWAY = 'toolwell'

/** Compares without case, and with `_` for characters that a tool name of a model API cannot contain. */
const clean = (name: string) => name.replace(/[^\w*-]/g, '_').toLowerCase()

/**
 * `tool` is `*` to ask about the whole server. `twins`: other servers with the same program or address; a rule for one counts for
 * all. The strictest layer counts.
 */
export function judgeByRules(
  { prefix, separator, layers, own }: ClientRules,
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
    clean(`${prefix}${each}${separator}${tool}`),
    // `mcp__server` is every tool of the server.
    ...(separator === '__' ? [clean(`${prefix}${each}`)] : []),
  ])
  const short = [createWireName(server, tool), `${server}__${tool}`, ...(separator === '__' ? [server] : [])]
  const long = short.map((name) => clean(`${prefix}${GATEWAY}${separator}${name}`))
  const isForServer = ([, pattern, owner]: Rule) =>
    owner === undefined
      ? names.some((name) => matchesGlob(clean(pattern), name))
      : owner !== GATEWAY &&
        matchesGlob(pattern.toLowerCase(), tool.toLowerCase()) &&
        servers.some((each) => matchesGlob(owner.toLowerCase(), each.toLowerCase()))
  const isForGateway = ([, pattern, owner]: Rule) =>
    owner === undefined
      ? long.some((name) => matchesGlob(clean(pattern), name))
      : owner === GATEWAY && short.some((name) => matchesGlob(clean(pattern), clean(name)))
  // Separately: an allow rule for tools of the gateway must not lift a deny rule for a tool of a server.
  const found = layers.flatMap((layer) => [isForServer, isForGateway].map((is) => layer.findLast(is)?.[0]))
  return found.includes('deny') ? 'deny' : found.includes('ask') ? 'ask' : 'allow'
}
