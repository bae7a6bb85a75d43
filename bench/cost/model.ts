/** The scripted model: calls a needed tool, or searches for it first. */
import type { Tool } from '@toolwell/core'
import { sampleArguments } from './filler.ts'
import type { Rendering } from './rendering.ts'
import type { ModelCall } from './wires/wire.ts'

export interface WantedTool {
  readonly tool: Tool
  /** Name under which the model knows the tool. */
  readonly name: string
  readonly isOwn: boolean
}

/** Everything the model can see. */
export interface Situation {
  readonly loaded: readonly string[]
  /** Also `eager` while deferral is off. */
  readonly delivery: string
  readonly rendering: Rendering
  /** Search answers of this step, and the number of rounds. */
  readonly answers: string
  readonly attempt: number
}

/** Limits searches: the last attempt uses the exact name, even if it was never shown. */
export const MOST_ATTEMPTS = 4

/** Searches for missing tools, or calls the wanted ones. */
export function act(
  wanted: readonly WantedTool[],
  situation: Situation,
  nextId: () => string,
): { readonly isSearch: boolean; readonly calls: readonly ModelCall[] } {
  const { delivery, loaded } = situation
  const missing = wanted.filter(({ name, isOwn }) => !isOwn && delivery !== 'eager' && !loaded.includes(name))
  const isSearch = missing.length > 0
  const calls = isSearch
    ? queriesFor(missing, situation).map((query) => searchCall(query, delivery, nextId()))
    : wanted.map((each) => toolCall(each, delivery, nextId()))
  return { isSearch, calls }
}

/** Uses the exact name if the list or an answer showed it, otherwise words, and more words after a miss. */
function queriesFor(missing: readonly WantedTool[], situation: Situation): string[] {
  const { rendering, answers, attempt } = situation
  const shown = rendering.pieces.filter(({ part }) => part === 'tools').map(({ text }) => text)
  const isNamed = ({ name }: WantedTool) =>
    attempt >= MOST_ATTEMPTS - 1 || answers.includes(name) || shown.some((text) => text.includes(name))
  const named = missing.filter(isNamed).map(({ name }) => name)
  const others = missing.filter((each) => !isNamed(each))
  return [
    ...(named.length > 0 ? [`select:${named.join(',')}`] : []),
    ...others.map(({ tool }) => wordsFor(tool, attempt)),
  ]
}

function wordsFor({ name, description }: Tool, attempt: number): string {
  const own = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .toLowerCase()
  return [own, ...description.split(/\s+/).slice(0, attempt * 6)].join(' ').trim()
}

function searchCall(query: string, delivery: string, id: string): ModelCall {
  const call = { id, name: 'tool_search', arguments: { query } }
  return delivery === 'native' ? { ...call, native: 'search' } : call
}

/** Calls through the bridge or by name, depending on the delivery. */
function toolCall({ tool, name, isOwn }: WantedTool, delivery: string, id: string): ModelCall {
  const input = sampleArguments(tool.inputSchema)
  if (delivery === 'bridge' && !isOwn) return { id, name: 'tool_call', arguments: { name, arguments: input } }
  const call = { id, name, arguments: input }
  return delivery === 'native' && !isOwn ? { ...call, native: 'found' } : call
}
