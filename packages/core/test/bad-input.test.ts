import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import {
  createToolwell,
  type Exposure,
  type Policy,
  type SearchTool,
  searchTools,
  type Tool,
  type ToolwellOptions,
} from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

/** Values that a programmer without types, or a config file, may pass. */
const create = (options: object) => () => createToolwell(options as ToolwellOptions)

describe('createToolwell', () => {
  it.each([
    [{ tool: 1 }, '"tools"?'],
    [{ onevent: 1 }, '"onEvent"?'],
    [{ serch: {} }, '"search"?'],
    [{ treshold: 1 }, '"costs.threshold"? Write costs: { threshold: … }.'],
    [{ max_loaded: 1 }, '"limits.maxLoaded"? Write limits: { maxLoaded: … }.'],
    [{ hiddenCall: 1 }, '"surface.hiddenCalls"? Write surface: { hiddenCalls: … }.'],
    [{ limits: { maxLoadd: 1 } }, '"maxLoaded"?'],
    [{ search: { max_loaded: 1 } }, '"limits.maxLoaded"? Write limits: { maxLoaded: … }.'],
    [{ costs: { moode: 1 } }, '"mode"? Write mode: … at the top level.'],
  ])('names the nearest known option of all groups: %j', (options, nearest) => {
    expect(create(options)).toThrow(`Did you mean ${nearest}`)
  })

  it.each([
    [{ maxLoaded: 1 }, 'maxLoaded is now limits.maxLoaded. Write limits: { maxLoaded: … }.'],
    [{ usage: false }, 'usage is now search.usage. Write search: { usage: … }.'],
    [{ tokenizer: {} }, 'tokenizer is now costs.tokenizer. Write costs: { tokenizer: … }.'],
    [{ cards: 'live' }, 'cards is now surface.cards. Write surface: { cards: … }.'],
    [{ face: {} }, 'face is now search.tool. Write search: { tool: … }.'],
    [{ auto: 'frugal' }, 'auto is now costs.plan. Write costs: { plan: … }.'],
    [
      { search: { maxLoaded: 1 } },
      'search.maxLoaded does not exist: it is limits.maxLoaded. Write limits: {',
    ],
    [{ limits: { mode: 'on' } }, 'limits.mode does not exist: it is mode. Write mode: … at the top level.'],
  ])('says where an option belongs: %j', (options, message) => {
    expect(create(options)).toThrow(message)
  })

  it('says which options a group takes', () => {
    expect(create({ limits: 5 })).toThrow('limits takes an object of options (maxLoaded, maxLoadedTokens, ')
    expect(create({ costs: [] })).toThrow('costs takes an object of options (plan, threshold, ')
    expect(create({ search: null, surface: undefined })).not.toThrow()
  })

  it('names the right place for a list of tools, here and in setSource', () => {
    expect(create([tool('a')])).toThrow('createToolwell takes an object, not a list: give { tools: […] }.')
    const { catalogue } = createToolwell()
    expect(() => catalogue.setSource('s', [tool('a')] as never)).toThrow(
      'setSource("s") takes an object, not a list: give { tools: […] }.',
    )
  })

  it('reports a conversation without an id, in the terms of open', async () => {
    await expect(createToolwell().open({} as never)).rejects.toThrow(
      'The id of a conversation is undefined, not a string. Give { id }, a string of 1 to ',
    )
  })

  it('lists the known options where none is near, and reads no inherited key', () => {
    expect(create({ zzzzzz: 1 })).toThrow(
      /Unknown option "zzzzzz" in createToolwell\. Known options: tools, mode/,
    )
    expect(create(Object.create({ inherited: 1 }))).not.toThrow()
  })

  it.each([
    ['rules', { rules: [{ toool: 'x', defer: true }] }, /rules\[0\].*Did you mean "tool"/s],
    ['prompts', { surface: { prompts: { lodaer: () => '' } } }, /surface\.prompts.*Did you mean "loader"/s],
  ])('does so inside %s', (_, options, message) => {
    expect(create(options)).toThrow(message)
  })

  it('says what to give where a kind is wrong', () => {
    expect(create({ store: './ledgers' })).toThrow(
      "store must be a store, not string: memoryStore() of @toolwell/core, or jsonlStore('./ledgers') of @toolwell/core/stores/jsonl.",
    )
    expect(create({ debug: 'yes' })).toThrow('debug must be true, false or a function, not string.')
  })

  it.each([
    ['mode', ['enabled', true, null]],
    ['delivery', ['native-ish', 1]],
    ['tools', [{}, 'read_file']],
    ['eager', ['read_file', [1], {}]],
    ['rules', [{}, 'all', [{ tool: 'x' }], [{ defer: 'yes' }]]],
    ['policy', [true, {}, [true], ['x']]],
    ['store', [{}, { read: () => [], append: () => undefined, results: {} }]],
    ['results', ['x', {}]],
    ['searcher', ['x', {}]],
    ['onEvent', ['x', {}]],
    ['debug', ['yes', 1]],
    ['search.cutOff', [-0.1, 1.1, Number.NaN, '0.5']],
    ['search.loadLimit', [0, -1, 2.5, Number.NaN, '5']],
    ['search.schemas', ['thrice']],
    ['search.waitForSources', [-1, 600_001, 'long']],
    ['search.usage', [true, 'on', { store: {} }, { shared: 'yes' }, { sotre: 1 }]],
    ['surface.hiddenCalls', ['run', false]],
    ['surface.cards', ['fixed', true]],
    ['surface.cardPlace', ['system']],
    ['surface.affordance', ['loud']],
    ['surface.prompts', ['x', { loader: 'Search.' }, { dropReason: { denid: 'x' } }]],
    ['surface.wireName', ['x', {}]],
    ['surface.transformDefinition', ['x', {}]],
    ['limits.maxLoaded', [0, -1, 2.5, Number.NaN, '3']],
    ['limits.maxLoadedTokens', [0, -1, Number.NaN, '3']],
    ['limits.largeTool', [0, Number.NaN]],
    ['limits.resultBudget', [0, -5, Number.NaN]],
    ['limits.cardBudget', [-1, Number.NaN, '10']],
    ['limits.maxResultTokens', [1, true, 'all', { sources: { web: 1 } }, { defualt: 5000 }]],
    ['costs.plan', ['cheap']],
    ['costs.threshold', [-1, Number.NaN, '4000', null]],
    ['costs.prices', [{ read: -1 }, { write: 101 }, { cached: 1 }]],
    ['costs.tokenizer', ['cl100k', {}]],
  ])('refuses impossible values of %s, and says what is possible', (path, values) => {
    for (const value of values) {
      const [key = '', inner] = path.split('.')
      const given = create({ [key]: inner === undefined ? value : { [inner]: value } })
      if (value === null) {
        // Null is what a config file says for "not given".
        expect(given, path).not.toThrow()
        continue
      }
      expect(given, `${path}: ${String(value)}`).toThrow(path)
      try {
        given()
      } catch (error) {
        expect(error).toMatchObject({ name: 'ToolwellError', code: 'invalid-option' })
      }
    }
  })

  it('CB-4: says why a cap of 0 is refused', () => {
    expect(create({ limits: { maxLoaded: 0 } })).toThrow(/would hide every deferred tool permanently/)
  })

  it.each([
    ['an illegal name', { name: 'tool search' }],
    ['an empty name', { name: '' }],
    ["the bridge's name", { name: 'tool_call' }],
    ['no schema', { inputSchema: undefined }],
    ['no reader', { read: undefined }],
  ])('refuses a search tool with %s', (_, broken) => {
    const searchTool = { ...searchTools.standard, ...broken } as unknown as SearchTool
    expect(create({ search: { tool: searchTool } })).toThrow(/search\.tool/)
  })

  it('refuses unknown keys and a policy that is none when a conversation is opened', async () => {
    const well = createToolwell()
    expect(() => well.open({ id: 'a', agnet: 'x' } as never)).toThrow(/Did you mean "agent"/)
    expect(() => well.open({ id: 'a', policy: true as unknown as Policy })).toThrow(
      /policy must be a function/,
    )
    await expect(well.open({ id: '' })).rejects.toMatchObject({ code: 'invalid-ledger-id' })
  })
})

describe('a tool', () => {
  const circular: Record<string, unknown> = { type: 'object' }
  circular.properties = { self: circular }
  const nested = (levels: number, inmost = { type: 'object' }) => {
    let schema: Record<string, unknown> = inmost
    for (let level = 1; level < levels; level++) schema = { type: 'object', items: schema }
    return schema
  }

  it.each([
    ['is no object', null, 'is not an object'],
    ['is a string', 'read_file', 'is not an object'],
    ['has no name', { ...tool('x'), name: '' }, 'has no name'],
    ['has a name of spaces', { ...tool('x'), name: '  ' }, 'has no name'],
    ['has a number for a name', { ...tool('x'), name: 7 }, 'has no name'],
    ['has no schema', { ...tool('x'), inputSchema: undefined }, 'has no inputSchema'],
    ['has a list for a schema', { ...tool('x'), inputSchema: [] }, 'inputSchema that is not an object'],
    ['has a boolean schema', { ...tool('x'), inputSchema: true }, 'inputSchema that is not an object'],
    ['has a schema of another type', { ...tool('x'), inputSchema: { type: 'string' } }, 'must be "object"'],
    [
      'has a schema that contains itself',
      { ...tool('x'), inputSchema: circular },
      'use a "$ref" for recursion',
    ],
    [
      'has a schema of too many levels',
      { ...tool('x'), inputSchema: nested(501) },
      'nested more than 500 levels deep',
    ],
    [
      'has a schema of more levels than a stack holds',
      { ...tool('x'), inputSchema: nested(100_000) },
      'nested more than 500 levels deep',
    ],
    [
      'has a schema that JSON cannot hold',
      { ...tool('x'), inputSchema: { type: 'object', maxProperties: 5n } },
      'cannot be written as JSON',
    ],
    ['has a description that is not text', { ...tool('x'), description: 7 }, 'description'],
    [
      'is marked with a word',
      { ...tool('x'), alwaysLoad: 'yes' },
      'has an alwaysLoad that is not true or false',
    ],
    ['has a card that is not text', { ...tool('x'), card: 7 }, 'card that is not a string'],
    ['has a title that is not text', { ...tool('x'), title: {} }, 'title that is not a string'],
    ['has a group that is not text', { ...tool('x'), group: 1 }, 'group that is not a string'],
    [
      'has aliases that are not a list',
      { ...tool('x'), aliases: 'abc' },
      'aliases that is not a list of strings',
    ],
    [
      'has aliases that are not text',
      { ...tool('x'), aliases: [1] },
      'aliases that is not a list of strings',
    ],
    [
      'has guidelines that are not a list',
      { ...tool('x'), guidelines: 'be kind' },
      'guidelines that is not a list',
    ],
    ['has an execute that is none', { ...tool('x'), execute: 'rm' }, 'execute that is not a function'],
  ])(
    'that %s is rejected with the reason if the host defines it, and skipped if a server does',
    async (_, broken, reason) => {
      expect(create({ tools: [broken] })).toThrow(reason)
      const host = await startHost({ tools: mixed(), mode: 'on' }, [{ text: 'ok' }], {
        prepare: (well) => well.catalogue.setSource('late', { tools: [broken as Tool, tool('good')] }),
      })
      await host.ask('hi')
      expect(host.well.catalogue.findings).toMatchObject([
        { kind: 'invalid-tool', source: 'late', detail: expect.stringContaining(reason) },
      ])
      expect(host.raw()).toContain('late__good')
    },
  )

  it('of as many levels as may be is sent, and repaired to its end', async () => {
    const deep = tool('deep', { inputSchema: nested(500, { type: 'strin' }) })
    const host = await startHost({ tools: [deep] }, [{ text: 'ok' }])
    await host.ask('hi')
    expect(host.raw()).toContain('Also given: {')
    expect(host.raw()).not.toContain('"strin"')
  })

  it('of a name that is taken is refused, with the source; from a server the first one is kept', () => {
    expect(create({ tools: [tool('x'), tool('x')] })).toThrow(/Two tools are named "x"\. Rename one/)
    expect(create({ tools: server('s', ['x', 'x']) })).toThrow(/in source "s"/)
    expect(create({ tools: [tool('x'), ...server('s', ['x'])] })).not.toThrow()
    const { catalogue } = createToolwell()
    catalogue.setSource('s', {
      tools: [tool('x', { description: 'first' }), tool('x', { description: 'second' })],
    })
    expect(catalogue.get('s/x')?.tool.description).toBe('first')
    expect(catalogue.findings).toMatchObject([{ kind: 'duplicate-tool' }])
  })

  it.each([
    [
      'in a circle of three',
      [
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
      ],
      /cycle of canonicalName/,
    ],
    [
      'in a circle next to a real tool',
      [
        ['real', undefined],
        ['a', 'b'],
        ['b', 'a'],
      ],
      /cycle of canonicalName/,
    ],
    [
      'of nothing',
      [
        ['real', undefined],
        ['a', 'gone'],
      ],
      /deprecated alias of "gone", which does not exist/,
    ],
  ] as const)('that is a deprecated alias %s is refused', (_, pairs, message) => {
    const tools = pairs.map(([name, canonicalName]) => ({
      ...tool(name),
      ...(canonicalName ? { canonicalName } : {}),
    }))
    expect(create({ tools })).toThrow(message)
  })

  it('may name itself as its canonical name, and follow a chain of old names', () => {
    const tools = [
      { ...tool('a'), canonicalName: 'a' },
      { ...tool('b'), canonicalName: 'c' },
      { ...tool('c'), canonicalName: 'a' },
    ]
    const { catalogue } = createToolwell({ tools })
    expect(catalogue.size).toBe(1)
    expect(catalogue.resolve('b', () => true)).toMatchObject({ entry: { id: 'a' }, deprecated: true })
    expect(catalogue.listAliases('a')).toEqual(['b', 'c'])
  })

  it.each(['alone', 'solo'])('may be the only member of a group (%s)', async (group) => {
    const host = await startHost({ tools: [tool('solo', { source: 's', group })], mode: 'on' }, [
      { calls: [{ name: 'tool_search', arguments: { query: `select:${group}` } }] },
      { text: 'ok' },
    ])
    await host.ask('hi')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['s__solo'])
  })
})

describe('the floor', () => {
  const roles = ['mode-exit', 'clarification', 'todo', 'skill'] as const

  it.each(roles)('QW-15: refuses to defer a %s tool by a mark or by a rule that names it', (role) => {
    const asked = tool('ask_user', { role })
    expect(create({ tools: [{ ...asked, defer: true }] })).toThrow(
      `ask_user cannot be deferred: models stop using a ${role} tool`,
    )
    expect(create({ tools: [asked], rules: [{ tool: 'ask_user', defer: true }] })).toThrow(
      /cannot be deferred/,
    )
    for (const name of ['ask_user', 'ui/ask_user', 'ui__ask_user'])
      expect(create({ tools: [{ ...asked, source: 'ui' }], rules: [{ tool: name, defer: true }] })).toThrow(
        /cannot be deferred/,
      )
    try {
      create({ tools: [{ ...asked, defer: true }] })()
    } catch (error) {
      expect(error).toMatchObject({ code: 'always-loaded', data: { tool: 'ask_user', role } })
    }
  })

  it('QW-15: a pattern or a rule for a whole server leaves such a tool eager, and explain says why', async () => {
    const tools = [
      tool('ask_user', { role: 'clarification', source: 'ui' }),
      tool('list_skills', { dynamicDescription: true }),
      ...mixed(),
    ]
    const rules = [
      { tool: '*', defer: true },
      { source: 'ui', defer: true },
    ]
    const host = await startHost({ tools, rules, mode: 'on' }, [{ text: 'ok' }])
    await host.ask('hi')
    expect(host.names()).toEqual(['list_skills', 'ui__ask_user', 'tool_search', 'tool_call'])
    expect(host.well.explain('ask_user')).toEqual({
      deferred: false,
      because: 'always-loaded: models stop using a clarification tool that they do not see',
    })
    expect(host.well.explain('list_skills')?.because).toMatch(/^always-loaded: its description changes/)
  })

  it('QW-15: a server that comes later cannot break it, and breaks nothing', async () => {
    const host = await startHost({ tools: mixed(), mode: 'on' }, () => ({ text: 'ok' }))
    await host.ask('hi')
    host.well.catalogue.setSource('ui', { tools: [tool('ask_user', { role: 'clarification', defer: true })] })
    await host.ask('again')
    expect(host.raw()).toContain('ui__ask_user was added to your tools')
    expect(host.well.explain('ask_user')).toMatchObject({ deferred: false })
  })
})

describe('explain', () => {
  const explain = (
    more: Partial<Tool>,
    options: ToolwellOptions = {},
    agent?: string,
  ): Exposure | undefined => createToolwell({ tools: [tool('x', more)], ...options }).explain('x', agent)

  it('names the level that won, from the weakest to the strongest', () => {
    const s = { source: 's' }
    const deferred = { rules: [{ tool: 'x', defer: true }] }
    expect(explain({})).toEqual({ deferred: false, because: "default: the host's tools are eager" })
    expect(explain(s)).toEqual({ deferred: true, because: 'default: tools of a source (s) are deferred' })
    expect(explain({ defer: true })).toEqual({ deferred: true, because: 'the tool is marked defer: true' })
    expect(explain({ ...s, defer: false })).toEqual({
      deferred: false,
      because: 'the tool is marked defer: false',
    })
    expect(explain({ defer: false }, deferred)).toEqual({
      deferred: true,
      because: 'rules[0] {"tool":"x","defer":true}',
    })
    expect(explain({ alwaysLoad: true }, deferred)).toEqual({
      deferred: false,
      because: 'the tool is marked alwaysLoad',
    })
    expect(explain({}, { ...deferred, eager: ['x'] })).toEqual({
      deferred: false,
      because: 'it is in the option eager',
    })
    expect(explain({ role: 'todo' }, { rules: [{ tool: '*', defer: true }] })?.because).toMatch(
      /^always-loaded: /,
    )
  })

  it('lets the last rule that fits win', () => {
    const rules = [
      { source: 's', defer: true },
      { tool: 's__*', defer: false },
      { group: 'g', defer: true },
      { domain: 'other', defer: false },
    ]
    expect(explain({ source: 's', group: 'g' }, { rules })).toMatchObject({
      deferred: true,
      because: expect.stringContaining('rules[2]'),
    })
    expect(explain({ source: 's' }, { rules })).toMatchObject({
      deferred: false,
      because: expect.stringContaining('rules[1]'),
    })
    expect(explain({ source: 's', domain: 'other', group: 'g' }, { rules })?.because).toContain('rules[3]')
  })

  it('reads rules for one agent as such', () => {
    const rules = [{ agent: 'review*', tool: 'x', defer: true }]
    expect(explain({}, { rules })?.deferred).toBe(false)
    expect(explain({}, { rules }, 'reviewer')?.deferred).toBe(true)
    expect(explain({}, { rules }, 'writer')?.deferred).toBe(false)
  })

  it('takes every spelling of a name, says which an ambiguous one may mean, and gives nothing for an unknown one', () => {
    const well = createToolwell({ tools: [...mixed(), ...server('forge', ['create_issue'])] })
    expect(well.explain('Tracker.CreateIssue')?.deferred).toBe(true)
    expect(well.explain('create_issue')?.ambiguous).toEqual(['forge/create_issue', 'tracker/create_issue'])
    expect(well.explain('constructor')).toBeUndefined()
  })
})

describe('a stored ledger', () => {
  async function folder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'toolwell-'))
    onTestFinished(() => rm(path, { recursive: true, force: true }))
    return path
  }

  it('of a newer format is rejected, and not changed', async () => {
    const path = await folder()
    const body = '{"v":999,"facts":[]}'
    await writeFile(join(path, 'a.jsonl'), `\n${crc32(body).toString(16).padStart(8, '0')} ${body}\n`)
    const well = createToolwell({ tools: mixed(), store: jsonlStore(path) })
    await expect(well.open({ id: 'a' })).rejects.toMatchObject({
      code: 'ledger-too-new',
      data: { ledger: 'a', found: 999, known: 4 },
    })
  })

  it.each([
    ['is not JSON', 'garbage'],
    ['has no checksum', '{"v":4,"events":[]}'],
    ['has a wrong checksum', '01234567 {"v":4,"events":[]}'],
  ])('with a line that %s is refused with its number', async (_, line) => {
    const path = await folder()
    const store = jsonlStore(path)
    const conversation = await createToolwell({ tools: mixed(), mode: 'on', store }).open({ id: 'a' })
    await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'test' })
    await writeFile(join(path, 'a.jsonl'), `\n${line}\n`, { flag: 'a' })
    await expect(createToolwell({ store: jsonlStore(path) }).open({ id: 'a' })).rejects.toMatchObject({
      code: 'ledger-corrupt',
      data: { ledger: 'a', line: 4 },
    })
  })

  it('with a torn last line resumes with everything before it', async () => {
    const path = await folder()
    const options: ToolwellOptions = { tools: mixed(), mode: 'on' }
    const first = await createToolwell({ ...options, store: jsonlStore(path) }).open({ id: 'a' })
    await first.begin({ requestId: 'r', anchor: 'm', wire: 'test' })
    await first.load(['create_issue'])
    await writeFile(join(path, 'a.jsonl'), '\n01234567 {"v":4,"id":"a",', { flag: 'a' })
    const again = await createToolwell({ ...options, store: jsonlStore(path) }).open({ id: 'a' })
    expect(again.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    await again.load(['create_event'])
    const third = await createToolwell({ ...options, store: jsonlStore(path) }).open({ id: 'a' })
    expect(third.inspect().loadedLazyTools).toEqual(['tracker__create_issue', 'calendar__create_event'])
  })
})
