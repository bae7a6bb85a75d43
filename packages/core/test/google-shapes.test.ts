/** Contents of Gemini as other libraries, older servers and crashes leave them. */
import { createToolwell } from '@toolwell/core'
import { type GoogleContent, google } from '@toolwell/core/google'
import { googleProtocol } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { mixed } from './support/tools.js'

const said = (text: string): GoogleContent => ({ role: 'user', parts: [{ text }] })
const call = { functionCall: { name: 'read_file', args: {} } }
const response = { functionResponse: { name: 'read_file', response: { result: 'r' } } }

async function open() {
  return google(await createToolwell({ tools: mixed(), mode: 'off' }).open({ id: 'x' }))
}

async function begin(contents: readonly unknown[]) {
  const turn = await (await open()).begin(contents as GoogleContent[])
  expect(googleProtocol().violationOf(turn.parts)).toBeUndefined()
  return turn
}

describe('off', () => {
  it.each([
    [
      'responses in separate contents',
      [
        { role: 'user', parts: [response] },
        { role: 'user', parts: [response] },
      ],
    ],
    ['the role of old', [{ role: 'function', parts: [response, response] }]],
    ['words before them', [{ role: 'user', parts: [{ text: 'here' }, response, response] }]],
  ])('joins and orders the responses of a batch that came with %s', async (_, answers) => {
    const { parts, warnings } = await begin([
      said('go'),
      { role: 'model', parts: [call, { ...call }] },
      ...answers,
    ])
    const [, , batch] = parts.contents
    expect(batch?.role).toBe('user')
    expect(batch?.parts?.slice(0, 2)).toEqual([response, response])
    expect(warnings.length > 0 || parts.contents.length === 3).toBe(true)
  })

  it("is the host's own array where a server takes it", async () => {
    const contents = [said('go'), { role: 'model', parts: [call] }, { parts: [response, { text: 'and' }] }]
    expect((await begin(contents)).parts.contents).toBe(contents)
  })

  it.each([
    ['no response', { name: 'read_file' }, {}],
    ['text for a response', { name: 'read_file', response: 'r' }, { result: 'r' }],
  ])('repairs an answer with %s', async (_, functionResponse, expected) => {
    const contents = [
      said('go'),
      { role: 'model', parts: [call] },
      { role: 'user', parts: [{ functionResponse }] },
    ]
    const { parts, warnings } = await begin(contents)
    expect(parts.contents[2]?.parts?.[0]?.functionResponse?.response).toEqual(expected)
    expect(warnings).toHaveLength(1)
  })
})

describe('contents of the model that follow each other', () => {
  const signed = { ...call, thoughtSignature: 'c2lnbmVk' }
  const model = (...parts: object[]) => ({ role: 'model', parts })
  const strict = googleProtocol({ thoughtSignatures: true })

  it('are one reply where their calls are answered behind the last of them', async () => {
    const contents = [
      said('go'),
      model({ text: 'Let me ' }),
      model({ text: 'see.' }),
      model(signed),
      model({ ...call }),
      model({ text: '' }),
      { role: 'user', parts: [response, response] },
    ]
    const { parts, warnings } = await begin(contents)
    expect(strict.violationOf(parts)).toBeUndefined()
    expect(parts.contents).toEqual([
      said('go'),
      model({ text: 'Let me ' }, { text: 'see.' }, signed, call, { text: '' }),
      contents[6],
    ])
    expect(new Set(warnings)).toEqual(
      new Set([expect.objectContaining({ text: expect.stringContaining('joined contents of one turn') })]),
    )
    const kinds = (await open()).thread(contents as GoogleContent[]).map(({ kind }) => kind)
    expect(kinds).toEqual(['user', 'assistant', 'assistant', 'assistant', 'answer', 'answer'])
  })

  it('give the same content each time, and are read again if one was changed', async () => {
    const second = { functionCall: { name: 'read_file', args: {} as object } }
    const contents = [
      said('go'),
      model(signed),
      model(second),
      { role: 'user', parts: [response, response] },
    ] as GoogleContent[]
    const adapter = await open()
    const [first] = [await adapter.begin(contents)]
    expect((await adapter.begin(contents)).parts.contents[1]).toEqual(first.parts.contents[1])
    second.functionCall.args = { value: 'x' }
    expect((await adapter.begin(contents)).parts.contents[1]?.parts?.[1]).toEqual(second)
  })

  it('stay apart where the earlier call was interrupted', async () => {
    const { parts, warnings } = await begin([
      said('go'),
      model(call),
      model({ ...call }),
      { role: 'user', parts: [response] },
    ])
    expect(parts.contents.map(({ role }) => role)).toEqual(['user', 'model', 'user', 'model', 'user'])
    expect(parts.contents[2]?.parts?.[0]?.functionResponse?.response?.result).toContain('interrupted')
    expect(warnings).toEqual([expect.objectContaining({ text: expect.stringContaining('interrupted') })])
  })
})

describe('a content', () => {
  it('that the host changed in place is read again', async () => {
    const adapter = await open()
    const changing = { role: 'model', parts: [{ text: 'Hm.' }] as object[] }
    const contents = [said('go'), changing as GoogleContent, said('on')]
    expect((await adapter.begin(contents)).warnings).toEqual([])
    changing.parts.push({ ...call })
    expect((await adapter.begin(contents)).warnings).toEqual([
      expect.objectContaining({ text: expect.stringContaining('interrupted') }),
    ])
  })

  it('of the user that calls is the model’s, and a response within a reply answers it', async () => {
    const { parts } = await begin([said('go'), { role: 'user', parts: [call, response] }, said('on')])
    expect(parts.contents.slice(1)).toEqual([
      { role: 'model', parts: [call] },
      { role: 'user', parts: [response] },
      said('on'),
    ])
  })

  it('of the model that comes first gets a message before it', async () => {
    const contents = [{ role: 'model', parts: [{ text: 'As I said.' }] }, said('on')]
    const { parts, warnings } = await begin(contents)
    expect(parts.contents[0]?.parts?.[0]?.text).toContain('The beginning of this conversation is missing')
    expect(parts.contents.slice(1)).toEqual(contents)
    expect(warnings).toHaveLength(1)
  })

  it("of the model that comes first gets it in the host's words, also after an empty content", async () => {
    const prompts = { beginningLost: () => 'Something is missing here.' }
    const conversation = await createToolwell({ tools: mixed(), mode: 'off', surface: { prompts } }).open({
      id: 'x',
    })
    const contents = [{ role: 'user', parts: [] }, { role: 'model', parts: [{ text: 'Yes.' }] }, said('on')]
    const { parts } = await google(conversation).begin(contents)
    expect(parts.contents[0]?.parts?.[0]?.text).toContain('Something is missing here.')
    expect(googleProtocol().violationOf(parts)).toBeUndefined()
  })

  it('with parts of anything keeps what they say', async () => {
    const { parts } = await begin([{ role: 'user', parts: ['words', 7, null, { text: 8 }, {}] }])
    expect(parts.contents).toEqual([
      { role: 'user', parts: [{ text: 'words' }, { text: '7' }, { text: '8' }] },
    ])
  })
})
