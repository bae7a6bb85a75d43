/** Compares a listing with what was first seen of the server: what to tell, and what to remember. */

import type { ServerWarning, WarningCode } from '../../definition/warning.js'
import type { Finding } from '../scan/rules.js'
import type { Decision, QuarantineReason, ReviewSubject } from './create-review.js'
import { createRecord, type FirstUse, NOTHING_SEEN, ownTool, seenTool } from './first-use.js'
import { namedTools } from './lock.js'

/** Only a person changes a pin; what is merely remembered is told once and remembered anew. */
export function startWarning({ server }: ReviewSubject, before: string, isPinned: boolean): ServerWarning[] {
  const { start = '', name } = server
  if (before === '' || start === '' || before === start) return []
  const text = `how ${visibleName(name)} is started has changed: it was ${JSON.stringify(before)}, and is ${JSON.stringify(start)}`
  return [
    isPinned
      ? { code: 'start-changed', text, fix: `If you changed it, approve it with: ${approveCommand(name)}` }
      : { code: 'start-changed', text, fix: 'If you did not change it, look at its entry in the config' },
  ]
}

/** Compares with what was first seen, and remembers what is new. Only what was let through is remembered. */
export function compareWithFirstUse(
  { server, prints, remembered, trust, offers = () => true }: ReviewSubject,
  decisions: ReadonlyMap<string, Decision>,
): { readonly warnings: ServerWarning[]; readonly remember?: FirstUse } {
  const warnings: ServerWarning[] = []
  const { instructions = '', start = '', name: own } = server
  const warn = (code: WarningCode, text: string, fix: string) => warnings.push({ code, text, fix })
  const called = visibleName(own)
  const look = `See what differs, and approve it, with: ${approveCommand(own)}`
  const allowed = [...prints.tools].filter(([name]) => decisions.get(name)?.allowed)
  const first = (name: string) => ownTool(remembered?.tools, name)?.fingerprint
  const fresh = allowed.filter(([name]) => first(name) === undefined).map(([name]) => name)
  const changed = allowed.filter(([name, print]) => (first(name) ?? print) !== print).map(([name]) => name)
  // Where changes are followed; otherwise they are held back, and the reason says so.
  if (trust === 'follow' && remembered && remembered.instructions !== instructions)
    warn('instructions-changed', `the instructions of ${called} are not what they were when first seen`, look)
  if (changed.length > 0)
    warn(
      'tools-changed',
      `${truncated(changed)} of ${called} ${changed.length === 1 ? 'is' : 'are'} not what ${changed.length === 1 ? 'it was' : 'they were'} when first seen`,
      look,
    )
  const left = Object.keys(remembered?.tools ?? {}).filter(
    (name) => !prints.tools.has(name) && offers(name) !== false,
  )
  if (left.length > 0)
    warn(
      'tools-removed',
      `${truncated(left)} of ${called} ${left.length === 1 ? 'is' : 'are'} gone since ${left.length === 1 ? 'it was' : 'they were'} first seen`,
      `Forget ${left.length === 1 ? 'it' : 'them'} with: ${approveCommand(own)}`,
    )
  const isMoved = remembered !== undefined && start !== '' && remembered.start !== start
  if (remembered && fresh.length === 0 && !isMoved) return { warnings }
  if (remembered && fresh.length > 0)
    warn(
      'tools-added',
      `${truncated(fresh)} of ${called} joined after it was first seen`,
      'Pin it, so that what joins later waits for you, with: toolwell lock',
    )
  else if (fresh.length > 0)
    warn(
      'first-use',
      `${fresh.length} ${fresh.length === 1 ? 'tool' : 'tools'} of ${called} ${fresh.length === 1 ? 'is' : 'are'} trusted on first use`,
      `Pin ${fresh.length === 1 ? 'it' : 'them'} with: toolwell lock`,
    )
  const kept = Object.entries(remembered?.tools ?? {})
  const named = namedTools(server)
  const added = fresh.map((name) => [name, seenTool(named.get(name))] as const)
  const before = remembered ?? { ...NOTHING_SEEN, instructions }
  return {
    warnings,
    remember: { ...before, start: start || before.start, tools: createRecord([...kept, ...added]) },
  }
}

function truncated(names: readonly string[]): string {
  const shown = names.slice(0, 5).map(visibleName).join(', ')
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown
}

// Why something is held back, in words for whoever has to decide: the cause, and the command or the entry that settles it.

export function quarantine(
  kind: QuarantineReason,
  server: string,
  tool: string | undefined,
  why: string,
  findings: readonly Finding[],
): Decision {
  const hard = [...new Set(findings.filter(({ severity }) => severity === 'hard').map(({ rule }) => rule))]
  const advice =
    hard.length > 0
      ? `The scan found ${hard.join(', ')}: do not approve it. ${keepOut(server, tool)}`
      : kind === 'duplicate'
        ? `Ask the author to fix it. ${keepOut(server, tool)}`
        : `See what differs, and approve it, with: ${approveCommand(server, tool)}`
  return { allowed: false, kind, reason: `${why}. ${advice}`, findings }
}

/** What to do about a tool, or a server, that should not be used. */
export function keepOut(server: string, tool?: string): string {
  const entry = `in the entry of ${visibleName(server)}`
  if (tool === undefined) return `Keep it out: "enabled": false ${entry}.`
  // The whole name, with what cannot be seen as escapes: a star would keep out innocent tools too.
  const pattern = JSON.stringify(tool.length > 300 ? `${tool.slice(0, 300)}*` : tool).replace(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `Keep it out: "deny": [${pattern}] ${entry}.`
}

/** Names come from servers: shown so that they can neither hide nor run anything. */
export const visibleName = (name: string) =>
  /^[\w.@/-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80).replace(/[^\u0020-\u007e]/g, '?'))

export const showTool = (server: string, tool: string) => `${visibleName(server)}/${visibleName(tool)}`

/** What is not plain is left to a star, which the command takes for any characters. */
export function approveCommand(server: string, tool?: string): string {
  const target = tool === undefined ? server : `${server}/${tool}`
  return `toolwell approve ${/^[\w.@/-]+$/.test(target) ? target : `'${target.replaceAll("'", "'\\''").replace(/[^\u0020-\u007e]+/g, '*')}'`}`
}
