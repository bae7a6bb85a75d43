/** Applies the permission rules of a client to the tools of the gateway. */
import { createWireName, matchesGlob } from '@toolwell/core/internal'
import type { ServerConfig } from '@toolwell/mcp'
import { isOffered } from '@toolwell/mcp/internal'
import type { ClientRules, Rule, RuleAction } from '../bridge/client-rules.js'
import type { ServerSet } from './server-set.js'

/** The name of the gateway in the client. */
const GATEWAY = 'toolwell'

/** Compares without case, and with `_` for characters that a tool name of a model API cannot contain. */
const clean = (name: string) => name.replace(/[^\w*-]/g, '_').toLowerCase()

/** `tool` is `*` to ask about the whole server. The strictest layer counts. */
export function judgeByRules(
  { prefix, separator, layers, own }: ClientRules,
  server: string,
  tool: string,
): RuleAction {
  const isOwn = Object.hasOwn(own, server)
  if (!isOwn && Object.values(own).some((names) => names.includes(server))) return 'deny'
  const servers = [server, ...(isOwn ? (own[server] ?? []) : [])]
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
  return findStrictest(found)
}

function findStrictest(found: readonly (RuleAction | undefined)[]): RuleAction {
  return found.includes('deny') ? 'deny' : found.includes('ask') ? 'ask' : 'allow'
}

/**
 * Judges tools of all servers. The same server of another client may have another name and another command line, so a tool of
 * another client also gets the strictest action of tools with this name on the client's own servers.
 */
export function createJudge(rules: ClientRules, { known, servers }: ServerSet) {
  const own = Object.keys(rules.own)
  const isOwn = (server: string) => Object.hasOwn(rules.own, server)
  const definitionOf = (server: string) => (known.has(server) ? servers.definition(server) : undefined)
  const judgeOwn = (server: string, tool: string): RuleAction => {
    const config = known.get(server)
    const isOff = config !== undefined && isOwn(server) && !(config.enabled && isOffered(tool, config))
    return isOff ? 'deny' : judgeByRules(rules, server, tool)
  }
  const targets = new Map([...known].map(([name, { endpoint }]) => [name, describeTarget(endpoint)] as const))
  const hasTool = (server: string, tool: string) => {
    const listed = definitionOf(server)?.tools
    // Unknown tools count as the same, unless the whole server is denied: then every tool would be.
    return listed ? listed.some(({ name }) => name === tool) : judgeOwn(server, '*') !== 'deny'
  }
  const judge = (server: string, tool: string): RuleAction => {
    if (isOwn(server)) return judgeByRules(rules, server, tool)
    const others = [...new Set([...own, ...known.keys()])].filter(
      (other) =>
        other !== server &&
        (targets.get(other) === targets.get(server) || (isOwn(other) && hasTool(other, tool))),
    )
    return findStrictest([judgeByRules(rules, server, tool), ...others.map((other) => judgeOwn(other, tool))])
  }
  // Every search asks about every tool.
  const answers = new Map<string, RuleAction>()
  let definitions: readonly unknown[] = []
  return (server: string, tool: string): RuleAction => {
    const now = own.map(definitionOf)
    if (now.some((each, at) => each !== definitions[at])) answers.clear()
    definitions = now
    const key = JSON.stringify([server, tool])
    const action = answers.get(key) ?? judge(server, tool)
    answers.set(key, action)
    return action
  }
}

/** The program and its arguments, or the address. */
function describeTarget(endpoint: ServerConfig['endpoint']): string {
  return JSON.stringify(endpoint.type === 'stdio' ? [endpoint.command, ...endpoint.args] : endpoint.url)
}
