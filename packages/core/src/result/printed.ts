/** A value as the JSON that a model reads. What JSON would leave out of it without a word is shown, or told of. */

export interface Unprintable {
  /** What is wrong, as the end of a sentence: `it is a Response: return await response.text()`. */
  readonly problem: string
}

/** Nothing at all is no text. */
export function printed(value: unknown): string | Unprintable {
  if (value === undefined) return ''
  if (typeof value === 'function' || typeof value === 'symbol') return { problem: `it is a ${typeof value}` }
  try {
    const text = JSON.stringify(value) ?? ''
    // What JSON leaves out, it writes as one of these.
    return /\{\}|null/.test(text) ? completed(value) : text
  } catch (error) {
    return { problem: error instanceof NotShown ? error.message : firstOf(error) }
  }
}

class NotShown extends Error {}

/** Maps and sets as lists, what says itself as text as that text, and a number that JSON lacks by its name. */
function completed(value: unknown): string {
  let isWhole = true
  const text = JSON.stringify(value, (_, each: unknown) => {
    const verb = isWhole ? 'is' : 'holds'
    isWhole = false
    if (typeof each === 'number') return Number.isFinite(each) ? each : String(each)
    if (each instanceof Map || each instanceof Set) return [...each]
    if (!isBare(each)) return each
    const own = String(each)
    if (!own.startsWith('[object ')) return own
    const kind = kindOf(each)
    const article = /^[AEIOU]/i.test(kind) ? 'an' : 'a'
    if (verb === 'is' || kind === 'Promise')
      throw new NotShown(`it ${verb} ${article} ${kind}${advice(each, kind)}`)
    return `[${kind}, not shown]`
  })
  return typeof value === 'number' ? String(value) : (text ?? '')
}

/** An instance of something without a field that JSON would show. */
function isBare(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const kind = Object.getPrototypeOf(value)
  return kind !== null && Object.getPrototypeOf(kind) !== null && Object.keys(value).length === 0
}

function kindOf(value: object): string {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  const name: unknown = tag === 'Object' ? value.constructor?.name : tag
  return typeof name === 'string' && name !== '' ? name : 'object'
}

function advice(value: object, kind: string): string {
  if (kind === 'Response') return ': return await response.text()'
  if (kind === 'Promise') return ': await it'
  if (Symbol.asyncIterator in value || Symbol.iterator in value)
    return ': read it to its end, and return that'
  return ', of which JSON shows nothing: return what is in it'
}

/** Engines tell of a circle on several lines. */
function firstOf(error: unknown): string {
  try {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n', 1)
    return line === '' ? 'it cannot be written as JSON' : line
  } catch {
    return 'it cannot be written as JSON'
  }
}
