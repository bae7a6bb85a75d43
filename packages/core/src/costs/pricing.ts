/** What the prompt cache does to the price of a request, by wire: shares of the plain input price. Sources are in docs/costs.md. */

export interface CacheRule {
  /** For what is read from the cache. */
  readonly read: number
  /** For what is read anew and kept for the next request. */
  readonly write: number
  /** For what the model writes. */
  readonly output: number
}

const RULES: Readonly<Record<string, CacheRule>> = {
  anthropic: { read: 0.1, write: 1.25, output: 5 },
  'openai-responses': { read: 0.1, write: 1.25, output: 5 },
  google: { read: 0.1, write: 1, output: 5 },
}

/** Servers of the Chat Completions family, and wires of the host's own: an automatic cache, as most have. */
const USUAL: CacheRule = { read: 0.1, write: 1, output: 5 }

/** `own`: what the host says of its prices. */
export function cacheRule(wire: string, own: Partial<CacheRule> = {}): CacheRule {
  return { ...(RULES[wire] ?? USUAL), ...own }
}

/** The most searches that must not make a conversation more expensive than one with every tool sent. */
const SEARCHES = 12
/** Tokens that a request adds to the history. */
const GROWTH = 2000
/** Tokens of one search answer and its reminder. */
const ANSWER = 600
/** Tokens that the model writes in a round that only searches. */
const REPLY = 100

/**
 * Tokens of definitions from which deferring them is never more expensive than sending them, for any number of turns and up to
 * twelve searches. A search costs a round: the prompt is read once more, an answer joins it, the model writes a little.
 * The worst case is the shortest conversation that has them all, because there the definitions are paid for least often.
 * `surface`: what deferral itself adds to every request; `prompt`: the first messages and the eager tools.
 */
export function breakEven(
  { surface, prompt }: { readonly surface: number; readonly prompt: number },
  { read, write, output }: CacheRule,
): number {
  const requests = SEARCHES + 1
  const prefix = prompt + surface + (GROWTH * requests) / 2
  const search = read * prefix + ANSWER * (write + (read * requests) / 2) + REPLY * output
  return Math.round(surface + (SEARCHES * search) / (write + read * (requests - 1)))
}
