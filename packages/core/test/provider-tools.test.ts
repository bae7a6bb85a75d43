/** Tools that a provider defines or runs: given once, sent first, and untouched in both directions. */
import { createToolwell, type ToolwellOptions } from '@toolwell/core'
import {
  type AnthropicBlock,
  type AnthropicMessage,
  type AnthropicReply,
  anthropic,
  importTools as importAnthropic,
} from '@toolwell/core/anthropic'
import { google } from '@toolwell/core/google'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
import {
  anthropicProtocol,
  responsesProtocol,
  type ScriptedCall,
  startScriptedEndpoint,
} from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { anthropicRenderOrder } from '../../testing/src/anthropic/usage.js'
import { server, tool } from './support/tools.js'
import { post } from './support/wire-host.js'

const hundred = server(
  'box',
  Array.from({ length: 100 }, (_, index) => `tool_${index}`),
)
const call = (name: string, input: object): ScriptedCall => ({ name, arguments: input })
const find = (index: number) => call('tool_search', { query: `select:box__tool_${index}` })
const deliveries = [
  { mode: 'on', delivery: 'native' },
  { mode: 'on', delivery: 'bridge' },
  { mode: 'off' },
] as const

describe.each(deliveries)('an agent on Anthropic with bash, editor and web search: %o', (given) => {
  const providerTools = [
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
    { type: 'computer_toolset_20260801' },
  ]
  const isOff = given.mode === 'off'
  const use = (index: number) => {
    if (isOff) return call(`tool_${index}`, { value: 'x' })
    const name = `box__tool_${index}`
    return given.delivery === 'bridge'
      ? call('tool_call', { name, arguments: { value: 'x' } })
      : call(name, { value: 'x' })
  }
  const search = (index: number) => (isOff ? use(index) : find(index))
  const bash = call('bash', { command: 'ls' })
  const editor = call('str_replace_based_edit_tool', { command: 'view', path: '/a' })
  /** Of each turn of the user, until the model calls nothing. */
  const script: ScriptedCall[][] = [
    [bash],
    [],
    [bash, search(7)],
    [use(7), editor],
    [],
    [search(8), bash],
    [use(8)],
    [bash, use(7)],
    [],
    ...Array.from({ length: 7 }, (_, index) => [[bash, search(20 + index)], [use(20 + index)], []]).flat(),
  ]
  const searched = (index: number): AnthropicBlock[] => [
    { type: 'server_tool_use', id: `srvtoolu_${index}`, name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: `srvtoolu_${index}`, content: [] },
  ]

  it('runs ten turns with a stable prefix', async () => {
    const endpoint = await startScriptedEndpoint(anthropicProtocol({ boundThinking: true }), {
      model: (_, index) => ({
        thinking: `Thought ${index}.`,
        text: `Said ${index}.`,
        calls: script[index] ?? [],
      }),
    })
    onTestFinished(() => endpoint.close())
    const well = createToolwell({ tools: hundred, ...(given as ToolwellOptions) })
    const claude = anthropic(await well.open({ id: 'a' }), { providerTools })
    const messages: AnthropicMessage[] = []
    const ran: string[] = []
    const step = async () => {
      const turn = await claude.begin(messages)
      expect(turn.warnings).toEqual([])
      const body = { model: 'claude-fable-5-1', max_tokens: 99, ...turn.parts }
      const answer = await post<AnthropicReply>(`${endpoint.url}/v1/messages`, body)
      const blocks = answer.content as AnthropicBlock[]
      const [thought, ...rest] = blocks
      const reply = {
        role: 'assistant',
        content: [thought as AnthropicBlock, ...searched(messages.length), ...rest],
      }
      const { messages: made, answers, providerCalls } = await turn.run(reply)
      messages.push(reply)
      ran.push(...providerCalls.map(({ name }) => name))
      if (providerCalls.length > 0)
        messages.push({
          role: 'user',
          content: providerCalls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'done' })),
        })
      messages.push(...made)
      for (const { outcome } of answers) expect(['search', 'result']).toContain(outcome.kind)
      return answers.length + providerCalls.length
    }
    for (let turn = 0; turn < 10; turn++) {
      messages.push({ role: 'user', content: `Turn ${turn}.` })
      while ((await step()) > 0);
    }
    expect(endpoint.requests.every(({ status }) => status === 200)).toBe(true)
    expect(ran.filter((name) => name === 'bash')).toHaveLength(11)
    expect(ran).toContain('str_replace_based_edit_tool')
    const bodies = endpoint.requests.map(({ body }) => body)
    for (const [index, body] of bodies.entries()) {
      expect(body.tools?.slice(0, 4)).toEqual(providerTools)
      const before = bodies[index - 1]
      if (before) expect(anthropicRenderOrder(body).startsWith(anthropicRenderOrder(before))).toBe(true)
    }
    const raw = endpoint.requests.at(-1)?.raw ?? ''
    expect(raw.split('"name":"bash","input"').length - 1).toBe(11)
    expect(raw.split('"type":"web_search_tool_result"').length).toBe(bodies.length)
    expect(raw).not.toContain('An earlier call')
  })
})

describe.each(deliveries)('an agent on the Responses API with hosted tools and programs: %o', (given) => {
  const providerTools = [{ type: 'web_search' }, { type: 'programmatic_tool_calling' }]
  const isOff = given.mode === 'off'

  it('runs ten turns with a stable prefix, and replays every item', async () => {
    const script = (index: number): ScriptedCall[] =>
      index % 2 === 0 ? [isOff ? call(`tool_${index}`, { value: 'x' }) : find(index)] : []
    const endpoint = await startScriptedEndpoint(responsesProtocol(), {
      model: (_, index) => ({ text: `Said ${index}.`, calls: script(index) }),
    })
    onTestFinished(() => endpoint.close())
    const well = createToolwell({ tools: [tool('add'), ...hundred], ...(given as ToolwellOptions) })
    const openai = openaiResponses(await well.open({ id: 'a' }), { providerTools })
    const items: ResponsesItem[] = []
    const injected: ResponsesItem[] = []
    for (let turn = 0; turn < 10; turn++) {
      items.push({ role: 'user', content: `Turn ${turn}.` })
      for (let isOver = false; !isOver; ) {
        const { parts, run } = await openai.begin(items)
        const { output = [] } = await post<{ output: ResponsesItem[] }>(`${endpoint.url}/responses`, {
          model: 'scripted',
          ...parts,
        })
        const n = items.length
        const program = {
          type: 'program',
          id: `prog_${n}`,
          call_id: `pc_${n}`,
          code: 'add()',
          fingerprint: 'f',
        }
        const hosted = [
          {
            type: 'web_search_call',
            id: `ws_${n}`,
            status: 'completed',
            action: { type: 'search', query: 'x' },
          },
          program,
          {
            type: 'function_call',
            id: `fc_${n}`,
            call_id: `inner_${n}`,
            name: 'add',
            arguments: '{"value":"1"}',
            caller: { type: 'program', caller_id: `pc_${n}` },
          },
        ]
        const reply = [...(hosted as ResponsesItem[]), ...output]
        injected.push(...(hosted as ResponsesItem[]))
        const { messages, answers } = await run({ output: reply })
        expect(answers[0]?.text).toContain('add ran')
        items.push(...reply, ...messages)
        const end = {
          type: 'program_output',
          id: `po_${n}`,
          call_id: `pc_${n}`,
          result: '2',
          status: 'completed',
        }
        items.push(end)
        isOver = answers.length === 1
      }
    }
    expect(endpoint.requests.every(({ status }) => status === 200)).toBe(true)
    const bodies = endpoint.requests.map(({ body }) => body)
    for (const [index, body] of bodies.entries()) {
      expect(body.tools?.slice(0, 2)).toEqual(providerTools)
      const before = bodies[index - 1]
      if (!before) continue
      expect(JSON.stringify(body.tools)).toBe(JSON.stringify(before.tools))
      expect(body.input.slice(0, before.input.length)).toEqual(before.input)
    }
    const last = JSON.stringify(bodies.at(-1)?.input)
    const sent = injected.slice(0, -3)
    for (const item of sent) expect(last).toContain(JSON.stringify(item))
  })
})

it("OpenAI: a lost result keeps its place before the provider's own calls", async () => {
  const conversation = await createToolwell({ tools: [tool('add')] }).open({ id: 'a' })
  const openai = openaiResponses(conversation, { providerTools: [{ type: 'web_search' }] })
  const asked = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"value":"1"}' }
  const action = { type: 'search', query: 'x' }
  const searched = { type: 'web_search_call', id: 'ws_1', status: 'completed', action }
  const history = [{ role: 'user', content: 'Go.' }, asked]
  const { parts } = await openai.begin(history)
  const later = [...history, searched as ResponsesItem, { role: 'user', content: 'On.' }]
  const next = await openai.begin(later)
  expect(next.parts.input.slice(0, parts.input.length)).toEqual(parts.input)
})

describe('calls of a program that OpenAI runs', () => {
  const user = { role: 'user', content: 'Go.' }
  const program = { type: 'program', id: 'prog_1', call_id: 'pc_1', code: 'add()', fingerprint: 'f' }
  const caller = { type: 'program', caller_id: 'pc_1' }
  const inner = (id: string, name: string) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: '{"value":"1"}',
    caller,
  })
  const check = (parts: object) => responsesProtocol().violationOf({ model: 'x', ...parts } as never)

  it.each(deliveries)('have outputs that name the program, and no text next to them: %o', async (given) => {
    const well = createToolwell({ tools: [tool('add'), tool('batch')], ...(given as ToolwellOptions) })
    const openai = openaiResponses(await well.open({ id: 'a' }), {
      providerTools: [{ type: 'programmatic_tool_calling' }],
    })
    const reply = [program, inner('call_1', 'add'), inner('call_2', 'batch'), inner('call_3', 'no_such_tool')]
    const turn = await openai.begin([user])
    const { messages, answers } = await turn.run({ output: reply.slice(0, 3) })
    expect(messages.map((item) => item.caller)).toEqual([caller, caller])
    well.catalogue.setSource('late', { tools: hundred.slice(0, 2) })
    const next = await openai.begin([user, ...reply.slice(0, 3), ...messages])
    expect(check(next.parts)).toBeUndefined()
    const outputs = next.parts.input.filter(({ type }) => type === 'function_call_output')
    expect(outputs.map(({ output }) => output)).toEqual(answers.map(({ text }) => text))
    // The process died before it answered, or the host dropped the field.
    for (const kept of [[], messages.map(({ caller: _, ...rest }) => rest)]) {
      const { parts } = await openai.begin([user, ...reply.slice(0, 3), ...kept])
      expect(check(parts)).toBeUndefined()
    }
    expect(check((await openai.begin([user, ...reply])).parts)).toBeUndefined()
  })

  it.each(deliveries)('stay unchanged next to calls that become text: %o', async (given) => {
    const well = createToolwell({ tools: [tool('add')], ...(given as ToolwellOptions) })
    const openai = openaiResponses(await well.open({ id: 'a' }), {
      providerTools: [{ type: 'programmatic_tool_calling' }],
    })
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] }
    const { caller: _, ...unknown } = inner('call_2', 'no_such_tool')
    const reply = [reasoning, unknown, program, inner('call_1', 'add')]
    const { messages, answers } = await (await openai.begin([user])).run({ output: reply })
    const history = [user, ...reply, ...messages]
    const { parts } = await openai.begin(history)
    expect(check(parts)).toBeUndefined()
    expect(parts.input).toContainEqual(program)
    const isOutput = ({ type, call_id: id }: ResponsesItem) =>
      type === 'function_call_output' && id === 'call_1'
    expect(parts.input.filter(isOutput).map(({ output }) => output)).toEqual([answers[1]?.text])
    const end = { type: 'program_output', id: 'po_1', call_id: 'pc_1', result: '2', status: 'completed' }
    const done = { role: 'assistant', content: 'Done.' }
    const later = await openai.begin([...history, end, done, { role: 'user', content: 'On.' }])
    expect(check(later.parts)).toBeUndefined()
    expect(JSON.stringify(later.parts.input)).toContain('no_such_tool')
    expect(later.parts.input.slice(0, parts.input.length)).toEqual(parts.input)
  })
})

describe('calls of code that Anthropic runs', () => {
  const providerTools = [{ type: 'code_execution_20260120', name: 'code_execution' }]
  const add = tool('add', { callers: ['direct', 'code'], defer: true, eagerInputStreaming: true })
  const batch = tool('batch', { callers: ['code'] })
  const user = { role: 'user', content: 'Go.' }
  const server = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'x' } }
  const inner = (id: string, name: string, caller?: object) => ({
    type: 'tool_use',
    id,
    name,
    input: { value: 'x' },
    ...(caller && { caller }),
  })
  const code = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
  const check = (parts: object) =>
    anthropicProtocol().violationOf({ model: 'claude', max_tokens: 9, ...parts } as never)

  it.each(deliveries)(
    'are permitted one by one, and their results have no text next to them: %o',
    async (given) => {
      const asked: string[] = []
      const policy = ({ name, action }: { readonly name: string; readonly action: string }) => {
        if (action === 'call') asked.push(name)
        return name !== 'write_file' || action !== 'call'
      }
      const well = createToolwell({
        tools: [add, batch, tool('write_file')],
        policy,
        ...(given as ToolwellOptions),
      })
      const claude = anthropic(await well.open({ id: 'a' }), { providerTools })
      const turn = await claude.begin([user])
      const declared = (turn.parts.tools ?? []).find(({ name }) => name === 'batch')
      expect(declared?.allowed_callers).toEqual(['code_execution_20260120'])
      const calls = [
        inner('toolu_1', 'batch', code),
        inner('toolu_2', 'write_file', code),
        inner('toolu_3', 'batch', code),
      ]
      const reply = { role: 'assistant', content: [server, ...calls] }
      const { answers, messages, providerCalls } = await turn.run(reply)
      expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['result', 'denied', 'result'])
      expect(asked).toEqual(['batch', 'write_file', 'batch'])
      expect(providerCalls).toEqual([])
      // News waits: code reads these results.
      well.catalogue.setSource('late', { tools: hundred.slice(0, 2) })
      const next = await claude.begin([user, reply, ...messages])
      expect(check(next.parts)).toBeUndefined()
      expect(next.parts.messages[1]).toEqual(reply)
      expect(next.parts.messages).toHaveLength(3)
      const result = { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: {} }
      const done = { role: 'assistant', content: [result, { type: 'text', text: 'Done.' }] }
      const last = await claude.begin([user, reply, ...messages, done, { role: 'user', content: 'On.' }])
      expect(check(last.parts)).toBeUndefined()
      if (given.mode === 'on') expect(JSON.stringify(last.parts.messages.at(-1))).toContain('late__tool_0')
    },
  )

  it.each(['on', 'off'] as const)(
    'calls of code that the user interrupts stay in the history as text (%s)',
    async (mode) => {
      const claude = anthropic(await createToolwell({ tools: [add, batch], mode }).open({ id: 'a' }), {
        providerTools,
      })
      const result = (id: string) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: `the result of ${id}`,
      })
      const thought = { type: 'thinking', thinking: 'Code.', signature: 'sig' }
      const history: AnthropicMessage[] = [
        user,
        { role: 'assistant', content: [thought, server, inner('toolu_1', 'batch', code)] },
        { role: 'user', content: [result('toolu_1')] },
        { role: 'assistant', content: [inner('toolu_2', 'batch', code)] },
      ]
      const stops: AnthropicMessage[][] = [
        [{ role: 'user', content: 'Stop!' }],
        [
          { role: 'user', content: [result('toolu_2')] },
          { role: 'user', content: 'Stop!' },
        ],
        [{ role: 'user', content: [result('toolu_2'), { type: 'text', text: 'Stop!' }] }],
      ]
      for (const stop of stops) {
        const { parts, warnings } = await claude.begin([...history, ...stop])
        expect(check(parts)).toBeUndefined()
        expect(JSON.stringify(parts.messages)).toContain('the result of toolu_1')
        expect(JSON.stringify(parts.messages)).not.toContain('server_tool_use')
        expect(warnings.map(({ code }) => code)).toContain('call-interrupted')
        const next = await claude.begin([
          ...history,
          ...stop,
          { role: 'assistant', content: [{ type: 'text', text: 'Well.' }] },
          user,
        ])
        expect(check(next.parts)).toBeUndefined()
        expect(next.parts.messages.slice(0, -2)).toEqual(parts.messages)
      }
    },
  )

  it('a tool for code alone is never offered directly, and a direct call of it does not run', async () => {
    const well = createToolwell({ tools: [add, batch], mode: 'on' })
    const conversation = await well.open({ id: 'a' })
    const turn = await anthropic(conversation, { providerTools }).begin([user])
    const { answers } = await turn.run({
      role: 'assistant',
      content: [
        { ...inner('toolu_1', 'tool_search'), input: { query: 'batch' } },
        inner('toolu_2', 'batch'),
        inner('toolu_3', 'batch', { type: 'direct' }),
      ],
    })
    expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['search', 'denied', 'denied'])
    expect(answers[0]?.text).not.toContain('batch(')
    const others = [
      await anthropic(await well.open({ id: 'b' })).begin([user]),
      await openaiChat(await well.open({ id: 'c' })).begin([user as never]),
      await openaiResponses(await well.open({ id: 'd' })).begin([user]),
    ]
    for (const { parts } of others) {
      expect(JSON.stringify(parts.tools)).not.toContain('"batch"')
      expect(JSON.stringify(parts.tools)).not.toContain('allowed_callers')
    }
  })

  it('fields of imported tools survive deferral, on both wires', async () => {
    const native = { name: 'add', description: 'Adds.', input_schema: { type: 'object' as const } }
    const given = {
      ...native,
      allowed_callers: ['direct', 'code_execution_20250825'],
      eager_input_streaming: true,
    }
    const tools = importAnthropic([given], () => ({ defer: true }))
    const claude = anthropic(await createToolwell({ tools, mode: 'on' }).open({ id: 'a' }), { providerTools })
    const { run } = await claude.begin([user])
    const search = { ...inner('toolu_1', 'tool_search'), input: { query: 'select:add' } }
    const reply = { role: 'assistant', content: [search] }
    const next = await claude.begin([user, reply, ...(await run(reply)).messages])
    const found = next.parts.tools?.find(({ name }) => name === 'add')
    expect(found).toMatchObject({
      defer_loading: true,
      eager_input_streaming: true,
      allowed_callers: ['direct', 'code_execution_20260120'],
    })
    expect(check(next.parts)).toBeUndefined()
    const openai = openaiResponses(await createToolwell({ tools: [add], mode: 'on' }).open({ id: 'b' }), {
      providerTools: [{ type: 'programmatic_tool_calling' }],
    })
    const turn = await openai.begin([user])
    const call = {
      type: 'tool_search_call',
      call_id: 'call_1',
      execution: 'client',
      arguments: { query: 'select:add' },
    }
    const { messages } = await turn.run({ output: [call] })
    expect(JSON.stringify(messages)).toContain('"allowed_callers":["direct","programmatic"]')
  })
})

it("Gemini's actions of a computer are the host's, and stay in the history", async () => {
  const well = createToolwell({ tools: [tool('add')], mode: 'off' })
  const providerTools = [{ googleSearch: {} }, { computerUse: { environment: 'ENVIRONMENT_BROWSER' } }]
  const gemini = google(await well.open({ id: 'a' }), { providerTools })
  const user = { role: 'user', parts: [{ text: 'Go.' }] }
  const turn = await gemini.begin([user])
  expect(turn.parts.tools).toEqual([...providerTools, { functionDeclarations: [expect.anything()] }])
  const click = { functionCall: { name: 'click_at', args: { x: 1, y: 2 } } }
  const reply = { role: 'model', parts: [click, { functionCall: { name: 'add', args: { value: 'x' } } }] }
  const { answers, providerCalls, messages } = await turn.run(reply)
  expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['result'])
  expect(providerCalls).toEqual([{ id: 'click_at', name: 'click_at', input: { x: 1, y: 2 } }])
  const done = { functionResponse: { name: 'click_at', response: { url: 'x' } } }
  const next = await gemini.begin([user, reply, { role: 'user', parts: [done] }, ...messages])
  expect(JSON.stringify(next.parts.contents)).toContain(JSON.stringify(click))
  expect(next.warnings.map(({ code }) => code)).not.toContain('call-undeclared')
})

it("Chat: a builtin function's call is the host's, with deferral on and off", async () => {
  for (const mode of ['on', 'off'] as const) {
    const well = createToolwell({ tools: hundred, mode })
    const builtin = { type: 'builtin_function', function: { name: '$web_search' } }
    const chat = openaiChat(await well.open({ id: 'a' }), { providerTools: [builtin] })
    const user = { role: 'user' as const, content: 'Go.' }
    const turn = await chat.begin([user])
    expect(turn.parts.tools?.[0]).toEqual(builtin)
    const made = {
      id: 'call_1',
      type: 'function' as const,
      function: { name: '$web_search', arguments: '{"q":1}' },
    }
    const reply = { role: 'assistant' as const, content: null, tool_calls: [made] }
    const { answers, providerCalls } = await turn.run(reply)
    expect([answers, providerCalls]).toEqual([[], [{ id: 'call_1', name: '$web_search', input: { q: 1 } }]])
    const next = await chat.begin([user, reply, { role: 'tool', tool_call_id: 'call_1', content: '{}' }])
    expect(next.parts.messages).toContainEqual(reply)
  }
})

describe('providerTools', () => {
  const open = () => createToolwell({ tools: [tool('bash')] }).open({ id: 'a' })

  it('rejects your own functions, and values that are not tools', async () => {
    const conversation = await open()
    const own = { name: 'x', input_schema: { type: 'object' } } as never
    expect(() => anthropic(conversation, { providerTools: [own] })).toThrow(/your own function.*importTools/)
    expect(() => openaiChat(conversation, { providerTools: {} as never })).toThrow(/takes a list of tools/)
    expect(() => google(conversation, { providerTools: ['x' as never] })).toThrow(/is not a tool/)
  })

  it('refuses a name that one of your tools has', async () => {
    const claude = anthropic(await open(), {
      providerTools: [{ type: 'bash_20250124', name: 'bash' } as never],
    })
    const begin = claude.begin([{ role: 'user', content: 'Go.' }])
    await expect(begin).rejects.toThrow(/both have "bash". Rename your tool/)
  })

  it("keeps results of Anthropic's own search, whose tools only the API knows", async () => {
    const toolset = { type: 'mcp_toolset', mcp_server_name: 'x', default_config: { defer_loading: true } }
    const searchTool = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }
    const claude = anthropic(await open(), { providerTools: [searchTool, toolset] as never })
    const found = {
      type: 'tool_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: {
        type: 'tool_search_tool_search_result',
        tool_references: [{ type: 'tool_reference', tool_name: 'far' }],
      },
    }
    const asked = {
      type: 'server_tool_use',
      id: 'srvtoolu_1',
      name: 'tool_search_tool_bm25',
      input: { query: 'x' },
    }
    const history = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [asked, found, { type: 'text', text: 'Yes.' }] },
      { role: 'user', content: 'On.' },
    ]
    const { parts } = await claude.begin(history)
    expect(parts.messages).toEqual(history)
  })
})
