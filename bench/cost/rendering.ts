/** A request as its provider lays it before the model: pieces in render order, counted once each. */

export type Part = 'tools' | 'system' | 'messages'

export interface Piece {
  readonly text: string
  readonly tokens: number
  readonly part: Part
}

export interface Rendering {
  readonly pieces: readonly Piece[]
  /** Where a host that follows the provider's advice puts its cache marks: how many pieces stand before each. */
  readonly marks: readonly number[]
}

/** One for all requests of a bench: the same text is the same piece, and is counted once. */
export interface PieceMaker {
  of(part: Part, value: object | string): Piece
  count(text: string): number
}

export function createPieceMaker(count: (text: string) => number): PieceMaker {
  const byText = new Map<string, Piece>()
  // Definitions and messages are sent again as the same objects: most of them need not be written out a second time.
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

/** As the model reads it: JSON, but for the escapes within its strings. A schema in a search answer is then as long as one in the array. */
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
