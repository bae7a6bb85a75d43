/** One table of scenarios, run on every wire and every delivery it has, against the strict endpoint of that wire. */
import type { ToolwellOptions } from '@toolwell/core'
import { commonPrefix, type ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { mixed, server, tool } from './support/tools.js'
import type { Script, WireHarness, WireHost } from './support/wire-harness.js'
import { anthropicChangesHarness, anthropicHarness } from './support/wires/anthropic.js'
import { googleHarness } from './support/wires/google.js'
import { mistralChatHarness, openaiChatHarness } from './support/wires/openai-chat.js'
import { openaiResponsesHarness } from './support/wires/openai-responses.js'

const harnesses: readonly WireHarness[] = [
  anthropicHarness,
  anthropicChangesHarness,
  openaiResponsesHarness,
  openaiChatHarness,
  mistralChatHarness,
  googleHarness,
]
type Delivery = WireHarness['deliveries'][number]

const search = (query: string): ScriptedReply => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const done: ScriptedReply = { text: 'done' }

interface Scene {
  /** A call of a found tool in the way of the delivery. */
  use(name: string, input?: object): ScriptedReply
  open(
    script: Script,
    options?: ToolwellOptions,
    prepare?: (host: WireHost['well']) => void,
  ): Promise<WireHost>
  readonly delivery: Delivery
  /** Tools the model can call by name in the last request, without the meta-tools. */
  declared(host: WireHost): string[]
}

const META = ['tool_search', 'tool_call']

/** The surface of the usual mix before anything is loaded. */
const EAGER = ['read_file', 'write_file']

const scenarios: Record<string, (scene: Scene) => Promise<void>> = {
  'search, call, answer': async ({ open, use, declared, delivery }) => {
    const host = await open([search('create an issue'), use('tracker__create_issue', { value: 'x' }), done])
    expect(await host.ask('file it')).toBe('done')
    expect(host.requests.at(-1)?.raw).toContain('create_issue ran with')
    expect(declared(host).includes('tracker__create_issue')).toBe(delivery === 'append')
    expect(host.conversation.inspect().loadedLazyTools).toContain('tracker__create_issue')
  },
  'select by exact name': async ({ open, declared, delivery }) => {
    const host = await open([search('select:calendar__find_slot,tracker__close_issue'), done])
    await host.ask('go')
    const loaded = ['calendar__find_slot', 'tracker__close_issue']
    expect(declared(host)).toEqual(delivery === 'append' ? [...EAGER, ...loaded] : EAGER)
    expect(host.conversation.inspect().loadedLazyTools).toEqual(loaded)
  },
  'direct call of a hidden tool': async ({ open }) => {
    const host = await open([
      { calls: [{ name: 'calendar__find_slot', arguments: { value: 'noon' } }] },
      done,
    ])
    await host.ask('go')
    expect(host.requests.at(-1)?.raw).toContain('find_slot ran with')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['calendar__find_slot'])
  },
  'wrong case': async ({ open }) => {
    const host = await open([{ calls: [{ name: 'Tracker-CreateIssue', arguments: {} }] }, done])
    await host.ask('go')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
  },
  'a name that does not exist': async ({ open }) => {
    const host = await open([{ calls: [{ name: 'make_coffee', arguments: {} }] }, done])
    await host.ask('go')
    expect(host.requests.at(-1)?.raw).toContain('Found no tool named')
  },
  alias: async ({ open, use }) => {
    const host = await open([use('file_ticket'), done], {
      tools: [...mixed(), tool('open_ticket', { source: 'desk', aliases: ['file_ticket'] })],
    })
    await host.ask('go')
    expect(host.conversation.inspect()).toMatchObject({ aliasUses: { file_ticket: 1 } })
  },
  'parallel search and call': async ({ open, use }) => {
    const call = use('calendar__find_slot')
    const both: ScriptedReply = {
      calls: [
        { name: 'tool_search', arguments: { query: 'select:calendar__find_slot' } },
        ...('calls' in call ? (call.calls ?? []) : []),
      ],
    }
    const host = await open([both, done])
    await host.ask('go')
    expect(host.requests.at(-1)?.raw).toContain('find_slot ran with')
    expect(host.events.filter((event) => event.kind === 'loaded')).toHaveLength(1)
  },
  eviction: async ({ open, declared }) => {
    const host = await open(
      [search('select:tracker__create_issue'), search('select:calendar__find_slot'), done, done],
      { limits: { maxLoaded: 1 } },
    )
    await host.ask('go')
    // Where an answer is definitions alone, its words wait for the user.
    await host.ask('on')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['calendar__find_slot'])
    expect(host.requests.at(-1)?.raw).toContain('Unloaded to make room: tracker__create_issue')
    expect(new Set(declared(host)).size).toBe(declared(host).length)
  },
  'late server': async ({ open }) => {
    const host = await open([done, done])
    await host.ask('one')
    host.well.catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
    await host.ask('two')
    expect(host.requests.at(-1)?.raw).toContain('mail__send_mail')
    expect(host.toolsJson(-1)).toBe(host.toolsJson(0))
  },
  'server removed': async ({ open }) => {
    const host = await open([search('select:tracker__create_issue'), done, done])
    await host.ask('one')
    host.well.catalogue.removeSource('tracker')
    await host.ask('two')
    expect(host.requests.at(-1)?.raw).toContain('No longer available')
    expect(host.toolsJson(-1)).toBe(host.toolsJson(1))
  },
  'tool changed': async ({ open }) => {
    const host = await open([search('select:tracker__create_issue'), done, done])
    await host.ask('one')
    host.well.catalogue.setSource('tracker', {
      tools: server('tracker', ['create_issue'], { description: 'Files with more care' }),
    })
    await host.ask('two')
    expect(host.toolsJson(-1)).not.toContain('Files with more care')
    expect(host.requests.at(-1)?.raw).toContain('Files with more care')
  },
  'resume from stored history': async ({ open, use }) => {
    const host = await open([
      search('select:tracker__create_issue'),
      done,
      use('tracker__create_issue'),
      done,
    ])
    await host.ask('one')
    const resumed = await host.resume()
    expect(await resumed.ask('two')).toBe('done')
    expect(resumed.requests.at(-1)?.raw).toContain('create_issue ran with')
    expect(resumed.toolsJson(-1)).toBe(resumed.toolsJson(1))
  },
  'retry after an error': async ({ open }) => {
    const host = await open([search('select:tracker__create_issue'), { status: 500, error: 'busy' }, done])
    host.say('one')
    await host.step()
    await host.step('again')
    await host.step('again')
    expect(host.requests[1]?.raw).toBe(host.requests[2]?.raw)
  },
  fork: async ({ open }) => {
    const host = await open([
      search('select:tracker__create_issue'),
      done,
      search('select:calendar__find_slot'),
      done,
      done,
    ])
    await host.ask('one')
    const length = host.length
    await host.ask('two')
    const fork = await host.fork('fork', length)
    await fork.ask('other')
    expect(fork.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    expect(host.conversation.inspect().loadedLazyTools).toHaveLength(2)
  },
  compaction: async ({ open, use }) => {
    const host = await open([
      search('select:tracker__create_issue'),
      done,
      use('tracker__create_issue'),
      done,
    ])
    await host.ask('one')
    await host.compact('We talked.', 0)
    await host.ask('two')
    expect(host.requests.at(-1)?.raw).toContain('create_issue ran with')
    // The schema is in the request: in the array, or again in the history.
    expect(host.requests.at(-1)?.raw).toContain('The value for create_issue')
  },
  'sub-agent': async ({ open, use }) => {
    const host = await open([search('select:tracker__create_issue'), done, use('tracker__close_issue'), done])
    await host.ask('one')
    const child = host.with(await host.conversation.child({ id: 'child', allow: ['tracker/*'] }))
    await child.ask('two')
    expect(child.conversation.inspect().loadedLazyTools).toContain('tracker__close_issue')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    expect(child.requests.at(-1)?.raw).not.toContain('calendar__find_slot')
  },
  'loader denied': async ({ open, declared }) => {
    const host = await open([done], { policy: ({ id }) => id !== 'toolwell/tool_search' })
    await host.ask('one')
    expect(declared(host)).toHaveLength(mixed().length)
  },
  'loader denied half-way': async ({ open, use, declared }) => {
    let allowed = true
    const host = await open(
      [search('select:tracker__create_issue'), use('tracker__create_issue'), done, done],
      {
        policy: ({ id }) => allowed || id !== 'toolwell/tool_search',
      },
    )
    await host.ask('one')
    allowed = false
    await host.ask('two')
    expect(declared(host)).toHaveLength(mixed().length)
  },
}

describe.each(harnesses)('on $name', (harness) => {
  describe.each(harness.deliveries)('over %s', (delivery) => {
    const scene: Scene = {
      delivery,
      use: (name, input = {}) =>
        delivery !== 'bridge'
          ? { calls: [{ name, arguments: input }] }
          : { calls: [{ name: 'tool_call', arguments: { name, arguments: input } }] },
      open: (script, options = {}) =>
        harness.open({ tools: mixed(), mode: 'on', delivery, ...options }, script),
      declared: (host) => host.toolNames().filter((name) => !META.includes(name)),
    }

    it.each(Object.entries(scenarios))('%s', async (_, scenario) => {
      await scenario(scene)
    })

    it('keeps the prefix through loads, a late server, a restart and a fork', async () => {
      const script: Script = [
        search('create an issue'),
        scene.use('tracker__create_issue'),
        done,
        search('find a slot'),
        done,
        done,
        done,
      ]
      let host = await scene.open(script)
      await host.ask('one')
      host.well.catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
      await host.ask('two')
      host = await host.resume()
      await host.ask('three')
      host = await host.fork('fork', host.length)
      await host.ask('four')
      for (let index = 1; index < host.requests.length; index++) {
        const [before, after] = [host.rendered(index - 1), host.rendered(index)]
        // What the last message becomes when something is added to it is not the prefix of anything.
        const stable =
          host.toolsJson(index - 1) === host.toolsJson(index)
            ? before.lastIndexOf('{"')
            : arrayEnd(host, index, harness)
        expect(commonPrefix(before, after), `request ${index}`).toBeGreaterThanOrEqual(stable)
      }
    })
  })
})

/** Where the tools array of the request before ended, in render order. */
function arrayEnd(host: WireHost, index: number, harness: WireHarness): number {
  const before = host.rendered(index - 1)
  const tools = host.toolsJson(index - 1)
  const inner = tools.slice(0, -1)
  expect(host.toolsJson(index).startsWith(inner), 'the array grows at its end').toBe(true)
  return harness.order === 'tools-first' ? inner.length : before.indexOf(inner.slice(0, 40)) + inner.length
}
