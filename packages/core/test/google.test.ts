import { createToolwell, memoryStore, type Tool, type ToolwellOptions } from '@toolwell/core'
import {
  assemble,
  type GoogleContent,
  type GoogleFunctionDeclaration,
  type GooglePart,
  google,
  importTools,
} from '@toolwell/core/google'
import { commonPrefix, type ScriptedCall, type ScriptedReply } from '@toolwell/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { findGoogleViolation } from '../../testing/src/google/rules.js'
import { mixed, server, tool } from './support/tools.js'
import type { Script } from './support/wire-harness.js'
import { type GoogleHost, startGoogleHost } from './support/wires/google.js'

type Setup = Parameters<typeof startGoogleHost>[2]

const find = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })
const search = (query: string): ScriptedReply => ({ calls: [find(query)] })
const direct = (name: string, value = 'x'): ScriptedReply => ({ calls: [{ name, arguments: { value } }] })
const bridged = (name: string, value = 'x'): ScriptedReply => ({
  calls: [{ name: 'tool_call', arguments: { name, arguments: { value } } }],
})
const done: ScriptedReply = { text: 'done' }
const said = (text: string): GoogleContent => ({ role: 'user', parts: [{ text }] })

const open = (script: Script, options: ToolwellOptions = {}, setup: Setup = {}) =>
  startGoogleHost({ tools: mixed(), mode: 'on', ...options }, script, setup)
const loaded = (host: GoogleHost) => host.conversation.inspect().loadedLazyTools
/** The contents of a request as one line each: `user: text`, `model: call name`, `user: answer name`. */
const lines = (host: GoogleHost, index = -1) =>
  host.body(index).contents.map(({ role, parts }) => {
    const shown = parts.map(({ text, functionCall, functionResponse }) => {
      if (functionCall) return `call ${functionCall.name}`
      if (functionResponse) return `answer ${functionResponse.name}`
      return text?.startsWith('<tool-update>') ? 'update' : text
    })
    return `${role}: ${shown.join(', ')}`
  })

/** A model without ids, as several Gemini models are. */
const withoutIds = (content: GoogleContent): GoogleContent => ({
  ...content,
  parts: (content.parts ?? []).map((part) => {
    if (!part.functionCall) return part
    const { id: _, ...functionCall } = part.functionCall
    return { ...part, functionCall }
  }),
})

describe('a request', () => {
  it("has the host's instruction and the section before the declarations, each with its whole schema", async () => {
    const host = await open([done], { delivery: 'bridge' }, { systemInstruction: 'Be brief.' })
    await host.ask('hi')
    const { systemInstruction, tools, contents, ...others } = host.body()
    expect(systemInstruction?.parts.map(({ text }) => text)).toEqual([
      'Be brief.',
      expect.stringContaining('# More tools'),
    ])
    expect(tools).toHaveLength(1)
    expect(tools?.[0]?.functionDeclarations?.[0]).toEqual({
      name: 'read_file',
      description: 'Does read file',
      parametersJsonSchema: mixed()[0]?.inputSchema,
    })
    expect(contents).toEqual([said('hi')])
    expect(others).toEqual({})
  })

  it("keeps the other parts and fields of the host's instruction", async () => {
    const systemInstruction = { role: 'system', parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] }
    const host = await open([done], {}, { systemInstruction })
    await host.ask('hi')
    expect(host.body().systemInstruction).toEqual({
      role: 'system',
      parts: [...systemInstruction.parts, { text: expect.stringContaining('# More tools') }],
    })
    expect(systemInstruction.parts).toHaveLength(2)
  })

  it('of a child that may use nothing has no tools', async () => {
    const host = await open([done], { delivery: 'append' })
    const child = host.with(await host.conversation.child({ id: 'child', allow: [] }))
    await child.ask('hi')
    expect(child.body()).toEqual({ contents: [said('hi')] })
  })
})

describe('off', () => {
  const declarations: readonly GoogleFunctionDeclaration[] = [
    {
      name: 'zebra',
      description: 'Z',
      parameters: {
        type: 'OBJECT',
        properties: {
          count: { type: 'INTEGER', nullable: true },
          tags: { type: 'ARRAY', items: { type: 'STRING' }, maxItems: '3' },
          kind: { anyOf: [{ type: 'STRING', enum: ['a'] }, { type: 'NUMBER' }], nullable: true },
        },
        required: ['tags'],
      },
    },
    { name: 'apple', parametersJsonSchema: { type: 'object' } },
    { name: 'bare' },
  ]

  it("sends the host's very contents, instruction and declarations", async () => {
    const tools = importTools(declarations)
    const adapter = google(await createToolwell({ tools, mode: 'off' }).open({ id: 'a' }))
    const contents = [said('hi'), { role: 'model', parts: [{ text: 'yes?' }] }, said('you')]
    const systemInstruction = { parts: [{ text: 'Be brief.' }] }
    const { parts } = await adapter.begin(contents, { requestId: 'r1', systemInstruction })
    expect(parts.contents).toBe(contents)
    expect(parts.systemInstruction).toBe(systemInstruction)
    expect(parts.tools?.[0]?.functionDeclarations).toBe(declarations)
    const { parts: bare } = await adapter.begin(contents, { requestId: 'r2', systemInstruction: '' })
    expect(Object.keys(bare)).toEqual(['contents', 'tools'])
  })

  it("reads Google's own schemas as JSON Schema, and writes them as such once deferral is on", async () => {
    const tools = importTools(declarations, ({ name }) => ({ defer: name === 'bare' }))
    expect(tools.map(({ inputSchema }) => inputSchema)).toEqual([
      {
        type: 'object',
        properties: {
          count: { type: ['integer', 'null'] },
          tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
          kind: {
            anyOf: [{ anyOf: [{ type: 'string', enum: ['a'] }, { type: 'number' }] }, { type: 'null' }],
          },
        },
        required: ['tags'],
      },
      { type: 'object' },
      { type: 'object', properties: {} },
    ])
    const host = await open([done], { tools })
    await host.ask('hi')
    expect(host.toolNames()).toEqual(['apple', 'zebra', 'tool_search', 'tool_call'])
    expect(host.toolsJson()).not.toContain('"parameters"')
  })

  it('runs calls by their own names and adds nothing', async () => {
    const host = await open([direct('read_file'), done], { mode: 'off' })
    await host.ask('hi')
    expect(host.body(0)).toEqual({ contents: [said('hi')], tools: expect.anything() })
    expect(host.requests.at(-1)?.raw).toContain('read_file ran with')
    expect(host.requests.map(({ raw }) => raw).join()).not.toMatch(/tool_search|More tools/)
  })

  it('omits a reply without parts, which no server accepts', async () => {
    const host = await open([{ calls: [{ name: 'read_file', arguments: '{"val' }] }, done], { mode: 'off' })
    await host.ask('one')
    expect(host.contents.at(-1)).toEqual({ role: 'model' })
    expect(await host.ask('two')).toBe('done')
    expect(lines(host)).toEqual(['user: one', 'user: two'])
  })
})

describe.each(['append', 'bridge'] as const)('over %s', (delivery) => {
  const use = delivery === 'append' ? direct : bridged
  const start = (script: Script, options: ToolwellOptions = {}, setup: Setup = {}) =>
    open(script, { delivery, ...options }, setup)

  it('finds, calls and answers: one content of responses for each reply, with the ids of its calls', async () => {
    const host = await start([search('create an issue'), use('tracker__create_issue'), done])
    expect(await host.ask('file it')).toBe('done')
    const called = delivery === 'append' ? 'tracker__create_issue' : 'tool_call'
    expect(lines(host)).toEqual([
      'user: file it',
      'model: call tool_search',
      expect.stringMatching(/^user: answer tool_search(, update)?$/),
      `model: call ${called}`,
      `user: answer ${called}`,
    ])
    expect(host.contents.at(-2)).toEqual({
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'function-call-2',
            name: called,
            response: { result: 'create_issue ran with {"value":"x"}' },
          },
        },
      ],
    })
    expect(host.toolNames().includes('tracker__create_issue')).toBe(delivery === 'append')
  })

  it('loads what is selected, and puts it back when it is unloaded', async () => {
    const host = await start([
      search('select:calendar__find_slot'),
      use('calendar__find_slot'),
      search('unload:calendar__find_slot'),
      done,
    ])
    await host.ask('go')
    expect(loaded(host)).toEqual([])
    expect(host.requests).toHaveLength(4)
    // The name stays declared, because the history contains a call of it.
    expect(host.toolNames().includes('calendar__find_slot')).toBe(delivery === 'append')
  })

  it.each(['calendar__find_slot', 'Calendar-FindSlot'])(
    'runs a direct call of a hidden tool: %s',
    async (name) => {
      const host = await start([direct(name), done])
      await host.ask('go')
      expect(loaded(host)).toEqual(['calendar__find_slot'])
      const [, model, answer] = host.body().contents
      const known = name === 'calendar__find_slot' && delivery === 'append'
      if (known) expect(model).toEqual(host.contents[1])
      else if (delivery === 'bridge')
        expect([model?.parts[0]?.functionCall, answer?.parts[0]?.functionResponse]).toMatchObject([
          { id: 'function-call-1', name: 'tool_call', args: { name, arguments: { value: 'x' } } },
          {
            id: 'function-call-1',
            name: 'tool_call',
            response: { result: 'find_slot ran with {"value":"x"}' },
          },
        ])
      else expect(lines(host)[1]).toBe('model: call calendar__find_slot')
    },
  )

  it('answers parallel calls in their order, in one content, notes behind them', async () => {
    const read = { name: 'read_file', arguments: { value: 'a' } }
    const host = await start([{ text: 'Both.', calls: [read, find('select:worktree'), read] }, done])
    await host.ask('go')
    expect(lines(host)).toEqual([
      'user: go',
      'model: Both., call read_file, call tool_search, call read_file',
      'user: answer read_file, answer tool_search, answer read_file, update',
    ])
    expect(host.contents[2]?.parts).toHaveLength(3)
  })

  it('tells of a late server, a removal and a change in a further part of the content that is last', async () => {
    const host = await start([search('select:tracker__create_issue'), done, done, done, done])
    await host.ask('one')
    const { catalogue } = host.well
    catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
    await host.ask('two')
    catalogue.setSource('tracker', {
      tools: server('tracker', ['create_issue'], { description: 'New words' }),
    })
    await host.ask('three')
    catalogue.removeSource('tracker')
    await host.ask('four')
    expect(lines(host).slice(-6)).toEqual([
      'model: done',
      'user: two, update',
      'model: done',
      'user: three, update',
      'model: done',
      'user: four, update',
    ])
    const text = (index: number) => host.body().contents.at(index)?.parts[1]?.text
    expect(text(-5)).toContain('mail__send_mail')
    expect(text(-3)).toContain('create_issue')
    expect(text(-1)).toContain('No longer available')
    expect(host.requests.at(2)?.raw.includes('New words')).toBe(false)
    expect(host.requests.at(3)?.raw).toContain('New words')
  })

  it('sends the same bytes on a retry, and resumes with them in another process', async () => {
    const store = memoryStore()
    const host = await start(
      [
        search('select:tracker__create_issue'),
        { status: 503, error: 'busy' },
        done,
        use('tracker__create_issue'),
        done,
      ],
      { store },
    )
    host.say('one')
    await host.step()
    await host.step('again')
    await host.step('again')
    expect(host.requests[2]?.raw).toBe(host.requests[1]?.raw)
    const resumed = await host.resume()
    expect(await resumed.ask('two')).toBe('done')
    expect(resumed.requests.at(-1)?.raw).toContain('create_issue ran with')
    expect(resumed.toolsJson()).toBe(host.toolsJson(2))
  })

  it('forks at a length, and the fork knows only the history before that length', async () => {
    const host = await start([search('select:create_issue'), done, search('select:find_slot'), done, done])
    await host.ask('one')
    const { length } = host
    await host.ask('two')
    const fork = await host.fork('fork', length)
    await fork.ask('other')
    expect(loaded(fork)).toEqual(['tracker__create_issue'])
    expect(loaded(host)).toHaveLength(2)
  })

  it.each([0, 3])('survives a compaction that keeps %i contents', async (keep) => {
    const host = await start([search('select:create_issue'), done, use('tracker__create_issue'), done])
    await host.ask('one')
    await host.compact('We talked.', keep)
    expect(await host.ask('two')).toBe('done')
    expect(host.requests.at(-1)?.raw).toContain('create_issue ran with')
    expect(host.requests.at(-1)?.raw).toContain('The value for create_issue')
  })

  it('gives a sub-agent its own history and ledger', async () => {
    const host = await start([search('select:create_issue'), done, use('tracker__close_issue'), done])
    await host.ask('one')
    const child = host.with(await host.conversation.child({ id: 'child', allow: ['tracker/*'] }))
    await child.ask('two')
    expect(loaded(child)).toEqual(['tracker__create_issue', 'tracker__close_issue'])
    expect(loaded(host)).toEqual(['tracker__create_issue'])
    expect(child.requests.at(-1)?.raw).not.toContain('find_slot')
  })

  it('sends everything where the loader is denied, half-way too', async () => {
    let allowed = true
    const host = await start([search('select:create_issue'), use('tracker__create_issue'), done, done], {
      policy: ({ id }) => allowed || id !== 'toolwell/tool_search',
    })
    await host.ask('one')
    allowed = false
    await host.ask('two')
    expect(host.toolNames()).toHaveLength(mixed().length)
    expect(host.body().systemInstruction).toBeUndefined()
    expect(host.requests.at(-1)?.raw).toContain('create_issue ran with')
  })

  it('answers an interrupted call, with its id, and tells what answers nothing', async () => {
    const host = await start([done])
    const call = (id: string) => ({ functionCall: { id, name: 'read_file', args: {} } })
    const answer = (id: string) => ({
      functionResponse: { id, name: 'read_file', response: { result: `answer ${id}` } },
    })
    host.contents.push(
      said('one'),
      { role: 'model', parts: [call('a'), call('b'), call('c')] },
      { role: 'user', parts: [answer('b'), { text: 'wait' }] },
      { role: 'user', parts: [answer('z')] },
      { role: 'user', parts: [{ text: 'and' }, answer('a')] },
    )
    await host.ask('go on')
    expect(host.body().contents.slice(2)).toEqual([
      {
        role: 'user',
        parts: [
          answer('a'),
          answer('b'),
          {
            functionResponse: {
              id: 'c',
              name: 'read_file',
              response: { result: 'This call was interrupted; it is unknown whether it ran.' },
            },
          },
        ],
      },
      { role: 'user', parts: [{ text: 'wait' }] },
      { role: 'user', parts: [{ text: expect.stringContaining('answer z') }] },
      { role: 'user', parts: [{ text: 'and' }] },
      said('go on'),
    ])
    expect(host.warnings).toHaveLength(5)
  })

  it('rebuilds from a history what it says was loaded', async () => {
    const host = await start([search('select:create_issue'), use('tracker__create_issue'), done, done])
    await host.ask('one')
    const other = await createToolwell({ tools: mixed(), mode: 'on', delivery }).open({ id: 'other' })
    const report = await google(other).importHistory(host.contents)
    expect(report.recovered).toEqual(['tracker/create_issue'])
    await host.with(other, host.contents).ask('two')
    expect(host.toolNames()).toEqual(host.toolNames(1))
  })

  it('keeps the prefix in the order of this wire: instruction, declarations, contents', async () => {
    const host = await start(
      [
        search('create an issue'),
        use('tracker__create_issue'),
        direct('tracker__close_issue'),
        search('select:worktree'),
        use('no_such_tool'),
        done,
        search('unload:tracker__create_issue'),
        done,
        done,
      ],
      {},
      { systemInstruction: 'Be brief.' },
    )
    await host.ask('one')
    host.well.catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
    await host.ask('two')
    host.well.catalogue.removeSource('calendar')
    await host.ask('three')
    expect(host.requests).toHaveLength(9)
    let grown = 0
    for (let index = 1; index < host.requests.length; index++) {
      const [before, now] = [host.body(index - 1), host.body(index)]
      expect(JSON.stringify(now.systemInstruction)).toBe(JSON.stringify(before.systemInstruction))
      const settled = before.contents.slice(0, -1)
      if (delivery === 'bridge') {
        expect(host.toolsJson(index)).toBe(host.toolsJson(0))
        expect(JSON.stringify(now.contents.slice(0, settled.length))).toBe(JSON.stringify(settled))
        // What was last may have got parts at its end.
        const parts = before.contents.at(-1)?.parts ?? []
        expect(now.contents[settled.length]?.parts.slice(0, parts.length)).toEqual(parts)
      } else if (host.toolsJson(index) !== host.toolsJson(index - 1)) grown++
      if (delivery === 'bridge') continue
      const instruction = JSON.stringify(before.systemInstruction).length
      const same = commonPrefix(host.rendered(index - 1), host.rendered(index))
      expect(same).toBeGreaterThanOrEqual(
        instruction + '[{"functionDeclarations":'.length + host.toolsJson(index - 1).length - 1,
      )
    }
    expect(grown).toBe(delivery === 'append' ? 3 : 0)
  })
})

describe('a mask', () => {
  it('lets the model call everything but what is unloaded or gone, and the declarations stay', async () => {
    const host = await open(
      [
        search('select:tracker__create_issue,calendar__find_slot'),
        search('unload:calendar__find_slot'),
        done,
        done,
      ],
      { delivery: 'append' },
    )
    await host.ask('one')
    const allowed = (index: number) =>
      host.body(index).toolConfig?.functionCallingConfig as { mode: string; allowedFunctionNames: string[] }
    expect(allowed(1)).toBeUndefined()
    expect(allowed(2)).toEqual({
      mode: 'VALIDATED',
      allowedFunctionNames: ['read_file', 'write_file', 'tool_search', 'tracker__create_issue'],
    })
    host.well.catalogue.setState('tracker', 'disabled')
    await host.ask('two')
    expect(allowed(3)?.allowedFunctionNames).toEqual(['read_file', 'write_file', 'tool_search'])
    expect(host.toolsJson(3)).toBe(host.toolsJson(1))
  })
})

describe('calls without ids', () => {
  const read = (value: string) => ({ name: 'read_file', arguments: { value } })

  it.each(['append', 'bridge'] as const)(
    'are answered without ids, by name and order (%s)',
    async (delivery) => {
      const host = await open(
        [
          { calls: [read('a'), read('b')] },
          { calls: [read('c'), find('select:find_slot')] },
          direct('calendar__create_event'),
          search('select:create_issue'),
          done,
          done,
        ],
        { delivery },
        { reply: withoutIds },
      )
      await host.ask('go')
      expect(JSON.stringify(host.contents)).not.toContain('"id"')
      const texts = host.contents[2]?.parts?.map((part) => part.functionResponse?.response?.result)
      expect(texts).toEqual(['read_file ran with {"value":"a"}', 'read_file ran with {"value":"b"}'])
      expect(loaded(host)).toEqual(['calendar__find_slot', 'calendar__create_event', 'tracker__create_issue'])

      const fork = await host.fork('fork', 5)
      expect(loaded(fork)).toEqual(['calendar__find_slot'])
      const other = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'other' })
      expect((await google(other).importHistory(host.contents)).recovered).toEqual([
        'calendar/find_slot',
        'tracker/create_issue',
      ])
    },
  )

  it('are known again after a compaction by their place from the end', async () => {
    const host = await open(
      [search('select:find_slot'), search('select:create_issue'), done, done],
      { delivery: 'bridge' },
      { reply: withoutIds },
    )
    await host.ask('one')
    await host.compact('We looked for a slot.', 3)
    await host.ask('two')
    const shown = (name: string) => host.requests.at(-1)?.raw.split(`The value for ${name}`).length
    // The answer that was kept has the one schema; the other is shown again.
    expect([shown('create_issue'), shown('find_slot')]).toEqual([2, 2])
  })

  it('accept responses with unknown ids, and calls with ids accept responses without', async () => {
    const host = await open([done], { delivery: 'bridge' })
    const call = (id?: string) => ({ functionCall: { ...(id && { id }), name: 'read_file', args: {} } })
    const answer = (output: string, id?: string) => ({
      functionResponse: { ...(id && { id }), name: 'read_file', response: { output } },
    })
    host.contents.push(
      said('one'),
      { role: 'model', parts: [call(), call('x')] },
      { role: 'user', parts: [answer('first', 'mine'), answer('second')] },
    )
    await host.ask('go')
    expect(host.body().contents[2]?.parts).toEqual([answer('first'), answer('second', 'x')])
    expect(host.warnings).toEqual([])
  })
})

describe('what only this wire has', () => {
  it.each(['append', 'bridge'] as const)(
    'comes back: required signatures, also from repaired contents (%s)',
    async (delivery) => {
      const host = await open(
        [
          { calls: [find('select:create_issue'), { name: 'read_file', arguments: {} }] },
          {
            calls: [
              { name: 'no_such_tool', arguments: {} },
              { name: 'read_file', arguments: {} },
            ],
          },
          direct('calendar__find_slot'),
          done,
        ],
        { delivery },
        { endpoint: { thoughtSignatures: true } },
      )
      expect(await host.ask('go')).toBe('done')
      const signatures = host
        .body()
        .contents.flatMap(({ parts }) => parts.flatMap((part) => part.thoughtSignature ?? []))
      expect(signatures).toHaveLength(3)
    },
  )

  it('comes back: thoughts, code and media, as the same objects', async () => {
    const thinking: GooglePart[] = [
      { text: 'Hm.', thought: true },
      { text: 'Look.', thoughtSignature: 'c2lnbmVk' },
      { inlineData: { mimeType: 'image/png', data: 'AA==' } },
      { executableCode: { language: 'PYTHON', code: '1' } },
    ]
    const wire = google(await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' }))
    const contents = [
      said('one'),
      { role: 'model', parts: thinking },
      said('two'),
      said('three'),
      { role: 'model', parts: [{ functionCall: { name: 'read_file', args: {} } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'read_file', response: { a: 1 } } }, { text: 'ok' }],
      },
    ]
    const { parts } = await wire.begin(contents, { requestId: 'r1' })
    expect(parts.contents).toHaveLength(contents.length)
    for (const [index, content] of parts.contents.entries()) expect(content).toBe(contents[index])
    expect(findGoogleViolation({ ...parts })).toBeUndefined()
  })

  it('keeps the other parts of a model content whose call had to be repaired', async () => {
    const host = await open([done], { delivery: 'append' })
    const thought = { text: 'Hm.', thought: true }
    const gone = { functionCall: { id: 'a', name: 'gone', args: { q: 1 } }, thoughtSignature: 'c2lnbmVk' }
    host.contents.push(
      said('one'),
      { role: 'model', parts: [thought, { text: 'Wait.' }, gone] },
      { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'gone', response: { b: [2] } } }] },
    )
    await host.ask('two')
    expect(host.body().contents.slice(1, 3)).toEqual([
      {
        role: 'model',
        parts: [
          thought,
          { text: 'Wait.' },
          {
            ...gone,
            functionCall: {
              id: 'a',
              name: 'tool_search',
              args: { query: 'not a search: a call of gone with {"q":1}' },
            },
          },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'a',
              name: 'tool_search',
              response: { result: expect.stringContaining('answered:\n> {"b":[2]}') },
            },
          },
        ],
      },
    ])
  })

  it('says that a tool failed in the field for errors, and everything else in that for results', async () => {
    const broken = tool('broken', {
      execute: () => {
        throw new Error('no disk')
      },
    })
    const host = await open([direct('broken'), direct('make_coffee'), done], { tools: [broken, ...mixed()] })
    await host.ask('go')
    const responses = host.contents.flatMap(({ parts = [] }) =>
      parts.flatMap((part) => part.functionResponse?.response ?? []),
    )
    expect(responses).toEqual([
      { error: expect.stringContaining('no disk') },
      { result: expect.stringContaining('Found no tool named "make_coffee"') },
    ])
  })

  it('accepts a whole response as the reply, also without calls', async () => {
    const wire = google(await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' }))
    const turn = await wire.begin([said('hi')], { requestId: 'r1' })
    const none = { messages: [], answers: [], providerCalls: [] }
    expect(await turn.run({})).toEqual(none)
    expect(await turn.run({ candidates: [] })).toEqual(none)
    expect(await turn.run({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] })).toEqual(none)
    expect(await turn.run({ candidates: [{ content: { role: 'model' } }] })).toEqual(none)
    const content = { role: 'model', parts: [{ functionCall: { name: 'read_file' } }] }
    const { messages } = await turn.run({ candidates: [{ content }] })
    expect(messages).toEqual([
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'read_file', response: { result: 'read_file ran with {}' } } }],
      },
    ])
  })

  it('continues after a malformed call', async () => {
    const host = await open([{ calls: [{ name: 'tool_call', arguments: '{"name":' }] }, search('slot'), done])
    await host.ask('one')
    expect(await host.ask('two')).toBe('done')
    expect(lines(host).slice(0, 3)).toEqual(['user: one', 'user: two', 'model: call tool_search'])
  })
})

describe('any history', () => {
  const names = ['read_file', 'tracker__create_issue', 'tool_search', 'gone']
  const id = fc.constantFrom('a', 'b', 'c')
  const named: fc.Arbitrary<{ id?: string; name: string }> = fc.oneof(
    fc.record({ name: fc.constantFrom(...names) }),
    fc.record({ id, name: fc.constantFrom(...names) }),
  )
  const text = fc.record({ text: fc.constantFrom('', 'hm', 'so') })
  const call = named.map((functionCall) => ({ functionCall: { ...functionCall, args: { value: 'x' } } }))
  const answer = named.map((response) => ({ functionResponse: { ...response, response: { result: 'r' } } }))
  const content = (role: string, part: fc.Arbitrary<GooglePart>): fc.Arbitrary<GoogleContent> =>
    fc.record({ role: fc.constant(role), parts: fc.array(part, { maxLength: 4 }) })
  /** A server gives no id twice in one reply. */
  const distinct = ({ parts = [] }: GoogleContent) => {
    const ids = parts.flatMap((part) => part.functionCall?.id ?? [])
    return new Set(ids).size === ids.length
  }
  const history = fc.array(
    fc.oneof(
      content('user', fc.oneof(text, answer)),
      content('model', fc.oneof(text, call)).filter(distinct),
    ),
    { maxLength: 10 },
  )

  it.each(['append', 'bridge', 'eager'] as const)(
    'is written as a strict server takes it (%s)',
    async (delivery) => {
      const well = createToolwell({ tools: mixed(), mode: 'on', delivery })
      let count = 0
      await fc.assert(
        fc.asyncProperty(history, async (middle) => {
          const wire = google(await well.open({ id: `thread-${++count}` }))
          const contents = [said('start'), ...middle, said('end')]
          const first = await wire.begin(contents, { requestId: 'r1' })
          expect(findGoogleViolation({ ...first.parts })).toBeUndefined()
          const again = await wire.begin(structuredClone(contents), { requestId: 'r1' })
          expect(JSON.stringify(again.parts)).toBe(JSON.stringify(first.parts))
        }),
        { numRuns: runs(100) },
      )
    },
  )
})

describe('a stream', () => {
  async function* chunks(...given: unknown[]) {
    for (const chunk of given) {
      if (chunk instanceof Error) throw chunk
      yield chunk
    }
  }
  const chunk = (parts: readonly GooglePart[], more: object = {}) => ({
    candidates: [{ content: { role: 'model', parts }, ...more }],
  })

  it('is a reply like any other', async () => {
    const script: Script = [
      { text: 'Let me look for that.', calls: [find('select:create_issue'), find('select:find_slot')] },
      bridged('tracker__create_issue'),
      done,
    ]
    const setup = { endpoint: { thoughtSignatures: true } }
    const [streamed, whole] = await Promise.all([
      open(script, {}, { ...setup, stream: true }),
      open(script, {}, setup),
    ])
    await Promise.all([streamed.ask('go'), whole.ask('go')])
    expect(streamed.contents).toEqual(whole.contents)
  })

  it('joins text and thoughts, and keeps what is signed apart', async () => {
    const signed = { text: '', thoughtSignature: 'c2ln' }
    const call = { functionCall: { name: 'read_file', args: {} }, thoughtSignature: 'c2lo' }
    const reply = await assemble(
      chunks(
        chunk([{ text: 'H', thought: true }]),
        chunk([{ text: 'm.', thought: true }, { text: 'A' }]),
        { candidates: [{ index: 1, content: { parts: [{ text: 'another candidate' }] } }] },
        chunk([{ text: 'nswer' }, signed, { text: '!' }]),
        chunk([call, call]),
        {
          ...chunk([{ text: '' }], { finishReason: 'STOP' }),
          usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, thoughtsTokenCount: 2 },
        },
      ),
    )
    const content = {
      role: 'model',
      parts: [{ text: 'Hm.', thought: true }, { text: 'Answer' }, signed, { text: '!' }, call, call],
    }
    expect(reply).toEqual({
      reply: content,
      messages: [content],
      finish: 'STOP',
      usage: { inputTokens: 7, cachedTokens: 0, outputTokens: 5 },
      rawUsage: { promptTokenCount: 7, candidatesTokenCount: 3, thoughtsTokenCount: 2 },
      error: undefined,
      complete: true,
    })
  })

  it.each([
    ['ends early', []],
    ['fails', [new Error('reset')]],
    ['brings an error', [{ error: { code: 503, message: 'busy' } }]],
    ['fails after its end', [chunk([], { finishReason: 'STOP' }), new Error('reset')]],
    [
      'is no stream of this API',
      [null, 7, 'x', {}, { candidates: [null] }, { candidates: [{ content: 3 }] }],
    ],
  ])('is incomplete where it %s', async (_, rest) => {
    const reply = await assemble(chunks(chunk([{ text: 'Hel' }]), ...rest))
    expect(reply).toMatchObject({ complete: false, reply: { parts: [{ text: 'Hel' }] } })
  })

  it('is complete where the prompt was blocked, or the call malformed', async () => {
    expect(await assemble(chunks({ promptFeedback: { blockReason: 'SAFETY' } }))).toMatchObject({
      complete: true,
      finish: 'SAFETY',
      messages: [],
    })
    const malformed = {
      candidates: [{ content: { role: 'model' }, finishReason: 'MALFORMED_FUNCTION_CALL' }],
    }
    expect(await assemble(chunks(malformed))).toMatchObject({ complete: true, messages: [] })
  })

  it('that is cut is asked for again with the same bytes', async () => {
    const host = await open([{ cutAfter: 9, text: 'A long answer.' }, done], {}, { stream: true })
    host.say('go')
    await host.step('one')
    expect(host.length).toBe(1)
    await host.step('one')
    expect(host.requests[1]?.raw).toBe(host.requests[0]?.raw)
    expect(host.contents.at(-1)?.parts).toEqual([{ text: 'done' }])
  })
})

it('runs the target through the hook of the host, never the wrapper', async () => {
  const seen: string[] = []
  const tools: Tool[] = mixed()
  const host = await startGoogleHost(
    { tools, mode: 'on', delivery: 'bridge' },
    [search('select:find_slot'), bridged('calendar__find_slot'), done],
    { run: { execute: ({ name }) => seen.push(name) } },
  )
  await host.ask('go')
  expect(seen).toEqual(['find_slot'])
})
