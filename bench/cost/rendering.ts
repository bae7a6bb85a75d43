/** A request in the order in which the provider shows it to the model, as pieces that are counted once each. */

export type Part = 'tools' | 'system' | 'messages'

export interface Piece {
  readonly text: string
  readonly tokens: number
  readonly part: Part
}

export interface Rendering {
  readonly pieces: readonly Piece[]
  /** Cache marks according to the provider's advice: the number of pieces before each. */
  readonly marks: readonly number[]
}

/** Shared by all requests of a bench: the same text is one piece and counted once. */
export interface PieceMaker {
  of(part: Part, value: object | string): Piece
  count(text: string): number
}

export function createPieceMaker(count: (text: string) => number): PieceMaker {
  const byText = new Map<string, Piece>()
  // Definitions and messages are often the same objects, which need no second serialisation.
  const byObject = new WeakMap<object, Piece>()
  const make = (part: Part, text: string): Piece => {
    const key = `${part} ${text}`
    const known = byText.get(key)
    if (known) return known
    const piece = { text, tokens: count(text), part }
    byText.set(key, piece)
    return piece
  }
  return {
    count: (text) => make('messages', text).tokens,
    of(part, value) {
      if (typeof value === 'string') return make(part, value)
      const known = byObject.get(value)
      if (known) return known
      const piece = make(part, part === 'tools' ? JSON.stringify(value) : written(value))
      byObject.set(value, piece)
      return piece
    },
  }
}

/** As the model reads it: JSON without escapes in its strings, so a schema in a search answer is as long as in the array. */
function written(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([key, field]) => `"${key}":${written(field)}`).join(',')}}`
}

export function inputTokens({ pieces }: Rendering): number {
  return pieces.reduce((sum, piece) => sum + piece.tokens, 0)
}
