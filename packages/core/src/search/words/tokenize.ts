/** Splits text into terms, the same way for documents and queries. */

import { expandAbbreviation, stopWords } from './word-lists.js'

/** Longer runs (hashes, base64) are cut. They still match themselves. */
const termCharacterLimit = 64

/** A mixed-case word with at most this many parts is also a term as a whole: `GitHub` is `git`, `hub` and `github`. */
export const wholeWordPartLimit = 3

const asciiText = /^[\x00-\x7f]*$/
const asciiWord = /[A-Za-z0-9]+/g
/** Scripts without spaces, and Hangul, whose particles are attached. U+30FC is the kana length mark. */
const unspaced =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\u30fc\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}'
const unicodeWord = new RegExp(`[${unspaced}]+|(?:(?![${unspaced}])[\\p{L}\\p{M}\\p{N}])+`, 'gu')
const startsUnspaced = new RegExp(`^[${unspaced}]`, 'u')

/**
 * Lists the terms of a text, in order, with repetitions. Linear in the length of the text.
 *
 * - NFKC, then lower case. All characters except letters, marks and digits separate (snake_case, kebab-case, dots, slashes).
 * - camelCase and PascalCase are split. With up to three parts, the whole is a term too. Digits stay with their letters (`oauth2`).
 * - A run of Chinese, Japanese, Korean, Thai, Lao, Khmer or Burmese becomes overlapping pairs; a single character is one term.
 * - English endings are removed lightly, see `stem`.
 */
export function tokenize(text: string): string[] {
  const terms: string[] = []
  forEachWord(text, (whole, parts) => {
    for (const part of parts) terms.push(stem(part))
    if (parts.length <= wholeWordPartLimit) terms.push(stem(whole))
  })
  return terms
}

/** True for words that say nothing about the tool, such as the words of a request ("please show me"). */
export function isStopWord(word: string): boolean {
  return stopWords.has(word.toLowerCase())
}

/** A version is a separate word: C++11. */
const signedLetter = /(?<![\p{L}\p{N}])([A-Za-z])(\+\+|#)(\p{N}{0,4})(?![\p{L}\p{N}#+])/gu

/** Spells out languages whose name ends in a sign, as in identifiers: cpp, csharp. */
export function spellOutSigns(text: string): string {
  if (!text.includes('#') && !text.includes('++')) return text
  return text.replace(signedLetter, (_, letter: string, sign: string, version: string) =>
    `${letter}${sign === '#' ? 'sharp' : 'pp'} ${version}`.trimEnd(),
  )
}

/**
 * Visits the words in lower case, not stemmed. `parts` is empty for a word with one part. `pair`: two characters of a script without
 * spaces; about half of such pairs straddle two words.
 */
export function forEachWord(
  text: string,
  visit: (whole: string, parts: readonly string[], pair: boolean) => void,
): void {
  const plain = spellOutSigns(text)
  const ascii = asciiText.test(plain)
  const normalised = ascii ? plain : plain.normalize('NFKC')
  for (const run of normalised.match(ascii ? asciiWord : unicodeWord) ?? []) {
    if (!ascii && startsUnspaced.test(run)) {
      const characters = Array.from(run.toLowerCase())
      if (characters.length === 1) visit(characters.join(''), [], true)
      for (let index = 1; index < characters.length; index += 1)
        visit(`${characters[index - 1]}${characters[index]}`, [], true)
      continue
    }
    const word = run.slice(0, termCharacterLimit)
    visit(word.toLowerCase(), splitMixedCase(word), false)
  }
}

/** `readFile` → read, file; `HTTPServer` → http, server; `S3Bucket` → s3, bucket; but `URLs`, `2FA` and `Read` stay. */
function splitMixedCase(word: string): readonly string[] {
  // Most words have one case or are capitalised: skip the three expressions.
  const rest = word.slice(1)
  if (rest === rest.toLowerCase() || word === word.toUpperCase()) return []
  const spaced = word
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .replace(/(\p{N})(?=\p{Lu}\p{Ll})/gu, '$1 ')
    .replace(/(\p{Lu})(?=\p{Lu}(?!s(?!\p{Ll}))\p{Ll})/gu, '$1 ')
  return spaced.length === word.length ? [] : spaced.toLowerCase().split(' ')
}

/**
 * Light English stemming, smaller than Porter's on purpose. It joins the forms that tools and requests use
 * (files/file, queries/query, creating/created/create, running/run) and leaves all other words. Only words of a–z.
 *
 * - plural: `ies` → `y`; `sses`, `ches`, `shes`, `xes`, `zes` lose `es`; `s` is removed except after s, u or i (status, analysis)
 * - `ing`, `ed`: from six letters on, if the rest has a vowel (not `string`, `speed`); a doubled consonant is halved
 *   except l, s, z; a rest of three letters, consonant–vowel–consonant, gets its `e` back (saving → save)
 * - a final `e` is removed from five letters on, so that `create` matches `creating`
 * - `news` stays, otherwise every "new" would match it
 */
export function stem(written: string): string {
  const word = expandAbbreviation(written)
  if (word.length < 4 || word === 'news' || !/^[a-z]+$/.test(word)) return word
  let result = word
  if (/(?:ss|ch|sh|x|z)es$/.test(result)) result = result.slice(0, -2)
  else if (/[^sui]s$/.test(result)) result = result.slice(0, -1)
  if (result.length > 4 && result.endsWith('ie')) return `${result.slice(0, -2)}y`
  const ending = result.length < 6 ? 0 : result.endsWith('ing') ? 3 : /[^e]ed$/.test(result) ? 2 : 0
  const base = ending === 0 ? result : result.slice(0, -ending)
  if (ending !== 0 && /[aeiouy]/.test(base)) {
    if (base.length > 3 && /([^aeioulsz])\1$/.test(base)) return base.slice(0, -1)
    if (base.length === 3 && /[^aeiou][aeiou][^aeiouwxy]$/.test(base)) return `${base}e`
    result = base
  }
  return result.length > 4 && result.endsWith('e') ? result.slice(0, -1) : result
}
