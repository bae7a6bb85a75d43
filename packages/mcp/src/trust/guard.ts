/** The default review of connected servers: the scan, the lock next to the config, or first use if there is no lock. */

import { dropUndefined } from '@toolwell/core/internal'
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
import { judgeOffers, type ReviewedOffers, rememberOffers } from './lock/judge-offers.js'
import type { ListedServer } from './lock/lock.js'
import { createLocks, type LockState } from './lock/lock-file.js'
import { isOfferName } from './lock/offers.js'
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
  /** One lock for all servers; `false`: none. Default: the lock next to each config. */
  readonly lock: string | false | undefined
  readonly scan: boolean
  /** Scan rules that are switched off. */
  readonly rules?: RuleSettings
  /** Additional reviewer of the host. */
  readonly review: Reviewer | undefined
  /** Stored comparisons, which can be skipped. */
  readonly compared?: ExaminationOptions['compared']
}

export interface Guard {
  /** Adds the names of a cached definition. True if its notes make a scan unnecessary. */
  register(server: ServerConfig, definition: ServerDefinition, notes: unknown): boolean
  /** Scans before the review, in short slices. */
  prepare(server: ServerConfig, definition: ServerDefinition): Promise<void>
  review(request: ReviewRequest): Review
  /** The prompts and resources that may be used, and the URIs of the others. */
  reviewOffers(server: ServerConfig, definition: ServerDefinition): ReviewedOffers
  /** Why the tools of a server are trusted. */
  trustedBy(server: string): ServerDecision['by']
  /** Notes to store with this definition. */
  notes(server: ServerConfig, definition: ServerDefinition): ReviewNotes | undefined
  /** Compares names of all servers. Returns servers that must be reviewed again. */
  compare(isOver: () => boolean): Promise<Compared>
  /** Returns the remembered or pinned definition if the listed one differs only in the folder. */
  recognise(server: ServerConfig, definition: ServerDefinition, folder: string): ServerDefinition
  /** Why references of the entry may not be run, read or sent yet. Undefined if they may. */
  waitingCommand(server: ServerConfig): string | undefined
  /** Adds the command that approves to the reason of `waitingCommand`. For people: a model must not read it. */
  reasonForUser(server: ServerConfig, reason: string): string
  /** Did its lock or record change since the review? Checks the file. */
  isStale(server: ServerConfig): boolean
  /** Removes a server and its names. */
  forget(server: string): void
  /** Forces the locks to be read again. */
  reset(): void
}

export function createGuard(options: GuardOptions): Guard {
  const { firstUse, lock, scan, rules = {}, review: own, compared = {} } = options
  const examinations = createExaminations({ scan, rules, compared })
  const stamp = scanStamp(rules)
  const review = createReview(examinations)
  const locks = createLocks(lock)
  /** The record before a definition was seen: in a second review because of another server, the definition is still new. */
  const met = new Map<
    string,
    { readonly definition: ServerDefinition; readonly before: FirstUse | undefined; readonly stamp: string }
  >()
  /** Records in memory, in case a file vanishes while the program runs. */
  const remembered = new Map<string, FirstUse>()
  const recall = (server: ServerConfig) => firstUse.read(server) ?? remembered.get(server.name)
  const lockedTool = (server: ServerConfig, state: LockState, tool: string) =>
    ownTool(ownTool(state.lock?.servers, server.name)?.tools, tool)
  /** `now`: trusted only since this program started, like other new tools. */
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
  /** Unchanged definitions without hard findings. At most starts, these are nearly all. */
  const settled = new Map<string, { readonly definition: ServerDefinition; readonly isPlain: boolean }>()
  /** The lock or first-use record of each decision. */
  const judgedBy = new Map<string, { readonly lock: LockState | undefined; readonly stamp: string }>()
  const groundsOf = (server: ServerConfig) => {
    const state = locks.of(server)
    return { lock: state, stamp: state ? '' : firstUse.stamp(server) }
  }
  const isSame = (server: ServerConfig, grounds: ReturnType<typeof groundsOf>) => {
    const last = judgedBy.get(server.name)
    return last === undefined || (last.lock === grounds.lock && last.stamp === grounds.stamp)
  }

  /** Allows all tools of a settled definition, with the findings from its notes. */
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

  const judge = (
    server: ServerConfig,
    definition: ServerDefinition,
    lock: LockState | undefined,
    remembered: FirstUse | undefined,
  ) => judgeOffers({ server, definition, lock, remembered, findingsOf: examinations.findingsOf })

  const reviewer: Reviewer = ({ server, definition, fromCache }) => {
    const listed = listedOf(server, definition)
    const grounds = groundsOf(server)
    const { lock: state } = grounds
    // A new lock or record is a new decision of the user.
    if (!isSame(server, grounds)) review.reset(server.name)
    judgedBy.set(server.name, grounds)
    // Judge again what was judged in this program: it may have been reported as new.
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
    const { decision, remember: tools } = review.judge({
      server: listed,
      prints,
      trust: server.trust,
      offers: (tool) => isOffered(tool, server),
      lock: state,
      isFromCache: fromCache,
      remembered: state ? undefined : seenBefore,
    })
    by.set(server.name, decision.by)
    const judged = judge(server, definition, state, seenBefore)
    const base = tools ?? seenBefore
    const remember =
      decision.by === 'first-use' && base && judged.fresh.length > 0
        ? rememberOffers(base, judged.fresh)
        : tools
    const lean = (seen: FirstUse) => linkToListing(seen, listed, prints.tools)
    if (remember) {
      const { need, folder } = server.workspace
      const seen = {
        ...dropUndefined({
          commands: record?.commands,
          commandsFor: record?.commandsFor,
          folder: need === 'each' ? folder : undefined,
        }),
        ...remember,
      }
      remembered.set(server.name, lean(seen))
      firstUse.write(server, unlinkFromListing(seen))
    } else if (record) remembered.set(server.name, lean(record))
    // Also if nothing was written: reading may have moved the file.
    const stamp = state ? '' : firstUse.stamp(server)
    judgedBy.set(server.name, { lock: state, stamp })
    met.set(server.name, { definition, before: record && lean(record), stamp })
    if (judged.quarantined.size === 0 && isSettled(decision, prints, remember ?? seenBefore))
      settled.set(server.name, { definition, isPlain: isPlain(decision) })
    else settled.delete(server.name)
    return toReview(decision, judged.quarantined)
  }

  const offers = new WeakMap<
    ServerDefinition,
    { readonly grounds: ReturnType<typeof groundsOf>; readonly reviewed: ReviewedOffers }
  >()
  const reviewOffers: Guard['reviewOffers'] = (server, definition) => {
    const grounds = groundsOf(server)
    const known = offers.get(definition)
    if (known && known.grounds.lock === grounds.lock && known.grounds.stamp === grounds.stamp)
      return known.reviewed
    const { offers: reviewed } = judge(server, definition, grounds.lock, recall(server))
    offers.set(definition, { grounds, reviewed })
    return reviewed
  }

  const waitingCommand = (server: ServerConfig): string | undefined => {
    if (server.commands.length === 0) return undefined
    if (waitingCommands(server, firstUse.read(server)).length === 0) return undefined
    return `the entry of ${server.name} runs a command, reads a file or sends an environment variable, and is not in the user's own config file. Only the user decides whether the server may start`
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
      // Approved tools are not scanned.
      const state = locks.of(server)
      const approved = state?.lock?.servers[server.name]?.tools
      const isApproved = (tool: string, print: string) =>
        approved !== undefined && Object.hasOwn(approved, tool) && approved[tool]?.fingerprint === print
      const { prompts = [], resources = [], templates = [] } = definition
      await examinations.prepare(
        listedOf(server, definition),
        (tool, print) => !isApproved(tool, print),
        state ? [] : [...prompts, ...resources, ...templates],
      )
    },
    review: combineReviews(reviewer, ...(own ? [own] : [])),
    reviewOffers,
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
    waitingCommand,
    reasonForUser: (server, reason) =>
      reason !== '' && reason === waitingCommand(server)
        ? `${reason}. Look at it and approve it with: ${approveCommand(server.name)}`
        : reason,
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

/** Can the next start skip the review? True if everything was trusted on first use, without hard findings. */
function isSettled(
  { by, server, tools }: ServerDecision,
  prints: Prints,
  remembered: FirstUse | undefined,
): boolean {
  const isLight = ({ allowed, findings }: Decision) =>
    allowed && findings.every(({ severity }) => severity === 'soft')
  if (by !== 'first-use' || !isLight(server) || ![...tools.values()].every(isLight)) return false
  if (remembered === undefined || !server.allowed) return false
  // Denied tools were not judged, and may be allowed later. Removed tools are reported until the user approves.
  if (tools.size < prints.tools.size) return false
  if (Object.keys(remembered.tools).some((name) => !prints.tools.has(name) && !isOfferName(name)))
    return false
  return [...prints.tools].every(
    ([name, print]) => remembered.tools[name]?.fingerprint === print && Object.hasOwn(remembered.tools, name),
  )
}

/** No findings at all. */
function isPlain({ server, tools }: ServerDecision): boolean {
  return [server, ...tools.values()].every(({ findings }) => findings.length === 0)
}

/** Computes `start` on demand, because it checks files. */
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

/** `offers`: quarantined prompts and resources with the reason. */
function toReview(
  { server: whole, tools, warnings }: ServerDecision,
  offers: ReadonlyMap<string, string> = new Map(),
): Review {
  const quarantined = new Map<string, string>()
  const findings: ReviewFinding[] = whole.findings.map((finding) => toFinding(finding))
  for (const [tool, decision] of tools) {
    if (!decision.allowed) quarantined.set(tool, decision.reason)
    for (const finding of decision.findings) findings.push(toFinding(finding, tool))
  }
  for (const [offer, reason] of offers) quarantined.set(offer, reason)
  return {
    quarantined,
    findings,
    warnings,
    ...dropUndefined({ server: whole.allowed ? undefined : whole.reason }),
  }
}

function toFinding({ rule, severity, where, why, excerpt, fix }: Finding, tool?: string): ReviewFinding {
  const place = where || 'the definition'
  return {
    ...dropUndefined({ tool }),
    severity,
    rule,
    where,
    fix,
    detail: `${rule} in ${place}: ${why}${excerpt === '""' ? '' : `: ${showTags(excerpt)}`}. ${fix}`,
  }
}
