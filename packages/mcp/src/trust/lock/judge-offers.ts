/**
 * Decides which prompts, resources and templates may be used: by the lock if there is one, otherwise by first use, and by the scan.
 * Resources are data of the user, whose names change: without a lock they are only scanned.
 */
import type { ServerConfig } from '../../config/server-config.js'
import { fingerprint } from '../../definition/fingerprint.js'
import type { ServerDefinition, ServerOffers } from '../../definition/server-definition.js'
import type { Finding } from '../scan/rules.js'
import { quarantine, showTool, visibleName } from './compare-first-use.js'
import { MOST_REMEMBERED, type QuarantineReason } from './create-review.js'
import { createRecord, type FirstUse, ownTool, type SeenTool, seenTool } from './first-use.js'
import type { LockState } from './lock-file.js'
import { type LockableOffer, lockablePrompt, lockableResource, lockableTemplate } from './offers.js'

/** `hidden`: URIs and URI templates that the server lists, and that may not be used. */
export interface ReviewedOffers extends ServerOffers {
  readonly hidden: ReadonlySet<string>
}

export interface OffersSubject {
  readonly server: ServerConfig
  readonly definition: ServerDefinition
  readonly lock: LockState | undefined
  /** The first-use record. Not read if there is a lock. */
  readonly remembered: FirstUse | undefined
  readonly findingsOf: (server: string, offer: object, print: string) => readonly Finding[]
}

export interface JudgedOffers {
  readonly offers: ReviewedOffers
  /** With the reason. */
  readonly quarantined: ReadonlyMap<string, string>
  /** Prompts and templates to remember on first use. */
  readonly fresh: readonly LockableOffer[]
}

/** Longest name of a prompt. Clients show it, and send it back. */
const LONGEST_NAME = 1000

export function judgeOffers(subject: OffersSubject): JudgedOffers {
  const { prompts = [], resources = [], templates = [] } = subject.definition
  const quarantined = new Map<string, string>()
  const fresh: LockableOffer[] = []
  const isFull = Object.keys(subject.remembered?.tools ?? {}).length >= MOST_REMEMBERED
  const select = <T extends object>(
    offers: readonly T[],
    lockable: (offer: T) => LockableOffer,
    isRemembered: boolean,
  ): T[] =>
    offers.filter((offer) => {
      const locked = lockable(offer)
      const isNew = isRemembered && !ownTool(subject.remembered?.tools, locked.name)
      const reason = findReason(subject, offer, locked, isNew && isFull)
      if (reason !== undefined) quarantined.set(locked.name, reason)
      else if (isNew) fresh.push(locked)
      return reason === undefined
    })
  const shown = {
    prompts: select(
      prompts.filter(({ name }) => name.length <= LONGEST_NAME),
      lockablePrompt,
      true,
    ),
    resources: select(resources, lockableResource, false),
    templates: select(templates, lockableTemplate, true),
  }
  const hidden = new Set([
    ...resources.filter((each) => !shown.resources.includes(each)).map(({ uri }) => uri),
    ...templates.filter((each) => !shown.templates.includes(each)).map(({ uriTemplate }) => uriTemplate),
  ])
  return { offers: { ...shown, hidden }, quarantined, fresh }
}

/** Returns why it is quarantined. */
function findReason(
  { server, lock, remembered, findingsOf }: OffersSubject,
  offer: object,
  locked: LockableOffer,
  isTooMany: boolean,
): string | undefined {
  const print = fingerprint(locked)
  const pinned = lock && ownTool(ownTool(lock.lock?.servers, server.name)?.tools, locked.name)
  const seen = lock ? undefined : ownTool(remembered?.tools, locked.name)
  if ((pinned ?? (seen?.isApproved ? seen : undefined))?.fingerprint === print) return undefined
  const findings = findingsOf(server.name, offer, fingerprint(offer))
  const hold = (kind: QuarantineReason, why: string): string | undefined => {
    const decision = quarantine(
      kind,
      server.name,
      locked.name,
      `${showTool(server.name, locked.name)} ${why}`,
      findings,
    )
    return decision.allowed ? undefined : decision.reason
  }
  if (lock)
    return pinned ? hold('changed', 'differs from toolwell.lock') : hold('new', 'is not in toolwell.lock')
  const isCautious = server.trust === 'first-use' || server.trust === 'none'
  if (seen && seen.fingerprint !== print && isCautious)
    return hold('changed', 'has changed since it was first seen')
  if (server.trust === 'none') return hold('untrusted', 'has not been approved')
  if (isTooMany && isCautious)
    return hold(
      'new',
      `is new, and ${visibleName(server.name)} has listed more than ${MOST_REMEMBERED} definitions`,
    )
  return findings.some(({ severity }) => severity === 'hard') ? hold('findings', 'looks poisoned') : undefined
}

/** Adds prompts and templates to a first-use record. */
export function rememberOffers(seen: FirstUse, fresh: readonly LockableOffer[]): FirstUse {
  const added = fresh.map((each): [string, SeenTool] => [each.name, seenTool(each)])
  return { ...seen, tools: createRecord([...Object.entries(seen.tools), ...added]) }
}
