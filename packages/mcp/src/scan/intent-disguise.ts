/** Words that a search would miss: digits and look-alikes for letters, several in one sentence. */
import { bit } from './concepts.js'
import { orderOf } from './sentence-tests.js'
import type { Judge } from './suspicion.js'

/** One may be a name, two may be chance. */
const SEVERAL = 3

export const disguiseJudge: Judge = (sentence) => {
  let count = 0
  for (const { isDisguised } of sentence.tokens) if (isDisguised) count++
  if (count < SEVERAL) return undefined
  const isOrdering =
    orderOf(sentence, bit.read | bit.put | bit.send | bit.run | bit.ignore | bit.tell | bit.change) >= 0
  return {
    rule: 'encoded-payload',
    weight: isOrdering ? 3 : 2,
    why: `writes ${count} words so that a search does not find them`,
  }
}
