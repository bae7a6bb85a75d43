/** Caliban's decision 0046, passage by passage, as the preset `caliban` behaves on the wire. */

import { createToolwell, type Tool, ToolwellError, type ToolwellOptions } from '@toolwell/core'
import { anthropic } from '@toolwell/core/anthropic'
import { openaiChat } from '@toolwell/core/openai-chat'
import { type CalibanConfig, caliban, calibanSubAgent, mcpActive, unknownServers } from '@toolwell/presets'
import { describe, expect, it } from 'vitest'
import { mergeOptions } from '../../packages/core/test/support/merge-options.js'
import { makeTool, readable, startSeed, WIRES } from './seed-host.ts'

const search = (query: string, more: object = {}) => ({ name: 'ToolSearch', arguments: { query, ...more } })
const use = (name: string) => ({ name, arguments: { subject: 'it' } })
const BUILT_IN = ['Bash', 'Grep', 'Read']
const builtIns = (more: Partial<Tool> = {}) => BUILT_IN.map((name) => makeTool(name, `Does ${name}.`, more))
const lazy = (config: CalibanConfig = {}): CalibanConfig => ({
  ...config,
  tools: { lazy_mcp: true, ...config.tools },
})
const options = (config: CalibanConfig = lazy(), more: ToolwellOptions = {}): ToolwellOptions =>
  mergeOptions({ ...caliban(config), tools: builtIns() }, more)
const servers = () => ({
  github: [makeTool('list_issues', 'Lists issues.'), makeTool('close_issue', 'Closes an issue.')],
  mail: [makeTool('send_letter', 'Sends a letter.')],
  notes: [makeTool('read_note', 'Reads a note.')],
})
/** A server with many tools that one word finds. */
const crowd = (count: number) => ({
  crowd: Array.from({ length: count }, (_, index) => makeTool(`paint_${index}`, 'Paints a picture.')),
})
const names = (count: number) => Array.from({ length: count }, (_, index) => `mcp__crowd__paint_${index}`)

describe('Context', () => {
  it('sends no schema of three servers that nobody asked for', async () => {
    const host = await startSeed(options(), { servers: servers() })
    await host.ask('Hello.')
    expect(host.names()).toEqual([...BUILT_IN, 'ToolSearch'])
    for (const name of ['list_issues', 'send_letter', 'read_note'])
      expect(host.raw()).not.toContain(`The subject of ${name}`)
  })
})

describe('Decision 1: one tool, one round trip', () => {
  it.each(WIRES)('finds, shows the full schema and activates in a single call, over %s', async (wire) => {
    const host = await startSeed(options(), { wire, servers: servers() })
    await host.ask('List them.', search('list issues'), use('mcp__github__list_issues'))
    expect(host.names(0).filter((name) => !BUILT_IN.includes(name))).toEqual(['ToolSearch'])
    // As in the decision, the schema is in the answer and in the tools.
    expect(host.raw(1).split('The subject of list_issues')).toHaveLength(3)
    expect(host.names(1)).toContain('mcp__github__list_issues')
    expect(host.ran).toEqual(['mcp__github__list_issues'])
  })

  it('gives a token for the definition only where the bridge takes it', async () => {
    const answer = async (more: ToolwellOptions) => {
      const host = await startSeed(options(lazy(), more), { servers: servers() })
      await host.ask('List them.', search('list issues'))
      expect(readable(host.answer())).toContain('"name":"mcp__github__list_issues"')
      return readable(host.answer())
    }
    expect(await answer({})).not.toContain('"load"')
    expect(await answer({ delivery: 'bridge' })).toMatch(/"load":"[0-9a-f]+"/)
  })

  it('shows the schema only once where the default is asked for', async () => {
    const host = await startSeed(options(lazy(), { search: { schemas: 'once' } }), { servers: servers() })
    await host.ask('List them.', search('list issues'))
    expect(host.raw().split('The subject of list_issues')).toHaveLength(2)
  })

  it('takes query and max_results, ten by default and never more than twenty-five', async () => {
    const host = await startSeed(options(lazy({ tools: { max_active_schemas: 40 } })), { servers: crowd(30) })
    const { inspect } = host.session.conversation
    await host.ask('Paint.', search('paints a picture'))
    expect(inspect().loadedLazyTools).toHaveLength(10)
    expect(readable(host.answer())).toContain('raise max_results')
    await host.session.conversation.clear()
    await host.ask('Paint.', search('paints a picture', { max_results: 3 }))
    expect(inspect().loadedLazyTools).toHaveLength(3)
    await host.session.conversation.clear()
    await host.ask('Paint.', search('paints a picture', { max_results: 500 }))
    expect(inspect().loadedLazyTools).toHaveLength(25)
    const { parameters } = JSON.parse(host.declared('ToolSearch')).function
    expect(parameters.properties.max_results).toMatchObject({ minimum: 1, maximum: 25 })
  })

  it('CB-9: loads all that select names, ranks several words apart from each other, and lists the servers after a miss', async () => {
    const host = await startSeed(options(), { servers: servers() })
    const both = 'select:mcp__github__list_issues,mcp__mail__send_letter'
    await host.ask('Load.', search(both, { max_results: 1 }))
    expect(host.names().slice(-2)).toEqual(['mcp__github__list_issues', 'mcp__mail__send_letter'])
    await host.ask('Load.', search('an issue that I want to have closed'))
    expect(host.names()).toContain('mcp__github__close_issue')
    await host.ask('Load.', search('bake a cake'))
    expect(readable(host.answer())).toMatch(/Found no tool for .*"github" \(2\).*"mail" \(1\)/)
  })
})

describe('Decision 2: activation state separate from the registry', () => {
  it('changes no tool and no other session', async () => {
    const host = await startSeed(options(), { servers: servers() })
    const { revision } = host.well.catalogue
    await host.ask('Load.', search('list issues'))
    expect(host.well.catalogue.revision).toBe(revision)
    const other = await host.well.open({ id: 'other' })
    expect(mcpActive(other, lazy())).toBe('MCP active: 0/24')
  })

  it('CB-3: tells an eviction once, also where searches of one batch meet', async () => {
    const host = await startSeed(options(lazy({ tools: { max_active_schemas: 2 } })), { servers: crowd(4) })
    const select = (index: number) => search(`select:mcp__crowd__paint_${index}`)
    await host.ask('Load.', select(0), select(1))
    await host.ask('Load.', [select(2), select(3)])
    const told = (host.body().messages ?? []).filter(({ content }) =>
      String(content).includes('Unloaded to make room'),
    )
    expect(told.map(({ content }) => /make room: (.*)\./.exec(String(content))?.[1])).toEqual([
      'mcp__crowd__paint_0',
      'mcp__crowd__paint_1',
    ])
    const evicted = host.events.flatMap((event) => (event.kind === 'unloaded' ? [event.tool] : []))
    expect(evicted).toEqual(['crowd/paint_0', 'crowd/paint_1'])
  })
})

describe('Decision 3: MCP tools, never built-ins', () => {
  it('sends built-in tools always, whatever they are marked', async () => {
    const host = await startSeed(options(lazy(), { tools: builtIns({ defer: true }) }), {
      servers: servers(),
    })
    await host.ask('Hello.')
    expect(host.names()).toEqual([...BUILT_IN, 'ToolSearch'])
  })

  // Without the preset, Toolwell defers every source and marked tools, if that saves tokens.
  it('finds no built-in tool next to an MCP tool, and reports a built-in tool alone as already available', async () => {
    const tools = [makeTool('Read', 'Reads a file or a note.')]
    const host = await startSeed(options(lazy(), { tools }), { servers: servers() })
    await host.ask('Look.', search('reads a note'))
    expect(readable(host.answer())).not.toContain('Read(')
    await host.ask('Look.', search('Read'))
    expect(readable(host.answer())).toContain('Already loaded; call directly:\n- Read')
  })
})

describe('Decision 4: sticky, and the least recently used makes room', () => {
  it('keeps what is active for the rest of the session', async () => {
    const host = await startSeed(options(), { servers: servers() })
    await host.ask('Load.', search('list issues'))
    for (const text of ['One.', 'Two.', 'Three.']) await host.ask(text)
    expect(host.names()).toContain('mcp__github__list_issues')
  })

  // No cap by default: an eviction breaks the cache and removes a tool.
  it('evicts at the twenty-fifth, and says in the answer what went', async () => {
    const host = await startSeed(options(), { servers: crowd(25) })
    await host.ask('Load.', search(`select:${names(24).join(',')}`))
    expect(mcpActive(host.session.conversation, lazy())).toMatch(/^MCP active: 24\/24 /)
    await host.ask('One more.', search('select:mcp__crowd__paint_24'))
    expect(readable(host.answer())).toContain('Unloaded to make room: mcp__crowd__paint_0.')
    expect(host.names()).not.toContain('mcp__crowd__paint_0')
    expect(host.names()).toHaveLength(BUILT_IN.length + 1 + 24)
    const { limits, ...preset } = caliban(lazy())
    const { maxLoaded: _, ...uncapped } = limits ?? {}
    const free = await startSeed({ ...preset, limits: uncapped, tools: builtIns() }, { servers: crowd(25) })
    await free.ask('Load.', search(`select:${names(25).join(',')}`))
    expect(free.names()).toHaveLength(BUILT_IN.length + 1 + 25)
  })

  it('CB-1: keeps the tool in constant use, however long ago it was loaded', async () => {
    const host = await startSeed(options(lazy({ tools: { max_active_schemas: 2 } })), { servers: crowd(3) })
    await host.ask('Load.', search(`select:${names(2).join(',')}`), use('mcp__crowd__paint_0'))
    await host.ask('One more.', search('select:mcp__crowd__paint_2'))
    expect(host.names().slice(-2)).toEqual(['mcp__crowd__paint_0', 'mcp__crowd__paint_2'])
  })

  it('CB-1: counts a failed call as a use, like a successful one', async () => {
    const failing = makeTool('broken', 'Paints no more.', {
      execute: () => {
        throw new Error('no paint left')
      },
    })
    const host = await startSeed(options(lazy({ tools: { max_active_schemas: 2 } })), {
      servers: { crowd: [...crowd(3).crowd, failing] },
    })
    const broken = 'mcp__crowd__broken'
    await host.ask('Load.', search(`select:${broken},mcp__crowd__paint_0`))
    // The second of the two fails.
    await host.ask('Paint.', [use('mcp__crowd__paint_0'), use(broken)])
    expect(host.raw()).toContain('no paint left')
    await host.ask('One more.', search('select:mcp__crowd__paint_2'))
    expect(host.names().slice(-2)).toEqual([broken, 'mcp__crowd__paint_2'])
  })

  it('CB-2: never evicts tools that the same search loads or asks for; reports tools that do not fit', async () => {
    const host = await startSeed(options(lazy({ tools: { max_active_schemas: 2 } })), { servers: crowd(4) })
    await host.ask('Load.', search(`select:${names(4).join(',')}`))
    expect(host.names().slice(-2)).toEqual(names(2))
    expect(readable(host.answer())).not.toContain('make room')
    expect(readable(host.answer())).toMatch(/mcp__crowd__paint_3\(.*\(no room/)
    // The older one is used again, so the other one is evicted.
    await host.ask('Load.', search('select:mcp__crowd__paint_0,mcp__crowd__paint_2'))
    expect(host.names().slice(-2)).toEqual(['mcp__crowd__paint_0', 'mcp__crowd__paint_2'])
  })

  it('CB-2: keeps the least recently used of the two where the same search asks for it, also behind a new one', async () => {
    const host = await startSeed(options(lazy({ tools: { max_active_schemas: 2 } })), { servers: crowd(4) })
    await host.ask('Load.', search(`select:${names(2).join(',')}`))
    await host.ask('Load.', search('select:mcp__crowd__paint_2,mcp__crowd__paint_0'))
    expect(host.names().slice(-2)).toEqual(['mcp__crowd__paint_0', 'mcp__crowd__paint_2'])
    expect(readable(host.answer())).toContain('Unloaded to make room: mcp__crowd__paint_1.')
  })

  it('CB-4: refuses a cap of nothing, and says why; with lazy_mcp off it does not matter', () => {
    const none = { max_active_schemas: 0 }
    expect(() => createToolwell(caliban(lazy({ tools: none })))).toThrow(
      /would hide every deferred tool permanently/,
    )
    expect(() => createToolwell(caliban({ tools: none }))).not.toThrow(ToolwellError)
  })

  it('CB-10: loads again without a change, and takes names of any shape', async () => {
    const host = await startSeed(options(), { servers: servers() })
    for (const query of [
      'select:mcp__github__list_issues',
      'select:github/list_issues',
      'select:list_issues',
    ]) {
      await host.ask('Load.', search(query))
      expect(host.session.conversation.inspect().loadedLazyTools).toEqual(['mcp__github__list_issues'])
    }
    expect(readable(host.answer())).toContain('Already loaded')
    await host.ask('Load.', search('select:no_such_thing'))
    expect(readable(host.answer())).toContain('Found no tool named "no_such_thing"')
  })
})

describe('Decision 5: sub-agents inherit by default', () => {
  const spawn = async (agent: Omit<Parameters<typeof calibanSubAgent>[1], 'id'> = {}) => {
    const host = await startSeed(options(), { servers: servers() })
    await host.ask('Load.', search('select:mcp__github__list_issues,mcp__mail__send_letter'))
    const child = await calibanSubAgent(host.session.conversation, { id: 'child', ...agent })
    const line = openaiChat(child)
    const messages = [{ role: 'user', content: 'Help.' }]
    const sent = async () =>
      ((await line.begin(messages)).parts.tools ?? []).map((tool) => tool.function.name)
    return { host, child, line, messages, sent }
  }

  it('start with what the parent has active', async () => {
    const { sent } = await spawn()
    expect(await sent()).toEqual([
      ...BUILT_IN,
      'ToolSearch',
      'mcp__github__list_issues',
      'mcp__mail__send_letter',
    ])
  })

  it('CB-7: start fresh with inherit_active_mcp false, wherever they are started', async () => {
    const { sent } = await spawn({ inherit_active_mcp: false })
    expect(await sent()).toEqual([...BUILT_IN, 'ToolSearch'])
  })

  it('keep to their allowlist', async () => {
    const { sent } = await spawn({ tools: ['Read', 'mcp__mail__*'] })
    expect(await sent()).toEqual(['Read', 'mcp__mail__send_letter'])
  })

  it('CB-5: search for themselves and leave the parent as it was, and the other way round', async () => {
    const { host, child, line, messages } = await spawn()
    const turn = await line.begin(messages)
    const call = { name: 'ToolSearch', arguments: '{"query":"select:mcp__notes__read_note"}' }
    await turn.run({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_child', type: 'function', function: call }],
    })
    expect(mcpActive(child, lazy())).toContain('mcp__notes__read_note')
    expect(mcpActive(host.session.conversation, lazy())).not.toContain('mcp__notes__read_note')
    await host.session.conversation.unload(['mcp__github__list_issues'])
    expect(mcpActive(child, lazy())).toContain('mcp__github__list_issues')
  })

  it('CB-6: have a tool of their allowlist at once, and no word of a search that they lack', async () => {
    const { line, messages } = await spawn({
      tools: ['Read', 'mcp__notes__read_note'],
      inherit_active_mcp: false,
    })
    const { parts } = await line.begin(messages)
    expect((parts.tools ?? []).map((tool) => tool.function.name)).toEqual(['Read', 'mcp__notes__read_note'])
    expect(JSON.stringify(parts)).not.toContain('ToolSearch')
  })
})

describe('Decision 6: off until asked for', () => {
  // Without the preset, the mode is `auto`: off for all sources while deferral would not save tokens.
  it('CB-8: changes no byte while lazy_mcp is off, and has no ToolSearch that could do anything', async () => {
    const host = await startSeed(options({}), { servers: servers() })
    await host.ask('Hello.')
    const wireName = (name: string) => {
      const [server] =
        Object.entries(servers()).find(([, tools]) => tools.some((tool) => tool.name === name)) ?? []
      return server === undefined ? name : `mcp__${server}__${name}`
    }
    const bare = [...builtIns(), ...Object.values(servers()).flat()].map(
      ({ name, description, inputSchema: parameters }) => ({
        type: 'function',
        function: { name: wireName(name), description, parameters },
      }),
    )
    expect(JSON.stringify(host.body().tools)).toBe(JSON.stringify(bare))
    expect(host.system()).toBe('You are a careful clerk.')
    await host.ask('Try.', search('list issues'))
    expect(host.raw()).toContain('Found no tool named')
    expect(host.session.conversation.inspect().searchHistory).toEqual([])
  })

  it('gives back the very array where a host has nothing but its own tools', async () => {
    const tools = builtIns()
    const conversation = await createToolwell({ ...caliban(), tools }).open({ id: 'off' })
    const view = await conversation.begin({ requestId: 'one', anchor: 'a', wire: 'openai-chat' })
    expect(view.tools).toBe(tools)
  })

  it('CB-12: keeps a server with lazy = false hot, outside search and cap', async () => {
    const config = lazy({ tools: { max_active_schemas: 1 }, server: { notes: { lazy: false }, mail: {} } })
    const host = await startSeed(options(config), { servers: servers() })
    await host.ask('Look.', search('reads a note or sends a letter'))
    expect(host.names(0)).toEqual([...BUILT_IN, 'mcp__notes__read_note', 'ToolSearch'])
    expect(readable(host.answer())).not.toContain('read_note')
    expect(mcpActive(host.session.conversation, config)).toBe('MCP active: 1/1 (mcp__mail__send_letter)')
  })

  it('CB-11: answers kindly where no server is configured, and names a pinned server that nobody knows', async () => {
    const config = lazy({ server: { memroy: { lazy: false } } })
    const host = await startSeed(options(config))
    await host.ask('Look.', search('list issues'))
    expect(readable(host.answer())).toMatch(/^Found no tool for/)
    expect(host.session.messages.some((message) => JSON.stringify(message).includes('rror'))).toBe(false)
    expect(unknownServers(config, host.well)).toEqual(['memroy'])
  })
})

describe('Decision 7: belt and braces', () => {
  it('explains ToolSearch in the system prompt with the count, and in its own description', async () => {
    const host = await startSeed(options(), { servers: servers() })
    await host.ask('Hello.')
    expect(host.system()).toMatch(
      /^You are a careful clerk\.\n\n# MCP tools\n.*ToolSearch.*Not loaded now: 4\.$/s,
    )
    expect(JSON.parse(host.declared('ToolSearch')).function.description).toContain('available but not loaded')
    expect(host.raw()).not.toContain('mcp__github__list_issues')
  })

  // Without the preset, Toolwell counts once, in the frozen prefix: a count that follows every load would change cached bytes.
  it('counts what is gated now', async () => {
    const host = await startSeed(options(), { servers: servers() })
    await host.ask('Load.', search('list_issues'))
    expect([0, 1].map((index) => /now: (\d+)/.exec(host.system(index))?.[1])).toEqual(['4', '3'])
    const refrozen = await startSeed(options(lazy(), { surface: { cards: 'frozen' } }), {
      servers: servers(),
    })
    await refrozen.ask('Load.', search('list issues'))
    expect(refrozen.system(1)).toBe(refrozen.system(0))
  })

  it('is silent if nothing is gated', async () => {
    const pinned = lazy({ server: { notes: { lazy: false } } })
    const host = await startSeed(options(pinned), { servers: { notes: servers().notes } })
    await host.ask('Hello.')
    expect(host.system()).toBe('You are a careful clerk.')
  })

  it('CB-10: finds a place for the paragraph where the host has no system prompt, an empty one, or one of blocks', async () => {
    const well = createToolwell(options())
    for (const [name, tools] of Object.entries(servers())) well.catalogue.setSource(name, { tools })
    const user = { role: 'user', content: 'Hello.' } as const
    const line = openaiChat(await well.open({ id: 'chat' }))
    const system = async (...before: { role: 'system'; content: string }[]) =>
      JSON.stringify((await line.begin([...before, user])).parts.messages)
    expect(await system()).toContain('# MCP tools')
    expect(await system({ role: 'system', content: '' })).toContain('# MCP tools')
    const blocks = [{ type: 'text', text: 'Be careful.' }] as const
    const { parts } = await anthropic(await well.open({ id: 'blocks' })).begin([user], {
      system: [...blocks],
    })
    expect(JSON.stringify(parts.system)).toMatch(/Be careful\..*# MCP tools/)
  })
})

describe('Decision 8: the line of /context', () => {
  it('shows the number, the cap and the names', async () => {
    const host = await startSeed(options(), { servers: servers() })
    const line = () => mcpActive(host.session.conversation, lazy())
    expect(line()).toBe('MCP active: 0/24')
    await host.ask('Load.', search('select:mcp__mail__send_letter,mcp__notes__read_note'))
    expect(line()).toBe('MCP active: 2/24 (mcp__mail__send_letter, mcp__notes__read_note)')
    expect(mcpActive(host.session.conversation, {})).toBe('MCP active: all (lazy_mcp is off)')
  })

  it('has an honest counterfactual for a /usage that wants one', async () => {
    const host = await startSeed(options(), { servers: servers() })
    await host.ask('Load.', search('list issues'), use('mcp__github__list_issues'))
    const { requests, metaRequests, actual, counterfactual, saved } =
      host.session.conversation.inspect().accounting
    expect([requests, metaRequests]).toEqual([3, 1])
    expect(saved).toBe(counterfactual - actual)
    // With four small tools, the search costs more than it saves, and the report says so.
    expect(saved).toBeLessThan(0)
  })
})

describe('Consequences', () => {
  it('runs and activates a tool that the model calls without a search', async () => {
    const host = await startSeed(options(), { servers: servers() })
    await host.ask('List them.', use('mcp__github__list_issues'))
    expect(host.ran).toEqual(['mcp__github__list_issues'])
    expect(host.names(1)).toContain('mcp__github__list_issues')
    expect(mcpActive(host.session.conversation, lazy())).toBe('MCP active: 1/24 (mcp__github__list_issues)')
  })

  // Without the preset, Toolwell delivers over the bridge or natively, and keeps every byte.
  it('rewrites the tools on each activation, which the default does not', async () => {
    const toolsIn = (raw: string) => raw.slice(raw.indexOf('"tools"'))
    const host = await startSeed(options(), { servers: servers() })
    await host.ask('Load.', search('list issues'))
    expect(toolsIn(host.raw(1))).not.toBe(toolsIn(host.raw(0)))
    const { delivery: _, ...preset } = options(lazy(), { surface: { cards: 'frozen' } })
    const bridge = await startSeed(preset, { servers: servers() })
    await bridge.ask('Load.', search('list issues'))
    expect(toolsIn(bridge.raw(1))).toBe(toolsIn(bridge.raw(0)))
    expect(bridge.system(1)).toBe(bridge.system(0))
  })

  it('reports a server as still connecting instead of waiting', async () => {
    const host = await startSeed(options(), { servers: servers() })
    host.well.catalogue.setState('mail', 'connecting')
    await host.ask('Send.', search('send a letter'))
    expect(readable(host.answer())).toContain('mcp__mail__send_letter cannot be used now: connecting')
    host.well.catalogue.setState('mail', 'ready')
    await host.ask('Send.', search('send a letter'), use('mcp__mail__send_letter'))
    expect(host.ran).toEqual(['mcp__mail__send_letter'])
  })
})

describe('Revisit if', () => {
  it('changes no byte before the messages for searches that activate nothing new, however many', async () => {
    const host = await startSeed(options(), { servers: servers() })
    await host.ask('Load.', search('send a letter'))
    const found = host.count
    await host.ask(
      'Again.',
      search('send a letter'),
      search('select:mcp__mail__send_letter'),
      search('cook a meal'),
    )
    for (let index = found; index < host.count; index++) {
      expect(host.body(index).tools).toEqual(host.body(found - 1).tools)
      expect(host.system(index)).toBe(host.system(found - 1))
    }
  })

  it('defers built-in tools, too, where a host with many of them says so behind the preset', async () => {
    const { rules = [], ...rest } = caliban(lazy())
    const host = await startSeed(
      { ...rest, rules: [...rules, { tool: 'Grep', defer: true }], tools: builtIns() },
      { servers: servers() },
    )
    await host.ask('Look.', search('select:Grep'), use('Grep'))
    expect(host.names(0)).toEqual(['Bash', 'Read', 'ToolSearch'])
    expect(host.names(1)).toEqual(['Bash', 'Read', 'ToolSearch', 'Grep'])
    expect(host.ran).toEqual(['Grep'])
  })

  it('reports a model that ignores the paragraph, for which there are stronger words', async () => {
    const host = await startSeed(options(), { servers: servers() })
    const guess = (name: string) => ({ name, arguments: { about: 'a guess' } })
    await host.ask(
      'Work.',
      guess('mcp__github__list_issues'),
      guess('mcp__mail__send_letter'),
      guess('mcp__notes__read_note'),
    )
    expect(host.events.filter(({ kind }) => kind === 'search-ignored')).toMatchObject([{ hiddenCalls: 3 }])
    const strong = await startSeed(options(lazy(), { surface: { affordance: 'strong' } }), {
      servers: servers(),
    })
    await strong.ask('Hello.')
    expect(JSON.parse(strong.declared('ToolSearch')).function.description).toContain('before you say that')
  })

  it('has what was active after a restart', async () => {
    const host = await startSeed(options(), { servers: servers() })
    await host.ask('Load.', search('list_issues'))
    const resumed = await host.restart()
    expect(mcpActive(resumed.session.conversation, lazy())).toBe(
      'MCP active: 1/24 (mcp__github__list_issues)',
    )
    await resumed.ask('Go on.', use('mcp__github__list_issues'))
    expect(resumed.names(0)).toContain('mcp__github__list_issues')
  })
})
