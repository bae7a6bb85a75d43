/** Who a conversation acts for, what it may use, and its contexts, one per wire: catalogue, gate, settings and memoised definitions. The fold never reads them. */

import { lazily } from '../base/async.js'
import { dropUndefined, type RecentObjects } from '../base/data.js'
import { ToolwellError } from '../base/errors.js'
import { shortHash } from '../base/hash.js'
import { assertFunction, assertKnownKeys, assertNames, assertOneOf } from '../base/options.js'
import type { CacheRule } from '../base/wires.js'
import { type Catalogue, type Entry, META } from '../catalogue/catalogue.js'
import { decideExposure, type Exposure, matchesGlob } from '../catalogue/exposure.js'
import { createGate, type Gate, type Policy } from '../catalogue/gate.js'
import { type Costs, createCosts, getCacheRule } from '../costs/costs.js'
import type { ToolwellEvent } from '../ledger/event.js'
import type { LedgerStore } from '../ledger/store.js'
import { type Fitted, fitDescription, fitWire, restoreKeys } from '../schema/dialect.js'
import type { ArgumentCheck } from '../schema/validation.js'
import type { Ranked, RankQuery } from '../search/searcher.js'
import type { Notice } from '../tool/notice.js'
import { findToolProblem, type Tool } from '../tool/tool.js'
import type { Pin, WireTool } from '../tool/wire-tool.js'
import type { Place } from './deliveries.js'
import type { Settings } from './settings.js'

export interface Context {
  readonly catalogue: Catalogue
  readonly gate: Gate
  readonly settings: Settings
  readonly wire: string
  readonly agent: string | undefined
  readonly principal: string
  /** True for a sub-agent, which has a loader only if something is deferred. */
  readonly child: boolean
  readonly notify: (notice: Notice) => void
  /**
   * Ranks with the host's searcher, or with the built-in one if that fails. Quarantined tools are ranked only on
   * request.
   */
  readonly rank: (query: RankQuery, withQuarantined?: boolean) => Promise<readonly Ranked[]>
  exposure(entry: Entry): Exposure
  /** The description as sent. Reads no schema unless the host transforms definitions. */
  describe(entry: Entry): string
  /** The definition as sent: transformed, and plain JSON, so that a stored copy has the same bytes. */
  definition(entry: Entry): WireTool
  /** Checks the arguments as the model sent them. */
  check(entry: Entry, input: unknown): Promise<ArgumentCheck>
  /** Describes the parts of the schema that cannot be used. */
  unusable(entry: Entry): string | undefined
  /** How the prompt cache changes prices on this wire. */
  readonly prices: CacheRule
  /** The arguments, with the tool's own property names. */
  restore(entry: Entry, input: Record<string, unknown>): Record<string, unknown>
  tokens(definition: WireTool): number
  /** Tokens of a tool's definition, counted once per tool. Most tools of a large catalogue are never sent. */
  cost(entry: Entry): number
  pin(entry: Entry, place: Place): Pin
  loadToken(entry: Entry): string
}

type ContextOptions = Pick<
  Context,
  'catalogue' | 'gate' | 'settings' | 'wire' | 'agent' | 'principal' | 'child' | 'notify' | 'rank'
> & {
  /** Names that are eager for this conversation, in addition to the settings. */
  readonly alsoEager: readonly string[]
  readonly everythingEager: boolean
  /** Shared by all conversations on one wire. */
  readonly memo: DefinitionMemo
}

/** Definitions computed from tools. The references are weak, because few of thousands are used. */
export interface DefinitionMemo {
  /** The tool after the host's hook and the wire's rules; it shares the tool's own schema. */
  readonly fitted: WeakMap<Entry, WeakRef<Fitted>>
  /** The same as independent plain JSON, for sending. */
  readonly definitions: WeakMap<Entry, WeakRef<WireTool>>
  readonly tokens: WeakMap<WireTool, number>
  readonly costs: Costs
}

/** One memo per wire, shared by all conversations. */
export function createMemos(catalogue: Catalogue, settings: Settings): (wire: string) => DefinitionMemo {
  const memos = new Map<string, DefinitionMemo>()
  return (wire) => {
    const known = memos.get(wire)
    if (known) return known
    const key = settings.transformDefinition ? undefined : `${wire} ${settings.tokenizer.name}`
    const made = {
      fitted: new WeakMap(),
      definitions: new WeakMap(),
      tokens: new WeakMap(),
      costs: createCosts(catalogue, key),
    }
    memos.set(wire, made)
    return made
  }
}

/** The optional fields of a tool that providers read. */
export function pickOptions({ strict, inputExamples, callers, eagerInputStreaming }: WireTool | Tool) {
  return dropUndefined({ strict, inputExamples, callers, eagerInputStreaming })
}

/** Whether only code that a provider runs may call the tool. */
export function isCodeOnly({ callers }: Pick<Tool, 'callers'>): boolean {
  return callers !== undefined && !callers.includes('direct')
}

/** Applies a change by `transformDefinition`. Throws if JSON cannot represent the definition. */
function applyTransform(
  entry: Entry,
  changed: Partial<Pick<WireTool, 'description' | 'inputSchema'>>,
): WireTool {
  const description = changed.description ?? entry.tool.description ?? ''
  const inputSchema = changed.inputSchema ?? entry.tool.inputSchema
  const problem = findToolProblem({ name: entry.wireName, description, inputSchema })
  if (problem) throw new Error(`the definition ${problem}`)
  return { name: entry.wireName, description, inputSchema, ...pickOptions(entry.tool) }
}

/** The validator is large and not needed before the first call. */
const importValidation = lazily(() => import('../schema/validation.js'))

export function createContext(given: ContextOptions): Context {
  const { settings, wire, notify, memo, alsoEager, everythingEager, agent, principal } = given
  const options = {
    eager: alsoEager.length > 0 ? [...settings.eager, ...alsoEager] : settings.eager,
    rules: settings.rules,
    defer: settings.defer,
    ...dropUndefined({ agent }),
  }

  const fit = (entry: Entry): Fitted => {
    const known = memo.fitted.get(entry)?.deref()
    if (known) return known
    let made: WireTool = {
      name: entry.wireName,
      description: entry.tool.description ?? '',
      inputSchema: entry.tool.inputSchema,
      ...pickOptions(entry.tool),
    }
    try {
      const changed = settings.transformDefinition?.(entry.tool, wire)
      if (changed) made = applyTransform(entry, changed)
    } catch (error) {
      notify({ kind: 'hook-failed', hook: 'transformDefinition', detail: `${entry.id}: ${String(error)}` })
    }
    const fit = fitWire(made, wire)
    memo.fitted.set(entry, new WeakRef(fit))
    return fit
  }
  const getSent = (entry: Entry): WireTool => fit(entry).tool

  const definition = (entry: Entry): WireTool => {
    const known = memo.definitions.get(entry)?.deref()
    if (known) return known
    const made: WireTool = JSON.parse(JSON.stringify(getSent(entry)))
    memo.definitions.set(entry, new WeakRef(made))
    return made
  }

  const cost = (entry: Entry): number =>
    memo.costs.count(entry, () => settings.tokenizer.count(JSON.stringify(getSent(entry))))

  const tokens = (wireTool: WireTool): number => {
    const known = memo.tokens.get(wireTool)
    if (known !== undefined) return known
    const made = settings.tokenizer.count(JSON.stringify(wireTool))
    memo.tokens.set(wireTool, made)
    return made
  }

  return {
    ...given,
    exposure: (entry) => {
      if (everythingEager)
        return { deferred: false, because: 'this conversation inherits every tool as eager' }
      return decideExposure(entry, options)
    },
    describe: (entry) => {
      // Without the hook, the schema need not be read.
      if (settings.transformDefinition) return getSent(entry).description
      return fitDescription(entry.tool.description ?? '', wire)
    },
    definition,
    prices: getCacheRule(wire, settings.prices),
    check: async (entry, input) => {
      const { checkArguments } = await importValidation()
      const { own, checked, keys } = fit(entry)
      // The model may know the tool's own property names from elsewhere; both are accepted.
      const verdict = checkArguments(own, restoreKeys(input, keys))
      if (verdict.kind !== 'invalid' || keys.size === 0) return verdict
      const sentVerdict = checkArguments(checked, input)
      return sentVerdict.kind === 'invalid' ? sentVerdict : verdict
    },
    unusable: (entry) => fit(entry).unusable,
    restore: (entry, input) => restoreKeys(input, fit(entry).keys) as Record<string, unknown>,
    tokens,
    cost,
    pin: (entry, place) => ({
      id: entry.id,
      wireName: entry.wireName,
      fingerprint: entry.fingerprint,
      ...(place === 'text' ? {} : { definition: definition(entry) }),
      ...(place === 'hidden' ? { declaredHidden: true } : {}),
    }),
    loadToken: (entry) => shortHash(`${entry.id}\n${entry.fingerprint}\n${principal}`, 10),
  }
}

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
