/** Figures as lines show them. */
import type { SurfaceTokens } from '../ledger/event.js'

/** What the tools array costs. The section, search answers and inserts are part of the messages. */
export function toolsOf(tokens: SurfaceTokens): number {
  return tokens.eager + tokens.loaded + tokens.cards + tokens.metaTools
}

export function short(tokens: number): string {
  return Math.abs(tokens) < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`
}
