/** Failures the random tests found on the wires, each with the shortest reproduction. */
import { createToolwell } from '@toolwell/core'
import type { ChatMessage } from '@toolwell/core/openai-chat'
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import { mixed, tool } from '../support/tools.js'
import { start } from './start.js'
import { WIRES, type Wire } from './wires.js'

const [chat, messages, changing, responses, gemini] = WIRES as [Wire, Wire, Wire, Wire, Wire]

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

  it.each([messages, changing, responses])(
    'is shown again where the thread was on another wire meanwhile: $name',
    async (wire) => {
      const host = await start(wire)
      await host.step({ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } })
      const line = wire.open(host.conversation)
      const away = chat.open(host.conversation)
      const back = [...line.adopt(away.thread(away.adopt(line.thread(host.messages))))]
      const { parts } = await line.begin(back, {})
      expect(wire.violationOf(parts)).toBeUndefined()
      const shown =
        wire === changing
          ? '"type":"tool_addition","tool":{"type":"tool_reference"'
          : 'The value for create_issue'
      expect(JSON.stringify(wire === messages ? (parts as { messages: object }).messages : parts)).toContain(
        shown,
      )
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

it('a loaded tool that was away when the delivery changed is shown when it is back', async () => {
  const denied = new Set<string>()
  const host = await start(messages, { policy: ({ id }) => !denied.has(id), delivery: 'auto' })
  await host.conversation.load(['tracker__create_issue'])
  await host.sent()
  denied.add('tracker/create_issue')
  const moved = [
    ...chat.open(host.conversation).adopt(messages.open(host.conversation).thread(host.messages)),
  ]
  expect(await host.sent(chat, moved)).not.toContain('The value for create_issue')
  denied.clear()
  expect(await host.sent(chat, [...moved, chat.user('on')])).toContain('The value for create_issue')
})

it('an update after calls that became text moves none of them', async () => {
  const host = await start(messages)
  await host.step(
    { name: 'nobody', arguments: {} },
    { name: 'no_one', arguments: {} },
    { name: 'tool_search', arguments: { query: 'x' } },
  )
  const line = messages.open(host.conversation)
  let asked = 0
  const blocks = async (conversation = line) => {
    const { parts } = await conversation.begin(host.messages, { requestId: `request ${++asked}` })
    return (parts as { messages: { content: object[] }[] }).messages.at(-1)?.content ?? []
  }
  // In a fork, so that no request has carried the answers when the update comes.
  const other = messages.open(await host.conversation.fork({ id: 'beside' }))
  const before = await blocks(other)
  expect(before).toHaveLength(3)
  await host.conversation.load(['tracker__create_issue'])
  const after = await blocks()
  expect(after.length).toBeGreaterThan(before.length)
  // The mark of the cache is on the last one.
  const words = (list: object[]) => list.map((block) => ({ ...block, cache_control: undefined }))
  expect(words(after).slice(0, before.length)).toEqual(words(before))
})

it('a tool that was guessed and unloaded is not called after its removal', async () => {
  const host = await start(changing)
  const guess = { name: 'calendar__find_slot', arguments: { value: 'x' } }
  await host.step(guess)
  await host.conversation.unload(['calendar__find_slot'])
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

it('an unknown name does not disprove native delivery if native was not used', async () => {
  const host = await start(chat)
  await host.step({ name: 'toolwell_reserve', arguments: {} })
  const line = messages.open(host.conversation)
  const moved = [...line.adopt(chat.open(host.conversation).thread(host.messages))]
  await line.begin(moved, {})
  await line.begin([...moved, messages.user('on')], {})
  expect(host.conversation.inspect().withheld).toEqual({})
})

it('a notice whose message the move to another wire has changed stays where it went, though a like message follows', async () => {
  const host = await start(chat)
  const calls = ['tracker__create_issue', 'read_file'].map((name, index) => ({
    id: `call_${index}`,
    name,
    arguments: '{"value":"x"}',
  }))
  const turn = await chat.open(host.conversation).begin(host.messages, {})
  const first = chat.reply(turn.parts, { calls }, 1)
  await turn.run(first.reply)
  // The results were lost, and the model went on without them.
  host.messages.push(...first.messages)
  await host.sent()
  host.messages.push(...chat.reply({}, { text: 'Well.' }, 2).messages)
  const line = responses.open(host.conversation)
  const moved = [...line.adopt(chat.open(host.conversation).thread(host.messages)), responses.user('on')]
  const before = await line.begin(moved, {})
  const again = responses.reply(before.parts, { calls }, 3)
  const { messages: results } = await before.run(again.reply)
  const { parts } = await line.begin([...moved, ...again.messages, ...results], {})
  const { input } = before.parts as { readonly input: readonly object[] }
  expect((parts as { readonly input: readonly object[] }).input.slice(0, input.length)).toEqual(input)
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

  it('a change after a search and a call that became text waits for the user, and comes once', async () => {
    const host = await start(responses)
    const publish = (description: string) =>
      host.well.catalogue.setSource('mail', { tools: [tool('read_mail', { alwaysLoad: true, description })] })
    publish('Reads mail.')
    await host.step(
      { name: 'no_such_tool', arguments: '{}' },
      { name: 'tool_search', arguments: { query: 'server:nowhere' } },
    )
    publish('Reads mail, by new rules.')
    const before = await responses.open(host.conversation).begin(host.messages, {})
    expect(responses.violationOf(before.parts)).toBeUndefined()
    const items = (parts: object) => (parts as { input: object[] }).input
    expect(items(before.parts).at(-1)).toMatchObject({ type: 'tool_search_output' })
    host.messages.push(responses.user('on'))
    const after = await responses.open(host.conversation).begin(host.messages, {})
    expect(responses.violationOf(after.parts)).toBeUndefined()
    expect(items(after.parts).slice(0, items(before.parts).length)).toEqual(items(before.parts))
    const behind = JSON.stringify(items(after.parts).slice(items(before.parts).length))
    expect(behind.split('by new rules')).toHaveLength(2)
    expect(behind).toContain('no_such_tool')
  })

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
