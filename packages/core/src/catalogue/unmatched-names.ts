/** Finds names in `eager` and `rules` that match no tool. Such mistakes would otherwise show only as higher costs. */

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
      // The agent is known only in a conversation: assume the rule's own.
      if (entries.some((entry) => matchesRule(rule, entry, rule.agent))) return []
      const { tool, source, server } = rule
      const asked = tool ?? source ?? server ?? ''
      const near = suggestName(asked, tool === undefined ? catalogue.sources.keys() : names)
      const detail = `it matches no tool (${JSON.stringify(rule)})${near}`
      return [{ option: `rules[${index}]`, detail }]
    }),
  ]
}

function suggestName(asked: string, known: Iterable<string>): string {
  const [name] = nearest(asked, known, 1)
  return name === undefined ? '' : `; did you mean ${JSON.stringify(name)}?`
}

export interface NameCheck {
  /** Empty until the check has run. */
  readonly unmatched: readonly Unmatched[]
  check(): Promise<void>
}

/** Runs the check once, as soon as no source is connecting. */
export function createNameCheck(
  catalogue: Catalogue,
  options: ExposureOptions,
  report: (found: Unmatched) => void,
): NameCheck {
  const found: Unmatched[] = []
  let isDone = options.eager.length + options.rules.length === 0
  return {
    unmatched: found,
    async check() {
      if (isDone || [...catalogue.sources.values()].some(({ state }) => state === 'connecting')) return
      isDone = true
      found.push(...findUnmatchedNames(catalogue, options))
      for (const each of found) report(each)
    },
  }
}
