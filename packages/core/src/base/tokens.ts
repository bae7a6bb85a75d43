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
    return { name: 'o200k (gpt-tokenizer)', count: (text) => library.countTokens(text, options) }
  } catch {
    return estimate
  }
}
