/** Output of `debug`, for a person who wants to know what went wrong and what to do. */
import { createToolwell, defineTool, type Tool, type ToolwellOptions } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { type } from 'arktype'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { server, tool } from './support/tools.js'

/** A host that prints, with the calls of one reply run on its first turn. */
async function printed(options: ToolwellOptions, calls: readonly (readonly [string, string])[] = []) {
  const lines: string[] = []
  const well = createToolwell({ ...options, debug: (line) => void lines.push(line) })
  const conversation = await well.open({ id: 'a' })
  const chat = openaiChat(conversation)
  const history: ChatMessage[] = [{ role: 'user', content: 'Go.' }]
  const turn = await chat.begin(history)
  const message = {
    role: 'assistant' as const,
    content: null,
    tool_calls: calls.map(([name, given], index) => ({
      id: `call_${index}`,
      type: 'function' as const,
      function: { name, arguments: given },
    })),
  }
  if (calls.length > 0) await turn.run({ choices: [{ message }] })
  const failed = () => lines.filter((line) => line.includes(' failed ('))
  return { lines, well, conversation, chat, history, turn, failed }
}

const secret = 'hunter2-hunter2'

describe('a call that failed', () => {
  it('says what the tool threw, cut and on one line', async () => {
    const fails = (name: string, text: string) =>
      tool(name, {
        execute: () => {
          throw new Error(text)
        },
      })
    const tools = [fails('short', 'db down'), fails('long', `${'x'.repeat(5000)}\nsecond line`)]
    const { failed } = await printed({ tools }, [
      ['short', '{"value":"a"}'],
      ['long', '{"value":"a"}'],
    ])
    expect(failed()[0]).toBe('"a" · call of short failed (error): "db down"')
    expect(failed()[1]?.length).toBeLessThan(260)
    expect(failed()[1]).not.toContain('second line')
  })

  const inputSchema = {
    type: 'object',
    properties: { password: { type: 'string', maxLength: 3 }, kind: { enum: ['a', 'b'] } },
    required: ['password'],
  } as const
  const zod = z.object({ password: z.string().max(3), kind: z.enum(['a', 'b']) })
  const ark = type({ password: 'string < 4', kind: '"a" | "b"' })
  const base = { name: 'login', description: 'Logs in' }
  const kinds: readonly (readonly [string, Tool])[] = [
    ['JSON Schema', defineTool({ ...base, inputSchema })],
    ['zod', defineTool({ ...base, inputSchema: zod })],
    ['arktype', defineTool({ ...base, inputSchema: ark })],
  ]

  it.each(kinds)('says which argument is wrong, and no value (%s)', async (_, made) => {
    const given = JSON.stringify({ password: secret, kind: secret })
    const { failed, lines, conversation } = await printed({ tools: [made] }, [['login', given]])
    expect(failed()).toEqual([expect.stringMatching(/^"a" · call of login failed \(invalid\): .*"password"/)])
    expect(lines.join()).not.toContain(secret)
    expect(JSON.stringify(conversation.events)).not.toContain(secret)
  })

  const named = { name: 'count', description: 'Counts' }
  it.each<[string, Tool, string]>([
    [
      'zod',
      defineTool({ ...named, inputSchema: z.object({ n: z.number() }) }),
      'Invalid input: expected number, received string',
    ],
    ['arktype', defineTool({ ...named, inputSchema: type({ n: 'number' }) }), 'n must be a number'],
    [
      'a rule whose message repeats the value',
      defineTool({
        ...named,
        inputSchema: z.object({ n: z.string().refine(() => false, { error: ({ input }) => `no ${input}` }) }),
      }),
      'custom',
    ],
  ])('says the rule in the words of the library: %s', async (_, made, rule) => {
    const { failed } = await printed({ tools: [made] }, [['count', JSON.stringify({ n: secret })]])
    expect(failed()).toEqual([`"a" · call of count failed (invalid): "n": "${rule}"`])
  })

  it('says what a call through the bridge lacks', async () => {
    const { failed, turn } = await printed({ mode: 'on', tools: server('git', ['log']) }, [
      ['tool_call', '{"n":3}'],
    ])
    expect(turn.view.bridge).toBe('tool_call')
    expect(failed()).toEqual([
      '"a" · call of "tool_call" failed (invalid): "name": "Is missing: the exact name of the tool to call."',
    ])
  })

  it('says that arguments are not JSON', async () => {
    const { failed } = await printed({ tools: [tool('a')] }, [
      ['a', `{"value":${secret}`],
      ['a', '[1]'],
    ])
    expect(failed()).toEqual([
      '"a" · call of "a" failed (invalid): the arguments are not JSON',
      '"a" · call of "a" failed (invalid): the arguments are not an object',
    ])
  })
})

it('prints what an adapter noticed about a history, each once', async () => {
  const { lines, chat, turn } = await printed({ tools: server('box', ['a', 'b']), mode: 'on' })
  const given = [...turn.parts.messages] as ChatMessage[]
  await chat.begin(given)
  await chat.begin([...given, { role: 'user', content: 'And?' }])
  const told = lines.filter((line) => line.includes('warning (history-fed-back): '))
  expect(told).toEqual([expect.stringMatching(/^"a" · warning \(history-fed-back\): .*parts/)])
})

describe('a source', () => {
  it('that fails without any tool says so, with its reason', async () => {
    const lines: string[] = []
    const { catalogue } = createToolwell({ debug: (line) => void lines.push(line) })
    catalogue.setSource('git', { tools: [], state: 'connecting' })
    catalogue.setState('git', 'failed', { reason: 'the command was not found' })
    catalogue.setState('git', 'failed', { reason: 'the command was not found' })
    await expect
      .poll(() => lines)
      .toEqual(['source "git" is connecting', 'source "git" is failed: the command was not found'])
  })
})

describe('names in options that no tool has', () => {
  const tools = server('tracker', ['list', 'close'])

  it('are reported once, with the probable name', async () => {
    const { lines, well, chat, history } = await printed({
      tools,
      mode: 'on',
      eager: ['tracker__lst', 'tracker__close'],
      rules: [
        { source: 'trcker', defer: false },
        { tool: 'tracker__*', defer: true },
        { agent: 'planner', tool: 'list', defer: true },
      ],
    })
    await chat.begin([...history, { role: 'assistant', content: 'Hm.' }, { role: 'user', content: 'And?' }])
    await openaiChat(await well.open({ id: 'b' })).begin(history)
    expect(lines.filter((line) => line.includes('no tool'))).toEqual([
      'eager: no tool is named "tracker__lst"; did you mean "tracker__list"?',
      'rules[0]: it matches no tool ({"source":"trcker","defer":false}); did you mean "tracker"?',
    ])
  })

  it('are not missed while a source is still connecting', async () => {
    const lines: string[] = []
    const well = createToolwell({ eager: ['tracker__lst'], debug: (line) => void lines.push(line) })
    const chat = openaiChat(await well.open({ id: 'a' }))
    well.catalogue.setSource('tracker', { tools: [], state: 'connecting' })
    const history: ChatMessage[] = [{ role: 'user', content: 'Go.' }]
    await chat.begin(history)
    expect(lines.join()).not.toContain('tracker__lst')
    well.catalogue.setSource('tracker', { tools, state: 'ready' })
    await chat.begin([...history, { role: 'assistant', content: 'Hm.' }, { role: 'user', content: 'And?' }])
    expect(lines).toContain('eager: no tool is named "tracker__lst"; did you mean "tracker__list"?')
  })
})

it('says that a call was run before, and is not run again', async () => {
  const lines: string[] = []
  const well = createToolwell({ tools: [tool('a')], debug: (line) => lines.push(line) })
  const call = { callId: 'c1', anchor: 'c1', name: 'a', input: { value: {} } }
  const fail = { ...call, callId: 'c2', anchor: 'c2', input: { value: { value: 'x' } } }
  const conversation = await well.open({ id: 'thread-1' })
  await conversation.begin({ requestId: 'r1', anchor: '', wire: 'openai-chat' })
  await conversation.run([call])
  await conversation.run([fail], { execute: () => Promise.reject(new Error('no')) })
  const again = await conversation.run([call, fail])
  expect(again.map(({ text }) => text.split('.')[0])).toEqual([
    'This call was already run and succeeded; its result is not stored here',
    'This call was already run and failed; its result is not stored here',
  ])
  expect(lines.slice(-2)).toEqual([
    '"thread-1" · call c1 of a was run before (succeeded) and is not run again; for a new conversation, open a new id',
    '"thread-1" · call c2 of a was run before (failed) and is not run again; for a new conversation, open a new id',
  ])
})

describe('how tools are sent', () => {
  const refrozen = (lines: readonly string[]) => lines.find((line) => line.includes('frozen')) ?? ''

  it('says that nothing is deferred where only own tools are there', async () => {
    const { lines, well } = await printed({ tools: [tool('a')], mode: 'on' })
    expect(refrozen(lines)).toMatch(
      /openai-chat: bridge \(nothing is deferred: own tools are eager, unless the option is defer: 'all', or they are given with defer: true or by setSource; bridge: /,
    )
    expect(well.report()).toContain('nothing deferred (bridge)')
  })

  it('counts one tool as one, and names the delivery once', async () => {
    const { lines } = await printed({ tools: server('box', ['a']), mode: 'on' })
    expect(refrozen(lines)).toMatch(/: 1 tool deferred, bridge: the tools array never changes/)
  })

  it('says what a figure is compared with', async () => {
    const { lines } = await printed({ tools: server('box', ['a']), mode: 'on' })
    expect(lines.find((line) => line.includes('request'))).toMatch(
      /^"a" · request history 0\.\w+: \d+ tokens of tools, \d+ if all were sent$/,
    )
  })
})
