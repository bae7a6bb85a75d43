import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell, type LedgerEvent, type LedgerStore, memoryStore } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { createState, fold, replay } from '../src/ledger/fold.js'
import { type Simulation, type Step, simulate, simulatedTools } from './support/simulation.js'

const NAMES = [
  'read_file',
  'tracker__create_issue',
  'close_issue',
  'LIST-ISSUES',
  'calendar__find_slot',
  'git__enter_worktree',
  'worktree',
  'broken_pipe',
  'late__send_mail',
  'late__read_mail',
  'late__open_tab',
  'no_such_tool',
]
const QUERIES = [
  'create an issue',
  'issue',
  'calendar event slot',
  'server:tracker',
  'mail',
  'quantum chromodynamics',
  '',
  'select:tracker__create_issue,calendar__find_slot',
  'select:worktree',
  'select:git__exit_worktree,broken_pipe,no_such_tool',
  'select:late__send_mail,late__open_tab',
  'unload:tracker__create_issue,git__enter_worktree',
  'unload:late__send_mail select:close_issue',
]
const SOURCES = ['late', 'tracker', 'git']
const DENIABLE = ['tracker/create_issue', 'git/enter_worktree', 'read_file', 'late/send_mail']

const name = fc.constantFrom(...NAMES)
const input = fc.constantFrom('{}', '{"value":"x"}', '{"value":7}', '', '[1]', '{"value":')
const call = fc.oneof(
  fc.constantFrom(...QUERIES).map((query) => ({ name: 'tool_search', arguments: JSON.stringify({ query }) })),
  fc.record({ name, arguments: input }),
  fc.tuple(name, input).map(([target, text]) => ({
    name: 'tool_call',
    arguments: text.startsWith('{') && text.endsWith('}') ? `{"name":"${target}","arguments":${text}}` : text,
  })),
)
const request = fc.record({
  kind: fc.constant('request' as const),
  again: fc.boolean(),
  calls: fc.array(call, { maxLength: 4 }),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: request },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('load' as const, 'unload' as const),
      names: fc.array(name, { maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('compact' as const), keep: fc.nat(6), trim: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('source' as const),
      name: fc.constantFrom(...SOURCES),
      change: fc.constantFrom('add', 'grow', 'redefine', 'remove', 'fail', 'ready'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...DENIABLE, 'toolwell/tool_search').map((deny) => ({
      kind: 'policy' as const,
      deny,
    })),
  },
)
const settings = fc.record({
  delivery: fc.constantFrom('append' as const, 'bridge' as const),
  maxLoaded: fc.constantFrom(undefined, 1, 2, 3),
  hiddenCalls: fc.constantFrom('load-and-run' as const, 'hint' as const),
  reuseIds: fc.boolean(),
})
type Settings = typeof settings extends fc.Arbitrary<infer T> ? T : never

async function played(given: Settings, steps: readonly Step[], store: LedgerStore = memoryStore()) {
  const { maxLoaded, hiddenCalls, ...rest } = given
  const simulation = await simulate({
    ...rest,
    ...(maxLoaded === undefined ? {} : { limits: { maxLoaded } }),
    surface: { hiddenCalls },
    mode: 'on',
    store,
  })
  for (const each of steps) await simulation.take(each)
  return { simulation, store }
}

const check = (law: (given: Settings, steps: readonly Step[]) => Promise<void>, numRuns = 60) =>
  fc.assert(fc.asyncProperty(settings, fc.array(step, { minLength: 4, maxLength: 14 }), law), {
    numRuns: runs(numRuns),
  })

/** Everything a host sees of a conversation, and its next request: forks of equal conversations are equal. */
async function project(
  { conversation, messages }: Pick<Simulation, 'conversation' | 'messages'>,
  id: string,
) {
  const fork = await conversation.fork({ id })
  const turn = await openaiChat(fork).begin(messages, { requestId: 'compared' })
  return { inspection: conversation.inspect(), parts: JSON.stringify(turn.parts) }
}

describe('the ledger', () => {
  it('gives one state live, replayed, resumed and forked', () =>
    check(async (given, steps) => {
      const { simulation } = await played(given, steps)
      const { conversation, messages, well } = simulation
      const live = await project(simulation, 'fork of live')
      const resumed = await well.open({ id: conversation.id })
      expect(resumed.events).toEqual(conversation.events)
      expect(await project({ conversation: resumed, messages }, 'fork of resumed')).toEqual(live)
      const fork = await conversation.fork({ id: 'fork' })
      expect(await project({ conversation: fork, messages }, 'fork of fork')).toEqual(live)
    }))

  it('gives a fork at an anchor the state the conversation had there', () =>
    fc.assert(
      fc.asyncProperty(
        settings,
        fc.array(step, { minLength: 4, maxLength: 12 }),
        fc.nat(),
        async (given, steps, where) => {
          const { simulation, store } = await played(given, steps)
          const { events } = simulation.conversation
          const anchor = events[where % Math.max(1, events.length)]?.anchor ?? ''
          const end = events.findLastIndex((event) => event.anchor === anchor) + 1
          const fork = await simulation.conversation.fork({ id: 'there', anchor })
          expect(fork.events.slice(0, end)).toEqual(events.slice(0, end))
          // Its own ledger holds a reference, and nothing of its origin.
          const own = await store.read('there')
          expect(own.map(({ kind }) => kind)).toEqual(end === 0 ? [] : ['forked'])
          // The same steps, stopped there: a second run of the fold over the same prefix, from a store's copy.
          const copy: LedgerEvent[] = JSON.parse(JSON.stringify(events.slice(0, end)))
          expect(replay(fork.events)).toEqual({ ...replay(copy), length: end === 0 ? 0 : end + 1 })
          const opened = await simulation.well.open({ id: 'there' })
          expect(opened.events).toEqual(fork.events)
        },
      ),
      { numRuns: runs(40) },
    ))

  it('numbers its events without a gap, keeps the cap, and folds every prefix to itself', () =>
    check(async (given, steps) => {
      const { simulation } = await played(given, steps)
      const { events } = simulation.conversation
      expect(events.map((event) => event.id)).toEqual(events.map((_, index) => index))
      let state = createState()
      for (const event of events) {
        state = fold(state, event)
        const loaded = [...state.tools.loaded.values(), ...state.tools.suspendedLoads.values()].filter(
          (held) => held.live && held.source !== 'arrival',
        )
        if (given.maxLoaded !== undefined) expect(loaded.length).toBeLessThanOrEqual(given.maxLoaded)
      }
      expect(state).toEqual(replay(events))
    }))

  it('PW-1, QW-21: loads by a call only what ran to its end, and runs only what it recorded', () =>
    check(async (given, steps) => {
      const { simulation } = await played(given, steps)
      const { events } = simulation.conversation
      const at = (kind: LedgerEvent['kind']) => events.filter((event) => event.kind === kind)
      for (const event of events) {
        if (event.kind !== 'loaded' || event.source !== 'call') continue
        const ended = events
          .slice(0, event.id)
          .findLast((other) => other.anchor === event.anchor && other.kind.startsWith('call-'))
        expect(ended?.kind).toBe('call-succeeded')
      }
      expect(simulation.ran.length).toBe(at('call-started').length)
    }))

  it('answers a repeated request id with the same bytes and no event, in this process and in another', () =>
    check(async (given, steps) => {
      const { simulation, store } = await played(given, steps)
      const { conversation, produced } = simulation
      const before = conversation.events.length
      // Another process, which has seen none of the changes to the catalogue and none of the policy.
      const other = await createToolwell({ tools: simulatedTools(), mode: 'on', store }).open({
        id: conversation.id,
      })
      for (const one of [conversation, other])
        for (const { requestId, json, messages } of produced) {
          const turn = await openaiChat(one).begin(messages, { requestId })
          expect(JSON.stringify(turn.parts)).toBe(json)
        }
      expect(conversation.events.length).toBe(before)
      expect(other.events.length).toBe(before)
      expect(await store.read(conversation.id)).toHaveLength(before)
    }, 40))

  it('has nothing to say twice: a second request with nothing in between has the same bytes', () =>
    check(async (given, steps) => {
      const { simulation } = await played(given, steps)
      const { conversation, messages } = simulation
      const wire = openaiChat(conversation)
      const first = await wire.begin(messages, { requestId: 'first' })
      const before = conversation.events.length
      const second = await wire.begin(messages, { requestId: 'second' })
      expect(JSON.stringify(second.parts)).toBe(JSON.stringify(first.parts))
      expect(conversation.events.slice(before).map((event) => event.kind)).toEqual(['requested'])
    }))

  it('is not changed by inspect()', () =>
    check(async (given, steps) => {
      const quiet = await played(given, steps)
      const looked = await played(given, [])
      for (const each of steps) {
        await looked.simulation.take(each)
        looked.simulation.conversation.inspect()
        looked.simulation.conversation.inspect()
      }
      expect(looked.simulation.conversation.events).toEqual(quiet.simulation.conversation.events)
      expect(looked.simulation.produced).toEqual(quiet.simulation.produced)
    }, 25))
})

describe('on disk', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'toolwell-laws-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('keeps in a file exactly what it keeps in memory', async () => {
    let run = 0
    await check(async (given, steps) => {
      const memory = await played(given, steps)
      const disk = jsonlStore(join(folder, String(++run)))
      const file = await played(given, steps, disk)
      expect(file.simulation.produced).toEqual(memory.simulation.produced)
      expect(await disk.read('simulated')).toEqual(await memory.store.read('simulated'))
      expect(await disk.read('simulated')).toEqual(file.simulation.conversation.events)
    }, 15)
  })
})
