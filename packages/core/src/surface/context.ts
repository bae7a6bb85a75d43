/** What one conversation decides with: catalogue, gate, settings, and memoised definitions. The fold never sees it. */

import { lazily } from '../base/async.js'
import { dropUndefined } from '../base/data.js'
import { shortHash } from '../base/hash.js'
import type { Tokenizer } from '../base/tokens.js'
import type { Catalogue, Entry } from '../catalogue/catalogue.js'
import { decideExposure, type Exposure, type ExposureRule } from '../catalogue/exposure.js'
import type { Gate } from '../catalogue/gate.js'
import { type AutoPlan, type CacheRule, type Costs, createCosts, getCacheRule } from '../costs/costs.js'
import type { ResultStore } from '../result/store.js'
import { type Fitted, fitDescription, fitWire } from '../schema/dialect.js'
import { originalKeys } from '../schema/property-keys.js'
import type { ArgumentCheck } from '../schema/validation.js'
import type { Ranked, RankQuery } from '../search/searcher.js'
import type { DeliveryName, Notice } from '../tool/notice.js'
import { findToolProblem, type Tool } from '../tool/tool.js'
import type { Pin, WireTool } from '../tool/wire-tool.js'
import type { Place } from './deliveries.js'
import type { SearchFace } from './meta-tools.js'
import type { Prompts } from './prompts.js'

/** What a search loads of its answers: as much as fits, only what is surely meant, or everything. */
export type AutoLoad = { readonly tokens?: number; readonly first?: number } | 'certain' | 'all'

/** Options with their defaults filled in. */
export interface Settings {
  readonly mode: 'off' | 'auto' | 'on'
  readonly auto: AutoPlan
  readonly delivery: DeliveryName | 'auto'
  /** Undefined: where deferral breaks even. */
  readonly threshold: number | undefined
  readonly maxLoaded: number | undefined
  readonly maxLoadedTokens: number | undefined
  readonly hiddenCalls: 'load-and-run' | 'hint' | 'refuse'
  readonly loadLimit: number
  readonly cutOff: number
  /** `tokens` left out: as the delivery has it. */
  readonly autoLoad: { readonly tokens: number | undefined; readonly first: number } | 'certain' | 'all'
  readonly largeTool: number
  readonly resultBudget: number
  readonly cardBudget: number
  readonly waitForSources: number
  readonly cards: 'frozen' | 'live'
  readonly cardPlace: 'loader' | 'section'
  readonly schemas: 'once' | 'twice'
  readonly prices: Partial<CacheRule>
  readonly affordance: 'plain' | 'strong'
  /** Tokens of a result above which it is kept and not sent, by source; `''` for all others. */
  readonly resultLimits: ReadonlyMap<string, number>
  readonly results: ResultStore
  readonly eager: readonly string[]
  readonly rules: readonly ExposureRule[]
  readonly face: SearchFace
  readonly prompts: Prompts
  readonly tokenizer: Tokenizer
  readonly transformDefinition:
    | ((tool: Tool, wire: string) => Partial<Pick<WireTool, 'description' | 'inputSchema'>>)
    | undefined
}

export interface Context {
  readonly catalogue: Catalogue
  readonly gate: Gate
  readonly settings: Settings
  readonly wire: string
  readonly agent: string | undefined
  readonly principal: string
  /** A sub-agent's conversation: it has a loader only if something is hidden. */
  readonly child: boolean
  readonly notify: (notice: Notice) => void
  /** Ranks with the host's searcher, or with the built-in one where that fails. Tools in quarantine are ranked only where they are asked for. */
  readonly rank: (query: RankQuery, withQuarantined?: boolean) => Promise<readonly Ranked[]>
  exposure(entry: Entry): Exposure
  /** The description as it is sent. Reads no schema, as long as the host changes no definitions. */
  describe(entry: Entry): string
  /** The definition as it is sent: transformed, and plain JSON, so that a stored copy has the same bytes. */
  definition(entry: Entry): WireTool
  /** Checks arguments as the model sent them. */
  check(entry: Entry, input: unknown): Promise<ArgumentCheck>
  /** What of its schema cannot be used, in words. */
  unusable(entry: Entry): string | undefined
  /** What the prompt cache does to prices here. */
  readonly prices: CacheRule
  /** The arguments under the tool's own names. */
  restore(entry: Entry, input: Record<string, unknown>): Record<string, unknown>
  tokens(definition: WireTool): number
  /** Tokens of a tool's definition, counted once per tool: most of a large catalogue is never sent. */
  cost(entry: Entry): number
  pin(entry: Entry, place: Place): Pin
  loadToken(entry: Entry): string
}

type Given = Omit<
  Context,
  | 'exposure'
  | 'describe'
  | 'definition'
  | 'prices'
  | 'check'
  | 'unusable'
  | 'restore'
  | 'tokens'
  | 'cost'
  | 'pin'
  | 'loadToken'
> & {
  /** Names that are eager for this conversation besides those of the settings. */
  readonly alsoEager: readonly string[]
  readonly everythingEager: boolean
  /** Shared by all conversations of one wire. */
  readonly memo: DefinitionMemo
}

/** What was made of tools. Definitions are kept while somebody holds them or nobody wants the memory: of thousands, few are used. */
export interface DefinitionMemo {
  /** What the hook and the wire made of a tool; it shares the tool's own schema. */
  readonly fitted: WeakMap<Entry, WeakRef<Fitted>>
  /** The same as plain JSON of its own, for what is sent. */
  readonly definitions: WeakMap<Entry, WeakRef<WireTool>>
  readonly tokens: WeakMap<WireTool, number>
  readonly costs: Costs
}

/** One memo for each wire, shared by all conversations. */
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

/** Throws where a changed definition is none: no object, or one that JSON cannot hold. */
function changedBy(entry: Entry, changed: Partial<Pick<WireTool, 'description' | 'inputSchema'>>): WireTool {
  const description = changed.description ?? entry.tool.description ?? ''
  const inputSchema = changed.inputSchema ?? entry.tool.inputSchema
  const problem = findToolProblem({ name: entry.wireName, description, inputSchema })
  if (problem) throw new Error(`the definition ${problem}`)
  const { strict, inputExamples } = entry.tool
  return { name: entry.wireName, description, inputSchema, ...dropUndefined({ strict, inputExamples }) }
}

/** The validator is large, and nobody needs it before the first call. */
const validating = lazily(() => import('../schema/validation.js'))

export function createContext(given: Given): Context {
  const { settings, wire, notify, memo, alsoEager, everythingEager, agent, principal } = given
  const options = {
    eager: alsoEager.length > 0 ? [...settings.eager, ...alsoEager] : settings.eager,
    rules: settings.rules,
    ...dropUndefined({ agent }),
  }

  const fitted = (entry: Entry): Fitted => {
    const known = memo.fitted.get(entry)?.deref()
    if (known) return known
    let made: WireTool = {
      name: entry.wireName,
      description: entry.tool.description ?? '',
      inputSchema: entry.tool.inputSchema,
      ...dropUndefined({ strict: entry.tool.strict, inputExamples: entry.tool.inputExamples }),
    }
    try {
      const changed = settings.transformDefinition?.(entry.tool, wire)
      if (changed) made = changedBy(entry, changed)
    } catch (error) {
      notify({ kind: 'hook-failed', hook: 'transformDefinition', detail: `${entry.id}: ${String(error)}` })
    }
    const fit = fitWire(made, wire)
    memo.fitted.set(entry, new WeakRef(fit))
    return fit
  }
  const sent = (entry: Entry): WireTool => fitted(entry).tool

  const definition = (entry: Entry): WireTool => {
    const known = memo.definitions.get(entry)?.deref()
    if (known) return known
    const made: WireTool = JSON.parse(JSON.stringify(sent(entry)))
    memo.definitions.set(entry, new WeakRef(made))
    return made
  }

  const cost = (entry: Entry): number =>
    memo.costs.count(entry, () => settings.tokenizer.count(JSON.stringify(sent(entry))))

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
      // Without the hook, a card needs no schema.
      if (settings.transformDefinition) return sent(entry).description
      return fitDescription(entry.tool.description ?? '', wire)
    },
    definition,
    prices: getCacheRule(wire, settings.prices),
    check: async (entry, input) => {
      const { checkArguments } = await validating()
      const { own, checked, keys } = fitted(entry)
      // A model may have the tool's own names from elsewhere: they are as good.
      const verdict = checkArguments(own, originalKeys(input, keys))
      if (verdict.kind !== 'invalid' || keys.size === 0) return verdict
      const told = checkArguments(checked, input)
      return told.kind === 'invalid' ? told : verdict
    },
    unusable: (entry) => fitted(entry).unusable,
    restore: (entry, input) => originalKeys(input, fitted(entry).keys) as Record<string, unknown>,
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
