/** Every option of `createToolwell`: its description, default and check. Options are read once, into settings. */

import { dropUndefined } from '../base/data.js'
import { ToolwellError } from '../base/errors.js'
import { isLegalWireName } from '../base/names.js'
import { nearest } from '../base/nearest.js'
import {
  assertFunction,
  assertKnownKeys,
  assertMethods,
  assertNames,
  assertOneOf,
  describeKind,
  invalid,
} from '../base/options.js'
import type { Telemetry } from '../base/telemetry.js'
import { estimate, limitTokenizer, type Tokenizer } from '../base/tokens.js'
import { checkRules, type ExposureRule } from '../catalogue/exposure.js'
import type { Policy } from '../catalogue/gate.js'
import type { AutoPlan } from '../costs/costs.js'
import type { ToolwellEvent } from '../ledger/event.js'
import type { LedgerStore } from '../ledger/store.js'
import { memoryStore } from '../ledger/stores/memory.js'
import type { ResultStore } from '../result/store.js'
import { LEAST_RESULT, memoryResults } from '../result/store.js'
import type { Searcher } from '../search/searcher.js'
import { defaultCutOff } from '../search/tuning.js'
import { describeNotTools } from '../tool/define-tool.js'
import type { DeliveryName } from '../tool/notice.js'
import type { Tool } from '../tool/tool.js'
import type { WireTool } from '../tool/wire-tool.js'
import type { UsageStore } from '../usage/usage-store.js'
import { guardPrompts } from './guard-prompts.js'
import { BRIDGE_NAME, type SearchTool, searchTools } from './meta-tools.js'
import { defaultPrompts, type Prompts } from './prompts.js'

export interface ToolwellOptions {
  /** The host's own tools. If deferral is off, requests send this very array. */
  readonly tools?: readonly Tool[]
  /** `auto` (default): on if the deferred definitions cost at least `costs.threshold` tokens. */
  readonly mode?: 'off' | 'auto' | 'on'
  /** How loaded tools reach the model. `auto` (default) keeps the cached prefix: `native` if the wire supports it, otherwise `bridge`. */
  readonly delivery?: DeliveryName | 'auto'
  /** Tools that are deferred by default: those of sources (default), or your own tools as well. Always-loaded roles stay eager. */
  readonly defer?: 'sources' | 'all'
  /** Names of tools that every request sends. */
  readonly eager?: readonly string[]
  /** Rules that decide which tools are deferred. Later rules win; `explain` names the rule that decided. */
  readonly rules?: readonly ExposureRule[]
  /** Decides if a tool may be seen, loaded or called. Several policies are asked in order; one denial is enough. */
  readonly policy?: Policy | readonly Policy[]
  /** Keeps the ledgers. Default: in memory. */
  readonly store?: LedgerStore & { readonly results?: ResultStore }
  /** Keeps results above `limits.maxResultTokens`. Default: `store.results` if the store has it, otherwise in memory. */
  readonly results?: ResultStore
  /** Replaces the ranking. */
  readonly searcher?: Searcher
  /** Receives every state change after it is stored, and every notice. */
  readonly onEvent?: (event: ToolwellEvent) => void
  /** Records a span for each call of a tool: `openTelemetry(tracer)` of `@toolwell/core/telemetry`. */
  readonly telemetry?: Telemetry
  /** Prints one line for every state change and notice, to standard error or to your function. */
  readonly debug?: boolean | ((line: string) => void)
  /** The search tool, and what a search finds and loads. */
  readonly search?: SearchOptions
  /** Prompts, names and the list of hidden tools, and the answer to calls of hidden tools. */
  readonly surface?: SurfaceOptions
  /** Counts and token budgets. */
  readonly limits?: LimitOptions
  /** Prices and token counts that `mode: 'auto'` decides by. */
  readonly costs?: CostOptions
}

export interface SearchOptions {
  /** The search tool's name, input and rendering. Default `searchTools.standard`. */
  readonly tool?: SearchTool
  /** From 0 to 1: hits below this relevance are dropped. Default 0.35. */
  readonly cutOff?: number
  /** Keyword hits that one search may load. Default 5. Exact names have no limit. */
  readonly loadLimit?: number
  /** How many hits a search loads. Default `{}`. */
  readonly autoLoad?: AutoLoad
  /** `twice`: a search answer also shows schemas that the next request declares anyway. Default `once`. */
  readonly schemas?: 'once' | 'twice'
  /** Milliseconds that a search without hits waits for sources that are still connecting. Default 2,000; 0: never. */
  readonly waitForSources?: number
  /** Learning from use: which tools answered which words, as hashes. Default: in memory, separate for each principal. `false`: off. */
  readonly usage?: UsageOptions | false
}

/**
 * The first hit is loaded if its definition has at most `first` tokens (default 2,500), then each next hit that still fits into
 * `tokens` (default 1,000; 300 on the bridge). The answer shows the signatures of the others.
 * `certain`: only hits that contain most of the query's words. `all`: every hit.
 */
export type AutoLoad = { readonly tokens?: number; readonly first?: number } | 'certain' | 'all'

export interface UsageOptions {
  /** Keeps what is learned; `fileUsage` of `@toolwell/core/usage` keeps it in a file. */
  readonly store?: UsageStore
  /** All principals share what is learned. */
  readonly shared?: boolean
}

export interface SurfaceOptions {
  /** The answer if the model calls a tool that is not loaded. Default `load-and-run`, after the arguments are checked. */
  readonly hiddenCalls?: 'load-and-run' | 'hint' | 'refuse'
  /**
   * `frozen` (default): the list of hidden tools belongs to the frozen prefix, and changes are announced in the history.
   * `live`: every change rewrites the list, which loses the prompt cache.
   */
  readonly cards?: 'frozen' | 'live'
  /** The place of the list of hidden tools: the search tool's description (default) or the prompt section. */
  readonly cardPlace?: 'loader' | 'section'
  /** `strong` words for models that ignore search. Default `plain`. */
  readonly affordance?: 'plain' | 'strong'
  /** Replaces single sentences. */
  readonly prompts?: Partial<Prompts>
  /** The wire name of a source's tool, used if it is legal and free. Default `source__name`. Must be deterministic. */
  readonly wireName?: (source: string, name: string) => string
  /** Changes a definition for a wire, in requests and in search answers. Must be deterministic. */
  readonly transformDefinition?: (
    tool: Tool,
    wire: string,
  ) => Partial<Pick<WireTool, 'description' | 'inputSchema'>>
}

export interface LimitOptions {
  /** Loaded tools at one time; the least recently used is unloaded first. Default: no cap. */
  readonly maxLoaded?: number
  /** Tokens of loaded definitions at one time; the least recently used is unloaded first. Default: no cap. */
  readonly maxLoadedTokens?: number
  /** A tool above this number of tokens is loaded only by its exact name. Default 8,000. */
  readonly largeTool?: number
  /** Tokens of schemas in one search answer. Default 10,000. */
  readonly resultBudget?: number
  /** Tokens of the list of hidden tools. Default 1,500. */
  readonly cardBudget?: number
  /**
   * Tokens of text in one tool result. A longer result is kept whole; the model gets its head and a handle to read the rest.
   * Default 25,000; `false`: no limit. One number for all, or one for each source. A tool's own `maxResultTokens` comes first.
   */
  readonly maxResultTokens?:
    | ResultLimit
    | { readonly default?: ResultLimit; readonly sources?: Readonly<Record<string, ResultLimit>> }
}

export type ResultLimit = number | false

export interface CostOptions {
  /**
   * The conversation that `mode: 'auto'` plans for, by the wire's prices (docs/concepts/deliveries-and-cache.md). `typical` (default): three searches in
   * ten requests. `frugal`: twelve searches in one turn, so that hardly any conversation costs more than with every tool sent.
   */
  readonly plan?: AutoPlan
  /** Tokens of deferred definitions below which `mode: 'auto'` stays off. Default: the break-even point of `plan` on this wire, 5,000 to 9,000 with a short prompt. */
  readonly threshold?: number
  /**
   * Your server's prices as shares of the plain input price, if they differ from the provider's list (docs/concepts/deliveries-and-cache.md):
   * `{ read: 1, write: 1 }` for a server that does not discount cached input.
   */
  readonly prices?: { readonly read?: number; readonly write?: number; readonly output?: number }
  /** Counts tokens. Default `estimate`. */
  readonly tokenizer?: Tokenizer
}

type Group = 'search' | 'surface' | 'limits' | 'costs'

/** Checks a value and returns it, or the default. */
type Reader<Value> = (path: string, value: Value | undefined) => unknown
type Readers<Options> = { readonly [Key in keyof Options]-?: Reader<Options[Key]> }
type Values<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends (...given: never[]) => infer Value ? Value : never
}

function oneOf<const Value extends string>(known: readonly Value[], standard: Value) {
  return (path: string, value: Value = standard): Value => {
    assertOneOf(path, value, known)
    return value
  }
}

interface Range {
  readonly least: number
  readonly most?: number
  /** No fractions. Infinity counts as whole. */
  readonly whole?: boolean
  /** Why 0 is refused. */
  readonly zero?: string
}

function number<Standard extends number | undefined>(standard: Standard, range: Range) {
  const { least, most = Number.POSITIVE_INFINITY, whole = false, zero } = range
  const bounds = most === Number.POSITIVE_INFINITY ? `of at least ${least}` : `from ${least} to ${most}`
  const fits = (value: unknown) =>
    typeof value === 'number' && value >= least && value <= most && !(whole && value % 1 > 0)
  return (path: string, value?: number): number | Standard => {
    if (value === undefined) return standard
    if (value === 0 && zero !== undefined) throw invalid(path, `${path} is 0, ${zero}`)
    if (fits(value)) return value
    throw invalid(path, `${path} must be a ${whole ? 'whole ' : ''}number ${bounds}, not ${String(value)}.`)
  }
}

function optionalFunction<Value>() {
  return (path: string, value?: Value): Value | undefined => {
    assertFunction(path, value)
    return value
  }
}

function withMethods<Value>(...methods: readonly string[]) {
  return (path: string, value?: Value): Value | undefined => {
    assertMethods(path, value, methods)
    return value
  }
}

const NO_ZERO_CAP =
  'which would hide every deferred tool permanently. Omit it for no cap, or set mode: "off" to send everything.'

const TOP = {
  tools: (path, tools = []) => {
    if (Array.isArray(tools)) return tools as readonly Tool[]
    throw invalid(path, `${path} must be a list of tools, not ${describeNotTools(tools)}`)
  },
  mode: oneOf(['off', 'auto', 'on'], 'auto'),
  delivery: oneOf(['auto', 'eager', 'append', 'bridge', 'native'], 'auto'),
  defer: oneOf(['sources', 'all'], 'sources'),
  eager: (path, names = []) => {
    assertNames(path, names)
    return names
  },
  rules: (_, rules = []) => {
    checkRules(rules)
    return rules
  },
  policy: (path, given = []) => {
    const policies: readonly Policy[] = [given].flat()
    for (const policy of policies) assertFunction(path, policy, true)
    return policies
  },
  store: (path, store = memoryStore()) => {
    if (typeof store === 'string')
      throw invalid(
        path,
        `store must be a store, not string: memoryStore() of @toolwell/core, or jsonlStore('./ledgers') of @toolwell/core/stores/jsonl.`,
      )
    assertMethods(path, store, ['read', 'append'])
    assertMethods(`${path}.results`, store.results, ['read', 'write'])
    return store
  },
  results: withMethods<ResultStore>('read', 'write'),
  searcher: withMethods<Searcher>('update', 'rank'),
  onEvent: optionalFunction<NonNullable<ToolwellOptions['onEvent']>>(),
  telemetry: withMethods<Telemetry>('start'),
  debug: (path, debug = false) => {
    if (typeof debug === 'boolean' || typeof debug === 'function') return debug
    throw invalid(path, `${path} must be true, false or a function, not ${describeKind(debug)}.`)
  },
} satisfies Readers<Omit<ToolwellOptions, Group>>

const GROUPS = {
  search: {
    tool: readSearchTool,
    cutOff: number(defaultCutOff, { least: 0, most: 1 }),
    loadLimit: number(5, { least: 1, whole: true }),
    autoLoad: readAutoLoad,
    schemas: oneOf(['once', 'twice'], 'once'),
    waitForSources: number(2000, { least: 0, most: 600_000 }),
    usage: readUsage,
  },
  surface: {
    hiddenCalls: oneOf(['load-and-run', 'hint', 'refuse'], 'load-and-run'),
    cards: oneOf(['frozen', 'live'], 'frozen'),
    cardPlace: oneOf(['loader', 'section'], 'loader'),
    affordance: oneOf(['plain', 'strong'], 'plain'),
    prompts: readPrompts,
    wireName: optionalFunction<NonNullable<SurfaceOptions['wireName']>>(),
    transformDefinition: optionalFunction<NonNullable<SurfaceOptions['transformDefinition']>>(),
  },
  limits: {
    maxLoaded: number(undefined, { least: 1, whole: true, zero: NO_ZERO_CAP }),
    maxLoadedTokens: number(undefined, { least: 1, zero: NO_ZERO_CAP }),
    largeTool: number(8000, { least: 1 }),
    resultBudget: number(10_000, { least: 1 }),
    cardBudget: number(1500, { least: 0 }),
    maxResultTokens: readResultLimits,
  },
  costs: {
    plan: oneOf(['typical', 'frugal'], 'typical'),
    threshold: number(undefined, { least: 0 }),
    prices: (path, prices = {}) => {
      const share = number(undefined, { least: 0, most: 100 })
      return dropUndefined(readTable({ read: share, write: share, output: share }, prices, path))
    },
    tokenizer: (path, tokenizer = estimate) => {
      assertMethods(path, tokenizer, ['count'])
      return limitTokenizer(tokenizer)
    },
  },
} satisfies { readonly [Name in Group]: Readers<Required<ToolwellOptions>[Name]> }

type Groups = typeof GROUPS
type Flat = Values<typeof TOP> &
  Values<Groups['search']> &
  Values<Groups['surface']> &
  Values<Groups['limits']> &
  Values<Groups['costs']>

/** Options, checked and with their defaults, in one flat object. */
export interface Settings extends Omit<Flat, 'tool' | 'prompts' | 'results'> {
  readonly searchTool: SearchTool
  readonly prompts: Prompts
  readonly results: ResultStore
}

/** Checks the options and fills in defaults. `report` receives the failures of prompts that the host wrote. */
export function readSettings(
  options: ToolwellOptions,
  report: (prompt: string, error: unknown) => void,
): Settings {
  const names = Object.keys(GROUPS) as readonly Group[]
  assertPlaces(options, [...Object.keys(TOP), ...names], '')
  const groups = names.map((name) => {
    const given = options[name] ?? {}
    assertPlaces(given, Object.keys(GROUPS[name]), name)
    return readValues(GROUPS[name], given, name)
  })
  const flat: Flat = Object.assign(readValues(TOP, options, ''), ...groups)
  const { tool, prompts, results, ...settings } = flat
  return {
    ...settings,
    searchTool: tool,
    prompts: guardPrompts(prompts, report),
    results: results ?? settings.store.results ?? memoryResults(),
  }
}

/** Reads an option that is an object with known keys. */
function readTable<Table extends object>(table: Table, given: unknown, path: string): Values<Table> {
  assertKnownKeys(given, Object.keys(table), path)
  return readValues(table, given as object, path)
}

function readValues<Table extends object>(table: Table, given: object, path: string): Values<Table> {
  const values = Object.entries(table).map(([key, read]: [string, Reader<unknown>]) => {
    // Config files write null for "not given".
    const value = (given as Readonly<Record<string, unknown>>)[key] ?? undefined
    return [key, read(path === '' ? key : `${path}.${key}`, value)]
  })
  return Object.fromEntries(values)
}

/** Throws `invalid-option` for an unknown key. If the key or a similar one has its place elsewhere, the message says where. */
function assertPlaces(given: unknown, known: readonly string[], group: Group | ''): void {
  const path = group === '' ? 'createToolwell' : group
  const unknown = Array.isArray(given) ? [] : Object.keys(Object(given)).filter((key) => !known.includes(key))
  for (const key of unknown) {
    const places = listPlaces()
    const [near = ''] = places.has(key) ? [key] : nearest(key, [...known, ...places.keys()], 1)
    const place = known.includes(near) ? undefined : places.get(near)
    if (place === undefined) continue
    const exact = group === '' ? `${key} is now ${place}.` : `${group}.${key} does not exist: it is ${place}.`
    const similar = `Unknown option ${JSON.stringify(key)} in ${path}. Did you mean ${JSON.stringify(place)}?`
    const fix = place.includes('.')
      ? place.replace('.', ': { ').concat(': … }')
      : `${place}: … at the top level`
    const message = `${near === key ? exact : similar} Write ${fix}.`
    throw new ToolwellError('invalid-option', message, { path, key, nearest: place })
  }
  assertKnownKeys(given, known, path)
}

/** The place of each option by its name, former names included: `maxLoaded` is `limits.maxLoaded`. */
function listPlaces(): Map<string, string> {
  const places = new Map([
    ...Object.keys(TOP).map((key) => [key, key] as const),
    ...Object.entries(GROUPS).flatMap(([group, table]) =>
      Object.keys(table).map((key) => [key, `${group}.${key}`] as const),
    ),
    ['face', 'search.tool'],
    ['auto', 'costs.plan'],
  ])
  // At the top level, `tool` is a misspelt `tools`.
  places.delete('tool')
  return places
}

function readSearchTool(path: string, tool: SearchTool = searchTools.standard): SearchTool {
  assertKnownKeys(tool, ['name', 'inputSchema', 'description', 'read', 'render', 'limit', 'select'], path)
  const { name, inputSchema, read, description, render, select, limit } = tool
  if (!isLegalWireName(name) || name === BRIDGE_NAME)
    throw invalid(
      path,
      `${path}.name must be a letter or _, then up to 63 letters, digits, _ or -, and not ${BRIDGE_NAME}; it is ${JSON.stringify(name)}.`,
    )
  for (const [key, value] of Object.entries({ inputSchema, read }))
    assertFunction(`${path}.${key}`, value, true)
  for (const [key, value] of Object.entries({ description, render, select }))
    assertFunction(`${path}.${key}`, value)
  const { usual = 1, most = 1 } = limit ?? {}
  if (usual >= 1 && most >= usual) return tool
  throw invalid(
    `${path}.limit`,
    `${path}.limit needs two numbers of at least 1: usual, and most, which must not be less than usual.`,
  )
}

function readAutoLoad(path: string, autoLoad: AutoLoad = {}) {
  if (autoLoad === 'certain' || autoLoad === 'all') return autoLoad
  if (typeof autoLoad !== 'object')
    throw invalid(path, `${path} must be { tokens, first }, "certain" or "all", not ${String(autoLoad)}.`)
  // Without `tokens`, the delivery decides.
  const table = { tokens: number(undefined, { least: 0 }), first: number(2500, { least: 0 }) }
  return readTable(table, autoLoad, path)
}

/** Returns undefined if nothing is learned. */
function readUsage(path: string, usage: UsageOptions | false = {}): UsageOptions | undefined {
  if (usage === false) return undefined
  if (typeof usage !== 'object')
    throw invalid(path, `${path} must be { store, shared } or false, not ${String(usage)}.`)
  assertKnownKeys(usage, ['store', 'shared'], path)
  assertMethods(`${path}.store`, usage.store, ['read', 'append', 'forget'])
  if (['boolean', 'undefined'].includes(typeof usage.shared)) return usage
  throw invalid(`${path}.shared`, `${path}.shared must be true or false, not ${describeKind(usage.shared)}.`)
}

function readPrompts(path: string, prompts: Partial<Prompts> = {}): Partial<Prompts> {
  assertKnownKeys(prompts, Object.keys(defaultPrompts), path)
  const { dropReason = {}, ...sentences } = prompts
  assertKnownKeys(dropReason, Object.keys(defaultPrompts.dropReason), `${path}.dropReason`)
  for (const [key, value] of Object.entries(sentences)) assertFunction(`${path}.${key}`, value, true)
  return prompts
}

/** Reads the token limits by source. The key `''` is for all other sources. */
function readResultLimits(
  path: string,
  given: LimitOptions['maxResultTokens'] = {},
): ReadonlyMap<string, number> {
  const limits = typeof given === 'object' ? given : { default: given }
  assertKnownKeys(limits, ['default', 'sources'], path)
  const read = (at: string, limit: ResultLimit): number => {
    if (limit === false) return Number.POSITIVE_INFINITY
    if (typeof limit === 'number' && limit >= LEAST_RESULT) return limit
    throw invalid(at, `${at} must be false, or a number of at least ${LEAST_RESULT}, not ${String(limit)}.`)
  }
  const sources = Object.entries(limits.sources ?? {})
  return new Map([
    ['', read(path, limits.default ?? 25_000)],
    ...sources.map(([source, limit]) => [source, read(`${path}.sources.${source}`, limit)] as const),
  ])
}
