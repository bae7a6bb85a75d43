/** Builds the search document of a tool: the text that a searcher may index. */

import { isRecord } from '../base/data.js'
import type { StoredPart } from '../tool/source.js'
import type { Tool } from '../tool/tool.js'
import {
  type Analysis,
  createSegmentBuilder,
  createTermCounts,
  decodeSegment,
  encodeSegment,
  type Identity,
  type Segment,
} from './index/segment.js'
import type { Tally } from './index/tally.js'
import type { SearchDocument } from './searcher.js'

const parameterCharacterLimit = 2000
const parameterPropertyLimit = 200
const pieceCharacterLimit = 200
const enumLimit = 20
const serverDescriptionCharacterLimit = 300

/**
 * Builds the document of one tool. Never throws, whatever the schema contains.
 *
 * Reads at most 200 properties of the top level, so a schema of a megabyte costs no more than a small one. Deeper levels are skipped:
 * in real schemas they are mostly the same for all tools of a server. `$ref` is not followed.
 */
export function createDocument(entry: {
  readonly id: string
  readonly tool: Tool
  readonly serverDescription?: string
}): SearchDocument {
  const { tool } = entry
  return {
    id: entry.id,
    name: toText(tool.name),
    aliases: Array.isArray(tool.aliases) ? tool.aliases.filter((alias) => typeof alias === 'string') : [],
    server: toText(tool.source),
    // The card of a group names the group, so models search with that name.
    domain: joinLines(toText(tool.domain), toText(tool.group)),
    hint: toText(tool.searchHint),
    // The card is the only text about a deferred tool that the model has seen, so it searches with those words.
    snippet: joinLines(toText(tool.promptSnippet), toText(tool.card)),
    title: toText(tool.title) || toText(tool.annotations?.title),
    description: toText(tool.description),
    ...readParameters(tool.inputSchema),
    serverDescription: toText(entry.serverDescription).slice(0, serverDescriptionCharacterLimit),
  }
}

/** Collects the names of the top-level properties, and their descriptions and string enums, each text once. */
function readParameters(schema: unknown): { parameterNames: string; parameters: string } {
  const names = createTextCollector()
  const texts = createTextCollector()
  try {
    const properties = readField(schema, 'properties')
    let left = parameterPropertyLimit
    if (isRecord(properties))
      for (const name in properties) {
        if (left <= 0) break
        if (!Object.hasOwn(properties, name)) continue
        left -= 1
        names.add(name)
        const property = properties[name]
        texts.add(readField(property, 'description'))
        const values = readField(property, 'enum')
        if (Array.isArray(values)) for (const value of values.slice(0, enumLimit)) texts.add(value)
      }
  } catch {
    // A getter or a proxy threw. The text read so far is indexed.
  }
  return { parameterNames: names.text(), parameters: texts.text() }
}

function createTextCollector() {
  const pieces = new Set<string>()
  let room = parameterCharacterLimit
  return {
    add(piece: unknown): void {
      const text = toText(piece).slice(0, pieceCharacterLimit).trim()
      if (text === '' || text.length >= room || pieces.has(text)) return
      pieces.add(text)
      room -= text.length + 1
    },
    text: () => [...pieces].join('\n'),
  }
}

function readField(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function joinLines(first: string, second: string): string {
  return first === '' || second === '' ? first + second : `${first}\n${second}`
}

/** Tools with a stored index. Their text is read only if the stored index is missing or outdated. */
export interface IndexPart {
  readonly stored: StoredPart
  readonly identities: readonly Identity[]
  documents(): readonly SearchDocument[]
}

/** Reads stored segments, or builds and stores them. All parts share one analyser. */
export function createPartReader(
  analyser: () => (document: SearchDocument) => Analysis,
): (part: IndexPart) => Segment {
  let making: { readonly analyse: ReturnType<typeof analyser>; readonly counts: Tally } | undefined
  return ({ stored, identities, documents }) => {
    const kept = attempt(() => stored.read())
    const known = kept && decodeSegment(kept, identities)
    if (known) return known
    making ??= { analyse: analyser(), counts: createTermCounts() }
    const { analyse, counts } = making
    const builder = createSegmentBuilder(counts)
    for (const [at, document] of documents().entries())
      builder.add(identities[at] ?? document, analyse(document))
    const made = builder.build()
    attempt(() => stored.write(encodeSegment(made)))
    return made
  }
}

/** Returns undefined if the host's storage fails. A search must not fail because its index cannot be stored. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
