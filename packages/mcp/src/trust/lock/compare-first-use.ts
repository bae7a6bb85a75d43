/** Compares a listing with what was first seen of the server: what to tell, and what to remember. */
import type { ServerWarning, WarningCode } from '../../definition/warning.js'
import type { Decision, ReviewSubject } from './create-review.js'
import { type FirstUse, NOTHING_SEEN, ownTool, record, seenTool } from './first-use.js'
import { namedTools } from './lock.js'
import { approveCommand, visibleName } from './reasons.js'

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
    remember: { ...before, start: start || before.start, tools: record([...kept, ...added]) },
  }
}

function truncated(names: readonly string[]): string {
  const shown = names.slice(0, 5).map(visibleName).join(', ')
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown
}
