/** The tools of servers as a catalogue: what a model could find now. Servers that are cached are not started. */

import { firstLine, matchesGlob } from '@toolwell/core/internal'
import type { ServerConfig } from '@toolwell/mcp'
import { plural } from '../shared/layout.js'
import type { Found } from '../shared/read-catalogue.js'
import { type OpenOptions, type OpenServers, withServers } from '../shared/servers/with-servers.js'
import type { Terminal } from '../shared/terminal.js'
import { type Catalogue, type CatalogueOptions, loadCatalogue } from './catalogue.js'

export function loadServers(
  {
    config,
    profile,
    timeout,
    keep,
    learnable,
  }: Pick<CatalogueOptions, 'keep' | 'learnable'> & Pick<OpenOptions, 'config' | 'profile' | 'timeout'>,
  terminal: Terminal,
): Promise<Catalogue> {
  return withServers({ config, profile, timeout, refresh: false }, terminal, async (open) => {
    const path = config ?? open.config.files.join(' and ')
    const options = { path, found: listTools(open, terminal.name), skipBroken: true, keep, learnable }
    const catalogue = await loadCatalogue(options, terminal)
    return { ...catalogue, excluded: excludedFrom(open, profile) }
  })
}

/** A search must not say "there is no such tool" of one that is only out of reach: what is excluded is named. */
function* listTools({ well, servers }: OpenServers, command: string): Generator<Found> {
  const { catalogue } = well
  for (const { name, state, reason, quarantined, unusable } of servers.inspect()) {
    const source = catalogue.sources.get(name)
    const shown = firstLine(name, 60)
    if (state === 'disabled') continue
    if (state === 'quarantined' || source?.state !== 'ready') {
      yield { kind: 'remark', text: `${shown} is not searched (${state}): ${firstLine(reason, 400)}` }
      continue
    }
    if (quarantined.size > 0)
      yield {
        kind: 'remark',
        text: `${plural(quarantined.size, 'tool')} of ${shown} ${quarantined.size === 1 ? 'is' : 'are'} held back. See why with: ${command} inspect`,
      }
    if (unusable.length > 0)
      yield {
        kind: 'remark',
        text: `${plural(unusable.length, 'tool')} of ${shown} cannot be used. See why with: ${command} inspect`,
      }
    for (const entry of catalogue.entries())
      if (entry.source === name && !entry.quarantined)
        yield {
          kind: 'tool',
          place: entry.id,
          listed: { id: entry.id, tool: entry.tool, server: name, serverDescription: source.description },
        }
  }
}

// Tools of servers that are known and not searched, and what keeps each of them out.

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
