/** Prepares the word groups of `concepts.ts` for lookup. A concept is an additional term of tools and queries. */

import { conceptSeed, hashTerm } from '../index/spelling.js'
import { actionGroups, topicGroups } from './concepts.js'
import { groupEffects, vagueWords, verbEffects } from './effects.js'
import { synonyms } from './synonyms.js'
import { stem } from './tokenize.js'

export interface Concept {
  readonly hash: number
  readonly weight: number
  /** How near the concept is to the word: a synonym, the subject that the word names, or only a hint. */
  readonly near: 'same' | 'subject' | 'hint'
  /** First word of the group, for explanations. */
  readonly label: string
}

export interface Lexicon {
  /** Concept hashes of a tool that uses the word (a stem). */
  readonly toolConcepts: ReadonlyMap<string, readonly number[]>
  /** Concepts that a query asks for by using the word. A word with many concepts gives each less weight. */
  readonly queryConcepts: ReadonlyMap<string, readonly Concept[]>
  /** Effects of a word (a stem), see `effects.ts`. */
  readonly effects: ReadonlyMap<string, number>
  readonly weakWeight: number
  /** Effects of the first word of a request, which is more often a verb. */
  readonly queryEffects: ReadonlyMap<string, number>
}

/** Weights relative to the word that leads to the concept, and the weight of weak words. */
export type LexiconWeights = Readonly<Record<'action' | 'topic' | 'synonym' | 'weak', number>>

/** Costs a few milliseconds, once per searcher. */
export function createLexicon({ action, topic, synonym, weak }: LexiconWeights): Lexicon {
  const toolConcepts = new Map<string, number[]>()
  const asked = new Map<string, Concept[]>()
  const effects = new Map<string, number>()
  for (const [kind, groups, weight] of [
    ['action', actionGroups, action],
    ['topic', topicGroups, topic],
  ] as const)
    for (const group of groups.trim().split(/\n {2}(?! )/)) {
      const [own = '', more = ''] = group.split('|')
      const label = own.trim().split(/\s+/, 1)[0] ?? ''
      const concept: Concept = {
        hash: hashTerm(`${kind} ${own}`, conceptSeed),
        weight,
        label,
        near: 'subject',
      }
      const core = new Set(own.trim().split(/\s+/).map(stem))
      const effect = kind === 'action' ? (groupEffects[label] ?? 0) : 0
      for (const word of core) {
        add(toolConcepts, word, concept.hash)
        if (effect > 0 && !vagueWords.has(word)) effects.set(word, (effects.get(word) ?? 0) | effect)
      }
      for (const word of new Set([...core, ...more.trim().split(/\s+/).filter(Boolean).map(stem)]))
        add(asked, word, core.has(word) && kind === 'topic' ? concept : { ...concept, near: 'hint' })
    }
  const queryConcepts = splitWeights(asked)
  for (const [word, others] of splitWeights(groupSynonyms(synonym)))
    queryConcepts.set(word, [...(queryConcepts.get(word) ?? []), ...others])
  const queryEffects = new Map(effects)
  for (const [verb, effect] of verbEffects) {
    const word = stem(verb)
    queryEffects.set(word, (queryEffects.get(word) ?? 0) | effect)
  }
  return { toolConcepts, queryConcepts, effects, queryEffects, weakWeight: weak }
}

/** Groups synonyms by the word of the query. A synonym is itself a word of the tools, so it has the hash of that word. */
function groupSynonyms(weight: number): Map<string, Concept[]> {
  const byQueryWord = new Map<string, Concept[]>()
  for (const [label, said] of Object.entries(synonyms)) {
    const word = stem(label)
    const concept: Concept = { hash: hashTerm(word), weight, label, near: 'same' }
    for (const each of new Set(said.split(' ').map(stem))) if (each !== word) add(byQueryWord, each, concept)
  }
  return byQueryWord
}

/** Lowers the weight of each concept of a word with several meanings. */
function splitWeights(asked: ReadonlyMap<string, readonly Concept[]>): Map<string, readonly Concept[]> {
  return new Map(
    [...asked].map(([word, meant]) => {
      const share = 1 / Math.sqrt(meant.length)
      return [word, meant.map((concept) => ({ ...concept, weight: concept.weight * share }))]
    }),
  )
}

/** Finds the concepts of a word (a stem) in a tool and in a query. */
export function findConcepts(
  { toolConcepts, queryConcepts }: Lexicon,
  word: string,
): { concepts: readonly number[]; queryConcepts: readonly Concept[] } {
  return { concepts: toolConcepts.get(word) ?? NONE, queryConcepts: queryConcepts.get(word) ?? NONE }
}

/** Shared by all words without a concept, which are nearly all. */
const NONE: readonly never[] = []

function add<T>(map: Map<string, T[]>, word: string, each: T): void {
  const known = map.get(word)
  if (known) known.push(each)
  else map.set(word, [each])
}
