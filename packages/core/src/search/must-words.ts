/** `+must`: the tools that hold a word in their name, aliases, server, domain or group; where none does, a word that means the same. */
import { identityBit } from './index/impact.js'
import type { TermIndex } from './index/term-index.js'
import { queryCharacterLimit } from './query.js'
import type { Vocabulary } from './words/vocabulary.js'

/** The slots where every word of every entry occurs in an identity field; undefined if no entry holds a word. */
export function slotsWith(
  must: readonly string[],
  index: TermIndex,
  vocabulary: Vocabulary,
): Set<number> | undefined {
  let allowed: Set<number> | undefined
  for (const entry of must)
    for (const word of vocabulary.wordsOf(entry.slice(0, queryCharacterLimit))) {
      const passed = identitySlotsOf(word.whole.hash, index)
      if (word.parts.length > 0)
        for (const slot of word.parts.map(({ hash }) => identitySlotsOf(hash, index)).reduce(intersection))
          passed.add(slot)
      // Nobody is called by that word: "+mail" then stands for what is called "email".
      if (passed.size === 0)
        for (const { hash } of word.whole.asked)
          for (const slot of identitySlotsOf(hash, index)) passed.add(slot)
      allowed = allowed ? intersection(allowed, passed) : passed
    }
  return allowed
}

function identitySlotsOf(term: number, index: TermIndex): Set<number> {
  const slots = new Set<number>()
  index.forEach(term, (slot, byte) => {
    if ((byte & identityBit) !== 0) slots.add(slot)
  })
  return slots
}

function intersection(first: ReadonlySet<number>, second: ReadonlySet<number>): Set<number> {
  return new Set([...first].filter((slot) => second.has(slot)))
}
