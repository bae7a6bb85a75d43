import { createToolwell, type PolicyRequest, type Tool, type ToolwellOptions } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import type { ScriptedCall } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { everyByte, lastResult, startHost, type TestHost } from './support/host.js'
import { server, tool } from './support/tools.js'

/** Everything about the tool that a request could give away. */
const TELLTALES = ['drop_table', 'obliterate', 'ruination', 'perdition', 'wipeout', 'forbidden_argument']

const secret = (more: Partial<Tool> = {}): Tool =>
  tool('drop_table', {
    source: 'db',
    description: 'Brings ruination to a table of rows',
    inputSchema: { type: 'object', properties: { forbidden_argument: { type: 'string' } } },
    aliases: ['obliterate'],
    card: 'Ruination of a table',
    guidelines: ['Use perdition with care'],
    insteadOf: 'wipeout',
    ...more,
  })

const others = () => [
  tool('read_file'),
  ...server('db', ['list_tables', 'count_rows']),
  ...server('tracker', ['create_issue']),
]

type Standing = 'allowed' | 'denied' | 'disabled' | 'connecting' | 'failed'

interface Stage {
  readonly host: TestHost
  readonly denied: Set<string>
  /** Plays the next calls of the model. */
  play(...calls: ScriptedCall[]): Promise<string>
}

async function stage(
  standing: Standing,
  options: ToolwellOptions = {},
  tools: readonly Tool[] = [...others(), secret()],
): Promise<Stage> {
  const denied = new Set(standing === 'denied' ? ['drop_table'] : [])
  let next: readonly ScriptedCall[] = []
  const host = await startHost(
    { tools, mode: 'on', policy: ({ name }) => !denied.has(name), ...options },
    () => {
      const calls = next
      next = []
      return calls.length > 0 ? { calls } : { text: 'ok' }
    },
    {
      prepare: (well) => {
        if (standing !== 'allowed' && standing !== 'denied') well.catalogue.setState('db', standing)
      },
    },
  )
  return {
    host,
    denied,
    play: async (...calls) => {
      next = calls
      await host.ask('go on')
      return lastResult(host)
    },
  }
}

const search = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })
const direct = (name: string): ScriptedCall => ({ name, arguments: { forbidden_argument: 'x' } })
const bridge = (name: string): ScriptedCall => ({
  name: 'tool_call',
  arguments: { name, arguments: { forbidden_argument: 'x' } },
})

/** The bytes of the requests without what the model itself wrote. */
function oursOnly(host: TestHost): string {
  return host.requests
    .map(({ body }) =>
      JSON.stringify({
        tools: body.tools,
        messages: body.messages.filter((message) => message.role !== 'assistant'),
      }),
    )
    .join('\n')
}

/** Each path by which a name can reach the model. The model itself never writes a telltale. */
const PATHS: readonly {
  readonly path: string
  readonly options?: ToolwellOptions
  run(stage: Stage): Promise<unknown>
}[] = [
  { path: 'the cards', run: ({ play }) => play() },
  { path: 'the list of names', options: { limits: { cardBudget: 80 } }, run: ({ play }) => play() },
  { path: 'the digest', options: { limits: { cardBudget: 60 } }, run: ({ play }) => play() },
  { path: 'a keyword search', run: ({ play }) => play(search('something with a table of rows')) },
  { path: 'a filtered search', run: ({ play }) => play(search('server:db')) },
  { path: 'a search for a word its name must hold', run: ({ play }) => play(search('+table')) },
  { path: 'the overview on a miss', run: ({ play }) => play(search('zither tuning')) },
  { path: 'the nearest names of a select', run: ({ play }) => play(search('select:drap_tabel,oblitrate')) },
  { path: 'the nearest names of a call', run: ({ play }) => play({ name: 'drap_tabel', arguments: {} }) },
  { path: 'the nearest names of an unload', run: ({ play }) => play(search('unload:drap_tabel')) },
  {
    path: 'a call of a neighbour',
    run: ({ play }) => play({ name: 'db__count_rows', arguments: { value: 'x' } }),
  },
  { path: 'the eager surface', options: { delivery: 'eager' }, run: ({ play }) => play() },
  { path: 'the surface when off', options: { mode: 'off' }, run: ({ play }) => play() },
]

describe('a tool denied at opening', () => {
  it.each(PATHS)('leaves no byte in any request: $path', async ({ options, run }) => {
    for (const delivery of ['bridge', 'append'] as const) {
      const denied = await stage('denied', { delivery, ...options })
      await run(denied)
      await denied.play()
      for (const word of TELLTALES) expect(everyByte(denied.host).toLowerCase()).not.toContain(word)
    }
  })

  it.each(PATHS.slice(0, 7).filter(({ path }) => path !== 'the digest' && path !== 'the overview on a miss'))(
    'would stand there if it were allowed: $path',
    async ({ options, run }) => {
      const allowed = await stage('allowed', { delivery: 'bridge', ...options })
      await run(allowed)
      await allowed.play()
      expect(everyByte(allowed.host)).toContain('db__drop_table')
    },
  )

  it.each([
    ['select by its name', search('select:NAME')],
    ['select by its alias', search('select:NAME,obliterate')],
    ['a direct call', direct('NAME')],
    ['a direct call by wire name', direct('db__NAME')],
    ['a bridge call', bridge('NAME')],
    ['a bridge call by wire name', bridge('db__NAME')],
    ['a keyword search with its name', search('please use NAME now')],
    ['an unload', search('unload:NAME')],
    ['a broken call', { name: 'NAME', arguments: '{"a":' }],
  ] as const)('gets exactly the answer of a tool that does not exist: %s', async (_, call) => {
    const answers = async (tools: readonly Tool[], name: string) => {
      const { host, play } = await stage('denied', {}, tools)
      const named = JSON.parse(JSON.stringify(call).replaceAll('NAME', name)) as ScriptedCall
      // Thrice: the short answer to a repeated failure must not differ either.
      const texts = [await play(named), await play(named), await play(named)]
      return { texts, ours: oursOnly(host), events: host.conversation.events.map((event) => event.kind) }
    }
    const real = await answers([...others(), secret()], 'drop_table')
    const absent = await answers(others(), 'drop_table')
    expect(real).toEqual(absent)
    for (const word of ['ruination', 'perdition', 'forbidden_argument'])
      expect(real.ours.toLowerCase()).not.toContain(word)
  })

  it('is not run, not loaded and not counted in the section', async () => {
    const ran: unknown[] = []
    const { host, play } = await stage('denied', {}, [
      ...others(),
      secret({ execute: (input) => ran.push(input) }),
    ])
    await play(search('select:drop_table'), direct('drop_table'), bridge('drop_table'))
    expect(ran).toEqual([])
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
    expect(host.body(0).messages[0]?.content).toContain('3 more tools')
  })

  it('does not take suggestions away from tools that may be known', async () => {
    const crowd = Array.from({ length: 12 }, (_, index) => tool(`create_issu${index}`, { source: 'dark' }))
    const host = await startHost(
      {
        tools: [...server('tracker', ['create_issue']), ...crowd],
        mode: 'on',
        policy: ({ source }) => source !== 'dark',
      },
      [{ calls: [direct('create_issu')] }, { text: 'ok' }],
    )
    await host.ask('go')
    expect(lastResult(host)).toContain('Nearest: tracker__create_issue.')
  })

  it('does not make a name ambiguous', async () => {
    const tools = [...server('tracker', ['create_issue']), ...server('dark', ['create_issue'])]
    const { play } = await stage('allowed', { policy: ({ source }) => source !== 'dark' }, tools)
    expect(await play(search('select:create_issue'))).toContain('1 tool loaded')
  })

  it('PW-6: leaves its group, which is loaded without it', async () => {
    const tools = [
      ...server('db', ['list_tables', 'count_rows'], { group: 'tables' }),
      secret({ group: 'tables' }),
    ]
    const { host, play } = await stage('denied', {}, tools)
    await play(search('select:tables'))
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['db__count_rows', 'db__list_tables'])
    expect(everyByte(host)).not.toContain('drop_table')
  })

  it('PW-6: stays out of a group loaded by a member when only seeing it is denied', async () => {
    const tools = [...server('db', ['list_tables'], { group: 'tables' }), secret({ group: 'tables' })]
    const policy = ({ action, name }: PolicyRequest) => !(action === 'see' && name === 'drop_table')
    const { host, play } = await stage('allowed', { policy }, tools)
    await play(search('select:list_tables'))
    await play(direct('drop_table'))
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['db__list_tables'])
    expect(oursOnly(host)).not.toContain('db__drop_table')
  })

  it('does not come in with a late server', async () => {
    const { host, play } = await stage('denied', {}, others())
    await play()
    host.well.catalogue.setSource('db', {
      tools: [...server('db', ['list_tables', 'count_rows', 'vacuum']), secret()],
    })
    await play()
    expect(host.raw()).toContain('db__vacuum')
    for (const word of TELLTALES) expect(everyByte(host).toLowerCase()).not.toContain(word)
  })

  it('is not brought back by an imported history', async () => {
    const first = await stage('allowed')
    await first.play(search('select:drop_table'))
    const second = await stage('denied')
    const report = await openaiChat(second.host.conversation).importHistory(first.host.messages)
    expect(report).toEqual({ recovered: [], unrecovered: [{ tool: 'db/drop_table', reason: 'denied' }] })
    await second.play()
    for (const word of TELLTALES) expect(everyByte(second.host).toLowerCase()).not.toContain(word)
  })

  it('is not reached by a sub-agent, whatever the child allows', async () => {
    const { host, play } = await stage('denied')
    await play()
    const child = host.with(
      await host.conversation.child({
        id: 'child',
        allow: ['*', 'drop_table'],
        inherit: 'all',
        policy: () => true,
      }),
      [],
    )
    await child.ask('hi')
    const [answer] = await child.conversation.run([
      { callId: 'c', anchor: 'c', name: 'drop_table', input: { value: {} } },
    ])
    expect(answer?.outcome.kind).toBe('unknown')
    for (const word of TELLTALES) expect(everyByte(child).toLowerCase()).not.toContain(word)
  })
})

describe('a tool denied later', () => {
  it.each(['bridge', 'append'] as const)(
    'is named once more, as no longer available, and by nothing else (%s)',
    async (delivery) => {
      const { host, play, denied } = await stage('allowed', { delivery })
      await play(search('select:drop_table'))
      denied.add('drop_table')
      const before = host.requests.length
      await play()
      const removed = host
        .body()
        .messages.filter((message) =>
          String(message.content).includes('No longer available: db__drop_table.'),
        )
      expect(removed).toHaveLength(1)
      const known = host.messages.length

      await play(search('something with a table of rows'))
      await play(search('server:db'))
      await play(search('zither tuning'))
      await play(search('select:drap_tabel'))
      await play(search('unload:drap_tabel'))
      await play(direct('drap_tabel'))
      const answers = host.messages.slice(known).filter((message) => message.role === 'tool')
      expect(answers).toHaveLength(6)
      for (const word of TELLTALES)
        for (const { content } of answers) expect(String(content).toLowerCase()).not.toContain(word)
      const inserts = host
        .body()
        .messages.filter((message) => message.role === 'user')
        .map((message) => String(message.content))
      expect(inserts.filter((text) => text.includes('No longer available'))).toHaveLength(1)
      expect(host.requests.length).toBeGreaterThan(before)
    },
  )

  it.each(['bridge', 'append'] as const)(
    'is refused on every path, with nothing but the fact (%s)',
    async (delivery) => {
      const ran: unknown[] = []
      const tools = [...others(), secret({ execute: (input) => ran.push(input) })]
      const { play, denied } = await stage('allowed', { delivery }, tools)
      await play(search('select:drop_table'))
      denied.add('drop_table')
      const gone = 'db__drop_table cannot be used now: no longer available. Nothing was run.'
      expect(await play(direct('db__drop_table'))).toBe(gone)
      expect(await play(direct('obliterate'))).toBe(gone)
      // Not the same arguments again: a third identical failure is answered in one line.
      if (delivery === 'bridge')
        expect(
          await play({
            name: 'tool_call',
            arguments: { name: 'db__drop_table', arguments: { forbidden_argument: 'other' } },
          }),
        ).toBe(gone)
      expect(await play(search('select:drop_table'))).not.toContain('ruination')
      expect(ran).toEqual([])
    },
  )

  it.each(['bridge', 'append'] as const)(
    'leaves the surface at the next latch point (%s)',
    async (delivery) => {
      const { host, play, denied } = await stage('allowed', { delivery })
      await play()
      denied.add('drop_table')
      await play()
      await host.conversation.compact({ kept: {} })
      host.messages.splice(0)
      await play()
      for (const word of TELLTALES) expect(host.raw().toLowerCase()).not.toContain(word)
    },
  )

  it('PW-5: is not named by the reminder of a batch that loaded it together with others', async () => {
    const { host, play, denied } = await stage('allowed')
    host.say('go')
    const { conversation } = host
    await openaiChat(conversation).begin(host.messages, { requestId: 'first' })
    await conversation.run([
      {
        callId: 'c',
        anchor: 'c',
        name: 'tool_search',
        input: { value: { query: 'select:drop_table,count_rows' } },
      },
    ])
    denied.add('drop_table')
    await play()
    const inserts = host
      .body()
      .messages.filter((message) => String(message.content).includes('<tool-update>'))
    expect(JSON.stringify(inserts)).toContain('db__count_rows is loaded')
    expect(JSON.stringify(inserts)).not.toMatch(/perdition|wipeout/)
  })

  it('is not named when it makes room for another', async () => {
    const { host, play, denied } = await stage('allowed', { limits: { maxLoaded: 1 } })
    await play(search('select:drop_table'))
    denied.add('drop_table')
    await play()
    const answer = await play(search('select:count_rows'))
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['db__count_rows'])
    expect(answer).not.toContain('drop_table')
  })

  it('is not handed to a child that is opened afterwards', async () => {
    const { host, play, denied } = await stage('allowed')
    await play(search('select:drop_table'))
    denied.add('drop_table')
    const before = host.requests.length
    const child = host.with(await host.conversation.child({ id: 'child' }), [])
    await child.ask('hi')
    expect(
      host.requests
        .slice(before)
        .map((request) => request.raw)
        .join(),
    ).not.toContain('drop_table')
  })
})

describe('a tool of a source that is away', () => {
  it.each(['disabled', 'connecting', 'failed'] as const)(
    'is not loaded and not run while it is %s, and says so when asked for',
    async (state) => {
      const ran: unknown[] = []
      const tools = [...others(), secret({ execute: (input) => ran.push(input) })]
      const { host, play } = await stage(state, {}, tools)
      await play()
      // Its card depends on its definition alone; what is disabled has none.
      if (state === 'disabled')
        for (const word of TELLTALES) expect(everyByte(host).toLowerCase()).not.toContain(word)
      else expect(host.raw()).toContain('db__drop_table')
      expect(await play(search('select:drop_table'))).toContain(
        `db__drop_table cannot be used now: ${state}.`,
      )
      expect(await play(direct('drop_table'))).toBe(
        `db__drop_table cannot be used now: ${state}. Nothing was run.`,
      )
      expect(await play(bridge('obliterate'))).toBe(
        `db__drop_table cannot be used now: ${state}. Nothing was run.`,
      )
      expect(ran).toEqual([])
      expect(host.conversation.inspect().loadedLazyTools).toEqual([])
      const hidden = state === 'disabled' ? /ruination|perdition|forbidden_argument/ : /forbidden_argument/
      expect(oursOnly(host).toLowerCase()).not.toMatch(hidden)
    },
  )

  it('is named with its state when a keyword search would have found it, and nothing else fits', async () => {
    const { play } = await stage('connecting')
    const answer = await play(search('bring ruination to a table'))
    expect(answer).toContain('db__drop_table cannot be used now: connecting.')
    expect(answer).not.toContain('does not exist')
  })

  it('is not mentioned if it is denied as well', async () => {
    const { host, play } = await stage('connecting', { policy: ({ name }) => name !== 'drop_table' })
    await play(search('bring ruination upon it'))
    await play(direct('drop_table'))
    expect(oursOnly(host)).not.toContain('db__drop_table')
  })

  it('is announced when its server is enabled again, and runs', async () => {
    const { host, play } = await stage('disabled')
    await play()
    host.well.catalogue.setState('db', 'ready')
    await play()
    expect(host.raw()).toContain('db__drop_table')
    expect(await play(bridge('drop_table'))).toBe('drop_table ran with {"forbidden_argument":"x"}')
  })
})

describe('the predicate', () => {
  it.each([
    [
      'throws',
      (): unknown => {
        throw new Error('boom')
      },
      'boom',
    ],
    ['returns a promise', (): unknown => Promise.resolve(true), 'a promise'],
    ['returns a promise that fails', (): unknown => Promise.reject(new Error('late')), 'a promise'],
    ['returns a truthy value', (): unknown => 1, 'number'],
    ['returns nothing', (): unknown => undefined, 'undefined'],
  ] as const)('denies and says so when it %s', async (_, broken, detail) => {
    const policy = ((request: PolicyRequest) =>
      request.name === 'drop_table' ? broken() : true) as unknown as (request: PolicyRequest) => boolean
    const { host, play } = await stage('allowed', { policy })
    expect(await play(direct('drop_table'))).toContain('Found no tool named "drop_table"')
    expect(oursOnly(host)).not.toContain('db__drop_table')
    const failed = host.events.find((event) => event.kind === 'policy-failed')
    expect(failed).toMatchObject({
      tool: 'db/drop_table',
      action: 'see',
      detail: expect.stringContaining(detail),
    })
  })

  it('denies where one of several denies, whatever the others say', async () => {
    const policy = [() => true, ({ name }: PolicyRequest) => name !== 'drop_table', () => true]
    const { host, play } = await stage('allowed', { policy })
    await play(direct('drop_table'))
    expect(oursOnly(host)).not.toContain('db__drop_table')
  })

  it('is asked with action, input, agent and principal', async () => {
    const seen: PolicyRequest[] = []
    const well = createToolwell({
      tools: [...others(), secret()],
      mode: 'on',
      policy: (request) => {
        seen.push(request)
        return true
      },
    })
    const conversation = await well.open({ id: 'a', agent: 'reviewer', principal: 'ada' })
    await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'test' })
    await conversation.run([
      {
        callId: 'c',
        anchor: 'c',
        name: 'tool_call',
        input: { value: { name: 'obliterate', arguments: { forbidden_argument: 'y' } } },
      },
    ])
    const about = seen.filter((request) => request.id === 'db/drop_table')
    expect(new Set(about.map((request) => request.action))).toEqual(new Set(['see', 'load', 'call']))
    expect(about.find((request) => request.action === 'call')).toMatchObject({
      name: 'drop_table',
      source: 'db',
      input: { forbidden_argument: 'y' },
      agent: 'reviewer',
      principal: 'ada',
    })
    expect(
      about.filter((request) => request.action !== 'call').every((request) => !('input' in request)),
    ).toBe(true)
  })

  it('decides on arguments: one command is run, another is not', async () => {
    const ran: unknown[] = []
    const tools = [...others(), secret({ execute: (input) => ran.push(input) })]
    const policy = ({ action, input }: PolicyRequest) =>
      action !== 'call' || input?.forbidden_argument !== 'x'
    const { play } = await stage('allowed', { policy }, tools)
    expect(await play(bridge('drop_table'))).toBe('Calling db__drop_table is not permitted. Nothing was run.')
    await play({
      name: 'tool_call',
      arguments: { name: 'drop_table', arguments: { forbidden_argument: 'fine' } },
    })
    expect(ran).toEqual([{ forbidden_argument: 'fine' }])
  })

  it('keeps the schema of a tool that may be seen but not loaded', async () => {
    for (const hiddenCalls of ['load-and-run', 'hint', 'refuse'] as const) {
      const policy = ({ action, name }: PolicyRequest) => action !== 'load' || name !== 'drop_table'
      const { host, play } = await stage('allowed', { policy, surface: { hiddenCalls } })
      await play({
        name: 'tool_call',
        arguments: { name: 'drop_table', arguments: { forbidden_argument: 7 } },
      })
      await play({ name: 'tool_call', arguments: { name: 'drop_table', arguments: {}, load: 'stale' } })
      await play(direct('drop_table'))
      await play(search('select:drop_table'))
      const answers = host.messages
        .filter((message) => message.role === 'tool')
        .map(({ content }) => String(content))
      expect(answers.slice(0, 3)).toEqual(
        Array(3).fill('Calling db__drop_table is not permitted. Nothing was run.'),
      )
      expect(oursOnly(host)).not.toContain('forbidden_argument')
    }
  })

  it.each([
    ['through the bridge', bridge('db__drop_table')],
    ['directly', direct('drop_table')],
    ['by alias', bridge('Obliterate')],
  ])('QW2-3: permissions and execution see the real target, never the wrapper (%s)', async (_, call) => {
    const targets: unknown[] = []
    const requests: PolicyRequest[] = []
    let next: readonly ScriptedCall[] = [call]
    const host = await startHost(
      {
        tools: [...others(), secret()],
        mode: 'on',
        policy: (request) => {
          requests.push(request)
          return true
        },
      },
      () => {
        const calls = next
        next = []
        return calls.length > 0 ? { calls } : { text: 'ok' }
      },
      {
        run: {
          execute: ({ id, name, input, tool: target }) => {
            targets.push({ id, name, input, description: target.description })
            return 'done'
          },
        },
      },
    )
    await host.ask('go')
    expect(targets).toEqual([
      {
        id: 'db/drop_table',
        name: 'drop_table',
        input: { forbidden_argument: 'x' },
        description: 'Brings ruination to a table of rows',
      },
    ])
    const called = requests.filter((request) => request.action === 'call' && request.input)
    expect(called.map((request) => request.id)).toEqual(['db/drop_table'])
    const started = host.conversation.events.filter((event) => event.kind === 'call-started')
    expect(started).toMatchObject([
      {
        tool: 'db/drop_table',
        asked:
          'arguments' in call && call.name === 'tool_call'
            ? (call.arguments as { name: string }).name
            : call.name,
      },
    ])
  })

  it('QW2-3: a rule that names the wrapper holds, and the target is not run', async () => {
    const ran: unknown[] = []
    const tools = [...others(), secret({ execute: (input) => ran.push(input) })]
    const policy = ({ id, action }: PolicyRequest) => !(id === 'toolwell/tool_call' && action === 'call')
    const { play } = await stage('allowed', { policy }, tools)
    expect(await play(bridge('db__drop_table'))).toBe('Calling tool_call is not permitted. Nothing was run.')
    expect(ran).toEqual([])
  })

  it('cannot be fooled by a server that takes the name of the meta-tools', () => {
    const well = createToolwell({ tools: others() })
    expect(() => well.catalogue.setSource('toolwell', { tools: [tool('tool_search')] })).toThrow(
      /Rename the source/,
    )
    expect(() => createToolwell({ tools: [tool('x', { source: 'toolwell' })] })).toThrow(/Rename the source/)
  })

  it('cannot be fooled by a server whose tool spells the id of another', async () => {
    const victim = tool('push', { source: 'git/main', execute: () => 'the real push' })
    const thief = tool('main/push', { source: 'git', execute: () => 'stolen' })
    const own = tool('git/main/push', { execute: () => 'the own push' })
    for (const tools of [
      [victim, thief, own],
      [own, thief, victim],
    ]) {
      const { host, play } = await stage('allowed', {}, tools)
      const entries = [...host.well.catalogue.entries()]
      expect(new Set(entries.map((entry) => entry.id)).size).toBe(3)
      expect(new Set(entries.map((entry) => entry.wireName)).size).toBe(3)
      const wireName = entries.find((entry) => entry.source === 'git/main')?.wireName ?? ''
      expect(await play({ name: 'tool_call', arguments: { name: wireName, arguments: {} } })).toBe(
        'the real push',
      )
    }
  })
})
