/** The first line of every search answer lists the loaded and unloaded tools, for `importHistory`. */
import { safeJson } from '../base/text.js'
import type { Pin } from '../tool/wire-tool.js'

/** The first characters of every search answer. */
const MARK = 'toolwell/1 '

export interface MachineLine {
  /** Loaded tools whose definitions are in this answer. */
  readonly loaded: readonly Pick<Pin, 'id' | 'fingerprint'>[]
  /** Names of loaded tools that the next request declares. The model reads them only here. */
  readonly named: readonly string[]
  readonly unloaded: readonly string[]
}

export function writeMachineLine(machine: MachineLine): string {
  // Every request pays for this line, so it is short: 8 characters distinguish two definitions of one tool.
  const shown = machine.loaded.map(({ id, fingerprint }) => [id, fingerprint.slice(0, 8)])
  const unloaded = machine.unloaded.length > 0 ? { unloaded: machine.unloaded } : {}
  return `${MARK}${safeJson({ loaded: [...shown, ...machine.named], ...unloaded })}`
}

/** Returns a search answer without its first line. */
export function removeMachineLine(answer: string): string {
  return answer.startsWith(MARK) ? answer.slice(answer.indexOf('\n') + 1) : answer
}

/** Reads the first line of a search answer. Undefined if it is not in this format. */
export function readMachineLine(answer: string): MachineLine | undefined {
  const end = answer.indexOf('\n')
  const line = end < 0 ? answer : answer.slice(0, end)
  if (!line.startsWith(MARK)) return undefined
  try {
    const value: unknown = JSON.parse(line.slice(MARK.length))
    if (typeof value !== 'object' || value === null) return undefined
    const { loaded, unloaded = [] } = value as { loaded?: unknown; unloaded?: unknown }
    if (!Array.isArray(loaded) || !Array.isArray(unloaded)) return undefined
    const pairs = loaded.filter(
      (pair): pair is [string, string] =>
        Array.isArray(pair) && pair.every((part) => typeof part === 'string'),
    )
    return {
      loaded: pairs.map(([id, fingerprint]) => ({ id, fingerprint })),
      named: loaded.filter((name): name is string => typeof name === 'string'),
      unloaded: unloaded.filter((id): id is string => typeof id === 'string'),
    }
  } catch {
    return undefined
  }
}
