/** Names of tools: which can be taken for one another, are too long, or are used twice. */
import type { Entry, Toolwell } from '@toolwell/core'
import { defined, firstLine } from '@toolwell/core/internal'
import type { Diagnosis } from './diagnosis.js'

export function checkNames(
  well: Toolwell,
  entries: readonly Entry[],
  duplicates: ReadonlyMap<string, string>,
): Diagnosis[] {
  const odd = well.catalogue.findings.map(
    ({ kind, source, tool, detail }): Diagnosis => ({
      rule: kind === 'invalid-tool' || kind === 'broken-alias' ? 'bad-schema' : 'collision',
      level: kind === 'look-alike' || kind === 'case-twin' ? 'note' : 'warning',
      server: source,
      ...defined({ tool: tool || undefined }),
      message: firstLine(`${kind}: ${detail}`, 400),
      fix:
        kind === 'invalid-tool'
          ? 'It cannot be used. Ask the author to fix it, or keep it out with "deny".'
          : 'Rename the server, or keep one of the tools out with "deny".',
    }),
  )
  const long = entries.flatMap(({ source, tool, wireName }): Diagnosis[] => {
    const plain = `${source}__${tool.name}`
    return plain.length <= 64
      ? []
      : [
          {
            rule: 'long-name',
            level: 'warning',
            server: source,
            tool: tool.name,
            message: `Its name has ${plain.length} characters with that of its server; it is sent as ${wireName}.`,
            fix:
              tool.name.length > 60
                ? 'Ask the author for a shorter name.'
                : `Give the server a name of at most ${62 - tool.name.length} characters.`,
          },
        ]
  })
  const owners = new Map<string, string[]>()
  for (const { source, tool } of entries) owners.set(tool.name, [...(owners.get(tool.name) ?? []), source])
  const shared = [...owners].flatMap(([name, sources]): Diagnosis[] =>
    sources.length < 2 || sources.every((source) => duplicates.has(source))
      ? []
      : [
          {
            rule: 'shared-name',
            level: 'note',
            tool: name,
            message: `These servers have a tool called ${firstLine(name, 80)}: ${sources.map((source) => firstLine(source, 40)).join(', ')}.`,
            fix: 'Toolwell tells them apart by their server. For clients that cannot, deny one of them.',
          },
        ],
  )
  return [...odd, ...long, ...shared]
}
