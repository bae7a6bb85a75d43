/** Decides which patterns are safe to run: schema and text are untrusted, and neither may block this process. */

/** A pattern reads at most `factor × length ** degree` characters. */
interface Pattern {
  readonly expression: RegExp
  readonly factor: number
  readonly degree: number
}

const LONGEST = 1000
const MOST_FACTOR = 200
/** The most characters that a pattern with a degree above 1 may read. */
const MOST_CHARACTERS = 300_000

/** Undefined if the pattern is too slow for this text. */
export type GetPattern = (
  pattern: string,
  text: string,
) => { readonly expression: RegExp; readonly characters: number } | undefined

/** Reads each pattern of a schema once. */
export function createPatterns(): GetPattern {
  const known = new Map<string, Pattern | undefined>()
  return (pattern, text) => {
    if (!known.has(pattern)) known.set(pattern, readPattern(pattern))
    const form = known.get(pattern)
    if (!form) return undefined
    const { expression, factor, degree } = form
    const characters = factor * text.length ** degree
    return degree > 1 && characters > MOST_CHARACTERS ? undefined : { expression, characters }
  }
}

function readPattern(pattern: string): Pattern | undefined {
  const form = measurePattern(pattern)
  const expression = form && compilePattern(pattern)
  return form && expression && { expression, ...form }
}

/**
 * Computes the worst case from the form of the pattern. Each open repetition, and a missing `^`, adds one to the degree.
 * Undefined for patterns that could be slower: a repeated group, a second group, a lookaround, a back reference.
 */
function measurePattern(pattern: string): { readonly factor: number; readonly degree: number } | undefined {
  if (pattern.length > LONGEST || /\\[1-9k]/.test(pattern)) return undefined
  const plain = pattern
    .replace(/\\./gs, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replace(/([*+?}])\?/g, '$1')
    .replaceAll('(?:', '(')
  if (plain.includes('(?') || plain.indexOf('(') !== plain.lastIndexOf('(') || /\)[*+?{]/.test(plain))
    return undefined
  const open = (plain.match(/[*+?]|\{\d*,\d*\}/g) ?? []).length
  const isBound = plain.startsWith('^') && !plain.replace(/\(.*\)/s, '').includes('|')
  const counts = (plain.match(/\{\d+/g) ?? []).reduce((sum, count) => sum + Number(count.slice(1)), 0)
  const choices = plain.split('|').length
  const factor = (plain.length + counts) * choices
  const degree = open + (isBound ? 0 : 1)
  return degree > 0 && factor > MOST_FACTOR ? undefined : { factor, degree }
}

function compilePattern(pattern: string): RegExp | undefined {
  for (const flags of ['u', ''])
    try {
      return new RegExp(pattern, flags)
    } catch {
      // The pattern may need the mode without `u`.
    }
  return undefined
}
