import { createToolwell, type Tool, type ToolwellOptions } from '@toolwell/core'
import type { ScriptedCall } from '@toolwell/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { lastResult, startHost, type TestHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

interface Player {
  readonly host: TestHost
  readonly inputs: unknown[]
  play(...calls: ScriptedCall[]): Promise<string>
}

/** A player whose tools note down what reaches them. */
async function player(tools: readonly Tool[], options: ToolwellOptions = {}): Promise<Player> {
  const inputs: unknown[] = []
  let next: readonly ScriptedCall[] = []
  const host = await startHost(
    { tools, mode: 'on', delivery: 'bridge', ...options },
    () => {
      const calls = next
      next = []
      return calls.length > 0 ? { calls } : { text: 'ok' }
    },
    {
      run: {
        execute: ({ input, name }) => {
          inputs.push(input)
          return `${name} ran`
        },
      },
    },
  )
  return {
    host,
    inputs,
    play: async (...calls) => {
      next = calls
      await host.ask('go')
      return lastResult(host)
    },
  }
}

const search = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })
const wrapped = (name: string, input: unknown, load?: string): ScriptedCall => ({
  name: 'tool_call',
  arguments: { name, arguments: input, ...(load === undefined ? {} : { load }) },
})
const kinds = (host: TestHost) => host.conversation.events.map((event) => event.kind)
const failures = (host: TestHost) =>
  host.conversation.events.flatMap((event) => (event.kind === 'call-failed' ? [event.reason] : []))
const lines = (text: string) => text.split('\n').length

const issue = tool('create_issue', {
  source: 'tracker',
  inputSchema: {
    type: 'object',
    properties: {
      title: { type: 'string', minLength: 1 },
      labels: { type: 'array', items: { type: 'string' } },
      place: { type: 'object', properties: { row: { type: 'integer' } }, required: ['row'] },
    },
    required: ['title'],
    additionalProperties: false,
  },
})

const free = tool('store', { source: 'db', inputSchema: { type: 'object' } })

describe("the bridge's check of arguments", () => {
  it.each([
    ['a missing one', {}, '(the arguments)'],
    ['a wrong type', { title: 7 }, '"title"'],
    ['an unknown one', { title: 'x', colour: 'red' }, '"colour"'],
    ['a wrong item', { title: 'x', labels: ['a', 2] }, '"labels/1"'],
    ['a nested one', { title: 'x', place: { row: 'first' } }, '"place/row"'],
  ])('names the place, shows the whole schema, and runs nothing: %s', async (_, input, place) => {
    const { host, inputs, play } = await player([issue])
    const answer = await play(wrapped('tracker__create_issue', input))
    expect(answer).toContain(
      'The arguments do not match the schema of tracker__create_issue. Nothing was run.',
    )
    expect(answer).toContain(`\n- ${place}: `)
    const shown = JSON.parse(answer.split('\n').at(-1)?.slice(2) ?? '') as object
    expect(shown).toMatchObject({ name: 'tracker__create_issue', inputSchema: issue.inputSchema })
    expect(inputs).toEqual([])
    expect(kinds(host)).not.toContain('call-started')
    expect(failures(host)).toEqual(['schema-needed'])
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
  })

  it('counts a mismatch after a search that showed the schema as the mistake of the model', async () => {
    const { host, play } = await player([issue])
    await play(search('select:create_issue'))
    await play(wrapped('tracker__create_issue', { title: 7 }))
    await play({ name: 'tracker__create_issue', arguments: { title: 8 } })
    expect(failures(host)).toEqual(['invalid', 'invalid'])
    expect(host.conversation.inspect().accounting.metaRequests).toBe(1)
  })

  it('holds for a direct call of a hidden tool, and of a loaded one, alike', async () => {
    const { inputs, play } = await player([issue])
    expect(await play({ name: 'tracker__create_issue', arguments: { title: 7 } })).toContain(
      'do not match the schema',
    )
    await play(search('select:create_issue'))
    expect(await play({ name: 'tracker__create_issue', arguments: { title: 8 } })).toContain(
      'do not match the schema',
    )
    expect(await play({ name: 'create_issue', arguments: { title: 'x' } })).toBe('create_issue ran')
    expect(inputs).toEqual([{ title: 'x' }])
  })

  it('holds for a call through the bridge of an eager tool', async () => {
    const { inputs, play } = await player([{ ...issue, defer: false }, ...server('git', ['push'])])
    expect(await play(wrapped('tracker__create_issue', { title: 7 }))).toContain('do not match the schema')
    expect(await play(wrapped('tracker__create_issue', { title: 'x' }))).toBe('create_issue ran')
    expect(inputs).toEqual([{ title: 'x' }])
  })

  it('cannot be flooded: as many wrong items as one likes are still wrong', async () => {
    const { inputs, play } = await player([issue])
    const labels = new Array(150_000).fill(0)
    expect(await play(wrapped('create_issue', { title: 'x', labels }))).toContain('do not match the schema')
    expect(inputs).toEqual([])
  })

  it('follows a schema that refers to itself', async () => {
    const tree = tool('plant', {
      source: 'garden',
      inputSchema: {
        type: 'object',
        properties: { children: { type: 'array', items: { $ref: '#' } }, name: { type: 'string' } },
        required: ['name'],
      },
    })
    const { inputs, play } = await player([tree])
    expect(await play(wrapped('plant', { name: 'a', children: [{ name: 'b', children: [{}] }] }))).toContain(
      '"children/0/children/0"',
    )
    const good = { name: 'a', children: [{ name: 'b', children: [{ name: 'c' }] }] }
    expect(await play(wrapped('plant', good))).toBe('plant ran')
    expect(inputs).toEqual([good])
  })

  it('reads schemas that are only true or false', async () => {
    const odd = tool('odd', {
      source: 's',
      inputSchema: { type: 'object', properties: { any: true, none: false }, additionalProperties: true },
    })
    const { inputs, play } = await player([odd])
    expect(await play(wrapped('odd', { none: 1 }))).toContain('"none": "Unexpected argument."')
    expect(await play(wrapped('odd', { any: [null], other: 2 }))).toBe('odd ran')
    expect(inputs).toEqual([{ any: [null], other: 2 }])
  })

  it.each([
    ['an external reference', { $ref: 'https://schemas.example.com/issue.json' }],
    ['a reference to nothing', { $ref: '#/$defs/missing' }],
    ['a reference to itself alone', { $ref: '#/properties/a' }],
  ])(
    'lets a call through with a notice where the schema cannot be used, and fetches nothing: %s',
    async (_, a) => {
      const broken = tool('broken', { source: 's', inputSchema: { type: 'object', properties: { a } } })
      const { host, inputs, play } = await player([broken])
      expect(await play(wrapped('broken', { a: 'x' }))).toBe('broken ran')
      expect(inputs).toEqual([{ a: 'x' }])
      expect(host.events.filter((event) => event.kind === 'schema-unusable')).toMatchObject([
        { tool: 's/broken' },
      ])
    },
  )

  it("leaves the tool's own schema object untouched", async () => {
    const before = JSON.stringify(issue.inputSchema)
    const { play } = await player([issue])
    await play(wrapped('create_issue', { title: 'x' }))
    expect(JSON.stringify(issue.inputSchema)).toBe(before)
    expect(Object.getOwnPropertyNames(issue.inputSchema)).toEqual([
      'type',
      'properties',
      'required',
      'additionalProperties',
    ])
  })
})

describe('arguments through the bridge', () => {
  it('arrive as they were sent, whatever JSON they hold', async () => {
    const { host, inputs } = await player([free])
    await host.ask('hi')
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), async (input) => {
        const text = JSON.stringify(input)
        const anchor = `c${count++}`
        const value = { name: 'db__store', arguments: JSON.parse(text) as unknown }
        const [answer] = await host.conversation.run(
          [{ callId: anchor, anchor, name: 'tool_call', input: { value } }],
          {
            execute: (call) => {
              inputs.push(call.input)
              return 'stored'
            },
          },
        )
        expect(answer?.text).toBe('stored')
        expect(JSON.stringify(inputs.pop())).toBe(text)
      }),
      { numRuns: runs(60) },
    )
  })

  it('may hold nulls, other scripts, emoji, and members named like the wrapper’s own', async () => {
    const { inputs, play } = await player([free])
    const input = {
      name: 'inner',
      arguments: { load: null },
      load: 'x',
      名前: '🎉é\u0000',
      list: [null, [null]],
    }
    expect(await play(wrapped('store', input))).toBe('store ran')
    expect(inputs).toEqual([input])
  })

  const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}${']}'.repeat(depth / 2)}`

  it('may be nested deeply', async () => {
    const { inputs, play } = await player([free])
    expect(await play({ name: 'tool_call', arguments: `{"name":"store","arguments":${nested(900)}}` })).toBe(
      'store ran',
    )
    expect(JSON.stringify(inputs[0])).toBe(nested(900))
  })

  it.each([4000, 200_000])(
    'nested beyond reason (%i levels) are refused, not thrown at the host',
    async (depth) => {
      const { inputs, play } = await player([free])
      const calls: ScriptedCall[] = [
        { name: 'tool_call', arguments: `{"name":"store","arguments":${nested(depth)}}` },
        { name: 'tool_call', arguments: JSON.stringify({ name: 'store', arguments: nested(depth) }) },
        { name: 'store', arguments: nested(depth) },
        { name: 'tool_search', arguments: `{"query":${nested(depth)}}` },
      ]
      for (const call of calls)
        expect(await play(call)).toMatch(
          /^The arguments (?:of "?\w+"? are not a JSON object|do not match the schema of tool_call)/,
        )
      expect(inputs).toEqual([])
    },
  )

  it.each([
    ['an object', { value: 'x' }],
    ['JSON text', '{"value":"x"}'],
    ['JSON text in a frame of white space', ' \n{"value":"x"}\n'],
  ])('are accepted as %s', async (_, given) => {
    const { inputs, play } = await player(mixed())
    expect(await play(wrapped('create_issue', given))).toBe('create_issue ran')
    expect(inputs).toEqual([{ value: 'x' }])
  })

  it.each([
    ['left out', undefined],
    ['null', null],
    ['an empty text', ''],
  ])('are empty if they are %s', async (_, given) => {
    const { inputs, play } = await player(mixed())
    await play({ name: 'tool_call', arguments: { name: 'create_issue', arguments: given } })
    expect(inputs).toEqual([{}])
  })

  it.each([
    ['no name', { arguments: {} }, '"name": "Is missing: '],
    ['neither', { n: 3 }, '"name": "Is missing: '],
    ['an empty name', { name: '', arguments: {} }, '"name": "Must be a string'],
    ['a name that is no text', { name: ['create_issue'], arguments: {} }, '"name": "Must be a string'],
    ['a list for arguments', { name: 'create_issue', arguments: ['x'] }, '"arguments": "Must be an object'],
    ['a number for arguments', { name: 'create_issue', arguments: 7 }, '"arguments": "Must be an object'],
    [
      'text that is no JSON',
      { name: 'create_issue', arguments: '{"value":' },
      '"arguments": "Must be an object',
    ],
    [
      'text that is a JSON list',
      { name: 'create_issue', arguments: '[1]' },
      '"arguments": "Must be an object',
    ],
  ])('with %s are answered with what is missing, and nothing runs', async (_, given, problem) => {
    const { host, inputs, play } = await player(mixed())
    const answer = await play({ name: 'tool_call', arguments: given })
    expect(answer).toContain(
      `The arguments do not match the schema of tool_call. Nothing was run. Problem:\n- ${problem}`,
    )
    expect(answer).not.toContain('JSON')
    expect(inputs).toEqual([])
    expect(failures(host)).toEqual(['invalid'])
  })

  it.each([
    ['a list for everything', [1]],
    ['broken JSON for everything', '{"name":"create_issue'],
  ])('with %s are answered with what is wrong, and nothing runs', async (_, given) => {
    const { host, inputs, play } = await player(mixed())
    expect(await play({ name: 'tool_call', arguments: given })).toMatch(
      /^The arguments of "tool_call" are not a JSON object: .+ Nothing was run\. Send the call again with valid JSON\.$/s,
    )
    expect(inputs).toEqual([])
    expect(failures(host)).toEqual(['invalid'])
  })
})

describe('the load token', () => {
  const tokenIn = (answer: string) => /"load":"([0-9a-f]+)"/.exec(answer)?.[1] ?? ''

  it('is accepted while the definition is what it was', async () => {
    const { inputs, play } = await player(mixed())
    const token = tokenIn(await play(search('select:create_issue')))
    expect(token).toMatch(/^[0-9a-f]{10}$/)
    expect(await play(wrapped('create_issue', { value: 'x' }, token))).toBe('create_issue ran')
    expect(inputs).toHaveLength(1)
  })

  it('QW2-2: is refused with the new schema once the definition has changed, and the new one is accepted', async () => {
    const { host, inputs, play } = await player(mixed())
    const token = tokenIn(await play(search('select:create_issue')))
    host.well.catalogue.setSource('tracker', {
      tools: [
        tool('create_issue', {
          inputSchema: { type: 'object', properties: { subject: { type: 'string' } } },
        }),
      ],
    })
    const answer = await play(wrapped('create_issue', { value: 'x' }, token))
    expect(answer).toContain('tracker__create_issue has changed since you found it. Nothing was run.')
    expect(answer).toContain('"subject":{"type":"string"}')
    expect(inputs).toEqual([])
    expect(failures(host)).toEqual(['stale'])
    expect(kinds(host)).not.toContain('call-started')
    expect(await play(wrapped('create_issue', { subject: 'x' }, tokenIn(answer)))).toBe('create_issue ran')
  })

  it.each(['', null, 7])('counts as missing if it is %j', async (load) => {
    const { play } = await player(mixed())
    expect(
      await play({ name: 'tool_call', arguments: { name: 'create_issue', arguments: { value: 'x' }, load } }),
    ).toBe('create_issue ran')
  })

  it('grants nothing: the policy is still asked', async () => {
    const denied = new Set<string>()
    const { inputs, play } = await player(mixed(), { policy: ({ name }) => !denied.has(name) })
    const token = tokenIn(await play(search('select:create_issue')))
    denied.add('create_issue')
    expect(await play(wrapped('create_issue', { value: 'x' }, token))).toContain('no longer available')
    expect(inputs).toEqual([])
  })

  it('differs between principals', async () => {
    const { host } = await player(mixed())
    const tokens = new Set<string>()
    for (const principal of ['ada', 'bob']) {
      const conversation = await host.well.open({ id: principal, principal })
      await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'test' })
      const [answer] = await conversation.run([
        { callId: 'c', anchor: 'c', name: 'tool_search', input: { value: { query: 'select:create_issue' } } },
      ])
      tokens.add(tokenIn(answer?.text ?? ''))
    }
    expect(tokens.size).toBe(2)
  })
})

describe('the wrapper', () => {
  it.each(['tool_call', 'tool_search'])('QW2-8: does not call %s', async (name) => {
    const { inputs, play } = await player(mixed())
    expect(await play(wrapped(name, { query: 'select:create_issue' }))).toBe(
      'tool_call calls other tools by name; it cannot call itself or the search. Nothing was run.',
    )
    expect(inputs).toEqual([])
  })

  it('takes every spelling of a name, and keeps the asked one in the event', async () => {
    const { host, inputs, play } = await player(mixed())
    for (const name of [
      'create_issue',
      'tracker/create_issue',
      'tracker.create_issue',
      'CreateIssue',
      'mcp__tracker__create_issue',
      'TRACKER__create-issue',
    ])
      expect(await play(wrapped(name, { value: name }))).toBe('create_issue ran')
    expect(inputs).toHaveLength(6)
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
  })

  it('changes no byte before the messages, whatever it calls (QW2-10)', async () => {
    const { host, play } = await player(mixed())
    await play(search('create an issue'))
    await play(wrapped('create_issue', { value: 'x' }))
    await play(wrapped('create_event', { value: 'x' }), { name: 'find_slot', arguments: {} })
    const tools = host.requests.map(({ body }) => JSON.stringify(body.tools))
    expect(new Set(tools).size).toBe(1)
  })

  it('is unknown where the delivery is append', async () => {
    const { inputs, play } = await player(mixed(), { delivery: 'append' })
    expect(await play(wrapped('create_issue', { value: 'x' }))).toContain('Found no tool named "tool_call"')
    expect(inputs).toEqual([])
  })
})

describe('a failure that repeats', () => {
  const bad = wrapped('tracker__create_issue', { title: 7 })

  it('R3: gets one line and no schema the third time', async () => {
    const { play } = await player([issue])
    expect(lines(await play(bad))).toBeGreaterThan(2)
    expect(lines(await play(bad))).toBeGreaterThan(2)
    const third = await play(bad)
    expect(third).toBe(
      'The same call of "tracker__create_issue" has failed twice in the same way. Nothing was run. Try something else.',
    )
  })

  it('R3: is recognised by name and arguments, in any key order', async () => {
    const { play } = await player([issue])
    const twice = { name: 'tool_call', arguments: '{"arguments":{"title":7},"name":"tracker__create_issue"}' }
    await play(bad)
    await play(twice)
    expect(lines(await play(wrapped('tracker__create_issue', { title: 8 })))).toBeGreaterThan(2)
    expect(lines(await play(bad))).toBe(1)
  })

  it('R3: holds within one batch from the state at its start (L7)', async () => {
    const { host, play } = await player([issue])
    await play(bad, bad, bad)
    const answers = host.messages
      .filter((message) => message.role === 'tool')
      .map(({ content }) => String(content))
    expect(answers.map(lines).every((count) => count > 2)).toBe(true)
    expect(lines(await play(bad))).toBe(1)
  })

  it.each([['zither tuning'], ['select:no_such_thing'], [`zither ${'z'.repeat(2000)}`]])(
    'R3: the third identical search that finds nothing gets one line (%s)',
    async (query) => {
      const { play } = await player(mixed())
      const first = await play(search(query))
      expect(first).not.toContain('The same search')
      expect(await play(search(query))).toBe(first)
      expect((await play(search(query))).split('\n')).toEqual([
        expect.stringMatching(/^toolwell\/1 /),
        'The same search has found nothing before and finds nothing now.',
      ])
    },
  )

  it('R3: a search that finds something is never cut short', async () => {
    const { play } = await player(mixed())
    for (let round = 0; round < 4; round++)
      expect(await play(search('select:create_issue'))).toContain('create_issue')
  })
})

describe('a call of a hidden tool', () => {
  const hidden = { name: 'tracker__create_issue', arguments: { value: 'x' } }

  it('runs and is loaded by default, on success only', async () => {
    const { host, play } = await player(mixed())
    await play(hidden)
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    expect(host.conversation.events).toContainEqual(
      expect.objectContaining({ kind: 'loaded', source: 'call', asked: 'tracker__create_issue' }),
    )
  })

  it('PW-1: is not loaded where it fails', async () => {
    const failing = tool('explode', {
      source: 's',
      execute: () => {
        throw new Error('boom')
      },
    })
    const host = await startHost({ tools: [failing], mode: 'on' }, [
      { calls: [{ name: 's__explode', arguments: {} }] },
      { text: 'ok' },
    ])
    await host.ask('go')
    expect(lastResult(host)).toBe('s__explode failed: boom')
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
  })

  it.each(['bridge', 'append'] as const)(
    'PW-7: is answered with a hint that works, with hiddenCalls hint (%s)',
    async (delivery) => {
      const { inputs, host, play } = await player(mixed(), { surface: { hiddenCalls: 'hint' }, delivery })
      expect(await play(hidden)).toBe(
        'tracker__create_issue is available but not loaded. Call tool_search with select:tracker__create_issue first. Nothing was run.',
      )
      expect(inputs).toEqual([])
      expect(host.conversation.inspect().loadedLazyTools).toEqual([])
      await play(search('select:tracker__create_issue'))
      expect(await play(hidden)).toBe('create_issue ran')
    },
  )

  it.each(['hint', 'refuse'] as const)(
    'stays recognisable in the history, with hiddenCalls %s',
    async (rule) => {
      const { host, play } = await player(mixed(), { surface: { hiddenCalls: rule }, delivery: 'append' })
      await play(hidden)
      const [{ tool_calls: calls = [] } = {}] = host
        .body()
        .messages.filter(({ role }) => role === 'assistant')
      expect(calls.map((call) => ('function' in call ? JSON.parse(call.function.arguments) : call))).toEqual([
        { query: 'not a search: a call of tracker__create_issue with {"value":"x"}' },
      ])
      expect(host.raw()).toContain('An earlier call of')
    },
  )

  it('PW-2: is hinted in its canonical form', async () => {
    const { play } = await player(mixed(), { surface: { hiddenCalls: 'hint' } })
    const hint = await play({ name: 'Create-Issue', arguments: {} })
    expect(hint).toMatch(/^tracker__create_issue is available .* select:tracker__create_issue /)
  })

  it('PW-7: is not named in a hint if it is denied, away, or if there is no loader', async () => {
    const denied = await player(mixed(), {
      surface: { hiddenCalls: 'hint' },
      policy: ({ name }) => name !== 'create_issue',
    })
    expect(await denied.play(hidden)).toContain('Found no tool named')
    const inactive = await player(mixed(), {
      surface: { hiddenCalls: 'hint' },
      policy: ({ name, action }) => name !== 'create_issue' || action !== 'load',
    })
    expect(await inactive.play(hidden)).not.toContain('select:')
    const away = await player(mixed(), { surface: { hiddenCalls: 'hint' } })
    away.host.well.catalogue.setState('tracker', 'failed')
    expect(await away.play(hidden)).toBe('tracker__create_issue cannot be used now: failed. Nothing was run.')
    const eager = await player(mixed(), {
      surface: { hiddenCalls: 'hint' },
      policy: ({ id }) => id !== 'toolwell/tool_search',
    })
    expect(await eager.play(hidden)).toBe('create_issue ran')
  })

  it('is refused without a word on how, with hiddenCalls refuse', async () => {
    const { inputs, play } = await player(mixed(), { surface: { hiddenCalls: 'refuse' } })
    expect(await play(hidden)).toBe('tracker__create_issue is not loaded. Nothing was run.')
    expect(await play(wrapped('create_issue', { value: 'x' }))).toBe(
      'tracker__create_issue is not loaded. Nothing was run.',
    )
    expect(inputs).toEqual([])
  })

  it('QW2-1: found in the same batch is judged by the state at its start (L7)', async () => {
    const { inputs, play, host } = await player(mixed(), { surface: { hiddenCalls: 'hint' } })
    await play(search('select:create_issue'), hidden)
    expect(inputs).toEqual([])
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    expect(await play(hidden)).toBe('create_issue ran')
  })

  it('loads its whole group', async () => {
    const { host, play } = await player(mixed())
    await play({ name: 'enter_worktree', arguments: { value: 'x' } })
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['git__enter_worktree', 'git__exit_worktree'])
  })

  it('is counted under the alias it was called by', async () => {
    const aliased = server('tracker', ['create_issue'], { aliases: ['new_ticket', '__proto__'] })
    const { host, play } = await player(aliased)
    for (const name of ['new_ticket', 'new_ticket', '__proto__', 'create_issue'])
      await play(wrapped(name, { value: 'x' }))
    const uses = host.conversation.inspect().aliasUses
    expect(Object.entries(uses)).toEqual([
      ['new_ticket', 2],
      ['__proto__', 1],
    ])
  })
})

it('checks arguments before the first request, too: nobody else has', async () => {
  const ran: unknown[] = []
  const strict = tool('strict', {
    inputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
    execute: (input) => ran.push(input),
  })
  const conversation = await createToolwell({ tools: [strict], mode: 'on' }).open({ id: 'early' })
  const [answer] = await conversation.run([
    { callId: 'a', anchor: 'a', name: 'strict', input: { value: { count: 'seven' } } },
  ])
  expect(answer?.outcome.kind).toBe('schema-needed')
  expect(ran).toEqual([])
})

it.each(['worktree', 'Worktree', 'git__worktree'])(
  'C6: a call of a group, %s, gets the answer that it is a group',
  async (name) => {
    const { play } = await player(mixed())
    expect(await play(wrapped(name, {}))).toBe(
      `"${name}" is a group of tools: git__enter_worktree, git__exit_worktree. Call one of these, or load all with tool_search and select:${name}. Nothing was run.`,
    )
  },
)
