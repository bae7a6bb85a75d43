/** Cases that Qwen Code's mechanism, and its later bridge, had to learn. Each title begins with the number of its case. */
import { type LedgerStore, memoryStore, type Tool } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { commonPrefix, type ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { chatRenderOrder } from '../../../testing/src/openai-chat/answer.js'
import { startHost, type TestHost } from '../support/host.js'
import { bridge, play, search } from '../support/play.js'
import { mixed, server, tool } from '../support/tools.js'

const find = (query: string): ScriptedReply => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const done: ScriptedReply = { text: 'Done.' }
const start = (script: readonly ScriptedReply[], options: object = {}) =>
  startHost({ tools: mixed(), mode: 'on', delivery: 'append', ...options }, [...script, done, done, done])
const system = (host: TestHost, index = -1) =>
  host.body(index).messages.filter((message) => message.role === 'system')

describe('loading', () => {
  it('QW-2: a definition that cannot be made for one tool of a batch leaves the others alone', async () => {
    const host = await start([find('select:create_issue,close_issue')], {
      surface: {
        transformDefinition: ({ name, description }: Tool) => {
          if (name === 'close_issue') throw new Error('the plugin is broken')
          return { description: `${description}!` }
        },
      },
    })
    await host.ask('go')
    const sent = (name: string) => host.body().tools?.find((each) => each.function.name === name)?.function
    expect(sent('tracker__create_issue')?.description).toBe('Does create issue!')
    expect(sent('tracker__close_issue')?.description).toBe('Does close issue')
    expect(host.events).toContainEqual(expect.objectContaining({ kind: 'hook-failed' }))
  })

  it('QW-19: a call that guesses from a card is checked before it runs, and the answer holds the schema', async () => {
    let ran = 0
    const guessed = tool('charge', {
      source: 'bank',
      inputSchema: { type: 'object', properties: { cents: { type: 'integer' } }, required: ['cents'] },
      execute: () => ++ran,
    })
    const host = await play({ tools: [guessed] })
    const [answer] = await host.step({ name: 'bank__charge', arguments: { euros: 5 } })
    expect(answer).toContain('"cents"')
    expect(ran).toBe(0)
  })
})

describe('calls', () => {
  it('QW-21: that fail, are denied, do not fit or are cut off load nothing, live or read from the history', async () => {
    const host = await play({
      tools: [
        ...mixed(),
        tool('fails', { source: 'x', execute: () => Promise.reject(new Error('no')) }),
        tool('strict', { source: 'x', inputSchema: { type: 'object', required: ['id'] } }),
        tool('forbidden', { source: 'x' }),
        tool('cut', { source: 'x', execute: () => new Promise(() => {}) }),
      ],
      policy: ({ action, name }) => action !== 'call' || name !== 'forbidden',
    })
    const names = ['fails', 'strict', 'forbidden', 'cut'].map((name) => `x__${name}`)
    await host.run(
      names.map((name) => ({ name, arguments: {} })),
      { signal: AbortSignal.timeout(50) },
    )
    expect(host.loaded()).toEqual([])
    const other = await play()
    expect((await other.chat.importHistory(host.messages)).recovered).toEqual([])
  })
})

describe('late servers', () => {
  const late = (host: TestHost) =>
    host.well.catalogue.setSource('late', { tools: server('late', ['arrive']) })

  it('QW-10: a server that joins between two steps of one turn is announced on the next request, after the history', async () => {
    const host = await start([find('select:create_issue')])
    host.messages.push({ role: 'system', content: 'Context of the session hook.' })
    host.say('go')
    await host.step()
    late(host)
    await host.step()
    expect(JSON.stringify(host.body().messages)).toContain('late__arrive')
    expect(system(host)).toEqual(system(host, 0))
    expect(JSON.stringify(system(host))).toContain('Context of the session hook.')
  })

  it('QW-11: a tool that was loaded before a restart comes back when its server has joined', async () => {
    const store = memoryStore()
    const first = await start([find('select:late__arrive')], { store, tools: [tool('read_file')] })
    late(first)
    await first.ask('go')
    const second = await start([], { store, tools: [tool('read_file')] })
    const resumed = second.with(second.conversation, first.messages)
    resumed.say('before it joins')
    await resumed.step('restart-1')
    const { loadedLazyTools, suspended } = second.conversation.inspect()
    expect({ loadedLazyTools, suspended }).toEqual({
      loadedLazyTools: [],
      suspended: { 'late/arrive': 'vanished' },
    })
    late(second)
    resumed.say('after')
    await resumed.step('restart-2')
    expect(second.conversation.inspect().loadedLazyTools).toEqual(['late__arrive'])
    expect(JSON.stringify(second.body().messages)).toContain('Available again: late__arrive')
  })
})

describe('news', () => {
  it('QW-9: that could not be recorded come with the next request, once', async () => {
    const kept = memoryStore()
    let broken = false
    const store: LedgerStore = {
      read: (id) => kept.read(id),
      append: (id, from, events) =>
        broken ? Promise.reject(new Error('full')) : kept.append(id, from, events),
    }
    const host = await play({ store })
    await host.begin()
    host.well.catalogue.setSource('late', { tools: server('late', ['arrive']) })
    host.talk()
    broken = true
    await expect(host.begin()).rejects.toThrow('full')
    broken = false
    expect((await host.sent()).match(/late__arrive/g)).toHaveLength(1)
    host.talk()
    expect((await host.sent()).match(/late__arrive/g)).toHaveLength(1)
  })
})

describe('shortened and repeated histories', () => {
  it('QW-12: a compaction restores the list of what is hidden, without what is loaded', async () => {
    const host = await start([find('select:create_issue')])
    await host.ask('go')
    const before = [...host.messages]
    host.messages.splice(0, host.messages.length)
    await openaiChat(host.conversation).compact(before, host.messages)
    await host.ask('on')
    const listed = JSON.stringify(host.body().tools?.find((each) => each.function.name === 'tool_search'))
    expect(listed).toContain('tracker__close_issue')
    expect(listed).not.toContain('tracker__create_issue')
  })

  it('QW-12: a withdrawn prompt keeps the reminders before it, and leaves no trace', async () => {
    const host = await start([find('select:create_issue'), done, { status: 500, error: 'down' }])
    await host.ask('go')
    const kept = JSON.stringify(host.body().messages)
    host.say('a prompt that fails')
    await host.step()
    host.messages.pop()
    await host.ask('another prompt')
    expect(JSON.stringify(host.body().messages).startsWith(kept.slice(0, -1))).toBe(true)
    expect(host.raw()).not.toContain('a prompt that fails')
  })

  it('QW-12: reminders are not history entries, so no index of prompts counts them', async () => {
    const host = await start([find('select:enter_worktree')])
    await host.ask('go')
    host.well.catalogue.setSource('late', { tools: server('late', ['arrive']) })
    await host.ask('more')
    expect(host.raw().match(/<tool-update>/g)).toHaveLength(2)
    expect(JSON.stringify(host.messages)).not.toContain('<tool-update>')
    expect(host.messages.filter(({ role }) => role === 'user')).toHaveLength(2)
  })
})

describe('the cache', () => {
  it('QW-16: a search over the bridge costs no byte of what was sent before it', async () => {
    const host = await start([find('create an issue'), find('select:find_slot')], { delivery: 'bridge' })
    await host.ask('go')
    for (const index of [1, 2]) {
      const [before, after] = [chatRenderOrder(host.body(index - 1)), chatRenderOrder(host.body(index))]
      // All but the bracket that closes the list of messages.
      expect(commonPrefix(before, after)).toBe(before.length - 1)
    }
  })
})

describe('what is allowed', () => {
  it('QW-17: what is forbidden stays so, whether it is marked, listed or named eager', async () => {
    const tools = [tool('a', { alwaysLoad: true }), tool('b'), tool('c', { defer: false }), ...mixed()]
    const policy = ({ name }: { name: string }) => !['a', 'b', 'c'].includes(name)
    const host = await play({ tools, policy, eager: ['b'] })
    expect((await host.names()).filter((name) => name.length === 1)).toEqual([])
    expect((await host.step({ name: 'a', arguments: {} }))[0]).not.toContain('ran with')
  })

  it('QW-17: what is always in sight is so after a clear', async () => {
    const host = await play({ eager: ['tracker__create_issue'] })
    expect(await host.names()).toContain('tracker__create_issue')
    await host.conversation.clear()
    host.talk()
    expect(await host.names()).toContain('tracker__create_issue')
  })

  it('QW-17: a tool that got another name by a collision is forbidden under it, too', async () => {
    // The host's own tool has the plain name already.
    const tools = [tool('a__b'), ...server('a', ['b', 'other'])]
    const host = await play({ tools, policy: ({ id }) => id !== 'a/b' })
    const renamed = host.well.catalogue.get('a/b')?.wireName ?? ''
    expect(renamed).toMatch(/^a__b_[0-9a-f]+$/)
    expect(await host.sent()).not.toContain(renamed)
    const [found, called] = await host.step(search(`select:${renamed}`), { name: renamed, arguments: {} })
    expect([found, called].join()).not.toMatch(/ran with|loaded\./)
    expect(host.loaded()).toEqual([])
  })
})

describe('sub-agents over the bridge', () => {
  it('QW2-6: may read the schema of their own tools, and get no hint about others', async () => {
    const parent = await play({ delivery: 'bridge' })
    const child = await parent.conversation.child({
      id: 'child',
      allow: ['tracker__create_issue', 'calendar*'],
    })
    const host = await play({ delivery: 'bridge' }, child)
    const [own, foreign, called] = await host.step(
      search('select:tracker__create_issue'),
      search('select:tracker__close_issue'),
      bridge('tracker__close_issue'),
    )
    expect(own).toContain('Already loaded; call directly')
    expect(foreign).toContain('Found no tool named')
    expect(called).toContain('Found no tool named')
    expect(`${foreign}${called}`).not.toMatch(/Does close issue|select:/)
  })

  it('QW2-6: without a loader are not sent to one', async () => {
    const parent = await play({ delivery: 'bridge' })
    const child = await parent.conversation.child({ id: 'child', inherit: 'all', allow: ['read_file'] })
    const host = await play({ delivery: 'bridge' }, child)
    const [called] = await host.step({ name: 'tracker__close_issue', arguments: {} })
    expect(called).not.toMatch(/tool_search|tool_call/)
  })
})

describe('loops', () => {
  it('QW2-8: the same wrong call is the same call, directly or through the wrapper, in any spelling', async () => {
    const strict = tool('charge', {
      source: 'bank',
      inputSchema: { type: 'object', properties: { cents: { type: 'integer' } }, required: ['cents'] },
    })
    const host = await play({ tools: [strict], delivery: 'bridge' })
    const wrong = { euros: 1 }
    await host.step({ name: 'bank__charge', arguments: wrong })
    await host.step(bridge('bank__charge', wrong))
    const [third] = await host.step(bridge('Bank-Charge', wrong))
    expect(third).toContain('has failed twice in the same way')
  })
})

describe('answers with schemas', () => {
  const wide = (name: string, width: number) =>
    tool(name, {
      source: 'wide',
      description: `Paints a wall, way ${name}`,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: width }, (_, index) => [`${name}_${index}`, { type: 'string' }]),
        ),
      },
    })

  it('QW2-7: a schema that does not fit is omitted whole, and its tool is named', async () => {
    const tools = ['one', 'two', 'three', 'four'].map((name) => wide(name, 60))
    const host = await play({ tools, delivery: 'bridge', limits: { resultBudget: 1500 } })
    const [answer = ''] = await host.step(search('paint a wall'))
    for (const { name, inputSchema } of tools) {
      const whole = answer.includes(JSON.stringify(inputSchema))
      expect(answer.includes(`${name}_59`), name).toBe(whole)
      expect(host.loaded().includes(`wide__${name}`), name).toBe(whole)
      expect(answer).toContain(`wide__${name}`)
    }
    expect(host.loaded().length).toBeGreaterThan(0)
    expect(host.loaded().length).toBeLessThan(4)
  })

  it('QW2-7: a tool that is too large for any answer is delivered whole when it is asked for by name', async () => {
    const host = await play({ tools: [wide('huge', 2000)], delivery: 'bridge' })
    const [found = '', selected = ''] = [
      ...(await host.step(search('paint a wall'))),
      ...(await host.step(search('select:wide__huge'))),
    ]
    expect(found).toMatch(/wide__huge\(.*\(large; /)
    expect(found).not.toContain('"huge_0"')
    expect(selected).toContain('huge_1999')
  })
})
