/** The word groups of `concepts.ts`, ready for lookup. A concept is one more term of a tool, and of a query that leads to it. */

import { conceptSeed, hashTerm } from '../index/spelling.js'
import { actionGroups, topicGroups } from './concepts.js'
import { groupEffects, vagueWords, verbEffects } from './effects.js'
import { synonyms } from './synonyms.js'
import { stem } from './tokenize.js'
import { createVocabulary, type Vocabulary } from './vocabulary.js'

export interface Concept {
  readonly hash: number
  readonly weight: number
  /** How near it is to the word that led here: what tools say for it; the subject that it names; or no more than a hint. */
  readonly near: 'same' | 'subject' | 'hint'
  /** Its first word, for explanations. */
  readonly label: string
}

export interface Lexicon {
  /** Hashes of the concepts a tool has by using the word (a stem). */
  readonly toolConcepts: ReadonlyMap<string, readonly number[]>
  /** Concepts a query asks for by using the word. Many meanings count less each. */
  readonly queryConcepts: ReadonlyMap<string, readonly Concept[]>
  /** What a word (a stem) does to things, see `effects.ts`. */
  readonly effects: ReadonlyMap<string, number>
  /** The same for the word with which a request begins, where more words are verbs. */
  readonly queryEffects: ReadonlyMap<string, number>
}

/** How much each counts beside the word that leads to it. */
type LexiconWeights = Readonly<Record<'action' | 'topic' | 'synonym', number>>

/** Costs a few milliseconds, once per searcher. */
export function createLexicon({ action, topic, synonym }: LexiconWeights): Lexicon {
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
      const concept: Concept = {
        hash: hashTerm(`${kind} ${own}`, conceptSeed),
        weight,
        label,
        near: 'subject',
      }
      const core = new Set(own.trim().split(/\s+/).map(stem))
      const effect = kind === 'action' ? (groupEffects[label] ?? 0) : 0
      for (const word of core) {
        add(held, word, concept.hash)
        if (effect > 0 && !vagueWords.has(word)) effects.set(word, (effects.get(word) ?? 0) | effect)
      }
      for (const word of new Set([...core, ...more.trim().split(/\s+/).filter(Boolean).map(stem)]))
        add(asked, word, core.has(word) && kind === 'topic' ? concept : { ...concept, near: 'hint' })
    }
  const means = splitWeights(asked)
  for (const [word, others] of splitWeights(groupSynonyms(synonym)))
    means.set(word, [...(means.get(word) ?? []), ...others])
  const askedEffects = new Map(effects)
  for (const [verb, effect] of verbEffects) {
    const word = stem(verb)
    askedEffects.set(word, (askedEffects.get(word) ?? 0) | effect)
  }
  return { toolConcepts: held, queryConcepts: means, effects, queryEffects: askedEffects }
}

/** By the word that is said. What tools say for it is a word of theirs, so its hash is that word's. */
function groupSynonyms(weight: number): Map<string, Concept[]> {
  const bySaid = new Map<string, Concept[]>()
  for (const [label, said] of Object.entries(synonyms)) {
    const word = stem(label)
    const concept: Concept = { hash: hashTerm(word), weight, label, near: 'same' }
    for (const each of new Set(said.split(' ').map(stem))) if (each !== word) add(bySaid, each, concept)
  }
  return bySaid
}

/** Who means many things means each of them less. */
function splitWeights(asked: ReadonlyMap<string, readonly Concept[]>): Map<string, readonly Concept[]> {
  return new Map(
    [...asked].map(([word, meant]) => {
      const share = 1 / Math.sqrt(meant.length)
      return [word, meant.map((concept) => ({ ...concept, weight: concept.weight * share }))]
    }),
  )
}

/** What a word (a stem) stands for: in a tool, and in a query. */
export function findConcepts(
  { toolConcepts, queryConcepts }: Lexicon,
  word: string,
): { concepts: readonly number[]; queryConcepts: readonly Concept[] } {
  return { concepts: toolConcepts.get(word) ?? NONE, queryConcepts: queryConcepts.get(word) ?? NONE }
}

/** One for all words without a concept: nearly all, and there are thousands. */
const NONE: readonly never[] = []

function add<T>(map: Map<string, T[]>, word: string, each: T): void {
  const known = map.get(word)
  if (known) known.push(each)
  else map.set(word, [each])
}

// The vocabulary of the default ranking, and the concepts behind a word of which only the hash is known. Made when first asked for.

export interface DefaultWords {
  readonly vocabulary: Vocabulary
  getConcepts(word: number): readonly number[]
}

const none: readonly number[] = []

export function createDefaultWords(tuning: LexiconWeights): () => DefaultWords {
  let made: DefaultWords | undefined
  return () => {
    if (made) return made
    const lexicon = createLexicon(tuning)
    const concepts = new Map<number, readonly number[]>()
    for (const [stem, meant] of lexicon.toolConcepts) concepts.set(hashTerm(stem), meant)
    made = { vocabulary: createVocabulary(lexicon), getConcepts: (word) => concepts.get(word) ?? none }
    return made
  }
}
