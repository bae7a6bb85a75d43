/** The front door: options are checked once, then conversations are opened over one catalogue. */
import { type Catalogue, createCatalogue, META } from './catalogue.js'
import { type Context, createContext, type DefinitionMemo, type Settings } from './context.js'
import {
  type ChildOptions,
  type Conversation,
  type ConversationHost,
  createConversation,
} from './conversation.js'
import { ToolwellError } from './errors.js'
import type { Notice, ToolwellEvent } from './events.js'
import type { DeliveryName, LedgerEvent } from './ledger-event.js'
import { BRIDGE_NAME, type SearchFace, searchFaces } from './meta-tools.js'
import { isLegalWireName, NATIVE_SEARCH, RESERVE_NAME } from './names.js'
import { assertKnownKeys, assertNames } from './options.js'
import { createGate, type Policy } from './policy.js'
import { defaultPrompts, guardedPrompts, type Prompts } from './prompts.js'
import {
  assertFloor,
  checkRules,
  type Exposure,
  type ExposureRule,
  exposureOf,
  matchesGlob,
} from './rules.js'
import { createRanking } from './search/ranking.js'
import type { Searcher } from './search/searcher.js'
import { memoryStore } from './stores/memory.js'
import type { LedgerStore } from './stores/store.js'
import { estimate, type Tokenizer } from './tokens.js'
import type { Tool } from './tool.js'

export interface ToolwellOptions {
  /** The host's own tools. When deferral is off, this very array is what is sent. */
  readonly tools?: readonly Tool[]
  /** `auto` (default): on when the deferred definitions cost at least `threshold` tokens. */
  readonly mode?: 'off' | 'auto' | 'on'
  /** How raised tools reach the model. `auto` (default) keeps the cached prefix: `native` where the wire has it, otherwise `bridge`. */
  readonly delivery?: DeliveryName | 'auto'
  /** Tokens of deferred definitions below which nothing is changed at all. Default: where deferral stops being dearer than sending all, on this wire and for this prompt; some 20,000. */
  readonly threshold?: number
  /** Names that are always sent. */
  readonly eager?: readonly string[]
  /** Which tools are deferred; later rules win. `explain` says which one did. */
  readonly rules?: readonly ExposureRule[]
  /** May a tool be seen, activated, called? Several are asked in order; one that denies is enough. */
  readonly policy?: Policy | readonly Policy[]
  /** At most so many raised tools; the least recently used makes room. Default: no cap. */
  readonly maxActive?: number
  /** At most so many tokens of raised definitions; the least recently used makes room. Default: no cap. */
  readonly maxActiveTokens?: number
  /** What happens when the model calls a tool it has not loaded. Default `activate-and-run`, after checking the arguments. */
  readonly hiddenCalls?: 'activate-and-run' | 'hint' | 'refuse'
  /** Keyword hits that one search may raise. Default 5. Exact names have no limit. */
  readonly activationLimit?: number
  /** From 0 to 1: hits below this relevance are not loaded. Default 0.35. */
  readonly cutOff?: number
  /** A tool above so many tokens is raised only by its exact name. Default 8,000. */
  readonly largeTool?: number
  /** Tokens of schemas in one search answer. Default 10,000. */
  readonly resultBudget?: number
  /** Tokens of the list of hidden tools. Default 1,500. */
  readonly cardBudget?: number
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
  readonly tokenizer?: Tokenizer
  /** Changes a definition for a wire. Used for the surface and for search answers alike. Must be deterministic. */
  readonly transformDefinition?: Settings['transformDefinition'] & {}
  /** Where ledgers live. Default: in memory. */
  readonly store?: LedgerStore
  /** Sees every state change after it is stored, and every notice. */
  readonly onEvent?: (event: ToolwellEvent) => void
}

export interface OpenOptions {
  /** The ledger's id. Opening a known id resumes that conversation. */
  readonly id: string
  readonly agent?: string
  /** Who the conversation acts for; part of load tokens and given to the policy. */
  readonly principal?: string
  /** Asked besides the policy of the options. */
  readonly policy?: Policy
}

export interface Toolwell {
  readonly catalogue: Catalogue
  open(options: OpenOptions): Promise<Conversation>
  /** Whether a tool is eager or deferred, and which rule decided. Undefined for an unknown name. */
  explain(name: string, agent?: string): Exposure | undefined
}

const KEYS = [
  'tools',
  'mode',
  'delivery',
  'threshold',
  'eager',
  'rules',
  'policy',
  'maxActive',
  'maxActiveTokens',
  'hiddenCalls',
  'activationLimit',
  'cutOff',
  'largeTool',
  'resultBudget',
  'cardBudget',
  'cards',
  'cardPlace',
  'schemas',
  'prices',
  'affordance',
  'face',
  'wireName',
  'prompts',
  'searcher',
  'tokenizer',
  'transformDefinition',
  'store',
  'onEvent',
] as const satisfies readonly (keyof ToolwellOptions)[]

export function createToolwell(options: ToolwellOptions = {}): Toolwell {
  if (typeof options !== 'object' || options === null)
    throw invalid('createToolwell', 'createToolwell takes an object of options, or nothing.')
  assertKnownKeys(options, KEYS, 'createToolwell')
  const { store = memoryStore(), onEvent } = options
  const settings = readSettings(options, (prompt, error) =>
    tell({ kind: 'hook-failed', hook: `prompts.${prompt}`, detail: String(error), conversation: '' }),
  )
  const policies = [options.policy ?? []].flat()
  for (const policy of policies) assertFunction('policy', policy)
  function tell(event: ToolwellEvent) {
    try {
      const result: unknown = onEvent?.(event)
      if (result instanceof Promise) result.catch(() => undefined)
    } catch {
      // A listener that throws must not undo what was stored; it has no channel but itself to be told by.
    }
  }
  const catalogue = createCatalogue(
    options.tools ?? [],
    [settings.face.name, BRIDGE_NAME, RESERVE_NAME, NATIVE_SEARCH],
    (change) => tell({ kind: 'source-changed', ...change, conversation: '' }),
    options.wireName,
  )
  // The floor is checked here, so that a config that breaks it never gets as far as a conversation.
  for (const entry of catalogue.entries()) assertFloor(entry, settings.rules)
  const ranking = createRanking(catalogue, options.searcher)
  const memos = new Map<string, DefinitionMemo>()
  const memo = (wire: string): DefinitionMemo => {
    const known = memos.get(wire) ?? {
      fitted: new WeakMap(),
      definitions: new WeakMap(),
      tokens: new WeakMap(),
      costs: new WeakMap(),
    }
    memos.set(wire, known)
    return known
  }

  interface Scope {
    readonly id: string
    readonly agent: string | undefined
    readonly principal: string
    readonly policies: readonly Policy[]
    readonly alsoEager: readonly string[]
    readonly everythingEager: boolean
    readonly child: boolean
  }

  const open = async (
    scope: Scope,
    seed?: (context: Context) => readonly LedgerEvent[],
    parent?: string,
  ): Promise<Conversation> => {
    const notify = (notice: Notice) => tell({ ...notice, conversation: scope.id })
    const { agent, principal } = scope
    const gate = createGate({
      catalogue,
      policies: scope.policies,
      notify,
      principal,
      ...(agent === undefined ? {} : { agent }),
    })
    const contexts = new Map<string, Context>()
    const context = (wire: string): Context => {
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
        rank: (query) => ranking(query, notify),
        alsoEager: scope.alsoEager,
        everythingEager: scope.everythingEager,
        child: scope.child,
        memo: memo(wire),
      })
      contexts.set(wire, made)
      return made
    }
    const stored = await store.read(scope.id)
    // A child that is known already goes on where it was. Nothing else may write over another ledger.
    const [first] = stored
    const resumed = parent !== undefined && first?.kind === 'inherited' && first.parent === parent
    const seeded = resumed ? undefined : seed?.(context('none'))
    if (seeded && stored.length > 0)
      throw new ToolwellError(
        'invalid-ledger-id',
        `A ledger named ${JSON.stringify(scope.id)} exists already. Choose another id for the fork or child.`,
        { ledger: scope.id },
      )
    if (seeded && seeded.length > 0) await store.append(scope.id, 0, seeded)

    const host: ConversationHost = {
      store,
      context,
      notify,
      emit: (event) => tell({ ...event, conversation: scope.id }),
      open: async (id, events) => {
        if (id === scope.id)
          throw new ToolwellError(
            'invalid-ledger-id',
            'A fork needs a ledger of its own: give it another id.',
            { ledger: id },
          )
        return open({ ...scope, id }, events === undefined ? undefined : () => events)
      },
      openChild: async (id, child, events) => open(childScope(scope, child), events, id),
    }
    // A fork repeats what its origin has told already; what a child inherits is new.
    if (parent !== undefined) seeded?.forEach(host.emit)
    return createConversation(scope.id, seeded ?? stored, host)
  }

  const childScope = (parent: Scope, child: ChildOptions): Scope => {
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

  return {
    catalogue,
    open: (given) => {
      assertKnownKeys(given, ['id', 'agent', 'principal', 'policy'], 'open')
      assertFunction('open.policy', given.policy)
      return open({
        id: given.id,
        agent: given.agent,
        principal: given.principal ?? '',
        policies: given.policy ? [...policies, given.policy] : policies,
        alsoEager: [],
        everythingEager: false,
        child: false,
      })
    },
    explain: (name, agent) => {
      const resolution = catalogue.resolve(name, () => true)
      if (resolution.kind !== 'found') return undefined
      return exposureOf(resolution.entry, { ...settings, ...(agent === undefined ? {} : { agent }) })
    },
  }
}

/**
 * Lets through what the list names, and the meta-tools: leaving the loader out of an allowlist does not take it away.
 * A name means one tool, as everywhere: where two answer to it, neither is meant. A pattern means all it fits.
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

function invalid(path: string, message: string): ToolwellError {
  return new ToolwellError('invalid-option', message, { path })
}

function assertOneOf<T extends string>(path: string, value: T, known: readonly T[]): void {
  if (known.includes(value)) return
  throw invalid(path, `${path} must be one of ${known.join(', ')}, not ${JSON.stringify(value)}.`)
}

function assertFunction(path: string, value: unknown, required = false): void {
  if (typeof value === 'function' || (value === undefined && !required)) return
  throw invalid(path, `${path} must be a function, not ${value === null ? 'null' : typeof value}.`)
}

function assertMethods(path: string, value: unknown, methods: readonly string[]): void {
  if (value === undefined) return
  for (const method of methods) {
    const found =
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[method] : undefined
    if (typeof found !== 'function') throw invalid(path, `${path} needs a function ${method}().`)
  }
}

function readPrices(prices: NonNullable<ToolwellOptions['prices']>): Settings['prices'] {
  assertKnownKeys(prices, ['read', 'write', 'output'], 'prices')
  for (const [key, value] of Object.entries(prices))
    if (typeof value !== 'number' || !(value >= 0) || value > 100)
      throw invalid(`prices.${key}`, `prices.${key} must be a number from 0 to 100, not ${String(value)}.`)
  return prices
}

function readSettings(options: ToolwellOptions, report: (prompt: string, error: unknown) => void): Settings {
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
  for (const cap of ['maxActive', 'maxActiveTokens'] as const)
    if (options[cap] === 0)
      throw invalid(
        cap,
        `${cap} is 0, which would hide every deferred tool for good. Leave it out for no cap, or set mode: "off" to send everything.`,
      )
  if (options.maxActive !== undefined && !Number.isInteger(options.maxActive))
    throw invalid(
      'maxActive',
      `maxActive must be a whole number of at least 1, not ${String(options.maxActive)}.`,
    )
  const { rules = [], prompts = {}, eager = [] } = options
  const face: SearchFace = options.face ?? searchFaces.standard
  checkRules(rules)
  assertNames('eager', eager)
  if (options.tools !== undefined && !Array.isArray(options.tools))
    throw invalid('tools', 'tools must be a list of tools.')
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
  assertMethods('store', options.store, ['read', 'append'])
  assertMethods('searcher', options.searcher, ['update', 'rank'])
  assertMethods('tokenizer', options.tokenizer, ['count'])
  assertKnownKeys(prompts, Object.keys(defaultPrompts), 'prompts')
  for (const [key, value] of Object.entries(prompts))
    if (key !== 'dropReason') assertFunction(`prompts.${key}`, value, true)
  return {
    mode: oneOf('mode', options.mode ?? 'auto', ['off', 'auto', 'on']),
    delivery: oneOf('delivery', options.delivery ?? 'auto', [
      'auto',
      'eager',
      'append',
      'bridge',
      'native',
      'stub',
    ]),
    // Null is what a config file says for "not given".
    threshold: options.threshold == null ? undefined : number('threshold', options.threshold, 0),
    maxActive: options.maxActive === undefined ? undefined : number('maxActive', options.maxActive, 1),
    maxActiveTokens:
      options.maxActiveTokens === undefined
        ? undefined
        : number('maxActiveTokens', options.maxActiveTokens, 1),
    hiddenCalls: oneOf('hiddenCalls', options.hiddenCalls ?? 'activate-and-run', [
      'activate-and-run',
      'hint',
      'refuse',
    ]),
    activationLimit: number('activationLimit', options.activationLimit ?? 5, 1),
    cutOff: number('cutOff', options.cutOff ?? 0.35, 0, 1),
    largeTool: number('largeTool', options.largeTool ?? 8000, 1),
    resultBudget: number('resultBudget', options.resultBudget ?? 10_000, 1),
    cardBudget: number('cardBudget', options.cardBudget ?? 1500, 0),
    cards: oneOf('cards', options.cards ?? 'latched', ['latched', 'live']),
    prices: readPrices(options.prices ?? {}),
    cardPlace: oneOf('cardPlace', options.cardPlace ?? 'loader', ['loader', 'section']),
    schemas: oneOf('schemas', options.schemas ?? 'once', ['once', 'twice']),
    affordance: oneOf('affordance', options.affordance ?? 'plain', ['plain', 'strong']),
    eager,
    rules,
    face,
    prompts: guardedPrompts(prompts, report),
    tokenizer: options.tokenizer ?? estimate,
    transformDefinition: options.transformDefinition,
  }
}
