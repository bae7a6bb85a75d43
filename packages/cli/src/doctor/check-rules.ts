/** Finds tools that a client denies but reaches through the gateway: over HTTP, or by an entry that does not name the client. */
import { platform } from 'node:os'
import { firstLine } from '@toolwell/core/internal'
import { isOffered, selectByProfile } from '@toolwell/mcp/internal'
import { type ClientRecord, openRecords, recordsFolder } from '../connect/records.js'
import { type Permissions, RulesProblem, readOwn, readPermissions } from '../shared/clients/client-rules.js'
import { type ClientFile, clientFiles, findHome } from '../shared/clients/clients.js'
import type { FoundRule } from '../shared/clients/found-rule.js'
import { exampleMatcher, findLostHooks, type LostHook } from '../shared/clients/lost-hooks.js'
import { listEntries, parseClient, readClientFile, valueAt } from '../shared/clients/read-client.js'
import { findShape } from '../shared/clients/shapes.js'
import {
  ENTRY_NAME,
  type IsGateway,
  readAddress,
  readCommandLine,
  readScope,
  readToolwellEntry,
  startsToolwell,
} from '../shared/clients/toolwell-entry.js'
import type { OpenServers } from '../shared/servers/with-servers.js'
import type { Terminal } from '../shared/terminal.js'
import type { Diagnosis } from './report.js'

export async function checkRules(
  { config, well }: OpenServers,
  isGateway: IsGateway,
  { env, folder, name }: Pick<Terminal, 'env' | 'folder' | 'name'>,
): Promise<Diagnosis[]> {
  const places = { home: findHome(env), folder, platform: platform(), env }
  const { createRulesJudge } = await import('@toolwell/gateway')
  const records = readRecords(env)
  const found: Diagnosis[] = []
  for (const from of clientFiles(places)) {
    const entry = readToolwellEntry(from)
    if (!startsToolwell(entry) && !isGateway({ url: readAddress(entry) })) continue
    const about = { rule: 'client-rules', file: from.file } as const
    const words = readCommandLine(entry)
    let rules: Permissions | undefined
    let own: ReturnType<typeof readOwn> = {}
    let hooks: readonly LostHook[] = []
    try {
      rules = await readPermissions(from.client, places)
      hooks = await findLostHooks(from.client, places)
      if (words.includes('--own')) own = readOwn(words[words.indexOf('--own') + 1] ?? '')
    } catch (error) {
      if (!(error instanceof RulesProblem)) throw error
      const fix = `Fix the file, then restart ${from.label}.`
      found.push({ ...about, level: 'error', message: error.message, fix })
      continue
    }
    if (!rules) continue
    for (const { matcher, file } of hooks)
      found.push({
        ...about,
        file,
        level: 'warning',
        message: firstLine(
          `${from.label} has a hook for ${matcher}. It does not run for tools behind Toolwell, because they have other names.`,
          600,
        ),
        fix: `Add the tools behind Toolwell to the matcher, such as ${exampleMatcher(from.client)}, or deny the tools in toolwell.json.`,
      })
    // This entry reads the rules at each start.
    if (words.includes('--client')) {
      const names = new Set(config.servers.map((server) => server.name))
      const record = records.find(({ file }) => file === from.file)
      const missing = (record?.taken ?? [])
        .filter(({ as }) => !Object.hasOwn(own, as))
        .map(({ name }) => name)
      if (missing.length > 0)
        for (const { text, file } of findRulesFor(missing, rules))
          found.push({
            ...about,
            file,
            level: 'warning',
            message: firstLine(
              `${from.label} denies ${text}, but its entry for Toolwell does not name this server after --own, so the rule may not apply.`,
              600,
            ),
            fix: `Run: ${name} connect ${from.client}`,
          })
      // Written by hand.
      if (!record && !words.includes('--own'))
        for (const { text, file } of findUnmatchedRules(rules, [...names, ...readServerNames(from)]))
          found.push({
            ...about,
            file,
            level: 'warning',
            message: firstLine(`${from.label} denies ${text}, but the config has no such server.`, 600),
            fix: `If the server has another name in the config, add it to the entry for Toolwell: --own NAME=EARLIER. Or remove the entry and run: ${name} connect ${from.client}`,
          })
      for (const [server, before] of Object.entries(own).filter(([each]) => !names.has(each)))
        for (const { text, file } of findRulesFor([server, before.name], rules))
          found.push({
            ...about,
            file,
            level: 'warning',
            message: firstLine(
              `${from.label} denies ${text}, but the config has no server "${server}".`,
              600,
            ),
            fix: `If you renamed the server, rename it in the rule too. If you removed it, run: ${name} connect ${from.client}`,
          })
      continue
    }
    const { profile } = readScope(entry)
    const wanted = profile === undefined ? undefined : config.profiles[profile]
    const servers = wanted ? selectByProfile(config.servers, wanted) : config.servers
    const judge = createRulesJudge({ ...rules, own: {} })
    const reached = [...well.catalogue.entries()]
      .filter(({ source, tool }) => {
        const server = servers.find((each) => each.name === source)
        const isDenied = judge(source, tool.name) === 'deny'
        return isDenied && server !== undefined && isOffered(tool.name, server)
      })
      .map(({ source, tool }) => `${source}/${tool.name}`)
    if (reached.length === 0) continue
    const [key, deny] = [profile ?? from.client, [...(wanted?.deny ?? []), ...reached]]
    const whole = JSON.stringify({ profiles: { [key]: { ...wanted, deny } } })
    found.push({
      ...about,
      level: 'warning',
      message: firstLine(
        `${from.label} denies ${reached.join(', ')}, but its entry for Toolwell does not carry this rule.`,
        600,
      ),
      fix: `Remove the entry and run: ${name} connect ${from.client}. Or keep it over HTTP with the path /mcp/${encodeURIComponent(key)}, and write this to toolwell.json: ${whole}`,
    })
  }
  return found
}

function readRecords(env: Terminal['env']): ClientRecord[] {
  try {
    return openRecords(recordsFolder(env)).clients()
  } catch {
    // The next connect or undo reports them.
    return []
  }
}

/** Deny rules for servers that are in neither the config nor the client. */
function findUnmatchedRules(rules: Permissions, servers: readonly string[]): FoundRule[] {
  const { prefix, separator, found } = rules
  const matched = new Set(findRulesFor([...servers, ENTRY_NAME], rules))
  return found.filter((each) => {
    const [, pattern, owner] = each.rule
    const [head = ''] = pattern.slice(prefix.length).split('*')
    const isNamed =
      owner === undefined
        ? pattern.startsWith(prefix) && (!pattern.includes('*') || head.includes(separator))
        : owner !== '*'
    // Without a prefix, the name may be that of another tool.
    return prefix !== '' && each.action === 'deny' && isNamed && !matched.has(each)
  })
}

/** The names of the servers in the file of a client. */
function readServerNames(from: ClientFile): string[] {
  const { format, tables } = findShape(from.shape)
  try {
    const parsed = parseClient(readClientFile(from), format, from.file)
    return 'value' in parsed
      ? tables.flatMap((path) => listEntries(valueAt(parsed.value, path)).map(({ name }) => name))
      : []
  } catch {
    return []
  }
}

/** Deny rules that name one of these servers, without wildcards in the name. */
function findRulesFor(servers: readonly string[], { prefix, separator, found }: Permissions): FoundRule[] {
  const clean = (name: string) => name.replace(/[^\w*-]/g, '_').toLowerCase()
  const heads = servers.map((server) => clean(`${prefix}${server}`))
  return found.filter(({ action, rule: [, pattern, owner] }) => {
    if (action !== 'deny') return false
    if (owner !== undefined) return servers.includes(owner)
    return heads.some((head) => clean(pattern) === head || clean(pattern).startsWith(`${head}${separator}`))
  })
}
