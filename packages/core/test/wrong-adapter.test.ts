/** Mistakes of a host: histories and replies of another wire, requests fed back as history, replies run twice. */

import { type Conversation, createToolwell, type ToolwellOptions } from '@toolwell/core'
import { aiSdk } from '@toolwell/core/ai-sdk'
import { anthropic } from '@toolwell/core/anthropic'
import { google } from '@toolwell/core/google'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import { mixed } from './support/tools.js'

type Name = 'ai-sdk' | 'anthropic' | 'google' | 'openai-chat' | 'openai-responses'
type History = readonly object[]
interface Door {
  readonly name: string
  /** A question, a call of `read_file` and its result. */
  readonly history: History
  readonly reply?: object
  /** A reply that says something and calls nothing. */
  readonly spoken?: object
  begin?(conversation: Conversation, history: History, more?: object): Promise<Turn>
  read(conversation: Conversation, history: History): unknown
}
interface Turn {
  readonly warnings: readonly { readonly code: string; readonly text: string }[]
  readonly parts: object
  run(reply: never): Promise<unknown>
}

const args = '{"value":"a"}'
const input = { value: 'a' }
const user = { role: 'user', content: 'Go.' }
const chatCall = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read_file', arguments: args } }],
}
const use = [{ type: 'tool_use', id: 'call_1', name: 'read_file', input }]
const item = { type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: args }
const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }
const functionCall = { role: 'model', parts: [{ functionCall: { name: 'read_file', args: input } }] }

const doors: Readonly<Record<Name, Door>> = {
  'openai-chat': {
    name: 'openaiChat',
    history: [user, chatCall, { role: 'tool', tool_call_id: 'call_1', content: 'done' }],
    reply: { choices: [{ message: chatCall, finish_reason: 'tool_calls' }] },
    spoken: { choices: [{ message: { role: 'assistant', content: 'Hi.' } }] },
    begin: (conversation, history) => openaiChat(conversation).begin(history as never),
    read: (conversation, history) => openaiChat(conversation).thread(history as never),
  },
  'openai-responses': {
    name: 'openaiResponses',
    history: [user, item, { type: 'function_call_output', call_id: 'call_1', output: 'done' }],
    reply: { output: [item] },
    spoken: { output: [said] },
    begin: (conversation, history, more) =>
      openaiResponses(conversation, { native: false }).begin(history as never, more),
    read: (conversation, history) => openaiResponses(conversation).thread(history as never),
  },
  anthropic: {
    name: 'anthropic',
    history: [
      user,
      { role: 'assistant', content: use },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'done' }] },
    ],
    reply: { role: 'assistant', content: use, stop_reason: 'tool_use' },
    spoken: { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }], stop_reason: 'end_turn' },
    begin: (conversation, history, more) =>
      anthropic(conversation, { native: false }).begin(history as never, more),
    read: (conversation, history) => anthropic(conversation).thread(history as never),
  },
  google: {
    name: 'google',
    history: [
      { role: 'user', parts: [{ text: 'Go.' }] },
      functionCall,
      { role: 'user', parts: [{ functionResponse: { name: 'read_file', response: { result: 'done' } } }] },
    ],
    reply: { candidates: [{ content: functionCall }] },
    spoken: { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi.' }] } }] },
    begin: (conversation, history, more) => google(conversation).begin(history as never, more),
    read: (conversation, history) => google(conversation).thread(history as never),
  },
  'ai-sdk': {
    name: 'aiSdk',
    history: [
      user,
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'read_file', input }] },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'read_file',
            output: { type: 'text', value: 'done' },
          },
        ],
      },
    ],
    read: (conversation, history) => aiSdk(conversation).thread(history as never),
  },
}

const names = Object.keys(doors) as Name[]
const open = (options: ToolwellOptions = {}) =>
  createToolwell({ tools: mixed(), mode: 'on', delivery: 'bridge', ...options }).open({ id: 'a' })
const all = names.flatMap((here) => names.flatMap((there) => (here === there ? [] : [{ here, there }])))
/** The Responses adapter takes messages of Chat Completions, and writes them as items. */
const isTaken = ({ here, there }: (typeof all)[number]) =>
  here === 'openai-responses' && there === 'openai-chat'
const pairs = all.filter((pair) => !isTaken(pair))

describe.each(pairs)('$there given to $here', ({ here, there }) => {
  const door = doors[here]
  const other = doors[there]
  const fix = other.name

  it('a history is refused with the door that reads it', async () => {
    const conversation = await open()
    const foreign = other.history.slice(1)
    expect(() => door.read(conversation, foreign)).toThrow(fix)
    if (door.begin) await expect(door.begin(conversation, foreign)).rejects.toThrow(fix)
    // Nothing was recorded: the same conversation continues.
    expect(conversation.events.filter(({ kind }) => kind === 'frozen')).toEqual([])
  })
})

const spoken = pairs.filter(({ here }) => here !== 'ai-sdk')

describe.each(spoken)('of $there, given to $here', ({ here, there }) => {
  const door = doors[here] as Required<Door>
  const other = doors[there]

  it('one foreign entry among its own is reported, and the rest is sent', async () => {
    const turn = await door.begin(await open(), [...door.history, ...other.history.slice(1, 2)])
    const told = turn.warnings.filter(({ code }) => code === 'entry-foreign')
    expect(told.map(({ text }) => text)).toEqual([expect.stringContaining(`${door.name} reads`)])
  })
})

describe.each(spoken.filter(({ there }) => there !== 'ai-sdk'))(
  'a reply of $there, given to $here',
  ({ here, there }) => {
    it('is rejected, also without calls', async () => {
      const door = doors[here] as Required<Door>
      const { reply, spoken: said, name } = doors[there]
      const turn = await door.begin(await open(), door.history.slice(0, 1))
      await expect(turn.run(reply as never)).rejects.toThrow(`Use ${name}`)
      await expect(turn.run(said as never)).rejects.toThrow(`Use ${name}`)
    })
  },
)

describe.each(names.filter((name) => doors[name].begin))('%s', (name) => {
  const door = doors[name] as Required<Door>

  it('reports nothing about its own history and its own reply', async () => {
    const conversation = await open()
    const turn = await door.begin(conversation, door.history)
    expect(turn.warnings).toEqual([])
    await expect(turn.run(door.reply as never)).resolves.toMatchObject({
      answers: [{ callId: expect.anything() }],
    })
    expect(() => door.read(conversation, door.history)).not.toThrow()
    await expect(turn.run(door.spoken as never)).resolves.toMatchObject({ messages: [] })
    await expect(turn.run(door.spoken as never)).resolves.toMatchObject({ messages: [] })
  })

  it('refuses to run the calls of one reply twice, and runs nothing then', async () => {
    let runs = 0
    const [first, ...others] = mixed()
    const tools = [{ ...first, execute: () => `run ${++runs}` }, ...others] as ToolwellOptions['tools'] & {}
    const turn = await door.begin(await open({ tools }), door.history.slice(0, 1))
    await turn.run(door.reply as never)
    await expect(turn.run(door.reply as never)).rejects.toThrow('This reply was already run')
    expect(runs).toBe(1)
    // A copy of it is the same reply: the ledger knows that its calls were started.
    await turn.run(structuredClone(door.reply) as never)
    expect(runs).toBe(1)
  })

  it('notices what it has put into a request when that comes back', async () => {
    const conversation = await open()
    const first = await door.begin(conversation, door.history.slice(0, 1))
    const parts = first.parts as Readonly<Record<string, unknown>>
    const history = (parts.messages ?? parts.input ?? parts.contents) as History
    const { instructions, system, systemInstruction } = parts
    const more = Object.fromEntries(
      Object.entries({ instructions, system, systemInstruction }).filter(([, value]) => value !== undefined),
    )
    const second = await door.begin(conversation, history, more)
    expect(second.warnings.map(({ code }) => code)).toContain('history-fed-back')
  })

  it('notices a notice that comes back, and none that only looks like one', async () => {
    const conversation = await open()
    await door.begin(conversation, door.history.slice(0, 1))
    await conversation.load(['tracker__create_issue'])
    const first = await door.begin(conversation, door.history)
    expect(JSON.stringify(first.parts)).toContain('<tool-update>')
    const parts = first.parts as Readonly<Record<string, unknown>>
    const history = (parts.messages ?? parts.input ?? parts.contents) as History
    const second = await door.begin(
      conversation,
      history.filter((entry) => !('role' in entry) || entry.role !== 'system'),
    )
    expect(second.warnings.map(({ code }) => code)).toContain('history-fed-back')
    const text = 'What is <tool-update> for?\n<tool-update>\nsomething\n</tool-update>'
    const asked = name === 'google' ? { role: 'user', parts: [{ text }] } : { role: 'user', content: text }
    const third = await door.begin(conversation, [...door.history, asked])
    expect(third.warnings.map(({ code }) => code)).not.toContain('history-fed-back')
  })
})

it('messages of Chat Completions are taken by the Responses adapter, their replies are not', async () => {
  const door = doors['openai-responses'] as Required<Door>
  const turn = await door.begin(await open(), doors['openai-chat'].history)
  expect(new Set(turn.warnings.map(({ code }) => code))).toEqual(new Set(['form-repaired']))
  expect(JSON.stringify(turn.parts)).toContain('"function_call_output"')
  await expect(turn.run(doors['openai-chat'].reply as never)).rejects.toThrow('Use openaiChat')
})

describe('content that one wire alone has', () => {
  const pieces: readonly [Name, object][] = [
    ['anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }],
    ['anthropic', { type: 'thinking', thinking: 'Hm.', signature: 'abc' }],
    ['openai-chat', { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }],
    ['openai-responses', { type: 'input_text', text: 'Go.' }],
    ['openai-responses', { type: 'input_image', image_url: 'data:image/png;base64,aGk=' }],
  ]
  const given = pieces.flatMap(([there, piece]) =>
    (['anthropic', 'openai-chat', 'openai-responses'] as const).flatMap((here) =>
      here === there || (here === 'openai-responses' && there === 'openai-chat')
        ? []
        : [{ here, there, piece }],
    ),
  )

  it.each(given)('$piece.type of $there is refused by $here', async ({ here, there, piece }) => {
    const door = doors[here] as Required<Door>
    const history = [{ role: 'user', content: [piece] }]
    await expect(door.begin(await open(), history)).rejects.toThrow(
      `Use ${doors[there].name} of @toolwell/core/`,
    )
  })

  it('is said once where the rest of the history is its own', async () => {
    const door = doors['openai-chat'] as Required<Door>
    const { warnings } = await door.begin(await open(), [
      ...door.history,
      { role: 'user', content: [pieces[0]?.[1]] },
    ])
    expect(warnings.filter(({ code }) => code === 'entry-foreign')).toHaveLength(1)
  })

  it('thinking without a signature is that of some Chat servers', async () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }
    const content = [thinking, { type: 'text', text: 'Hi.' }]
    const history = [user, { role: 'assistant', content }, user]
    expect((await openaiChat(await open()).begin(history)).warnings).toEqual([])
  })
})

it.each(names)('messages of an interface are sent to the SDK by %s', async (name) => {
  const conversation = await open()
  const history = [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }]
  expect(() => doors[name].read(conversation, history)).toThrow('convertToModelMessages')
})

describe('a misspelt role', () => {
  it.each([
    ['usr', 'user'],
    ['Asistant', 'assistant'],
    ['sytem', 'system'],
  ])('%s is refused with the role that was meant', async (role, meant) => {
    for (const name of names) {
      const conversation = await open()
      const wrong = name === 'google' ? { role, parts: [{ text: 'Go.' }] } : { role, content: 'Go.' }
      expect(() => doors[name].read(conversation, [...doors[name].history, wrong])).toThrow(
        `has the role ${JSON.stringify(role)}. Did you mean "${meant}"?`,
      )
    }
  })

  it('is not every unknown role: servers have their own', async () => {
    const { parts } = await openaiChat(await open()).begin([{ role: 'ipython', content: 'Go.' }])
    expect(JSON.stringify(parts)).toContain('"role":"user","content":"Go."')
  })
})

describe('in place of a reply', () => {
  it.each([
    ['a promise', Promise.resolve({}), 'Await it, then pass the reply to run'],
    ['a response', new Response('{}'), 'await response.json()'],
    ['an error of the API', { error: { message: 'Incorrect API key', type: 'x' } }, '"Incorrect API key"'],
    ['an error of Anthropic', { type: 'error', error: { type: 'x', message: 'overloaded' } }, '"overloaded"'],
  ])('%s is told apart', async (_, given, says) => {
    for (const name of names) {
      const door = doors[name]
      const turn = await door.begin?.(await open(), door.history.slice(0, 1))
      if (turn) await expect(turn.run(given as never)).rejects.toThrow(says)
    }
  })

  it('a response that failed is a reply all the same', async () => {
    const door = doors['openai-responses'] as Required<Door>
    const turn = await door.begin(await open(), door.history.slice(0, 1))
    const failed = { output: [], status: 'failed', error: { code: 'server_error', message: 'Oh.' } }
    await expect(turn.run(failed as never)).resolves.toMatchObject({ messages: [] })
  })
})

it.each([
  ['openai-chat', 'system', "{ role: 'system', content: … }"],
  ['anthropic', 'instructions', '"system", not as "instructions"'],
  ['openai-responses', 'system', '"instructions", not as "system"'],
  ['google', 'system', '"systemInstruction", not as "system"'],
] as const)('%s: names the right place for the system prompt given as %s', async (name, key, says) => {
  const conversation = await open()
  const adapter: { begin(history: never, more: never): Promise<unknown> } = {
    'openai-chat': () => openaiChat(conversation),
    anthropic: () => anthropic(conversation),
    'openai-responses': () => openaiResponses(conversation),
    google: () => google(conversation),
  }[name]()
  const history = doors[name].history.slice(0, 1)
  await expect(adapter.begin(history as never, { [key]: 'Be brief.' } as never)).rejects.toThrow(says)
})

it('messages with "content" are none of Gemini', async () => {
  const adapter = google(await open())
  await expect(adapter.begin([user] as never)).rejects.toThrow('{ role, parts: [{ text }] }')
})

it('a run that failed may be tried again with the same reply', async () => {
  const conversation = await open()
  let fails = true
  const run: Conversation['run'] = (...given) => {
    if (!fails) return conversation.run(...given)
    fails = false
    return Promise.reject(new Error('the store is gone'))
  }
  const turn = await openaiChat(Object.create(conversation, { run: { value: run } })).begin([user] as never)
  const reply = doors['openai-chat'].reply as never
  await expect(turn.run(reply)).rejects.toThrow('the store is gone')
  await expect(turn.run(reply)).resolves.toMatchObject({ answers: [{ callId: 'call_1' }] })
  await expect(turn.run(reply)).rejects.toThrow('This reply was already run')
})
