/** Content that only its own provider can read. It is kept for that provider, and others get a short text instead. */
import { afterEach, describe, expect, it } from 'vitest'
import { openSession } from '../agent/session.ts'
import { openTranscript } from '../agent/transcript.ts'
import type { WireName } from '../agent/wires.ts'
import { storyOf } from './story.ts'
import { closeWorlds, createWorld, MOVES } from './world.ts'

afterEach(closeWorlds)

/** Images of the user and of a tool. */
const PICTURE = 'R0lGODlhAQABAAAAACwAAAAAAQABAAA='
const SEEN =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=='

/** Messages a host may have: an image and thinking, which only their wire can carry, and a tool's image. */
const OWN: Readonly<Record<WireName, readonly object[]>> = {
  anthropic: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: PICTURE } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'A secret thought.', signature: 'c2VjcmV0' },
        { type: 'tool_use', id: 'toolu_own', name: 'delegate', input: { task: 'Look', tools: [] } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_own',
          content: [
            { type: 'text', text: 'I see.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: SEEN } },
          ],
        },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'A well.' }] },
  ],
  'openai-responses': [
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: `data:image/gif;base64,${PICTURE}`, detail: 'auto' },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VjcmV0' },
    {
      type: 'function_call',
      id: 'fc_own',
      call_id: 'call_own',
      name: 'delegate',
      arguments: '{"task":"Look","tools":[]}',
    },
    {
      type: 'function_call_output',
      call_id: 'call_own',
      output: [
        { type: 'input_text', text: 'I see.' },
        { type: 'input_image', image_url: `data:image/png;base64,${SEEN}`, detail: 'auto' },
      ],
    },
    {
      type: 'message',
      id: 'msg_own',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'A well.' }],
    },
  ],
  'openai-chat': [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/gif;base64,${PICTURE}` } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'A secret thought. c2VjcmV0',
      tool_calls: [
        {
          id: 'call_own',
          type: 'function',
          function: { name: 'delegate', arguments: '{"task":"Look","tools":[]}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_own', content: 'I see.' },
    { role: 'assistant', content: 'A well.' },
  ],
  google: [
    {
      role: 'user',
      parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/gif', data: PICTURE } }],
    },
    {
      role: 'model',
      parts: [
        { text: 'A secret thought.', thought: true },
        {
          functionCall: { id: 'function-own', name: 'delegate', args: { task: 'Look', tools: [] } },
          thoughtSignature: 'c2VjcmV0',
        },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'function-own',
            name: 'delegate',
            response: { result: 'I see.' },
            parts: [{ inlineData: { mimeType: 'image/png', data: SEEN } }],
          },
        },
      ],
    },
    { role: 'model', parts: [{ text: 'A well.' }] },
  ],
}
/** Anthropic refuses thinking from before the ledger, because it was bound to other bytes. */
function asSent(message: object): object {
  const { content } = message as { content?: unknown }
  if (!Array.isArray(content)) return message
  return { ...message, content: content.filter(({ type }: { type?: string }) => type !== 'thinking') }
}

const PRIVATE = /R0lGODlh|c2VjcmV0|secret thought/
const LEFT = '[Sent to another provider and not available here: image]'

describe.each(MOVES)('what only %s can read', (from, to) => {
  it('has a word in its place at %s, and is all there on the way back', async () => {
    const { folder, createHost, queue, lastBody, refusals } = await createWorld()
    const history = await openTranscript(folder, 'main', from)
    await history.append(...OWN[from])
    const session = await openSession(createHost(from), 'main')
    await session.moveTo(to)
    queue.push(() => ({ text: 'Deep.' }))
    await session.ask('How deep?')
    // A tool's image moves to every wire that accepts images in results.
    const isLeft = from !== 'openai-chat' && to === 'openai-chat'
    const shown =
      from === 'openai-chat'
        ? ''
        : { anthropic: '(image)', 'openai-responses': '(input_image)' }[to as string]
    const answer = isLeft ? `answer: I see.\n${LEFT}` : `answer: I see.${shown ?? ''}`
    expect(storyOf(lastBody(to))).toEqual([
      'user: What is this?',
      `user: ${LEFT}`,
      'call: delegate {"task":"Look","tools":[]}',
      answer,
      'model: A well.',
      'user: How deep?',
    ])
    expect(JSON.stringify(lastBody(to))).not.toMatch(PRIVATE)
    expect(JSON.stringify(lastBody(to)).includes(SEEN)).toBe(from !== 'openai-chat' && to !== 'openai-chat')

    await session.moveTo(from)
    queue.push(() => ({ text: 'Very.' }))
    await session.ask('Really?')
    expect(session.messages.slice(0, OWN[from].length)).toEqual(OWN[from])
    const sent = JSON.stringify(lastBody(from))
    for (const message of OWN[from]) expect(sent).toContain(JSON.stringify(asSent(message)).slice(1, -2))
    expect(refusals()).toEqual([])
  })

  it('leaves a placeholder if it was the whole message', async () => {
    const { folder, createHost, queue, lastBody, refusals } = await createWorld()
    const history = await openTranscript(folder, 'main', from)
    const first = OWN[from][0] as { content?: unknown[]; parts?: unknown[] }
    const field = first.parts ? 'parts' : 'content'
    await history.append({ ...first, [field]: first[field]?.slice(1) })
    const session = await openSession(createHost(from), 'main')
    await session.moveTo(to)
    queue.push(() => ({ text: 'I see nothing.' }))
    await session.ask()
    expect(storyOf(lastBody(to))).toEqual([`user: ${LEFT}`])
    expect(refusals()).toEqual([])
  })
})

it('carries a developer message between other messages to Anthropic', async () => {
  const { folder, createHost, queue, lastBody, refusals } = await createWorld()
  const history = await openTranscript(folder, 'main', 'openai-chat')
  await history.append(
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Hello!' },
    { role: 'developer', content: 'It is late.' },
  )
  const session = await openSession(createHost('openai-chat'), 'main')
  await session.moveTo('anthropic')
  queue.push(() => ({ text: 'Good night.' }))
  await session.ask('Goodbye.')
  expect(refusals()).toEqual([])
  expect(storyOf(lastBody('anthropic'))).toEqual([
    'user: Hello.',
    'model: Hello!',
    'user: It is late.',
    'user: Goodbye.',
  ])
})
