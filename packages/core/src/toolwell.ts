/** The front door: settings are read once, then conversations are opened over one catalogue. */
import { defined } from './base/guards.js'
import { NATIVE_SEARCH, RESERVE_NAME } from './base/names.js'
import { assertFunction, assertKnownKeys } from './base/options.js'
import { type Catalogue, createCatalogue } from './catalogue/catalogue.js'
import { assertFloor, type Exposure, exposureOf } from './catalogue/exposure.js'
import type { Policy } from './catalogue/gate.js'
import { type Conversation, type ConversationShared, openConversation } from './conversation.js'
import { createTell } from './ledger/events.js'
import { memoryStore } from './ledger/stores/memory.js'
import { createRanking } from './search/ranking.js'
import { readSettings, type ToolwellOptions } from './settings.js'
import { createMemos } from './surface/context.js'
import { BRIDGE_NAME } from './surface/meta-tools.js'
import { learningFrom } from './usage/learning.js'
import { memoryUsage } from './usage/stores/memory.js'
import { createUsage, type UsageControl } from './usage/usage.js'

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
  /** What was learned from use: how much, and to forget it. Learns nothing where the option `usage` is false. */
  readonly usage: UsageControl
  /** Whether a tool is eager or deferred, and which rule decided. Undefined for an unknown name. */
  explain(name: string, agent?: string): Exposure | undefined
}

export function createToolwell(options: ToolwellOptions = {}): Toolwell {
  const tell = createTell(options.onEvent)
  const settings = readSettings(options, (prompt, error) =>
    tell({ kind: 'hook-failed', hook: `prompts.${prompt}`, detail: String(error), conversation: '' }),
  )
  const { store = memoryStore(), onEvent } = options
  const policies = [options.policy ?? []].flat()
  const catalogue = createCatalogue(
    options.tools ?? [],
    [settings.face.name, BRIDGE_NAME, RESERVE_NAME, NATIVE_SEARCH],
    onEvent && ((change) => tell({ kind: 'source-changed', ...change, conversation: '' })),
    options.wireName,
  )
  // The floor is checked here, so that a config that breaks it never gets as far as a conversation.
  for (const entry of catalogue.entries()) assertFloor(entry, settings.rules)
  const learning = options.usage === false ? undefined : (options.usage ?? {})
  const usage = createUsage({
    catalogue,
    store: learning?.store ?? memoryUsage(),
    shared: learning?.shared ?? false,
    report: (detail) => tell({ kind: 'usage-failed', detail, conversation: '' }),
  })
  const ranking = createRanking(catalogue, options.searcher)
  const shared: ConversationShared = {
    catalogue,
    settings,
    store,
    ...(learning ? learningFrom(usage, ranking) : { rank: ranking }),
    memo: createMemos(catalogue, settings),
    tell,
  }

  const { status, forget, export: exported, flush } = usage
  return {
    catalogue,
    usage: { status, forget, export: exported, flush },
    open: (given) => {
      assertKnownKeys(given, ['id', 'agent', 'principal', 'policy'], 'open')
      assertFunction('open.policy', given.policy)
      return openConversation(shared, {
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
      return exposureOf(resolution.entry, { ...settings, ...defined({ agent }) })
    },
  }
}
