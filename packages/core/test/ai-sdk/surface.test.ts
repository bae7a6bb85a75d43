/** Requests a provider gets through the SDK: the order of tools, the stable bytes, and the result of each call. */
import { createToolwell } from '@toolwell/core'
import { commonPrefix } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { chatRenderOrder } from '../../../testing/src/openai-chat/answer.js'
import { mixed, server, tool } from '../support/tools.js'
import {
  bridged,
  call,
  calls,
  type Host,
  majors,
  said,
  search,
  sentCalls,
  startHost,
  type WireName,
} from './support.js'

const wires: readonly WireName[] = ['chat', 'anthropic', 'responses', 'google']
const combinations = majors.flatMap(({ major }) => wires.map((wire) => ({ major, wire })))
/** Not `auto`: what these prove does not depend on what a provider can do by itself. */
const bridge = { tools: mixed(), mode: 'on', delivery: 'bridge' } as const
const append = { tools: mixed(), mode: 'on', delivery: 'append' } as const

const calledBy = (result: Awaited<ReturnType<Host['ask']>>) =>
  result.steps.map((step) => step.toolCalls.map(({ toolName }) => toolName))
/** Everything the model has read of the results so far. */
const read = (host: Host) => JSON.stringify(host.messages.filter(({ role }) => role === 'tool'))

describe.each(combinations)('AI SDK $major over $wire', ({ major, wire }) => {
  it('searches, calls and answers over the bridge without touching a byte before the messages', async () => {
    const script = [calls(search('create issue')), calls(bridged('tracker__create_issue')), said()]
    const host = await startHost({ major, wire, script, options: bridge })
    const result = await host.ask('Make an issue.')
    expect(result.text).toBe('Done.')
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(host.names(0)).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
    for (const index of [1, 2]) expect(host.toolsJson(index)).toBe(host.toolsJson(0))
    // The SDK and its hooks see the target; the model reads what it wrote.
    expect(calledBy(result)).toEqual([['tool_search'], ['tracker__create_issue'], []])
    expect(result.steps[1]?.toolCalls[0]?.input).toEqual({ value: 'x' })
    expect(sentCalls(host.body(2))).toEqual(['tool_search', 'tool_call'])
    expect(read(host)).toContain('create_issue ran with')
  })

  it('appends what is loaded at the end of the tools, and calls it by its name', async () => {
    const script = [
      calls(search('select:tracker__list_issues')),
      calls(search('select:calendar__create_event')),
      calls(call('tracker__list_issues'), call('calendar__create_event')),
      said(),
    ]
    const host = await startHost({ major, wire, script, options: append })
    await host.ask('What is open?')
    const eager = ['read_file', 'write_file', 'tool_search']
    expect(host.names(0)).toEqual(eager)
    expect(host.names(1)).toEqual([...eager, 'tracker__list_issues'])
    expect(host.names(2)).toEqual([...eager, 'tracker__list_issues', 'calendar__create_event'])
    expect(host.toolsJson(2).startsWith(host.toolsJson(1).slice(0, -1))).toBe(true)
    expect(host.toolsJson(3)).toBe(host.toolsJson(2))
    expect(host.conversation.inspect().pendingCalls).toEqual([])
  })

  it('keeps every message as it was sent, in the next step and in the next turn', async () => {
    const script = [
      calls(search('create issue')),
      calls(bridged('tracker__create_issue')),
      said(),
      said('Again.'),
    ]
    const host = await startHost({ major, wire, script, options: bridge })
    await host.ask('Make an issue.', { system: 'Be brief.' })
    await host.ask('And now?', { system: 'Be brief.' })
    const sent = (index: number) => {
      const body = host.body(index) as unknown as Record<string, unknown>
      return (body.messages ?? body.input ?? body.contents) as unknown[]
    }
    for (const index of [1, 2, 3]) {
      const before = sent(index - 1)
      // A note joins the last message of the request before; everything in front of it is the same.
      expect(sent(index).slice(0, before.length - 1)).toEqual(before.slice(0, -1))
    }
    expect(host.raw(3)).toContain('Be brief.')
    expect(host.raw(3)).toContain('# More tools')
  })

  it.each([
    ['by its name', 'calendar__find_slot'],
    ['in another spelling', 'Calendar-Find-Slot'],
    ['by the name its server gave it', 'find_slot'],
    ['by an alias', 'free_time'],
  ])('runs and loads a hidden tool that is called %s', async (_how, name) => {
    const tools = mixed().map((each) =>
      each.name === 'find_slot' ? { ...each, aliases: ['free_time'] } : each,
    )
    const script = [calls(call(name)), said()]
    const host = await startHost({ major, wire, script, options: { ...bridge, tools } })
    const result = await host.ask('When?')
    expect(calledBy(result)).toEqual([['calendar__find_slot'], []])
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['calendar__find_slot'])
    expect(host.statuses()).toEqual([200, 200])
    expect(host.raw(1)).toContain('find_slot ran with')
  })
})

describe.each(majors)('AI SDK $major', ({ major }) => {
  it('has the prefix of every request in the next one, as a provider renders it', async () => {
    const script = [calls(search('create issue')), calls(bridged('tracker__create_issue')), said(), said()]
    const host = await startHost({ major, script, options: bridge })
    await host.ask('Make an issue.')
    await host.ask('Thanks.')
    const rendered = host.endpoint.requests.map(({ body }) => chatRenderOrder(body))
    for (const [index, text] of rendered.entries()) {
      const next = rendered[index + 1]
      if (next !== undefined) expect(commonPrefix(text, next)).toBeGreaterThan(text.length * 0.9)
    }
  })

  it('runs a hidden tool under append, and declares it from then on', async () => {
    const script = [calls(call('calendar__find_slot')), said()]
    const host = await startHost({ major, script, options: append })
    await host.ask('When?')
    expect(host.names(1)).toEqual(['read_file', 'write_file', 'tool_search', 'calendar__find_slot'])
    expect(sentCalls(host.body(1))).toEqual(['calendar__find_slot'])
  })

  it.each(['bridge', 'append'] as const)(
    'treats a search and a call in the same reply as one batch: %s',
    async (delivery) => {
      const script = [calls(search('select:tracker__close_issue'), call('tracker__close_issue')), said()]
      const host = await startHost({
        major,
        script,
        options: { tools: mixed(), mode: 'on', delivery, surface: { hiddenCalls: 'hint' } },
      })
      const result = await host.ask('Close it.')
      // The tool was hidden when the batch began, so the search in the same batch does not matter.
      const [failed] = result.steps[0]?.content.filter(({ type }) => type === 'tool-error') ?? []
      expect(String(failed?.error)).toContain('select:tracker__close_issue')
      expect(host.conversation.events.map(({ kind }) => kind)).not.toContain('call-started')
    },
  )

  it('runs parallel calls in one batch, and answers each with its own result', async () => {
    const script = [calls(call('read_file'), bridged('tracker__create_issue'), call('write_file')), said()]
    const host = await startHost({ major, script, options: bridge })
    const result = await host.ask('All of it.')
    expect(result.steps[0]?.toolResults.map(({ toolName, output }) => [toolName, output])).toEqual([
      ['read_file', 'read_file ran with {"value":"x"}'],
      ['tracker__create_issue', 'create_issue ran with {"value":"x"}'],
      ['write_file', 'write_file ran with {"value":"x"}'],
    ])
    const started = host.conversation.events.findIndex(({ kind }) => kind === 'call-started')
    const kinds = host.conversation.events.slice(started, started + 6).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'call-started')).toHaveLength(3)
    expect(kinds.slice(0, 3)).toEqual(['call-started', 'call-started', 'call-started'])
  })

  it('answers an unknown tool with the nearest names, and never with the list of all', async () => {
    const script = [calls(call('tracker__create_isue')), calls(bridged('calendar__creat_event')), said()]
    const host = await startHost({ major, script, options: bridge })
    const result = await host.ask('Go.')
    expect(result.text).toBe('Done.')
    expect(read(host)).toContain('tracker__create_issue')
    expect(read(host)).toContain('calendar__create_event')
    expect(read(host)).not.toContain('exit_worktree')
    expect(host.statuses()).toEqual([200, 200, 200])
    // The bridge returns the name the model wrote, unchanged.
    expect(host.raw(1)).toContain('tracker__create_isue')
  })

  it('tells an unknown call as text under append, where no name can carry it', async () => {
    const host = await startHost({ major, script: [calls(call('fly')), said()], options: append })
    const result = await host.ask('Go.')
    expect(host.statuses()).toEqual([200, 200])
    expect(JSON.stringify(host.body(1).messages)).toContain('fly')
    expect(result.steps[1]?.warnings?.map(({ message }) => message).join()).toContain('rewrote a call of')
  })

  it.each([
    ['broken JSON', '{"value": '],
    ['no object', '"x"'],
    ['a key that the SDK refuses', '{"__proto__": {"value": "x"}}'],
  ])('answers arguments with %s, and continues', async (_what, text) => {
    const script = [calls({ name: 'read_file', arguments: text }), calls(call('read_file')), said()]
    const host = await startHost({ major, script, options: bridge })
    const result = await host.ask('Read.')
    expect(result.text).toBe('Done.')
    expect(host.statuses()).toEqual([200, 200, 200])
    const reasons = host.conversation.events.flatMap((event) =>
      event.kind === 'call-failed' ? [event.reason] : [],
    )
    expect(reasons).toEqual(['invalid'])
  })

  it('answers arguments that do not fit a hidden tool with its schema', async () => {
    const script = [calls(bridged('tracker__create_issue', { title: 7 })), said()]
    const host = await startHost({ major, script, options: bridge })
    const result = await host.ask('Go.')
    expect(result.steps[0]?.content.some(({ type }) => type === 'tool-error')).toBe(true)
    expect(read(host)).toContain('The value for create_issue')
  })

  it('reports what a tool throws, and a tool that says nothing', async () => {
    const tools = [
      tool('breaks', { execute: () => Promise.reject(new Error('the disk is full')) }),
      tool('silent', { execute: () => undefined }),
      tool('counts', { execute: () => ({ count: 3 }) }),
      ...server('far', ['one', 'two']),
    ]
    const script = [calls(call('breaks'), call('silent'), call('counts')), said()]
    const host = await startHost({ major, script, options: { ...bridge, tools } })
    const result = await host.ask('Go.')
    const types = result.steps[0]?.content.map(({ type }) => type)
    expect(types).toContain('tool-error')
    expect(result.steps[0]?.toolResults.map(({ output }) => output)).toEqual(['(no output)', { count: 3 }])
    const told = host.body(1).messages.filter(({ role }) => role === 'tool')
    expect(told[0]?.content).toContain('the disk is full')
    expect(told[1]?.content).toContain('no output')
    expect(told[2]?.content).toBe('{"count":3}')
  })

  it('keeps calls apart that a server gives one id', async () => {
    const script = [
      calls(call('read_file', {}, 'a'), call('write_file', {}, 'a')),
      calls(call('read_file', { value: 'again' }, 'a')),
      said(),
    ]
    const host = await startHost({ major, script, options: bridge })
    const result = await host.ask('Go.')
    expect(result.text).toBe('Done.')
    expect(result.steps.map(({ toolResults }) => toolResults.length)).toEqual([2, 1, 0])
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(host.conversation.inspect().pendingCalls).toEqual([])
  })

  it('sends everything eagerly where policy denies the loader', async () => {
    const script = [calls(call('tracker__create_issue')), said()]
    const policy = ({ name }: { readonly name: string }) => name !== 'tool_search'
    const host = await startHost({ major, script, options: { ...bridge, policy } })
    await host.ask('Go.')
    expect(host.names(0)).toHaveLength(mixed().length)
    expect(host.names(0)).not.toContain('tool_search')
    expect(host.names(0)).not.toContain('tool_call')
    expect(host.statuses()).toEqual([200, 200])
  })

  it('neither names nor runs a tool that policy denies, however it is spelt', async () => {
    const ran: string[] = []
    const tools = [...mixed(), tool('wipe', { source: 'disk', execute: () => ran.push('wipe') })]
    const policy = ({ source }: { readonly source: string }) => source !== 'disk'
    const script = [calls(call('Disk__Wipe')), calls(bridged('disk__wipe')), said()]
    const host = await startHost({ major, script, options: { ...bridge, tools, policy } })
    await host.ask('Go.')
    expect(ran).toEqual([])
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(host.raw(1)).not.toContain('"disk__wipe"')
  })

  it('sees tools that arrive between two steps', async () => {
    const well = createToolwell({ ...bridge, tools: [...mixed()] })
    const arrive = () => well.catalogue.setSource('late', { tools: server('late', ['fetch_mail']) })
    const script = [calls(call('read_file')), calls(call('late__fetch_mail')), said()]
    const host = await startHost({ major, script, well })
    const result = await host.ask('Go.', {
      prepareStep: (step: { model: unknown; messages: never[]; stepNumber: number }) => {
        if (step.stepNumber === 1) arrive()
        return host.lazy.settings.prepareStep(step)
      },
    })
    expect(calledBy(result)).toEqual([['read_file'], ['late__fetch_mail'], []])
    expect(JSON.stringify(host.body(1).messages)).toContain('late')
    expect(read(host)).toContain('fetch_mail ran with')
  })

  it('warns where the SDK was not given a tool', async () => {
    const host = await startHost({ major, script: [said()], options: bridge })
    const { read_file, tool_search } = host.lazy.settings.tools
    const result = await host.ask('Go.', { tools: { read_file, tool_search } })
    expect(host.names(0)).toEqual(['read_file', 'tool_search'])
    expect(result.steps[0]?.warnings?.map(({ message }) => message).join()).toContain('write_file, tool_call')
  })
})
