/** Reduces a tool to what the ranker may index: the step between the catalogue and a searcher. */

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
 * The document of one tool. Never throws, whatever the schema holds, and looks at no more than 200 properties, so a
 * schema of a megabyte costs no more than a small one. Only the top level is read: what stands deeper in the schemas of real
 * servers is mostly shared with their other tools. `$ref` is not followed.
 */
export function createDocument(entry: {
  readonly id: string
  readonly tool: Tool
  readonly serverDescription?: string
}): SearchDocument {
  const { tool } = entry
  return {
    id: entry.id,
    name: textOf(tool.name),
    aliases: Array.isArray(tool.aliases) ? tool.aliases.filter((alias) => typeof alias === 'string') : [],
    server: textOf(tool.source),
    // A group has one card, which names it.
    domain: joined(textOf(tool.domain), textOf(tool.group)),
    hint: textOf(tool.searchHint),
    // The card is what the model has seen of a deferred tool, so it searches with those words.
    snippet: joined(textOf(tool.promptSnippet), textOf(tool.card)),
    title: textOf(tool.title) || textOf(tool.annotations?.title),
    description: textOf(tool.description),
    ...parametersOf(tool.inputSchema),
    serverDescription: textOf(entry.serverDescription).slice(0, serverDescriptionCharacterLimit),
  }
}

/** Names of the top-level properties, and their descriptions and string enums, each piece once. */
function parametersOf(schema: unknown): { parameterNames: string; parameters: string } {
  const names = createPieces()
  const texts = createPieces()
  try {
    const properties = fieldOf(schema, 'properties')
    let left = parameterPropertyLimit
    if (isRecord(properties))
      for (const name in properties) {
        if (left <= 0) break
        if (!Object.hasOwn(properties, name)) continue
        left -= 1
        names.add(name)
        const property = properties[name]
        texts.add(fieldOf(property, 'description'))
        const values = fieldOf(property, 'enum')
        if (Array.isArray(values)) for (const value of values.slice(0, enumLimit)) texts.add(value)
      }
  } catch {
    // A getter or a proxy that throws: what was read until then is indexed.
  }
  return { parameterNames: names.text(), parameters: texts.text() }
}

function createPieces() {
  const pieces = new Set<string>()
  let room = parameterCharacterLimit
  return {
    add(piece: unknown): void {
      const text = textOf(piece).slice(0, pieceCharacterLimit).trim()
      if (text === '' || text.length >= room || pieces.has(text)) return
      pieces.add(text)
      room -= text.length + 1
    },
    text: () => [...pieces].join('\n'),
  }
}

function fieldOf(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function joined(first: string, second: string): string {
  return first === '' || second === '' ? first + second : `${first}\n${second}`
}

// Segments of tools whose index is kept somewhere: read from there, or made and kept.

/** Tools whose index is kept somewhere; their text is read only if it is not. */
export interface IndexPart {
  readonly stored: StoredPart
  readonly identities: readonly Identity[]
  documents(): readonly SearchDocument[]
}

/** Reads segments of parts, or makes and keeps them. What is needed to make one is made once for all. */
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

/** The host's code may fail to keep an index; a search is worth more than its start. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
