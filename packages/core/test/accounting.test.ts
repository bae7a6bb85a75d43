import { createToolwell, memoryStore, type Tool, type ToolwellOptions } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import type { ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { startHost, type TestHost } from './support/host.js'
import { mergeOptions } from './support/merge-options.js'
import { mixed, server, tool } from './support/tools.js'

/** One token for each character: every figure can be counted in the recorded bodies. */
const tokenizer = { name: 'characters', count: (text: string) => text.length }
const search = (query: string): ScriptedReply => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const call = (name: string, input: unknown = { value: 'x' }): ScriptedReply => ({
  calls: [{ name, arguments: input }],
})
const answers: readonly ScriptedReply[] = Array.from({ length: 8 }, (_, index) => ({
  text: `Answer ${index}.`,
}))

const open = (script: readonly ScriptedReply[], options: ToolwellOptions = {}) =>
  startHost(mergeOptions({ tools: mixed(), mode: 'on', delivery: 'append', costs: { tokenizer } }, options), [
    ...script,
    ...answers,
  ])

const messagesOf = (host: TestHost, index: number) => JSON.stringify(host.body(index).messages).length
/** Token cost of the tools array of a recorded request, summed per tool. */
const toolsOf = (host: TestHost, index: number) =>
  (host.body(index).tools ?? []).reduce((sum, { function: each }) => {
    const { name, description, parameters } = each
    return sum + JSON.stringify({ name, description, inputSchema: parameters }).length
  }, 0)
const definitions = (tools: readonly Tool[], wireName: (each: Tool) => string) =>
  tools.reduce(
    (sum, each) =>
      sum +
      JSON.stringify({ name: wireName(each), description: each.description, inputSchema: each.inputSchema })
        .length,
    0,
  )
const wireName = ({ name, source }: Tool) => (source === undefined ? name : `${source}__${name}`)

/** Measures every request as a host would: from the body it sent. */
async function measure(host: TestHost, ids: readonly string[]) {
  for (const [index, requestId] of ids.entries())
    await host.conversation.recordRequest({ requestId, messageTokens: messagesOf(host, index) })
}

describe('the counterfactual', () => {
  it('A1: is the same work with every schema on the wire, without the requests that only searched', async () => {
    const host = await open([search('select:tracker__create_issue'), call('tracker__create_issue')])
    await host.ask('file it')
    await measure(host, ['request-1', 'request-2', 'request-3'])
    const { accounting } = host.conversation.inspect()
    const sent = [0, 1, 2].map((index) => toolsOf(host, index) + messagesOf(host, index))
    expect(accounting).toMatchObject({ requests: 3, metaRequests: 1, measured: 3 })
    expect(accounting.actual).toBe(sent.reduce((a, b) => a + b))

    const eager = definitions(mixed(), wireName)
    const section = host.body(0).messages[0]?.content as string
    const answer = host.messages[2]?.content as string
    const question = JSON.stringify({ query: 'select:tracker__create_issue' })
    const ours = section.length + question.length + answer.length
    expect(accounting.counterfactual).toBe(2 * eager + messagesOf(host, 1) + messagesOf(host, 2) - 2 * ours)
    expect(accounting.saved).toBe(accounting.counterfactual - accounting.actual)
  })

  it('A1: counts a round that a wrong guess cost as a cost of deferral', async () => {
    const host = await open([call('tracker__create_issue', { wrong: true }), call('tracker__create_issue')])
    await host.ask('file it')
    expect(host.conversation.inspect().accounting.metaRequests).toBe(1)
  })

  it('A1: is smaller than what was sent where deferral did not pay, and the figure is negative', async () => {
    const tools = [tool('read_file'), ...server('small', ['one_tool'])]
    const host = await open([search('select:small__one_tool'), call('small__one_tool')], { tools })
    await host.ask('go')
    await measure(host, ['request-1', 'request-2', 'request-3'])
    const { accounting } = host.conversation.inspect()
    expect(accounting.saved).toBeLessThan(-definitions(tools, wireName))
  })

  it('A1: saves where the catalogue is large and little of it is used', async () => {
    const tools = [
      ...mixed(),
      ...server(
        'bulk',
        Array.from({ length: 80 }, (_, index) => `thing_${index}`),
      ),
    ]
    const host = await open([search('select:bulk__thing_7'), call('bulk__thing_7')], {
      tools,
      limits: { cardBudget: 0 },
    })
    await host.ask('go')
    await measure(host, ['request-1', 'request-2', 'request-3'])
    expect(host.conversation.inspect().accounting.saved).toBeGreaterThan(10_000)
  })

  it('A1: is what was sent while deferral is off, also when the model makes names up', async () => {
    const host = await open([call('create_issue'), call('no_such_tool')], { mode: 'off' })
    host.say('file it')
    await host.step()
    await host.step()
    expect(host.messages.at(-1)?.content).toContain('Found no tool named "no_such_tool".')
    await measure(host, ['request-1', 'request-2'])
    const { accounting } = host.conversation.inspect()
    expect(accounting).toMatchObject({ measured: 2, metaRequests: 0, saved: 0, reread: 0 })
    expect(accounting.actual).toBeGreaterThan(2 * definitions(mixed(), wireName))
  })

  it('ignores requests without a recorded measurement', async () => {
    const host = await open([])
    await host.ask('one')
    await host.ask('two')
    await host.conversation.recordRequest({ requestId: 'request-2', messageTokens: 100 })
    const unknown = host.conversation.recordRequest({ requestId: 'never begun', messageTokens: 1e9 })
    await expect(unknown).rejects.toMatchObject({ code: 'invalid-option' })
    const { accounting } = host.conversation.inspect()
    expect(accounting).toMatchObject({ requests: 2, measured: 1 })
    expect(accounting.actual).toBe(toolsOf(host, 1) + 100)
  })
})

describe('the parts of a request', () => {
  it('QW-13: add up to the tools array that is sent, through unloading, arrivals and compaction', async () => {
    const host = await open([
      search('select:tracker__create_issue,calendar__find_slot'),
      search('unload:tracker__create_issue'),
    ])
    await host.ask('one')
    host.well.catalogue.setSource('mail', { tools: [tool('read_mail', { alwaysLoad: true })] })
    await host.ask('two')
    host.well.catalogue.setState('calendar', 'disabled')
    const after = [{ role: 'user', content: 'Summary.' }]
    await openaiChat(host.conversation).compact(host.messages, after)
    host.messages.splice(0, host.messages.length, ...after)
    await host.step()
    host.well.catalogue.setState('calendar', 'ready')
    await host.ask('three')
    const counted = host.conversation.events.flatMap((event) =>
      event.kind === 'requested' ? [event.tokens] : [],
    )
    expect(counted).toHaveLength(6)
    counted.forEach((tokens, index) => {
      const { eager, loaded: active, cards, metaTools } = tokens
      expect(eager + active + cards + metaTools, `request ${index}`).toBe(toolsOf(host, index))
    })
    expect(host.names()).toContain('calendar__find_slot')
  })

  it('name the text that deferral put into the messages', async () => {
    const host = await open([search('select:worktree')])
    await host.ask('one')
    const [first, second] = host.conversation.events.flatMap((event) =>
      event.kind === 'requested' ? [event.tokens] : [],
    )
    expect(first).toMatchObject({ searchResults: 0, inserts: 0 })
    expect(first?.section).toBe(String(host.body(0).messages[0]?.content).length)
    const question = JSON.stringify({ query: 'select:worktree' })
    expect(second?.searchResults).toBe(question.length + String(host.messages[2]?.content).length)
    const last = String(host.body(1).messages.at(-1)?.content)
    expect(second?.inserts).toBe(last.length - last.indexOf('<tool-update>'))
    expect(second?.inserts).toBeGreaterThan(0)
  })
})

describe('messages read again', () => {
  it('are charged to append at each change of the array, and never to bridge', async () => {
    for (const [delivery, expected] of [
      ['append', true],
      ['bridge', false],
    ] as const) {
      const host = await open([search('select:tracker__create_issue')], { delivery })
      await host.ask('one')
      await host.ask('two')
      await measure(host, ['request-1', 'request-2', 'request-3'])
      const { reread } = host.conversation.inspect().accounting
      expect(reread, delivery).toBe(expected ? messagesOf(host, 0) : 0)
    }
  })

  it('are not charged for a compaction, a clear or a change that touches no array', async () => {
    const host = await open([search('select:tracker__create_issue')], { delivery: 'bridge' })
    await host.ask('one')
    host.well.catalogue.setSource('tracker', { tools: [tool('create_issue', { description: 'New words' })] })
    await host.ask('two')
    const after = [{ role: 'user', content: 'Summary.' }]
    await openaiChat(host.conversation).compact(host.messages, after)
    host.messages.splice(0, host.messages.length, ...after)
    await host.step()
    await host.conversation.clear()
    host.messages.length = 0
    await host.ask('three')
    await measure(host, ['request-1', 'request-2', 'request-3', 'request-4', 'request-5'])
    expect(host.conversation.inspect().accounting).toMatchObject({ measured: 5, reread: 0 })
  })
})

describe('figures', () => {
  it('of the provider are summed where the host gave them, and survive a restart', async () => {
    const store = memoryStore()
    const host = await open([search('select:tracker__create_issue')], { store })
    await host.ask('one')
    const { conversation } = host
    await conversation.recordRequest({
      requestId: 'request-1',
      messageTokens: 50,
      inputTokens: 700,
      cachedTokens: 512,
      outputTokens: 9,
    })
    await conversation.recordRequest({ requestId: 'request-2', messageTokens: 60, inputTokens: 900 })
    const { accounting, line } = conversation.inspect()
    expect(accounting.provider).toEqual({ inputTokens: 1600, cachedTokens: 512, outputTokens: 9 })
    const resumed = await createToolwell({ tools: mixed(), store }).open({ id: 'test' })
    expect(resumed.inspect().accounting).toEqual(accounting)
    expect(resumed.inspect().line).toBe(line)
  })

  it('of a request measured twice are the last ones', async () => {
    const host = await open([])
    await host.ask('one')
    for (const messageTokens of [10, 20])
      await host.conversation.recordRequest({ requestId: 'request-1', messageTokens })
    expect(host.conversation.inspect().accounting.actual).toBe(toolsOf(host, 0) + 20)
  })
})

describe('the status line', () => {
  it('A4: names the active tools, the number of deferred ones and the tokens', async () => {
    const host = await open([search('select:tracker__create_issue,calendar__find_slot')])
    expect(host.conversation.inspect().line).toBe('no request yet')
    await host.ask('one')
    const short = (tokens: number) => (tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`)
    expect(host.conversation.inspect().line).toBe(
      `active 2 (tracker__create_issue, calendar__find_slot) · 7 deferred · ${short(toolsOf(host, 1))} of ${short(definitions(mixed(), wireName))} tokens`,
    )
  })

  it('A4: does not count an eager tool that came late as an active one', async () => {
    const host = await open([])
    await host.ask('one')
    host.well.catalogue.setSource('mail', { tools: [tool('read_mail', { alwaysLoad: true })] })
    await host.ask('two')
    const { line, loadedLazyTools, visibleNames } = host.conversation.inspect()
    expect(host.names()).toContain('mail__read_mail')
    expect(line).toMatch(/^active 0 · 9 deferred · /)
    expect(loadedLazyTools).toEqual([])
    expect(visibleNames.map(({ name }) => name)).toContain('mail__read_mail')
  })
})

describe('the cost with a prompt cache', () => {
  const price = (input: number, kept: number) => 0.1 * kept + (input - kept)

  it('A1: charges cached tokens a tenth under bridge, and the messages in full under append', async () => {
    for (const delivery of ['bridge', 'append'] as const) {
      const use = delivery === 'append' ? call('tracker__create_issue') : undefined
      const bridged = call('tool_call', { name: 'tracker__create_issue', arguments: {} })
      const host = await open([search('select:tracker__create_issue'), use ?? bridged], { delivery })
      await host.ask('file it')
      await measure(host, ['request-1', 'request-2', 'request-3'])
      const [first, second, third] = [0, 1, 2].map(
        (index) => toolsOf(host, index) + messagesOf(host, index),
      ) as [number, number, number]
      // On this wire tools stand before messages: a longer array leaves only itself unread.
      const kept = delivery === 'append' ? toolsOf(host, 0) : first
      const { cost } = host.conversation.inspect().accounting
      expect(cost.actual, delivery).toBe(
        Math.round(price(first, 0) + price(second, kept) + price(third, second)),
      )
      expect(cost.saved).toBe(cost.counterfactual - cost.actual)
    }
  })

  it('A1: gives the counterfactual its cache too, so that a small catalogue shows a loss', async () => {
    const host = await open([search('select:tracker__create_issue')], { delivery: 'bridge' })
    await host.ask('file it')
    await measure(host, ['request-1', 'request-2'])
    const { cost, counterfactual, metaRequests } = host.conversation.inspect().accounting
    expect(metaRequests).toBe(1)
    // One request remains of the two, and nothing before it is in the cache.
    expect(cost.counterfactual).toBe(counterfactual)
    expect(cost.saved).toBeLessThan(0)
  })
})
