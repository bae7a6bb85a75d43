/** Simulates a provider's prompt cache over a series of requests, by its published rule. */
import type { Piece, Rendering } from './rendering.ts'

export type CacheRule =
  /** Only prefixes that end at a mark are kept, and are read as a whole. */
  | {
      readonly kind: 'marks'
      /** All marks of the host, or only the provider's mark at the end. */
      readonly marks: 'all' | 'last'
      readonly minimum: number
      readonly minutes: number
    }
  /** Any shared prefix is read, in whole steps. */
  | {
      readonly kind: 'prefix'
      readonly minimum: number
      readonly step: number
      readonly minutes: number
    }
  | { readonly kind: 'none' }

/** Input tokens of one request: read, written and uncached, in this order. */
export interface CacheUse {
  readonly read: number
  readonly written: number
  readonly plain: number
}

export interface Timed {
  readonly minute: number
  readonly rendering: Rendering
}

/** A prefix of some request. The path from the root gives its pieces. */
interface Node {
  readonly tokens: number
  readonly next: Map<Piece, Node>
  /** The minute until which the cache keeps it. */
  until: number
}

/** Takes one step per piece of each request. */
export function applyCache(requests: readonly Timed[], rule: CacheRule): CacheUse[] {
  const root: Node = { tokens: 0, next: new Map(), until: Number.NEGATIVE_INFINITY }
  return requests.map(({ minute, rendering }) => {
    const path = walk(root, rendering.pieces)
    const total = path.at(-1)?.tokens ?? 0
    if (rule.kind === 'none') return { read: 0, written: 0, plain: total }
    const found = path.findLast((node) => node.until >= minute)
    if (rule.kind === 'prefix') {
      const shared = found?.tokens ?? 0
      const steps = shared - (shared % rule.step)
      const read = steps >= rule.minimum ? steps : 0
      for (const node of path) node.until = minute + rule.minutes
      return { read, written: 0, plain: total - read }
    }
    const marks = (rule.marks === 'all' ? rendering.marks : rendering.marks.slice(-1))
      .map((end) => path[end - 1])
      .filter((node): node is Node => node !== undefined && node.tokens >= rule.minimum)
    const last = marks.at(-1)?.tokens ?? 0
    const read = found && found.tokens <= last ? found.tokens : 0
    if (found) found.until = minute + rule.minutes
    for (const node of marks) node.until = minute + rule.minutes
    return { read, written: Math.max(0, last - read), plain: total - Math.max(last, read) }
  })
}

function walk(root: Node, pieces: readonly Piece[]): Node[] {
  let at = root
  return pieces.map((piece) => {
    let next = at.next.get(piece)
    if (!next) {
      next = { tokens: at.tokens + piece.tokens, next: new Map(), until: Number.NEGATIVE_INFINITY }
      at.next.set(piece, next)
    }
    at = next
    return next
  })
}
