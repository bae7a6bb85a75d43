import { createToolwell, type ToolwellOptions } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import type { ScriptedCall, ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { lastResult, startHost, type TestHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

const find = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })
const call = (name: string, input: unknown = { value: 'x' }): ScriptedCall => ({ name, arguments: input })
const reply = (...calls: ScriptedCall[]): ScriptedReply => ({ calls })
const answers: readonly ScriptedReply[] = Array.from({ length: 12 }, (_, index) => ({
  text: `Answer ${index}.`,
}))
const numbered = server('box', ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'])

/** Messages that weigh next to nothing: reading them again is cheap, so what is unloaded leaves the array at once. */
const light = { messageTokens: 1 }

const open = (script: readonly ScriptedReply[], options: ToolwellOptions = {}) =>
  startHost(
    { tools: [...mixed(), ...numbered], mode: 'on', delivery: 'append', ...options },
    [...script, ...answers],
    light,
  )

/** The tools array of a request after the loader, with tombstones marked. */
function loaded(host: TestHost, index = -1): string[] {
  const tools = host.body(index).tools ?? []
  const loader = tools.findIndex((each) => each.function.name === 'tool_search')
  return tools
    .slice(loader + 1)
    .filter((each) => !each.function.description?.startsWith('Unloaded.'))
    .map((each) => each.function.name)
}
const results = (host: TestHost) =>
  host.messages.filter((message) => message.role === 'tool').map((message) => String(message.content))

describe('a batch', () => {
  it('L7, QW2-1: runs a call of a tool that a search in the same batch finds, by the rule for hidden tools', async () => {
    const host = await open([reply(find('select:box__alpha'), call('box__alpha'))])
    await host.ask('go')
    expect(results(host)[1]).toBe('alpha ran with {"value":"x"}')
    expect(loaded(host)).toEqual(['box__alpha'])
    expect(host.conversation.events.filter((event) => event.kind === 'loaded')).toHaveLength(1)
  })

  it('L7, MK-1: is judged at its start, so the same call is answered with a hint where hints are the rule', async () => {
    const host = await open([reply(find('select:box__alpha'), call('box__alpha'))], {
      surface: { hiddenCalls: 'hint' },
    })
    await host.ask('go')
    expect(results(host)[1]).toBe(
      'box__alpha is available but not loaded. Call tool_search with select:box__alpha first. Nothing was run.',
    )
    expect(loaded(host)).toEqual(['box__alpha'])
  })

  it('FA-5: attributes each load to one of its searches', async () => {
    const host = await open([
      reply(find('select:box__alpha'), find('select:box__alpha,box__beta'), find('select:box__beta')),
    ])
    await host.ask('go')
    const searched = host.conversation.events.flatMap((event) =>
      event.kind === 'searched' ? [event.loaded] : [],
    )
    expect(searched).toEqual([['box/alpha'], ['box/beta'], []])
    const lines = results(host).map((text) => JSON.parse(text.split('\n')[0]?.slice(11) ?? '').loaded.length)
    expect(lines).toEqual([1, 1, 0])
    expect(loaded(host)).toEqual(['box__alpha', 'box__beta'])
  })

  it('PW-1: loads nothing by a call that fails', async () => {
    const broken = tool('broken', {
      source: 'box',
      execute: () => {
        throw new Error('no')
      },
    })
    const host = await open([reply(call('box__broken'))], { tools: [...mixed(), broken] })
    await host.ask('go')
    expect(results(host)).toEqual(['box__broken failed: no'])
    expect(loaded(host)).toEqual([])
  })
})

describe('a cap', () => {
  it.each(['select:box__alpha', 'box__alpha'])(
    'L3: counts a search for a loaded tool by its name as a use of it: %s',
    async (again) => {
      const host = await open(
        [
          reply(find('select:box__alpha')),
          reply(find('select:box__beta')),
          reply(find(again)),
          reply(find('select:box__gamma')),
        ],
        { limits: { maxLoaded: 2 } },
      )
      await host.ask('go')
      expect(loaded(host)).toEqual(['box__alpha', 'box__gamma'])
    },
  )

  it('CB-1: unloads the least recently used tool, not the least recently loaded one', async () => {
    const host = await open(
      [
        reply(find('select:box__alpha')),
        reply(find('select:box__beta')),
        reply(call('box__alpha')),
        reply(find('select:box__gamma')),
      ],
      { limits: { maxLoaded: 2 } },
    )
    await host.ask('go')
    expect(lastResult(host)).toContain('Unloaded to make room: box__beta.')
    expect(loaded(host)).toEqual(['box__alpha', 'box__gamma'])
    expect(host.conversation.events).toContainEqual(
      expect.objectContaining({ kind: 'unloaded', tool: 'box/beta', reason: 'evicted' }),
    )
    // The name stays declared, for the calls of it in the history.
    expect(host.names()).toContain('box__beta')
  })

  it('CB-2: loads what fits of one search, drops the rest and says which', async () => {
    const host = await open([reply(find('select:box__alpha,box__beta,box__gamma,box__delta'))], {
      limits: { maxLoaded: 2 },
    })
    await host.ask('go')
    expect(loaded(host)).toEqual(['box__alpha', 'box__beta'])
    expect(lastResult(host)).toMatch(/box__gamma\([^\n]*\(no room[^\n]*\n- box__delta\([^\n]*\(no room/)
    expect(lastResult(host)).not.toContain('Unloaded')
    const searched = host.conversation.events.find((event) => event.kind === 'searched')
    expect(searched).toMatchObject({
      loaded: ['box/alpha', 'box/beta'],
      dropped: [{ reason: 'cap' }, { reason: 'cap' }],
    })
  })

  it('keeps a tool that the same batch calls', async () => {
    const host = await open(
      [
        reply(find('select:box__alpha,box__beta')),
        reply(find('select:box__gamma'), call('box__alpha')),
        reply(find('select:box__delta'), call('box__alpha'), call('box__gamma')),
      ],
      { limits: { maxLoaded: 2 } },
    )
    await host.ask('go')
    expect(loaded(host, 2)).toEqual(['box__alpha', 'box__gamma'])
    expect(loaded(host, 3)).toEqual(['box__alpha', 'box__gamma'])
    expect(results(host).find((text) => text.includes('box__delta'))).toMatch(/box__delta\(.*\(no room/)
  })

  it('keeps a tool whose call has not ended', async () => {
    let during: readonly string[] = []
    const slow = tool('slow', {
      source: 'box',
      execute: async () => {
        const report = await host.conversation.load(['box__alpha'])
        during = report.refused.map(({ reason }) => reason)
        return 'slow is done'
      },
    })
    const host = await open([reply(find('select:box__slow')), reply(call('box__slow'))], {
      tools: [...mixed(), ...numbered, slow],
      limits: { maxLoaded: 1 },
    })
    await host.ask('go')
    expect(during).toEqual(['cap'])
    expect(loaded(host)).toEqual(['box__slow'])
  })

  it('releases its slot if a crash cut off the call', async () => {
    const host = await open(
      [reply(find('select:box__alpha')), { text: 'Hm.' }, reply(find('select:box__beta'))],
      {
        limits: { maxLoaded: 1 },
      },
    )
    await host.ask('go')
    // The process dies while the tool runs: its end is never recorded.
    void host.conversation.run(
      [{ callId: 'lost', anchor: 'call:lost', name: 'box__alpha', input: { value: {} } }],
      { execute: () => new Promise(() => {}) },
    )
    await host.ask('next')
    expect(loaded(host)).toEqual(['box__beta'])
  })

  it.each(['append', 'bridge'] as const)(
    'tells the model what a direct call or the host unloaded (%s)',
    async (delivery) => {
      const host = await open([reply(find('select:box__alpha')), reply(call('box__beta'))], {
        limits: { maxLoaded: 1 },
        delivery,
      })
      await host.ask('go')
      expect(host.raw()).toContain('Unloaded: box__alpha.')
      await host.conversation.load(['box__gamma'])
      await host.ask('more')
      expect(host.raw()).toContain('Unloaded: box__beta.')
      await host.conversation.unload(['box__gamma'])
      await host.ask('and more')
      await host.ask('and still more')
      for (const name of ['alpha', 'beta', 'gamma'])
        expect(host.raw().split(`Unloaded: box__${name}.`)).toHaveLength(2)
    },
  )

  it('loads a group as a whole or not at all', async () => {
    const host = await open(
      [reply(find('select:box__alpha')), reply(find('select:worktree'), call('box__alpha'))],
      {
        limits: { maxLoaded: 2 },
      },
    )
    await host.ask('go')
    expect(loaded(host)).toEqual(['box__alpha'])
    expect(results(host)[1]).toMatch(/git__enter_worktree\(.*\(its group does not fit as a whole/)
    const roomy = await open([reply(find('select:box__alpha')), reply(find('select:git__exit_worktree'))], {
      limits: { maxLoaded: 2 },
    })
    await roomy.ask('go')
    expect(loaded(roomy)).toEqual(['git__enter_worktree', 'git__exit_worktree'])
  })

  it('makes no room for a member that joined its group by unloading another of it', async () => {
    const member = (name: string) => tool(name, { group: 'pair' })
    const host = await open([reply(find('select:late__one')), reply(find('select:box__alpha'))], {
      limits: { maxLoaded: 2 },
    })
    host.well.catalogue.setSource('late', { tools: [member('one')] })
    await host.ask('go')
    expect(loaded(host)).toEqual(['late__one', 'box__alpha'])
    host.well.catalogue.setSource('late', { tools: [member('one'), member('two')] })
    await host.conversation.load(['late__two'])
    await host.ask('go on')
    expect(loaded(host)).toEqual(['late__one', 'late__two'])
  })

  it('counts a tool whose server is away, so that its return cannot exceed it', async () => {
    const host = await open([reply(find('select:calendar__find_slot,box__alpha'))], {
      limits: { maxLoaded: 2 },
    })
    await host.ask('go')
    host.well.catalogue.setState('calendar', 'disabled')
    const summary = [{ role: 'user', content: 'Summary.' }]
    await openaiChat(host.conversation).compact(host.messages, summary)
    host.messages.splice(0, host.messages.length, ...summary)
    await host.step()
    await host.conversation.load(['box__beta'])
    host.well.catalogue.setState('calendar', 'ready')
    await host.ask('next')
    expect(loaded(host)).toHaveLength(2)
  })

  it.each([1, 2])(
    'of %i has one place for a tool that comes back and is selected again',
    async (maxLoaded) => {
      const host = await startHost(
        {
          tools: [...mixed(), ...numbered],
          mode: 'on',
          delivery: 'append',
          limits: { maxLoaded: maxLoaded },
        },
        (_, index) => {
          // The server comes back while the model thinks.
          if (index === 2) host.well.catalogue.setState('calendar', 'ready')
          const query = ['select:calendar__find_slot', '', 'select:calendar__find_slot', 'select:box__alpha'][
            index
          ]
          return query ? reply(find(query)) : { text: 'Done.' }
        },
        light,
      )
      await host.ask('go')
      host.well.catalogue.setState('calendar', 'disabled')
      const after = [{ role: 'user', content: 'Summary.' }]
      await openaiChat(host.conversation).compact(host.messages, after)
      host.messages.splice(0, host.messages.length, ...after)
      await host.step()
      expect(lastResult(host)).toContain('1 tool loaded.')
      await host.step()
      expect(loaded(host)).toEqual(['calendar__find_slot'])
      await host.step()
      expect(loaded(host)).toEqual(maxLoaded === 1 ? ['box__alpha'] : ['calendar__find_slot', 'box__alpha'])
    },
  )

  it('holds for a search when the host loaded a tool while its batch ran', async () => {
    const slow = tool('slow', {
      execute: async () => {
        await host.conversation.load(['box__alpha'])
        return 'slow is done'
      },
    })
    const host = await open([reply(find('select:box__beta'), call('slow'))], {
      tools: [...mixed(), ...numbered, slow],
      limits: { maxLoaded: 1 },
    })
    await host.ask('go')
    expect(loaded(host)).toEqual(['box__beta'])
    expect(results(host)[0]).toContain('Unloaded to make room: box__alpha.')
  })

  it('has no place to lose to a tool that is sent anyway', async () => {
    const host = await open([reply(find('select:box__alpha'))], { limits: { maxLoaded: 1 } })
    const report = await host.conversation.load(['read_file'])
    expect(report).toEqual({ loaded: [], already: ['read_file'], refused: [] })
    await host.ask('go')
    expect(loaded(host)).toEqual(['box__alpha'])
    expect(host.raw()).not.toMatch(/Unloaded|read_file (is|are) loaded/)
  })

  it.each([0, Number.NaN, -1, 1.5])('CB-4: of %s is refused with the reason', (maxLoaded) => {
    expect(() => createToolwell({ limits: { maxLoaded: maxLoaded } })).toThrow(/maxLoaded/)
  })
})

describe('a very large tool', () => {
  const huge = tool('everything', {
    source: 'box',
    description: 'Does the whole accounting of the company',
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 1000 }, (_, index) => [
          `field_${index}`,
          {
            type: 'string',
            description: `The meaning of the field with the number ${index}, at some length`,
          },
        ]),
      ),
    },
  })

  it('is loaded by its exact name only, and its cost is stated', async () => {
    const host = await open(
      [reply(find('whole accounting of the company')), reply(find('select:box__everything'))],
      { tools: [...mixed(), huge] },
    )
    await host.ask('go')
    expect(results(host)[0]).toMatch(/box__everything\(.*\(large; loaded only by select; 2\d{4} tokens\)/)
    expect(loaded(host, 1)).toEqual([])
    expect(loaded(host, 2)).toEqual(['box__everything'])
  })
})

describe('what is unloaded', () => {
  const heavy = { messageTokens: 50_000 }
  const script = [
    reply(find('select:box__alpha,box__beta')),
    reply(find('unload:box__alpha')),
    { text: 'Done.' },
    reply(find('select:box__alpha')),
  ]
  const start = (setup: { readonly messageTokens?: number }) =>
    startHost(
      { tools: [...mixed(), ...numbered], mode: 'on', delivery: 'append' },
      [...script, ...answers],
      setup,
    )

  it.each([heavy, {}])(
    'L3: keeps its bytes until a latch where reading the messages again would cost more',
    async (setup) => {
      const host = await start(setup)
      await host.ask('go')
      expect(lastResult(host)).toContain('Unloaded: box__alpha.')
      expect(host.conversation.inspect().loadedLazyTools).toEqual(['box__beta'])
      expect(JSON.stringify(host.body().tools)).toBe(JSON.stringify(host.body(1).tools))
      // When found again, it keeps its place: not a byte of the array changes.
      await host.ask('again')
      expect(host.conversation.inspect().loadedLazyTools).toEqual(['box__alpha', 'box__beta'])
      expect(JSON.stringify(host.body().tools)).toBe(JSON.stringify(host.body(1).tools))
      await host.conversation.unload(['box__beta'])
      const after = [{ role: 'user', content: 'Summary.' }]
      await openaiChat(host.conversation).compact(host.messages, after)
      host.messages.splice(0, host.messages.length, ...after)
      await host.step()
      expect(loaded(host)).toEqual(['box__alpha'])
      expect(host.names()).not.toContain('box__beta')
    },
  )

  it('L3: leaves with what was left before it, once that pays', async () => {
    const wide = server('wide', ['one', 'two'], { description: 'word '.repeat(12_000) })
    const host = await startHost(
      {
        tools: [...mixed(), ...numbered, ...wide],
        mode: 'on',
        delivery: 'append',
        limits: { largeTool: 100_000 },
      },
      [
        reply(find('select:box__alpha,wide__one,box__beta')),
        reply(find('unload:box__alpha')),
        reply(find('unload:wide__one')),
        ...answers,
      ],
      { messageTokens: 5000 },
    )
    await host.ask('go')
    expect(JSON.stringify(host.body(2).tools)).toBe(JSON.stringify(host.body(1).tools))
    expect(loaded(host)).toEqual(['box__beta'])
    expect(host.names()).toEqual(expect.arrayContaining(['box__alpha', 'wide__one']))
  })
})

describe('a cap by tokens', () => {
  const wide = server('wide', ['one', 'two', 'three'], { description: 'word '.repeat(180) })
  const start = (maxLoadedTokens: number, ...queries: string[]) =>
    startHost(
      {
        tools: [...mixed(), ...wide],
        mode: 'on',
        delivery: 'append',
        limits: { maxLoadedTokens: maxLoadedTokens },
      },
      [...queries.map((query) => reply(find(query))), ...answers],
      light,
    )

  it('L3: unloads the least recently used until there is room', async () => {
    const host = await start(650, 'select:wide__one', 'select:wide__two', 'select:wide__three')
    await host.ask('go')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['wide__two', 'wide__three'])
    expect(lastResult(host)).toContain('Unloaded to make room: wide__one.')
  })

  it('L3: does not load what can never fit, and says so', async () => {
    const host = await start(200, 'select:wide__one')
    await host.ask('go')
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
    expect(lastResult(host)).toMatch(/wide__one\(.*\(no room/)
  })

  it('L3: of 0 is refused with the reason', () => {
    expect(() => createToolwell({ limits: { maxLoadedTokens: 0 } })).toThrow(/would hide every deferred tool/)
  })
})

describe('unloading', () => {
  it('by the model takes the schema off the surface, keeps the name declared, and can be undone', async () => {
    const host = await open([
      reply(find('select:box__alpha,box__beta')),
      reply(find('unload:box__alpha')),
      { text: 'Done.' },
      reply(find('select:box__alpha')),
    ])
    await host.ask('go')
    expect(lastResult(host)).toContain('Unloaded: box__alpha.')
    expect(loaded(host)).toEqual(['box__beta'])
    expect(host.names()).toContain('box__alpha')
    expect(JSON.stringify(host.body().tools)).not.toContain('The value for alpha')
    await host.ask('again')
    expect(loaded(host).sort()).toEqual(['box__alpha', 'box__beta'])
    expect(JSON.stringify(host.body().tools)).toContain('The value for alpha')
  })

  it('by the host names a tool in any spelling, or a group', async () => {
    const host = await open([reply(find('select:box__alpha,worktree'))])
    await host.ask('go')
    await host.conversation.unload(['BOX-Alpha', 'worktree', 'no such tool'])
    await host.ask('more')
    expect(loaded(host)).toEqual([])
  })

  it('by /clear resets everything; the next request is a first one', async () => {
    const host = await open([reply(find('select:box__alpha'))])
    await host.ask('go')
    await host.conversation.clear()
    host.messages.length = 0
    await host.ask('go')
    expect(host.raw()).toBe(host.raw(0))
  })

  it('does not happen by compaction, except for what the trim hook gives back', async () => {
    const host = await open([reply(find('select:box__alpha,box__beta'))])
    await host.ask('go')
    const seen: (readonly string[])[] = []
    const shorten = async (text: string, trim?: (active: readonly string[]) => readonly string[]) => {
      const after = [{ role: 'user', content: text }]
      await openaiChat(host.conversation).compact(host.messages, after, trim ? { trim } : {})
      host.messages.splice(0, host.messages.length, ...after)
      await host.step()
    }
    await shorten('Summary one.')
    expect(loaded(host)).toEqual(['box__alpha', 'box__beta'])
    await shorten('Summary two.', (active) => {
      seen.push(active)
      return ['box__beta']
    })
    expect(seen).toEqual([['box__alpha', 'box__beta']])
    expect(loaded(host)).toEqual(['box__beta'])
    expect(host.names()).not.toContain('box__alpha')
  })

  it('after a latch, a tool that is loaded is not offered as one to be found', async () => {
    const host = await open([reply(find('select:box__alpha'))])
    await host.ask('go')
    const after = [{ role: 'user', content: 'Summary.' }]
    await openaiChat(host.conversation).compact(host.messages, after)
    host.messages.splice(0, host.messages.length, ...after)
    await host.step()
    const loader = host.body().tools?.find((each) => each.function.name === 'tool_search')
    expect(loader?.function.description).toContain('box__beta')
    expect(loader?.function.description).not.toContain('box__alpha')
    expect(JSON.stringify(host.body().messages)).toContain('14 more tools are available')
  })
})
