/** Who a conversation acts for and what it may use, and the contexts it decides with, one per wire. */

import type { RecentObjects } from '../base/data.js'
import { dropUndefined } from '../base/data.js'
import { ToolwellError } from '../base/errors.js'
import { assertFunction, assertKnownKeys, assertNames, assertOneOf } from '../base/options.js'
import { type Catalogue, META } from '../catalogue/catalogue.js'
import { matchesGlob } from '../catalogue/exposure.js'
import { createGate, type Policy } from '../catalogue/gate.js'
import type { ToolwellEvent } from '../ledger/event.js'
import type { LedgerStore } from '../ledger/store.js'
import type { Ranked, RankQuery } from '../search/searcher.js'
import type { Notice } from '../tool/notice.js'
import { type Context, createContext, type DefinitionMemo } from './context.js'
import type { Settings } from './settings.js'

/** State shared by all conversations of one Toolwell. */
export interface Shared {
  readonly catalogue: Catalogue
  readonly settings: Settings
  readonly store: LedgerStore
  rank(query: RankQuery, notify: (notice: Notice) => void, principal: string): Promise<readonly Ranked[]>
  memo(wire: string): DefinitionMemo
  publish(event: ToolwellEvent): void
  /** Opened conversations, for the report. */
  readonly opened: RecentObjects<object>
}

export interface Scope {
  readonly id: string
  readonly agent: string | undefined
  readonly principal: string
  readonly policies: readonly Policy[]
  readonly alsoEager: readonly string[]
  readonly everythingEager: boolean
  readonly child: boolean
}

export interface ChildOptions {
  readonly id: string
  /** What the child starts with: the parent's loaded tools (default), nothing, or everything eager. */
  readonly inherit?: 'snapshot' | 'none' | 'all'
  /** The only tools the child may use. Exact names are eager; patterns with `*` follow the rules. */
  readonly allow?: readonly string[]
  /** Asked in addition to the parent's policy. */
  readonly policy?: Policy
  readonly agent?: string
}

/** Creates the contexts of one conversation: each on the first use of its wire. */
export function createContexts(
  shared: Shared,
  scope: Scope,
  notify: (notice: Notice) => void,
  lacks: (id: string) => boolean,
): (wire: string) => Context {
  const { catalogue, settings } = shared
  const { agent, principal, policies, alsoEager, everythingEager, child } = scope
  const gate = createGate({ catalogue, policies, notify, principal, lacks, ...dropUndefined({ agent }) })
  const contexts = new Map<string, Context>()
  return (wire) => {
    const known = contexts.get(wire)
    if (known) return known
    const made = createContext({
      catalogue,
      gate,
      settings,
      wire,
      agent,
      principal,
      notify,
      rank: (query, withQuarantined) => {
        const hides = gate.createHiddenFilter(withQuarantined)
        const hidden =
          hides && ((id: string) => hides(catalogue.get(id) ?? catalogue.skippedTools.get(id)?.entry))
        return shared.rank({ ...query, ...dropUndefined({ hidden }) }, notify, principal)
      },
      alsoEager,
      everythingEager,
      child,
      memo: shared.memo(wire),
    })
    contexts.set(wire, made)
    return made
  }
}

/** A child has its own ledger and never has more rights than its parent. */
export function childScope(parent: Scope, child: ChildOptions, catalogue: Catalogue): Scope {
  assertKnownKeys(child, ['id', 'inherit', 'allow', 'policy', 'agent'], 'child')
  const { allow, policy } = child
  if (child.id === parent.id)
    throw new ToolwellError(
      'invalid-ledger-id',
      'A child needs a ledger of its own: give it another id than its parent.',
      { ledger: child.id },
    )
  assertOneOf('child.inherit', child.inherit ?? 'snapshot', ['snapshot', 'none', 'all'])
  if (allow !== undefined) assertNames('child.allow', allow)
  assertFunction('child.policy', policy)
  return {
    id: child.id,
    agent: child.agent ?? parent.agent,
    principal: parent.principal,
    policies: [
      ...parent.policies,
      ...(allow ? [allowOnly(allow, catalogue)] : []),
      ...(policy ? [policy] : []),
    ],
    alsoEager: allow?.filter((name) => !name.includes('*')) ?? [],
    everythingEager: child.inherit === 'all',
    child: true,
  }
}

/**
 * Allows the tools on the list and the meta-tools; omitting the loader does not remove it. A name means one tool: if
 * two tools answer to it, neither is allowed. A pattern means all tools it matches.
 */
function allowOnly(allow: readonly string[], catalogue: Catalogue): Policy {
  const patterns = allow.filter((name) => name.includes('*'))
  const names = allow.filter((name) => !name.includes('*'))
  return ({ id, name, source }) => {
    if (source === META) return true
    const known = [id, name, catalogue.get(id)?.wireName ?? id]
    if (patterns.some((pattern) => known.some((each) => matchesGlob(pattern, each)))) return true
    return names.some((each) => {
      const resolution = catalogue.resolve(each, () => true)
      if (resolution.kind === 'group') return resolution.entries.some((entry) => entry.id === id)
      return resolution.kind === 'found' && resolution.entry.id === id
    })
  }
}
