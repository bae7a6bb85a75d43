/** The SF draft on lazy tool surfaces, passage by passage, as the preset `sf` behaves on the wire. */
import { createToolwell, ToolwellError } from '@toolwell/core'
import { lazyToolSessionState, restoreLazyToolSessionState, sf, sfTools } from '@toolwell/presets'
import { describe, expect, it } from 'vitest'
import { makeTool, startSeed, WIRES } from './seed-host.ts'
import { EAGER, LAZY, MANIFEST, named, options, resultOf, search, tools, use } from './sf-tools.ts'

describe('Prior Art', () => {
  it('SF-3: what mcp_discover registers is deferred, and its guidelines stay with it', async () => {
    const host = await startSeed({
      ...sf(),
      tools: [
        makeTool('mcp_servers', 'Lists servers.', { domain: 'mcp' }),
        makeTool('mcp_call', 'Calls a tool of a server.', { domain: 'mcp' }),
        makeTool('mcp_discover', 'Connects a server.', {
          domain: 'mcp',
          execute: () => {
            const found = makeTool('list_issues', 'Lists issues.', {
              domain: 'mcp',
              guidelines: ['Never list closed issues.'],
            })
            host.well.catalogue.setSource('github', { tools: [found] })
            return '1 tool discovered'
          },
        }),
      ],
    })
    await host.ask('Connect it.', use('mcp_servers'), use('mcp_discover'))
    expect(host.names()).toEqual(['mcp_call', 'mcp_discover', 'mcp_servers', 'sf_tool_search'])
    expect(host.raw()).not.toContain('Never list closed issues.')
    await host.ask(
      'List issues.',
      search({ query: 'list issues', domain: 'mcp' }),
      use('github__list_issues'),
      use('mcp_call'),
    )
    expect(host.names()).toContain('github__list_issues')
    expect(host.raw()).toContain('Never list closed issues.')
    expect(host.ran).toEqual(['mcp_servers', 'mcp_discover', 'github__list_issues', 'mcp_call'])
  })
})

describe('Meta-Tool Schema', () => {
  it('declares sf_tool_search with the input of the draft, and no other', async () => {
    const host = await startSeed(options())
    await host.ask('Hello.')
    const { parameters } = JSON.parse(host.declared('sf_tool_search')).function
    expect(Object.keys(parameters.properties)).toEqual(['query', 'domain', 'includeLoaded', 'limit'])
    const domains = 'planning execution memory subagent evidence mcp all'
    expect(parameters.properties.domain.enum).toEqual(domains.split(' '))
    expect(parameters.required).toEqual(['query'])
  })

  it('answers with the fields of the draft, and no other', async () => {
    const host = await startSeed(options())
    await host.ask('Remember.', search({ query: 'select:memory_search,query_journal' }))
    const result = resultOf(host.answer())
    expect(Object.keys(result).join()).toBe('query,loadedBefore,matches,loadedAfter,nextInstruction')
    const [first] = result.matches
    expect(first).toEqual({
      name: 'memory_search',
      canonicalName: 'memory_search',
      status: 'loaded',
      title: 'memory_search',
      description: 'Finds stored records.',
      domain: 'memory',
      aliases: ['recall_notes', 'find_memory'],
      schemaPreview: 'memory_search(subject: string)',
      loadToken: expect.stringMatching(/^[0-9a-f]{10}$/),
    })
    expect(result).toMatchObject({ loadedBefore: [], loadedAfter: ['memory_search', 'query_journal'] })
    expect(result.nextInstruction).toMatch(/^2 tools loaded\./)
  })

  it('gives whole schemas as the preview where the host wants them in both places', async () => {
    const host = await startSeed(options({ search: { schemas: 'twice' } }))
    await host.ask('Remember.', search({ query: 'memory_graph' }))
    const [match] = resultOf(host.answer()).matches
    expect(match?.schemaPreview).toEqual(tools()[2]?.inputSchema)
  })

  it('keeps to a domain, takes all of them for "all", and lists a domain without a query', async () => {
    const host = await startSeed(options())
    const names = () => resultOf(host.answer()).matches.map(({ name }) => name)
    await host.ask('Look.', search({ query: 'stored records entries', domain: 'evidence' }))
    expect(names()).toEqual(['query_journal'])
    await host.ask('Look.', search({ query: '', domain: 'memory' }))
    expect(names()).toEqual(['memory_graph', 'memory_search'])
    await host.ask('Look.', search({ query: 'running helper', domain: 'all' }))
    expect(names()).toEqual(['kill_agent'])
  })

  it('finds the tools of MCP servers under the domain "mcp", with their optional parameters', async () => {
    const issue = makeTool('open_issue', 'Opens an issue.', {
      inputSchema: {
        type: 'object',
        properties: { title: { type: 'string' }, labels: { type: 'array', items: { type: 'string' } } },
        required: ['title'],
      },
    })
    const host = await startSeed(options(), { servers: { github: [issue] } })
    await host.ask('Look.', search({ query: 'open an issue', domain: 'mcp' }))
    expect(resultOf(host.answer()).matches).toMatchObject([
      { name: 'github__open_issue', schemaPreview: 'github__open_issue(title: string, labels?: string[])' },
    ])
    await host.ask('Look.', search({ query: 'open an issue', domain: 'memory' }))
    expect(resultOf(host.answer()).matches).toEqual([])
  })

  it('omits loaded tools unless includeLoaded is set, and never denies that they exist', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'memory_search' }))
    await host.ask('Look.', search({ query: 'stored records' }))
    const names = resultOf(host.answer()).matches.map(({ name }) => name)
    expect(names).toContain('memory_graph')
    expect(names).not.toContain('memory_search')
    await host.ask('Look.', search({ query: 'stored records', includeLoaded: true }))
    const { matches } = resultOf(host.answer())
    expect(matches.map(({ name, status }) => [name, status])).toEqual(
      expect.arrayContaining([
        ['memory_graph', 'loaded'],
        ['memory_search', 'loaded'],
      ]),
    )
    await host.ask('Look.', search({ query: 'stored records' }))
    expect(resultOf(host.answer()).nextInstruction).toMatch(/^Already loaded; call directly\./)
  })

  it('loads no more than limit, and says how many more there are', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'stored records', limit: 1 }))
    const result = resultOf(host.answer())
    expect(result.loadedAfter).toHaveLength(1)
    expect(result.nextInstruction).toMatch(/^\d more, not listed here, fit/m)
  })

  it('shows what fits and has no room as available_lazy, with the reason, and does not load it', async () => {
    const host = await startSeed(options({ limits: { maxLoaded: 1 } }))
    await host.ask('Look.', search({ query: 'select:memory_search,query_journal' }))
    const { matches, loadedAfter, nextInstruction } = resultOf(host.answer())
    expect(matches.map(({ name, status }) => [name, status])).toEqual([
      ['memory_search', 'loaded'],
      ['query_journal', 'available_lazy'],
    ])
    expect(loadedAfter).toEqual(['memory_search'])
    expect(nextInstruction).toMatch(/query_journal\(.*\(no room/)
    expect(host.names()).toContain('memory_search')
    expect(host.names()).not.toContain('query_journal')
  })

  it('tells an old name as a deprecated alias of the tool that will run, in words and by select', async () => {
    const host = await startSeed(options())
    for (const query of ['find_memory', 'please find_memory about it', 'select:find_memory']) {
      await host.ask('Look.', search({ query, includeLoaded: true }))
      expect(resultOf(host.answer()).matches[0]).toMatchObject({
        name: 'find_memory',
        canonicalName: 'memory_search',
        status: 'deprecated_alias',
      })
    }
    expect(host.names()).toContain('memory_search')
    expect(host.names()).not.toContain('find_memory')
  })

  it('has an instruction for every miss: an empty query, a wrong name, a query that fits nothing', async () => {
    const host = await startSeed(options())
    const said = async (query: string) => {
      await host.ask('Look.', search({ query }))
      const { matches, nextInstruction } = resultOf(host.answer())
      expect(matches).toEqual([])
      return nextInstruction
    }
    expect(await said('')).toContain('The query is empty')
    expect(await said('select:memory_grph')).toContain('Nearest: memory_graph')
    expect(await said('bake a chocolate cake')).toContain('Found no tool for')
  })
})

describe('Behavior', () => {
  it('has sf_tool_search in every request, even if nothing is lazy', async () => {
    const host = await startSeed({ ...sf(), tools: [makeTool('bash', 'Runs a command.')] })
    await host.ask('One.', use('bash'))
    expect([0, 1].map((index) => host.names(index))).toEqual([
      ['bash', 'sf_tool_search'],
      ['bash', 'sf_tool_search'],
    ])
  })

  it.each([
    ['name', 'query_journal', 'query_journal'],
    ['alias', 'recall_notes', 'memory_search'],
    ['description', 'log book', 'query_journal'],
    ['domain', 'evidence', 'query_journal'],
    ['prompt snippet', 'web of notes', 'memory_graph'],
  ])('finds a lazy tool by its %s', async (_, query, name) => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query }))
    expect(resultOf(host.answer()).matches.map(({ canonicalName }) => canonicalName)).toContain(name)
  })

  it.each(WIRES)('has the whole schema in the next request, over %s', async (wire) => {
    const host = await startSeed(options(), { wire })
    await host.ask('Look.', search({ query: 'memory_graph' }), use('memory_graph'))
    expect(host.raw(0)).not.toContain('The subject of memory_graph')
    expect(host.declared('memory_graph', 1)).toContain('The subject of memory_graph')
    expect(host.ran).toEqual(['memory_graph'])
  })

  // Without the preset, Toolwell loads at most five keyword hits, and none below its cut-off.
  it('SF-7: loads every match, however many', async () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      makeTool(`report_${index}`, 'Writes one kind of report.', { defer: true, domain: 'planning' }),
    )
    const preset = await startSeed({ ...sf(), tools: many })
    await preset.ask('Report.', search({ query: 'report' }))
    expect(resultOf(preset.answer()).loadedAfter).toHaveLength(30)
    expect(preset.names()).toHaveLength(31)
    const { cutOff: _, loadLimit: __, ...rest } = sf().search ?? {}
    const careful = await startSeed({ ...sf(), search: rest, tools: many })
    await careful.ask('Report.', search({ query: 'report' }))
    expect(resultOf(careful.answer()).loadedAfter).toHaveLength(5)
    expect(resultOf(careful.answer()).nextInstruction).toContain('more than one search loads at once')
  })

  it('executes nothing that it finds', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'kill_agent' }))
    expect(host.ran).toEqual([])
  })

  it('shows the risk of a dangerous tool, and leaves permission to those who give it', async () => {
    const host = await startSeed(options(), { approve: ({ tool }) => tool.risk !== 'destructive' })
    await host.ask('End it.', search({ query: 'kill_agent' }), use('kill_agent'))
    expect(resultOf(host.answer(1)).matches[0]?.risk).toBe('destructive')
    expect(host.answer()).toContain('the user did not allow it')
    expect(host.ran).toEqual([])
  })

  it('neither lists nor finds nor loads what policy denies', async () => {
    const host = await startSeed(options({ policy: ({ name }) => name !== 'kill_agent' }))
    await host.ask('End it.', search({ query: 'running helper' }), search({ query: 'select:kill_agent' }))
    expect(resultOf(host.answer()).loadedAfter).toEqual([])
    expect(host.declared('sf_tool_search')).not.toContain('kill_agent')
  })
})

describe('Manifest Metadata', () => {
  it('SF-6: takes strings and objects side by side; a string changes nothing', () => {
    const own = tools()
    const [complete, , graph] = sfTools(own, JSON.stringify(MANIFEST))
    expect(complete).toEqual(own[0])
    expect(graph).toMatchObject({ defer: true, domain: 'memory', promptSnippet: expect.any(String) })
  })

  it('accepts the current flat list', async () => {
    const flat = { provides: { tools: tools().map(({ name }) => name) } }
    const plain = tools().filter(({ name }) => ['bash', 'complete_task'].includes(name))
    const host = await startSeed({ ...sf(), tools: sfTools(plain, { provides: { tools: ['bash'] } }) })
    await host.ask('Hello.')
    expect(host.names()).toEqual(['bash', 'complete_task', 'sf_tool_search'])
    expect(sfTools(tools(), flat).map(({ name }) => name)).toEqual(flat.provides.tools)
  })

  it('names the file, the place and the fix of a mistake', () => {
    const broken = { provides: { tools: [{ name: 'bash', lasy: true }] } }
    expect(() => sfTools(tools(), broken, { file: 'extension-manifest.json' })).toThrow(
      /extension-manifest\.json: \$\.provides\.tools\[0\]\.lasy: .*Rename it to "lazy"/,
    )
    expect(() => sfTools(tools(), { provides: { tools: ['bahs'] } })).toThrow(ToolwellError)
  })
})

describe('Prompt-build rule', () => {
  it('passes eager tools to the provider as they are, and leaves lazy ones out of the array', async () => {
    const host = await startSeed(options())
    await host.ask('Hello.')
    expect(host.names()).toEqual(['bash', 'complete_task', 'sf_tool_search'])
    expect(JSON.parse(host.declared('bash')).function).toEqual({
      name: 'bash',
      description: 'Runs a command.',
      parameters: tools()[1]?.inputSchema,
    })
  })

  it('SF-4: gives a host its list of available tools: no lazy tool in it, and no description for a missing snippet', async () => {
    const host = await startSeed(options())
    const listed = () => host.session.conversation.inspect().visibleNames
    await host.ask('Hello.')
    expect(listed().map(({ name }) => name)).toEqual(['bash', 'complete_task', 'sf_tool_search'])
    expect(listed().every(({ snippet }) => snippet === '')).toBe(true)
    await host.ask('Look.', search({ query: 'memory_graph' }))
    expect(listed()).toContainEqual({
      name: 'memory_graph',
      snippet: 'Walk the web of related notes',
      guidelines: [],
    })
  })

  it('gives sf_tool_search an index of names, domains and descriptions, and no schema', async () => {
    const host = await startSeed(options())
    await host.ask('Hello.')
    const { description } = JSON.parse(host.declared('sf_tool_search')).function
    expect(description).toContain(
      '[domain:"memory"]\n- memory_graph: "Inspects how stored records hang together."',
    )
    expect(description).toContain('[domain:"evidence"]\n- query_journal')
    expect(host.raw()).not.toContain('The subject of query_journal')
  })

  it('brings the guidelines of a tool with its schema, not before', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'log book' }))
    expect(host.raw(0)).not.toContain('Quote the date')
    expect(host.raw(1)).toContain('Quote the date')
    await host.ask('And now?')
    expect(host.raw().split('Quote the date')).toHaveLength(2)
  })
})

describe('Suggested eager baseline and lazy groups', () => {
  it('are what a host without a manifest gets', async () => {
    const host = await startSeed({ ...sf(), tools: sfTools([...named(EAGER), ...named(LAZY)]) })
    await host.ask('Hello.')
    expect(host.names()).toEqual([...EAGER.split(' ').sort(), 'sf_tool_search'])
    for (const name of LAZY.split(' ')) expect(host.declared('sf_tool_search')).toContain(name)
  })

  it('SF-1: give way to the manifest, also for a built-in tool', async () => {
    const manifest = {
      provides: {
        tools: [
          { name: 'grep', lazy: true },
          { name: 'memory_search', lazy: false },
        ],
      },
    }
    const host = await startSeed({
      ...sf(),
      tools: sfTools([...named('read grep'), ...named('memory_search')], manifest),
    })
    await host.ask('Hello.')
    expect(host.names()).toEqual(['memory_search', 'read', 'sf_tool_search'])
    // An unknown name is reported, not ignored.
    const { refused } = await host.session.conversation.load(['grpe'])
    expect(refused).toEqual([{ name: 'grpe', reason: 'unknown' }])
  })
})

describe('Session State', () => {
  it('has the shape of the draft, as plain JSON', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'memory_graph' }), search({ query: 'chocolate' }))
    const state = lazyToolSessionState(host.session.conversation)
    expect(JSON.parse(JSON.stringify(state))).toEqual({
      loadedLazyTools: ['memory_graph'],
      loadedAtTurn: { memory_graph: 1 },
      searchHistory: [
        { turn: 1, query: 'memory_graph', loaded: ['memory_graph'] },
        { turn: 2, query: 'chocolate', loaded: [] },
      ],
    })
  })

  it('lives in memory by default, and nowhere else', async () => {
    const well = createToolwell(options())
    const conversation = await well.open({ id: 'session' })
    await conversation.load(['memory_graph'])
    expect(lazyToolSessionState(conversation).loadedLazyTools).toEqual(['memory_graph'])
    const again = await createToolwell(options()).open({ id: 'session' })
    expect(lazyToolSessionState(again).loadedLazyTools).toEqual([])
  })

  it('survives a resume where the store does', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'memory_graph' }))
    const state = lazyToolSessionState(host.session.conversation)
    const resumed = await host.restart()
    expect(lazyToolSessionState(resumed.session.conversation)).toEqual(state)
    await resumed.ask('Go on.', use('memory_graph'))
    expect(resumed.names(0)).toContain('memory_graph')
    expect(resumed.ran).toEqual(['memory_graph'])
  })

  it('can be stored with a session of the host and put into a new one', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'memory_graph' }))
    const kept = JSON.stringify(lazyToolSessionState(host.session.conversation))
    const other = await host.restart(options(), 'other')
    await restoreLazyToolSessionState(other.session.conversation, JSON.parse(kept))
    await other.ask('Go on.', use('memory_graph'))
    expect(other.names(0)).toContain('memory_graph')
  })

  it('comes back from such a copy with its turns and searches, and counts on from there', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'chocolate' }), search({ query: 'memory_graph' }))
    const copy = JSON.parse(JSON.stringify(lazyToolSessionState(host.session.conversation)))
    const other = await host.restart(options(), 'other')
    const { conversation } = other.session
    const report = await restoreLazyToolSessionState(conversation, copy)
    expect(report).toEqual({ loaded: ['memory_graph'], already: [], refused: [] })
    expect(lazyToolSessionState(conversation, copy)).toEqual(copy)
    await other.ask('More.', search({ query: 'select:memory_search' }))
    const grown = lazyToolSessionState(conversation, copy)
    expect(grown).toEqual({
      loadedLazyTools: ['memory_graph', 'memory_search'],
      loadedAtTurn: { memory_graph: 2, memory_search: 3 },
      searchHistory: [
        ...copy.searchHistory,
        { turn: 3, query: 'select:memory_search', loaded: ['memory_search'] },
      ],
    })
    // Also a copy of a copy.
    const third = (await host.restart(options(), 'third')).session.conversation
    await restoreLazyToolSessionState(third, grown)
    expect(lazyToolSessionState(third, grown)).toEqual(grown)
  })

  it('does not come back with what is forbidden or gone by then', async () => {
    const host = await startSeed({ ...options(), policy: ({ id }) => id !== 'memory_graph' })
    const copy = {
      loadedLazyTools: ['memory_graph', 'no_such_tool'],
      loadedAtTurn: { memory_graph: 1, no_such_tool: 4 },
      searchHistory: [],
    }
    const { conversation } = host.session
    expect((await restoreLazyToolSessionState(conversation, copy)).refused).toEqual([
      { name: 'memory_graph', reason: 'denied' },
      { name: 'no_such_tool', reason: 'unknown' },
    ])
    expect(lazyToolSessionState(conversation, copy)).toEqual({
      loadedLazyTools: [],
      loadedAtTurn: {},
      searchHistory: [],
    })
  })

  it('SF-2: ends with its session: a new one starts with the lazy tools hidden, and takes nothing from the old one', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'memory_graph' }))
    const fresh = await host.restart(options(), 'fresh')
    await fresh.ask('Hello.')
    expect(fresh.names()).toEqual(['bash', 'complete_task', 'sf_tool_search'])
    await host.ask('And here?')
    expect(host.names()).toContain('memory_graph')
    await host.session.conversation.clear()
    await host.ask('Anew.')
    expect(host.names()).toEqual(fresh.names())
  })
})

describe('Turn lifecycle', () => {
  it('starts eager, finds, and continues with eager tools, the search tool and loaded tools', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'memory_graph' }), use('memory_graph'))
    const start = ['bash', 'complete_task', 'sf_tool_search']
    expect([0, 1, 2].map((index) => host.names(index))).toEqual([
      start,
      [...start, 'memory_graph'],
      [...start, 'memory_graph'],
    ])
    expect(host.answer()).toBe('memory_graph it: done')
  })

  it('SF-6: a load from inside a call changes the next request, not the batch that is running', async () => {
    const host = await startSeed(options({ surface: { hiddenCalls: 'refuse' } }))
    await host.ask('Both.', [search({ query: 'memory_graph' }), use('memory_graph')])
    expect(host.answer()).toContain('memory_graph is not loaded')
    expect(host.ran).toEqual([])
    expect(host.names()).toContain('memory_graph')
  })

  it('keeps what is loaded until the model or the host unloads it', async () => {
    const host = await startSeed(options())
    await host.ask('Look.', search({ query: 'select:memory_graph,query_journal' }))
    await host.ask('Put it back.', search({ query: 'unload:memory_graph' }))
    const loaded = () => lazyToolSessionState(host.session.conversation).loadedLazyTools
    expect(loaded()).toEqual(['query_journal'])
    expect(resultOf(host.answer()).nextInstruction).toContain('Unloaded: memory_graph')
    await host.session.conversation.unload(['query_journal'])
    expect(loaded()).toEqual([])
    await host.ask('And now?')
    expect(host.raw()).toContain('Unloaded: query_journal')
    // Its bytes are removed when that costs nothing: here, when the prefix is frozen again.
    await host.session.conversation.compact({ kept: {} })
    await host.ask('And then?')
    expect(host.names()).toEqual(['bash', 'complete_task', 'sf_tool_search'])
  })

  it('keeps what is loaded over a compaction, unless a policy resets it there', async () => {
    const host = await startSeed(options())
    const { conversation } = host.session
    await host.ask('Look.', search({ query: 'select:memory_graph,query_journal' }))
    await conversation.compact({ kept: {} })
    await host.ask('Still there?')
    expect(host.names()).toEqual(['bash', 'complete_task', 'sf_tool_search', 'memory_graph', 'query_journal'])
    await conversation.compact({ kept: {}, trim: () => ['query_journal'] })
    await host.ask('And now?')
    expect(host.names()).toEqual(['bash', 'complete_task', 'sf_tool_search', 'query_journal'])
  })
})

describe('Current Architecture Feasibility: current support', () => {
  it('lets a host set the active tools by name, and the next request has them, with their lines for the prompt', async () => {
    const host = await startSeed(options())
    const { conversation } = host.session
    await host.ask('Hello.')
    await conversation.load(['memory_graph', 'query_journal'])
    await host.ask('Go on.')
    expect(host.names().slice(-2)).toEqual(['memory_graph', 'query_journal'])
    expect(conversation.inspect().visibleNames).toContainEqual(
      expect.objectContaining({ name: 'memory_graph', snippet: 'Walk the web of related notes' }),
    )
    await conversation.unload(['memory_graph'])
    expect(conversation.inspect().visibleNames.map(({ name }) => name)).not.toContain('memory_graph')
  })

  it('takes tools of an extension that registers them later, and lets them go when it unregisters them', async () => {
    const host = await startSeed(options())
    await host.ask('Hello.')
    const { catalogue } = host.well
    const first = makeTool('paint', 'Paints a picture.', { guidelines: ['Sign every picture.'] })
    catalogue.setSource('studio', {
      tools: [first, makeTool('frame', 'Frames a picture.', { defer: false })],
    })
    await host.ask('Go on.')
    // Lazy tools are announced but not declared; eager tools are appended.
    expect(host.names()).toEqual([...host.names(0), 'studio__frame'])
    expect(host.raw()).toContain('studio__paint')
    expect(host.raw()).not.toContain('Sign every picture.')
    await host.ask('Paint.', search({ query: 'paint' }), use('studio__paint'))
    expect(host.ran).toEqual(['studio__paint'])
    catalogue.removeSource('studio')
    await host.ask('Paint again.', use('studio__paint'))
    expect(host.ran).toEqual(['studio__paint'])
    expect(host.answer()).toContain('studio__paint')
    expect(host.answer()).not.toContain('done')
  })
})

describe('Missing pieces', () => {
  it('keeps the old name, the alias and the tool that ran, and counts the uses of old names', async () => {
    const host = await startSeed(options())
    await host.ask('Find it.', use('find_memory'), use('recall_notes'), use('memory_search'))
    const calls = host.events.flatMap((event) =>
      event.kind === 'call-succeeded' ? [[event.tool, event.asked, event.alias]] : [],
    )
    expect(calls).toEqual([
      ['memory_search', 'find_memory', 'find_memory'],
      ['memory_search', 'recall_notes', 'recall_notes'],
      ['memory_search', 'memory_search', undefined],
    ])
    expect(host.session.conversation.inspect().aliasUses).toEqual({ find_memory: 1, recall_notes: 1 })
  })

  it('gives load tokens that name one definition for one principal, and a bridge that refuses a stale one', async () => {
    const host = await startSeed(options({ delivery: 'bridge' }), {
      servers: { notes: [makeTool('read_note', 'Reads a note.')] },
    })
    const tokenOf = () => resultOf(host.answer()).matches[0]?.loadToken
    const call = (load: unknown) => ({
      name: 'tool_call',
      arguments: { name: 'notes__read_note', arguments: { subject: 'it' }, load },
    })
    await host.ask('Look.', search({ query: 'read_note' }))
    const token = tokenOf()
    await host.ask('Read.', call(token))
    expect(host.answer()).toBe('read_note it: done')
    host.well.catalogue.setSource('notes', { tools: [makeTool('read_note', 'Reads one note of many.')] })
    await host.ask('Read.', call(token))
    expect(host.answer()).toContain('has changed since you found it')
    await host.ask('Look.', search({ query: 'select:notes__read_note' }))
    expect(tokenOf()).not.toBe(token)
  })
})
