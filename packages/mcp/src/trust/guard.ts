/** The review that connected servers get by default: the scan, the lock beside the config, and first use where there is none. */

import { defined } from '@toolwell/core/internal'
import { describeStart } from '../config/redact.js'
import type { ServerConfig } from '../config/server-config.js'
import { isOffered } from '../config/server-config.js'
import { markFolderUse, matchPrevious } from '../definition/clean-definition.js'
import { definitionHash, type ServerDefinition } from '../definition/server-definition.js'
import { approveCommand } from './lock/compare-first-use.js'
import { createReview, type Decision, type ServerDecision } from './lock/create-review.js'
import { type Compared, createExaminations, type ExaminationOptions } from './lock/examinations.js'
import {
  type FirstUse,
  type FirstUseStore,
  hasRecord,
  linkToListing,
  ownTool,
  trustScope,
  unlinkFromListing,
  waitingCommands,
} from './lock/first-use.js'
import type { ListedServer } from './lock/lock.js'
import { createLocks, type LockState } from './lock/lock-file.js'
import { areSettled, hasNoFindings, type Prints, type ReviewNotes } from './lock/review-notes.js'
import {
  combineReviews,
  NOTHING_FOUND,
  type Review,
  type Reviewer,
  type ReviewFinding,
  type ReviewRequest,
} from './review.js'
import { type Finding, type RuleSettings, scanStamp, showTags } from './scan/rules.js'

export interface GuardOptions {
  readonly firstUse: FirstUseStore
  /** The lock for all servers; `false` for none. Default: the one beside the config of each. */
  readonly lock: string | false | undefined
  readonly scan: boolean
  /** Rules of the scan that are switched off. */
  readonly rules?: RuleSettings
  /** Asked as well. */
  readonly review: Reviewer | undefined
  /** Comparisons of names that need not be made again. */
  readonly compared?: ExaminationOptions['compared']
}

export interface Guard {
  /** A cached definition: its names count from now on. True where its notes make it known already. */
  register(server: ServerConfig, definition: ServerDefinition, notes: unknown): boolean
  /** Does what takes long before the review, a little at a time. */
  prepare(server: ServerConfig, definition: ServerDefinition): Promise<void>
  review(request: ReviewRequest): Review
  /** Why the tools of a server are let through. */
  trustedBy(server: string): ServerDecision['by']
  /** To be kept with this definition. */
  notes(server: ServerConfig, definition: ServerDefinition): ReviewNotes | undefined
  /** Servers that have to be reviewed again because of what is known of others by now. */
  compare(isOver: () => boolean): Promise<Compared>
  /** What is remembered or pinned of it, where it lists the same but for the folder. */
  recognise(server: ServerConfig, definition: ServerDefinition, folder: string): ServerDefinition
  /** Why what its entry refers to may not be run, read or sent yet, or undefined. */
  waitingCommand(server: ServerConfig): string | undefined
  /** What has been approved of it has changed since it was reviewed. Costs a look at the file. */
  isStale(server: ServerConfig): boolean
  /** A server is gone: its names count no longer. */
  forget(server: string): void
  /** Reads the locks again, whatever they look like. */
  reset(): void
}

export function createGuard(options: GuardOptions): Guard {
  const { firstUse, lock, scan, rules = {}, review: own, compared = {} } = options
  const examinations = createExaminations({ scan, rules, compared })
  const stamp = scanStamp(rules)
  const review = createReview(examinations)
  const locks = createLocks(lock)
  /** What was remembered before a definition was seen: it may be reviewed again because of another server, and is still new then. */
  const met = new Map<
    string,
    { readonly definition: ServerDefinition; readonly before: FirstUse | undefined; readonly stamp: string }
  >()
  /** A record that vanishes while the program runs, with a folder that is moved say, is not forgotten by it. */
  const remembered = new Map<string, FirstUse>()
  const recall = (server: ServerConfig) => firstUse.read(server) ?? remembered.get(server.name)
  const lockedTool = (server: ServerConfig, state: LockState, tool: string) =>
    ownTool(ownTool(state.lock?.servers, server.name)?.tools, tool)
  /** What was let through in this program is known `now`: others may be listed that are as new. */
  const known = (server: ServerConfig, tool: string) => {
    const state = locks.of(server)
    if (state) return lockedTool(server, state, tool) ? 'before' : undefined
    const last = met.get(server.name)
    if (ownTool((last ? last.before : recall(server))?.tools, tool)) return 'before'
    return ownTool(remembered.get(server.name)?.tools, tool) ? 'now' : undefined
  }
  const listedOf = (server: ServerConfig, definition: ServerDefinition) =>
    asListed(server, definition, (tool) => known(server, tool))
  const by = new Map<string, ServerDecision['by']>()
  /** Definitions that are as first seen, and in which nothing was found that holds back: most of them, at every start. */
  const settled = new Map<string, { readonly definition: ServerDefinition; readonly isPlain: boolean }>()
  /** What each was judged by: its lock, or what was first seen of it. */
  const judgedBy = new Map<string, { readonly lock: LockState | undefined; readonly stamp: string }>()
  const groundsOf = (server: ServerConfig) => {
    const state = locks.of(server)
    return { lock: state, stamp: state ? '' : firstUse.stamp(server) }
  }
  const isSame = (server: ServerConfig, grounds: ReturnType<typeof groundsOf>) => {
    const last = judgedBy.get(server.name)
    return last === undefined || (last.lock === grounds.lock && last.stamp === grounds.stamp)
  }

  /** Of what is settled, all may be used; what was found of it is in its notes. */
  const asNoted = (server: ServerConfig, listed: ListedServer): ServerDecision => {
    const prints = examinations.register(listed)
    const decide = (print: string): Decision => ({
      allowed: true,
      findings: examinations.known(server.name, print),
    })
    const offered = [...prints.tools].filter(([tool]) => isOffered(tool, server))
    return {
      by: 'first-use',
      server: decide(prints.instructions),
      tools: new Map(offered.map(([tool, print]) => [tool, decide(print)])),
      warnings: [],
    }
  }

  const reviewer: Reviewer = ({ server, definition, fromCache }) => {
    const listed = listedOf(server, definition)
    const grounds = groundsOf(server)
    const { lock: state } = grounds
    // Whoever writes a lock has looked at it, and decided.
    if (!isSame(server, grounds)) review.reset(server.name)
    judgedBy.set(server.name, grounds)
    // What was judged in this program is judged again: it may have been reported as new.
    const before = settled.get(server.name)
    const isSettledBefore = before?.definition === definition && !met.has(server.name)
    if (isSettledBefore && !state && server.trust === 'first-use' && grounds.stamp !== '') {
      by.set(server.name, 'first-use')
      return before.isPlain ? NOTHING_FOUND : toReview(asNoted(server, listed))
    }
    const prints = examinations.register(listed)
    const last = met.get(server.name)
    const isKnown = last?.definition === definition && last.stamp === grounds.stamp
    const record = isKnown ? last.before : state ? undefined : recall(server)
    const seenBefore = hasRecord(record) ? record : undefined
    const { decision, remember } = review.judge({
      server: listed,
      prints,
      trust: server.trust,
      offers: (tool) => isOffered(tool, server),
      lock: state,
      isFromCache: fromCache,
      remembered: state ? undefined : seenBefore,
    })
    by.set(server.name, decision.by)
    const lean = (seen: FirstUse) => linkToListing(seen, listed, prints.tools)
    if (remember) {
      const { need, folder } = server.workspace
      const seen = {
        ...defined({
          commands: record?.commands,
          commandsFor: record?.commandsFor,
          folder: need === 'each' ? folder : undefined,
        }),
        ...remember,
      }
      remembered.set(server.name, lean(seen))
      firstUse.write(server, unlinkFromListing(seen))
    } else if (record) remembered.set(server.name, lean(record))
    // Also where nothing was written: reading may have moved it.
    const stamp = state ? '' : firstUse.stamp(server)
    judgedBy.set(server.name, { lock: state, stamp })
    met.set(server.name, { definition, before: record && lean(record), stamp })
    if (isSettled(decision, prints, remember ?? seenBefore))
      settled.set(server.name, { definition, isPlain: isPlain(decision) })
    else settled.delete(server.name)
    return toReview(decision)
  }

  return {
    register(server, definition, notes) {
      const listed = listedOf(server, definition)
      const isSettledBefore = scan && areSettled(notes, stamp, trustScope(server))
      const isPlain = isSettledBefore && hasNoFindings(notes)
      if (isPlain) examinations.registerLazily(listed, notes)
      else examinations.register(listed, notes)
      const isNoted = examinations.hasNotes(server.name)
      if (isSettledBefore && isNoted) settled.set(server.name, { definition, isPlain })
      return !scan || isNoted
    },
    async prepare(server, definition) {
      if (!scan) return
      // What someone has looked at and approved is not scanned.
      const approved = locks.of(server)?.lock?.servers[server.name]?.tools
      const isApproved = (tool: string, print: string) =>
        approved !== undefined && Object.hasOwn(approved, tool) && approved[tool]?.fingerprint === print
      await examinations.prepare(listedOf(server, definition), (tool, print) => !isApproved(tool, print))
    },
    review: combineReviews(reviewer, ...(own ? [own] : [])),
    trustedBy: (server) => by.get(server) ?? 'nothing',
    notes(server, definition) {
      examinations.register(listedOf(server, definition))
      const notes = examinations.notesOf(server.name)
      const before = settled.get(server.name)?.definition
      const isKept =
        before !== undefined &&
        (before === definition || definitionHash(before) === definitionHash(definition))
      return notes && isKept ? { ...notes, settledFor: trustScope(server) } : notes
    },
    async compare(isOver) {
      const compared = await examinations.compare(isOver)
      for (const name of compared.changed) settled.delete(name)
      return compared
    },
    isStale: (server) => !isSame(server, groundsOf(server)),
    recognise(server, definition, folder) {
      const state = locks.of(server)
      const record = state ? undefined : firstUse.read(server)
      const known = state ? state.lock?.servers[server.name] : record
      if (!known) return definition
      const first = record?.folder ?? server.workspace.folder
      const { instructions } = definition
      return markFolderUse({
        ...definition,
        instructions: matchPrevious(instructions, folder, known.instructions, first) ?? instructions,
        tools: definition.tools.map((tool) => {
          const before = ownTool(known.tools, tool.name)?.definition
          return (before && matchPrevious(tool, folder, before, first)) ?? tool
        }),
      })
    },
    waitingCommand(server) {
      if (server.commands.length === 0) return undefined
      if (waitingCommands(server, firstUse.read(server)).length === 0) return undefined
      return `the entry of ${server.name} runs a command, reads a file or sends a variable of your environment, and is not in your own config file: see it, and approve it, with: ${approveCommand(server.name)}`
    },
    forget(server) {
      met.delete(server)
      by.delete(server)
      settled.delete(server)
      judgedBy.delete(server)
      examinations.forget(server)
      review.reset(server)
    },
    reset() {
      settled.clear()
      locks.forget()
      review.reset()
    },
  }
}

/** Whether the next start can skip the review: everything was let through on first use, and nothing was found that weighs. */
function isSettled(
  { by, server, tools }: ServerDecision,
  prints: Prints,
  remembered: FirstUse | undefined,
): boolean {
  const isLight = ({ allowed, findings }: Decision) =>
    allowed && findings.every(({ severity }) => severity === 'soft')
  if (by !== 'first-use' || !isLight(server) || ![...tools.values()].every(isLight)) return false
  if (remembered === undefined || !server.allowed) return false
  // What the config keeps out was not judged, and may be let in later. Removed tools are reported until the rest is pinned.
  if (tools.size < prints.tools.size) return false
  if (Object.keys(remembered.tools).some((name) => !prints.tools.has(name))) return false
  return [...prints.tools].every(
    ([name, print]) => remembered.tools[name]?.fingerprint === print && Object.hasOwn(remembered.tools, name),
  )
}

/** Nothing at all was found. */
function isPlain({ server, tools }: ServerDecision): boolean {
  return [server, ...tools.values()].every(({ findings }) => findings.length === 0)
}

/** How it is started is looked at by few: it takes a look at files. */
function asListed(
  server: ServerConfig,
  { instructions, tools }: ServerDefinition,
  known: ListedServer['known'],
): ListedServer {
  let start: string | undefined
  return {
    name: server.name,
    get start() {
      start ??= describeStart(server)
      return start
    },
    instructions,
    tools,
    known,
  }
}

function toReview({ server: whole, tools, warnings }: ServerDecision): Review {
  const quarantined = new Map<string, string>()
  const findings: ReviewFinding[] = whole.findings.map((finding) => toFinding(finding))
  for (const [tool, decision] of tools) {
    if (!decision.allowed) quarantined.set(tool, decision.reason)
    for (const finding of decision.findings) findings.push(toFinding(finding, tool))
  }
  return { quarantined, findings, warnings, ...defined({ server: whole.allowed ? undefined : whole.reason }) }
}

function toFinding({ rule, severity, where, why, excerpt, fix }: Finding, tool?: string): ReviewFinding {
  const place = where || 'the definition'
  return {
    ...defined({ tool }),
    severity,
    rule,
    where,
    fix,
    detail: `${rule} in ${place}: ${why}${excerpt === '""' ? '' : `: ${showTags(excerpt)}`}. ${fix}`,
  }
}
