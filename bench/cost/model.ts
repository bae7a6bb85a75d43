/** The scripted model: what it says when it needs a tool, whether it can call it or has to search for it first. */
import type { Tool } from '@toolwell/core'
import { sampleArguments } from './filler.ts'
import type { Rendering } from './rendering.ts'
import type { ModelCall } from './wires/wire.ts'

export interface WantedTool {
  readonly tool: Tool
  /** As the model knows it. */
  readonly name: string
  readonly isOwn: boolean
}

/** What the model has before it. */
export interface Situation {
  readonly loaded: readonly string[]
  /** `eager` while deferral is off, too. */
  readonly delivery: string
  readonly rendering: Rendering
  /** Search answers of this step, and how many rounds they took. */
  readonly answers: string
  readonly attempt: number
}

/** It does not search for ever: the last attempt is by exact name, whether it was shown or not. */
export const MOST_ATTEMPTS = 4

/** Searches for what is missing, or calls what is wanted. */
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

/** By exact name where the list or an earlier answer showed it, in words otherwise, and in more words after a miss. */
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

/** In the way of the delivery: through the wrapper, or by its own name. */
function toolCall({ tool, name, isOwn }: WantedTool, delivery: string, id: string): ModelCall {
  const input = sampleArguments(tool.inputSchema)
  if (delivery === 'bridge' && !isOwn) return { id, name: 'tool_call', arguments: { name, arguments: input } }
  const call = { id, name, arguments: input }
  return delivery === 'native' && !isOwn ? { ...call, native: 'found' } : call
}
