/** Defines the indexed fields of a tool and their weights, and turns a document into postings. */

import type { Analysis } from './index/segment.js'
import { hashPair, hashTerm, nameSeed, trimServerName } from './index/spelling.js'
import { createTally, encodeImpact } from './index/tally.js'
import { listExactNames } from './name-matches.js'
import type { SearchDocument } from './searcher.js'
import { deprecatedShare, fieldLengths, frequencyLimit, type Tuning, usualTerms } from './tuning.js'
import { effects, hashEffect } from './words/effects.js'
import type { Vocabulary } from './words/vocabulary.js'

export interface Field {
  readonly name: keyof typeof fieldLengths
  /** Name, alias, server and domain (with the group): the fields in which a `+must` word has to occur. */
  readonly identity?: true
  /** Neighbouring words are also indexed as pairs. */
  readonly pairs?: true
  /** Each term counts once, however often it occurs. */
  readonly distinct?: true
  /** Words are also indexed by their concepts, see `words/concepts.ts`. */
  readonly concepts?: true
  readonly readText: (document: SearchDocument) => string
}

/** Number of characters read from each field. */
const characterLimit = 2000

/** Their weights and lengths are in `tuning.ts`. */
export const fields: readonly Field[] = [
  {
    name: 'name',
    concepts: true,
    identity: true,
    pairs: true,
    readText: (document) => document.name,
  },
  {
    name: 'alias',
    concepts: true,
    identity: true,
    readText: (document) => document.aliases.join('\n'),
  },
  {
    name: 'server',
    concepts: true,
    identity: true,
    readText: (document) => trimServerName(document.server),
  },
  {
    name: 'domain',
    concepts: true,
    identity: true,
    readText: (document) => document.domain,
  },
  {
    name: 'title',
    concepts: true,
    readText: (document) => document.title,
  },
  {
    name: 'hint',
    concepts: true,
    readText: (document) => document.hint,
  },
  { name: 'snippet', readText: (document) => document.snippet },
  {
    name: 'lead',
    concepts: true,
    pairs: true,
    readText: (document) => readFirstSentence(document.description),
  },
  {
    name: 'description',
    concepts: true,
    readText: (document) =>
      document.description.slice(readFirstSentence(document.description).length, characterLimit),
  },
  {
    name: 'parameter names',
    concepts: true,
    distinct: true,
    readText: (document) => document.parameterNames ?? '',
  },
  {
    name: 'parameters',
    concepts: true,
    distinct: true,
    readText: (document) => document.parameters,
  },
  {
    name: 'server description',
    concepts: true,
    readText: (document) => document.serverDescription ?? '',
  },
]

const leadLimit = 300

/** Receives one term of one field with its weighted frequency. */
export type Visit = (field: Field, hash: number, frequency: number) => void

/**
 * Visits every term of a document by field, with its weighted, length-normalised frequency. Concepts and pairs count as terms.
 * Reads at most 2,000 characters and `termLimit` terms per field.
 */
export function forEachTerm(
  document: SearchDocument,
  vocabulary: Vocabulary,
  { fields: weights }: Tuning,
  visit: Visit,
  counts = createTally(),
): void {
  for (const field of fields) {
    const text = field.readText(document).slice(0, characterLimit)
    if (text === '') continue
    const { dilution, usualLength, termLimit } = fieldLengths[field.name]
    counts.clear()
    let length = 0
    let previous = 0
    for (const word of vocabulary.readWords(text)) {
      if (length >= termLimit) break
      for (const term of word.terms) {
        if (field.distinct && counts.has(term.hash)) continue
        length += 1
        if (field.concepts) for (const concept of term.concepts) counts.add(concept, 1)
        if (!term.isStopWord || field.identity) counts.add(term.hash, 1)
      }
      if (!field.pairs) continue
      for (const { hash, isStopWord } of word.parts.length > 0 ? word.parts : [word.whole]) {
        if (isStopWord) continue
        if (previous !== 0 && previous !== hash) counts.add(hashPair(previous, hash), 1)
        previous = hash
      }
    }
    const norm = 1 - dilution + (dilution * length) / usualLength
    const weight = weights[field.name] / norm
    const { size, terms, values } = counts
    for (let place = 0; place < size; place += 1)
      visit(field, terms[place] as number, weight * Math.min(values[place] as number, frequencyLimit))
  }
}

/** Turns documents into postings: terms of all fields, effects and exact names. The returned arrays are reused by the next call. */
export function createAnalyser(
  vocabulary: Vocabulary,
  tuning: Tuning,
): (document: SearchDocument) => Analysis {
  const counts = createTally()
  const frequencies = createTally()
  let identity = new Uint8Array(512)
  let bytes = new Uint8Array(512)
  const grow = (room: number): void => {
    if (room <= bytes.length) return
    const more = [new Uint8Array(room * 2), new Uint8Array(room * 2)] as const
    more[0].set(identity)
    more[1].set(bytes)
    identity = more[0]
    bytes = more[1]
  }
  return (document) => {
    frequencies.clear()
    forEachTerm(
      document,
      vocabulary,
      tuning,
      (field, term, frequency) => {
        const known = frequencies.size
        const place = frequencies.locate(term)
        grow(frequencies.size)
        if (place === known) identity[place] = 0
        if (field.identity) identity[place] = 1
        frequencies.values[place] = (frequencies.values[place] as number) + frequency
      },
      counts,
    )
    const words = frequencies.size
    const focus = computeFocus(words) * weighDeprecation(document)
    for (let place = 0; place < words; place += 1)
      bytes[place] = encodeImpact((frequencies.values[place] as number) * focus, identity[place] === 1)
    const done = findEffect(document, vocabulary)
    const names = listExactNames(document).map(({ folded }) => hashTerm(folded, nameSeed))
    for (const term of [...effects.filter((effect) => (done & effect) > 0).map(hashEffect), ...names]) {
      const place = frequencies.locate(term)
      grow(frequencies.size)
      if (place >= words) bytes[place] = 0
    }
    return { size: frequencies.size, terms: frequencies.terms, bytes }
  }
}

/** Finds what a tool does to things: the first verb of its name (both in `find_and_replace`), else the first word of its description. */
function findEffect({ name, description }: SearchDocument, vocabulary: Vocabulary): number {
  const words = vocabulary.readWords(name).flatMap(({ parts, whole }) => (parts.length > 0 ? parts : [whole]))
  const first = words.findIndex(({ effect }) => effect > 0)
  if (first >= 0) {
    const isJoined = conjunctions.has(words[first + 1]?.text ?? '')
    return (words[first]?.effect ?? 0) | (isJoined ? (words[first + 2]?.effect ?? 0) : 0)
  }
  const [start] = vocabulary.readWords(readFirstSentence(description).slice(findTextStart(description)))
  return start?.whole.effect ?? 0
}

const conjunctions: ReadonlySet<string> = new Set(['and', 'or'])

/** Lowers the strength of all terms of a tool with suspiciously many terms, because it matches everything. */
export function computeFocus(distinctTerms: number): number {
  return Math.min(1, usualTerms / distinctTerms) ** 2
}

const deprecated =
  /\bDEPRECATED\b|\b(?:tool|endpoint|method|function|command|this|it) (?:is|was|has been) deprecated\b|已废弃/

export function weighDeprecation({ description }: SearchDocument): number {
  return deprecated.test(description.slice(0, leadLimit)) ? deprecatedShare : 1
}

/** Heading lines ("🎯 Purpose:") and a list marker before the first sentence. */
const headings = /^\s*(?:[^\n]{1,40}[:：][*_]*\s*\n\s*)*(?:(?:[-*•]|\d{1,2}[.)])\s+)?/u

/** Reads the first sentence or line, with its headings: the most informative part of a description. */
export function readFirstSentence(description: string): string {
  const start = findTextStart(description)
  const head = description.slice(start, start + leadLimit)
  const end = /[.!?](?=\s|$)|[。！？\n]/.exec(head)
  return description.slice(0, start + (end ? end.index + end[0].length : head.length))
}

function findTextStart(description: string): number {
  return headings.exec(description.slice(0, leadLimit))?.[0].length ?? 0
}
