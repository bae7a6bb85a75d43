/** Finds the language of tool descriptions, so that the search tool can ask for queries in it. */

import type { Entry } from '../catalogue/catalogue.js'

const READ_TOOLS = 1000
const READ_CHARACTERS = 300

/** In this order: Japanese text also has Chinese characters. */
const languages: readonly (readonly [language: string, pattern: RegExp])[] = [
  ['Japanese', /[\p{sc=Hiragana}\p{sc=Katakana}]/u],
  ['Korean', /\p{sc=Hangul}/u],
  ['Chinese', /\p{sc=Han}/u],
  ['the language of the tool descriptions', /[^\p{sc=Latin}\p{sc=Common}\p{sc=Inherited}]/u],
  ['English', /\b(?:the|of|for|with|and|from|this|to|an)\b/i],
]

/** Returns the language of most descriptions. Undefined if too few of them show one. */
export function detectLanguage(entries: readonly Entry[]): string | undefined {
  const read = entries.slice(0, READ_TOOLS)
  const counts = new Map<string, number>()
  for (const { tool } of read) {
    // A source may leave out the description.
    const { description = '' }: { readonly description?: string } = tool
    const text = description.slice(0, READ_CHARACTERS)
    const [language] = languages.find(([, pattern]) => pattern.test(text)) ?? []
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1)
  }
  const [most] = [...counts].sort(([, first], [, second]) => second - first)
  return most && most[1] * 2 > read.length ? most[0] : undefined
}
