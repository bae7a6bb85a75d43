/** Cases of neighbouring systems (WA, ZE, FA, MK, PI). Each title begins with the number of its case. */
import { createToolwell, memoryStore, type Policy, searchTools, type Tool } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { afterEach, describe, expect, it } from 'vitest'
import { openSession } from '../../../../examples/agent/session.ts'
import { closeWorlds, createWorld, select, use, wireName } from '../../../../examples/moving/world.ts'
import { bridge, play, search } from '../support/play.js'
import { mixed, server, tool } from '../support/tools.js'

afterEach(closeWorlds)

/** A history in which the assistant made this call and got this answer. */
const past = (name: string, answer: string | undefined, id = 'c1'): ChatMessage[] => [
  { role: 'user', content: 'go' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: '{"query":"select:create_issue"}' } }],
  },
  ...(answer === undefined ? [] : [{ role: 'tool', tool_call_id: id, content: answer }]),
]
const imported = async (messages: readonly ChatMessage[], tools: readonly Tool[] = mixed()) => {
  const conversation = await createToolwell({ tools, mode: 'on' }).open({ id: 'imported' })
  return openaiChat(conversation).importHistory(messages)
}
const machineLine = 'toolwell/1 {"loaded":[["tracker/create_issue","x"]],"unloaded":[]}'
const kinds = ({ conversation }: Awaited<ReturnType<typeof play>>) =>
  conversation.events.map(({ kind }) => kind)

describe('reading a history', () => {
  it('WA-1: recovers nothing from prose, only from the machine line of a Toolwell answer', async () => {
    const prose = 'Loaded tools: tracker__create_issue\nParameters: value\nname: close_issue'
    expect((await imported(past('tool_search', prose))).recovered).toEqual([])
    expect((await imported(past('tool_search', `Here:\n${machineLine}`))).recovered).toEqual([])
    expect((await imported(past('read_file', machineLine))).recovered).toEqual([])
    expect((await imported(past('tool_search', machineLine))).recovered).toEqual(['tracker/create_issue'])
    const byName = 'toolwell/1 {"loaded":["tracker__create_issue","tracker__gone"]}'
    expect(await imported(past('tool_search', byName))).toMatchObject({
      recovered: ['tracker/create_issue'],
      unrecovered: [{ tool: 'tracker__gone' }],
    })
  })

  it('WA-1: finds names with hyphens, dots and blanks', async () => {
    const names = ['resolve-library-id', 'a.b', 'a b', 'Parameters']
    const host = await play({ tools: server('context7', names) })
    await host.step(search(`select:${names.slice(0, 3).map((name) => JSON.stringify(name))}`))
    const { recovered } = await imported(host.messages, server('context7', names))
    expect(recovered).toEqual(['context7/resolve-library-id', 'context7/a.b', 'context7/a b'])
  })

  it('MK-6: counts no load that was not answered, or was answered with a failure', async () => {
    expect((await imported(past('tool_search', undefined))).recovered).toEqual([])
    const { recovered, unrecovered } = await imported(past('tool_search', 'Error: timed out'))
    expect(recovered).toEqual([])
    expect(unrecovered).toHaveLength(1)
  })
})

describe('the loader', () => {
  it('WA-2: has its schema with every search tool, and is called by it', async () => {
    const properties = (searchTool: (typeof searchTools)[keyof typeof searchTools]) => async () => {
      const host = await play({ search: { tool: searchTool } })
      const loader = (await host.begin()).parts.tools?.find((each) => each.function.name === searchTool.name)
      const parameters = loader?.function.parameters as { properties: object; required: string[] }
      return [Object.keys(parameters.properties), parameters.required]
    }
    expect(await properties(searchTools.standard)()).toEqual([['query', 'limit'], ['query']])
    expect(await properties(searchTools.maxResults)()).toEqual([['query', 'max_results'], ['query']])
    expect(await properties(searchTools.byName)()).toEqual([['name'], ['name']])
    expect(await properties(searchTools.domains)()).toEqual([
      ['query', 'domain', 'includeLoaded', 'limit'],
      ['query'],
    ])
  })

  it('WA-4, ZE-7: lists hidden tools in its description: no message mentions them, so the model cannot answer one', async () => {
    const host = await play()
    const { messages, tools } = (await host.begin()).parts
    expect(JSON.stringify(tools)).toContain('tracker__create_issue')
    expect(JSON.stringify(messages)).not.toContain('tracker__')
    expect(messages.filter(({ role }) => role === 'user')).toEqual(host.messages)
  })

  it('WA-5: gets a stronger prompt for a model that ignores it, and an event reports such a model', async () => {
    const [plain, strong] = [await play(), await play({ surface: { affordance: 'strong' } })]
    expect(await plain.sent()).not.toContain('before you say that something cannot be done')
    expect(await strong.sent()).toContain('before you say that something cannot be done')
    const notices: string[] = []
    const host = await play({ onEvent: ({ kind }) => notices.push(kind) })
    for (let guess = 0; guess < 4; guess++) await host.step({ name: `invented_${guess}`, arguments: {} })
    expect(notices.filter((kind) => kind === 'search-ignored')).toHaveLength(1)
  })

  it('ZE-1: that cannot be used leaves every tool in sight', async () => {
    const host = await play({ policy: ({ id }) => id !== 'toolwell/tool_search' })
    expect(await host.names()).toEqual([...host.well.catalogue.entries()].map((each) => each.wireName).sort())
  })

  it('FA-4: is never deferred itself, whatever a rule says', async () => {
    const host = await play({ rules: [{ tool: '*', defer: true }] })
    expect(await host.names()).toEqual(['tool_search', 'tool_call'])
  })
})

describe('the bridge', () => {
  const readOnly: Policy = ({ tool: { risk }, source }) => source === 'toolwell' || risk !== 'write'
  const writer = tool('push', { source: 'git', risk: 'write' })

  it('WA2200: off sends the very array; on, policies and hosts see the target and its arguments', async () => {
    const tools = mixed()
    const off = await createToolwell({ tools, mode: 'off' }).open({ id: 'off' })
    expect((await off.begin({ requestId: 'r', anchor: 'r', wire: 'test' })).tools).toBe(tools)
    const asked: unknown[] = []
    const ran: string[] = []
    const host = await play({
      delivery: 'bridge',
      policy: ({ action, id, input }) => {
        if (action === 'call' && id !== 'toolwell/tool_call') asked.push([id, input])
        return true
      },
    })
    await host.run([bridge('tracker__create_issue', { value: 'x' })], {
      execute: ({ name }) => ran.push(name),
    })
    expect(asked).toEqual([['tracker/create_issue', { value: 'x' }]])
    expect(ran).toEqual(['create_issue'])
  })

  it('WA2200: is no way for a sub-agent to a tool that it may not use', async () => {
    const parent = await play({ tools: [...mixed(), writer], delivery: 'bridge' })
    const child = await parent.conversation.child({ id: 'reader', policy: readOnly })
    const host = await play({}, child)
    const [answer] = await host.step(bridge('git__push', { value: 'x' }))
    expect(answer).toContain('Found no tool named "git__push"')
  })

  it('WA2200: a rule that lets one command through lets no other pass by its arguments', async () => {
    const policy: Policy = ({ action, id, input }) =>
      action !== 'call' || id !== 'sh/run' || input?.value === 'git status'
    const host = await play({ tools: server('sh', ['run']), delivery: 'bridge', policy })
    const [allowed, other, smuggled] = await host.step(
      bridge('sh__run', { value: 'git status' }),
      bridge('sh__run', { value: 'rm -rf .' }),
      { name: 'tool_call', arguments: { name: 'sh__run', value: 'git status', arguments: { value: 'rm' } } },
    )
    expect(allowed).toContain('ran with')
    for (const answer of [other, smuggled]) expect(answer).toContain('not permitted')
  })

  it('ZE-3: shows no schema of what a mode forbids, also under the name of a control tool', async () => {
    const spoofed = tool('tool_search', { source: 'git', risk: 'write', description: 'Pushes, spoofed' })
    const host = await play({ tools: [...mixed(), writer, spoofed], policy: readOnly, delivery: 'bridge' })
    await host.step(search('push'), search('select:git__push'), search('select:git__tool_search'))
    const sent = await host.sent()
    expect(sent).not.toMatch(/Does push|Pushes, spoofed|The value for push/)
    for (const name of host.loaded()) expect(['git__push', 'git__tool_search']).not.toContain(name)
  })
})

describe('counting', () => {
  const long = (name: string, more: Partial<Tool> = {}) =>
    tool(name, { source: 's', description: `${name} ${'x'.repeat(4000)}`, ...more })

  it('ZE-5: a tool that is deferred no more does not count towards the threshold', async () => {
    const well = createToolwell({ costs: { threshold: 1500 } })
    const modeOf = async (id: string, tools: readonly Tool[]) => {
      well.catalogue.setSource('s', { tools })
      const conversation = await well.open({ id })
      return (await conversation.begin({ requestId: id, anchor: id, wire: 'test' })).mode
    }
    expect(await modeOf('a', [long('one'), long('two')])).toBe('on')
    expect(await modeOf('b', [long('one'), long('two', { alwaysLoad: true })])).toBe('off')
  })

  it('ZE-6: says the number of those that are listed, and that can be found', async () => {
    const host = await play({ policy: ({ name }) => name !== 'close_issue' })
    const { section, tools } = (await host.begin()).view
    const listed = JSON.stringify(tools).match(/(?:tracker|calendar|git)__\w+(?=[,:)])/g) ?? []
    const findable = [...host.well.catalogue.entries()].filter(
      ({ id, tool: { name } }) => host.well.explain(id)?.deferred && name !== 'close_issue',
    )
    expect(section).toContain(`${findable.length} more tools`)
    expect(new Set(listed).size).toBe(findable.length)
  })
})

describe('a step that is broken off', () => {
  it('ZE-8: keeps what its search loaded, and so does the retry', async () => {
    const controller = new AbortController()
    const slow = tool('slow', { execute: () => controller.abort() })
    const host = await play({ tools: [...mixed(), slow], delivery: 'append' })
    const [, broken] = await host.run([search('select:create_issue'), { name: 'slow', arguments: {} }], {
      signal: controller.signal,
    })
    expect(broken).toContain('cancelled')
    const first = await host.sent()
    expect(await host.names()).toContain('tracker__create_issue')
    expect(await host.sent()).toBe(first)
  })
})

describe('a search', () => {
  it('FA-2: with more hits than it may load lists the others; an exact name is always loaded', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `paint_${index}`)
    const tools = names.map((name) => tool(name, { source: 'wall', description: 'Paints a wall' }))
    const host = await play({ tools, search: { loadLimit: 2, tool: searchTools.standard } })
    const [answer = ''] = await host.run([
      { name: 'tool_search', arguments: { query: 'paint a wall', limit: 6 } },
    ])
    expect(host.loaded()).toHaveLength(2)
    expect(answer.match(/more than one search loads at once/g)).toHaveLength(4)
    expect(answer).toContain('More names: paint_6, paint_7, paint_8.')
    await host.step(search('paint a wall: wall__paint_6, wall__paint_7, wall__paint_8'))
    expect(host.loaded()).toEqual(expect.arrayContaining(['wall__paint_6', 'wall__paint_7', 'wall__paint_8']))
  })

  it('MK-2: shows up in inspect() as soon as it has run', async () => {
    const host = await play({ delivery: 'append' })
    await host.step(search('select:create_issue'))
    const { line, loadedLazyTools, visibleNames } = host.conversation.inspect()
    expect(line).toContain('active 1 (tracker__create_issue)')
    expect(loadedLazyTools).toEqual(['tracker__create_issue'])
    expect(visibleNames.map(({ name }) => name)).toContain('tracker__create_issue')
  })
})

describe('what is kept', () => {
  const frozen = <T>(value: T): T => {
    if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen)
    return value
  }

  it('FA-6: needs no writable object of the host: frozen tools, results and messages do', async () => {
    const tools = frozen(
      mixed().map((each) => ({ ...each, execute: () => frozen({ done: [1, { two: 2 }] }) })),
    )
    const host = await play({ tools, delivery: 'bridge' })
    await host.step(search('select:create_issue'))
    for (const message of host.messages) frozen(message)
    expect(await host.step(bridge('tracker__create_issue', frozen({ value: 'x' })))).toEqual([
      '{"done":[1,{"two":2}]}',
    ])
    expect(await host.sent()).toContain('The value for create_issue')
  })

  it('FA-7: is what was loaded, not what there was: tools that join and marks that flip count after a resume', async () => {
    const store = memoryStore()
    const first = await play({ store, delivery: 'append' })
    await first.step(search('select:create_issue'))
    const flipped = mixed().map((each) => (each.name === 'find_slot' ? { ...each, alwaysLoad: true } : each))
    const well = createToolwell({
      tools: [...flipped, tool('new_one')],
      mode: 'on',
      delivery: 'append',
      store,
    })
    const again = await play({}, await well.open({ id: 'x' }))
    again.messages.push(...first.messages.slice(1))
    await again.compact()
    expect(await again.names()).toEqual(
      expect.arrayContaining(['calendar__find_slot', 'new_one', 'tracker__create_issue']),
    )
  })

  it('MK-5: is plain JSON: fields without a value do not spoil it', async () => {
    const store = memoryStore()
    const odd = { ...tool('odd', { source: 'x' }), title: undefined, risk: undefined } as unknown as Tool
    const host = await play({ store, tools: [...mixed(), odd] })
    await host.step(search('select:x__odd'))
    const events = await store.read('x')
    expect(host.conversation.events).toStrictEqual(events)
    expect(events.map(({ kind }) => kind)).toContain('loaded')
  })
})

describe('what must be there', () => {
  it('MK-3: a tool that is marked deferred is sent where nothing could find it', async () => {
    const host = await play({ tools: [tool('lonely', { defer: true })], mode: 'off' })
    expect(await host.names()).toEqual(['lonely'])
  })

  it('MK-4: a tool that a mode needs is in sight, by its role or by a pin of the host', async () => {
    const tools = [...mixed(), tool('exit_plan', { source: 'plan', role: 'mode-exit' })]
    const host = await play({ tools, delivery: 'append', rules: [{ tool: '*', defer: true }] })
    expect(await host.names()).toContain('plan__exit_plan')
    await host.conversation.load(['create_issue'], 'pin')
    host.talk()
    expect(await host.names()).toContain('tracker__create_issue')
    expect(kinds(host)).not.toContain('searched')
  })

  it('PI-1: a tool that the history calls before anything reveals it is declared where the provider demands it', async () => {
    const world = await createWorld()
    const session = await openSession(world.createHost('openai-chat'), 'main')
    world.queue.push(
      (body) => ({ calls: [use(body, wireName(0), { number: 1 })] }),
      () => ({ text: 'Filed.' }),
    )
    await session.ask('File issue 1.')
    await session.moveTo('anthropic')
    world.queue.push(
      () => ({ calls: [select(1)] }),
      () => ({ calls: [{ name: wireName(1), arguments: { number: 2 } }] }),
      () => ({ text: 'Sent.' }),
    )
    expect(await session.ask('Send letter 2.')).toBe('Sent.')
    expect(world.refusals()).toEqual([])
    expect(world.ran).toEqual(['create_issue 1', 'send_letter 2'])
  })
})
