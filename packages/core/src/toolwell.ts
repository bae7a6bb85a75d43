/** The front door: settings are read once, then conversations are opened over one catalogue. */
import { formatReport, listUnusedLines } from './accounting/report.js'
import { lazily } from './base/async.js'
import { dropUndefined } from './base/data.js'
import { createWireName, NATIVE_SEARCH, RESERVE_NAME, toolId } from './base/names.js'
import { assertFunction, assertKnownKeys } from './base/options.js'
import { createRecent } from './base/recent.js'
import { type Catalogue, createCatalogue, type Entry } from './catalogue/catalogue.js'
import { assertAlwaysLoaded, decideExposure, type Exposure } from './catalogue/exposure.js'
import type { Policy } from './catalogue/gate.js'
import { createNameCheck } from './catalogue/unmatched-names.js'
import { type Conversation, type ConversationShared, openConversation } from './conversation.js'
import { type Face, type FaceOptions, openFace } from './face.js'
import { createPublisher, type ToolwellEvent } from './ledger/events.js'
import { memoryStore } from './ledger/stores/memory.js'
import { readSettings, type ToolwellOptions } from './settings.js'
import { createMemos } from './surface/context.js'
import { BRIDGE_NAME } from './surface/meta-tools.js'
import { connectLearning, createLazyRanking, createLazyUsage } from './usage/learning.js'
import type { UsageControl } from './usage/usage.js'
import { memoryUsage } from './usage/usage-store.js'

export interface OpenOptions {
  /** The ledger's id. Opening a known id resumes that conversation. */
  readonly id: string
  readonly agent?: string
  /** Who the conversation acts for; part of load tokens and given to the policy. */
  readonly principal?: string
  /** Asked besides the policy of the options. */
  readonly policy?: Policy
}

export interface Explained extends Exposure {
  readonly skipped?: true
  /** The name is that of a group, or of several tools: their ids. `deferred` where all of them are. */
  readonly group?: readonly string[]
  readonly ambiguous?: readonly string[]
  readonly findings?: readonly string[]
}

export interface Toolwell {
  readonly catalogue: Catalogue
  open(options: OpenOptions): Promise<Conversation>
  /** Search and calls for callers that have no conversation: each is judged on its own, and nothing is kept. */
  face(options?: FaceOptions): Face
  /** What was learned from use: how much, and to forget it. Learns nothing where the option `usage` is false. */
  readonly usage: UsageControl
  /** What the conversations opened here cost, in words: the last hundred of those that are still in use. */
  report(): string
  /**
   * Whether a tool is eager or deferred, and which rule decided; `leftOut` where a source lists it and it cannot be used, with
   * the reason; `findings`: what is odd about it, a field that nobody reads, say; `group` or `ambiguous` where it is no name of
   * one tool. Undefined for an unknown name.
   */
  explain(name: string, agent?: string): Explained | undefined
}

export function createToolwell(options: ToolwellOptions = {}): Toolwell {
  const listeners = [...printer(options.debug), ...(options.onEvent ? [options.onEvent] : [])]
  const tell = createPublisher(listeners)
  const settings = readSettings(options, (prompt, error) =>
    tell({ kind: 'hook-failed', hook: `prompts.${prompt}`, detail: String(error), conversation: '' }),
  )
  const { store = memoryStore() } = options
  const policies = [options.policy ?? []].flat()
  const reserved = new Set([settings.face.name, BRIDGE_NAME, RESERVE_NAME, NATIVE_SEARCH])
  const catalogue = createCatalogue(
    options.tools ?? [],
    reserved,
    listeners.length > 0
      ? (change) => tell({ kind: 'source-changed', ...change, conversation: '' })
      : undefined,
    options.wireName,
  )
  // The floor is checked here, so that a config that breaks it never gets as far as a conversation.
  for (const tool of options.tools ?? []) {
    const { name, source = '', canonicalName = name } = tool
    if (canonicalName === name)
      assertAlwaysLoaded(tool, settings.rules, () => [
        toolId(source, name),
        createWireName(source, name, reserved, options.wireName),
      ])
  }
  const opened = createRecent<Conversation>()
  const learning = options.usage === false ? undefined : (options.usage ?? {})
  const usage = createLazyUsage({
    catalogue,
    store: learning?.store ?? memoryUsage(),
    shared: learning?.shared ?? false,
    report: (detail) => tell({ kind: 'usage-failed', detail, conversation: '' }),
  })
  const names = createNameCheck(catalogue, settings, (found) =>
    tell({ kind: 'option-unmatched', ...found, conversation: '' }),
  )
  const { rank, observe } = connectLearning(usage, createLazyRanking(catalogue, options.searcher))
  const shared: ConversationShared = {
    catalogue,
    settings,
    store,
    // What the owners of tools wrote counts though nothing is learned.
    rank,
    ...(learning ? { observe } : {}),
    checkNames: names.check,
    memo: createMemos(catalogue, settings),
    tell,
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
    face: (given = {}) => openFace(shared, given, policies),
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
      if (skipped) return { deferred: false, because: `left out: ${skipped.finding.detail}`, skipped: true }
      if (resolution.kind === 'none') return undefined
      const exposed = (entry: Entry) => decideExposure(entry, { ...settings, ...dropUndefined({ agent }) })
      if (resolution.kind !== 'found') {
        const { kind, entries } = resolution
        const ids = entries.map(({ id }) => id)
        const what = kind === 'group' ? 'it is a group of tools' : 'several tools are called so'
        const deferred = entries.every((entry) => exposed(entry).deferred)
        return { deferred, because: `${what}: ${ids.join(', ')}. Ask for one of these.`, [kind]: ids }
      }
      const { entry } = resolution
      const findings = catalogue.findings
        .filter(({ source, tool }) => source === entry.source && tool === entry.tool.name)
        .map(({ detail }) => detail)
      const exposure = exposed(entry)
      return findings.length === 0 ? exposure : { ...exposure, findings }
    },
  }
}

const words = lazily(() => import('./accounting/describe-event.js'))

function printer(debug: ToolwellOptions['debug']): ((event: ToolwellEvent) => unknown)[] {
  if (!debug) return []
  const print = debug === true ? (line: string) => console.error(`toolwell: ${line}`) : debug
  // In the order of the events; the first lines wait until the words are there.
  return [async (event) => print((await words()).describeEvent(event))]
}
