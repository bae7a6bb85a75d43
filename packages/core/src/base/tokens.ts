/** Counting tokens: a documented estimate by default, a real tokenizer where the host has one. */

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

/** Put together, so that no bundler takes it in: its tables weigh many times what this library does. */
const TOKENIZER_PACKAGE = ['gpt', 'tokenizer'].join('-')

/** o200k from the optional package `gpt-tokenizer` where it is installed beside the running program, otherwise the estimate. */
export async function loadTokenizer(): Promise<Tokenizer> {
  try {
    const library: typeof import('gpt-tokenizer') = await import(
      /* @vite-ignore */ /* webpackIgnore: true */ TOKENIZER_PACKAGE
    )
    // Text that looks like a special token is ordinary text here: it comes from tool descriptions.
    const options = { disallowedSpecial: new Set<string>() }
    return limitTokenizer({
      name: 'o200k (gpt-tokenizer)',
      count: (text) => library.countTokens(text, options),
    })
  } catch {
    return estimate
  }
}

/** Tokenizers take the square of the length of a word, or more; words of this length are rare, and parts of them count the same but for one. */
const LONGEST_WORD = 256
/** Texts are counted whole up to this length. No prompt and hardly a definition is longer. */
const WHOLE = 400_000
/** Of longer ones, so many parts of equal length are counted. */
const PARTS = 16

const bounds = new WeakSet<Tokenizer>()

/**
 * A tokenizer whose time grows with the text, up to a limit: long words are counted in parts, and of a very long text a sample that
 * is spread over all of it.
 */
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

/** The text, cut only within runs of characters (or of blanks) that are too long. */
function* wordParts(text: string): Generator<string> {
  let start = 0
  let run = 0
  let wasBlank = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isBlank = code === 32 || (code >= 9 && code <= 13)
    run = isBlank === wasBlank ? run + 1 : 1
    wasBlank = isBlank
    // Not between the halves of a character.
    if (run <= LONGEST_WORD || (code & 0xfc00) === 0xdc00) continue
    yield text.slice(start, at)
    start = at
    run = 1
  }
  yield text.slice(start)
}
