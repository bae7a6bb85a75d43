/** Names in options that no tool has: mostly slips, which would only show in what a conversation costs. */

import { nearest } from '../base/nearest.js'
import type { Catalogue } from './catalogue.js'
import { type ExposureOptions, matchesRule } from './exposure.js'

export interface Unmatched {
  readonly option: string
  readonly detail: string
}

export function findUnmatchedNames(catalogue: Catalogue, { eager, rules }: ExposureOptions): Unmatched[] {
  const entries = [...catalogue.entries()]
  const names = entries.flatMap(({ wireName, tool }) => [wireName, tool.name])
  const known = new Set([...names, ...entries.map(({ id }) => id)])
  const missing = eager.filter((name) => !known.has(name))
  return [
    ...missing.map((name) => ({
      option: 'eager',
      detail: `no tool is named ${JSON.stringify(name)}${suggestName(name, names)}`,
    })),
    ...rules.flatMap((rule, index) => {
      // Who asks is known with a conversation alone.
      if (entries.some((entry) => matchesRule(rule, entry, rule.agent))) return []
      const { tool, source, server } = rule
      const asked = tool ?? source ?? server ?? ''
      const near = suggestName(asked, tool === undefined ? catalogue.sources.keys() : names)
      const detail = `it fits no tool (${JSON.stringify(rule)})${near}`
      return [{ option: `rules[${index}]`, detail }]
    }),
  ]
}

function suggestName(asked: string, known: Iterable<string>): string {
  const [name] = nearest(asked, known, 1)
  return name === undefined ? '' : `; did you mean ${JSON.stringify(name)}?`
}

// Whether the names in options are those of tools: asked once, as soon as no source is awaited, which may bring what is named.

export interface NameCheck {
  /** Those that no tool has, once that was found out. */
  readonly unmatched: readonly Unmatched[]
  check(): Promise<void>
}

export function createNameCheck(
  catalogue: Catalogue,
  options: ExposureOptions,
  tell: (found: Unmatched) => void,
): NameCheck {
  const found: Unmatched[] = []
  let isDone = options.eager.length + options.rules.length === 0
  return {
    unmatched: found,
    async check() {
      if (isDone || [...catalogue.sources.values()].some(({ state }) => state === 'connecting')) return
      isDone = true
      found.push(...findUnmatchedNames(catalogue, options))
      for (const each of found) tell(each)
    },
  }
}
