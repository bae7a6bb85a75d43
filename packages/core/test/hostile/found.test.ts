/** Failures the random tests found, each with the shortest reproduction. Failures of one wire are in found-on-wires.test.ts. */
import { createToolwell, type LedgerEvent, memoryStore, ToolwellError } from '@toolwell/core'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { describe, expect, it } from 'vitest'
import { play, search } from '../support/play.js'
import { mixed, server, tool } from '../support/tools.js'
import { start } from './start.js'
import { WIRES, type Wire } from './wires.js'

const user: ChatMessage = { role: 'user', content: 'go' }
const [chat, , , responses] = WIRES as [Wire, Wire, Wire, Wire]

describe('a second process on one ledger', () => {
  async function two() {
    const store = memoryStore()
    const options = { tools: mixed(), mode: 'on', delivery: 'append', store } as const
    const first = await createToolwell(options).open({ id: 'x' })
    const second = await createToolwell(options).open({ id: 'x' })
    return { first, second }
  }

  it('unloads what the other one has loaded', async () => {
    const { first, second } = await two()
    await first.load(['tracker__create_issue'])
    expect(await second.unload(['tracker__create_issue'])).toMatchObject({
      unloaded: ['tracker__create_issue'],
    })
    await openaiChat(first).begin([user])
    expect(first.inspect().loadedLazyTools).toEqual([])
  })

  it('loads what the other one has unloaded', async () => {
    const { first, second } = await two()
    await first.load(['tracker__create_issue'])
    await second.load(['tracker__create_issue'])
    await first.unload(['tracker__create_issue'])
    expect(await second.load(['tracker__create_issue'])).toMatchObject({
      loaded: ['tracker__create_issue'],
    })
  })

  it('calls what the other one has loaded since the request, though here it was hidden', async () => {
    const store = memoryStore()
    const options = {
      tools: mixed(),
      mode: 'on',
      delivery: 'append',
      surface: { hiddenCalls: 'refuse' },
      store,
    } as const
    const first = await createToolwell(options).open({ id: 'x' })
    const second = await createToolwell(options).open({ id: 'x' })
    const turn = await openaiChat(first).begin([user])
    await second.load(['tracker__create_issue'])
    const call = { name: 'tracker__create_issue', arguments: '{"value":"x"}' }
    const { answers } = await turn.run({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_0', type: 'function', function: call }],
    })
    expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['result'])
  })

  it('forks what the other one has written, and gives it to its children', async () => {
    const { first, second } = await two()
    await openaiChat(first).begin([user])
    await first.load(['tracker__create_issue'])
    const fork = await second.fork({ id: 'fork' })
    expect(fork.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    const child = await second.child({ id: 'child' })
    await openaiChat(child).begin([user])
    expect(child.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
  })
})

describe('a fork', () => {
  it('of a restarted history continues from there, even if the server used its call ids before', async () => {
    const { conversation } = await play({ delivery: 'append' })
    const begin = (requestId: string, anchor: string) =>
      conversation.begin({ requestId, anchor, wire: 'openai-chat' })
    const select = (name: string) =>
      conversation.run([
        {
          callId: 'c',
          anchor: 'call:c',
          name: 'tool_search',
          input: { value: { query: `select:${name}` } },
        },
      ])
    await begin('1', 'first')
    await select('tracker__create_issue')
    await begin('2', 'reply')
    await begin('3', 'reply#2')
    await conversation.clear()
    await begin('4', 'anew')
    await select('calendar__find_slot')
    await begin('5', 'call:c')
    const fork = await conversation.fork({ id: 'fork', anchor: ['anew', 'reply', 'call:c', 'reply#2'] })
    expect(fork.inspect().loadedLazyTools).toEqual(['calendar__find_slot'])
  })

  it('of a history without a request has what was done before it', async () => {
    const { conversation, chat: line } = await play()
    await conversation.load(['tracker__create_issue'])
    const fork = await line.fork([user], { id: 'fork' })
    expect(fork.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
  })

  it('of a history that was cleared has what was done since, and nothing from before', async () => {
    const host = await play()
    await host.step(search('select:tracker__create_issue'))
    await host.conversation.clear()
    await host.conversation.load(['calendar__find_slot'])
    const fork = await host.chat.fork([{ role: 'user', content: 'anew' }], { id: 'fork' })
    expect(fork.inspect().loadedLazyTools).toEqual(['calendar__find_slot'])
  })

  it('of a history that the ledger has never seen has nothing of a compacted one', async () => {
    const host = await play()
    await host.step(search('select:tracker__create_issue'))
    await host.compact()
    const fork = await host.chat.fork([{ role: 'user', content: 'somebody else' }], { id: 'fork' })
    expect(fork.events).toEqual([])
  })
})

it('a call that fails is a use of its tool', async () => {
  const tools = [
    tool('read_file'),
    tool('burst', {
      source: 'far',
      execute: () => {
        throw new Error('burst')
      },
    }),
    ...server('near', ['create', 'open']),
  ]
  const host = await start(chat, { tools, delivery: 'append', limits: { maxLoaded: 2 } })
  const select = (name: string) => ({ name: 'tool_search', arguments: { query: `select:${name}` } })
  const failing = { name: 'far__burst', arguments: {} }
  await host.step(select('far__burst'))
  await host.step(failing)
  await host.step(select('near__create'), failing)
  await host.step(select('near__open'))
  expect(host.conversation.inspect().loadedLazyTools).toEqual(['far__burst', 'near__open'])
})

describe('a group', () => {
  it('is not unloaded in part while one of it is called', async () => {
    const host = await play({ delivery: 'append' })
    await host.step(search('select:worktree'))
    await host.step({ name: 'git__enter_worktree', arguments: {} }, search('unload:git__exit_worktree'))
    expect(host.loaded()).toEqual(['git__enter_worktree', 'git__exit_worktree'])
  })

  it('is unloaded as a whole while one of it is denied', async () => {
    const denied = new Set<string>()
    const host = await play({ delivery: 'append', policy: ({ id }) => !denied.has(id) })
    await host.step(search('select:worktree'))
    denied.add('git/enter_worktree')
    await host.step(search('unload:git__exit_worktree'))
    denied.clear()
    host.talk()
    await host.begin()
    expect(host.loaded()).toEqual([])
  })

  it('that a misspelt call has loaded leaves the call to the tool it was for', async () => {
    const host = await play({ delivery: 'append' })
    await host.step({ name: 'GIT-ENTER-WORKTREE', arguments: {} })
    const { parts } = await host.begin()
    const called = parts.messages
      .flatMap((message) => message.tool_calls ?? [])
      .map((call) => call.function.name)
    expect(called).toEqual(['git__enter_worktree'])
  })

  it('that a guess has loaded is shown as a whole where the provider shows tools', async () => {
    const host = await start(responses)
    await host.step({ name: 'git__enter_worktree', arguments: {} })
    const sent = await host.sent()
    expect(sent).toContain('The value for enter_worktree')
    expect(sent).toContain('The value for exit_worktree')
  })
})

describe('under a cap, what is asked for by name', () => {
  it('makes no room for its neighbour in the list of a search', async () => {
    const host = await play({ delivery: 'append', limits: { maxLoaded: 1 } })
    await host.step(search('select:tracker__create_issue'))
    await host.step(search('select:calendar__find_slot,tracker__create_issue'))
    expect(host.loaded()).toEqual(['tracker__create_issue'])
  })

  it('counts as used, even if already loaded: tools nobody asked for are evicted first', async () => {
    const host = await play({ delivery: 'append', limits: { maxLoaded: 2 } })
    await host.step(search('select:tracker__create_issue'))
    await host.step(search('select:calendar__find_slot'))
    await host.step(search('select:tracker__create_issue'))
    await host.step(search('select:calendar__create_event'))
    expect(host.loaded()).toEqual(['tracker__create_issue', 'calendar__create_event'])
  })

  it('takes nothing from the next where a group does not fit as a whole', async () => {
    const tools = [...server('bulk', ['a', 'z']), ...server('bulk', ['t1', 't2'], { group: 'tabs' })]
    const host = await play({
      tools: [...mixed(), ...tools],
      delivery: 'append',
      limits: { maxLoaded: 2 },
      search: { loadLimit: 5 },
    })
    await host.step(search('select:tracker__create_issue'))
    await host.step(search('server:bulk'))
    expect(host.loaded()).toEqual(['bulk__a', 'bulk__z'])
  })

  it('makes no room for its neighbour in the list of a host', async () => {
    const host = await play({ delivery: 'append', limits: { maxLoaded: 1 } })
    await host.conversation.load(['tracker__create_issue'])
    const report = await host.conversation.load(['calendar__find_slot', 'tracker__create_issue'])
    expect(report).toEqual({
      loaded: [],
      already: ['tracker__create_issue'],
      refused: [{ name: 'calendar__find_slot', reason: 'cap' }],
    })
    expect(host.loaded()).toEqual(['tracker__create_issue'])
  })
})

it('a tool that is gone is unloaded by no name, whatever the delivery', async () => {
  for (const delivery of ['append', 'bridge'] as const) {
    const host = await play({ delivery })
    await host.step(search('select:tracker__create_issue'))
    host.well.catalogue.removeSource('tracker')
    for (const name of ['tracker__create_issue', 'tracker/create_issue'])
      expect(await host.conversation.unload([name])).toEqual({ unloaded: [], unknown: [name] })
  }
})

it('a load that waits off the surface and is evicted loses its place', async () => {
  const host = await play({ mode: 'off', limits: { maxLoaded: 1 } })
  await host.begin()
  await host.conversation.load(['tracker__create_issue'])
  await host.compact()
  await host.begin()
  await host.conversation.load(['calendar__find_slot', 'tracker__create_issue'])
  expect(host.loaded()).toEqual(['calendar__find_slot'])
})

describe('an eager tool whose server was away at a latch', () => {
  const late = () => server('late', ['read_mail'], { alwaysLoad: true })
  it.each(['append', 'bridge', 'eager'] as const)(
    'is sent again when the server is back: %s',
    async (delivery) => {
      const host = await play({ tools: [...mixed(), ...late()], delivery })
      await host.begin()
      host.well.catalogue.setState('late', 'disabled')
      host.talk()
      await host.begin()
      await host.compact()
      expect(await host.sent()).not.toContain('The value for read_mail')
      host.well.catalogue.setState('late', 'ready')
      host.talk()
      const sent = await host.sent()
      expect(sent).toContain('The value for read_mail')
      expect(sent).toContain('late__read_mail was added to your tools')
      if (delivery !== 'bridge') expect(await host.names()).toContain('late__read_mail')
      host.talk()
      expect(await host.sent()).toContain('The value for read_mail')
    },
  )
})

it.each(['append', 'bridge'] as const)(
  'an eager tool that came late and was unloaded stays so when its server loses another: %s',
  async (delivery) => {
    const late = (...names: readonly string[]) => server('late', names, { alwaysLoad: true })
    const host = await play({ delivery })
    await host.begin()
    host.well.catalogue.setSource('late', { tools: late('read_mail', 'send_mail') })
    host.talk()
    await host.begin()
    const unload = async () => (await host.conversation.unload(['late__read_mail'])).unloaded
    expect(await unload()).toEqual(['late__read_mail'])
    host.well.catalogue.setSource('late', { tools: late('read_mail') })
    host.talk()
    await host.begin()
    expect(await unload()).toEqual([])
  },
)

it('an eager tool that was announced as available again is declared when its server changes', async () => {
  const denied = new Set(['late/read_mail'])
  const late = (...names: readonly string[]) => server('late', names)
  const host = await play({
    tools: [...mixed(), ...late('read_mail', 'send_mail')],
    delivery: 'eager',
    policy: ({ id }) => !denied.has(id),
  })
  await host.begin()
  denied.clear()
  host.well.catalogue.setState('late', 'failed')
  host.talk()
  await host.begin()
  const call = { callId: 'c', anchor: 'call:c', name: 'late__read_mail', input: { value: { value: 'x' } } }
  const [answer] = await host.conversation.run([call])
  expect(answer?.outcome.kind).not.toBe('result')
  host.well.catalogue.setState('late', 'ready')
  host.talk()
  expect(await host.sent()).toContain('Available again: late__read_mail')
  host.well.catalogue.setSource('late', { tools: late('read_mail') })
  host.talk()
  await host.begin()
  expect(await host.names()).toContain('late__read_mail')
})

it.each<[string, object]>([
  ['announced without its tools', { kind: 'announced', topic: 'arrival', text: '', tokens: 0 }],
  ['opened with a delivery that nobody knows', { kind: 'frozen', delivery: 'pigeon' }],
  ['loaded without a pin', { kind: 'loaded', source: 'call', asked: 'x', shown: true }],
  ['compacted to a number', { kind: 'compacted', kept: { a: 7 } }],
  ['of no kind', {}],
])('an event %s is refused when the ledger is opened', async (_, fact) => {
  const events = [{ id: 0, anchor: '', ...fact }] as unknown as LedgerEvent[]
  const store = { read: async () => events, append: async () => {} }
  const error = await createToolwell({ tools: mixed(), store })
    .open({ id: 'x' })
    .catch((reason: unknown) => reason)
  expect(ToolwellError.is(error)).toBe(true)
  expect(error).toMatchObject({ code: 'ledger-corrupt', data: { ledger: 'x', event: 0 } })
})

it('an event of a kind that is not known here changes nothing', async () => {
  const events = [{ id: 0, anchor: '', kind: 'of-tomorrow', whatever: [] }] as unknown as LedgerEvent[]
  const store = { read: async () => events, append: async () => {} }
  const conversation = await createToolwell({ tools: [tool('read_file')], store }).open({ id: 'x' })
  const history: AnthropicMessage[] = [{ role: 'user', content: 'go' }]
  expect((await anthropic(conversation).begin(history)).view.mode).toBe('off')
})
