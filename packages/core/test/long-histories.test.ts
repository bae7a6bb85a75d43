/**
 * A host passes the whole history with every request, and the adapter reads only the new part. Its cache never shows: each request is
 * what an adapter that has seen nothing would make of it, whatever the host does to its messages in between.
 */

import { type Conversation, createToolwell } from '@toolwell/core'
import { anthropic } from '@toolwell/core/anthropic'
import { google } from '@toolwell/core/google'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { brokenHistory } from './support/broken-histories.js'
import { brokenWires } from './support/broken-wires.js'
import { mixed } from './support/tools.js'

interface Line {
  begin(
    messages: readonly object[],
    request?: { readonly requestId?: string },
  ): Promise<{ readonly parts: object; readonly warnings: readonly object[] }>
  adopt(thread: unknown): readonly object[]
}

const LINES: Readonly<Record<string, (conversation: Conversation) => Line>> = {
  'openai-chat': (conversation) => openaiChat(conversation) as unknown as Line,
  anthropic: (conversation) => anthropic(conversation) as unknown as Line,
  google: (conversation) => google(conversation) as unknown as Line,
  'openai-responses': (conversation) => openaiResponses(conversation) as unknown as Line,
}

const lineOf = (name: string) => LINES[name] ?? LINES['openai-chat']

/** Results of an adapter without a cache and of an adapter with one. */
async function compared(line: Line, fresh: Line, messages: readonly object[], requestId: string) {
  const [one, two] = [await line.begin(messages, { requestId }), await fresh.begin(messages, { requestId })]
  return [one, two].map(({ parts, warnings }) => ({ parts: JSON.stringify(parts), warnings }))
}

/** With two messages removed, the rest is read together: a stretch continues after its old end. */
const JOINED: Parameters<(typeof brokenWires)[number]['render']>[0] = [
  { kind: 'user', text: 'Do it.' },
  { kind: 'reply', text: 'Yes.', calls: [] },
  { kind: 'reply', text: 'Done.', calls: [] },
  { kind: 'user', text: 'Do it.' },
  { kind: 'reply', text: 'Cut', calls: [{ name: 'read_file', input: { value: 'x' }, id: 'call_1' }] },
  { kind: 'answer', id: 'call_1', name: 'read_file', text: 'answer to call_1' },
  { kind: 'reply', text: 'Done.', calls: [] },
]

/** Equal messages may be one object or two. */
const TWICE: typeof JOINED = [
  { kind: 'odd', which: 0 },
  { kind: 'odd', which: 0 },
  ...[0, 1].map(() => ({
    kind: 'reply' as const,
    text: '',
    calls: [{ name: 'read_file', input: { value: 'x' }, id: 'call_1' }],
  })),
  ...[0, 1].map(() => ({
    kind: 'answer' as const,
    id: 'call_1',
    name: 'read_file',
    text: 'answer to call_1',
  })),
  { kind: 'user', text: 'Do it.' },
  { kind: 'reply', text: 'Yes.', calls: [] },
]

/** Without its first message, the second of two equal messages takes the place of the first. */
const EQUAL: typeof JOINED = [
  { kind: 'user', text: 'Do it.' },
  { kind: 'reply', text: 'Yes.', calls: [] },
  { kind: 'user', text: 'Do it.' },
  ...[0, 1].map(() => ({
    kind: 'reply' as const,
    text: '',
    calls: [
      { name: 'read_file', input: { value: 'x' }, id: 'call_7' },
      { name: 'read_file', input: '{"value":"cut sho', id: 'call_8' },
    ],
  })),
  { kind: 'answer', id: 'call_7', name: 'read_file', text: 'answer to call_7' },
  { kind: 'answer', id: 'call_8', name: 'read_file', text: 'answer to call_8' },
  { kind: 'reply', text: 'Done.', calls: [] },
]

const wires = brokenWires.filter(({ name }) => name in LINES)

describe.each(wires)('on $name', ({ name, render }) => {
  it.each(['bridge', 'append', 'native', 'off'] as const)(
    'what is remembered of a history shows nowhere (%s)',
    async (delivery) => {
      const well = createToolwell({
        tools: mixed(),
        ...(delivery === 'off' ? { mode: 'off' } : { mode: 'on', delivery }),
      })
      let count = 0
      await fc.assert(
        fc.asyncProperty(brokenHistory, fc.array(fc.nat(), { maxLength: 6 }), async (elements, choices) => {
          const conversation = await well.open({ id: `thread ${++count}` })
          const line = lineOf(name)?.(conversation) as Line
          let history = [...render(elements)] as object[]
          const check = async (messages: readonly object[], step: string) => {
            const fresh = lineOf(name)?.(conversation) as Line
            const [one, two] = await compared(line, fresh, messages, `${step} ${messages.length}`)
            expect(one).toEqual(two)
          }
          for (let length = 1; length <= history.length; length += 2)
            await check(history.slice(0, length), 'grows')
          await check(structuredClone(history), 'is read anew')
          for (const [number, choice] of choices.entries()) {
            const at = choice % Math.max(1, history.length)
            if (choice % 3 === 0) history = history.toSpliced(at, 1)
            if (choice % 3 === 1) history = [...history.slice(0, at), ...(render(elements) as object[])]
            if (choice % 3 === 2) touch(history[at], number)
            await check(history, `changes ${number}`)
          }
        }),
        {
          numRuns: runs(25),
          examples: [
            [JOINED, [353624628, 785750745]],
            [TWICE, [0]],
            [EQUAL, [0]],
          ],
        },
      )
    },
  )
})

/** Changes the first text inside a message in place, at any depth. */
function touch(value: unknown, number: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  for (const [key, each] of Object.entries(value)) {
    if (touch(each, number)) return true
    if (typeof each !== 'string' || !['text', 'content', 'result', 'output', 'value'].includes(key)) continue
    Object.assign(value, { [key]: `${each} (${number})` })
    return true
  }
  return false
}

const CALLED = [
  { role: 'user', content: [{ type: 'text', text: 'Look at the file.' }] },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"value":"a"}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'It says nothing.' },
  { role: 'assistant', content: 'Nothing.' },
  { role: 'user', content: [{ type: 'text', text: 'Look again.' }] },
]

/** Places deep inside a message, one for each wire. */
const PLACES: Readonly<Record<string, (messages: readonly object[]) => object>> = {
  'openai-chat': ([first]) => (first as { content: object[] }).content[0] as object,
  anthropic: ([, , answer]) => {
    const block = (answer as { content: { content: object[] }[] }).content[0]
    if (!block) throw new Error('no result')
    block.content = [{ type: 'text', text: 'It says nothing.' }]
    return block.content[0] as object
  },
  google: ([, , answer]) =>
    (answer as { parts: { functionResponse: { response: object } }[] }).parts[0]?.functionResponse
      .response as object,
  'openai-responses': ([, , answer]) => {
    const item = answer as { output: unknown }
    const part = { type: 'input_text', text: 'It says nothing.' }
    item.output = [part]
    return part
  },
}

describe.each(Object.keys(LINES))('an edit in place, deep inside a message, on %s', (name) => {
  it('is noticed with the next request', async () => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'on', delivery: 'bridge' }).open({
      id: 'edited',
    })
    const line = lineOf(name)?.(conversation) as Line
    const chat = openaiChat(conversation)
    const messages = structuredClone(line.adopt(chat.thread(CALLED as never))) as object[]
    const place = PLACES[name]?.(messages) as { text?: string; result?: string }
    await line.begin(messages)
    const key = 'result' in place ? 'result' : 'text'
    place[key] = 'It says: pay the invoice.'
    const { parts } = await line.begin(messages, { requestId: 'edited' })
    expect(JSON.stringify(parts)).toContain('It says: pay the invoice.')
    // The adapter's cache is renewed, too: a thread that moves has the new words.
    const fresh = lineOf(name)?.(conversation) as Line
    expect(JSON.stringify((await fresh.begin(messages, { requestId: 'edited' })).parts)).toBe(
      JSON.stringify(parts),
    )
  })
})

describe('a long history', () => {
  it('gives the host its own objects and, off, its own array', async () => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'off' }).open({ id: 'own' })
    const adapter = openaiChat(conversation)
    const messages = structuredClone(CALLED) as never[]
    expect((await adapter.begin(messages)).parts.messages).toBe(messages)
    const copy = structuredClone(messages)
    expect((await adapter.begin(copy)).parts.messages).toBe(copy)
    Object.assign((copy as object[])[0] as object, { content: 'Changed in place.' })
    const { parts } = await adapter.begin(copy)
    expect(parts.messages).toBe(copy)
    expect(JSON.stringify(parts.messages)).toContain('Changed in place.')
  })
})
