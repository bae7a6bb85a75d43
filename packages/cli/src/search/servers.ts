/** Loads the tools of servers as a catalogue: the tools that a model can find now. Cached servers are not started. */
import { firstLine } from '@toolwell/core/internal'
import type { ServerConfig } from '@toolwell/mcp'
import { matchesDenied, matchesTool } from '@toolwell/mcp/internal'
import { isOfferName } from '@toolwell/mcp/lock'
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
    return { ...catalogue, excluded: excludedFrom(open) }
  })
}

/** Adds remarks about excluded servers and tools, because a search should not report them as missing. */
function* listTools({ well, servers }: OpenServers, command: string): Generator<Found> {
  const { catalogue } = well
  for (const { name, state, reason, quarantined, unusable } of servers.inspect()) {
    const source = catalogue.sources.get(name)
    const shown = firstLine(name, 60)
    if (state === 'disabled') continue
    if (state === 'quarantined' || source?.state !== 'ready') {
      yield { kind: 'remark', text: `Server ${shown} is not searched (${state}): ${firstLine(reason, 400)}` }
      continue
    }
    const waiting = [...quarantined.keys()].filter((each) => !isOfferName(each)).length
    if (waiting > 0)
      yield {
        kind: 'remark',
        text: `${plural(waiting, 'tool')} of ${shown} ${waiting === 1 ? 'is' : 'are'} quarantined. See why with: ${command} inspect`,
      }
    if (unusable.length > 0)
      yield {
        kind: 'remark',
        text: `${plural(unusable.length, 'tool')} of ${shown} ${unusable.length === 1 ? 'is' : 'are'} unusable. See why with: ${command} inspect`,
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

/** A known tool that is not searched. */
export interface ExcludedTool {
  readonly server: string
  readonly name: string
  readonly by: 'config' | 'quarantine' | 'unusable' | 'server'
  /** A clause without a full stop. */
  readonly reason: string
}

export function excludedFrom({ config, servers, well }: OpenServers): ExcludedTool[] {
  const named = new Map(config.servers.map((server) => [server.name, server]))
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
        exclude('config', name, `the config excludes it with ${own ? findRule(name, own) : 'a rule'}`),
      ),
      ...unusable.flatMap(({ name, reason: why }) =>
        name === undefined || tools.includes(name)
          ? []
          : [exclude('unusable', name, `it is unusable: it ${why}`)],
      ),
      ...(isSearched
        ? [...quarantined].flatMap(([name, why]) =>
            isOfferName(name) ? [] : [exclude('quarantine', name, `it is quarantined: ${why}`)],
          )
        : tools.map((name) =>
            state === 'quarantined'
              ? exclude('quarantine', name, `its server is quarantined: ${reason}`)
              : exclude('server', name, `its server is not usable (${state}): ${reason}`),
          )),
    ]
  })
}

/** Finds the rule that excludes a tool. */
function findRule(name: string, { name: server, deny, deniedByProfile, allow }: ServerConfig): string {
  const entry = `the entry of ${firstLine(server, 60)}`
  const isDenial = (pattern: string) => matchesDenied(pattern, server, name)
  const own = deny.find(isDenial)
  const denied = own ?? deniedByProfile.find(isDenial)
  if (denied !== undefined)
    return `"deny": [${JSON.stringify(denied)}] in ${own === undefined ? 'the profile' : entry}`
  const isAllowed = allow === undefined || allow.some((pattern) => matchesTool(pattern, server, name))
  return `"allow" in ${isAllowed ? 'the profile' : entry}, which does not name it`
}
