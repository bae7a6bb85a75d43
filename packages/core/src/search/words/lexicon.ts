/** The word groups of `concepts.ts`, ready for lookup. A concept is one more term of a tool, and of a query that leads to it. */

import { conceptSeed, hashOf } from '../index/hash.js'
import { actionGroups, topicGroups } from './concepts.js'
import { effectOfGroup, vague } from './effects.js'
import { stem } from './tokenize.js'

export interface Concept {
  readonly hash: number
  readonly weight: number
  /** The word that led here names the subject; it does not only hint at it, or say what is done. */
  readonly core: boolean
  /** Its first word, for explanations. */
  readonly label: string
}

export interface Lexicon {
  /** Hashes of the concepts a tool has by using the word (a stem). */
  readonly held: ReadonlyMap<string, readonly number[]>
  /** Concepts a query asks for by using the word. Many meanings count less each. */
  readonly asked: ReadonlyMap<string, readonly Concept[]>
  /** What a word (a stem) does to things, see `effects.ts`. */
  readonly effects: ReadonlyMap<string, number>
}

/** Costs a few milliseconds, once per searcher. */
export function createLexicon({
  action,
  topic,
}: {
  readonly action: number
  readonly topic: number
}): Lexicon {
  const held = new Map<string, number[]>()
  const asked = new Map<string, Concept[]>()
  const effects = new Map<string, number>()
  for (const [kind, groups, weight] of [
    ['action', actionGroups, action],
    ['topic', topicGroups, topic],
  ] as const)
    for (const group of groups.trim().split(/\n {2}(?! )/)) {
      const [own = '', more = ''] = group.split('|')
      const label = own.trim().split(/\s+/, 1)[0] ?? ''
      const concept: Concept = { hash: hashOf(`${kind} ${own}`, conceptSeed), weight, label, core: true }
      const core = new Set(own.trim().split(/\s+/).map(stem))
      const effect = kind === 'action' ? (effectOfGroup[label] ?? 0) : 0
      for (const word of core) {
        add(held, word, concept.hash)
        if (effect > 0 && !vague.has(word)) effects.set(word, (effects.get(word) ?? 0) | effect)
      }
      for (const word of new Set([...core, ...more.trim().split(/\s+/).filter(Boolean).map(stem)]))
        add(asked, word, core.has(word) && kind === 'topic' ? concept : { ...concept, core: false })
    }
  for (const [word, meant] of asked) {
    const share = 1 / Math.sqrt(meant.length)
    if (share < 1)
      asked.set(
        word,
        meant.map((concept) => ({ ...concept, weight: concept.weight * share })),
      )
  }
  return { held, asked, effects }
}

/** What a word (a stem) stands for: in a tool, and in a query. */
export function conceptsOf(
  { held, asked }: Lexicon,
  word: string,
): { concepts: readonly number[]; asked: readonly Concept[] } {
  return { concepts: held.get(word) ?? NONE, asked: asked.get(word) ?? NONE }
}

/** One for all words without a concept: nearly all, and there are thousands. */
const NONE: readonly never[] = []

function add<T>(map: Map<string, T[]>, word: string, each: T): void {
  const known = map.get(word)
  if (known) known.push(each)
  else map.set(word, [each])
}
