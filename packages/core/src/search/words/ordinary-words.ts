/** Words that tools everywhere are described with: a text that holds one says nothing of whoever wrote it. */
import { actionGroups, topicGroups } from './concepts.js'
import { stopWords, weakWords } from './stop-words.js'

const ordinaryWords: ReadonlySet<string> = new Set([
  ...stopWords,
  ...weakWords,
  ...`${actionGroups} ${topicGroups}`.split(/[\s|]+/),
])

/** `word` is in lower case. Also its plural, and what is made of it with `ing` and `ed`. */
export function isOrdinaryWord(word: string): boolean {
  return [word, word.replace(/e?s$/, ''), word.replace(/s$/, ''), word.replace(/(?:ing|ed)$/, '')].some(
    (each) => each.length > 1 && ordinaryWords.has(each),
  )
}
