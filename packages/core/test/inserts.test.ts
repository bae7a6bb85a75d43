import { createToolwell, memoryStore, type Tool, type ToolwellOptions } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import type { ScriptedCall, ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { everyByte, startHost, type TestHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

const search = (query: string, more: readonly ScriptedCall[] = []): ScriptedReply => ({
  calls: [{ name: 'tool_search', arguments: { query } }, ...more],
})
const answers: readonly ScriptedReply[] = Array.from({ length: 20 }, (_, index) => ({
  text: `Answer ${index}.`,
}))
const open = (
  script: readonly ScriptedReply[],
  options: ToolwellOptions = {},
  tools: readonly Tool[] = mixed(),
) =>
  startHost({ tools, mode: 'on', delivery: 'append', ...options }, [...script, ...answers], {
    endpoint: { family: 'mistral' },
  })

/** Messages of a request that contain an update, as `index: text`; of a result only the part after it. */
function updates(host: TestHost, index = -1): string[] {
  return host.body(index).messages.flatMap(({ role, content }, at) => {
    const text = String(content)
    const start = text.indexOf('<tool-update>')
    return start < 0 ? [] : [`${at}: ${role === 'tool' ? text.slice(start) : text}`]
  })
}
const count = (text: string, part: string) => text.split(part).length - 1

/** Shortens the host's history and tells the conversation. */
async function compact(host: TestHost, after: readonly ChatMessage[]) {
  await openaiChat(host.conversation).compact(host.messages, after)
  host.messages.splice(0, host.messages.length, ...after)
}
const summary: ChatMessage = { role: 'user', content: 'Summary of what was said.' }

describe('the reminder of a load', () => {
  it('appears once, in the last result of its batch, and stays there on every later request', async () => {
    const host = await open([
      search('select:worktree', [
        { name: 'read_file', arguments: {} },
        { name: 'write_file', arguments: {} },
      ]),
    ])
    host.say('go')
    await host.step()
    expect(everyByte(host)).not.toContain('not git worktree in a shell')
    await host.step()
    const roles = host.body().messages.map((message) => message.role)
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'tool'])
    expect(updates(host)).toEqual([
      `5: <tool-update>\ngit__enter_worktree, git__exit_worktree are loaded. Call them directly.\ngit__enter_worktree: use this, not git worktree in a shell\ngit__exit_worktree: use this, not git worktree in a shell\n</tool-update>`,
    ])
    const first = updates(host)
    // It is part neither of the tool's result nor of the host's history.
    expect(JSON.stringify(host.messages)).not.toContain('tool-update')
    expect(host.body().messages[5]?.content).toMatch(/^write_file ran with \{\}\n\n<tool-update>/)
    await host.ask('more')
    await host.ask('and more')
    expect(updates(host)).toEqual(first)
  })

  it.each(['append', 'bridge'] as const)(
    'does not say again what the answer to a search has just said (%s)',
    async (delivery) => {
      const host = await open(
        [
          search('select:tracker__create_issue,worktree'),
          search('create an issue'),
          search('select:calendar__find_slot', [{ name: 'read_file', arguments: {} }]),
        ],
        { delivery },
      )
      await host.ask('go')
      expect(updates(host)).toEqual([
        expect.stringMatching(/^3: <tool-update>\ngit__enter_worktree, git__exit/),
      ])
      expect(updates(host).join()).not.toContain('tracker__create_issue')
    },
  )

  it('is written for what a search has loaded where its answer was lost', async () => {
    const host = await open([search('select:tracker__create_issue')])
    host.say('go')
    await host.step()
    // The host died before it kept the answer.
    host.messages.pop()
    await host.step()
    expect(updates(host)).toEqual([expect.stringMatching(/^3: [\s\S]*tracker__create_issue is loaded/)])
  })

  it('is written where no answer says so: loaded by a call, or by the host', async () => {
    const host = await open([{ calls: [{ name: 'tracker__create_issue', arguments: { value: 'x' } }] }])
    host.say('go')
    await host.conversation.load(['calendar__find_slot'])
    await host.step()
    await host.step()
    expect(updates(host)).toEqual([
      expect.stringMatching(/^1: go\n\n<tool-update>\ncalendar__find_slot is loaded/),
      expect.stringMatching(/^3: <tool-update>\ntracker__create_issue is loaded/),
    ])
  })

  it('brings guidelines and anti-fallback text with the tool and never before', async () => {
    const tools = [
      ...mixed(),
      tool('deploy', { source: 'ops', guidelines: ['Ask before Fridays.'], insteadOf: 'not kubectl' }),
    ]
    const host = await open([search('deploy'), search('select:ops__deploy')], {}, tools)
    host.say('hello')
    await host.step()
    expect(everyByte(host)).not.toMatch(/Ask before Fridays|not kubectl/)
    await host.step()
    expect(updates(host).join()).toContain('ops__deploy: not kubectl\nops__deploy: Ask before Fridays.')
  })

  it.each(['append', 'bridge'] as const)(
    'PW-4: survives a compaction right after the load (%s)',
    async (delivery) => {
      const host = await open([search('select:worktree')], { delivery })
      host.say('go')
      await host.step()
      await compact(host, [summary])
      await host.step()
      expect(count(host.raw(), 'not git worktree in a shell')).toBe(2)
      await host.ask('more')
      expect(count(host.raw(), 'not git worktree in a shell')).toBe(2)
    },
  )

  it('PW-4: survives a compaction after the request that wrote it, whether its place is kept or not', async () => {
    for (const keep of [false, true]) {
      const host = await open([search('select:worktree'), { status: 500, error: 'too long' }])
      host.say('go')
      await host.step()
      await host.step()
      expect(updates(host)).toHaveLength(1)
      await compact(host, keep ? [summary, ...host.messages.slice(-2)] : [summary])
      await host.step()
      expect(count(host.raw(), 'not git worktree in a shell'), `kept: ${keep}`).toBe(2)
    }
  })

  it('PW-4: survives such a compaction also where it says no more than that the tool is there', async () => {
    const host = await open([search('select:create_issue'), { status: 500, error: 'too long' }])
    host.say('go')
    await host.step()
    await host.step()
    await compact(host, [summary])
    await host.step()
    expect(updates(host).join()).toContain('tracker__create_issue is loaded')
  })

  it('PW-4: stops after another turn of the model', async () => {
    const host = await open([
      search('select:tracker__create_issue'),
      { calls: [{ name: 'read_file', arguments: {} }] },
    ])
    await host.ask('go')
    await compact(host, [summary])
    await host.step()
    expect(updates(host).join()).not.toContain('tracker__create_issue is loaded')
    expect(host.names()).toContain('tracker__create_issue')
  })

  it('U5: brings the rules of use back when a compaction drops them, whenever that is, and only once', async () => {
    const host = await open([search('select:worktree'), { calls: [{ name: 'read_file', arguments: {} }] }])
    await host.ask('go')
    await compact(host, [summary])
    await host.step()
    await host.ask('on')
    const rules = updates(host).filter((text) => text.includes('not git worktree in a shell'))
    expect(rules).toHaveLength(1)
  })

  it('PW-5: omits tools that are no longer available, and is not written if none is left', async () => {
    const denied = new Set<string>()
    const host = await open([search('create an issue'), search('select:worktree')], {
      policy: ({ id }) => !denied.has(id),
    })
    host.say('go')
    await host.conversation.load(['tracker__close_issue', 'calendar__find_slot'])
    denied.add('tracker/close_issue')
    await host.step()
    expect(host.raw()).toContain('calendar__find_slot is loaded.')
    expect(host.raw()).not.toMatch(/tracker__close_issue[^.]* (is|are) loaded/)
    await host.step()
    for (const id of ['git/enter_worktree', 'git/exit_worktree']) denied.add(id)
    await host.step()
    expect(host.raw()).not.toContain('git__enter_worktree, git__exit_worktree are loaded')
    expect(host.raw()).not.toContain('not git worktree in a shell')
    expect(host.raw()).toContain('No longer available: git__enter_worktree, git__exit_worktree.')
  })

  it('stays through an HTTP 500 and a retry, with the same id and with another', async () => {
    const fail: ScriptedReply = { status: 500, error: 'busy' }
    const host = await open([search('select:worktree'), fail, fail])
    host.say('go')
    await host.step()
    await host.step('tried')
    await host.step('tried')
    await host.step('another')
    const [, one, two, three] = host.requests
    expect(two?.raw).toBe(one?.raw)
    expect(three?.raw).toBe(one?.raw)
    expect(updates(host)).toHaveLength(1)
  })

  it('is written by another process that takes over right after the load', async () => {
    const store = memoryStore()
    const host = await open([search('select:worktree')], { store })
    host.say('go')
    await host.step()
    const well = createToolwell({ tools: mixed(), mode: 'on', store })
    const resumed = host.with(await well.open({ id: 'test' }))
    await resumed.step()
    expect(count(resumed.raw(), 'not git worktree in a shell')).toBe(2)
    const again = host.with(await createToolwell({ store }).open({ id: 'test' }), resumed.messages)
    await again.ask('more')
    expect(count(again.raw(), 'not git worktree in a shell')).toBe(2)
  })
})

describe('deltas', () => {
  const rules = { guidelines: ['Read before you answer.'], insteadOf: 'not a shell' }

  it.each(['append', 'bridge'] as const)(
    'U5, U6: a late eager tool brings its rules of use along, once (%s)',
    async (delivery) => {
      const host = await open([], { delivery })
      await host.ask('one')
      host.well.catalogue.setSource('mail', { tools: [tool('read_mail', { ...rules, alwaysLoad: true })] })
      await host.ask('two')
      const told = updates(host).join()
      expect(told).toContain('mail__read_mail was added to your tools.')
      expect(told).toContain('mail__read_mail: Read before you answer.')
      expect(told).toContain('mail__read_mail: not a shell')
      await host.ask('three')
      await host.ask('four')
      expect(updates(host).join()).toBe(told)
    },
  )

  it('a late deferred tool brings its rules of use along when it is loaded, once', async () => {
    const host = await open([{ text: 'Hm.' }, search('select:read_mail')])
    await host.ask('one')
    host.well.catalogue.setSource('mail', { tools: [tool('read_mail', rules)] })
    await host.ask('two')
    await host.ask('three')
    expect(count(host.raw(), 'Read before you answer.')).toBe(1)
  })

  it('quote the description of a late server when it is new', async () => {
    const host = await open([])
    await host.ask('one')
    const description = '# Mail\nLetters of <staff>.'
    host.well.catalogue.setSource('mail', { tools: [tool('send_mail')], description })
    await host.ask('two')
    expect(updates(host).join()).toContain(
      'Server "mail" is now available: 1 tool, found with tool_search. It describes itself: "Letters of \\u003cstaff\\u003e."\n- mail__send_mail: ',
    )
    host.well.catalogue.setSource('mail', { tools: [tool('send_mail'), tool('read_mail')], description })
    await host.ask('three')
    expect(updates(host).join()).toContain('- mail__read_mail: ')
    expect(count(host.raw(), 'It describes itself')).toBe(1)
  })

  it('QW-9: tell of a late server, its removal and its return, each once', async () => {
    const host = await open([])
    const { catalogue } = host.well
    const mail = { tools: [tool('send_mail'), tool('read_mail', { alwaysLoad: true })] }
    await host.ask('one')
    catalogue.setSource('mail', mail)
    await host.ask('two')
    expect(updates(host).join()).toContain('Server "mail" is now available: 1 tool')
    expect(updates(host).join()).toContain('mail__read_mail was added to your tools.')
    expect(host.names().at(-1)).toBe('mail__read_mail')
    catalogue.removeSource('mail')
    await host.ask('three')
    await host.ask('four')
    expect(count(host.raw(), 'No longer available: every tool of')).toBe(1)
    catalogue.setSource('mail', mail)
    await host.ask('five')
    await host.ask('six')
    expect(count(host.raw(), 'Available again: ')).toBe(1)
    expect(count(host.raw(), 'now available')).toBe(1)
    expect(count(host.raw(), 'added to your tools')).toBe(1)
  })

  it('QW-9: say nothing of a removed tool that the model has never seen', async () => {
    const host = await open([], { limits: { cardBudget: 0 } })
    await host.ask('one')
    host.well.catalogue.removeSource('calendar')
    await host.ask('two')
    expect(updates(host)).toEqual([])
  })

  it('name the right server when one is called like the beginning of another', async () => {
    const host = await open([], {}, [...mixed(), ...server('a', ['x_one']), ...server('a/b', ['x_two'])])
    await host.ask('one')
    host.well.catalogue.removeSource('a')
    await host.ask('two')
    host.well.catalogue.removeSource('a/b')
    await host.ask('three')
    expect(updates(host).at(-1)).toContain('No longer available: every tool of "a/b".')
  })

  it.each(['append', 'bridge'] as const)(
    'bring a changed definition behind the old one, which stays (%s)',
    async (delivery) => {
      const host = await open([search('select:tracker__create_issue')], { delivery })
      await host.ask('one')
      host.well.catalogue.setSource('tracker', {
        tools: [tool('create_issue', { description: 'Brand new words' })],
      })
      await host.ask('two')
      const tools = JSON.stringify(host.body().tools)
      expect(tools).not.toContain('Brand new words')
      expect(updates(host).join()).toContain('Changed by its owner: tracker__create_issue.')
      expect(updates(host).join()).toContain('"description":"Brand new words"')
      await host.ask('three')
      expect(count(host.raw(), 'Changed by its owner')).toBe(1)
    },
  )

  it('bring a definition that changed before a compaction kept the old one in sight', async () => {
    const host = await open([search('select:tracker__create_issue')], { delivery: 'bridge' })
    host.say('one')
    await host.step()
    await host.step()
    host.well.catalogue.setSource('tracker', {
      tools: [tool('create_issue', { description: 'Brand new words' })],
    })
    await compact(host, [summary, ...host.messages.slice(1)])
    await host.ask('two')
    expect(host.raw()).toContain('Does create issue')
    expect(updates(host).join()).toContain('"description":"Brand new words"')
  })

  it.each(['append', 'bridge'] as const)(
    'tell of what went and came back around a compaction, and leave the tool usable (%s)',
    async (delivery) => {
      const host = await open([search('select:calendar__find_slot')], { delivery })
      const { catalogue } = host.well
      await host.ask('one')
      catalogue.setState('calendar', 'disabled')
      await compact(host, [summary])
      await host.ask('two')
      expect(updates(host).join()).toContain('No longer available: every tool of "calendar".')
      catalogue.setState('calendar', 'ready')
      await host.ask('three')
      await host.ask('four')
      expect(count(host.raw(), 'No longer available')).toBe(1)
      expect(count(host.raw(), 'Available again: calendar__find_slot')).toBe(1)
      expect(host.conversation.inspect().loadedLazyTools).toEqual(['calendar__find_slot'])
      const declared = host.names().includes('calendar__find_slot')
      expect(declared).toBe(delivery === 'append')
      expect(count(updates(host).join(), '"load":')).toBe(delivery === 'bridge' ? 1 : 0)
    },
  )

  it('have nothing to add, request after request, once the loader was denied in mid-conversation', async () => {
    let loader = true
    const host = await open([search('select:tracker__create_issue')], {
      delivery: 'bridge',
      policy: ({ id }) => loader || id !== 'toolwell/tool_search',
    })
    await host.ask('one')
    loader = false
    await host.ask('two')
    expect(host.names()).toContain('tracker__create_issue')
    expect(host.names()).not.toContain('tool_search')
    const told = updates(host).length
    await host.ask('three')
    await host.ask('four')
    expect(updates(host)).toHaveLength(told)
  })

  it('QW2-4: leave the bridge when it is denied in mid-conversation', async () => {
    let bridge = true
    const host = await open([search('select:tracker__create_issue')], {
      delivery: 'bridge',
      policy: ({ id }) => bridge || id !== 'toolwell/tool_call',
    })
    await host.ask('one')
    bridge = false
    await host.ask('two')
    expect(host.names()).toEqual(['read_file', 'write_file', 'tool_search', 'tracker__create_issue'])
  })

  it('declare no name twice when a tool comes back while everything is eager', async () => {
    let loader = true
    const host = await open([search('select:calendar__find_slot')], {
      policy: ({ id }) => loader || id !== 'toolwell/tool_search',
    })
    await host.ask('one')
    loader = false
    await host.ask('two')
    host.well.catalogue.setState('calendar', 'disabled')
    await host.ask('three')
    host.well.catalogue.setState('calendar', 'ready')
    await host.ask('four')
    expect(host.names().filter((name) => name === 'calendar__find_slot')).toHaveLength(1)
  })
})

describe('schemas in the history (bridge)', () => {
  const schema = '"description":"Does create issue"'

  it('U7: are delivered again before the next request when a compaction drops them', async () => {
    const host = await open([search('select:tracker__create_issue')], { delivery: 'bridge' })
    await host.ask('one')
    expect(host.raw()).toContain('Does create issue')
    for (const round of [1, 2]) {
      await compact(host, [{ role: 'user', content: `Summary ${round}` }])
      await host.step()
      expect(count(updates(host).join(), schema), `round ${round}`).toBe(1)
      await host.ask('more')
      expect(count(updates(host).join(), schema), `round ${round}`).toBe(1)
    }
  })

  it('U7: are not delivered again while the search answer that holds them is kept, also by a second compaction', async () => {
    const twice: ChatMessage = { role: 'user', content: 'Yes.' }
    const host = await open(
      [{ text: 'Sure?' }, { text: 'Really?' }, search('select:tracker__create_issue')],
      {
        delivery: 'bridge',
      },
    )
    host.messages.push(twice)
    await host.step()
    host.messages.push(twice)
    await host.step()
    host.messages.push(twice)
    await host.step()
    await host.step()
    for (const round of [1, 2]) {
      await compact(host, [{ role: 'user', content: `Summary ${round}` }, ...host.messages.slice(-3)])
      await host.ask('more')
      host.messages.splice(-2)
      expect(updates(host).join(), `round ${round}`).not.toContain(schema)
      expect(host.raw()).toContain('Does create issue')
    }
  })

  it('are delivered for a tool that a guess or the host loaded', async () => {
    const host = await open([{ calls: [{ name: 'tracker__create_issue', arguments: { value: 'x' } }] }], {
      delivery: 'bridge',
    })
    await host.conversation.load(['calendar__find_slot'])
    await host.ask('one')
    expect(count(updates(host).join(), '"name":"tracker__create_issue"')).toBe(1)
    expect(count(updates(host).join(), '"name":"calendar__find_slot"')).toBe(1)
  })
})

describe('places', () => {
  it('QW2-5: are right for a provider that names every call call_0, also through an interrupted one', async () => {
    const zero = (name: string, input: unknown): ScriptedReply => ({
      calls: [{ id: 'call_0', name, arguments: input }],
    })
    const host = await startHost({ tools: mixed(), mode: 'on', delivery: 'append' }, [
      zero('tracker__create_issue', { value: 'x' }),
      zero('read_file', {}),
      zero('calendar__find_slot', { value: 'x' }),
      zero('read_file', {}),
      ...answers,
    ])
    host.say('go')
    for (let step = 0; step < 4; step++) await host.step()
    // The host died before the fourth call was answered.
    host.messages.pop()
    host.say('still there?')
    await host.step()
    expect(updates(host).map((update) => update.split('\n')[1])).toEqual([
      'tracker__create_issue is loaded. Call it directly.',
      'calendar__find_slot is loaded. Call it directly.',
    ])
    const places = updates(host).map((update) => Number.parseInt(update, 10))
    const earlier = updates(host, 3).map((update) => Number.parseInt(update, 10))
    expect(places).toEqual(earlier)
  })

  it('move with a reused call id when a compaction shortens the history', async () => {
    const zero = (query: string): ScriptedReply => ({
      calls: [{ id: 'call_0', name: 'tool_search', arguments: { query } }],
    })
    const host = await open([zero('select:tracker__create_issue'), zero('select:worktree')])
    await host.ask('go')
    await compact(host, [summary, ...host.messages.slice(3)])
    await host.ask('more')
    expect(updates(host)).toEqual([
      expect.stringMatching(/^3: <tool-update>\ngit__enter_worktree, git__exit/),
    ])
  })

  it('keep their text through two compactions that keep them under another name', async () => {
    const yes: ChatMessage = { role: 'user', content: 'Yes.' }
    const host = await open([])
    host.messages.push(yes, { role: 'assistant', content: 'Sure?' }, yes)
    await host.conversation.load(['worktree'])
    await host.step()
    await compact(host, [{ role: 'user', content: 'Summary one.' }, ...host.messages.slice(2)])
    await host.ask('more')
    expect(updates(host)).toEqual([expect.stringMatching(/^2: Yes\.\n\n<tool-update>\ngit__enter_worktree/)])
    await compact(host, [{ role: 'user', content: 'Summary two.' }, ...host.messages.slice(1)])
    await host.ask('still more')
    expect(updates(host)).toEqual([expect.stringMatching(/^2: Yes\.\n\n<tool-update>\ngit__enter_worktree/)])
  })

  it('that a request has carried take no further notice: it waits for the next result, or for the user', async () => {
    const host = await open([search('select:worktree'), { status: 500, error: 'busy' }])
    const { catalogue } = host.well
    host.say('go')
    await host.step()
    await host.step()
    const carried = host.raw()
    catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
    catalogue.removeSource('calendar')
    await host.step()
    expect(host.raw()).toBe(carried)
    host.say('and now?')
    await host.step()
    expect(updates(host)).toHaveLength(2)
    expect(updates(host)[1]).toMatch(/^5: and now\?\n\n<tool-update>\nNo longer available/)
    expect(updates(host)[1]).toContain('Server "mail" is now available')
  })

  it('do not follow a model message: it continues where it stopped', async () => {
    const host = await open([])
    host.say('go')
    await host.step()
    host.well.catalogue.removeSource('calendar')
    await host.step()
    expect(updates(host)).toEqual([])
    host.say('and now?')
    await host.step()
    expect(updates(host).join()).toContain('No longer available')
  })

  it('are behind all results also where the host keeps the results in another order', async () => {
    const host = await open([search('select:worktree', [{ name: 'read_file', arguments: {} }])])
    host.say('go')
    await host.step()
    host.messages.push(...host.messages.splice(-2).reverse())
    await host.step()
    expect(host.body().messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
    ])
    expect(updates(host)).toEqual([expect.stringMatching(/^4: /)])
  })

  it('that are gone move to the next message, and sent messages keep their bytes', async () => {
    const host = await open([search('select:worktree')])
    await host.ask('go')
    // The host forgets a part of its history and tells nobody.
    host.messages.splice(1, 2)
    host.say('more')
    await host.step()
    expect(updates(host)).toEqual([expect.stringMatching(/not git worktree in a shell/)])
    expect(JSON.stringify(host.body().messages.at(-1))).toContain('not git worktree in a shell')
  })

  it('of a compacted history are known to a fork of it', async () => {
    const host = await open([search('select:tracker__create_issue')])
    await host.ask('go')
    await compact(host, [summary])
    const fork = await openaiChat(host.conversation).fork(host.messages, { id: 'fork' })
    expect(fork.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    const other = host.with(fork)
    await other.step()
    expect(other.names()).toContain('tracker__create_issue')
  })

  it('of an early part of a history give a fork that knows no more than that part', async () => {
    const host = await open([search('select:tracker__create_issue')])
    await host.ask('go')
    const early = host.messages.slice(0, 1)
    const fork = await openaiChat(host.conversation).fork(early, { id: 'early' })
    expect(fork.inspect().loadedLazyTools).toEqual([])
  })

  it('of a history from before a compaction give a fork that knows nothing of what came after it', async () => {
    const zero = (query: string): ScriptedReply => ({
      calls: [{ id: 'call_0', name: 'tool_search', arguments: { query } }],
    })
    const host = await open([zero('select:tracker__create_issue'), zero('select:calendar__find_slot')])
    host.say('go')
    await host.step()
    const before = [...host.messages]
    await compact(host, [summary])
    await host.step()
    expect(host.conversation.inspect().loadedLazyTools).toHaveLength(2)
    const fork = await openaiChat(host.conversation).fork(before, { id: 'before' })
    expect(fork.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
  })

  it('with a reused call id give a fork of a compacted history all that the history holds', async () => {
    const zero = (query: string): ScriptedReply => ({
      calls: [{ id: 'call_0', name: 'tool_search', arguments: { query } }],
    })
    const host = await open([zero('select:tracker__create_issue'), zero('select:calendar__find_slot')])
    await host.ask('go')
    await compact(host, [summary, ...host.messages.slice(3)])
    const fork = await openaiChat(host.conversation).fork(host.messages, { id: 'fork' })
    expect(fork.inspect().loadedLazyTools).toEqual(['tracker__create_issue', 'calendar__find_slot'])
  })
})
