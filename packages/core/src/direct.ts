/**
 * Search and calls without a conversation, over the same catalogue. Answers are those of a fresh conversation on the bridge.
 * Nothing is kept, so nothing of one caller reaches another.
 */

import { lazily } from './base/async.js'
import { isRecord } from './base/data.js'
import { ToolwellError } from './base/errors.js'
import { assertFunction, assertKnownKeys } from './base/options.js'
import { quote } from './base/text.js'
import type { Entry } from './catalogue/catalogue.js'
import type { Policy } from './catalogue/gate.js'
import { createState, fold, type LedgerState } from './ledger/fold.js'
import { type Context, createContexts, type Shared } from './surface/context.js'
import { freezePrefix } from './surface/freeze.js'
import { BRIDGE_NAME, READER_ID } from './surface/meta-tools.js'
import type { Prompts } from './surface/prompts.js'
import type { Notice } from './tool/notice.js'
import type { WireTool } from './tool/wire-tool.js'
import { removeMachineLine } from './turn/machine-line.js'
import type { ModelCall, Outcome, TargetCall } from './turn/verdict.js'

export interface DirectOptions {
  /** The user that the callers act for. Load tokens and policy requests contain it. */
  readonly principal?: string
  /** Asked in addition to the policies of the options. */
  readonly policy?: Policy
  readonly agent?: string
}

/** The tools for a list of tools. They depend only on config and definitions, not on the state of a source. */
export interface DirectDigest {
  /** The search tool with the list of hidden tools, and the bridge. */
  readonly metaTools: readonly WireTool[]
  /** Eager tools, ordered by name. */
  readonly eager: readonly { readonly id: string; readonly tool: WireTool }[]
  /** The number of hidden tools. */
  readonly deferred: number
}

export interface DirectCall {
  readonly name: string
  /** The arguments, parsed. */
  readonly input: unknown
}

export type DirectVerdict =
  /** Run the target. It is never a wrapper, and its arguments are checked. */
  | { readonly kind: 'run'; readonly target: Omit<TargetCall, 'context'> & { readonly source: string } }
  /** Toolwell answers the call itself. */
  | { readonly kind: 'answer'; readonly outcome: Outcome; readonly text: string }

/** Names of the search tool and the bridge in every text. */
export interface DirectNames {
  readonly loader: string
  readonly bridge: string
}

export interface Direct {
  /** The name of the search tool. */
  readonly loader: string
  /** The name of the bridge. */
  readonly bridge: string
  /** Every sentence that the model reads. */
  readonly prompts: Prompts
  digest(): DirectDigest
  /** Every visible tool, ordered by wire name. */
  tools(): readonly Entry[]
  /** Tokens of a tool's definition. */
  cost(entry: Entry): number
  /** Answers a search. `input` is the model's arguments. */
  search(input: Readonly<Record<string, unknown>>): Promise<Extract<DirectVerdict, { kind: 'answer' }>>
  /** Judges a call by its own name in any spelling, or through the bridge. It runs nothing, and no model input makes it throw. */
  judge(call: DirectCall): Promise<DirectVerdict>
  /** Returns the same with other names in every text, for a host that lists the two tools under them. Calls keep `loader` and `bridge`. */
  withNames(names: DirectNames): Direct
}

/** Definitions are normalised for the tool list of an MCP server. */
const WIRE = 'mcp'

const importJudge = lazily(() => import('./turn/judge.js'))

export function openDirect(
  shared: Shared,
  options: DirectOptions,
  policies: readonly Policy[],
  names?: DirectNames,
): Direct {
  assertKnownKeys(options, ['principal', 'policy', 'agent'], 'direct')
  assertFunction('direct.policy', options.policy)
  const { principal = '', agent, policy } = options
  const own: Prompts = {
    ...shared.settings.prompts,
    // Nothing stays loaded for a caller.
    loader: (facts) => shared.settings.prompts.loader({ ...facts, unloads: false }),
  }
  const prompts = names ? renameInPrompts(own, shared.settings.searchTool.name, names) : own
  const settings = { ...shared.settings, prompts, mode: 'on', delivery: 'bridge' } as const
  const notify = (notice: Notice) => shared.publish({ ...notice, conversation: '' })
  const context: Context = createContexts(
    { ...shared, settings },
    {
      id: '',
      agent,
      principal,
      policies: policy ? [...policies, policy] : policies,
      alsoEager: [],
      everythingEager: false,
      child: false,
    },
    notify,
    // No results are kept, so there is nothing to read.
    (id) => id === READER_ID,
  )(WIRE)
  const { searchTool } = settings

  /** The state of a fresh conversation, for one revision of the catalogue. */
  let fresh: { readonly revision: number; readonly state: LedgerState } | undefined
  const getState = (): LedgerState => {
    const { revision } = shared.catalogue
    if (fresh?.revision === revision) return fresh.state
    const state = createState()
    const fact = freezePrefix(state, context, 'start', {})
    if (fact.delivery !== 'bridge')
      throw new ToolwellError(
        'invalid-option',
        `direct() needs ${searchTool.name} and ${BRIDGE_NAME}, but the policy denies one of them. Allow both in direct.policy.`,
        { path: 'direct.policy' },
      )
    fresh = { revision, state: fold(state, { id: 0, anchor: '', ...fact }) }
    return fresh.state
  }

  let shown: { readonly revision: number; readonly tools: readonly Entry[] } | undefined

  const judgeCall = async ({ name, input }: DirectCall): Promise<DirectVerdict> => {
    const call: ModelCall = { callId: '', anchor: '', name, input: { value: input } }
    await shared.catalogue.ready()
    const { judgeCalls } = await importJudge()
    const { verdicts } = await judgeCalls([call], getState(), context)
    const [verdict] = verdicts
    if (verdict?.kind === 'run')
      return { kind: 'run', target: { ...verdict.target, source: verdict.entry.source } }
    const outcome: Outcome = verdict?.outcome ?? { kind: 'not-recorded', text: prompts.notRun() }
    // Without a ledger to rebuild, nobody reads the first line.
    const text = outcome.kind === 'search' ? removeMachineLine(outcome.text) : outcome.text
    return { kind: 'answer', outcome: { ...outcome, text }, text }
  }

  return {
    loader: searchTool.name,
    bridge: BRIDGE_NAME,
    prompts,
    digest() {
      const { frozen, tools } = getState()
      const eager = [...tools.eager.values()].flatMap(({ id, definition }) =>
        definition ? [{ id, tool: definition }] : [],
      )
      return { metaTools: frozen?.metaTools ?? [], eager, deferred: frozen?.deferred ?? 0 }
    },
    tools() {
      const { revision } = shared.catalogue
      if (shown?.revision !== revision) {
        const visible = [...shared.catalogue.entries()].filter((entry) => context.gate.visible(entry))
        shown = { revision, tools: visible.sort((a, b) => (a.wireName < b.wireName ? -1 : 1)) }
      }
      return shown.tools
    },
    cost: context.cost,
    async search(input) {
      const verdict = await judgeCall({ name: searchTool.name, input })
      if (verdict.kind === 'answer') return verdict
      throw new Error(`${searchTool.name} must not run`)
    },
    judge: judgeCall,
    withNames: (given) => openDirect(shared, options, policies, given),
  }
}

/** Replaces the names of the two meta-tools in the facts of every sentence. No tool of a source has these wire names. */
function renameInPrompts(prompts: Prompts, loader: string, names: DirectNames): Prompts {
  const renamed = new Map<unknown, string>([
    [loader, names.loader],
    [BRIDGE_NAME, names.bridge],
  ])
  const rename = (facts: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(facts).map(([key, value]) => {
        if (key === 'load' && isRecord(value)) return [key, rename(value)]
        return [key, NAME_FACTS.has(key) ? (renamed.get(value) ?? value) : value]
      }),
    )
  const sentences = Object.entries(prompts).map(([key, sentence]) => {
    if (typeof sentence !== 'function') return [key, sentence]
    const write = sentence as (facts?: object) => string
    return [key, (facts?: Readonly<Record<string, unknown>>) => write(facts && rename(facts))]
  })
  return {
    ...(Object.fromEntries(sentences) as Prompts),
    // The name comes quoted, as the model wrote it.
    badArguments: ({ name, problem }) =>
      prompts.badArguments({
        name: name === quote(BRIDGE_NAME) ? names.bridge : (renamed.get(name) ?? name),
        problem,
      }),
  }
}

/** Facts of a sentence that may be a meta-tool's name. */
const NAME_FACTS: ReadonlySet<string> = new Set(['loader', 'bridge', 'name'])
