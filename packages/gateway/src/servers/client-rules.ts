/** Applies the permission rules of a client to the tools of the gateway. */
import { createWireName } from '@toolwell/core/internal'
import type { ServerConfig } from '@toolwell/mcp'
import { isOffered } from '@toolwell/mcp/internal'
import { type ClientRules, identifyProgram, type Rule, type RuleAction } from '../bridge/client-rules.js'
import type { ServerSet } from './server-set.js'

/** The name of the gateway in the client. */
const GATEWAY = 'toolwell'

/** As model APIs show names: with `_` for other characters. */
const show = (name: string) => name.replace(/[^\w-]/g, '_')

/** Compares without case too. Keeps the wildcards of a pattern. */
const loosen = (name: string) => name.replace(/[^\w*-]/g, '_').toLowerCase()

/** Compares letters and digits only: clients differ in what they put between server and tool. */
const fold = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '')

type IsMatch = (name: string) => boolean

/** As `matchesGlob`, for a pattern that is compared with many names. */
function compile(pattern: string): IsMatch {
  const [head = '', ...middle] = pattern.split(/\*+/)
  const tail = middle.pop()
  if (tail === undefined) return (name) => name === pattern
  const shortest = pattern.replaceAll('*', '').length
  return (name) => {
    if (name.length < shortest || !name.startsWith(head) || !name.endsWith(tail)) return false
    let at = head.length
    for (const part of middle) {
      const found = name.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return name.length - tail.length >= at
  }
}

/** A rule with the forms of its pattern, which are needed for every tool. */
interface Prepared {
  readonly action: RuleAction
  readonly owner: { readonly isGateway: boolean; readonly is: IsMatch; readonly isLike: IsMatch } | undefined
  /** As the client itself compares. */
  readonly is: IsMatch
  /** With other cases and characters. */
  readonly isLike: IsMatch
  /** The name of a tool of a server, in lower case. */
  readonly isToolLike: IsMatch
  /** The whole pattern, if it has no wildcard. Then a deny or ask rule also counts for names that look the same. */
  readonly folded: string | undefined
  /** The same without the prefix of the client. */
  readonly bare: string | undefined
}

function prepare([action, pattern, owner]: Rule): Prepared {
  const isName = owner === undefined && !pattern.includes('*')
  return {
    action,
    owner:
      owner === undefined
        ? undefined
        : { isGateway: owner === GATEWAY, is: compile(owner), isLike: compile(owner.toLowerCase()) },
    is: compile(pattern),
    isLike: compile(loosen(pattern)),
    isToolLike: compile(pattern.toLowerCase()),
    folded: isName ? fold(pattern) || undefined : undefined,
    bare: isName ? fold(pattern.replace(/^mcp_+/i, '')) : undefined,
  }
}

/** Judges tools by the rules alone. `tool` is `*` to ask about the whole server. The strictest layer counts. */
export function createRulesJudge({
  prefix,
  separator,
  layers,
  own,
}: ClientRules): (server: string, tool: string) => RuleAction {
  const prepared = layers.map((layer) => layer.map(prepare))
  const earlier = new Set(Object.values(own).map(({ name }) => name))
  return (server, tool) => {
    const before = Object.hasOwn(own, server) ? own[server]?.name : undefined
    if (before === undefined && earlier.has(server)) return 'deny'
    const fullNames = (name: string) => {
      const head = show(`${prefix}${name}`)
      // `mcp__server` is every tool of the server.
      return [`${head}${separator}${tool === '*' ? tool : show(tool)}`, ...(separator === '__' ? [head] : [])]
    }
    // The client knows the server by its earlier name. A rule may also have the name in toolwell.json.
    const client = before ?? server
    const both = [...new Set([server, client])]
    const exactNames = fullNames(client)
    const names = both.flatMap(fullNames).map(loosen)
    const wireName = createWireName(server, tool)
    const short = [wireName, `${server}__${tool}`, ...(separator === '__' ? [server] : [])].map(loosen)
    const head = `${prefix}${GATEWAY}${separator}`
    const long = short.map((name) => loosen(`${head}${name}`))
    const whole = tool === '*' ? [] : [wireName, ...both.map((each) => `${each}_${tool}`)].map(fold)
    const folded = new Set(whole.flatMap((name) => [name, `${GATEWAY}_${name}`]))
    const [toolName, ownerNames] = [tool.toLowerCase(), both.map((each) => each.toLowerCase())]
    const bareName = tool === '*' ? undefined : fold(tool)
    const forServer: Matches = {
      isMatch: ({ owner, isLike, isToolLike, folded: name, bare }) =>
        owner
          ? !owner.isGateway && isToolLike(toolName) && ownerNames.some(owner.isLike)
          : names.some(isLike) ||
            // `mcp__name` is a server, so it does not count for every tool with this name.
            (name !== undefined && (name === bareName || folded.has(name))) ||
            (bare !== undefined && folded.has(bare)),
      isExact: ({ owner, is }) =>
        owner ? !owner.isGateway && is(tool) && owner.is(client) : exactNames.some(is),
    }
    const forGateway: Matches = {
      isMatch: ({ owner, isLike }) => (owner ? owner.isGateway && short.some(isLike) : long.some(isLike)),
      isExact: ({ owner, is }) => (owner ? owner.isGateway && is(wireName) : is(`${head}${wireName}`)),
    }
    // Separately: an allow rule for tools of the gateway must not lift a deny rule for a tool of a server.
    return findStrictest(
      prepared.flatMap((layer) => [judgeLayer(layer, forServer), judgeLayer(layer, forGateway)]),
    )
  }
}

interface Matches {
  readonly isMatch: (rule: Prepared) => boolean
  /** As the client itself compares. Only asked about rules that match. */
  readonly isExact: (rule: Prepared) => boolean
}

/** The last rule counts, but a rule that the client itself would not apply here lifts no stricter one. */
function judgeLayer(layer: readonly Prepared[], { isMatch, isExact }: Matches): RuleAction | undefined {
  let found: RuleAction | undefined
  for (const each of layer) {
    if (!isMatch(each)) continue
    if (isExact(each)) found = each.action
    else if (each.action !== 'allow') found = findStrictest([found, each.action])
  }
  return found
}

function findStrictest(found: readonly (RuleAction | undefined)[]): RuleAction {
  return found.includes('deny') ? 'deny' : found.includes('ask') ? 'ask' : 'allow'
}

/**
 * Judges tools of all servers. The same server of another client may have another name and another command line, so a tool of
 * another client also gets the strictest action of tools with this name on the client's own servers.
 */
export function createJudge(rules: ClientRules, { config, known, servers, catalogue }: ServerSet) {
  const judgeByRules = createRulesJudge(rules)
  const own = Object.keys(rules.own)
  const isOwn = (server: string) => Object.hasOwn(rules.own, server)
  const toolsOf = (server: string) => (known.has(server) ? servers.definition(server)?.tools : undefined)
  const judgeOwn = (server: string, tool: string): RuleAction => {
    const config = known.get(server)
    const isOff = config !== undefined && isOwn(server) && !(config.enabled && isOffered(tool, config))
    return isOff ? 'deny' : judgeByRules(server, tool)
  }
  const targets = new Map([...known].map(([name, { endpoint }]) => [name, describeTarget(endpoint)] as const))
  const programs = new Map(
    [...known].map(([name, { endpoint }]) => [name, identifyProgram(endpoint)] as const),
  )
  /** By their command lines: an own server may have been renamed or edited in toolwell.json. */
  const isLike = (ownServer: string, server: string) =>
    [...(programs.get(ownServer) ?? []), ...(rules.own[ownServer]?.program ?? [])].some((word) =>
      programs.get(server)?.includes(word),
    )
  const hasMostTools = (ownServer: string, server: string) => {
    const names = new Set(toolsOf(ownServer)?.map(({ name }) => name))
    const common = toolsOf(server)?.filter(({ name }) => names.has(name)).length ?? 0
    return common * 2 > names.size
  }
  /** Own servers that cannot be used, for example without a variable. Their limits are unknown, so they count for the same program. */
  const broken = config.problems.flatMap(({ severity, server }) =>
    severity === 'error' && server !== undefined && isOwn(server) && !known.has(server) ? [server] : [],
  )
  const wholeCopies = new Map<string, boolean>()
  const wholeServers = new Map<string, RuleAction>()
  /** Does a rule for this tool of an own server count for another server? */
  const isCopy = (ownServer: string, server: string, tool: string): boolean => {
    const listed = toolsOf(ownServer)
    if (listed?.some(({ name }) => name === tool)) return true
    // Unknown tools count as the same, unless the whole server is denied: then every tool of every server would be.
    const action = wholeServers.get(ownServer) ?? judgeOwn(ownServer, '*')
    wholeServers.set(ownServer, action)
    if (action !== 'deny') return listed === undefined
    const key = JSON.stringify([ownServer, server])
    const isWhole = wholeCopies.get(key) ?? (isLike(ownServer, server) || hasMostTools(ownServer, server))
    wholeCopies.set(key, isWhole)
    return isWhole
  }
  const judge = (server: string, tool: string): RuleAction => {
    if (isOwn(server)) return judgeByRules(server, tool)
    if (broken.some((other) => isLike(other, server))) return 'deny'
    const others = [...new Set([...own, ...known.keys()])].filter(
      (other) =>
        other !== server &&
        (targets.get(other) === targets.get(server) || (isOwn(other) && isCopy(other, server, tool))),
    )
    return findStrictest([judgeByRules(server, tool), ...others.map((other) => judgeOwn(other, tool))])
  }
  // Every search asks about every tool.
  const answers = new Map<string, RuleAction>()
  let lists: readonly unknown[] = []
  return (server: string, tool: string): RuleAction => {
    const now = [catalogue.revision, ...own.map(toolsOf)]
    if (now.some((each, at) => each !== lists[at])) {
      answers.clear()
      wholeCopies.clear()
      wholeServers.clear()
    }
    lists = now
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
