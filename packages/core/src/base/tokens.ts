/** Token counting: an estimate by default, or the host's tokenizer. */

export interface Tokenizer {
  readonly name: string
  count(text: string): number
}

/**
 * The estimate: one token for every four ASCII characters and one for every other character. On 2,496 real tool
 * definitions it stays within a few per cent of o200k in total (`npm run bench -- surface` prints the ratio).
 */
export const estimate: Tokenizer = {
  name: 'estimate (characters ÷ 4, other scripts 1 each)',
  count(text) {
    const ascii = /[^\x00-\x7f]/.test(text) ? text.replace(/[^\x00-\x7f]+/g, '').length : text.length
    return Math.ceil(ascii / 4) + text.length - ascii
  },
}

/** Joined at run time, so that no bundler includes the package: its tables are many times larger than this library. */
const TOKENIZER_PACKAGE = ['gpt', 'tokenizer'].join('-')

/** Loads o200k from the optional package `gpt-tokenizer`. Returns the estimate if the package is not installed. */
export async function loadTokenizer(): Promise<Tokenizer> {
  try {
    const library: typeof import('gpt-tokenizer') = await import(
      /* @vite-ignore */ /* webpackIgnore: true */ TOKENIZER_PACKAGE
    )
    // Tool descriptions may contain text that looks like a special token: count it as ordinary text.
    const options = { disallowedSpecial: new Set<string>() }
    return limitTokenizer({
      name: 'o200k (gpt-tokenizer)',
      count: (text) => library.countTokens(text, options),
    })
  } catch {
    return estimate
  }
}

/** Tokenizers take quadratic time for long words. Longer words are rare and are counted in parts, which adds at most one token each. */
const LONGEST_WORD = 256
/** Longer texts are sampled. No prompt and hardly a definition is longer. */
const WHOLE = 400_000
/** Number of samples. */
const PARTS = 16

const bounds = new WeakSet<Tokenizer>()

/** Limits the time of a tokenizer: counts long words in parts, and very long texts by samples spread over the whole text. */
export function limitTokenizer(tokenizer: Tokenizer): Tokenizer {
  if (tokenizer === estimate || bounds.has(tokenizer)) return tokenizer
  const countParts = (text: string): number => {
    let total = 0
    for (const part of wordParts(text)) total += tokenizer.count(part)
    return total
  }
  const made: Tokenizer = {
    name: tokenizer.name,
    count(text) {
      if (text.length <= LONGEST_WORD) return tokenizer.count(text)
      if (text.length <= WHOLE) return countParts(text)
      const size = Math.floor(WHOLE / PARTS)
      const step = (text.length - size) / (PARTS - 1)
      let total = 0
      for (let part = 0; part < PARTS; part++) {
        const start = Math.floor(part * step)
        total += countParts(text.slice(start, start + size))
      }
      return Math.round((total * text.length) / (size * PARTS))
    },
  }
  bounds.add(made)
  return made
}

/** Splits the text only within runs of characters (or of blanks) that are too long. */
function* wordParts(text: string): Generator<string> {
  let start = 0
  let run = 0
  let wasBlank = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isBlank = code === 32 || (code >= 9 && code <= 13)
    run = isBlank === wasBlank ? run + 1 : 1
    wasBlank = isBlank
    // Never split a surrogate pair.
    if (run <= LONGEST_WORD || (code & 0xfc00) === 0xdc00) continue
    yield text.slice(start, at)
    start = at
    run = 1
  }
  yield text.slice(start)
}
