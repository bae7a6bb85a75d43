/** Each check of a call on its own, and their order, which is the policy. */
import type { Policy, SurfaceOptions, Tool, ToolwellOptions } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { createCatalogue, type Entry } from '../src/catalogue/catalogue.js'
import { createGate } from '../src/catalogue/gate.js'
import { createCosts } from '../src/costs/costs.js'
import { createState } from '../src/ledger/fold.js'
import { type Context, createContext } from '../src/surface/context.js'
import { readSettings } from '../src/surface/settings.js'
import {
  argumentsFit,
  type CallStep,
  CHECKS,
  type Check,
  hiddenCallsAllowed,
  isAvailable,
  isCurrent,
  isNotNested,
  isRefusal,
  type JudgeContext,
  mayBeCalled,
  mayBeLoaded,
} from '../src/turn/checks.js'
import { createBatch } from '../src/turn/load.js'
import { tool } from './support/tools.js'

const inputSchema = {
  type: 'object',
  properties: { number: { type: 'integer' } },
  required: ['number'],
  additionalProperties: false,
}

interface World {
  readonly tool?: Partial<Tool>
  readonly options?: ToolwellOptions
  readonly policy?: Policy
  readonly state?: 'ready' | 'connecting' | 'failed' | 'disabled' | 'needs-login'
}

function world({ tool: more = {}, options = {}, policy, state = 'ready' }: World = {}) {
  const catalogue = createCatalogue([], [])
  catalogue.setSource('billing', { state, tools: [tool('send', { inputSchema, ...more })] })
  const settings = readSettings(options, () => {})
  const notify = () => {}
  const context: Context = createContext({
    catalogue,
    gate: createGate({ catalogue, policies: policy ? [policy] : [], notify }),
    settings,
    wire: 'openai-chat',
    agent: undefined,
    principal: 'me',
    notify,
    rank: async () => [],
    alsoEager: [],
    everythingEager: false,
    child: false,
    memo: {
      fitted: new WeakMap(),
      definitions: new WeakMap(),
      tokens: new WeakMap(),
      costs: createCosts(catalogue, undefined),
    },
  })
  const at: JudgeContext = {
    state: createState(),
    context,
    batch: createBatch(),
    loader: 'tool_search',
    deferring: true,
  }
  const entry = catalogue.get('billing/send') as Entry
  const step = (changed: Partial<CallStep> = {}): CallStep => ({
    asked: 'billing__send',
    input: { number: 7 },
    bridged: false,
    loadToken: undefined,
    within: undefined,
    entry,
    alias: undefined,
    hidden: true,
    original: { number: 7 },
    ...changed,
  })
  return { at, step, entry, context }
}

/** The reason of a refusal, or `passes`. */
async function verdict(check: Check, given: World, changed: Partial<CallStep> = {}): Promise<string> {
  const { at, step } = world(given)
  const judged = await check(step(changed), at)
  return isRefusal(judged) ? judged.reason : 'passes'
}

const denies =
  (...actions: string[]): Policy =>
  ({ action }) =>
    !actions.includes(action)

describe('isAvailable', () => {
  it.each<[string, World, string]>([
    ['a tool of a source that is there', {}, 'passes'],
    ['one that may not be seen', { policy: denies('see') }, 'denied'],
    ['one whose source is connecting', { state: 'connecting' }, 'unavailable'],
    ['one whose source failed', { state: 'failed' }, 'unavailable'],
    ['one whose source needs a login', { state: 'needs-login' }, 'unavailable'],
    ['a tool that may not be called, which is checked later', { policy: denies('call') }, 'passes'],
  ])('judges %s', async (_, given, expected) => {
    expect(await verdict(isAvailable, given)).toBe(expected)
  })
})

describe('mayBeLoaded', () => {
  it.each<[string, World, boolean, string]>([
    ['a hidden tool that may be loaded', {}, true, 'passes'],
    ['a hidden tool that may not', { policy: denies('load') }, true, 'denied'],
    ['a loaded tool that may not be loaded again', { policy: denies('load') }, false, 'passes'],
  ])('judges %s', async (_, given, hidden, expected) => {
    expect(await verdict(mayBeLoaded, given, { hidden })).toBe(expected)
  })
})

describe('isCurrent', () => {
  it.each<[string, (token: string) => string | undefined, string]>([
    ['no load token', () => undefined, 'passes'],
    ['the token of this definition', (token) => token, 'passes'],
    ['another token', () => '0000000000', 'stale'],
    ['an empty one', () => '', 'stale'],
  ])('judges %s', async (_, given, expected) => {
    const { at, step, context, entry } = world()
    const judged = await isCurrent(step({ loadToken: given(context.loadToken(entry)) }), at)
    expect(isRefusal(judged) ? judged.reason : 'passes').toBe(expected)
  })
})

describe('hiddenCallsAllowed', () => {
  it.each<[SurfaceOptions['hiddenCalls'] & {}, boolean, string]>([
    ['load-and-run', true, 'passes'],
    ['hint', true, 'hint'],
    ['refuse', true, 'refused'],
    ['hint', false, 'passes'],
    ['refuse', false, 'passes'],
  ])('with %s, hidden: %s', async (hiddenCalls, hidden, expected) => {
    expect(await verdict(hiddenCallsAllowed, { options: { surface: { hiddenCalls } } }, { hidden })).toBe(
      expected,
    )
  })
})

describe('argumentsFit', () => {
  it.each<[string, World, Partial<CallStep>, string]>([
    ['what fits', {}, {}, 'passes'],
    ['a wrong name in a hidden tool', {}, { input: { numbr: 7 } }, 'schema-needed'],
    ['a wrong type through the bridge', {}, { input: { number: 'x' }, bridged: true }, 'schema-needed'],
    [
      "a validator's no",
      { tool: { validate: () => ({ issues: [{ message: 'no' }] }) } },
      {},
      'schema-needed',
    ],
    [
      "a validator's yes, whatever the schema says",
      { tool: { validate: (value) => ({ value }) } },
      { input: {} },
      'passes',
    ],
  ])('judges %s', async (_, given, changed, expected) => {
    expect(await verdict(argumentsFit, given, changed)).toBe(expected)
  })
})

describe('mayBeCalled', () => {
  it.each<[string, Policy, string]>([
    ['a policy that allows', () => true, 'passes'],
    ['one that denies the call', denies('call'), 'denied'],
    ['a policy that denies these arguments', ({ input }) => input?.number !== 7, 'denied'],
  ])('asks %s', async (_, policy, expected) => {
    expect(await verdict(mayBeCalled, { policy })).toBe(expected)
  })
})

describe('isNoNestedForward', () => {
  const forwards = () => ({ source: 'billing', tool: 'send', input: {} })
  it.each<[string, World, string | undefined, string]>([
    ['an ordinary tool', {}, 'billing', 'passes'],
    ['a tool that stands for others', { tool: { forwards } }, undefined, 'passes'],
    ['one behind another of its kind', { tool: { forwards } }, 'billing', 'invalid'],
  ])('judges %s', async (_, given, within, expected) => {
    expect(await verdict(isNotNested, given, { within })).toBe(expected)
  })
})

describe('the order of the checks', () => {
  it('shows nothing of a tool before it may be seen, and asks the policy about checked arguments', () => {
    expect(CHECKS).toEqual([
      isAvailable,
      mayBeLoaded,
      isCurrent,
      hiddenCallsAllowed,
      argumentsFit,
      mayBeCalled,
      isNotNested,
    ])
  })
})
