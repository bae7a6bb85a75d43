/** Creates a Toolwell: reads the options once, then opens conversations over one catalogue. */
import { formatReport, listUnusedLines } from './accounting/report.js'
import { lazily } from './base/async.js'
import { createRecentObjects, dropUndefined } from './base/data.js'
import { createWireName, NATIVE_SEARCH, RESERVE_NAME, toolId } from './base/names.js'
import { assertFunction, assertKnownKeys } from './base/options.js'
import { type Catalogue, createCatalogue, type Entry } from './catalogue/catalogue.js'
import { assertAlwaysLoaded, createNameCheck, decideExposure, type Exposure } from './catalogue/exposure.js'
import type { Policy } from './catalogue/gate.js'
import { type Conversation, type ConversationShared, openConversation } from './conversation.js'
import { type Direct, type DirectOptions, openDirect } from './direct.js'
import { createPublisher, type ToolwellEvent } from './ledger/event.js'
import { createMemos } from './surface/context.js'
import { BRIDGE_NAME } from './surface/meta-tools.js'
import { readSettings, type ToolwellOptions } from './surface/settings.js'
import { connectLearning, createLazyRanking, createLazyUsage } from './usage/learning.js'
import type { UsageControl } from './usage/usage.js'
import { memoryUsage } from './usage/usage-store.js'

export interface OpenOptions {
  /** The ledger's id. Opening a known id resumes that conversation. */
  readonly id: string
  readonly agent?: string
  /** The user the conversation acts for. Load tokens and policy requests contain it. */
  readonly principal?: string
  /** Asked in addition to the policies of `createToolwell`. */
  readonly policy?: Policy
}

export interface Explained extends Exposure {
  /** True if a source lists the tool, but it cannot be used. `because` has the reason. */
  readonly skipped?: true
  /** Ids of the tools, if the name is that of a group. Then `deferred` is true if all of them are deferred. */
  readonly group?: readonly string[]
  /** Ids of the tools, if several have this name. Then `deferred` is true if all of them are deferred. */
  readonly ambiguous?: readonly string[]
  /** Problems of the definition that do not stop it, such as an unknown field. */
  readonly findings?: readonly string[]
}

export interface Toolwell {
  readonly catalogue: Catalogue
  open(options: OpenOptions): Promise<Conversation>
  /** Search and calls without a conversation. Each call is judged separately, and nothing is kept. */
  direct(options?: DirectOptions): Direct
  /** Shows, exports and forgets what searches learned from use. Nothing is learned if `search.usage` is false. */
  readonly usage: UsageControl
  /** Describes the costs of the last hundred conversations that are still in use. */
  report(): string
  /** Says if a tool is eager or deferred, and which rule decided. Undefined for an unknown name. */
  explain(name: string, agent?: string): Explained | undefined
}

export function createToolwell(options: ToolwellOptions = {}): Toolwell {
  const settings = readSettings(options, (prompt, error) =>
    publish({ kind: 'hook-failed', hook: `prompts.${prompt}`, detail: String(error), conversation: '' }),
  )
  const { tools, policy: policies, wireName, usage: learning } = settings
  const listeners = [...createPrinters(settings.debug), ...(settings.onEvent ? [settings.onEvent] : [])]
  const publish = createPublisher(listeners)
  const reserved = new Set([settings.searchTool.name, BRIDGE_NAME, RESERVE_NAME, NATIVE_SEARCH])
  const catalogue = createCatalogue(
    tools,
    reserved,
    listeners.length > 0
      ? (change) => publish({ kind: 'source-changed', ...change, conversation: '' })
      : undefined,
    wireName,
  )
  for (const tool of tools) {
    const { name, source = '', canonicalName = name } = tool
    if (canonicalName === name)
      assertAlwaysLoaded(tool, settings.rules, () => [
        toolId(source, name),
        createWireName(source, name, reserved, wireName),
      ])
  }
  const opened = createRecentObjects<Conversation>()
  const usage = createLazyUsage({
    catalogue,
    store: learning?.store ?? memoryUsage(),
    shared: learning?.shared ?? false,
    report: (detail) => publish({ kind: 'usage-failed', detail, conversation: '' }),
  })
  const names = createNameCheck(catalogue, settings, (found) =>
    publish({ kind: 'option-unmatched', ...found, conversation: '' }),
  )
  const { rank, observe } = connectLearning(usage, createLazyRanking(catalogue, settings.searcher))
  const shared: ConversationShared = {
    catalogue,
    settings,
    store: settings.store,
    // Examples that the owners of tools wrote count even if nothing is learned.
    rank,
    ...(learning ? { observe } : {}),
    checkNames: names.check,
    memo: createMemos(catalogue, settings),
    publish,
    opened,
  }

  const { status, forget, export: exported, flush } = usage
  return {
    catalogue,
    usage: { status, forget, export: exported, flush },
    open: (given) => {
      assertKnownKeys(given, ['id', 'agent', 'principal', 'policy'], 'open')
      assertFunction('open.policy', given.policy)
      const scope = {
        id: given.id,
        agent: given.agent,
        principal: given.principal ?? '',
        policies: given.policy ? [...policies, given.policy] : policies,
        alsoEager: [],
        everythingEager: false,
        child: false,
      }
      return catalogue.ready().then(() => openConversation(shared, scope))
    },
    direct: (given = {}) => openDirect(shared, given, policies),
    report: () => {
      const conversations = opened.all().map(({ id, inspect }) => {
        const made = inspect()
        const deferred = made.deferredNames.length + made.loadedLazyTools.length
        return formatReport(id, made, { deferred, isEmpty: made.visibleNames.length === 0 })
      })
      return [...conversations, ...listUnusedLines(catalogue.findings, names.unmatched)].join('\n')
    },
    explain: (name, agent) => {
      const resolution = catalogue.resolve(name, () => true)
      const skipped = resolution.kind === 'none' ? catalogue.skipped(name) : undefined
      if (skipped) return { deferred: false, because: `skipped: ${skipped.finding.detail}`, skipped: true }
      if (resolution.kind === 'none') return undefined
      const decide = (entry: Entry) => decideExposure(entry, { ...settings, ...dropUndefined({ agent }) })
      if (resolution.kind !== 'found') {
        const { kind, entries } = resolution
        const ids = entries.map(({ id }) => id)
        const what = kind === 'group' ? 'it is a group of tools' : 'several tools have this name'
        const deferred = entries.every((entry) => decide(entry).deferred)
        return { deferred, because: `${what}: ${ids.join(', ')}. Ask for one of these.`, [kind]: ids }
      }
      const { entry } = resolution
      const findings = catalogue.findings
        .filter(({ source, tool }) => source === entry.source && tool === entry.tool.name)
        .map(({ detail }) => detail)
      const exposure = decide(entry)
      return findings.length === 0 ? exposure : { ...exposure, findings }
    },
  }
}

const importWords = lazily(() => import('./accounting/describe-event.js'))

function createPrinters(debug: ToolwellOptions['debug']): ((event: ToolwellEvent) => unknown)[] {
  if (!debug) return []
  const print = debug === true ? (line: string) => console.error(`toolwell: ${line}`) : debug
  // The first lines wait for the import. The order of events is kept.
  return [async (event) => print((await importWords()).describeEvent(event))]
}
