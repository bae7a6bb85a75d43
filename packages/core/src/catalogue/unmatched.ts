/** Names in options that no tool has: mostly slips, which would only show in what a conversation costs. */
import { nearest } from '../base/nearest.js'
import type { Catalogue } from './catalogue.js'
import { type ExposureOptions, matches } from './exposure.js'

export interface Unmatched {
  readonly option: string
  readonly detail: string
}

export function unmatched(catalogue: Catalogue, { eager, rules }: ExposureOptions): Unmatched[] {
  const entries = [...catalogue.entries()]
  const names = entries.flatMap(({ wireName, tool }) => [wireName, tool.name])
  const known = new Set([...names, ...entries.map(({ id }) => id)])
  const missing = eager.filter((name) => !known.has(name))
  return [
    ...missing.map((name) => ({
      option: 'eager',
      detail: `no tool is named ${JSON.stringify(name)}${meant(name, names)}`,
    })),
    ...rules.flatMap((rule, index) => {
      // Who asks is known with a conversation alone.
      if (entries.some((entry) => matches(rule, entry, rule.agent))) return []
      const { tool, source, server } = rule
      const asked = tool ?? source ?? server ?? ''
      const near = meant(asked, tool === undefined ? catalogue.sources.keys() : names)
      const detail = `it fits no tool (${JSON.stringify(rule)})${near}`
      return [{ option: `rules[${index}]`, detail }]
    }),
  ]
}

function meant(asked: string, known: Iterable<string>): string {
  const [name] = nearest(asked, known, 1)
  return name === undefined ? '' : `; did you mean ${JSON.stringify(name)}?`
}
