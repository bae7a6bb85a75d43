/** Checks names of tools (confusing, too long, shared) and schemas that providers refuse. */
import type { Entry, Toolwell } from '@toolwell/core'
import {
  dropUndefined,
  firstLine,
  fitWire,
  normaliseSchema,
  providers,
  wireRefusal,
} from '@toolwell/core/internal'
import type { Diagnosis } from './report.js'

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
      ...dropUndefined({ tool: tool || undefined }),
      message: firstLine(`${kind}: ${detail}`, 400),
      fix:
        kind === 'invalid-tool'
          ? 'The tool is unusable. Ask the author to fix it, or exclude it with "deny".'
          : 'Rename the server, or exclude one of the tools with "deny".',
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
            message: `Its name has ${plain.length} characters including the server; it is sent as ${wireName}.`,
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
            fix: 'Toolwell adds the server to the name. For clients that do not, exclude one of them with "deny".',
          },
        ],
  )
  return [...odd, ...long, ...shared]
}

interface Definition {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

export function checkPortability(entries: Iterable<Entry>): Diagnosis[] {
  return [...entries].flatMap(checkWires)
}

/** One diagnosis for the providers that get a changed schema, and one for each provider that refuses even that. */
function checkWires({ source, tool, wireName }: Entry): Diagnosis[] {
  // `checkSchemas` reports schemas that every provider refuses.
  const inputSchema = normaliseSchema(tool.inputSchema)
  const given = { name: wireName, description: tool.description ?? '', inputSchema }
  const changed: string[] = []
  const ways = new Set<string>()
  const diagnoses: Diagnosis[] = []
  const typed = { ...given, inputSchema: { type: 'object', ...given.inputSchema } }
  for (const [wire, { label }] of Object.entries(providers)) {
    if (wireRefusal(typed, wire) === undefined) continue
    const { tool: sent, keys } = fitWire(typed, wire)
    const refusal = wireRefusal(sent, wire)
    if (refusal !== undefined)
      diagnoses.push({
        rule: 'portability',
        level: 'error',
        server: source,
        tool: tool.name,
        message: `${label} refuses its schema: ${firstLine(refusal, 200)}`,
        fix: `Ask the author of ${source} to fix the schema, or exclude the tool with "deny".`,
      })
    else {
      changed.push(label)
      for (const way of changesTo(typed, sent, keys.size)) ways.add(way)
    }
  }
  if (changed.length > 0)
    diagnoses.unshift({
      rule: 'portability',
      level: 'note',
      server: source,
      tool: tool.name,
      message: `${changed.join(', ')} would refuse its definition. Toolwell sends a changed one: ${[...ways].join(', ')}.`,
      fix: ways.has(LONG)
        ? `It works, but a shorter description would save tokens${ways.size > 1 ? ', and without Toolwell it needs a simpler schema' : ''}. Ask the author of ${source}, or exclude the tool with "deny".`
        : 'It works with Toolwell. To use the tool without Toolwell, ask the author for a simpler schema.',
    })
  return diagnoses
}

const LONG =
  'the description is too long, so it is cut and the whole text is added to the schema, which costs tokens for both'

function changesTo(
  given: Definition,
  sent: Omit<Definition, 'inputSchema'> & { inputSchema: object },
  renamed: number,
): string[] {
  const ways: string[] = []
  if (given.description !== sent.description) ways.push(LONG)
  const lost = Object.keys(given.inputSchema).filter((keyword) => !Object.hasOwn(sent.inputSchema, keyword))
  if (lost.length > 0) ways.push(`${lost.join(', ')} as text in the description`)
  if (renamed > 0) ways.push(`${renamed} ${renamed === 1 ? 'parameter' : 'parameters'} renamed`)
  return ways.length > 0 ? ways : ['missing parts are added']
}
