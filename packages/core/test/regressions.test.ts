/** Bugs that were here once, each with the shortest way to it. */
import { createToolwell, memoryStore, searchTools, type Tool } from '@toolwell/core'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { assemble, type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { anthropicProtocol } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { bridge, play, search } from './support/play.js'
import { mixed, server, tool } from './support/tools.js'

describe('a schema that the history has lost', () => {
  it.each(['crash before the history was written', 'regenerate'])('is shown again: %s', async () => {
    const host = await play()
    await host.step(search('select:tracker__create_issue'))
    host.messages.splice(1)
    host.messages.push({ role: 'assistant', content: 'hm' }, { role: 'user', content: 'again' })
    expect(await host.sent()).toContain('The value for create_issue')
  })

  it('is shown even if a search tool omits it from its answer', async () => {
    const host = await play({ search: { tool: { ...searchTools.standard, render: () => 'ok' } } })
    await host.step(search('select:tracker__create_issue'))
    expect(await host.sent()).toContain('The value for create_issue')
  })

  it('is not shown twice if it is still there', async () => {
    const host = await play()
    await host.step(search('select:tracker__create_issue'))
    expect((await host.sent()).split('The value for create_issue')).toHaveLength(2)
  })
})

describe('arguments', () => {
  it('nested too deeply to be checked do not pass unchecked', async () => {
    const ran: unknown[] = []
    const inputSchema = {
      type: 'object',
      properties: { child: { $ref: '#' }, amount: { type: 'number', maximum: 10 } },
      required: ['amount'],
    }
    const host = await play({
      tools: server('bank', ['pay'], { inputSchema, execute: (input) => ran.push(input) }),
    })
    let value: Record<string, unknown> = { amount: 1 }
    for (let depth = 0; depth < 900; depth++) value = { child: value, amount: 1 }
    value.amount = 1e9
    const [answer] = await host.step(bridge('bank__pay', value))
    expect(ran).toEqual([])
    expect(answer).toContain('do not match the schema of bank__pay')
  })

  it.each(['^((a+))+$', '^(.*a){12}$', '^\\w*\\w*\\w*\\w*\\w*!$', '(['])(
    'are checked in no time whatever the pattern: %s',
    async (pattern) => {
      const inputSchema = {
        type: 'object',
        properties: { text: { type: 'string', pattern }, count: { type: 'integer' } },
      }
      const host = await play({ tools: server('far', ['match'], { inputSchema }) })
      const [slow] = await host.step(bridge('far__match', { text: 'a'.repeat(60) }))
      expect(slow).toContain('match ran')
      const [wrong] = await host.step(bridge('far__match', { count: 'many' }))
      expect(wrong).toContain('do not match the schema of far__match')
    },
  )
})

describe('a name', () => {
  it('keeps the meaning that the conversation declared, whichever tool has it in the catalogue now', async () => {
    const store = memoryStore()
    const theirs = tool('enter', { source: 'git', defer: false, execute: () => 'the server ran' })
    const ours = tool('git__enter', { execute: () => 'the host ran' })
    const before = createToolwell({ tools: [], mode: 'on', store })
    before.catalogue.setSource('git', { tools: [theirs] })
    const first = await play({}, await before.open({ id: 'x' }))
    const declared = JSON.parse(await first.sent()).tools[0].function
    const after = createToolwell({ tools: [ours], mode: 'on', store })
    after.catalogue.setSource('git', { tools: [theirs] })
    const resumed = await play({}, await after.open({ id: 'x' }))
    expect(await resumed.step({ name: declared.name, arguments: {} })).toEqual(['the server ran'])
  })

  it('in a child allowlist means one tool, not every tool of that name', async () => {
    const host = await play({ tools: [tool('read_file'), ...server('evil', ['read_file', 'other'])] })
    const child = await host.conversation.child({ id: 'child', allow: ['read_file'] })
    const theirs = await play({}, child)
    expect(await theirs.sent()).not.toContain('evil')
  })

  it('that is a plain word is not displaced by stuffed rivals', async () => {
    const stuffed = Array.from({ length: 12 }, (_, index) =>
      tool(`helper_${index}`, {
        source: `evil${index}`,
        description: 'deploy please deploy now deploy',
        aliases: ['deploy now please'],
      }),
    )
    const host = await play({ tools: [...server('ops', ['deploy']), ...stuffed] })
    await host.step(search('please deploy now'))
    expect(host.conversation.inspect().loadedLazyTools).toContain('ops__deploy')
  })

  it('that could mean a denied tool and a usable one means the usable one', async () => {
    const denied = new Set<string>()
    const host = await play({
      tools: [...server('alpha', ['send']), ...server('beta', ['send'])],
      policy: ({ id }) => !denied.has(id),
    })
    await host.step(search('select:beta__send'))
    denied.add('beta/send')
    const [answer] = await host.step(bridge('send'))
    expect(answer).toBe('send ran with {}')
  })
})

describe('a loader that was given another name', () => {
  it('keeps the name that the conversation used', async () => {
    const store = memoryStore()
    const first = await play({ store })
    await first.sent()
    const renamed = createToolwell({
      tools: mixed(),
      mode: 'on',
      store,
      search: { tool: { ...searchTools.standard, name: 'find_tools' } },
    })
    const resumed = await play({}, await renamed.open({ id: 'x' }))
    const [answer] = await resumed.step(search('select:tracker__create_issue'))
    expect(answer).toContain('1 tool loaded')
  })
})

describe('a group', () => {
  it('is unloaded to make room, and by the host, as a whole', async () => {
    const evicting = await play({ limits: { maxLoaded: 2 } })
    await evicting.step(search('select:git__enter_worktree'))
    await evicting.step(search('select:tracker__create_issue'))
    expect(evicting.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    const putting = await play()
    await putting.step(search('select:git__enter_worktree'))
    expect(await putting.conversation.unload(['git__enter_worktree'])).toEqual({
      unloaded: ['git__enter_worktree', 'git__exit_worktree'],
      unknown: [],
    })
  })
})

describe('a tool', () => {
  it('that is denied while it runs is not loaded', async () => {
    const denied = new Set<string>()
    const slow = tool('slow', { source: 'far', execute: () => String(denied.add('far/slow').size) })
    const host = await play({ tools: [...mixed(), slow], policy: ({ id }) => !denied.has(id) })
    await host.step(bridge('far__slow'))
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
  })

  it.each([
    ['nothing with a name', () => Promise.reject(Object.create(null)), 'cannot be described'],
    [
      'a BigInt',
      () => ({ big: 10n }),
      'odd ran, but its result cannot be shown: Do not know how to serialize a BigInt',
    ],
  ])('may throw or return %s', async (_, execute, expected) => {
    const host = await play({ tools: [tool('odd', { execute })] })
    const [answer] = await host.step({ name: 'odd', arguments: {} })
    expect(answer).toContain(expected)
  })
})

describe('a history', () => {
  it('with repeated, missing or empty calls is sent in a form that servers take', async () => {
    const host = await play()
    await host.step(
      { name: 'read_file', arguments: {}, id: 'same' },
      { name: 'write_file', arguments: {}, id: 'same' },
    )
    await host.step({ name: 'read_file', arguments: {}, id: '' })
    host.messages.push(
      { role: 'assistant', content: '', tool_calls: [] },
      { role: 'user', content: 'on' },
      { role: 'assistant', content: 'x', tool_calls: null },
      { role: 'user', content: 'on' },
    )
    const parts = JSON.parse(await host.sent())
    expect(JSON.stringify(parts)).toContain('write_file ran with')
  })

  it.each(['  ', '{"value":"x"}'])(
    'with a call of a hidden tool and arguments %j is wrapped as JSON',
    async (text) => {
      const host = await play()
      await host.step({ name: 'tracker__create_issue', arguments: text })
      const { messages } = JSON.parse(await host.sent()) as { messages: ChatMessage[] }
      const [call] = messages.flatMap((message) => message.tool_calls ?? [])
      expect(() => JSON.parse(call?.function.arguments ?? '')).not.toThrow()
    },
  )
})

describe('a fork of what came before a clear', () => {
  it('has what was loaded then', async () => {
    const host = await play()
    await host.step(search('select:tracker__create_issue'))
    await host.sent()
    const before = [...host.messages]
    await host.conversation.clear()
    const fork = await host.chat.fork(before, { id: 'fork' })
    expect(fork.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
  })
})

describe('a large server that is announced by number', () => {
  const many = (count: number): Tool[] => Array.from({ length: count }, (_, index) => tool(`number_${index}`))

  it('is not announced as new when one tool joins or leaves', async () => {
    const host = await play({ tools: [], limits: { cardBudget: 60 } })
    host.well.catalogue.setSource('big', { tools: many(300) })
    await host.sent()
    host.well.catalogue.setSource('big', { tools: many(301) })
    host.messages.push({ role: 'assistant', content: 'hm' }, { role: 'user', content: 'on' })
    const sent = await host.sent()
    expect(sent).toContain('have changed. It now has 301 tools')
    expect(sent).not.toContain('now available')
  })
})

describe('many wrong names in one batch', () => {
  it('get suggestions for the first few only', async () => {
    const host = await play({
      tools: server(
        'big',
        Array.from({ length: 2000 }, (_, index) => `tool_number_${index}`),
      ),
    })
    const names = Array.from({ length: 40 }, (_, index) => `tool_numbr_${index}`)
    const [answer = ''] = await host.step(search(`select:${names.join(',')}`))
    expect(answer.split('Nearest').length - 1).toBe(5)
  })
})

describe('a tool that was loaded and denied before any request', () => {
  it('is named in no request', async () => {
    const denied = new Set<string>()
    const host = await play({ limits: { cardBudget: 0 }, policy: ({ id }) => !denied.has(id) })
    await host.sent()
    await host.conversation.load(['tracker__create_issue'])
    denied.add('tracker/create_issue')
    host.messages.push({ role: 'assistant', content: 'hm' }, { role: 'user', content: 'on' })
    expect(await host.sent()).not.toContain('create_issue')
  })
})

describe('a process that resumes with other sentences', () => {
  it('sends the sentences that the conversation already has', async () => {
    const store = memoryStore()
    const first = await play({ store, delivery: 'append' })
    await first.step(search('select:tracker__create_issue'))
    await first.step(search('unload:tracker__create_issue'))
    const sent = await first.sent()
    const prompts = { tombstone: () => 'OTHER', section: () => 'OTHER', loader: () => 'OTHER' }
    const other = createToolwell({
      tools: mixed(),
      mode: 'on',
      delivery: 'bridge',
      store,
      surface: { prompts },
    })
    const resumed = openaiChat(await other.open({ id: 'x' }))
    expect(JSON.stringify((await resumed.begin(structuredClone(first.messages))).parts)).toBe(sent)
  })
})

describe('the same history on another wire', () => {
  it('is another request, written for that wire, with the same tools loaded', async () => {
    const host = await play({ tools: [...mixed(), tool('wordy', { description: 'x'.repeat(3000) })] })
    await host.step(search('select:tracker__create_issue'))
    const chatParts = await host.sent()
    const history: AnthropicMessage[] = [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          {
            type: 'tool_use',
            id: 'call_1',
            name: 'tool_search',
            input: { query: 'select:tracker__create_issue' },
          },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: String(host.messages.at(-1)?.content) },
        ],
      },
    ]
    const turn = await anthropic(host.conversation).begin(history)
    expect(chatParts).toContain('continued in the description of the parameters')
    expect(JSON.stringify(turn.parts)).not.toContain('continued in the description')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    expect(anthropicProtocol().violationOf({ model: 'm', max_tokens: 9, ...turn.parts })).toBeUndefined()
  })
})

describe('changed rules of use', () => {
  it('reach a model that has the tool', async () => {
    const careful = (guidelines: string[]) => [tool('careful', { guidelines })]
    const host = await play({ tools: [] })
    host.well.catalogue.setSource('far', { tools: careful(['Be slow.']) })
    await host.step(search('select:far__careful'))
    await host.sent()
    host.well.catalogue.setSource('far', { tools: careful(['Be quick.']) })
    host.messages.push({ role: 'assistant', content: 'hm' }, { role: 'user', content: 'on' })
    expect(await host.sent()).toContain('far__careful: Be quick.')
  })
})

describe('a late answer', () => {
  it('finds its call, wherever in the history that is', async () => {
    const host = await play()
    const call = (id: string) => ({ id, type: 'function', function: { name: 'read_file', arguments: '{}' } })
    host.messages.push(
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'first output' },
      { role: 'user', content: 'meanwhile?' },
      { role: 'assistant', content: 'still waiting' },
      { role: 'tool', tool_call_id: 'b', content: 'late output' },
      { role: 'user', content: 'on' },
    )
    const sent = await host.sent()
    expect(sent).toContain('late output')
    expect(sent).not.toContain('interrupted')
  })
})

describe('a notice at the end of a history', () => {
  const options = { policy: ({ id }: { readonly id: string }) => id !== 'toolwell/tool_search' }
  const unknown = (...ids: string[]): ChatMessage => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'no_such', arguments: '{}' } })),
  })
  const ends: [string, (messages: readonly ChatMessage[]) => ChatMessage[]][] = [
    ['an unanswered call of an unknown tool', () => [unknown('a')]],
    ['two of them in one reply', () => [unknown('a', 'b')]],
    ['a repeated answer', (messages) => [{ role: 'user', content: 'next' }, ...messages.slice(2, 3)]],
  ]
  it.each(ends)('changes no message that was sent before: after %s', async (_, end) => {
    const host = await play(options)
    await host.step({ name: 'read_file', arguments: {} })
    host.talk()
    const before = (await host.begin()).parts.messages
    host.messages.push(...end(host.messages))
    host.well.catalogue.removeSource('tracker')
    const after = (await host.begin()).parts.messages
    expect(after.slice(0, before.length)).toEqual(before)
    expect(JSON.stringify(after.slice(before.length))).toContain('No longer available')
    host.talk()
    expect((await host.begin()).parts.messages.slice(0, after.length)).toEqual(after)
  })
})

describe('a reply with nothing in it', () => {
  it.each([{ content: null }, {}, { content: null, refusal: 'no' }])(
    'is sent back in a form that servers take: %j',
    async (empty) => {
      const host = await play()
      host.messages.push({ role: 'assistant', ...empty }, { role: 'user', content: 'on' })
      await host.sent()
    },
  )
})

describe('a schema with alternatives at its top', () => {
  it('is sent in a form that servers take, and keeps what it says', async () => {
    const inputSchema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    }
    const host = await play({ tools: [tool('either', { inputSchema })] })
    expect(await host.sent()).toContain('The input also has to match')
  })
})

describe('a stream', () => {
  async function* of(...chunks: readonly object[]) {
    yield* chunks
  }
  const part = (call: object) => ({ choices: [{ delta: { tool_calls: [call] } }] })
  const end = { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }
  const names = async (...chunks: readonly object[]) =>
    (await assemble(of(...chunks, end))).reply.message.tool_calls?.map(
      (call) => `${call.id} ${call.function.name} ${call.function.arguments}`,
    )

  it('of a server that leaves the index out, repeats ids and names, or reuses an index is put together right', async () => {
    const open = { id: 'a', function: { name: 'one', arguments: '{"x"' } }
    expect(await names(part(open), part({ function: { arguments: ':1}' } }))).toEqual(['a one {"x":1}'])
    expect(await names(part(open), part({ id: 'a', function: { name: 'one', arguments: ':1}' } }))).toEqual([
      'a one {"x":1}',
    ])
    expect(
      await names(
        part({ index: 0, ...open }),
        part({ index: 0, id: 'b', function: { name: 'two', arguments: '{}' } }),
      ),
    ).toEqual(['a one {"x"', 'b two {}'])
  })

  it('that ends in an error is incomplete: half a call is not run', async () => {
    const reply = await assemble(
      of(
        part({ index: 0, id: 'a', function: { name: 'one', arguments: '{' } }),
        { error: { code: 502 }, choices: [] },
        end,
      ),
    )
    expect(reply).toMatchObject({ complete: false, error: { code: 502 } })
    expect((await assemble(of({ choices: [{ delta: {}, finish_reason: 'error' }] }))).complete).toBe(false)
  })
})

describe('a conversation', () => {
  const say = (host: { messages: ChatMessage[] }, text: string) =>
    host.messages.push({ role: 'assistant', content: `about ${text}` }, { role: 'user', content: text })

  it('shows a schema again even if a reminder of it is still there', async () => {
    const host = await play()
    await host.step(search('select:tracker__create_issue'))
    await host.sent()
    say(host, 'next')
    await host.sent()
    host.messages.splice(1, 2)
    say(host, 'again')
    expect(await host.sent()).toContain('The value for create_issue')
  })

  it('forks a compacted history in its current form, not its earlier one', async () => {
    const host = await play()
    for (let index = 0; index < 5; index++)
      await host.step({ name: 'read_file', arguments: { value: String(index) } })
    await host.step(search('select:tracker__create_issue'))
    await host.sent()
    const before = [...host.messages]
    host.messages.splice(0, 1, { role: 'user', content: 'summary' })
    await host.chat.compact(before, host.messages)
    await host.step(search('select:calendar__find_slot'))
    await host.step(search('unload:tracker__create_issue'))
    await host.sent()
    const fork = await host.chat.fork(host.messages, { id: 'fork' })
    expect(fork.inspect().loadedLazyTools).toEqual(['calendar__find_slot'])
  })

  it('declares a name once when it passes from a tool that is gone to another, and runs the new one', async () => {
    const host = await play({ tools: [], delivery: 'append' })
    host.well.catalogue.setSource('git', { tools: [tool('enter', { execute: () => 'old' })] })
    await host.step(search('select:git__enter'))
    await host.sent()
    host.well.catalogue.removeSource('git')
    host.well.catalogue.setSource('', { tools: [tool('git__enter', { defer: true, execute: () => 'new' })] })
    say(host, 'on')
    await host.step(search('select:git__enter'))
    const { tools } = JSON.parse(await host.sent()) as { tools: { function: { name: string } }[] }
    expect(tools.filter((each) => each.function.name === 'git__enter')).toHaveLength(1)
    expect(await host.step({ name: 'git__enter', arguments: {} })).toEqual(['new'])
  })

  it('shows a schema again when a server gives the call id of its answer to another call', async () => {
    const host = await play()
    await host.step({ ...search('select:tracker__create_issue'), id: 'c0' })
    host.messages.splice(1)
    await host.step({ name: 'read_file', arguments: {}, id: 'c0' })
    expect(await host.sent()).toContain('The value for create_issue')
  })

  it.each([
    [{ patternProperties: { '^x(-[a-z]+)*$': {} }, additionalProperties: false }, { 'x-a-b': 1 }, true],
    [{ properties: { a: { not: { pattern: '^(ab)+$' } } } }, { a: 'hello' }, true],
    [
      { properties: { a: { oneOf: [{ pattern: '^\\d+(\\.\\d+)?$' }, { pattern: '^[a-z]{1,3}$' }] } } },
      { a: 'abc' },
      true,
    ],
    [{ properties: { a: { const: { pattern: '(a+)+' } } } }, { a: { pattern: '(a+)+' } }, true],
    [{ properties: { a: { pattern: '^[a-z]+$' } } }, { a: 'UPPER' }, false],
    [{ properties: { a: { pattern: '^\\[(\\w+\\s?)+[.]$' } } }, { a: `[${'a'.repeat(60)}` }, true],
    [{ properties: { a: { pattern: 'a*a*b' } } }, { a: 'a'.repeat(5000) }, true],
  ])('checks %j against %j in no time, and refuses nothing that is right', async (schema, input, fits) => {
    const host = await play({
      tools: server('far', ['match'], { inputSchema: { type: 'object', ...schema } }),
    })
    const [answer] = await host.step(bridge('far__match', input))
    expect(answer?.startsWith('match ran')).toBe(fits)
  })

  it('charges deferral only with what would not have happened without it', async () => {
    const host = await play()
    await host.step({ name: 'read_file', arguments: '{' })
    await host.sent()
    const requests = host.conversation.events.filter((event) => event.kind === 'requested')
    expect(requests.at(-1)).toMatchObject({ tokens: { searchResults: 0 } })
    expect(host.conversation.inspect().accounting.metaRequests).toBe(0)
  })
})

describe('a group', () => {
  it('is trimmed by a compaction as a whole', async () => {
    const host = await play()
    await host.step(search('select:git__enter_worktree'))
    await host.conversation.compact({
      kept: {},
      trim: (active) => active.filter((name) => name !== 'git__enter_worktree'),
    })
    expect(host.conversation.inspect().loadedLazyTools).toEqual([])
  })

  it('is imported as a whole or not at all', async () => {
    const host = await play()
    await host.step(search('select:tracker__create_issue,git__enter_worktree'))
    const other = await createToolwell({ tools: mixed(), mode: 'on', limits: { maxLoaded: 2 } }).open({
      id: 'imported',
    })
    const report = await openaiChat(other).importHistory(host.messages)
    expect(report.recovered).toEqual(['tracker/create_issue'])
    expect(report.unrecovered).toContainEqual({ tool: 'git/enter_worktree', reason: 'group-incomplete' })
  })
})

describe('a changed eager tool', () => {
  it('rewrites nothing until the next latch, is announced once, and is called by its new schema', async () => {
    const host = await play({ tools: [] })
    const own = (description: string) => [tool('a_first', { description }), tool('b_second')]
    host.well.catalogue.setSource('', { tools: own('old') })
    host.well.catalogue.setSource('far', { tools: [tool('thing')] })
    await host.sent()
    host.well.catalogue.setSource('', { tools: own('new') })
    for (const text of ['on', 'and on']) {
      host.messages.push({ role: 'assistant', content: 'hm' }, { role: 'user', content: text })
      await host.sent()
    }
    const tokens = host.conversation.events.flatMap((event) =>
      event.kind === 'requested' ? [event.tokens] : [],
    )
    expect(tokens.map(({ rewritten }) => rewritten)).toEqual([0, 0, 0])
    const kinds = host.conversation.events.map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'redefined' || kind === 'announced')).toEqual([
      'redefined',
      'announced',
    ])
  })
})
