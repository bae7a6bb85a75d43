/** What of a tool is indexed, and how much it counts: a document becomes postings. Depends on nothing but the document. */

import { namesOf } from './exact-names.js'
import { hashOf, nameSeed, pairOf } from './hash.js'
import { impactByte } from './impact.js'
import type { SearchDocument } from './searcher.js'
import type { Analysis } from './segment.js'
import type { Vocabulary } from './vocabulary.js'

export interface Field {
  readonly name: string
  readonly weight: number
  /** How strongly a long text dilutes its words (b of BM25), and the length that is usual. A constant, not an average: */
  readonly dilution: number
  /** no tool can move another one's score by being long, and a change re-indexes nothing but itself. */
  readonly usualLength: number
  /** Further terms are not read. */
  readonly termLimit: number
  /** Name, alias, server, domain: where a `must` word has to occur. */
  readonly identity?: true
  /** Neighbouring words count as a pair too. */
  readonly pairs?: true
  /** Each term counts once, however often it occurs. */
  readonly distinct?: true
  /** Its words stand for what the tool is about, see `concepts.ts`. */
  readonly concepts?: true
  readonly textOf: (document: SearchDocument) => string
}

/** Characters of each field that are read. */
const characterLimit = 2000

const common = { dilution: 0.7, termLimit: 60 }

/** Weights were chosen by coordinate search over the benchmark's datasets; docs/search.md says how far they carry. */
export const fields: readonly Field[] = [
  {
    ...common,
    name: 'name',
    concepts: true,
    weight: 2,
    usualLength: 3,
    identity: true,
    pairs: true,
    textOf: (document) => document.name,
  },
  {
    ...common,
    name: 'alias',
    concepts: true,
    weight: 2,
    usualLength: 3,
    identity: true,
    textOf: (document) => document.aliases.join('\n'),
  },
  {
    ...common,
    name: 'server',
    concepts: true,
    weight: 4,
    usualLength: 2,
    identity: true,
    textOf: (document) => document.server,
  },
  {
    ...common,
    name: 'domain',
    concepts: true,
    weight: 1,
    usualLength: 2,
    identity: true,
    textOf: (document) => document.domain,
  },
  {
    ...common,
    name: 'title',
    concepts: true,
    weight: 1,
    usualLength: 4,
    textOf: (document) => document.title,
  },
  {
    ...common,
    name: 'hint',
    concepts: true,
    weight: 2,
    usualLength: 8,
    textOf: (document) => document.hint,
  },
  { ...common, name: 'snippet', weight: 0.65, usualLength: 12, textOf: (document) => document.snippet },
  {
    ...common,
    name: 'lead',
    concepts: true,
    weight: 0.65,
    dilution: 0.45,
    usualLength: 12,
    pairs: true,
    textOf: (document) => leadOf(document.description),
  },
  {
    ...common,
    name: 'description',
    concepts: true,
    weight: 0.4,
    usualLength: 12,
    termLimit: 300,
    textOf: (document) => document.description.slice(leadOf(document.description).length, characterLimit),
  },
  {
    ...common,
    name: 'parameter names',
    concepts: true,
    weight: 0.6,
    usualLength: 5,
    termLimit: 40,
    distinct: true,
    textOf: (document) => document.parameterNames ?? '',
  },
  {
    ...common,
    name: 'parameters',
    concepts: true,
    weight: 0.4,
    dilution: 0.45,
    usualLength: 20,
    termLimit: 40,
    distinct: true,
    textOf: (document) => document.parameters,
  },
  {
    ...common,
    name: 'server description',
    concepts: true,
    weight: 0.45,
    usualLength: 12,
    textOf: (document) => document.serverDescription ?? '',
  },
  {
    ...common,
    name: 'usage',
    concepts: true,
    weight: 1,
    usualLength: 12,
    distinct: true,
    textOf: (document) => document.usage ?? '',
  },
]

/** A term counts at most this often per field, so that repetition gains nothing. */
const frequencyLimit = 3
/** Distinct terms, pairs and concepts of a tool that are not suspicious: 95 of 100 real tools have fewer than 120. */
const usualTerms = 150
const leadLimit = 300

/** One term of one field, with the frequency that goes into the sum over fields. */
export type Visit = (field: Field, hash: number, frequency: number) => void

/**
 * Every term of a document by field, with its weighted, length-normalised frequency. Concepts and pairs are terms as well. Costs the
 * text that is read: at most 2,000 characters and `termLimit` terms per field.
 */
export function forEachTerm(document: SearchDocument, vocabulary: Vocabulary, visit: Visit): void {
  const counts = new Map<number, number>()
  for (const field of fields) {
    const text = field.textOf(document).slice(0, characterLimit)
    if (text === '') continue
    counts.clear()
    let length = 0
    let previous = 0
    for (const word of vocabulary.wordsOf(text)) {
      if (length >= field.termLimit) break
      for (const term of word.terms) {
        if (field.distinct && counts.has(term.hash)) continue
        length += 1
        if (field.concepts)
          for (const concept of term.concepts) counts.set(concept, (counts.get(concept) ?? 0) + 1)
        if (!term.empty || field.identity) counts.set(term.hash, (counts.get(term.hash) ?? 0) + 1)
      }
      if (!field.pairs) continue
      for (const { hash, empty } of word.parts.length > 0 ? word.parts : [word.whole]) {
        if (empty) continue
        const pair = pairOf(previous, hash)
        if (previous !== 0 && previous !== hash) counts.set(pair, (counts.get(pair) ?? 0) + 1)
        previous = hash
      }
    }
    const norm = 1 - field.dilution + (field.dilution * length) / field.usualLength
    const worth = field.weight / norm
    for (const [hash, count] of counts) visit(field, hash, worth * Math.min(count, frequencyLimit))
  }
}

/** The postings of a document: its terms over all fields, and its names, the id among them. */
export function analyse(document: SearchDocument, vocabulary: Vocabulary): Analysis {
  const frequencies = new Map<number, number>()
  const identity = new Set<number>()
  forEachTerm(document, vocabulary, (field, hash, frequency) => {
    frequencies.set(hash, (frequencies.get(hash) ?? 0) + frequency)
    if (field.identity) identity.add(hash)
  })
  const terms: number[] = []
  const bytes: number[] = []
  const focus = focusOf(frequencies.size)
  for (const [hash, frequency] of frequencies) {
    terms.push(hash)
    bytes.push(impactByte(frequency * focus, identity.has(hash)))
  }
  const marks = new Set<number>()
  for (const { folded } of namesOf(document)) marks.add(hashOf(folded, nameSeed))
  for (const mark of marks)
    if (!frequencies.has(mark)) {
      terms.push(mark)
      bytes.push(0)
    }
  return { terms, bytes }
}

/** Who speaks of everything is about nothing: the share of their strength that the terms of a tool with so many keep. */
export function focusOf(distinctTerms: number): number {
  return Math.min(1, usualTerms / distinctTerms) ** 2
}

/** The first sentence, or the first line: what says the most. */
export function leadOf(description: string): string {
  const start = description.length - description.trimStart().length
  const head = description.slice(start, start + leadLimit)
  const end = /[.!?](?=\s|$)|[。！？\n]/.exec(head)
  return description.slice(0, start + (end ? end.index + end[0].length : head.length))
}
