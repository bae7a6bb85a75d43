import { type LedgerStore, memoryStore } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { lastResult, startHost } from './support/host.js'
import { mixed, tool } from './support/tools.js'

/** Fails the appends whose number, counted from 1, is in the set. Nothing of a failed one is written. */
function failing(on: Set<number>): LedgerStore & { appends: number } {
  const inner = memoryStore()
  const store = {
    appends: 0,
    read: inner.read,
    async append(...given: Parameters<LedgerStore['append']>) {
      if (on.has(++store.appends)) throw new Error('the disk is full')
      await inner.append(...given)
    },
  }
  return store
}

const search = { calls: [{ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } }] }

describe('a store that cannot append', () => {
  it('QW-1: loads nothing for a search it cannot record, says so to the model, and loads it the next time', async () => {
    // Appends: 1 begin, 2 settle of the search (fails), 3 begin, 4 settle, 5 begin.
    const host = await startHost(
      { tools: mixed(), mode: 'on', delivery: 'append', store: failing(new Set([2])) },
      [search, search, { text: 'done' }],
    )
    host.say('file it')
    await host.step()
    expect(lastResult(host)).toBe('This could not be recorded, so nothing was loaded or unloaded. Try again.')
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
    await host.step()
    expect(host.names(1)).not.toContain('tracker__create_issue')
    expect(host.raw(1)).toContain('This could not be recorded')
    await host.step()
    expect(host.names(2)).toContain('tracker__create_issue')
    expect(host.events).toContainEqual(
      expect.objectContaining({ kind: 'append-failed', step: 'settle', detail: 'Error: the disk is full' }),
    )
  })

  it('runs no tool whose start it cannot record', async () => {
    let ran = 0
    const tools = [...mixed(), tool('pay', { execute: () => ++ran })]
    const host = await startHost({ tools, mode: 'on', store: failing(new Set([2])) }, [
      { calls: [{ name: 'pay', arguments: {} }] },
      { calls: [{ name: 'pay', arguments: {} }] },
      { text: 'done' },
    ])
    host.say('pay')
    await host.step()
    expect(ran).toBe(0)
    expect(lastResult(host)).toBe('This could not be recorded, so nothing was run. Try again.')
    await host.step()
    expect(ran).toBe(1)
    expect(lastResult(host)).toBe('1')
    expect(host.raw(1)).toContain('nothing was run')
  })

  it('answers every call of a batch whose start it cannot record', async () => {
    const host = await startHost({ tools: mixed(), mode: 'on', store: failing(new Set([2])) }, [
      { calls: [...search.calls, { name: 'read_file', arguments: {} }] },
      { text: 'done' },
    ])
    expect(await host.ask('both')).toBe('done')
    const results = host.messages.filter((message) => message.role === 'tool')
    expect(results).toHaveLength(2)
    for (const { content } of results) expect(content).toContain('nothing was run')
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
  })

  it.each(['append', 'bridge'] as const)(
    'brings the result of a tool that ran to the model, with a note, and loads nothing (%s)',
    async (delivery) => {
      // Appends: 1 begin, 2 start, 3 settle (fails).
      const host = await startHost({ tools: mixed(), mode: 'on', delivery, store: failing(new Set([3])) }, [
        {
          calls: [
            { name: 'tracker__create_issue', arguments: { value: 'x' } },
            { name: 'tool_search', arguments: { query: 'select:calendar__find_slot' } },
          ],
        },
        { text: 'done' },
      ])
      await host.ask('file it')
      const results = host.messages.filter((message) => message.role === 'tool').map(({ content }) => content)
      expect(results[0]).toContain('create_issue ran with {"value":"x"}')
      expect(results[0]).toContain('The tool ran, but the step could not be recorded')
      expect(results[1]).toContain('nothing was loaded')
      expect(host.conversation.inspect().loadedLazyTools).toEqual([])
      expect(host.raw(1)).not.toContain('is loaded')
    },
  )

  it('refuses a request it cannot record, and grants the same one later', async () => {
    const host = await startHost({ tools: mixed(), mode: 'on', store: failing(new Set([1])) }, [
      { text: 'done' },
    ])
    host.say('hello')
    await expect(host.step('r')).rejects.toThrow('the disk is full')
    expect(host.conversation.events).toEqual([])
    await host.step('r')
    expect(host.requests).toHaveLength(1)
    const kinds = host.events.map((event) => event.kind).filter((kind) => kind !== 'source-changed')
    expect(kinds).toEqual(['append-failed', 'frozen', 'requested'])
  })

  it('leaves no trace of a host step it cannot record', async () => {
    const host = await startHost(
      { tools: mixed(), mode: 'on', delivery: 'append', store: failing(new Set([2, 3, 4])) },
      [{ text: 'one' }, { text: 'two' }],
    )
    await host.ask('hello')
    const { conversation } = host
    await expect(conversation.load(['tracker__create_issue'])).rejects.toThrow('the disk is full')
    await expect(conversation.clear()).rejects.toThrow('the disk is full')
    await expect(conversation.compact({ kept: {} })).rejects.toThrow('the disk is full')
    await host.ask('again')
    expect(JSON.stringify(host.body(1).tools)).toBe(JSON.stringify(host.body(0).tools))
  })
})

describe('two conversations on one ledger', () => {
  const start = async () => {
    const host = await startHost({ tools: mixed(), mode: 'on', delivery: 'append' }, (_, index) =>
      index === 0 ? search : { text: `answer ${index}` },
    )
    const other = host.with(await host.well.open({ id: 'test' }))
    return { host, other }
  }

  it('begins from what the other one wrote', async () => {
    const { host, other } = await start()
    await host.ask('file it')
    expect(other.conversation.events).toHaveLength(0)
    other.say('and now?')
    await other.step('request of the other')
    expect(other.names()).toContain('tracker__create_issue')
    expect(other.conversation.events.slice(0, -1)).toEqual(host.conversation.events)
  })

  it('gives a request that the other one began the same bytes', async () => {
    const { host, other } = await start()
    host.say('file it')
    const mine = await host.step('shared')
    other.messages.push(...host.messages.slice(0, 1))
    const theirs = await other.step('shared')
    expect(JSON.stringify(theirs.turn.parts)).toBe(JSON.stringify(mine.turn.parts))
  })

  it('records what it did when the other one wrote in between, judged again on what is true then', async () => {
    const writers: (() => Promise<unknown>)[] = []
    const slow = tool('slow', {
      execute: async () => {
        await writers.pop()?.()
        return 'slow is done'
      },
    })
    const both = { calls: [...search.calls, { name: 'slow', arguments: {} }] }
    const host = await startHost({ tools: [...mixed(), slow], mode: 'on', delivery: 'append' }, [
      both,
      both,
      { text: 'done' },
    ])
    const other = await host.well.open({ id: 'test' })
    writers.push(() => other.load(['calendar__find_slot']))
    host.say('file it')
    const { results } = await host.step()
    expect(results.map(({ content }) => String(content).split('\n')[0])).toEqual([
      'toolwell/1 {"loaded":["tracker__create_issue"]}',
      'slow is done',
    ])
    expect(host.conversation.inspect()).toMatchObject({
      loadedLazyTools: ['calendar__find_slot', 'tracker__create_issue'],
      pendingCalls: [],
    })
    await host.step()
    expect(host.names(1).slice(-2)).toEqual(['calendar__find_slot', 'tracker__create_issue'])
  })

  it('runs a call once, whatever the other one wrote before its start was recorded', async () => {
    const { host } = await start()
    let ran = 0
    const other = await host.well.open({ id: 'test' })
    const execute = () => `run ${++ran}`
    const call = (anchor: string) => ({
      callId: anchor,
      anchor,
      name: 'read_file',
      input: { value: {} },
    })
    await host.conversation.begin({ requestId: 'mine', anchor: '', wire: 'openai-chat' })
    await other.begin({ requestId: 'theirs', anchor: '', wire: 'openai-chat' })
    await other.recordRequest({ requestId: 'theirs', messageTokens: 5 })
    const [granted] = await host.conversation.run([call('a')], { execute })
    expect(granted?.text).toBe('run 1')
    // The other one has the same reply to work on.
    const [late] = await other.run([call('a')], { execute })
    expect(late?.outcome.kind).toBe('already-started')
    expect(late?.text).toBe(
      'This call was already run and succeeded; its result is not stored here. It was not run again. Check what it did before you repeat it.',
    )
    expect(host.events.filter(({ kind }) => kind === 'call-fenced')).toMatchObject([
      { tool: 'read_file', callId: 'a', outcome: 'succeeded' },
    ])
    const outcomes = await Promise.all(
      [host.conversation, other].map((each) => each.run([call('b')], { execute })),
    )
    expect(
      outcomes
        .flat()
        .map(({ outcome }) => outcome.kind)
        .sort(),
    ).toEqual(['already-started', 'result'])
    expect(ran).toBe(2)
    // A reply was lost, and the next one uses its id for something else.
    const others = { ...call('a'), name: 'write_file' }
    expect((await host.conversation.run([others], { execute }))[0]?.text).toBe('run 3')
  })

  it('takes a host step again from what the other one wrote', async () => {
    const { host, other } = await start()
    await host.ask('file it')
    await other.conversation.load(['calendar__find_slot'])
    expect(other.conversation.inspect().loadedLazyTools).toEqual([
      'tracker__create_issue',
      'calendar__find_slot',
    ])
  })
})
