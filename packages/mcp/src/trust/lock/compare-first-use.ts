/** Compares a listing with the first-use record: creates warnings and the new record. Also the texts of quarantine reasons. */

import type { ServerWarning, WarningCode } from '../../definition/warning.js'
import type { Finding } from '../scan/rules.js'
import type { Decision, QuarantineReason, ReviewSubject } from './create-review.js'
import { createRecord, type FirstUse, NOTHING_SEEN, ownTool, seenTool } from './first-use.js'
import { namedTools } from './lock.js'
import { isOfferName } from './offers.js'

/** Warns about a changed start command. A person must approve it if it is pinned; otherwise the new one is remembered. */
export function startWarning({ server }: ReviewSubject, before: string, isPinned: boolean): ServerWarning[] {
  const { start = '', name } = server
  if (before === '' || start === '' || before === start) return []
  const text = `the start of ${visibleName(name)} has changed from ${JSON.stringify(before)} to ${JSON.stringify(start)}`
  return [
    isPinned
      ? { code: 'start-changed', text, fix: `If you changed it, approve it with: ${approveCommand(name)}` }
      : { code: 'start-changed', text, fix: 'If you did not change it, check its entry in the config' },
  ]
}

/** Compares with the first-use record and adds new tools to it. Quarantined tools are not added. */
export function compareWithFirstUse(
  { server, prints, remembered, trust, offers = () => true }: ReviewSubject,
  decisions: ReadonlyMap<string, Decision>,
): { readonly warnings: ServerWarning[]; readonly remember?: FirstUse } {
  const warnings: ServerWarning[] = []
  const { instructions = '', start = '', name: own } = server
  const warn = (code: WarningCode, text: string, fix: string) => warnings.push({ code, text, fix })
  const called = visibleName(own)
  const look = `Look at the differences and approve them with: ${approveCommand(own)}`
  const allowed = [...prints.tools].filter(([name]) => decisions.get(name)?.allowed)
  const first = (name: string) => ownTool(remembered?.tools, name)?.fingerprint
  const fresh = allowed.filter(([name]) => first(name) === undefined).map(([name]) => name)
  const changed = allowed.filter(([name, print]) => (first(name) ?? print) !== print).map(([name]) => name)
  // Only with `follow`. Otherwise changes are quarantined, and the reason says so.
  if (trust === 'follow' && remembered && remembered.instructions !== instructions)
    warn(
      'instructions-changed',
      `the instructions of ${called} have changed since they were first seen`,
      look,
    )
  if (changed.length > 0)
    warn(
      'tools-changed',
      `${truncated(changed)} of ${called} ${changed.length === 1 ? 'has changed since it was' : 'have changed since they were'} first seen`,
      look,
    )
  const left = Object.keys(remembered?.tools ?? {}).filter(
    (name) => !prints.tools.has(name) && !isOfferName(name) && offers(name) !== false,
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
      `${truncated(fresh)} of ${called} ${fresh.length === 1 ? 'is' : 'are'} new since it was first seen`,
      'To approve new tools yourself, pin the server with: toolwell lock',
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

/** Creates a quarantine decision with its reason and the command or config entry that resolves it. */
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
        : `Look at the differences and approve them with: ${approveCommand(server, tool)}`
  return { allowed: false, kind, reason: `${why}. ${advice}`, findings }
}

/** Advice to exclude a tool or a server. */
export function keepOut(server: string, tool?: string): string {
  const entry = `in the entry of ${visibleName(server)}`
  if (tool === undefined) return `Keep it out: "enabled": false ${entry}.`
  // The whole name with escapes: a star would exclude other tools, too.
  const pattern = JSON.stringify(tool.length > 300 ? `${tool.slice(0, 300)}*` : tool).replace(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `Keep it out: "deny": [${pattern}] ${entry}.`
}

/** Shows a name of a server so that it can neither hide nor run anything. */
export const visibleName = (name: string) =>
  /^[\w.@/-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80).replace(/[^\u0020-\u007e]/g, '?'))

export const showTool = (server: string, tool: string) => `${visibleName(server)}/${visibleName(tool)}`

/** Unusual characters become a star, which matches any characters. */
export function approveCommand(server: string, tool?: string): string {
  const target = tool === undefined ? server : `${server}/${tool}`
  return `toolwell approve ${/^[\w.@/-]+$/.test(target) ? target : `'${target.replaceAll("'", "'\\''").replace(/[^\u0020-\u007e]+/g, '*')}'`}`
}
