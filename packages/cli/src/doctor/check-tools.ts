/** Names of tools: which can be taken for one another, are too long, or are used twice. */

import type { Entry, Toolwell } from '@toolwell/core'
import { defined, firstLine, fitWire, normaliseSchema, wireRefusal } from '@toolwell/core/internal'
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

// Which providers would refuse a schema as it is, and what becomes of it on their wires.

interface Definition {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

/** The wires, with the names that people know them by. */
const WIRES: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  'openai-chat': 'Chat Completions',
  'openai-responses': 'OpenAI Responses',
  google: 'Gemini',
}

export function checkPortability(entries: Iterable<Entry>): Diagnosis[] {
  return [...entries].flatMap(checkWires)
}

/** One diagnosis for the providers that Toolwell changes it for, one for each that refuses it all the same. */
function checkWires({ source, tool, wireName }: Entry): Diagnosis[] {
  // What no provider takes is told of elsewhere.
  const inputSchema = normaliseSchema(tool.inputSchema)
  const given = { name: wireName, description: tool.description ?? '', inputSchema }
  const changed: string[] = []
  const ways = new Set<string>()
  const diagnoses: Diagnosis[] = []
  const typed = { ...given, inputSchema: { type: 'object', ...given.inputSchema } }
  for (const [wire, label] of Object.entries(WIRES)) {
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
        fix: `Ask the author of ${source} to fix the schema, or keep the tool out with "deny".`,
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
      message: `${changed.join(', ')} would refuse it as it is; Toolwell sends it changed: ${[...ways].join(', ')}.`,
      fix: ways.has(LONG)
        ? `Nothing has to be done for it to work; a shorter description saves the tokens${ways.size > 1 ? ', and without Toolwell a plainer schema is needed as well' : ''}. Ask the author of ${source}, or keep the tool out with "deny".`
        : 'Nothing has to be done with Toolwell; without it, ask the author for a plainer schema.',
    })
  return diagnoses
}

const LONG =
  'its description is too long, so it is cut there and copied whole into the schema, which costs tokens for both'

function changesTo(
  given: Definition,
  sent: Omit<Definition, 'inputSchema'> & { inputSchema: object },
  renamed: number,
): string[] {
  const ways: string[] = []
  if (given.description !== sent.description) ways.push(LONG)
  const lost = Object.keys(given.inputSchema).filter((keyword) => !Object.hasOwn(sent.inputSchema, keyword))
  if (lost.length > 0) ways.push(`${lost.join(', ')} told in words instead`)
  if (renamed > 0) ways.push(`${renamed} ${renamed === 1 ? 'parameter' : 'parameters'} renamed`)
  return ways.length > 0 ? ways : ['what was left out is spelt out']
}
