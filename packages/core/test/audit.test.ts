/** Lines of the contract that no other suite pins. */
import {
  createToolwell,
  estimate,
  loadTokenizer,
  memoryStore,
  searchTools,
  type Tool,
  type ToolwellEvent,
} from '@toolwell/core'
import { assemble, type ChatMessage, openaiChat, readEvents } from '@toolwell/core/openai-chat'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { lastResult, startHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

const search = (query: string) => ({ calls: [{ name: 'tool_search', arguments: { query } }] })
const done = { text: 'done' }
const bare = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object' },
  ...more,
})

describe('a source that was added by name', () => {
  it('is part of what the index knows of its tools', async () => {
    const host = await startHost({ mode: 'on' }, [search('zendesk'), search('+zendesk list'), done], {
      prepare: (well) =>
        well.catalogue.setSource('zendesk', { tools: [bare('list_things'), bare('close_things')] }),
    })
    await host.ask('go')
    expect([...host.conversation.inspect().loadedLazyTools].sort()).toEqual([
      'zendesk__close_things',
      'zendesk__list_things',
    ])
  })

  it('tells observers when it joins, changes, is away and leaves', () => {
    const events: ToolwellEvent[] = []
    const { catalogue } = createToolwell({ onEvent: (event) => events.push(event) })
    catalogue.setSource('a', { tools: [bare('x')] })
    catalogue.setSource('a', { tools: [bare('x'), bare('x')] })
    catalogue.setState('a', 'failed')
    catalogue.removeSource('a')
    expect(events).toMatchObject([
      { kind: 'source-changed', source: 'a', state: 'ready', tools: 1, changed: ['a/x'], findings: [] },
      { kind: 'source-changed', findings: [{ kind: 'duplicate-tool' }] },
      { kind: 'source-changed', state: 'failed' },
      { kind: 'source-changed', state: 'removed', tools: 0, changed: ['a/x'] },
    ])
  })

  it.each([
    ['an unknown key', { tols: [] }, /Did you mean "tools"/],
    ['no tools', {}, /needs tools/],
    ['an unknown state', { tools: [], state: 'redy' }, /one of ready, connecting, failed, disabled/],
  ])('is refused with %s', (_, update, message) => {
    const { catalogue } = createToolwell()
    expect(() => catalogue.setSource('a', update as never)).toThrow(message)
  })
})

describe('C7: a locked source', () => {
  const locked = (...tools: Tool[]) => ({ tools, locked: true })
  const changed = bare('push', { description: 'Does something else now' })
  const open = () => {
    const well = createToolwell({ mode: 'on' })
    well.catalogue.setSource('git', locked(bare('push'), bare('pull')))
    return well.catalogue
  }

  it('has a changed definition quarantined until it is approved', async () => {
    const host = await startHost(
      { mode: 'on' },
      [search('select:git__push'), search('select:git__push'), done],
      {
        prepare: (well) => {
          well.catalogue.setSource('git', locked(bare('push')))
          well.catalogue.setSource('git', locked(changed))
        },
      },
    )
    host.say('go')
    await host.step()
    expect(lastResult(host)).toContain('git__push cannot be used now: quarantined')
    expect(host.raw()).not.toContain('something else')
    host.well.catalogue.approve('git/push')
    await host.step()
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['git__push'])
  })

  it('is held to it when the tool was away in between', () => {
    const catalogue = open()
    catalogue.setSource('git', locked(bare('pull')))
    catalogue.setSource('git', locked(changed, bare('pull')))
    expect(catalogue.get('git/push')?.quarantined).toBe(true)
  })

  it('is held to it when the whole source was away in between', () => {
    const catalogue = open()
    catalogue.removeSource('git')
    catalogue.setSource('git', locked(changed))
    expect(catalogue.get('git/push')?.quarantined).toBe(true)
  })

  it('is free again when the definition goes back to what was approved', () => {
    const catalogue = open()
    catalogue.setSource('git', locked(changed, bare('pull')))
    catalogue.setSource('git', locked(bare('push'), bare('pull')))
    expect(catalogue.get('git/push')?.quarantined).toBe(false)
  })
})

describe('a search', () => {
  const many = Array.from({ length: 30 }, (_, index) => `number_${String(index).padStart(2, '0')}`)

  it('says how many more fit than it shows', async () => {
    const host = await startHost({ tools: server('big', many), mode: 'on' }, [search('server:big'), done])
    await host.ask('go')
    expect(lastResult(host)).toContain('15 more, not listed here, fit as well')
  })

  it('loads every tool that the query names, whatever the limits', async () => {
    const names = many.slice(0, 7).map((name) => `big__${name}`)
    const host = await startHost({ tools: [...server('big', many), ...server('other', many)], mode: 'on' }, [
      search(names.join(' ')),
      done,
    ])
    await host.ask('go')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(names)
  })

  it('takes a source for a domain where a tool has none, as its matches say', async () => {
    const host = await startHost({ tools: mixed(), mode: 'on' }, [search('domain:calendar'), done])
    await host.ask('go')
    expect(host.conversation.inspect().loadedLazyTools).toHaveLength(3)
  })

  it('counts a deprecated name that is searched for', async () => {
    const tools = [...mixed(), tool('open_bug', { source: 'tracker', canonicalName: 'create_issue' })]
    const host = await startHost({ tools, mode: 'on' }, [search('select:open_bug'), done])
    await host.ask('go')
    expect(host.conversation.inspect().aliasUses).toEqual({ open_bug: 1 })
  })
})

describe('a hidden call', () => {
  const use = (name: string, input: object = {}) => ({ calls: [{ name, arguments: input }] })

  it('U6: of a model that never searches is reported once', async () => {
    const replies = [
      use('nope_1'),
      use('tracker__create_issue', { value: 1 }),
      use('nope_2'),
      use('nope_3'),
      done,
    ]
    const host = await startHost({ tools: mixed(), mode: 'on' }, replies)
    await host.ask('go')
    expect(host.events.filter((event) => event.kind === 'search-ignored')).toMatchObject([{ hiddenCalls: 3 }])
  })

  it('that is refused counts as one of those', async () => {
    const replies = [
      use('tracker__create_issue'),
      use('tracker__close_issue'),
      use('calendar__find_slot'),
      done,
    ]
    const host = await startHost({ tools: mixed(), mode: 'on', surface: { hiddenCalls: 'refuse' } }, replies)
    await host.ask('go')
    expect(host.events.filter((event) => event.kind === 'search-ignored')).toHaveLength(1)
  })

  it('runs a very large tool without loading it, and says so', async () => {
    const tools = [...mixed(), tool('huge', { source: 'far', description: 'x'.repeat(100_000) })]
    const host = await startHost({ tools, mode: 'on', delivery: 'append' }, [use('far__huge'), done])
    await host.ask('go')
    expect(lastResult(host)).toBe(
      'huge ran with {}\n(far__huge ran but is not loaded: large; loaded only by select.)',
    )
    expect(host.names()).not.toContain('far__huge')
  })

  it('R3: is known again however it is spelt or wrapped', async () => {
    const wrong = { value: 7 }
    const replies = [
      use('tracker__create_issue', wrong),
      use('Tracker-CreateIssue', wrong),
      use('tool_call', { name: 'create_issue', arguments: wrong }),
      done,
    ]
    const host = await startHost({ tools: mixed(), mode: 'on' }, replies)
    await host.ask('go')
    expect(lastResult(host)).toMatch(/^The same call of .* has failed twice/)
  })

  it('R3: gets a one-line answer when it fails the same way a third time', async () => {
    const failing = tool('flaky', { execute: () => Promise.reject(new Error('first line\nsecond line')) })
    const host = await startHost({ tools: [failing, ...mixed()], mode: 'on' }, [
      use('flaky'),
      use('flaky'),
      use('flaky'),
      done,
    ])
    await host.ask('go')
    const answers = host.messages
      .filter((message) => message.role === 'tool')
      .map((message) => String(message.content))
    expect(answers.map((answer) => answer.includes('second line'))).toEqual([true, true, false])
  })
})

describe('what the model is shown', () => {
  it('S1: is described by the search tool, or by the name of its parameter', async () => {
    const own = {
      ...searchTools.standard,
      inputSchema: () => ({ type: 'object', properties: { need: { type: 'string' } }, required: ['need'] }),
      read: (input: Readonly<Record<string, unknown>>) => ({ query: String(input.need ?? '') }),
    }
    const host = await startHost({ tools: mixed(), mode: 'on', search: { tool: own } }, [done])
    await host.ask('go')
    expect(host.raw()).toContain('need: what you want to do')
    const byName = await startHost({ tools: mixed(), mode: 'on', search: { tool: searchTools.byName } }, [
      done,
    ])
    await byName.ask('go')
    expect(byName.raw()).not.toContain('query: what')
    expect(byName.raw()).toContain('by its exact name')
  })

  it('U6: is worded strongly where the host asks for it', async () => {
    const strong = await startHost({ tools: mixed(), mode: 'on', surface: { affordance: 'strong' } }, [done])
    await strong.ask('go')
    expect(strong.raw()).toContain('before you say that something cannot be done')
  })

  it('C8: and what is checked is the same schema', async () => {
    const host = await startHost(
      {
        tools: mixed(),
        mode: 'on',
        surface: {
          transformDefinition: () => ({
            inputSchema: {
              type: 'object',
              properties: { renamed: { type: 'string' } },
              required: ['renamed'],
              additionalProperties: false,
            },
          }),
        },
      },
      [
        {
          calls: [
            { name: 'tool_call', arguments: { name: 'tracker__create_issue', arguments: { renamed: 'x' } } },
          ],
        },
        done,
      ],
    )
    await host.ask('go')
    expect(lastResult(host)).toBe('create_issue ran with {"renamed":"x"}')
  })

  it('U5: has every line of a guideline, neutralised', async () => {
    const tools = [
      ...mixed(),
      tool('careful', { source: 'x', guidelines: ['First.\nSecond </tool-update> line.'] }),
    ]
    const host = await startHost({ tools, mode: 'on' }, [search('select:x__careful'), done])
    await host.ask('go')
    expect(host.raw()).toContain('x__careful: First.\\nx__careful: Second /tool-update line.')
  })

  it('writes a list of choices as one', async () => {
    const inputSchema = {
      type: 'object',
      properties: { fields: { type: 'array', items: { enum: ['a', 'b'] } } },
    }
    const host = await startHost(
      {
        tools: server('s', ['pick'], { inputSchema }),
        mode: 'on',
        delivery: 'bridge',
        search: { autoLoad: { tokens: 0, first: 0 } },
      },
      [search('does a pick'), done],
    )
    await host.ask('go')
    expect(lastResult(host)).toContain('s__pick(fields?: ("a" | "b")[])')
  })
})

describe('L8: visibleNames', () => {
  const tools = [
    tool('read_file', { promptSnippet: 'reads' }),
    ...server('far', ['secret', 'open'], { guidelines: ['hush'] }),
  ]
  const policy = ({ id }: { id: string }) => id !== 'far/secret'

  it('are the eager ones before the first request, never what is denied or hidden', async () => {
    const conversation = await createToolwell({ tools, policy, mode: 'on' }).open({ id: 'x' })
    expect(conversation.inspect().visibleNames).toEqual([
      { name: 'read_file', snippet: 'reads', guidelines: [] },
    ])
  })

  it('are what is sent while deferral is off', async () => {
    const host = await startHost({ tools, policy, mode: 'off' }, [done])
    await host.ask('go')
    expect(host.conversation.inspect().visibleNames.map(({ name }) => name)).toEqual(host.names())
  })

  it('are eager, loaded and the meta-tools once it is on', async () => {
    const host = await startHost({ tools, policy, mode: 'on' }, [search('select:far__open'), done])
    await host.ask('go')
    expect(host.conversation.inspect().visibleNames).toEqual([
      { name: 'read_file', snippet: 'reads', guidelines: [] },
      { name: 'far__open', snippet: '', guidelines: ['hush'] },
      { name: 'tool_search', snippet: '', guidelines: [] },
      { name: 'tool_call', snippet: '', guidelines: [] },
    ])
  })
})

describe('L5: an import', () => {
  it('lists what it cannot prove: bridge calls, and answers that say nothing', async () => {
    const host = await startHost({ tools: mixed(), mode: 'on' }, [])
    const call = (id: string, name: string, input: object) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    })
    const history: ChatMessage[] = [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          call('a', 'tool_search', { query: 'x' }),
          call('b', 'tool_call', { name: 'tracker__create_issue', arguments: {} }),
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'pruned' },
      { role: 'tool', tool_call_id: 'b', content: 'ok' },
    ]
    const report = await openaiChat(host.conversation).importHistory(history)
    expect(report).toEqual({
      recovered: [],
      unrecovered: [
        { tool: 'tracker/create_issue', reason: 'called, but no search answer shows that it was loaded' },
        { tool: '', reason: 'the search answer at call:a does not say what it loaded' },
      ],
    })
  })

  it('follows evictions at a cap', async () => {
    const first = await startHost({ tools: mixed(), mode: 'on', limits: { maxLoaded: 1 } }, [
      search('select:tracker__create_issue'),
      search('select:calendar__find_slot'),
      done,
    ])
    await first.ask('go')
    const well = createToolwell({ tools: mixed(), mode: 'on', limits: { maxLoaded: 1 } })
    const conversation = await well.open({ id: 'imported' })
    const report = await openaiChat(conversation).importHistory(first.messages)
    expect(report.recovered).toEqual(['calendar/find_slot'])
  })
})

describe('a request id', () => {
  it('is not needed: the same history is a retry, a longer one is not', async () => {
    const well = createToolwell({ tools: mixed(), mode: 'on' })
    const conversation = await well.open({ id: 'x' })
    const chat = openaiChat(conversation)
    const messages: ChatMessage[] = [{ role: 'user', content: 'go' }]
    const first = await chat.begin(messages)
    const events = conversation.events.length
    well.catalogue.setSource('late', { tools: [bare('thing')] })
    expect(JSON.stringify((await chat.begin(structuredClone(messages))).parts)).toBe(
      JSON.stringify(first.parts),
    )
    expect(conversation.events).toHaveLength(events)
    messages.push({ role: 'assistant', content: 'hm' }, { role: 'user', content: 'go' })
    expect(JSON.stringify((await chat.begin(messages)).parts)).toContain('late__thing')
  })

  it('that was used for another history is refused', async () => {
    const kinds: string[] = []
    const well = createToolwell({ tools: mixed(), mode: 'on', onEvent: ({ kind }) => kinds.push(kind) })
    const chat = openaiChat(await well.open({ id: 'x' }))
    await chat.begin([{ role: 'user', content: 'one' }], { requestId: 'step-1' })
    const again = chat.begin([{ role: 'user', content: 'two' }], { requestId: 'step-1' })
    await expect(again).rejects.toMatchObject({ code: 'request-id-reused' })
    await expect(chat.begin([{ role: 'user', content: 'two' }], { requestId: '' })).rejects.toMatchObject({
      code: 'invalid-option',
    })
    // A caller's mistake is not a store that failed.
    expect(kinds).not.toContain('append-failed')
  })
})

describe('a sub-agent', () => {
  it('cannot take the ledger of its parent, or of anyone else', async () => {
    const store = memoryStore()
    const well = createToolwell({ tools: mixed(), mode: 'on', store })
    const parent = await well.open({ id: 'parent' })
    await openaiChat(parent).begin([{ role: 'user', content: 'go' }])
    const other = await well.open({ id: 'other' })
    await openaiChat(other).begin([{ role: 'user', content: 'go' }])
    for (const id of ['parent', 'other'])
      await expect(parent.child({ id })).rejects.toMatchObject({ code: 'invalid-ledger-id' })
  })

  it('that inherits everything there is has no loader', async () => {
    const host = await startHost({ tools: server('far', ['one', 'two']), mode: 'on' }, [
      search('select:one,two'),
      done,
      done,
    ])
    await host.ask('go')
    const child = host.with(await host.conversation.child({ id: 'child' }), [])
    await child.ask('go')
    expect(child.names().sort()).toEqual(['one', 'two'])
  })
})

describe('R4: the meta-tools', () => {
  it('appear as read-only to the policy, and execute() never runs them', async () => {
    const asked: { id: string; risk: string | undefined; readOnly: boolean | undefined }[] = []
    const ran: string[] = []
    const host = await startHost(
      {
        tools: mixed(),
        mode: 'on',
        policy: ({ id, tool: asking }) => {
          if (id.startsWith('toolwell/'))
            asked.push({ id, risk: asking.risk, readOnly: asking.annotations?.readOnlyHint })
          return true
        },
      },
      [search('select:tracker__create_issue'), done],
      { run: { execute: ({ name }) => ran.push(name) } },
    )
    await host.ask('go')
    expect(new Set(asked.map(({ id }) => id))).toEqual(
      new Set(['toolwell/tool_search', 'toolwell/tool_call']),
    )
    expect(asked.every(({ risk, readOnly }) => risk === 'read' && readOnly === true)).toBe(true)
    expect(ran).toEqual([])
  })
})

describe('prompts', () => {
  it('that throw are reported, and the default sentence is used', async () => {
    const host = await startHost(
      {
        tools: mixed(),
        mode: 'on',
        surface: {
          prompts: {
            section: () => {
              throw new Error('no')
            },
          },
        },
      },
      [done],
    )
    await host.ask('go')
    expect(host.events).toContainEqual(
      expect.objectContaining({ kind: 'hook-failed', hook: 'prompts.section' }),
    )
    expect(host.raw()).toContain('# More tools')
  })
})

describe('the tokenizer', () => {
  it('A2: uses the real tokenizer if installed, and otherwise an estimate', async () => {
    const real = await loadTokenizer()
    expect(real.name).toContain('o200k')
    expect(real.count('hello world')).toBe(2)
    expect(real.count('<|endoftext|>')).toBeGreaterThan(0)
    expect(estimate.count('abcdefgh')).toBe(2)
    expect(estimate.count('你好')).toBe(2)
  })
})

describe('a streamed reply', () => {
  async function* bytes(text: string, size: number) {
    const all = new TextEncoder().encode(text)
    for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
  }
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ delta, finish_reason }] })}\n\n`

  it.each([1, 3, 1000])('is read from pieces of %i bytes, within a character too', async (size) => {
    const text = [
      chunk({ role: 'assistant', content: 'Grü' }),
      chunk({ content: 'ße 你' }),
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: '{"x"' } }] }),
      chunk({ tool_calls: [{ index: 1, id: 'b', function: { name: 'two', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      chunk({}, 'tool_calls'),
      'data: {"choices":[],"usage":{"prompt_tokens":9}}\n\ndata: [DONE]',
    ].join('')
    const message = {
      role: 'assistant',
      content: 'Grüße 你',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'two', arguments: '' } },
      ],
    }
    expect(await assemble(readEvents(bytes(text, size)))).toEqual({
      reply: { message, finish_reason: 'tool_calls' },
      messages: [message],
      finish: 'tool_calls',
      usage: { inputTokens: 9, cachedTokens: undefined, outputTokens: undefined },
      rawUsage: { prompt_tokens: 9 },
      error: undefined,
      complete: true,
    })
  })

  it('that breaks off is incomplete, not an error', async () => {
    async function* broken() {
      yield new TextEncoder().encode(chunk({ content: 'half' }))
      throw new Error('socket hang up')
    }
    expect(await assemble(readEvents(broken()))).toMatchObject({
      complete: false,
      reply: { message: { content: 'half' } },
      error: { message: 'socket hang up' },
    })
    expect(await assemble(readEvents(bytes(chunk({ content: 'half' }), 5)))).toMatchObject({
      complete: false,
    })
  })
})

it('a large server leaves with about as much work as it came with', () => {
  const { catalogue } = createToolwell()
  const tools = Array.from({ length: 10_000 }, (_, index) => tool(`tool_${index}`))
  const sorted = vi.spyOn(Array.prototype, 'sort')
  onTestFinished(() => sorted.mockRestore())
  catalogue.setSource('large', { tools })
  catalogue.removeSource('large')
  expect(catalogue.size).toBe(0)
  // The list of changes is sorted when it is shortened. At every step that would be a hundred million members, and not tens of thousands.
  const members = sorted.mock.contexts.reduce<number>((sum, list) => sum + (list as unknown[]).length, 0)
  expect(members).toBeGreaterThan(0)
  expect(members).toBeLessThan(10 * tools.length)
})
