/** Which patterns are tried on which texts: the schema is its source's, the text the model's, and neither may stop this process. */

/** What the form of a pattern says of the time it takes: at most `asked` looks at a character, times the length to the power of `degree`. */
interface Pattern {
  readonly expression: RegExp
  readonly asked: number
  readonly degree: number
}

const LONGEST = 1000
/** Looks at one character of the text, at the most. */
const MOST_ASKED = 200
/** Looks at characters for a pattern whose time grows faster than the text. One that could take more is not tried. */
const MOST_CHARACTERS = 300_000

/** Undefined where the pattern is not tried on this text. */
export type GetPattern = (
  pattern: string,
  text: string,
) => { readonly expression: RegExp; readonly characters: number } | undefined

/** Each pattern of a schema is read once. */
export function createPatterns(): GetPattern {
  const known = new Map<string, Pattern | undefined>()
  return (pattern, text) => {
    if (!known.has(pattern)) known.set(pattern, readPattern(pattern))
    const form = known.get(pattern)
    if (!form) return undefined
    const { expression, asked, degree } = form
    const characters = asked * text.length ** degree
    return degree > 1 && characters > MOST_CHARACTERS ? undefined : { expression, characters }
  }
}

function readPattern(pattern: string): Pattern | undefined {
  const form = measurePattern(pattern)
  const expression = form && compilePattern(pattern)
  return form && expression && { expression, ...form }
}

/**
 * Each repetition of open length, and a start that is not bound, can try every length or place once more. Undefined for what
 * could be worse than that: a repeated group, a second group, a look around, a back reference.
 */
function measurePattern(pattern: string): { readonly asked: number; readonly degree: number } | undefined {
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
  const asked = (plain.length + counts) * choices
  const degree = open + (isBound ? 0 : 1)
  return degree > 0 && asked > MOST_ASKED ? undefined : { asked, degree }
}

function compilePattern(pattern: string): RegExp | undefined {
  for (const flags of ['u', ''])
    try {
      return new RegExp(pattern, flags)
    } catch {
      // As written for an older engine, perhaps.
    }
  return undefined
}
