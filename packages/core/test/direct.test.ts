/** Direct search and calls answer as a fresh conversation on the bridge does, and keeps nothing. */
import { createToolwell, type Policy, type SourceState, type Toolwell } from '@toolwell/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { mixed, server, tool } from './support/tools.js'

const STATES: readonly SourceState[] = ['ready', 'connecting', 'failed', 'needs-login']

const strict = tool('create_label', {
  source: 'labels',
  description: 'Create a label with a colour',
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, colour: { enum: ['red', 'blue'] } },
    required: ['name'],
    additionalProperties: false,
  },
})

function wellOf(policy?: Policy): Toolwell {
  return createToolwell({
    tools: [...mixed(), strict],
    mode: 'on',
    delivery: 'bridge',
    search: { waitForSources: 0 },
    ...(policy ? { policy } : {}),
  })
}

let opened = 0

/** Opens a new conversation and returns the call it would run, or the text answer. */
async function fresh(well: Toolwell, name: string, input: unknown, principal = '') {
  const conversation = await well.open({ id: `c${opened++}`, principal })
  await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'mcp' })
  let run: { id: string; input: unknown } | undefined
  const [answer] = await conversation.run([{ callId: '1', anchor: '1', name, input: { value: input } }], {
    execute: (target) => {
      run = { id: target.id, input: target.input }
      return 'ran'
    },
  })
  // Only a conversation reads the first line of a search answer again.
  return run ?? { kind: answer?.outcome.kind, text: answer?.text.replace(/^toolwell\/1 .*\n/, '') }
}

async function judgeDirectly(well: Toolwell, name: string, input: unknown, principal = '') {
  const verdict = await well.direct({ principal }).judge({ name, input })
  return verdict.kind === 'run'
    ? { id: verdict.target.id, input: verdict.target.input }
    : { kind: verdict.outcome.kind, text: verdict.text }
}

const someName = fc.constantFrom(
  ...['create_issue', 'tracker__create_issue', 'Tracker/Create-Issue', 'labels__create_label', 'createLabel'],
  ...['nothing_like_it', 'tool_search', 'tool_call', '', 'tracker', 'read_result'],
)
const someQuery = fc.oneof(
  fc.constantFrom(
    'create an issue',
    'select:create_issue',
    'select:nope,create_label',
    'unload:create_issue',
  ),
  fc.constantFrom('server:tracker', '+issue close', 'zzzqqq', '', 'label colour', 'server:gone x'),
  fc.string({ maxLength: 30 }),
)
const someInput = fc.oneof(
  fc.record({ name: fc.string(), colour: fc.constantFrom('red', 'green') }, { requiredKeys: [] }),
  fc.record({ title: fc.string() }),
  fc.jsonValue({ maxDepth: 2 }),
)
const someCall = fc.oneof(
  someQuery.chain((query) =>
    fc.constantFrom<[string, unknown]>(['tool_search', { query }], ['tool_search', { query, limit: 1 }]),
  ),
  fc
    .tuple(someName, someInput)
    .map(([name, input]): [string, unknown] => ['tool_call', { name, arguments: input }]),
  fc.tuple(someName, someInput).map(([name, input]): [string, unknown] => [name, input]),
  someInput.map((input): [string, unknown] => ['tool_call', input]),
)

describe('direct search and calls', () => {
  it('answers what a fresh conversation on the bridge answers, whatever was asked before', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(someCall, { minLength: 1, maxLength: 6 }),
        fc.constantFrom('', 'anna'),
        fc.boolean(),
        fc.array(fc.tuple(fc.constantFrom('tracker', 'labels'), fc.constantFrom(...STATES)), {
          maxLength: 3,
        }),
        async (calls, principal, denies, flips) => {
          const well = wellOf(denies ? ({ name }) => name !== 'create_issue' : undefined)
          const direct = well.direct({ principal })
          for (const [index, [name, input]] of calls.entries()) {
            const flip = flips[index]
            if (flip) well.catalogue.setState(...flip)
            const verdict = await direct.judge({ name, input })
            const mine =
              verdict.kind === 'run'
                ? { id: verdict.target.id, input: verdict.target.input }
                : { kind: verdict.outcome.kind, text: verdict.text }
            expect(mine).toEqual(await fresh(well, name, input, principal))
          }
        },
      ),
      { numRuns: runs(300) },
    )
  })

  it('declares what a fresh conversation declares, but for unloading: nothing stays loaded here', async () => {
    const well = wellOf()
    const conversation = await well.open({ id: 'declared' })
    const { tools } = await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'mcp' })
    const { eager, metaTools, deferred } = well.direct().digest()
    const all = JSON.stringify(tools)
    expect(all).toContain('; unload:name to unload a tool')
    expect(JSON.stringify([...eager.map((each) => each.tool), ...metaTools])).toBe(
      all.replace('; unload:name to unload a tool', ''),
    )
    expect(deferred).toBeGreaterThan(0)
  })

  it('declares the same bytes whatever becomes of its sources', async () => {
    const well = wellOf()
    const direct = well.direct()
    const first = JSON.stringify(direct.digest())
    for (const name of ['tracker', 'labels'])
      for (const state of STATES) {
        well.catalogue.setState(name, state, { advice: `do something about ${state}` })
        expect(JSON.stringify(direct.digest())).toBe(first)
      }
    well.catalogue.setSource('tracker', { tools: server('tracker', ['another_tool']) })
    expect(JSON.stringify(direct.digest())).not.toBe(first)
  })

  it('keeps the list of what is hidden where a client that cuts descriptions does not cut it', () => {
    const well = createToolwell({
      tools: Array.from({ length: 60 }, (_, index) =>
        tool(`tool_number_${index}`, { source: 'many', description: 'One of a great many tools' }),
      ),
    })
    const [loader] = well.direct().digest().metaTools
    expect(loader?.description.length).toBeLessThan(2000)
    expect(JSON.stringify(loader?.inputSchema)).toContain('tool_number_59')
  })

  it('tells no caller what another asked', async () => {
    const well = wellOf()
    const [anna, bert] = [well.direct({ principal: 'anna' }), well.direct({ principal: 'bert' })]
    const before = (await bert.search({ query: 'create an issue' })).text
    for (let index = 0; index < 5; index++) {
      await anna.search({ query: 'create an issue' })
      await anna.search({ query: 'zzzqqq' })
      await anna.judge({ name: 'tool_call', input: { name: 'create_label', arguments: { colour: 'no' } } })
    }
    expect((await bert.search({ query: 'create an issue' })).text).toBe(before)
    const missed = await anna.search({ query: 'zzzqqq' })
    expect(missed.text).toBe((await bert.search({ query: 'zzzqqq' })).text)
  })

  it('gives a load token that holds for its principal alone', async () => {
    const well = wellOf()
    const { outcome } = await well.direct({ principal: 'anna' }).search({ query: 'select:create_label' })
    const load = outcome.kind === 'search' ? outcome.result.matches[0]?.loadToken : undefined
    const input = { name: 'create_label', arguments: { name: 'a' }, load }
    expect((await well.direct({ principal: 'anna' }).judge({ name: 'tool_call', input })).kind).toBe('run')
    expect(await judgeDirectly(well, 'tool_call', input, 'bert')).toMatchObject({ kind: 'stale' })
  })

  it('keeps nothing: a hundred searches and calls leave the ledgers empty', async () => {
    const ledgers: string[] = []
    const well = createToolwell({
      tools: mixed(),
      store: {
        read: async (id) => {
          ledgers.push(id)
          return []
        },
        append: async (id) => {
          ledgers.push(id)
        },
      },
    })
    const direct = well.direct()
    for (let index = 0; index < 100; index++) {
      await direct.search({ query: `create an issue ${index}` })
      await direct.judge({ name: 'tool_call', input: { name: 'create_issue', arguments: {} } })
    }
    expect(ledgers).toEqual([])
    expect(well.report()).toBe('')
  })

  it('says what is wrong with its options', () => {
    const well = wellOf()
    expect(() => well.direct({ principel: 'x' } as never)).toThrow(/principal/)
    const denied = well.direct({ policy: ({ name }) => name !== 'tool_call' })
    expect(() => denied.digest()).toThrow(/Allow both/)
  })
})
