/** What an inspection means for who runs it: can anything be used, and does it stay within `--max-tokens`? */
import { firstLine } from '@toolwell/core/internal'
import { count } from '../shared/table.js'
import type { ExitCode } from '../shared/verb.js'
import type { Inspected } from './collect.js'

export interface Verdict {
  readonly exit: ExitCode
  /** Only a figure that is complete can be within. */
  readonly isWithin: boolean
  /** Why nothing can be used, for programs. */
  readonly failure: { readonly reason: string; readonly message: string; readonly fix: string } | undefined
  /** For standard error. */
  readonly lines: readonly string[]
}

/** Servers that are named in one line. */
const NAMED = 10

/** `name`: how the command is called. */
export function judge(inspected: Inspected, maxTokens: number | undefined, name: string): Verdict {
  const { usable, incomplete, surface } = inspected
  const isAbove = maxTokens !== undefined && surface.tokens > maxTokens
  const isWithin = !isAbove && incomplete.length === 0
  if (usable === 0) {
    const all = inspected.servers.map((server) => server.name)
    const message = `No server can be used: ${listNames(all, inspected)}.`
    const fix = `What was inspected says why; ${name} doctor says how to fix each.`
    const failure = { reason: 'no-servers', message, fix }
    return { exit: 2, isWithin, failure, lines: [`${message} ${fix}`] }
  }
  if (maxTokens === undefined || isWithin) return { exit: 0, isWithin, failure: undefined, lines: [] }
  return {
    exit: 1,
    isWithin,
    failure: undefined,
    lines: [
      ...(isAbove ? [aboveLine(inspected, maxTokens)] : []),
      ...(incomplete.length > 0
        ? [
            `The figure for --max-tokens is incomplete: the tools of ${listNames(incomplete, inspected)} are not known. Fix what is missing, or switch it off with "enabled": false.`,
          ]
        : []),
    ],
  }
}

function listNames(names: readonly string[], { servers }: Inspected): string {
  const states = new Map(servers.map(({ name, state }) => [name, state]))
  const shown = names.slice(0, NAMED).map((name) => `${firstLine(name, 40)} (${states.get(name)})`)
  return `${shown.join(', ')}${names.length > NAMED ? ` and ${names.length - NAMED} more` : ''}`
}

function aboveLine({ surface, tools, deferred }: Inspected, maxTokens: number): string {
  const { tokens, mode } = surface
  // What is held back is not sent: keeping it out would save nothing.
  const largest = tools.find(({ isQuarantined }) => !isQuarantined)
  return `A request would carry ${count(tokens)} tokens of tools and prompt section (surface.tokens), which is ${count(tokens - maxTokens)} above --max-tokens ${count(maxTokens)}. ${
    mode === 'off'
      ? `Every definition is sent. Keep tools out with "deny", beginning with ${largest ? `${largest.server}/${largest.name} (${count(largest.tokens.full)})` : 'the largest'}, or defer with mode: "on" (${count(deferred.tokens)} tokens).`
      : 'Keep tools out with "deny", or send fewer always ("alwaysLoad", "lazy").'
  }`
}
