/** The tools of servers as a catalogue: what a model could find now. Servers that are cached are not started. */
import { firstLine } from '@toolwell/core/internal'
import type { Found } from '../shared/catalogue/read-catalogue.js'
import { type OpenOptions, type OpenServers, withServers } from '../shared/servers/with-servers.js'
import { plural } from '../shared/table.js'
import type { Terminal } from '../shared/terminal.js'
import { type Catalogue, type CatalogueOptions, loadCatalogue } from './catalogue.js'
import { excludedFrom } from './excluded.js'

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
