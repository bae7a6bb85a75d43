/** Every option of `createToolwell`, and how options become settings: checked once, defaults filled in. */

import { isLegalWireName } from './base/names.js'
import {
  assertFunction,
  assertKnownKeys,
  assertMethods,
  assertNames,
  assertOneOf,
  invalid,
  kindOf,
} from './base/options.js'
import { bounded, estimate, type Tokenizer } from './base/tokens.js'
import { checkRules, type ExposureRule } from './catalogue/exposure.js'
import type { Policy } from './catalogue/gate.js'
import type { AutoPlan } from './costs/pricing.js'
import type { ToolwellEvent } from './ledger/event.js'
import type { LedgerStore } from './ledger/store.js'
import { LEAST_RESULT } from './result/limit.js'
import { memoryResults } from './result/memory.js'
import type { ResultStore } from './result/store.js'
import type { Searcher } from './search/searcher.js'
import { defaultCutOff } from './search/thresholds.js'
import type { AutoLoad, Settings } from './surface/context.js'
import { guardedPrompts } from './surface/guarded-prompts.js'
import { BRIDGE_NAME, type SearchFace, searchFaces } from './surface/meta-tools.js'
import { defaultPrompts, type Prompts } from './surface/prompts.js'
import { noTools } from './tool/foreign-form.js'
import type { DeliveryName } from './tool/reasons.js'
import type { Tool } from './tool/tool.js'
import type { WireTool } from './tool/wire-tool.js'
import type { UsageStore } from './usage/usage-store.js'

export interface ToolwellOptions {
  /** The host's own tools. When deferral is off, this very array is what is sent. */
  readonly tools?: readonly Tool[]
  /** `auto` (default): on when the deferred definitions cost at least `threshold` tokens. */
  readonly mode?: 'off' | 'auto' | 'on'
  /**
   * Which conversation `auto` plans for, by the wire's prices (docs/costs.md). `typical` (default): three searches in ten requests.
   * `frugal`: twelve searches in one turn, so that hardly any conversation costs more than with every tool sent.
   */
  readonly auto?: AutoPlan
  /** How loaded tools reach the model. `auto` (default) keeps the cached prefix: `native` where the wire has it, otherwise `bridge`. */
  readonly delivery?: DeliveryName | 'auto'
  /** Tokens of deferred definitions below which nothing is changed at all. Default: where deferral pays by the plan of `auto`, on this wire and for this prompt; 5,000 to 9,000 with a short one. */
  readonly threshold?: number
  /** Names that are always sent. */
  readonly eager?: readonly string[]
  /** Which tools are deferred; later rules win. `explain` says which one did. */
  readonly rules?: readonly ExposureRule[]
  /** May a tool be seen, loaded, called? Several are asked in order; one that denies is enough. */
  readonly policy?: Policy | readonly Policy[]
  /** At most so many loaded tools; the least recently used makes room. Default: no cap. */
  readonly maxLoaded?: number
  /** At most so many tokens of loaded definitions; the least recently used makes room. Default: no cap. */
  readonly maxLoadedTokens?: number
  /** What happens when the model calls a tool it has not loaded. Default `load-and-run`, after checking the arguments. */
  readonly hiddenCalls?: 'load-and-run' | 'hint' | 'refuse'
  /** Keyword hits that one search may load. Default 5. Exact names have no limit. */
  readonly loadLimit?: number
  /** From 0 to 1: hits below this relevance are no answer. Default 0.35. */
  readonly cutOff?: number
  /**
   * What a search loads of its answers: the first, if its definition has at most `first` tokens (default 2,500), then each next one
   * that still fits into `tokens` (default 1,000 natively and on append, 300 on the bridge). The rest is offered by signature.
   * `certain`: only what holds most of the words that were asked for. `all`: every answer.
   */
  readonly autoLoad?: AutoLoad
  /** A tool above so many tokens is loaded only by its exact name. Default 8,000. */
  readonly largeTool?: number
  /** Tokens of schemas in one search answer. Default 10,000. */
  readonly resultBudget?: number
  /** Tokens of the list of hidden tools. Default 1,500. */
  readonly cardBudget?: number
  /** Milliseconds that a search which finds nothing waits for sources that are still connecting. Default 2,000; 0: never. */
  readonly waitForSources?: number
  /**
   * `latched` (default): the list of hidden tools is as of the last latch, and what changes is told in the history.
   * `live`: it is written anew with every change, and the cache is lost each time.
   */
  readonly cards?: 'latched' | 'live'
  /** Where the list of hidden tools stands: in the loader's description (default), or in the prompt section. */
  readonly cardPlace?: 'loader' | 'section'
  /** Whether a search answer shows schemas that the next request declares anyway (`twice`). Default `once`. */
  readonly schemas?: 'once' | 'twice'
  /**
   * What your server charges, as shares of the plain input price, where that differs from the provider's list
   * (docs/costs.md): `{ read: 1, write: 1 }` for one that does not discount what it has cached.
   */
  readonly prices?: { readonly read?: number; readonly write?: number; readonly output?: number }
  /** `strong` words for models that ignore search. Default `plain`. */
  readonly affordance?: 'plain' | 'strong'
  /** The loader's name, input and rendering. Default `searchFaces.standard`. */
  readonly face?: SearchFace
  /** The name that a tool of a source is sent under, where it is legal and free. Default `source__name`. Must be deterministic. */
  readonly wireName?: (source: string, name: string) => string
  /** Replaces single sentences. */
  readonly prompts?: Partial<Prompts>
  /** Replaces the ranking. */
  readonly searcher?: Searcher
  /**
   * Learning from use: which tools answered which words, as hashes. Default: in memory, apart for each principal. `store`: where it
   * is kept (`fileUsage` of `@toolwell/core/usage`); `shared`: learned for one, learned for all. `false`: nothing is learned.
   */
  readonly usage?: UsageOptions | false
  readonly tokenizer?: Tokenizer
  /** Changes a definition for a wire. Used for the surface and for search answers alike. Must be deterministic. */
  readonly transformDefinition?: (
    tool: Tool,
    wire: string,
  ) => Partial<Pick<WireTool, 'description' | 'inputSchema'>>
  /**
   * Tokens of text in one result above which it is kept whole and only its head is sent, with a handle to read the rest.
   * Default 25,000; false: never. A number for all, or one for each source; a tool's own `maxResultTokens` decides first.
   */
  readonly maxResultTokens?: ResultLimit | { readonly default?: ResultLimit; readonly sources?: ResultLimits }
  /** Where such results are kept. Default: where the store keeps them (`jsonlStore`: beside its ledgers), otherwise in memory. */
  readonly results?: ResultStore
  /** Where ledgers live. Default: in memory. */
  readonly store?: LedgerStore & { readonly results?: ResultStore }
  /** Prints one line in words for every state change and notice: to standard error, or to a function of yours. */
  readonly debug?: boolean | ((line: string) => void)
  /** Sees every state change after it is stored, and every notice. */
  readonly onEvent?: (event: ToolwellEvent) => void
}

export type ResultLimit = number | false
type ResultLimits = Readonly<Record<string, ResultLimit>>

export interface UsageOptions {
  readonly store?: UsageStore
  readonly shared?: boolean
}

const KEYS = [
  'tools',
  'mode',
  'auto',
  'delivery',
  'threshold',
  'eager',
  'rules',
  'policy',
  'maxLoaded',
  'maxLoadedTokens',
  'hiddenCalls',
  'loadLimit',
  'cutOff',
  'autoLoad',
  'largeTool',
  'resultBudget',
  'cardBudget',
  'waitForSources',
  'cards',
  'cardPlace',
  'schemas',
  'prices',
  'affordance',
  'face',
  'wireName',
  'prompts',
  'searcher',
  'usage',
  'tokenizer',
  'transformDefinition',
  'maxResultTokens',
  'results',
  'store',
  'debug',
  'onEvent',
] as const satisfies readonly (keyof ToolwellOptions)[]

function readPrices(prices: NonNullable<ToolwellOptions['prices']>): Settings['prices'] {
  assertKnownKeys(prices, ['read', 'write', 'output'], 'prices')
  for (const [key, value] of Object.entries(prices))
    if (typeof value !== 'number' || !(value >= 0) || value > 100)
      throw invalid(`prices.${key}`, `prices.${key} must be a number from 0 to 100, not ${String(value)}.`)
  return prices
}

function readResultLimits(
  given: NonNullable<ToolwellOptions['maxResultTokens']>,
): ReadonlyMap<string, number> {
  const limits = typeof given === 'object' ? given : { default: given }
  assertKnownKeys(limits, ['default', 'sources'], 'maxResultTokens')
  const read = (path: string, limit: ResultLimit): number => {
    if (limit === false) return Number.POSITIVE_INFINITY
    if (typeof limit === 'number' && limit >= LEAST_RESULT) return limit
    throw invalid(
      path,
      `${path} must be false, or a number of at least ${LEAST_RESULT}, not ${String(limit)}.`,
    )
  }
  const sources = Object.entries(limits.sources ?? {})
  return new Map([
    ['', read('maxResultTokens', limits.default ?? 25_000)],
    ...sources.map(([source, limit]) => [source, read(`maxResultTokens.sources.${source}`, limit)] as const),
  ])
}

function checkUsage(usage: ToolwellOptions['usage']): void {
  if (usage === undefined || usage === false) return
  if (typeof usage !== 'object' || usage === null)
    throw invalid('usage', `usage must be { store, shared } or false, not ${String(usage)}.`)
  assertKnownKeys(usage, ['store', 'shared'], 'usage')
  assertMethods('usage.store', usage.store, ['read', 'append', 'forget'])
  if (!['boolean', 'undefined'].includes(typeof usage.shared))
    throw invalid('usage.shared', `usage.shared must be true or false, not ${kindOf(usage.shared)}.`)
}

const FIRST_ANSWER_TOKENS = 2500

function readAutoLoad(autoLoad: AutoLoad): Settings['autoLoad'] {
  if (autoLoad === 'certain' || autoLoad === 'all') return autoLoad
  if (typeof autoLoad !== 'object' || autoLoad === null)
    throw invalid(
      'autoLoad',
      `autoLoad must be { tokens, first }, "certain" or "all", not ${String(autoLoad)}.`,
    )
  assertKnownKeys(autoLoad, ['tokens', 'first'], 'autoLoad')
  for (const [key, value] of Object.entries(autoLoad))
    if (value !== undefined && (typeof value !== 'number' || !(value >= 0)))
      throw invalid(`autoLoad.${key}`, `autoLoad.${key} must be a number of tokens, not ${String(value)}.`)
  return { tokens: autoLoad.tokens, first: autoLoad.first ?? FIRST_ANSWER_TOKENS }
}

export function readSettings(
  options: ToolwellOptions,
  report: (prompt: string, error: unknown) => void,
): Settings {
  assertKnownKeys(options, KEYS, 'createToolwell')
  const oneOf = <T extends string>(key: keyof ToolwellOptions, value: T, known: readonly T[]): T => {
    assertOneOf(key, value, known)
    return value
  }
  const number = (
    key: keyof ToolwellOptions,
    value: number,
    least: number,
    most = Number.POSITIVE_INFINITY,
  ): number => {
    if (typeof value === 'number' && value >= least && value <= most) return value
    const range = most === Number.POSITIVE_INFINITY ? `at least ${least}` : `from ${least} to ${most}`
    throw invalid(key, `${key} must be a number ${range}, not ${String(value)}.`)
  }
  for (const cap of ['maxLoaded', 'maxLoadedTokens'] as const)
    if (options[cap] === 0)
      throw invalid(
        cap,
        `${cap} is 0, which would hide every deferred tool for good. Leave it out for no cap, or set mode: "off" to send everything.`,
      )
  for (const count of ['maxLoaded', 'loadLimit'] as const) {
    const value = options[count]
    const isEndless = count === 'loadLimit' && value === Number.POSITIVE_INFINITY
    if (value !== undefined && !isEndless && !Number.isInteger(value))
      throw invalid(count, `${count} must be a whole number of at least 1, not ${String(value)}.`)
  }
  const { rules = [], prompts = {}, eager = [], prices = {} } = options
  const face: SearchFace = options.face ?? searchFaces.standard
  checkRules(rules)
  assertNames('eager', eager)
  if (options.tools !== undefined && !Array.isArray(options.tools))
    throw invalid('tools', `tools must be a list of tools, not ${noTools(options.tools)}`)
  if (!isLegalWireName(face.name) || face.name === BRIDGE_NAME)
    throw invalid(
      'face',
      `face.name must be a letter or _, then up to 63 letters, digits, _ or -, and not ${BRIDGE_NAME}; it is ${JSON.stringify(face.name)}.`,
    )
  assertFunction('face.inputSchema', face.inputSchema, true)
  assertFunction('face.read', face.read, true)
  assertFunction('transformDefinition', options.transformDefinition)
  const { description, render, select } = face
  assertKnownKeys(face, ['name', 'inputSchema', 'description', 'read', 'render', 'limit', 'select'], 'face')
  for (const [key, value] of Object.entries({ description, render, select }))
    assertFunction(`face.${key}`, value)
  assertFunction('wireName', options.wireName)
  const { usual = 1, most = 1 } = face.limit ?? {}
  if (!(usual >= 1 && most >= usual))
    throw invalid('face.limit', 'face.limit needs numbers of at least 1: usual, and most, which is not less.')
  assertFunction('onEvent', options.onEvent)
  if (!['boolean', 'function', 'undefined'].includes(typeof options.debug))
    throw invalid('debug', `debug must be true, false or a function, not ${kindOf(options.debug)}.`)
  for (const policy of [options.policy ?? []].flat()) assertFunction('policy', policy, true)
  if (typeof options.store === 'string')
    throw invalid(
      'store',
      `store must be a store, not string: memoryStore() of @toolwell/core, or jsonlStore('./ledgers') of @toolwell/core/stores/jsonl.`,
    )
  assertMethods('store', options.store, ['read', 'append'])
  assertMethods('results', options.results, ['read', 'write'])
  assertMethods('store.results', options.store?.results, ['read', 'write'])
  assertMethods('searcher', options.searcher, ['update', 'rank'])
  assertMethods('tokenizer', options.tokenizer, ['count'])
  checkUsage(options.usage)
  assertKnownKeys(prompts, Object.keys(defaultPrompts), 'prompts')
  for (const [key, value] of Object.entries(prompts))
    if (key === 'dropReason')
      assertKnownKeys(value as object, Object.keys(defaultPrompts.dropReason), 'prompts.dropReason')
    else assertFunction(`prompts.${key}`, value, true)
  return {
    mode: oneOf('mode', options.mode ?? 'auto', ['off', 'auto', 'on']),
    auto: oneOf('auto', options.auto ?? 'typical', ['typical', 'frugal']),
    delivery: oneOf('delivery', options.delivery ?? 'auto', ['auto', 'eager', 'append', 'bridge', 'native']),
    // Null is what a config file says for "not given".
    threshold: options.threshold == null ? undefined : number('threshold', options.threshold, 0),
    maxLoaded: options.maxLoaded === undefined ? undefined : number('maxLoaded', options.maxLoaded, 1),
    maxLoadedTokens:
      options.maxLoadedTokens === undefined
        ? undefined
        : number('maxLoadedTokens', options.maxLoadedTokens, 1),
    hiddenCalls: oneOf('hiddenCalls', options.hiddenCalls ?? 'load-and-run', [
      'load-and-run',
      'hint',
      'refuse',
    ]),
    loadLimit: number('loadLimit', options.loadLimit ?? 5, 1),
    cutOff: number('cutOff', options.cutOff ?? defaultCutOff, 0, 1),
    autoLoad: readAutoLoad(options.autoLoad ?? {}),
    largeTool: number('largeTool', options.largeTool ?? 8000, 1),
    resultBudget: number('resultBudget', options.resultBudget ?? 10_000, 1),
    cardBudget: number('cardBudget', options.cardBudget ?? 1500, 0),
    waitForSources: number('waitForSources', options.waitForSources ?? 2000, 0, 600_000),
    cards: oneOf('cards', options.cards ?? 'latched', ['latched', 'live']),
    prices: readPrices(prices),
    cardPlace: oneOf('cardPlace', options.cardPlace ?? 'loader', ['loader', 'section']),
    schemas: oneOf('schemas', options.schemas ?? 'once', ['once', 'twice']),
    affordance: oneOf('affordance', options.affordance ?? 'plain', ['plain', 'strong']),
    resultLimits: readResultLimits(options.maxResultTokens ?? {}),
    results: options.results ?? options.store?.results ?? memoryResults(),
    eager,
    rules,
    face,
    prompts: guardedPrompts(prompts, report),
    tokenizer: bounded(options.tokenizer ?? estimate),
    transformDefinition: options.transformDefinition,
  }
}
