/** The small questions about themes: is it there, is it near, is someone told to do it? */
import type { Sentence, Token } from './clauses.js'
import { isDenied, isOrder } from './sentence-tests.js'

/** Each of these is there. */
export const about = ({ themes }: Sentence, ...each: number[]) => each.every((mask) => (themes & mask) !== 0)

/** Two different words, at most `gap` apart, in this order. */
export function leads({ tokens }: Sentence, first: number, second: number, gap: number): boolean {
  let last = -1
  for (let index = 0; index < tokens.length; index++) {
    const themes = tokens[index]?.themes ?? 0
    if (last >= 0 && index - last <= gap && themes & second) return true
    if (themes & first) last = index
  }
  return false
}

/** The same in either order. */
export const beside = (sentence: Sentence, one: number, other: number, gap: number) =>
  leads(sentence, one, other, gap) || leads(sentence, other, one, gap)

/** The place of the first word of this theme that is an order and is not denied. */
export function told({ tokens }: Sentence, mask: number): number {
  return tokens.findIndex(
    ({ themes }, index) => (themes & mask) !== 0 && isOrder(tokens, index) && !isDenied(tokens, index),
  )
}

/** "must be described as", "is to be read as": an order that names no one. */
export const PASSIVE_ORDER =
  /\b(?:is|are|has|have|needs?|ought) to be\b|\b(?:must|should|shall|has to|have to|needs? to|may only|can only) (?:\w+ )?(?:be|get|read|say|come|go|end|begin|start|hold|carry|contain|include|name|list)\b/

/** A name of a firm, a brand or a house: capital letters inside a sentence. */
export function namesSomeone({ text }: Sentence): boolean {
  return /[\p{Ll},:;] (?:the )?\p{Lu}\p{Ll}{2,}/u.test(text)
}

/** Does the word belong to whoever wrote the text: "us", "our"? */
export const isAuthors = ({ word }: Token) => /^(?:us|we|our|ours|me|my|mine)$/.test(word)
