/** The front door: settings are read once, then conversations are opened over one catalogue. */
import { type Catalogue, createCatalogue, META } from './catalogue.js'
import { type Context, createContext, type DefinitionMemo } from './context.js'
import {
  type ChildOptions,
  type Conversation,
  type ConversationHost,
  createConversation,
} from './conversation.js'
import { createCosts } from './costs.js'
import { ToolwellError } from './errors.js'
import type { Notice, ToolwellEvent } from './events.js'
import type { LedgerEvent } from './ledger-event.js'
import { BRIDGE_NAME } from './meta-tools.js'
import { NATIVE_SEARCH, RESERVE_NAME } from './names.js'
import { assertFunction, assertKnownKeys, assertNames, assertOneOf } from './options.js'
import { createGate, type Policy } from './policy.js'
import { assertFloor, type Exposure, exposureOf, matchesGlob } from './rules.js'
import { createRanking } from './search/ranking.js'
import { readSettings, type ToolwellOptions } from './settings.js'
import { memoryStore } from './stores/memory.js'

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

export function createToolwell(options: ToolwellOptions = {}): Toolwell {
  const settings = readSettings(options, (prompt, error) =>
    tell({ kind: 'hook-failed', hook: `prompts.${prompt}`, detail: String(error), conversation: '' }),
  )
  const { store = memoryStore(), onEvent } = options
  const policies = [options.policy ?? []].flat()
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
    onEvent && ((change) => tell({ kind: 'source-changed', ...change, conversation: '' })),
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
      costs: createCosts(
        catalogue,
        settings.transformDefinition ? undefined : `${wire} ${settings.tokenizer.name}`,
      ),
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
