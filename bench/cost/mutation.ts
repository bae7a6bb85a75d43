/**
 * The former approach of released peers: rebuild the tools array after each load, either with the newest tool first or sorted by
 * name. Builds bodies from those of the append run, so that only the order of the array differs.
 */
import type { PieceMaker } from './rendering.ts'
import type { Recording } from './replay.ts'
import type { BenchWire } from './wires/wire.ts'

export const mutations = ['mutation-first', 'mutation-sorted'] as const
export type Mutation = (typeof mutations)[number]

export function mutate(append: Recording, form: Mutation, wire: BenchWire, pieces: PieceMaker): Recording {
  const requests = append.requests.map((request) => {
    const { body, loaded } = request
    const isLoaded = new Set(loaded)
    const found = body.tools.filter((tool) => isLoaded.has(nameOf(tool)))
    const fixed = body.tools.filter((tool) => !isLoaded.has(nameOf(tool)))
    const tools =
      form === 'mutation-first'
        ? [...found.reverse(), ...fixed]
        : [...body.tools].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    return { ...request, body: { ...body, tools }, rendering: wire.render({ ...body, tools }, pieces) }
  })
  return { ...append, requests, delivery: form }
}

/** Chat Completions has the name one level down. */
function nameOf(tool: object): string {
  const { name, function: inner } = tool as { name?: string; function?: { name: string } }
  return name ?? inner?.name ?? ''
}
