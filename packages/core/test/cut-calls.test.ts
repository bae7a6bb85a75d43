/** Calls that arrive in pieces, or not as a whole: they run with all their arguments, or not at all. */
import { createToolwell, type Tool } from '@toolwell/core'
import { assemble, type GoogleContent, google } from '@toolwell/core/google'
import { assemble as assembleResponses, openaiResponses } from '@toolwell/core/openai-responses'
import { googleProtocol, responsesProtocol } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'

const echo: Tool = {
  name: 'send_mail',
  description: 'Sends a mail.',
  inputSchema: { type: 'object' },
  execute: (input: unknown) => JSON.stringify(input),
}
const open = () => createToolwell({ tools: [echo], mode: 'off' }).open({ id: 'a' })

describe('partialArgs of Vertex AI', () => {
  const piece = (functionCall: object) => ({ functionCall })
  const text = (jsonPath: string, stringValue: string, willContinue = false) => ({
    jsonPath,
    stringValue,
    willContinue,
  })
  const whole = [
    { ...piece({ name: 'send_mail', willContinue: true }), thoughtSignature: 'sig' },
    piece({ partialArgs: [text('$.to[0].name', 'A', true)], willContinue: true }),
    piece({ partialArgs: [text('$.to[0].name', 'da'), text("$['cc to']", 'Bob')], willContinue: true }),
    piece({
      partialArgs: [
        { jsonPath: '$.count', numberValue: 2 },
        { jsonPath: '$.urgent', boolValue: false },
        { jsonPath: '$.note', nullValue: 'NULL_VALUE' },
      ],
      willContinue: true,
    }),
    piece({}),
  ]
  const args = { to: [{ name: 'Ada' }], 'cc to': 'Bob', count: 2, urgent: false, note: null }

  async function* chunks(parts: readonly object[]) {
    for (const part of parts) yield { candidates: [{ content: { role: 'model', parts: [part] } }] }
    yield { candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] }
  }
  const run = async (
    reply: Parameters<Awaited<ReturnType<ReturnType<typeof google>['begin']>>['run']>[0],
  ) => {
    const gemini = google(await open())
    const history: GoogleContent[] = [{ role: 'user', parts: [{ text: 'Go.' }] }]
    const turn = await gemini.begin(history)
    const { answers, messages } = await turn.run(reply)
    const kept = 'reply' in reply ? reply.messages : [reply as GoogleContent]
    const next = await gemini.begin([...history, ...(kept as GoogleContent[]), ...messages])
    expect(googleProtocol().violationOf(next.parts as never)).toBeUndefined()
    return { answers, contents: next.parts.contents }
  }

  it.each(['assembled', 'whole'])('are joined into the arguments of one call (%s)', async (form) => {
    const reply = form === 'whole' ? { role: 'model', parts: whole } : await assemble(chunks(whole))
    const { answers, contents } = await run(reply as GoogleContent)
    expect(answers.map((answer) => answer.text)).toEqual([JSON.stringify(args)])
    expect(contents[1]?.parts).toEqual([
      { functionCall: { name: 'send_mail', args }, thoughtSignature: 'sig' },
    ])
  })

  it.each(['on', 'off'] as const)(
    'are joined if the history has one content for each piece (%s)',
    async (mode) => {
      const content = (part: object) => ({ role: 'model', parts: [part] })
      const user: GoogleContent = { role: 'user', parts: [{ text: 'Go.' }] }
      const response = { functionResponse: { name: 'send_mail', response: { result: 'Sent.' } } }
      const done = { role: 'model', parts: [{ text: 'Done.' }] }
      const ends: GoogleContent[][] = [[{ role: 'user', parts: [response] }], [user]]
      for (const end of ends) {
        const gemini = google(await createToolwell({ tools: [echo], mode }).open({ id: 'a' }))
        const history = [user, content({ text: 'Hm.', thought: true }), ...whole.map(content), ...end]
        const { parts } = await gemini.begin(history as GoogleContent[])
        expect(googleProtocol().violationOf(parts as never)).toBeUndefined()
        const calls = parts.contents.flatMap((each) =>
          (each.parts ?? []).flatMap((part) => part.functionCall ?? []),
        )
        expect(calls).toEqual([{ name: 'send_mail', args }])
        const next = await gemini.begin([...history, done, user] as GoogleContent[])
        expect(next.parts.contents.slice(0, parts.contents.length)).toEqual(parts.contents)
      }
    },
  )

  it.each([
    ['the last piece is missing', whole.slice(0, -1)],
    ['a path cannot be read', [whole[0], piece({ partialArgs: [text('$..to', 'x')] })]],
    ['a path leaves a gap in a list', [whole[0], piece({ partialArgs: [text('$.to[900000]', 'x')] })]],
    [
      'a path names the length of a list',
      [
        whole[0],
        piece({ partialArgs: [text('$.to[0]', 'x'), { jsonPath: '$.to.length', numberValue: 9e8 }] }),
      ],
    ],
    ['a path names the prototype', [whole[0], piece({ partialArgs: [text('$.__proto__.x', 'x')] })]],
  ])('do not run if %s', async (_, parts) => {
    const { answers } = await run({ role: 'model', parts: parts as GoogleContent['parts'] } as GoogleContent)
    expect(answers).toHaveLength(1)
    expect(answers[0]?.outcome.kind).toBe('invalid')
    expect(answers[0]?.text).toContain('cut off')
  })

  it('belong to the call of their id, and a piece without a call is no call', async () => {
    const named = (id: string, fields: object) => piece({ id, ...fields })
    const parts = [
      { ...named('a', { name: 'send_mail', willContinue: true }), thoughtSignature: 'sig' },
      named('b', { name: 'send_mail', willContinue: true }),
      named('a', { partialArgs: [text('$.to', 'Ada')] }),
      named('b', { partialArgs: [text('$.to', 'Bob')] }),
      piece({}),
      named('c', { partialArgs: [text('$.to', 'Eve')] }),
    ]
    const { answers, contents } = await run({ role: 'model', parts } as GoogleContent)
    expect(answers.map((answer) => answer.text)).toEqual(['{"to":"Ada"}', '{"to":"Bob"}'])
    expect(contents[1]?.parts).toHaveLength(2)
  })
})

it.each(['whole', 'streamed'])(
  'the last call of a Gemini reply at its token limit does not run (%s)',
  async (form) => {
    const turn = await google(await open()).begin([{ role: 'user', parts: [{ text: 'Go.' }] }])
    const content = {
      role: 'model',
      parts: [
        { functionCall: { name: 'send_mail', args: { to: 'a' } } },
        { functionCall: { name: 'send_mail', args: {} } },
      ],
    }
    const response = { candidates: [{ content, finishReason: 'MAX_TOKENS' }] }
    async function* chunks() {
      yield response
    }
    const { answers } = await turn.run(form === 'whole' ? response : await assemble(chunks()))
    expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['result', 'invalid'])
  },
)

it('a call of the Responses API with the status incomplete does not run, even if its arguments parse', async () => {
  const turn = await openaiResponses(await open()).begin([{ role: 'user', content: 'Go.' }])
  const call = { type: 'function_call', call_id: 'call_1', name: 'send_mail', arguments: '{"to":"a"}' }
  const { answers } = await turn.run({ output: [{ ...call, status: 'incomplete' }] })
  expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['invalid'])
  expect(answers[0]?.text).toContain('cut off')
})

it('the last call of an incomplete reply of the Responses API does not run, whole or assembled', async () => {
  const item = { type: 'function_call', name: 'send_mail', arguments: '{"to":"a"}' }
  const output = [
    { ...item, call_id: 'call_1' },
    { ...item, call_id: 'call_2' },
  ]
  async function* events() {
    yield { type: 'response.incomplete', response: { status: 'incomplete', output } }
  }
  for (const reply of [{ status: 'incomplete', output }, (await assembleResponses(events())).reply]) {
    const turn = await openaiResponses(await open()).begin([{ role: 'user', content: 'Go.' }])
    const { answers } = await turn.run(reply)
    expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['result', 'invalid'])
  }
})

it('a search of the Responses API with the status incomplete loads nothing', async () => {
  const tools = [{ ...echo, defer: true }]
  const conversation = await createToolwell({ tools, mode: 'on' }).open({ id: 'a' })
  const openai = openaiResponses(conversation)
  const user = { role: 'user', content: 'Go.' }
  const turn = await openai.begin([user])
  const call = {
    type: 'tool_search_call',
    execution: 'client',
    call_id: 'call_1',
    status: 'incomplete',
    arguments: { query: 'select:send_mail' },
  }
  const { answers, messages } = await turn.run({ output: [call] })
  expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['invalid'])
  expect(conversation.inspect().loadedLazyTools).toEqual([])
  const { parts } = await openai.begin([user, call, ...messages])
  expect(responsesProtocol().violationOf({ model: 'x', ...parts })).toBeUndefined()
})
