/** Tools of servers that are known and not searched, and what keeps each of them out. */
import { firstLine, matchesGlob } from '@toolwell/core/internal'
import type { ServerConfig } from '@toolwell/mcp'
import type { OpenServers } from '../shared/servers/with-servers.js'

export interface ExcludedTool {
  readonly server: string
  readonly name: string
  readonly by: 'config' | 'held-back' | 'unusable' | 'server'
  /** A clause, without its end. */
  readonly reason: string
}

export function excludedFrom(
  { config, servers, well }: OpenServers,
  profile: string | undefined,
): ExcludedTool[] {
  const named = new Map(config.servers.map((server) => [server.name, server]))
  const selected = profile === undefined ? undefined : config.profiles[profile]
  return servers.inspect().flatMap((report): ExcludedTool[] => {
    const { name: server, state, reason, tools, denied, unusable, quarantined } = report
    const own = named.get(server)
    const isSearched = state !== 'quarantined' && well.catalogue.sources.get(server)?.state === 'ready'
    const exclude = (by: ExcludedTool['by'], name: string, why: string): ExcludedTool => ({
      server,
      name,
      by,
      reason: firstLine(why, 400).replace(/\.$/, ''),
    })
    return [
      ...denied.map((name) =>
        exclude(
          'config',
          name,
          `the config keeps it out, by ${own ? findRule(name, own, selected?.deny) : 'a rule'}`,
        ),
      ),
      ...unusable.flatMap(({ name, reason: why }) =>
        name === undefined || tools.includes(name)
          ? []
          : [exclude('unusable', name, `it cannot be used: it ${why}`)],
      ),
      ...(isSearched
        ? [...quarantined].map(([name, why]) => exclude('held-back', name, `it is held back: ${why}`))
        : tools.map((name) =>
            state === 'quarantined'
              ? exclude('held-back', name, `its server is held back: ${reason}`)
              : exclude('server', name, `its server cannot be used (${state}): ${reason}`),
          )),
    ]
  })
}

/** Those called so, by their own name, with their server's, or as models call them. */
export function excludedNamed(name: string, excluded: readonly ExcludedTool[]): ExcludedTool[] {
  return excluded.filter((each) =>
    [each.name, `${each.server}/${each.name}`, `${each.server}__${each.name}`].includes(name),
  )
}

/** The rule that keeps a tool out, and where it stands. The patterns of a profile come behind those of the entry. */
function findRule(
  name: string,
  { name: server, deny, allow }: ServerConfig,
  profileDeny: readonly string[] = [],
): string {
  const entry = `the entry of ${firstLine(server, 60)}`
  const at = deny.findIndex((pattern) => matchesGlob(pattern, name))
  if (at >= 0) {
    const ofProfile = profileDeny.filter((pattern) => {
      const slash = pattern.indexOf('/')
      return slash < 0 || matchesGlob(pattern.slice(0, slash), server)
    }).length
    return `"deny": [${JSON.stringify(deny[at])}] in ${at < deny.length - ofProfile ? entry : 'the profile'}`
  }
  const isAllowed = allow === undefined || allow.some((pattern) => matchesGlob(pattern, name))
  return `"allow" in ${isAllowed ? 'the profile' : entry}, which does not name it`
}
