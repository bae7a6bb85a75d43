import { createToolwell, defaultPrompts, type ToolwellOptions } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import {
  assemble,
  importTools,
  openaiResponses,
  type ResponsesFunctionTool,
  type ResponsesItem,
  readEvents,
} from '@toolwell/core/openai-responses'
import { commonPrefix, type ScriptedCall, type ScriptedReply } from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { responsesProtocol } from '../../testing/src/openai-responses/protocol.js'
import { startScriptedEndpoint } from '../../testing/src/scripted-endpoint.js'
import { mixed, server, tool } from './support/tools.js'
import { type ResponsesHost, startResponsesHost } from './support/wires/openai-responses.js'

type Setup = Parameters<typeof startResponsesHost>[2]

const call = (name: string, input: unknown = { value: 'x' }): ScriptedCall => ({ name, arguments: input })
const search = (query: string): ScriptedCall => call('tool_search', { query })
const bridged = (name: string): ScriptedCall => call('tool_call', { name, arguments: { value: 'x' } })
const calls = (...list: ScriptedCall[]): ScriptedReply => ({ calls: list })
const answers = Array.from({ length: 20 }, (_, index): ScriptedReply => ({ text: `Answer ${index}.` }))

const open = (
  delivery: 'append' | 'bridge',
  script: readonly ScriptedReply[],
  options: ToolwellOptions = {},
  setup: Setup = {},
) => startResponsesHost({ tools: mixed(), mode: 'on', delivery, ...options }, [...script, ...answers], setup)

/** The input of a request in short: type or role, and what is called. */
const outline = (host: ResponsesHost, index?: number) =>
  host.input(index).map(({ type = 'message', role, name, call_id: id }) => {
    if (type === 'message') return String(role)
    return type === 'function_call' ? `${id} ${name}` : type === 'function_call_output' ? `${id} =` : type
  })
/** Updates about tools: after the user's words, or at the end of a result. */
const updates = (host: ResponsesHost, index?: number) =>
  host.input(index).flatMap((item, at) => {
    const text = String(item.content ?? item.output ?? '')
    const start = text.indexOf('<tool-update>')
    return start < 0 ? [] : [`${at}: ${text.slice(start)}`]
  })
const outputs = (host: ResponsesHost) =>
  host.items.filter((item) => item.type === 'function_call_output').map((item) => String(item.output))
const count = (text: string, part: string) => text.split(part).length - 1

/** Reasoning in front of every reply, as a reasoning model sends it to a client that keeps the state. */
const withReasoning: NonNullable<Setup> = {
  reply: (output, index) => [reasoning(`rs_${index}`), ...output],
}
function reasoning(id: string, sealed: string | null = `sealed ${id}`): ResponsesItem {
  return { id, type: 'reasoning', summary: [], encrypted_content: sealed } as ResponsesItem
}

/** Every request extends the one before it: only the end of its last item may have grown. */
function expectGrowing(host: ResponsesHost, from = 0, to = host.requests.length) {
  for (let index = from + 1; index < to; index++) {
    const where = `request ${index} after request ${index - 1}`
    expect(host.toolsJson(index), where).toBe(host.toolsJson(index - 1))
    expect(host.body(index).instructions, where).toBe(host.body(index - 1).instructions)
    const before = host.input(index - 1)
    const settled = JSON.stringify(before.slice(0, -1)).slice(0, -1)
    expect(JSON.stringify(host.input(index)).startsWith(settled), where).toBe(true)
    const last = before.at(-1)
    const grown = host.input(index)[before.length - 1]
    if (last?.role !== 'developer') expect(grown, where).toEqual(last)
    else expect(String(grown?.content).startsWith(String(last.content)), where).toBe(true)
  }
}

describe('off', () => {
  const wire: ResponsesFunctionTool[] = [
    {
      type: 'function',
      name: 'read',
      description: 'Reads',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      strict: true,
    },
  ]

  it("sends the host's very arrays and its instructions, and nothing else", async () => {
    const tools = importTools(wire, () => ({ execute: () => 'text' }))
    const conversation = await createToolwell({ tools, mode: 'off' }).open({ id: 'a' })
    const items: ResponsesItem[] = [{ role: 'user', content: 'hello' }]
    const responses = openaiResponses(conversation)
    const turn = await responses.begin(items, { requestId: 'r1', instructions: 'Be brief.' })
    expect(turn.parts.input).toBe(items)
    expect(turn.parts.tools).toBe(wire)
    expect(turn.parts.instructions).toBe('Be brief.')
    expect(Object.keys(turn.parts)).toEqual(['input', 'tools', 'instructions'])
    const output = [
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c1',
        name: 'read',
        arguments: '{}',
        status: 'completed',
      },
    ]
    expect((await turn.run({ output })).messages).toEqual([
      { type: 'function_call_output', call_id: 'c1', output: 'text' },
    ])
    expect(turn.warnings).toEqual([])
  })

  it('has neither tools nor instructions if the host has none', async () => {
    const conversation = await createToolwell({ mode: 'off' }).open({ id: 'a' })
    const turn = await openaiResponses(conversation).begin([{ role: 'user', content: 'x' }], {
      requestId: 'r',
    })
    expect(Object.keys(turn.parts)).toEqual(['input'])
    expect(await turn.run({ output: [] })).toEqual({ messages: [], answers: [], providerCalls: [] })
  })

  it('says strict: false for tools that were not written for this wire', async () => {
    const host = await startResponsesHost({ tools: [tool('read')], mode: 'off' }, [{ text: 'ok' }])
    expect(await host.ask('hello')).toBe('ok')
    expect(host.body().tools).toEqual([
      {
        type: 'function',
        name: 'read',
        description: 'Does read',
        parameters: tool('read').inputSchema,
        strict: false,
      },
    ])
  })
})

describe('a search, a call and an answer', () => {
  it('go over the bridge without a change of the tools', async () => {
    const host = await open(
      'bridge',
      [calls(search('create an issue')), calls(bridged('tracker__create_issue'))],
      {},
      { instructions: 'Be careful.' },
    )
    expect(await host.ask('File it.')).toBe('Answer 0.')
    expect(host.toolNames()).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
    expect(outputs(host)[1]).toBe('create_issue ran with {"value":"x"}')
    expect(host.body().instructions).toMatch(/^Be careful\.\n\n\S/)
    expect(outline(host)).toEqual(['user', 'call_1 tool_search', 'call_1 =', 'call_2 tool_call', 'call_2 ='])
    // The very items of the model, ids included.
    expect(host.input()[3]).toEqual(host.items[3])
    expect(host.input()[3]?.id).toBe('fc_2_1')
  })

  it('declare the tool at the end of the array over append', async () => {
    const host = await open('append', [
      calls(search('select:tracker__create_issue')),
      calls(call('tracker__create_issue')),
    ])
    await host.ask('File it.')
    expect(host.toolNames(0)).toEqual(['read_file', 'write_file', 'tool_search'])
    expect(host.toolNames(1)).toEqual(['read_file', 'write_file', 'tool_search', 'tracker__create_issue'])
    expect(host.body().tools?.every((each) => each.strict === false)).toBe(true)
    expect(outputs(host)[1]).toBe('create_issue ran with {"value":"x"}')
  })

  it('work without host instructions: the section is the only text', async () => {
    const host = await open('append', [])
    await host.ask('hello')
    expect(host.body().instructions).toContain('tool_search')
    expect(outline(host)).toEqual(['user'])
  })
})

describe('calls', () => {
  it.each(['append', 'bridge'] as const)(
    'of a hidden tool by its name, also in the wrong case, run, and the history stays legal (%s)',
    async (delivery) => {
      const host = await open(delivery, [calls(call('tracker__create_issue')), calls(call('closeIssue'))])
      await host.ask('go')
      expect(outputs(host)).toEqual([
        'create_issue ran with {"value":"x"}',
        'close_issue ran with {"value":"x"}',
      ])
      // A call of an undeclared tool goes through the bridge, or becomes text.
      const [one, two] = host.input().filter((item) => item.type === 'function_call')
      if (delivery === 'append') {
        expect(one?.id).toBe('fc_1_1')
        // A name that was spelt otherwise is written as the request has it.
        expect(two).toMatchObject({ call_id: 'call_2', name: 'tracker__close_issue' })
      } else {
        expect(one).toEqual({
          type: 'function_call',
          call_id: 'call_1',
          name: 'tool_call',
          arguments: '{"name":"tracker__create_issue","arguments":{"value":"x"}}',
        })
        expect(two).toMatchObject({ name: 'tool_call', call_id: 'call_2' })
      }
    },
  )

  it.each(['append', 'bridge'] as const)(
    'in a batch with a search are answered in order (%s)',
    async (delivery) => {
      const host = await open(delivery, [
        calls(call('read_file'), search('select:worktree'), call('calendar__find_slot')),
      ])
      await host.ask('go')
      expect(
        host.items.filter((item) => item.type === 'function_call_output').map((item) => item.call_id),
      ).toEqual(['call_1', 'call_2', 'call_3'])
      // One reply, then all its answers, the last of them with the rules of use of what the search brought.
      expect(outline(host).slice(4)).toEqual(['call_1 =', 'call_2 =', 'call_3 ='])
      expect(updates(host)).toEqual([
        expect.stringMatching(/^6: <tool-update>\n[\s\S]*not git worktree in a shell/),
      ])
    },
  )

  it('of a missing tool or with broken arguments are answered, and cut-off arguments are sent as an object', async () => {
    const host = await open('bridge', [calls(call('no_such_tool')), calls(call('read_file', '{"value":'))])
    await host.ask('go')
    expect(outputs(host)[0]).toContain('Found no tool named "no_such_tool"')
    expect(outputs(host)[1]).toContain('are not a JSON object')
    expect(host.input().at(-2)?.arguments).toBe('{"unparsable":"{\\"value\\":"}')
  })

  it('that were cut off before their first argument do not run', async () => {
    const ran: unknown[] = []
    const host = await open(
      'bridge',
      [{ ...calls(call('read_file', '')), finish: 'max_output_tokens' } as ScriptedReply],
      {},
      { run: { execute: ({ name }) => ran.push(name) } },
    )
    await host.ask('go')
    expect(ran).toEqual([])
    expect(outputs(host)[0]).toContain('the reply was cut off')
  })

  describe.each(['on', 'off'] as const)('in a namespace (%s)', (mode) => {
    const read = {
      type: 'function',
      name: 'read_file',
      parameters: { type: 'object', properties: {} },
      strict: false,
    }
    const files = { type: 'namespace', name: 'files', description: 'Files', tools: [read] }
    const offer: ResponsesItem = { type: 'additional_tools', role: 'developer', tools: [files] }
    const user: ResponsesItem = { role: 'user', content: 'x' }
    const used: ResponsesItem[] = [
      { type: 'function_call', call_id: 'c', name: 'read_file', namespace: 'files', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'text' },
    ]
    const begin = async (items: readonly ResponsesItem[]) => {
      const conversation = await createToolwell({ tools: mixed(), mode }).open({ id: 'a' })
      const turn = await openaiResponses(conversation).begin(items, { requestId: 'r' })
      expect(responsesProtocol().violationOf({ model: 'm', ...turn.parts })).toBeUndefined()
      return turn
    }

    it('keep it while an item offers it', async () => {
      const items = [user, offer, ...used]
      const { parts, warnings } = await begin(items)
      expect(parts.input[2]).toBe(items[2])
      expect(warnings).toEqual([])
    })

    it('get another if the same one is offered twice, which servers refuse', async () => {
      const late: ResponsesItem = {
        type: 'tool_search_output',
        execution: 'client',
        call_id: 's',
        tools: [{ ...files, tools: [{ ...read, name: 'move_file', defer_loading: true }] }],
      }
      const asked: ResponsesItem = {
        type: 'tool_search_call',
        execution: 'client',
        call_id: 's',
        arguments: {},
      }
      const moved = used.map((item) => ({
        ...item,
        call_id: 'm',
        ...(item.type === 'function_call' ? { name: 'move_file' } : {}),
      }))
      const search = {
        type: 'tool_search',
        execution: 'client',
        description: 'x',
        parameters: { type: 'object', properties: {} },
      }
      const conversation = await createToolwell({ tools: mixed(), mode }).open({ id: 'a' })
      const { parts } = await openaiResponses(conversation).begin(
        [user, offer, ...used, asked, late, ...moved, user],
        {
          requestId: 'r',
        },
      )
      const tools = [...(parts.tools ?? []), ...(mode === 'off' ? [search] : [])]
      expect(responsesProtocol().violationOf({ model: 'm', ...parts, tools } as never)).toBeUndefined()
    })

    it('lose it where nothing offers it and the function is declared by itself', async () => {
      const { parts, warnings } = await begin([user, ...used, user])
      expect(parts.input[1]).toEqual({
        type: 'function_call',
        call_id: 'c',
        name: 'read_file',
        arguments: '{}',
      })
      expect(warnings).toEqual([expect.objectContaining({ text: expect.stringContaining('"files"') })])
    })
  })
})

describe('what changes between requests', () => {
  it.each(['append', 'bridge'] as const)(
    'an unload is announced once, and keeps calls legal (%s)',
    async (delivery) => {
      const target = 'tracker__create_issue'
      const host = await open(delivery, [
        calls(search(`select:${target}`)),
        calls(delivery === 'append' ? call(target) : bridged(target)),
        calls(search(`unload:${target}`)),
      ])
      await host.ask('go')
      expect(host.conversation.inspect().loadedLazyTools).toEqual([])
      await host.ask('more')
      if (delivery === 'append')
        expect(host.body().tools?.at(-1)).toMatchObject({
          name: target,
          parameters: { type: 'object', properties: {} },
        })
    },
  )

  it.each(['append', 'bridge'] as const)(
    'announces a late server, its removal and a changed definition, each once and in its place (%s)',
    async (delivery) => {
      const host = await open(delivery, [calls(search('select:tracker__create_issue'))])
      const { catalogue } = host.well
      await host.ask('one')
      catalogue.setSource('mail', { tools: [tool('send_mail')] })
      await host.ask('two')
      catalogue.removeSource('calendar')
      await host.ask('three')
      catalogue.setSource('tracker', { tools: [tool('create_issue', { description: 'Brand new words' })] })
      await host.ask('four')
      await host.ask('five')
      const told = updates(host)
      for (const [part, text] of [
        ['mail__send_mail', 'two'],
        ['No longer available: every tool of "calendar"', 'three'],
        ['Changed by its owner: tracker__create_issue', 'four'],
      ] as const) {
        const [found, ...more] = told.filter((each) => each.includes(part))
        expect(more, part).toEqual([])
        expect(host.input()[Number.parseInt(found ?? '', 10) - 1]?.content, part).toBe(text)
      }
      expect(host.toolsJson()).not.toContain('Brand new words')
      expect(host.warnings).toEqual([])
    },
  )

  it('a loader denied at opening leaves everything eager', async () => {
    const host = await open('bridge', [calls(call('tracker__create_issue'))], {
      policy: ({ id }) => id !== 'toolwell/tool_search',
    })
    await host.ask('go')
    expect(host.toolNames()).toHaveLength(mixed().length)
    expect(host.body().instructions).toBeUndefined()
    expect(host.requests.at(-1)?.raw).not.toContain('tool_search')
  })

  it.each(['append', 'bridge'] as const)(
    'a loader denied later leaves the history legal: old searches become text, other reasoning stays (%s)',
    async (delivery) => {
      const denied = new Set<string>()
      const target = 'tracker__create_issue'
      const host = await open(
        delivery,
        [
          calls(search(`select:${target}`), search('find a slot')),
          calls(delivery === 'append' ? call(target) : bridged(target)),
        ],
        { policy: ({ id }) => !denied.has(id) },
        withReasoning,
      )
      await host.ask('go')
      denied.add('toolwell/tool_search')
      await host.ask('on')
      expect(outline(host)).toEqual([
        'user',
        'user',
        'user',
        'reasoning',
        `call_3 ${target}`,
        'call_3 =',
        'reasoning',
        'assistant',
        'user',
      ])
      expect(host.input()[1]?.content).toContain('"tool_search"')
      expect(host.requests.every((request) => request.status === 200)).toBe(true)
    },
  )
})

describe('a history', () => {
  it('gives the same bytes for a retry, in this process and in another', async () => {
    const host = await open('append', [
      calls(search('select:worktree')),
      { status: 500, error: 'busy' },
      { status: 500, error: 'busy' },
    ])
    host.say('go')
    await host.step()
    await host.step('retried')
    host.well.catalogue.setSource('mail', { tools: [tool('send_mail')] })
    await host.step('retried')
    const other = await host.resume()
    await other.step('retried')
    const [, first, ...again] = host.requests
    expect(again.map((request) => request.raw)).toEqual([first?.raw, first?.raw])
  })

  it('resumes in another process with its loaded tools', async () => {
    const host = await open('append', [calls(search('select:tracker__create_issue'))])
    await host.ask('go')
    const resumed = await host.resume()
    await resumed.ask('on')
    expect(host.toolsJson()).toBe(host.toolsJson(1))
    expect(host.rendered().startsWith(host.rendered(1).slice(0, -1))).toBe(true)
  })

  it('forks at its first items with only what they had loaded', async () => {
    const host = await open('append', [
      calls(search('select:tracker__create_issue')),
      { text: 'one' },
      calls(search('select:calendar__find_slot')),
    ])
    await host.ask('first')
    const { length } = host
    await host.ask('second')
    const fork = await host.fork('fork', length)
    await fork.ask('other')
    expect(host.toolNames().slice(3)).toEqual(['tracker__create_issue'])
    await host.ask('third')
    expect(host.toolNames().slice(3)).toEqual(['tracker__create_issue', 'calendar__find_slot'])
  })

  it.each([0, 3])('that is compacted to a summary and %i items keeps what was loaded', async (keep) => {
    const host = await open('bridge', [calls(search('select:worktree')), { text: 'done' }], {}, withReasoning)
    await host.ask('go')
    await host.compact('Summary.', keep)
    await host.ask('on')
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['git__enter_worktree', 'git__exit_worktree'])
    expect(count(host.requests.at(-1)?.raw ?? '', 'not git worktree in a shell')).toBeGreaterThanOrEqual(2)
    expect(outline(host)[0]).toBe('user')
  })

  it('that the provider compacted keeps its item, and the loaded tools are announced after it', async () => {
    const host = await open('bridge', [calls(search('select:worktree')), { text: 'done' }])
    await host.ask('go')
    const sealed: ResponsesItem = { type: 'compaction', encrypted_content: 'sealed' }
    await host.compactTo([sealed])
    await host.ask('on')
    expect(host.input()[0]).toEqual(sealed)
    expect(updates(host).join()).toContain('git__enter_worktree')
  })

  it('of a sub-agent is its own, with no more than its parent allows', async () => {
    const host = await open('bridge', [calls(search('select:tracker__create_issue'))])
    await host.ask('go')
    const child = await host.conversation.child({ id: 'child', allow: ['tracker/*'] })
    const helper = host.with(child)
    await helper.ask('help')
    expect(host.requests.at(-1)?.raw).not.toContain('calendar')
    expect(updates(host).join()).toContain('tracker__create_issue')
    expect(child.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
  })

  it('is imported where the ledger is gone', async () => {
    const host = await open('append', [
      calls(search('select:tracker__create_issue')),
      calls(call('tracker__create_issue')),
    ])
    await host.ask('go')
    const fresh = await createToolwell({ tools: mixed(), mode: 'on', delivery: 'append' }).open({ id: 'new' })
    const report = await openaiResponses(fresh).importHistory(host.items)
    expect(report).toEqual({ recovered: ['tracker/create_issue'], unrecovered: [] })
    await host.with(fresh, host.items).ask('on')
    expect(host.toolNames()).toContain('tracker__create_issue')
  })

  it('with unknown items keeps them in place', async () => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
    const items: ResponsesItem[] = [
      { type: 'item_reference', id: 'msg_0' },
      { type: 'message', role: 'developer', content: 'Rules' },
      { role: 'user', content: [{ type: 'input_text', text: 'x' }] },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      reasoning('rs_1'),
      { type: 'function_call', call_id: 'c1', name: 'read_file', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'patch' },
      { type: 'function_call_output', call_id: 'c1', output: 'text' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'ok' },
      { type: 'something_new' },
    ]
    const turn = await openaiResponses(conversation).begin(items, { requestId: 'r' })
    expect(turn.parts.input).toHaveLength(items.length)
    for (const [index, item] of items.entries()) expect(turn.parts.input[index]).toBe(item)
    expect(turn.warnings).toEqual([])
  })

  describe.each(['on', 'off'] as const)('whose outputs stand anywhere behind their calls (%s)', (mode) => {
    const user: ResponsesItem = { role: 'user', content: 'x' }
    const made = (id: string, name = 'read_file'): ResponsesItem => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: '{}',
    })
    const output = (id: string): ResponsesItem => ({
      type: 'function_call_output',
      call_id: id,
      output: `of ${id}`,
    })
    const begin = async (items: readonly ResponsesItem[]) => {
      const options: ToolwellOptions = { tools: mixed(), mode, delivery: 'append' }
      const turn = await openaiResponses(await createToolwell(options).open({ id: 'a' })).begin(items)
      expect(responsesProtocol().violationOf({ model: 'm', ...turn.parts })).toBeUndefined()
      return turn
    }

    it('is sent unchanged', async () => {
      const items = [
        user,
        made('a'),
        made('b'),
        output('b'),
        user,
        made('c'),
        output('a'),
        { role: 'assistant', content: 'So.' },
        output('c'),
        user,
      ]
      const { parts, warnings } = await begin(items)
      expect(parts.input).toHaveLength(items.length)
      for (const [index, item] of items.entries()) expect(parts.input[index]).toBe(item)
      expect(warnings).toEqual([])
    })

    it('rewrites a call as text next to its answer, and answers an unanswered call', async () => {
      const { parts } = await begin([
        user,
        made('a', 'gone'),
        made('b'),
        made('c'),
        output('b'),
        user,
        output('a'),
        user,
      ])
      const outlined = parts.input.map(({ type, role, call_id: id }) => (id ? `${id} ${type}` : role))
      expect(outlined).toEqual([
        'user',
        'b function_call',
        'c function_call',
        'c function_call_output',
        'b function_call_output',
        'user',
        'user',
        'user',
      ])
      expect(parts.input[6]?.content).toContain('of a')
    })
  })

  it('with calls of host-run tools that are not functions stays consistent', async () => {
    const { responsesWire } = await import('../src/adapters/openai-responses/wire.js')
    const wire = responsesWire('tool_search', defaultPrompts)
    const read: ResponsesItem = { type: 'function_call', call_id: 'a', name: 'read_file', arguments: '{}' }
    const items: ResponsesItem[] = [
      { role: 'user', content: 'x' },
      reasoning('rs_1'),
      read,
      { type: 'shell_call', call_id: 's' },
      { type: 'shell_call_output', call_id: 's', output: [] },
      { type: 'function_call_output', call_id: 'a', output: 'text' },
      { type: 'apply_patch_call', call_id: 'p' },
      { type: 'apply_patch_call_output', call_id: 'p', output: 'ok' },
    ]
    const before = wire.read(items)
    expect(before.map(({ kind }) => kind)).toEqual(['user', 'assistant', 'answer', 'assistant'])
    // The place after the output is still a place when the model has continued.
    items.push(reasoning('rs_2'), { ...read, call_id: 'b' })
    const after = wire.read(items)
    for (const [index, unit] of before.entries()) expect(after[index]).toEqual(unit)
    expect(after).toHaveLength(before.length + 1)
    items.push({ type: 'function_call_output', call_id: 'b', output: 'text' })
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
    const { parts, warnings } = await openaiResponses(conversation).begin(items)
    for (const [index, item] of items.entries()) expect(parts.input[index]).toBe(item)
    expect(warnings).toEqual([])
    // Elsewhere a word stands for what such a tool gave.
    const moved = openaiChat(conversation).adopt(before)
    expect(moved.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(moved[3]?.content).toContain('apply_patch_call_output')
  })

  it.each(['on', 'off'] as const)(
    'with an output of the wrong type for its call gets it rewritten (%s)',
    async (mode) => {
      const conversation = await createToolwell({ tools: mixed(), mode }).open({ id: 'a' })
      const items: ResponsesItem[] = [
        { role: 'user', content: 'x' },
        { type: 'function_call', call_id: 'a', name: 'read_file', arguments: '{}' },
        { type: 'tool_search_output', execution: 'client', call_id: 'a', tools: [] },
      ]
      const { parts } = await openaiResponses(conversation).begin(items)
      expect(parts.input[2]).toMatchObject({ type: 'function_call_output', call_id: 'a' })
      expect(responsesProtocol().violationOf({ model: 'm', ...parts })).toBeUndefined()
    },
  )

  it('that the host changed in place is read again', async () => {
    const { responsesWire } = await import('../src/adapters/openai-responses/wire.js')
    const wire = responsesWire('tool_search', defaultPrompts)
    const part = { type: 'input_text', text: 'one' }
    const user = { role: 'user', content: [part] }
    const reply = { type: 'function_call', call_id: 'a', name: 'read_file', arguments: '{}' }
    const answer = { type: 'function_call_output', call_id: 'a', output: 'text' }
    const read = () => wire.read([user, reply, answer])
    expect(read()).toMatchObject([{ text: 'one' }, {}, {}])
    part.text = 'two'
    reply.name = 'write_file'
    answer.output = 'other'
    expect(read()).toMatchObject([{ text: 'two' }, { calls: [{ name: 'write_file' }] }, { text: 'other' }])
  })
})

describe('an interrupted call', () => {
  it('is answered, and keeps its place when the history grows', async () => {
    const host = await open('bridge', [], {}, withReasoning)
    host.say('go')
    const cut: ResponsesItem = { type: 'function_call', call_id: 'cut', name: 'read_file', arguments: '{}' }
    host.items.push(reasoning('rs_cut'), cut)
    await host.step()
    expect(outline(host)).toEqual(['user', 'reasoning', 'cut read_file', 'cut ='])
    expect(host.warnings.map(({ text }) => text)).toEqual(['answered the interrupted call "cut"'])
    await host.ask('on')
    expect(outline(host).slice(0, 6)).toEqual([
      'user',
      'reasoning',
      'cut read_file',
      'cut =',
      'reasoning',
      'assistant',
    ])
    expectGrowing(host)
  })

  it('before a reply that calls again, without anything in between, keeps its place too', async () => {
    const host = await open('bridge', [calls(call('read_file'), call('write_file'))])
    host.say('go')
    host.items.push({ type: 'function_call', call_id: 'cut', name: 'read_file', arguments: '{}' })
    await host.step()
    await host.step()
    expect(outline(host)).toEqual([
      'user',
      'cut read_file',
      'cut =',
      'call_1 read_file',
      'call_2 write_file',
      'call_1 =',
      'call_2 =',
    ])
    expectGrowing(host)
  })

  it('of two, of which one was answered, loses no answer', async () => {
    const host = await open('bridge', [])
    host.say('go')
    host.items.push(
      { type: 'function_call', call_id: 'a', name: 'read_file', arguments: '{}' },
      { type: 'message', role: 'assistant', content: 'And' } as ResponsesItem,
      { type: 'function_call', call_id: 'b', name: 'read_file', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'real answer' },
    )
    await host.step()
    expect(host.input().find((item) => item.call_id === 'a' && item.output)?.output).toBe('real answer')
    expect(host.input().find((item) => item.call_id === 'b' && item.output)?.output).toContain('interrupted')
  })

  it('still rewrites answers without a call as text in place, and drops repeated ones', async () => {
    const host = await open('bridge', [], {}, { strictOrder: false })
    const output = (id: string, text: string) => ({ type: 'function_call_output', call_id: id, output: text })
    host.items.push(output('nobody', 'x'), { role: 'user', content: 'so' })
    host.items.push({ type: 'function_call', call_id: 'a', name: 'read_file', arguments: '{}' })
    host.items.push(output('a', 'y'), output('a', 'y'), output('a', 'z'))
    await host.ask('go')
    expect(outline(host)).toEqual(['user', 'user', 'a read_file', 'a =', 'user'])
    expect(updates(host)).toEqual([expect.stringContaining('"x"'), expect.stringContaining('"z"')])
    expect(host.warnings.map(({ text }) => text)).toEqual([
      'rewrote an answer without a call as text ("nobody")',
      'dropped a repeated answer ("a")',
      'rewrote an answer without a call as text ("a")',
    ])
  })
})

describe('reasoning', () => {
  it('is sent without its id when an earlier item has the same id, with a warning', async () => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'off' }).open({ id: 'x' })
    const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' }
    const reply = { type: 'message', role: 'assistant', content: 'Yes.' }
    const { parts, warnings } = await openaiResponses(conversation).begin([
      sealed,
      sealed,
      reply,
      { role: 'user', content: 'Go on.' },
    ])
    expect(parts.input.map(({ id }) => id)).toEqual(['rs_1', undefined, undefined, undefined])
    expect(warnings).toEqual([
      { code: 'form-repaired', text: 'removed the id of an entry, because an earlier entry has the same id' },
    ])
  })

  it.each(['append', 'bridge'] as const)('stays in front of what it led to (%s)', async (delivery) => {
    const target = 'tracker__create_issue'
    const host = await open(
      delivery,
      [calls(search(`select:${target}`)), calls(delivery === 'append' ? call(target) : bridged(target))],
      {},
      withReasoning,
    )
    await host.ask('go')
    await host.ask('more')
    const own = host.items.slice(0, host.items.findLastIndex((item) => item.role === 'user') + 1)
    expect(host.input().filter((item) => item.role !== 'developer')).toEqual(own)
    expect(outline(host).filter((kind) => kind !== 'developer')).toEqual([
      'user',
      'reasoning',
      'call_1 tool_search',
      'call_1 =',
      'reasoning',
      `call_2 ${delivery === 'append' ? target : 'tool_call'}`,
      'call_2 =',
      'reasoning',
      'assistant',
      'user',
    ])
  })

  it('that carries its content stays before a call that was repaired, together with what was said', async () => {
    const said: ResponsesItem = { id: 'msg_x', type: 'message', role: 'assistant', content: 'Filing it.' }
    const host = await open(
      'bridge',
      [calls(call('tracker__create_issue'), call('read_file'))],
      {},
      {
        reply: (output, index) => (index === 1 ? [reasoning('rs_1'), said, ...output] : output),
      },
    )
    await host.ask('go')
    expect(host.input().slice(1, 5)).toEqual([
      reasoning('rs_1'),
      said,
      {
        type: 'function_call',
        call_id: 'call_1',
        name: 'tool_call',
        arguments: '{"name":"tracker__create_issue","arguments":{"value":"x"}}',
      },
      host.items[4],
    ])
  })

  it('that the provider would look up stays before words of the model, whatever was repaired behind them', async () => {
    const said: ResponsesItem = { id: 'msg_x', type: 'message', role: 'assistant', content: 'Filing it.' }
    const host = await open(
      'bridge',
      [calls(call('tracker__create_issue'), call('read_file'))],
      {},
      {
        reply: (output, index) => (index === 1 ? [reasoning('rs_1', null), said, ...output] : output),
      },
    )
    await host.ask('go')
    expect(host.input().slice(1, 3)).toEqual([reasoning('rs_1', null), said])
    expect(outline(host)).toContain('call_1 tool_call')
  })

  it('that the provider would look up goes when the call behind it was repaired, and so do the ids of its group', async () => {
    const host = await open(
      'bridge',
      [calls(call('tracker__create_issue'), call('read_file'))],
      {},
      {
        reply: (output, index) => (index === 1 ? [reasoning('rs_1', null), ...output] : output),
      },
    )
    await host.ask('go')
    expect(outline(host).slice(0, 3)).toEqual(['user', 'call_1 tool_call', 'call_2 read_file'])
    expect(
      host
        .input()
        .slice(1, 3)
        .map((item) => item.id),
    ).toEqual([undefined, undefined])
  })

  describe.each(['on', 'off'] as const)('that the API would refuse (%s)', (mode) => {
    const user: ResponsesItem = { role: 'user', content: 'x' }
    const said = (id: string): ResponsesItem => ({ type: 'message', id, role: 'assistant', content: 'Yes.' })
    const begin = async (...items: ResponsesItem[]) => {
      const conversation = await createToolwell({ tools: mixed(), mode, delivery: 'eager' }).open({ id: 'x' })
      const { parts, warnings } = await openaiResponses(conversation).begin(items)
      expect(responsesProtocol().violationOf({ model: 'm', ...parts } as never)).toBeUndefined()
      return { input: parts.input, warnings }
    }

    it('goes where the reply broke off behind it', async () => {
      const { input, warnings } = await begin(user, reasoning('rs_1'), user, reasoning('rs_2', null))
      expect(input).toEqual([user, user])
      expect(warnings).toHaveLength(2)
    })

    it('is dropped when it repeats by id alone, and so are the ids after it', async () => {
      const { input } = await begin(
        user,
        reasoning('rs_1', null),
        said('msg_1'),
        user,
        reasoning('rs_1', null),
        said('msg_2'),
        user,
      )
      const { id: _, ...rest } = said('msg_2')
      expect(input).toEqual([user, reasoning('rs_1', null), said('msg_1'), user, rest, user])
    })

    it('stays without its id when it repeats with its content', async () => {
      const again = [reasoning('rs_1'), said('msg_1'), user]
      const { input } = await begin(user, ...again, ...again)
      const { id: _, ...sealed } = reasoning('rs_1') as { id: string }
      expect(input.slice(4, 5)).toEqual([sealed])
    })
  })
})

describe('the prefix', () => {
  it('QW2-10: no byte before the last item changes over the bridge, whatever happens', async () => {
    const host = await open(
      'bridge',
      [
        calls(search('create an issue')),
        calls(bridged('tracker__create_issue')),
        calls(search('select:calendar__find_slot,worktree'), call('read_file')),
        calls(call('tracker__close_issue')),
        calls(call('no_such_tool')),
        calls(search('unload:tracker__create_issue')),
        calls(call('tool_call', '{"name":')),
      ],
      {},
      { ...withReasoning, instructions: 'Be careful.' },
    )
    const { catalogue } = host.well
    await host.ask('do it all')
    catalogue.setSource('mail', { tools: [tool('send_mail'), tool('read_mail', { alwaysLoad: true })] })
    await host.ask('a server came')
    catalogue.removeSource('calendar')
    await host.ask('a server went')
    catalogue.setSource('tracker', { tools: [tool('create_issue', { description: 'New words' })] })
    await host.ask('a definition changed')
    const resumed = await host.resume()
    await resumed.ask('in another process')
    expect(host.requests).toHaveLength(12)
    expect(updates(host).length).toBeGreaterThanOrEqual(4)
    expectGrowing(host)
  })

  it('over append, the first byte that changes is the end of the tools array', async () => {
    const host = await open('append', [
      calls(search('select:tracker__create_issue')),
      calls(call('tracker__create_issue')),
      calls(search('select:worktree,calendar__find_slot')),
      calls(call('tracker__close_issue')),
    ])
    await host.ask('do it')
    const changed: number[] = []
    for (let index = 1; index < host.requests.length; index++) {
      const [old, now] = [host.rendered(index - 1), host.rendered(index)]
      const same = commonPrefix(old, now)
      const tools = host.toolsJson(index - 1).length
      if (same === tools - 1) changed.push(index)
      else expect(same, `request ${index}`).toBeGreaterThanOrEqual(old.length - 1)
    }
    expect(changed).toEqual([1, 3, 4])
  })

  it('holds for late eager tools as well: they join at the end of the array', async () => {
    const host = await open('append', [])
    await host.ask('one')
    host.well.catalogue.setSource('mail', { tools: server('mail', ['read_mail'], { alwaysLoad: true }) })
    await host.ask('two')
    const same = commonPrefix(host.rendered(0), host.rendered(1))
    expect(same).toBe(host.toolsJson(0).length - 1)
  })
})

describe('a streamed reply', () => {
  async function stream(reply: ScriptedReply) {
    const endpoint = await startScriptedEndpoint(responsesProtocol(), { model: [reply] })
    onTestFinished(() => endpoint.close())
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
    const turn = await openaiResponses(conversation).begin([{ role: 'user', content: 'x' }], {
      requestId: 'r',
    })
    const { body } = await fetch(`${endpoint.url}/responses`, {
      method: 'POST',
      body: JSON.stringify({ model: 'scripted', stream: true, ...turn.parts }),
    })
    if (!body) throw new Error('no body')
    return { turn, body }
  }
  const from = async function* (...events: unknown[]) {
    yield* events
  }
  const done = (index: number, item: object) => ({
    type: 'response.output_item.done',
    output_index: index,
    item,
  })

  it('is the reply that would have come whole, and runs', async () => {
    const { turn, body } = await stream({ text: 'Looking.', ...calls(call('read_file'), call('write_file')) })
    const { reply, messages: said, ...rest } = await assemble(readEvents(body))
    expect(rest).toMatchObject({ complete: true, finish: 'completed', error: undefined })
    expect(rest.usage).toEqual({
      inputTokens: expect.any(Number),
      cachedTokens: 0,
      outputTokens: expect.any(Number),
    })
    expect(said).toEqual(reply.output)
    expect(reply.output.map((item) => item.type)).toEqual(['message', 'function_call', 'function_call'])
    const { messages } = await turn.run(reply)
    expect(messages.map((item) => item.output)).toEqual([
      'read_file ran with {"value":"x"}',
      'write_file ran with {"value":"x"}',
    ])
  })

  it('that breaks off is not complete', async () => {
    const { body } = await stream({ cutAfter: 5, text: 'Looking at it.' })
    const reply = await assemble(readEvents(body))
    expect(reply).toMatchObject({ complete: false, finish: undefined, messages: [] })
    expect(reply.error).toBeInstanceOf(Error)
  })

  it('that reached the limit of its tokens is complete and says so', async () => {
    const { body } = await stream({ text: 'Look', finish: 'max_output_tokens' })
    expect(await assemble(readEvents(body))).toMatchObject({ complete: true, finish: 'incomplete' })
  })

  it('is built from its items where the last event has none, in their order', async () => {
    const reply = await assemble(
      from(done(1, { type: 'b' }), null, 'noise', done(0, { type: 'a' }), {
        type: 'response.completed',
        response: { output: [], usage: { input_tokens: 1 } },
      }),
    )
    expect(reply).toMatchObject({ complete: true, messages: [{ type: 'a' }, { type: 'b' }] })
    expect(reply.rawUsage).toEqual({ input_tokens: 1 })
    expect(reply.usage.inputTokens).toBe(1)
  })

  it.each([
    [{ type: 'response.failed', response: { error: { code: 'server_error' } } }, { code: 'server_error' }],
    [
      { type: 'error', code: 'busy', message: 'Later' },
      { type: 'error', code: 'busy', message: 'Later' },
    ],
  ])('that failed is not complete and tells why: $type', async (event, error) => {
    const reply = await assemble(from(done(0, { type: 'a' }), event))
    expect(reply).toMatchObject({ complete: false, finish: 'failed', error })
  })

  it('stays complete when the connection breaks behind its end', async () => {
    const source = async function* () {
      yield { type: 'response.completed', response: { output: [{ type: 'a' }] } }
      throw new Error('reset')
    }
    expect(await assemble(source())).toMatchObject({ complete: true, error: undefined })
  })
})
