/** Finds tools that a client denies but reaches through the gateway: over HTTP, or by an entry that does not name the client. */
import { platform } from 'node:os'
import { firstLine, isRecord } from '@toolwell/core/internal'
import { isOffered, selectByProfile } from '@toolwell/mcp/internal'
import { type Permissions, RulesProblem, readOwn, readPermissions } from '../shared/clients/client-rules.js'
import { clientFiles, findHome } from '../shared/clients/clients.js'
import type { FoundRule } from '../shared/clients/rule-readers.js'
import {
  type IsGateway,
  readCommandLine,
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
  const { judgeByRules } = await import('@toolwell/gateway')
  const found: Diagnosis[] = []
  for (const from of clientFiles(places)) {
    const entry = readToolwellEntry(from)
    const { url, httpUrl } = isRecord(entry) ? entry : {}
    const address = String(httpUrl ?? url ?? '')
    if (!startsToolwell(entry) && !isGateway({ url: address })) continue
    const about = { rule: 'client-rules', file: from.file } as const
    const rules = await readPermissions(from.client, places).catch((error: unknown) => {
      if (!(error instanceof RulesProblem)) throw error
      found.push({
        ...about,
        level: 'error',
        message: error.message,
        fix: `Fix the file, then restart ${from.label}.`,
      })
    })
    const words = readCommandLine(entry)
    if (!rules) continue
    // This entry reads the rules at each start.
    if (words.includes('--client')) {
      const names = new Set(config.servers.map((server) => server.name))
      const own = words.includes('--own') ? readOwn(words[words.indexOf('--own') + 1] ?? '') : {}
      for (const [server, before] of Object.entries(own).filter(([each]) => !names.has(each)))
        for (const { text, file } of findRulesFor([server, ...before], rules))
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
    const profile = readProfile(words, address)
    const wanted = profile === undefined ? undefined : config.profiles[profile]
    const servers = wanted ? selectByProfile(config.servers, wanted) : config.servers
    const reached = [...well.catalogue.entries()]
      .filter(({ source, tool }) => {
        const server = servers.find((each) => each.name === source)
        const isDenied = judgeByRules({ ...rules, own: {} }, source, tool.name) === 'deny'
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

/** The profile in the words of an entry, or in its address. */
function readProfile(words: readonly string[], address: string): string | undefined {
  if (words.includes('--profile')) return words[words.indexOf('--profile') + 1]
  const [, , name] = URL.canParse(address) ? new URL(address).pathname.split('/') : []
  return name === undefined || name === 'all' ? undefined : decodeURIComponent(name)
}
