/** What the random tests have found, each with the shortest way to it. */
import { createToolwell, type LedgerEvent, memoryStore, ToolwellError } from '@toolwell/core'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import { play, search } from '../support/play.js'
import { mixed, server, tool } from '../support/tools.js'
import { WIRES, type Wire } from './wires.js'

const user: ChatMessage = { role: 'user', content: 'go' }

/** A host on any wire whose model says what it is told to. */
async function start(wire: Wire, options: Parameters<typeof createToolwell>[0] = {}) {
  const well = createToolwell({ tools: mixed(), mode: 'on', ...options })
  const conversation = await well.open({ id: 'x' })
  const messages: object[] = [wire.user('go')]
  let calls = 0
  return {
    well,
    conversation,
    messages,
    sent: async (on = wire, history = messages) =>
      JSON.stringify((await on.open(conversation).begin(history, {})).parts),
    async step(...made: readonly { readonly name: string; readonly arguments: unknown }[]) {
      const turn = await wire.open(conversation).begin(messages, {})
      const named = made.map((call) => ({ ...call, id: `call_${++calls}` }))
      const { reply, messages: said } = wire.reply(turn.parts, { calls: named }, calls)
      const { messages: results, answers } = await turn.run(reply)
      messages.push(...said, ...results)
      return answers.map(({ outcome }) => outcome.kind)
    },
  }
}
const [chat, messages, changing, responses, gemini] = WIRES as [Wire, Wire, Wire, Wire, Wire]

describe('a second process on one ledger', () => {
  async function two() {
    const store = memoryStore()
    const options = { tools: mixed(), mode: 'on', delivery: 'append', store } as const
    const first = await createToolwell(options).open({ id: 'x' })
    const second = await createToolwell(options).open({ id: 'x' })
    return { first, second }
  }

  it('unloads what the other one has raised', async () => {
    const { first, second } = await two()
    await first.activate(['tracker__create_issue'])
    expect(await second.deactivate(['tracker__create_issue'])).toMatchObject({
      deactivated: ['tracker__create_issue'],
    })
    await openaiChat(first).begin([user])
    expect(first.inspect().loadedLazyTools).toEqual([])
  })

  it('raises what the other one has unloaded', async () => {
    const { first, second } = await two()
    await first.activate(['tracker__create_issue'])
    await second.activate(['tracker__create_issue'])
    await first.deactivate(['tracker__create_issue'])
    expect(await second.activate(['tracker__create_issue'])).toMatchObject({
      activated: ['tracker__create_issue'],
    })
  })

  it('forks what the other one has written, and gives it to its children', async () => {
    const { first, second } = await two()
    await openaiChat(first).begin([user])
    await first.activate(['tracker__create_issue'])
    const fork = await second.fork({ id: 'fork' })
    expect(fork.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    const child = await second.child({ id: 'child' })
    await openaiChat(child).begin([user])
    expect(child.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
  })
})

describe('a fork', () => {
  it('of a history without a request has what was done before it', async () => {
    const { conversation, chat: line } = await play()
    await conversation.activate(['tracker__create_issue'])
    const fork = await line.fork([user], { id: 'fork' })
    expect(fork.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
  })

  it('of a history that was cleared has what was done since, and nothing from before', async () => {
    const host = await play()
    await host.step(search('select:tracker__create_issue'))
    await host.conversation.clear()
    await host.conversation.activate(['calendar__find_slot'])
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

describe('a schema that a provider showed by reference', () => {
  it.each(['a search', 'a guess'])(
    'after %s is written out where the thread moves to a wire without references',
    async (how) => {
      const host = await start(messages)
      if (how === 'a search')
        await host.step({ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } })
      else await host.step({ name: 'tracker__create_issue', arguments: {} })
      const moved = chat.open(host.conversation).adopt(messages.open(host.conversation).thread(host.messages))
      const sent = await host.sent(chat, [...moved])
      expect(host.conversation.inspect()).toMatchObject({
        delivery: 'bridge',
        loadedLazyTools: ['tracker__create_issue'],
      })
      expect(sent).toContain('The value for create_issue')
    },
  )

  it('is written out after a compaction that gives up native delivery', async () => {
    const host = await start(messages)
    const line = messages.open(host.conversation)
    const compact = async (keep: number) => {
      const after = [messages.user('So far.'), ...(keep > 0 ? host.messages.slice(-keep) : [])]
      await line.compact(host.messages, after)
      host.messages.splice(0, host.messages.length, ...after)
    }
    await host.step({ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } })
    await host.step({ name: 'toolwell_reserve', arguments: {} })
    await compact(0)
    await host.step({ name: 'tool_search', arguments: { query: 'unload:tracker__create_issue' } })
    await host.step({ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } })
    await compact(2)
    const sent = await host.sent()
    expect(host.conversation.inspect().delivery).toBe('bridge')
    expect(sent).toContain('The value for create_issue')
  })
})

it('a reference that became words at a latch stays words when its tool is back', async () => {
  const denied = new Set<string>()
  const host = await start(messages, { policy: ({ id }) => !denied.has(id) })
  await host.step({ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } })
  host.messages.push({ role: 'assistant', content: 'hm' }, messages.user('on'))
  denied.add('tracker/create_issue')
  const after = [messages.user('So far.'), ...host.messages.slice(-4)]
  await messages.open(host.conversation).compact(host.messages, after)
  const line = messages.open(host.conversation)
  const before = (await line.begin(after, {})).parts as { messages: object[] }
  expect(JSON.stringify(before)).not.toContain('tool_reference')
  denied.clear()
  const later = [...after, { role: 'assistant', content: 'hm' }, messages.user('again')]
  const { messages: sent } = (await line.begin(later, {})).parts as { messages: object[] }
  expect(sent.slice(0, before.messages.length - 1)).toEqual(before.messages.slice(0, -1))
  expect(host.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
})

it('a raised tool that was away when the delivery changed is shown when it is back', async () => {
  const denied = new Set<string>()
  const host = await start(messages, { policy: ({ id }) => !denied.has(id), delivery: 'auto' })
  await host.conversation.activate(['tracker__create_issue'])
  await host.sent()
  denied.add('tracker/create_issue')
  const moved = [
    ...chat.open(host.conversation).adopt(messages.open(host.conversation).thread(host.messages)),
  ]
  expect(await host.sent(chat, moved)).not.toContain('The value for create_issue')
  denied.clear()
  expect(await host.sent(chat, [...moved, chat.user('on')])).toContain('The value for create_issue')
})

it('an update behind calls that are told as text moves none of them', async () => {
  const host = await start(messages)
  await host.step(
    { name: 'nobody', arguments: {} },
    { name: 'no_one', arguments: {} },
    { name: 'tool_search', arguments: { query: 'x' } },
  )
  const line = messages.open(host.conversation)
  let asked = 0
  const blocks = async () => {
    const { parts } = await line.begin(host.messages, { requestId: `request ${++asked}` })
    return (parts as { messages: { content: object[] }[] }).messages.at(-1)?.content ?? []
  }
  const before = await blocks()
  expect(before).toHaveLength(3)
  await host.conversation.activate(['tracker__create_issue'])
  const after = await blocks()
  expect(after.length).toBeGreaterThan(before.length)
  // The mark of the cache is on the last one.
  const words = (list: object[]) => list.map((block) => ({ ...block, cache_control: undefined }))
  expect(words(after).slice(0, before.length)).toEqual(words(before))
})

it('a tool that was guessed and put back is not called where it is gone', async () => {
  const host = await start(changing)
  const guess = { name: 'calendar__find_slot', arguments: { value: 'x' } }
  await host.step(guess)
  await host.conversation.deactivate(['calendar__find_slot'])
  await host.step({ name: 'tool_search', arguments: { query: 'x' } })
  await host.step(guess)
  const { parts } = await changing.open(host.conversation).begin(host.messages, {})
  expect(changing.violationOf(parts)).toBeUndefined()
  expect(JSON.stringify(parts)).toContain('tool_removal')
})

it('a tool that returns as another is added once', async () => {
  const host = await start(responses)
  const tracker = (description: string) => [tool('create_issue', { description }), tool('close_issue')]
  host.well.catalogue.setSource('tracker', { tools: tracker('Creates one.') })
  await host.step({ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } })
  host.well.catalogue.setSource('tracker', { tools: tracker('').slice(1) })
  await host.step({ name: 'read_file', arguments: {} })
  host.well.catalogue.setSource('tracker', { tools: tracker('Creates another one.') })
  const { parts } = await responses.open(host.conversation).begin(host.messages, {})
  expect(responses.violationOf(parts)).toBeUndefined()
  const { input } = parts as { input: { type?: string; tools?: object[] }[] }
  expect(input.filter(({ type }) => type === 'additional_tools').map(({ tools }) => tools)).toEqual([
    [expect.objectContaining({ name: 'tracker__create_issue', description: 'Creates another one.' })],
  ])
})

it('a tool that was taken away before a latch is not taken away behind it when it is back', async () => {
  const denied = new Set<string>()
  const host = await start(changing, { policy: ({ id }) => !denied.has(id) })
  await host.step({ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } })
  host.messages.push({ role: 'assistant', content: 'hm' }, changing.user('on'))
  denied.add('tracker/create_issue')
  expect(await host.sent()).toContain('tool_removal')
  const after = [changing.user('So far.'), ...host.messages.slice(-2)]
  const line = changing.open(host.conversation)
  await line.compact(host.messages, after)
  const before = (await line.begin(after, {})).parts as { messages: object[] }
  denied.clear()
  const later = [...after, { role: 'assistant', content: 'hm' }, changing.user('again')]
  const { messages: sent } = (await line.begin(later, {})).parts as { messages: object[] }
  expect(sent.slice(0, before.messages.length)).toEqual(before.messages)
  expect(JSON.stringify(sent)).not.toContain('tool_removal')
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
  const host = await start(chat, { tools, delivery: 'append', maxActive: 2 })
  const select = (name: string) => ({ name: 'tool_search', arguments: { query: `select:${name}` } })
  const failing = { name: 'far__burst', arguments: {} }
  await host.step(select('far__burst'))
  await host.step(failing)
  await host.step(select('near__create'), failing)
  await host.step(select('near__open'))
  expect(host.conversation.inspect().loadedLazyTools).toEqual(['far__burst', 'near__open'])
})

it('a reply whose first call went unanswered stays apart from the next one on Gemini', async () => {
  const host = await start(chat)
  const call = (name: string, text: string): ChatMessage => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_0', type: 'function', function: { name, arguments: text } }],
  })
  host.messages.push(call('read_file', '{}'), call('tool_search', '{"query":"x"}'), {
    role: 'tool',
    tool_call_id: 'call_0',
    content: 'the answer to the search',
  })
  const line = gemini.open(host.conversation)
  const moved = [...line.adopt(chat.open(host.conversation).thread(host.messages))]
  const { contents } = (await line.begin(moved, {})).parts as {
    contents: { role: string; parts: { functionResponse?: { name: string; response: object } }[] }[]
  }
  expect(contents.map(({ role }) => role)).toEqual(['user', 'model', 'user', 'model', 'user'])
  expect(contents.at(-1)?.parts[0]?.functionResponse).toMatchObject({
    name: 'tool_search',
    response: { result: 'the answer to the search' },
  })
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

  it('that a misspelt call has raised leaves the call to the tool it was for', async () => {
    const host = await play({ delivery: 'append' })
    await host.step({ name: 'GIT-ENTER-WORKTREE', arguments: {} })
    const { parts } = await host.begin()
    const called = parts.messages
      .flatMap((message) => message.tool_calls ?? [])
      .map((call) => call.function.name)
    expect(called).toEqual(['git__enter_worktree'])
  })

  it('that a guess has raised is shown as a whole where the provider shows tools', async () => {
    const host = await start(responses)
    await host.step({ name: 'git__enter_worktree', arguments: {} })
    const sent = await host.sent()
    expect(sent).toContain('The value for enter_worktree')
    expect(sent).toContain('The value for exit_worktree')
  })
})

describe('under a cap, what is asked for by name', () => {
  it('makes no room for its neighbour in the list of a search', async () => {
    const host = await play({ delivery: 'append', maxActive: 1 })
    await host.step(search('select:tracker__create_issue'))
    await host.step(search('select:calendar__find_slot,tracker__create_issue'))
    expect(host.loaded()).toEqual(['tracker__create_issue'])
  })

  it('makes no room for its neighbour in the list of a host', async () => {
    const host = await play({ delivery: 'append', maxActive: 1 })
    await host.conversation.activate(['tracker__create_issue'])
    const report = await host.conversation.activate(['calendar__find_slot', 'tracker__create_issue'])
    expect(report).toEqual({
      activated: [],
      already: ['tracker__create_issue'],
      refused: [{ name: 'calendar__find_slot', reason: 'cap' }],
    })
    expect(host.loaded()).toEqual(['tracker__create_issue'])
  })
})

describe('an eager tool whose server was away at a latch', () => {
  const late = () => server('late', ['read_mail'], { alwaysLoad: true })
  it.each(['append', 'bridge', 'eager', 'stub'] as const)(
    'is sent again when the server is back: %s',
    async (delivery) => {
      const host = await play({ tools: [...mixed(), ...late()], delivery })
      await host.begin()
      host.well.catalogue.setState('late', 'failed')
      host.talk()
      await host.begin()
      await host.compact()
      expect(await host.sent()).not.toContain('The value for read_mail')
      host.well.catalogue.setState('late', 'ready')
      host.talk()
      const sent = await host.sent()
      expect(sent).toContain('The value for read_mail')
      expect(sent).toContain('late__read_mail has joined your tools')
      if (delivery !== 'bridge') expect(await host.names()).toContain('late__read_mail')
      host.talk()
      expect(await host.sent()).toContain('The value for read_mail')
    },
  )
})

it('a name that no tool has is no proof against native delivery where none was used', async () => {
  const host = await start(chat)
  await host.step({ name: 'toolwell_reserve', arguments: {} })
  const line = messages.open(host.conversation)
  const moved = [...line.adopt(chat.open(host.conversation).thread(host.messages))]
  await line.begin(moved, {})
  await line.begin([...moved, messages.user('on')], {})
  expect(host.conversation.inspect().withheld).toEqual({})
})

describe('on Responses', () => {
  it('a reply with the call id of an interrupted one before it leaves that one as it was', async () => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'x' })
    const line = openaiResponses(conversation)
    const call = (id: string): ResponsesItem => ({
      type: 'function_call',
      id,
      call_id: 'call_0',
      name: 'read_file',
      arguments: '{}',
    })
    const cut: ResponsesItem[] = [{ role: 'user', content: 'go' }, call('fc_1')]
    const before = (await line.begin(cut)).parts.input
    const grown = [...cut, call('fc_2'), { type: 'function_call_output', call_id: 'call_0', output: 'r' }]
    const after = (await line.begin(grown)).parts.input
    expect(after.slice(0, before.length)).toEqual(before)
  })

  it.each([{ type: {} }, { type: 7, role: 'user', content: 'words' }, { type: [] }])(
    'an item of no kind is no reason to throw: %j',
    async (item) => {
      const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'x' })
      const history = [item, { role: 'user', content: 'go' }] as unknown as ResponsesItem[]
      const { parts } = await openaiResponses(conversation).begin(history)
      expect(responses.violationOf(parts)).toBeUndefined()
    },
  )

  it('a search item with an id of another provider goes without it', async () => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'x' })
    const item = {
      type: 'tool_search_call',
      id: '',
      execution: 'client',
      call_id: 'c',
      arguments: { query: 'x' },
    }
    const answer = { type: 'tool_search_output', id: 'é', execution: 'client', call_id: 'c', tools: [] }
    const history = [item, answer, { role: 'user', content: 'go' }] as unknown as ResponsesItem[]
    const { parts } = await openaiResponses(conversation).begin(history)
    expect(responses.violationOf(parts)).toBeUndefined()
  })
})

it.each<[string, object]>([
  ['announced without its tools', { kind: 'announced', topic: 'arrival', text: '', tokens: 0 }],
  ['opened with a delivery that nobody knows', { kind: 'opened', delivery: 'pigeon' }],
  ['activated without a pin', { kind: 'activated', source: 'call', asked: 'x', shown: true }],
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
