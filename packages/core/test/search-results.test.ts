import {
  createToolwell,
  type Searcher,
  type SearchResult,
  type SearchTool,
  type SurfaceOptions,
  searchTools,
  type Tool,
  type ToolwellOptions,
} from '@toolwell/core'
import { createHybridSearcher } from '@toolwell/core/hybrid'
import { openaiChat } from '@toolwell/core/openai-chat'
import type { ScriptedCall } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { lastResult, startHost, type TestHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

interface Player {
  readonly host: TestHost
  play(...calls: ScriptedCall[]): Promise<string>
  /** The typed answer to one search. */
  ask(query: string, more?: object): Promise<SearchResult>
}

async function player(
  options: ToolwellOptions = {},
  prepare?: (well: TestHost['well']) => void,
): Promise<Player> {
  let next: readonly ScriptedCall[] = []
  let asked = 0
  const host = await startHost(
    { tools: mixed(), mode: 'on', ...options },
    () => {
      const calls = next
      next = []
      return calls.length > 0 ? { calls } : { text: 'ok' }
    },
    prepare ? { prepare } : {},
  )
  return {
    host,
    play: async (...calls) => {
      next = calls
      await host.ask('go')
      return lastResult(host)
    },
    ask: async (query, more = {}) => {
      const { conversation } = host
      if (asked === 0) await openaiChat(conversation).begin(host.messages, { requestId: 'first' })
      const anchor = `asked-${++asked}`
      const input = { value: { query, ...more } }
      const [answer] = await conversation.run([{ callId: anchor, anchor, name: conversation.loader, input }])
      if (answer?.outcome.kind !== 'search') throw new Error(`no search: ${answer?.text}`)
      return answer.outcome.result
    },
  }
}

const search = (query: string, more: object = {}): ScriptedCall => ({
  name: 'tool_search',
  arguments: { query, ...more },
})
const names = (result: SearchResult) => result.matches.map((match) => match.canonicalName)
/** The text the model reads, without the machine line. */
const body = (answer: string) => answer.split('\n').slice(1).join('\n')

describe('a search result', () => {
  it('S4: has the whole shape, typed', async () => {
    const { ask } = await player({
      tools: [
        tool('create_issue', {
          source: 'tracker',
          title: 'New issue',
          domain: 'work',
          aliases: ['new_ticket'],
          risk: 'write',
        }),
      ],
    })
    const result = await ask('select:create_issue')
    expect(result).toEqual({
      query: 'select:create_issue',
      loadedBefore: [],
      matches: [
        {
          name: 'tracker__create_issue',
          canonicalName: 'tracker__create_issue',
          status: 'loaded',
          fresh: true,
          bridged: true,
          title: 'New issue',
          description: 'Does create issue',
          domain: 'work',
          aliases: ['new_ticket'],
          risk: 'write',
          schemaPreview: tool('create_issue').inputSchema,
          source: 'tracker',
          signature: 'tracker__create_issue(value?: string)',
          loadToken: expect.stringMatching(/^[0-9a-f]{10}$/),
        },
      ],
      loadedAfter: ['tracker__create_issue'],
      nextInstruction: '1 tool loaded. Call it with tool_call:',
      dropped: [],
      skipped: [],
      quarantined: [],
      notFound: [],
      ambiguous: [],
      unavailable: [],
      evicted: [],
      unloaded: [],
      others: [],
      searched: 0,
      overview: [],
      problems: [],
      more: 0,
      unclear: false,
      repeated: false,
    })
  })

  it('S4: keeps what was loaded before apart from what is loaded after', async () => {
    const { ask } = await player({ limits: { maxLoaded: 2 } })
    await ask('select:create_issue')
    await ask('select:close_issue')
    const result = await ask('select:create_event')
    expect(result).toMatchObject({
      loadedBefore: ['tracker__create_issue', 'tracker__close_issue'],
      loadedAfter: ['tracker__close_issue', 'calendar__create_event'],
      evicted: ['tracker__create_issue'],
    })
    expect(await ask('unload:close_issue')).toMatchObject({
      unloaded: ['tracker__close_issue'],
      loadedAfter: ['calendar__create_event'],
    })
  })

  it('S8: is rendered with the whole schema over the bridge, and named where the array will say the rest', async () => {
    const bridge = await player({ delivery: 'bridge' })
    const [instruction, line = ''] = body(await bridge.play(search('select:create_issue'))).split('\n')
    expect(instruction).toBe('1 tool loaded. Call it with tool_call:')
    expect(JSON.parse(line.slice(2))).toEqual({
      name: 'tracker__create_issue',
      description: 'Does create issue',
      inputSchema: tool('create_issue').inputSchema,
      load: expect.any(String),
    })
    const append = await player({ delivery: 'append' })
    expect(await append.play(search('select:create_issue'))).toBe(
      'toolwell/1 {"loaded":["tracker__create_issue"]}\n1 tool loaded. Call it by name from your next message on.',
    )
    expect(append.host.names().at(-1)).toBe('tracker__create_issue')
  })

  it('shows that a tool destroys, and says nothing else of what is declared anyway', async () => {
    const tools = [
      tool('wipe', { source: 's', annotations: { destructiveHint: true } }),
      tool('peek', { source: 's', annotations: { readOnlyHint: true } }),
    ]
    const { play } = await player({ tools, delivery: 'append' })
    const answer = await play(search('select:wipe,peek'))
    expect(answer).toMatch(
      /^toolwell\/1 \{"loaded":\["s__wipe","s__peek"\]\}\n.+\n- s__wipe \[destructive\]$/,
    )
  })

  it('never executes anything', async () => {
    const ran: string[] = []
    const tools = mixed().map((each) => ({ ...each, execute: () => ran.push(each.name) }))
    const { host, play } = await player({ tools })
    await play(
      search('create an issue'),
      search('select:create_issue,read_file'),
      search('server:git'),
      search('unload:create_issue'),
    )
    await play(search('enter_worktree'))
    expect(ran).toEqual([])
    expect(host.conversation.events.some((event) => event.kind === 'call-started')).toBe(false)
  })
})

describe('what a search finds', () => {
  it('puts undiscovered tools before those already loaded', async () => {
    const { ask } = await player()
    const before = names(await ask('issue', { limit: 2 }))
    expect(before).toHaveLength(2)
    const after = names(await ask('issue', { limit: 3 }))
    expect(before).not.toContain(after[0])
    expect(before).toContain(after[2])
    expect(names(await ask('issue', { limit: 4 })).every((name) => name.startsWith('tracker__'))).toBe(true)
  })

  it.each(['bridge', 'append'] as const)(
    'ZE-4, FA-3: of a tool that is always there, says to call it directly (%s)',
    async (delivery) => {
      const { host, play, ask } = await player({ delivery })
      for (const query of ['read a file', 'select:read_file', 'read_file']) {
        const answer = body(await play(search(query)))
        expect(answer).toContain('Already loaded; call directly:\n- read_file')
        expect(answer).not.toMatch(/No tool|not found|"load"/)
      }
      expect((await ask('select:read_file')).nextInstruction).toBe('Already loaded; call directly:')
      expect(host.conversation.inspect().loadedLazyTools).toEqual([])
    },
  )

  it('QW2-9: says which of the found tools are direct and which go through the bridge', async () => {
    const { play } = await player()
    await play(search('select:create_issue'))
    const answer = body(await play(search('select:read_file,create_issue,create_event')))
    const sections = answer.split(/\n(?=Already)/)
    expect(sections[0]).toMatch(
      /^1 tool loaded\. Call it with tool_call:\n- \{"name":"calendar__create_event"/,
    )
    expect(sections[1]).toBe('Already loaded; call directly:\n- read_file')
    expect(sections[2]).toMatch(/^Already loaded; call with tool_call:\n- \{"name":"tracker__create_issue"/)
  })

  it('QW2-9: a keyword search does not send the model past the bridge for what is loaded', async () => {
    const { play } = await player()
    await play(search('select:create_issue,close_issue,list_issues,assign_issue'))
    const answer = body(await play(search('create an issue')))
    expect(answer).toContain('Already loaded; call with tool_call:\n- tracker__create_issue')
    expect(answer).not.toContain('directly')
  })

  it('QW-20: admits that no tool fits, and says what was searched', async () => {
    const { host, ask, play } = await player()
    const result = await ask('tune a zither')
    expect(result.matches).toEqual([])
    expect(result.overview).toEqual([
      { name: 'tracker', count: 4 },
      { name: 'calendar', count: 3 },
      { name: '', count: 2 },
      { name: 'git', count: 2 },
    ])
    expect(body(await play(search('tune a lute')))).toBe(
      'Found no tool for "tune a lute". Searched, by server: "tracker" (4), "calendar" (3), no server (2), "git" (2). Search once more in other words, or list a server with server:name.',
    )
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
  })

  it('a miss counts the servers it does not list, and asks for the language of the descriptions', async () => {
    const tools = Array.from({ length: 43 }, (_, at) =>
      tool(`send_${at}`, { source: `server${10 + at}`, description: 'Sends a letter to the office.' }),
    )
    const well = createToolwell({ tools, mode: 'on' })
    const { text } = await well.direct().search({ query: 'Welche Termine habe ich heute?' })
    expect(text).toMatch(/"server49" \(1\), 3 more servers\. Search once more in other words, in English, or/)
    expect(text).not.toContain('server50')
  })

  it.each([
    ['only symbols', '??? !!! --- ...'],
    ['only stop words', 'the of and please use a tool'],
    ['a filter that fits nothing', 'server:nowhere'],
    ['a must that fits nothing', '+zither issue'],
    ['select without names', 'select:'],
  ])('QW-6, FA-1: is nothing, and loads nothing, for %s', async (_, query) => {
    const { host, ask } = await player()
    expect((await ask(query)).matches).toEqual([])
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
  })

  it.each(['', '   ', '\n\t'])('QW-6: says what a query is for when it is empty (%j)', async (query) => {
    const { play } = await player()
    expect(body(await play(search(query)))).toBe(
      'The query is empty. Say what you want to do, or give select:name.',
    )
  })

  it.each([{}, { query: null }, { query: ['x'] }, { q: 'x' }, 'null', '[]', '"text"', ''])(
    'WA-3: does not fall over input of another form (%j)',
    async (input) => {
      const { host, play } = await player()
      const answer = await play({ name: 'tool_search', arguments: input })
      expect(answer).toContain('The query is empty.')
      expect(host.requests.every((request) => request.status === 200)).toBe(true)
      // It copes by itself: a search tool that fails is reported as the host's own fault.
      expect(host.events.filter(({ kind }) => kind === 'hook-failed')).toEqual([])
    },
  )

  it('is an error if the input is broken JSON', async () => {
    const { play } = await player()
    expect(await play({ name: 'tool_search', arguments: '{"query":"x' })).toMatch(
      /^The arguments of tool_search are not a JSON object/,
    )
  })

  it('is narrowed by server, domain, group and +must', async () => {
    const tools = [
      ...server('tracker', ['create_issue', 'close_issue'], { domain: 'Work' }),
      ...server('forge', ['create_issue', 'create_branch'], { domain: 'code', group: 'forge-all' }),
    ]
    const { ask } = await player({ tools })
    expect(names(await ask('server:forge issue'))).toEqual(['forge__create_issue', 'forge__create_branch'])
    expect(names(await ask('domain:work create')).every((name) => name.startsWith('tracker__'))).toBe(true)
    expect(names(await ask('group:forge-all')).sort()).toEqual([
      'forge__create_branch',
      'forge__create_issue',
    ])
    expect(names(await ask('create +branch'))[0]).toBe('forge__create_branch')
    expect(names(await ask('SERVER:Tracker close'))).toEqual(['tracker__close_issue'])
  })

  it('S2: always contains a tool whose exact name is in the query', async () => {
    const crowd = Array.from({ length: 30 }, (_, index) =>
      tool(`issue_creator_${index}`, {
        source: `s${index}`,
        description: 'create issue create issue create issue',
      }),
    )
    const { ask } = await player({ tools: [...crowd, ...server('tracker', ['assign_owner'])] })
    const result = await ask('please create an issue with tracker__assign_owner for me')
    expect(names(result)[0]).toBe('tracker__assign_owner')
    expect(result.matches[0]?.fresh).toBe(true)
  })

  it.each([
    [{ limit: 1 }, 1],
    [{ limit: 0 }, 1],
    [{ limit: -5 }, 1],
    [{ limit: 2.9 }, 2],
    [{ limit: '3' }, 3],
    [{ limit: '' }, 5],
    [{ limit: 'many' }, 5],
    [{ limit: null }, 5],
    [{}, 5],
    [{ limit: 20 }, 20],
    [{ limit: 1e9 }, 20],
  ])('CB-9: obeys the limit, within 1 and 20 (%j)', async (more, expected) => {
    const tools = Array.from({ length: 30 }, (_, index) => tool(`issue_${index}`, { source: 'tracker' }))
    const { ask } = await player({ tools })
    expect((await ask('issue', more)).matches).toHaveLength(expected)
  })
})

describe('what a search does not load', () => {
  const tools = Array.from({ length: 9 }, (_, index) => tool(`issue_${index}`, { source: 'tracker' }))

  it('QW-4, S7: is reported with its reason and cost: the limit of one search', async () => {
    const { ask, play } = await player({ tools, search: { loadLimit: 2 } })
    const result = await ask('issue', { limit: 4 })
    expect(result.matches.map(({ status }) => status)).toEqual([
      'loaded',
      'loaded',
      'available_lazy',
      'available_lazy',
    ])
    expect(result.dropped).toEqual([
      { name: 'tracker__issue_2', reason: 'load-limit', tokens: expect.any(Number) },
      { name: 'tracker__issue_3', reason: 'load-limit', tokens: expect.any(Number) },
    ])
    expect(await play(search('issue', { limit: 6 }))).toMatch(
      /Found, not loaded \(call with tool_call, or load with select:name\):\n- tracker__issue_\d\(value\?: string\): "Does issue \d" \(more than one search loads at once; \d+ tokens\)/,
    )
  })

  it('S7: is reported: too large, except for an exact select, which states the cost', async () => {
    const big = tool('huge_issue', { source: 'tracker', description: `huge issue ${'x'.repeat(40_000)}` })
    const { ask } = await player({ tools: [big] })
    const result = await ask('huge issue')
    expect(result.dropped).toMatchObject([{ name: 'tracker__huge_issue', reason: 'too-large' }])
    expect(result.dropped[0]?.tokens).toBeGreaterThan(8000)
    expect((await ask('select:huge_issue')).loadedAfter).toEqual(['tracker__huge_issue'])
  })

  it('S6: is reported: no room in the answer', async () => {
    const wide = tools.map((each) => ({ ...each, description: `${each.name} ${'word '.repeat(200)}` }))
    const { ask, play } = await player({
      tools: wide,
      limits: { resultBudget: 700 },
      search: { autoLoad: 'all' },
    })
    const result = await ask('issue')
    expect(result.dropped.map(({ reason }) => reason)).toContain('result-budget')
    expect((await play(search('select:issue_7'))).match(/"inputSchema"/g)).toHaveLength(1)
  })

  it('L3: is reported: no room under the cap, and the group as a whole', async () => {
    const grouped = server('git', ['enter', 'leave', 'list'], { group: 'worktree' })
    const { ask } = await player({ tools: [...tools, ...grouped], limits: { maxLoaded: 2 } })
    expect((await ask('select:issue_1,issue_2,issue_3')).dropped).toMatchObject([
      { name: 'tracker__issue_3', reason: 'cap' },
    ])
    const result = await ask('select:worktree')
    expect(new Set(result.dropped.map(({ reason }) => reason))).toEqual(new Set(['group-incomplete']))
    expect(result.loadedAfter).toEqual(['tracker__issue_1', 'tracker__issue_2'])
  })

  it('is not called loaded after it was dropped, even if requested by an old name', async () => {
    const old: Tool = { ...tool('old_issue', { source: 'tracker' }), canonicalName: 'issue_3' }
    const { play } = await player({ tools: [...tools, old], limits: { maxLoaded: 1 }, delivery: 'append' })
    const answer = body(await play(search('select:issue_1,old_issue')))
    expect(answer).not.toContain('Already loaded')
    expect(answer).toMatch(/- tracker__issue_3\(.*\): "Does issue 3" \(no room: /)
  })

  it('S6: is reported: as good as those of other servers', async () => {
    const rivals = ['a', 'b', 'c', 'd'].flatMap((source) => server(source, ['open_issue', 'shut_issue']))
    const { ask, host } = await player({ tools: rivals })
    const result = await ask('issue', { limit: 8 })
    const perServer = new Map<string, number>()
    for (const name of host.conversation.inspect().loadedLazyTools) {
      const source = name.split('__')[0] ?? ''
      perServer.set(source, (perServer.get(source) ?? 0) + 1)
    }
    // Each server has its share first; the last place goes to the best of the remaining tools.
    expect([...perServer.values()]).toEqual([2, 1, 1, 1])
    expect(result.dropped.map(({ reason }) => reason)).toContain('diversity')
  })
})

describe('a name that was asked for', () => {
  it('JT-4: is reported with the nearest names if it does not exist, and the others load', async () => {
    const { ask, play } = await player()
    const result = await ask('select:crate_issue,create_event,zzz')
    expect(result.notFound).toEqual([
      { name: 'crate_issue', nearest: ['tracker__create_issue', 'tracker__close_issue'] },
      { name: 'zzz', nearest: [] },
    ])
    expect(result.loadedAfter).toEqual(['calendar__create_event'])
    expect(await play(search('select:crate_issue'))).toContain(
      'Found no tool named "crate_issue". Nearest: tracker__create_issue, tracker__close_issue.',
    )
  })

  it('is one of the first few that are named, where very many do not exist', async () => {
    const { play } = await player()
    const names = Array.from({ length: 400 }, (_, index) => `zzz${index}`)
    const text = await play(search(`select:${[...names, 'create_event'].join(',')}`))
    expect(text.match(/Found no tool named/g)).toHaveLength(10)
    expect(text).toContain('Found no tool named "zzz9".\n… and 390 more.')
    expect(text).toContain('calendar__create_event')
    expect(await play(search(`select:${names.slice(0, 10).join(',')}`))).not.toContain('more')
  })

  it('is reported with what the user can do about its server', async () => {
    const { ask, play } = await player({}, (well) =>
      well.catalogue.setState('tracker', 'needs-login', { advice: 'run the login command' }),
    )
    const state = 'needs-login (run the login command)'
    const unavailable = [{ name: 'tracker__create_issue', state }]
    expect((await ask('select:create_issue')).unavailable).toEqual(unavailable)
    expect((await ask('create an issue in the tracker')).unavailable).toContainEqual(unavailable[0])
    expect(await play({ name: 'tracker__create_issue', arguments: { title: 'x' } })).toContain(
      `tracker__create_issue cannot be used now: ${state}. Nothing was run.`,
    )
  })

  it.each(['connecting', 'failed', 'disabled'] as const)(
    'is reported where its server is %s',
    async (state) => {
      const { ask } = await player({}, (well) => well.catalogue.setState('tracker', state))
      expect((await ask('select:create_issue,create_event')).unavailable).toEqual([
        { name: 'tracker__create_issue', state },
      ])
      expect((await ask('create an event in the calendar')).unavailable).toEqual([])
      // The remaining tools fit half as well at best, so there is only the nearest, or nothing.
      for (const [text, name, left] of [
        ['create an issue in the tracker', 'tracker__create_issue', 1],
        ['close that issue', 'tracker__close_issue', 0],
      ] as const) {
        const result = await ask(text)
        expect(result.unavailable).toContainEqual({ name, state })
        expect(result.matches).toHaveLength(left)
        expect(result.unclear).toBe(left > 0)
      }
    },
  )

  it('PW-2, JT-4: is found in any case and with any separators', async () => {
    const { ask } = await player()
    for (const name of [
      'Create-Issue',
      'createIssue',
      'CREATE ISSUE',
      'tracker.create_issue',
      'Tracker__CreateIssue',
      '"create_issue"',
    ])
      expect(names(await ask(`select:${name}`))).toEqual(['tracker__create_issue'])
  })

  it('PW-6: loads its group, by a member or by the name of the group in any spelling', async () => {
    for (const name of ['enter_worktree', 'git__exit_worktree', 'worktree', 'Work-Tree', 'git__worktree']) {
      const { ask, host } = await player()
      const result = await ask(`select:${name}`)
      expect(names(result).sort()).toEqual(['git__enter_worktree', 'git__exit_worktree'])
      expect([...host.conversation.inspect().loadedLazyTools].sort()).toEqual([
        'git__enter_worktree',
        'git__exit_worktree',
      ])
    }
  })

  it.each(['worktree', '+worktree', 'worktree tools'])(
    'is found by the name of its group, which its card shows: %s',
    async (query) => {
      const { ask, host } = await player({ tools: [] })
      host.well.catalogue.setSource('git', {
        tools: [
          tool('enter', { group: 'worktree', description: 'Goes in.' }),
          tool('leave', { group: 'worktree', description: 'Goes out.' }),
          tool('blame', { description: 'Says who wrote a line.' }),
        ],
      })
      expect(names(await ask(query))).toEqual(['git__enter', 'git__leave'])
      expect(host.conversation.inspect().loadedLazyTools).toEqual(['git__enter', 'git__leave'])
    },
  )

  it('is explained as a group, and as ambiguous where two sources have it', () => {
    const well = createToolwell({ tools: mixed() })
    const ids = ['git/enter_worktree', 'git/exit_worktree']
    for (const name of ['worktree', 'git__worktree'])
      expect(well.explain(name)).toEqual({
        deferred: true,
        because: `it is a group of tools: ${ids.join(', ')}. Ask for one of these.`,
        group: ids,
      })
    for (const source of ['a', 'b']) well.catalogue.setSource(source, { tools: [tool('draw')] })
    expect(well.explain('draw')).toEqual({
      deferred: true,
      because: 'several tools have this name: a/draw, b/draw. Ask for one of these.',
      ambiguous: ['a/draw', 'b/draw'],
    })
  })

  it('PW-6: loads only what is there of its group', async () => {
    const { ask, host } = await player({ policy: ({ name }) => name !== 'exit_worktree' })
    await ask('select:worktree')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['git__enter_worktree'])
  })

  it('is a deprecated alias: its survivor is loaded, the answer has both names, and calls are counted', async () => {
    const old: Tool = { ...tool('new_ticket', { source: 'tracker' }), canonicalName: 'create_issue' }
    const older: Tool = { ...tool('open_bug'), canonicalName: 'tracker/create_issue' }
    // In front of the survivor, and from another source: the order must not matter.
    const { ask, host, play } = await player({ tools: [older, old, ...mixed()] })
    expect(await ask('select:open_bug')).toMatchObject({
      matches: [
        {
          name: 'open_bug',
          canonicalName: 'tracker__create_issue',
          status: 'deprecated_alias',
          aliases: ['open_bug', 'new_ticket'],
        },
      ],
      loadedAfter: ['tracker__create_issue'],
    })
    expect(await play(search('select:new_ticket'))).toContain('("new_ticket" is its old name)')
    expect(host.names()).not.toContain('open_bug')
    await play({ name: 'tool_call', arguments: { name: 'new_ticket', arguments: { value: 'x' } } })
    await play({ name: 'open_bug', arguments: { value: 'x' } })
    await play({ name: 'open_bug', arguments: { value: 'y' } })
    expect(lastResult(host)).toBe('create_issue ran with {"value":"y"}')
    expect(host.conversation.inspect().aliasUses).toEqual({ new_ticket: 1, open_bug: 3 })
    const started = host.conversation.events.filter((event) => event.kind === 'call-started')
    expect(started.at(-1)).toMatchObject({
      tool: 'tracker/create_issue',
      asked: 'open_bug',
      alias: 'open_bug',
    })
  })

  it('is a deprecated alias of a tool that comes later', async () => {
    const { host, ask } = await player()
    host.well.catalogue.setSource('plugin', {
      tools: [{ ...tool('ship'), canonicalName: 'ops/deploy' }],
    })
    expect(host.well.catalogue.findings).toMatchObject([{ kind: 'broken-alias', tool: 'ship' }])
    host.well.catalogue.setSource('ops', { tools: [tool('deploy')] })
    expect(host.well.catalogue.findings).toEqual([])
    expect(names(await ask('select:ship'))).toEqual(['ops__deploy'])
    host.well.catalogue.removeSource('plugin')
    expect((await ask('select:ship')).notFound).toHaveLength(1)
  })

  it('QW-3: is shown again, whole, when it is loaded already', async () => {
    const { play } = await player()
    const first = await play(search('select:create_issue'))
    const again = await play(search('select:create_issue'))
    const schema = (text: string) => /\{"name":.*/.exec(body(text))?.[0]
    expect(schema(again)).toBe(schema(first))
    expect(schema(first)).toBeDefined()
  })

  it('is not lost silently where the query is too long or badly quoted', async () => {
    const { ask, play } = await player()
    const long = await ask(
      `select:${Array.from({ length: 400 }, (_, index) => `missing_${index}`).join(',')},create_issue`,
    )
    expect(long.problems).toContain('The query was cut to 4096 characters.')
    expect(await play(search('select:"create_issue'))).toContain('Not read as meant: "A quote is not closed')
  })
})

describe('the search tool', () => {
  const inputOf = (host: TestHost, name: string) =>
    host.body().tools?.find((each) => each.function.name === name)?.function.parameters as
      | { properties: object; required: string[] }
      | undefined

  it.each([
    ['standard', 'tool_search', ['query', 'limit'], { query: 'issue', limit: 2 }, 2],
    [
      'domains',
      'tool_search',
      ['query', 'domain', 'includeLoaded', 'limit'],
      { query: 'issue', limit: 3 },
      3,
    ],
    ['maxResults', 'tool_search', ['query', 'max_results'], { query: 'issue', max_results: 2 }, 2],
    ['byName', 'tool_info', ['name'], { name: 'create_issue' }, 1],
  ] as const)('S1: %s is declared and read as such', async (searchTool, name, properties, input, count) => {
    const { host, play } = await player({ search: { tool: searchTools[searchTool] } })
    await play({ name, arguments: input })
    expect(host.names()).toContain(name)
    expect(Object.keys(inputOf(host, name)?.properties ?? {})).toEqual(properties)
    expect(host.conversation.inspect().loadedLazyTools).toHaveLength(count)
    expect(host.conversation.inspect().protectedToolNames).toContain(name)
    expect(host.body().messages[0]?.content).toContain(`call ${name}`)
  })

  it('S1: domains narrows by domain, and excludes loaded tools when asked to', async () => {
    const tools = [
      ...server('tracker', ['create_issue', 'close_issue'], { domain: 'work' }),
      ...server('forge', ['create_issue'], { domain: 'code' }),
    ]
    const { ask } = await player({ tools, search: { tool: searchTools.domains } })
    expect(names(await ask('issue', { domain: 'code' }))).toEqual(['forge__create_issue'])
    expect(names(await ask('create issue', { domain: 'all', includeLoaded: false }))).not.toContain(
      'forge__create_issue',
    )
    expect(names(await ask('create issue', { includeLoaded: true }))).toContain('forge__create_issue')
  })

  it('S1: byName takes any raw name, and misses honestly', async () => {
    const tools = [tool('a,"b"', { source: 's' }), ...mixed()]
    const { host, play } = await player({ tools, search: { tool: searchTools.byName } })
    await play({ name: 'tool_info', arguments: { name: 'a,"b"' } })
    expect(host.conversation.inspect().loadedLazyTools).toHaveLength(1)
    expect(await play({ name: 'tool_info', arguments: { name: 'create issues' } })).toContain(
      'Found no tool named "create issues"',
    )
    expect(await play({ name: 'tool_info', arguments: {} })).toContain('The query is empty')
  })

  it('S1: renders as the host likes, and the history can still be imported', async () => {
    const searchTool: SearchTool = {
      ...searchTools.standard,
      name: 'find',
      render: ({ loadedAfter }) => `Now: ${loadedAfter.join('+')}`,
    }
    const { host, play } = await player({ search: { tool: searchTool } })
    expect(await play({ name: 'find', arguments: { query: 'select:create_issue' } })).toMatch(
      /^toolwell\/1 .*\nNow: tracker__create_issue$/,
    )
    const other = await player({ search: { tool: searchTool } })
    const report = await openaiChat(other.host.conversation).importHistory(host.messages)
    expect(report.recovered).toEqual(['tracker/create_issue'])
  })

  it.each([
    [
      'render',
      {
        render: () => {
          throw new Error('boom')
        },
      },
      '1 tool loaded',
    ],
    [
      'read',
      {
        read: () => {
          throw new Error('boom')
        },
      },
      'The query is empty',
    ],
    ['read', { read: () => ({}) as { query: string } }, 'The query is empty'],
  ] as const)(
    'S1: where its %s fails, falls back with a notice, and nothing is thrown at the host',
    async (hook, broken, text) => {
      const { host, play } = await player({ search: { tool: { ...searchTools.standard, ...broken } } })
      expect(await play(search('select:create_issue'))).toContain(text)
      expect(host.events).toContainEqual(
        expect.objectContaining({ kind: 'hook-failed', hook: `search.tool.${hook}` }),
      )
    },
  )

  it('S1: speaks with the sentences that the host gives', async () => {
    const { host, play } = await player({
      surface: {
        prompts: {
          loader: () => 'LOADER',
          section: ({ deferred }) => `SECTION ${deferred}`,
          searchLoaded: ({ count }) => `LOADED ${count}`,
          searchMissed: ({ query }) => `MISSED ${query}`,
          unknown: ({ asked }) => `UNKNOWN ${asked}`,
        },
      },
    })
    expect(await play(search('select:create_issue'))).toContain('\nLOADED 1\n')
    expect(body(await play(search('zither')))).toBe('MISSED "zither"')
    expect(await play({ name: 'nope', arguments: {} })).toBe('UNKNOWN "nope"')
    expect(host.body().messages[0]?.content).toBe('SECTION 9')
    expect(host.raw()).toContain('LOADER\\n\\n9 tools not loaded')
  })
})

describe('transformDefinition', () => {
  const transform: SurfaceOptions['transformDefinition'] = (each, wire) => ({
    description: `${wire}: ${each.description}`,
    inputSchema: {
      ...each.inputSchema,
      properties: {
        ...(each.inputSchema.properties as object),
        extra: { type: 'string', description: 'y'.repeat(5000) },
      },
    },
  })

  it("PW-9, C8: the bridge's answer holds the very definition that append sends, untruncated", async () => {
    const append = await player({ delivery: 'append', surface: { transformDefinition: transform } })
    await append.play(search('select:create_issue'))
    const sent = append.host.body().tools?.at(-1)?.function
    const bridge = await player({ delivery: 'bridge', surface: { transformDefinition: transform } })
    const line = /- (\{"name":.*)/.exec(body(await bridge.play(search('select:create_issue'))))?.[1] ?? ''
    const { load: _, ...shown } = JSON.parse(line) as {
      load: string
      name: string
      description: string
      inputSchema: object
    }
    expect(shown).toEqual({ name: sent?.name, description: sent?.description, inputSchema: sent?.parameters })
    expect(shown.description).toBe('openai-chat: Does create issue')
    expect(JSON.stringify(shown)).toContain('y'.repeat(5000))
  })

  it('PW-9: holds for the schema of a refused and of a stale call as well', async () => {
    const { play } = await player({ surface: { transformDefinition: transform } })
    const bad = await play({
      name: 'tool_call',
      arguments: { name: 'create_issue', arguments: { value: 1 } },
    })
    const stale = await play({
      name: 'tool_call',
      arguments: { name: 'create_issue', arguments: {}, load: 'old' },
    })
    for (const answer of [bad, stale])
      expect(answer).toContain('"description":"openai-chat: Does create issue"')
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('boom')
      },
    ],
    [
      'gives a schema that contains itself',
      () => {
        const inputSchema: Record<string, unknown> = {}
        inputSchema.self = inputSchema
        return { inputSchema }
      },
    ],
    ['gives a schema that is none', () => ({ inputSchema: [1] as unknown as Record<string, unknown> })],
    ['gives a schema of another type', () => ({ inputSchema: { type: 'array' } })],
    ['gives a description that is not text', () => ({ description: 7 as unknown as string })],
  ] as const)('leaves the definition as it was, with a notice, where it %s', async (_, broken) => {
    const { host, play } = await player({ delivery: 'append', surface: { transformDefinition: broken } })
    await play(search('select:create_issue'))
    expect(host.body().tools?.at(-1)?.function).toMatchObject({
      description: 'Does create issue',
      parameters: tool('create_issue').inputSchema,
    })
    expect(host.events).toContainEqual(
      expect.objectContaining({ kind: 'hook-failed', hook: 'transformDefinition' }),
    )
    expect(host.requests.every((request) => request.status === 200)).toBe(true)
  })

  it('is asked once per tool and wire', async () => {
    const asked: string[] = []
    const { play } = await player({
      surface: {
        transformDefinition: ({ name }) => {
          asked.push(name)
          return {}
        },
      },
    })
    for (let round = 0; round < 3; round++) await play(search('create an issue'))
    expect(asked).toHaveLength(new Set(asked).size)
  })
})

describe("the host's own searcher", () => {
  const answering = (rank: Searcher['rank']): Searcher => ({ update: () => undefined, rank })

  it('ranks, and is asked with the words of the query', async () => {
    const queries: unknown[] = []
    const searcher = answering((query) => {
      queries.push(query)
      return [
        { id: 'calendar/find_slot', score: 2, relevance: 1 },
        { id: 'no/such', score: 1, relevance: 1 },
      ]
    })
    const { ask } = await player({ searcher })
    expect(names(await ask('something +must server:calendar'))).toEqual(['calendar__find_slot'])
    expect(queries).toMatchObject([{ text: 'something', must: ['must'] }])
  })

  it('may be words and an embedding, and words alone where that fails', async () => {
    let works = true
    const searcher = createHybridSearcher({
      embed: async (texts) => {
        if (!works) throw new Error('no model')
        return texts.map((text) => (/slot|gathering/.test(text) ? [1, 0.1] : [0.1, 1]))
      },
    })
    const { ask, host } = await player({ searcher })
    expect(names(await ask('gathering'))[0]).toBe('calendar__find_slot')
    works = false
    expect(names(await ask('create an issue'))[0]).toBe('tracker__create_issue')
    expect(host.events.filter((event) => event.kind === 'searcher-failed')).toHaveLength(1)
  })

  it('does not get past policy', async () => {
    const searcher = answering(() => [{ id: 'tracker/create_issue', score: 2, relevance: 1 }])
    const { ask, host } = await player({ searcher, policy: ({ name }) => name !== 'create_issue' })
    expect((await ask('issue')).matches).toEqual([])
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('boom')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('boom')
      },
    ],
    ['gives nothing', () => undefined],
    ['gives a string', () => 'tracker/create_issue'],
    ['gives ids alone', () => ['tracker/create_issue']],
    ['gives null', () => [null]],
    ['gives no numbers', () => [{ id: 'tracker/create_issue', score: Number.NaN, relevance: 1 }]],
    ['gives no relevance', () => [{ id: 'tracker/create_issue', score: 1 }]],
  ])('is replaced by the built-in one, with a notice, where it %s', async (_, rank) => {
    const { ask, host } = await player({ searcher: answering(rank as unknown as Searcher['rank']) })
    expect(names(await ask('create an issue'))[0]).toBe('tracker__create_issue')
    expect(host.events.filter((event) => event.kind === 'searcher-failed')).toMatchObject([
      { query: 'create an issue' },
    ])
  })

  it('is replaced where its index cannot be brought up to date', async () => {
    const searcher: Searcher = {
      update: () => {
        throw new Error('boom')
      },
      rank: () => [],
    }
    const { ask, host } = await player({ searcher })
    expect(names(await ask('create an issue'))[0]).toBe('tracker__create_issue')
    expect(host.events.some((event) => event.kind === 'searcher-failed')).toBe(true)
  })

  it('does not displace an exact name', async () => {
    const searcher = answering(() => [{ id: 'calendar/find_slot', score: 1e9, relevance: 1 }])
    const { ask } = await player({ searcher })
    expect(names(await ask('use tracker__create_issue'))[0]).toBe('tracker__create_issue')
  })
})
