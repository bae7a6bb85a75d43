/** What of a tool is indexed, and how much it counts: a document becomes postings. Depends on nothing but the document. */

import type { Analysis } from './index/segment.js'
import { hashPair, hashTerm, nameSeed } from './index/spelling.js'
import { createTally, impactByte } from './index/tally.js'
import { listExactNames } from './name-matches.js'
import type { SearchDocument } from './searcher.js'
import type { FieldName, Tuning } from './tuning.js'
import { effects, effectTerm } from './words/effects.js'
import type { Vocabulary } from './words/vocabulary.js'

export interface Field {
  readonly name: FieldName
  /** How strongly a long text dilutes its words (b of BM25), and the length that is usual. A constant, not an average: */
  readonly dilution: number
  /** no tool can move another one's score by being long, and a change re-indexes nothing but itself. */
  readonly usualLength: number
  /** Further terms are not read. */
  readonly termLimit: number
  /** Name, alias, server, domain (with the group): where a `must` word has to occur. */
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

/** Their weights stand in `tuning.ts`. */
export const fields: readonly Field[] = [
  {
    ...common,
    name: 'name',
    concepts: true,
    usualLength: 3,
    identity: true,
    pairs: true,
    textOf: (document) => document.name,
  },
  {
    ...common,
    name: 'alias',
    concepts: true,
    usualLength: 3,
    identity: true,
    textOf: (document) => document.aliases.join('\n'),
  },
  {
    ...common,
    name: 'server',
    concepts: true,
    usualLength: 2,
    identity: true,
    textOf: (document) => ownName(document.server),
  },
  {
    ...common,
    name: 'domain',
    concepts: true,
    usualLength: 2,
    identity: true,
    textOf: (document) => document.domain,
  },
  {
    ...common,
    name: 'title',
    concepts: true,
    usualLength: 4,
    textOf: (document) => document.title,
  },
  {
    ...common,
    name: 'hint',
    concepts: true,
    usualLength: 8,
    textOf: (document) => document.hint,
  },
  { ...common, name: 'snippet', usualLength: 12, textOf: (document) => document.snippet },
  {
    ...common,
    name: 'lead',
    concepts: true,
    dilution: 0.45,
    usualLength: 12,
    pairs: true,
    textOf: (document) => readFirstSentence(document.description),
  },
  {
    ...common,
    name: 'description',
    concepts: true,
    usualLength: 12,
    termLimit: 300,
    textOf: (document) =>
      document.description.slice(readFirstSentence(document.description).length, characterLimit),
  },
  {
    ...common,
    name: 'parameter names',
    concepts: true,
    usualLength: 5,
    termLimit: 40,
    distinct: true,
    textOf: (document) => document.parameterNames ?? '',
  },
  {
    ...common,
    name: 'parameters',
    concepts: true,
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
    usualLength: 12,
    textOf: (document) => document.serverDescription ?? '',
  },
]

/** That it is an MCP server is true of every one, and "restart the web server" does not ask for any: these words count only where there is no other. */
export function ownName(server: string): string {
  const own = server.replace(/(?<![a-z])(?:mcp|servers?)(?![a-z])/gi, ' ')
  return /[\p{L}\p{N}]/u.test(own) ? own : server
}

/** A term counts at most this often per field, so that repetition gains nothing. */
const frequencyLimit = 2
/** Distinct terms, pairs and concepts of a tool that are not suspicious: 95 of 100 real tools have fewer than 120. */
const usualTerms = 150
const leadLimit = 300

/** One term of one field, with the frequency that goes into the sum over fields. */
export type Visit = (field: Field, hash: number, frequency: number) => void

/**
 * Every term of a document by field, with its weighted, length-normalised frequency. Concepts and pairs are terms as well. Costs the
 * text that is read: at most 2,000 characters and `termLimit` terms per field.
 */
export function forEachTerm(
  document: SearchDocument,
  vocabulary: Vocabulary,
  { fields: weights }: Tuning,
  visit: Visit,
  counts = createTally(),
): void {
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
        if (field.concepts) for (const concept of term.concepts) counts.add(concept, 1)
        if (!term.empty || field.identity) counts.add(term.hash, 1)
      }
      if (!field.pairs) continue
      for (const { hash, empty } of word.parts.length > 0 ? word.parts : [word.whole]) {
        if (empty) continue
        if (previous !== 0 && previous !== hash) counts.add(hashPair(previous, hash), 1)
        previous = hash
      }
    }
    const norm = 1 - field.dilution + (field.dilution * length) / field.usualLength
    const worth = weights[field.name] / norm
    const { size, terms, values } = counts
    for (let place = 0; place < size; place += 1)
      visit(field, terms[place] as number, worth * Math.min(values[place] as number, frequencyLimit))
  }
}

/** Turns documents into postings: their terms over all fields, what they do to things, and their names, the id among them. Each answer replaces the last. */
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
        const place = frequencies.placeOf(term)
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
      bytes[place] = impactByte((frequencies.values[place] as number) * focus, identity[place] === 1)
    const done = effectOf(document, vocabulary)
    const names = listExactNames(document).map(({ folded }) => hashTerm(folded, nameSeed))
    for (const term of [...effects.filter((effect) => (done & effect) > 0).map(effectTerm), ...names]) {
      const place = frequencies.placeOf(term)
      grow(frequencies.size)
      if (place >= words) bytes[place] = 0
    }
    return { size: frequencies.size, terms: frequencies.terms, bytes }
  }
}

/** What a tool does to things: by the first word of its name that says so (`find_and_replace`: by both), else by the first of its description. */
function effectOf({ name, description }: SearchDocument, vocabulary: Vocabulary): number {
  const words = vocabulary.wordsOf(name).flatMap(({ parts, whole }) => (parts.length > 0 ? parts : [whole]))
  const first = words.findIndex(({ effect }) => effect > 0)
  if (first >= 0) {
    const isJoined = joining.has(words[first + 1]?.text ?? '')
    return (words[first]?.effect ?? 0) | (isJoined ? (words[first + 2]?.effect ?? 0) : 0)
  }
  const [start] = vocabulary.wordsOf(readFirstSentence(description).slice(startOf(description)))
  return start?.whole.effect ?? 0
}

const joining: ReadonlySet<string> = new Set(['and', 'or'])

/** Who speaks of everything is about nothing: the share of their strength that the terms of a tool with so many keep. */
export function computeFocus(distinctTerms: number): number {
  return Math.min(1, usualTerms / distinctTerms) ** 2
}

/** What a tool keeps of its strength that its own description calls deprecated: enough to be found where nothing succeeds it. */
const deprecatedShare = 0.5
const deprecated =
  /\bDEPRECATED\b|\b(?:tool|endpoint|method|function|command|this|it) (?:is|was|has been) deprecated\b|已废弃/

export function weighDeprecation({ description }: SearchDocument): number {
  return deprecated.test(description.slice(0, leadLimit)) ? deprecatedShare : 1
}

/** Lines that head what follows ("🎯 Purpose:"), and the mark of a list. */
const headings = /^\s*(?:[^\n]{1,40}[:：][*_]*\s*\n\s*)*(?:(?:[-*•]|\d{1,2}[.)])\s+)?/u

/** The first sentence, or the first line, with what heads it: what says the most. */
export function readFirstSentence(description: string): string {
  const start = startOf(description)
  const head = description.slice(start, start + leadLimit)
  const end = /[.!?](?=\s|$)|[。！？\n]/.exec(head)
  return description.slice(0, start + (end ? end.index + end[0].length : head.length))
}

function startOf(description: string): number {
  return headings.exec(description.slice(0, leadLimit))?.[0].length ?? 0
}
