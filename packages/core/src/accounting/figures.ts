/** Figures as lines show them. */
import type { SurfaceTokens } from '../ledger/event.js'

/** What the tools array costs. The section, search answers and inserts are part of the messages. */
export function toolsOf(tokens: SurfaceTokens): number {
  return tokens.eager + tokens.loaded + tokens.cards + tokens.metaTools
}

export function tokensInWords(tokens: SurfaceTokens): string {
  return `${short(toolsOf(tokens))} tokens of tools, ${short(tokens.everythingEager)} if all were sent`
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}

export function short(tokens: number): string {
  return Math.abs(tokens) < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`
}
