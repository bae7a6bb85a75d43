/**
 * A face: search and calls for callers that have no conversation, over the same catalogue. It answers as a fresh conversation
 * on the bridge does, and keeps nothing of a call: nothing grows, and nothing of one caller reaches another.
 */

import { lazily } from './base/async.js'
import { ToolwellError } from './base/errors.js'
import { assertFunction, assertKnownKeys } from './base/options.js'
import type { Entry } from './catalogue/catalogue.js'
import type { Policy } from './catalogue/gate.js'
import { createState, fold, type LedgerState } from './ledger/fold.js'
import type { Context } from './surface/context.js'
import { freezePrefix } from './surface/freeze.js'
import { BRIDGE_NAME, READER_ID } from './surface/meta-tools.js'
import type { Prompts } from './surface/prompts.js'
import { createContexts, type Shared } from './surface/scope.js'
import type { Notice } from './tool/notice.js'
import type { WireTool } from './tool/wire-tool.js'
import type { ModelCall, Outcome, TargetCall } from './turn/verdict.js'

export interface FaceOptions {
  /** Who the callers act for; part of load tokens and given to the policy. */
  readonly principal?: string
  /** Asked besides the policy of the options. */
  readonly policy?: Policy
  readonly agent?: string
}

/** What is behind a face, as a list of tools says it. Follows from config and definitions: no state of a source changes a byte. */
export interface FaceDigest {
  /** The loader, with the list of what is hidden, and the bridge. */
  readonly metaTools: readonly WireTool[]
  /** Tools that are always sent, in order of name. */
  readonly eager: readonly { readonly id: string; readonly tool: WireTool }[]
  /** How many tools are hidden. */
  readonly deferred: number
}

/** A call as a caller made it. */
export interface FaceCall {
  readonly name: string
  /** The arguments, parsed. */
  readonly input: unknown
}

export type FaceVerdict =
  /** The call is to be run: the target, never a wrapper, with arguments that fit. */
  | { readonly kind: 'run'; readonly target: Omit<TargetCall, 'context'> & { readonly source: string } }
  /** It is answered already. */
  | { readonly kind: 'answer'; readonly outcome: Outcome; readonly text: string }

export interface Face {
  /** The loader's name, and that of the bridge. */
  readonly loader: string
  readonly bridge: string
  /** Every sentence that a model reads here. */
  readonly prompts: Prompts
  digest(): FaceDigest
  /** Every tool that may be shown, in order of wire name. */
  tools(): readonly Entry[]
  /** Tokens of a definition as it is sent. */
  cost(entry: Entry): number
  /** Answers the loader; the arguments are as the model sent them. */
  search(input: Readonly<Record<string, unknown>>): Promise<Extract<FaceVerdict, { kind: 'answer' }>>
  /** By its own name in any spelling, or through the bridge. Nothing a model did throws, and nothing runs here. */
  judge(call: FaceCall): Promise<FaceVerdict>
}

/** What a list of tools of an MCP server carries. */
const WIRE = 'mcp'

const judging = lazily(() => import('./turn/judge.js'))

export function openFace(shared: Shared, options: FaceOptions, policies: readonly Policy[]): Face {
  assertKnownKeys(options, ['principal', 'policy', 'agent'], 'face')
  assertFunction('face.policy', options.policy)
  const { principal = '', agent, policy } = options
  const prompts: Prompts = {
    ...shared.settings.prompts,
    // Nothing stays loaded for a caller.
    loader: (facts) => shared.settings.prompts.loader({ ...facts, unloads: false }),
  }
  const settings = { ...shared.settings, prompts, mode: 'on', delivery: 'bridge' } as const
  const notify = (notice: Notice) => shared.tell({ ...notice, conversation: '' })
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
    // Nothing is kept for a caller, so there is nothing to read.
    (id) => id === READER_ID,
  )(WIRE)
  const { face } = settings

  /** The state of a conversation that has just begun. It is made anew when the catalogue has changed, and never by a call. */
  let refrozen: { readonly revision: number; readonly state: LedgerState } | undefined
  const current = (): LedgerState => {
    const { revision } = shared.catalogue
    if (refrozen?.revision === revision) return refrozen.state
    const state = createState()
    const fact = freezePrefix(state, context, 'start', {})
    if (fact.delivery !== 'bridge')
      throw new ToolwellError(
        'invalid-option',
        `A face needs ${face.name} and ${BRIDGE_NAME}, and the policy denies one of them. Allow both for this face.`,
        { path: 'face.policy' },
      )
    refrozen = { revision, state: fold(state, { id: 0, anchor: '', ...fact }) }
    return refrozen.state
  }

  let shown: { readonly revision: number; readonly tools: readonly Entry[] } | undefined

  const judged = async ({ name, input }: FaceCall): Promise<FaceVerdict> => {
    const call: ModelCall = { callId: '', anchor: '', name, input: { value: input } }
    await shared.catalogue.ready()
    const { judge } = await judging()
    const { verdicts } = await judge([call], current(), context)
    const [verdict] = verdicts
    if (verdict?.kind === 'run')
      return { kind: 'run', target: { ...verdict.target, source: verdict.entry.source } }
    const outcome: Outcome = verdict?.outcome ?? { kind: 'not-recorded', text: prompts.notRun() }
    return { kind: 'answer', outcome, text: outcome.text }
  }

  return {
    loader: face.name,
    bridge: BRIDGE_NAME,
    prompts,
    digest() {
      const { frozen, tools } = current()
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
      const verdict = await judged({ name: face.name, input })
      if (verdict.kind === 'answer') return verdict
      throw new Error(`${face.name} is answered here, and was to be run`)
    },
    judge: judged,
  }
}
