/** Conversions between pi's requests and an adapter: ids, payloads, references, and the ledger in the session. */
import { describe, expect, it } from 'vitest'
import { createBridgedCalls, createReply } from '../src/calls.ts'
import {
  findReferences,
  findWire,
  indexCallIds,
  readBody,
  readCallId,
  readReferences,
  restoreCallIds,
  restoreReferences,
} from '../src/payload.ts'
import type { SessionEntry } from '../src/pi.ts'
import { awaitsCompaction, createReset, ENTRY, sessionStore } from '../src/session-store.ts'

const entry = (fields: Partial<SessionEntry>): SessionEntry => ({ type: 'custom', id: 'e', ...fields })
const called = (id: string, name = 'files__read') =>
  entry({
    type: 'message',
    message: { role: 'assistant', content: [{ type: 'toolCall', id, name, arguments: { path: 'a' } }] },
  })

describe('ids of calls', () => {
  it('are those of the ledger, however pi writes them for a provider', () => {
    const long = `call_${'a'.repeat(60)}|fc_1`
    const idOf = indexCallIds([called('call_1|fc_123'), called(long)])
    expect(['call_1|fc_123', 'call_1', 'call_1_fc_123'].map(idOf)).toEqual(['call_1', 'call_1', 'call_1'])
    expect(idOf(readCallId(long).slice(0, 40))).toBe(readCallId(long))
    expect(idOf('toolu_9')).toBe('toolu_9')
  })

  it('are changed where calls and results have them, and nowhere else', () => {
    const idOf = indexCallIds([called('call_1|fc_123')])
    const history = [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_1_fc_123', name: 'x', input: { id: 'call_1_fc_123' } }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'call_1_fc_123', content: 'call_1_fc_123' }],
      },
      { type: 'reasoning', id: 'call_1_fc_123' },
    ]
    expect(restoreCallIds(history, idOf)).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_1', name: 'x', input: { id: 'call_1_fc_123' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'call_1_fc_123' }] },
      { type: 'reasoning', id: 'call_1_fc_123' },
    ])
  })
})

describe('payloads', () => {
  it('have a wire by the API of the model, and none where the form is not known', () => {
    expect(findWire('openai-codex-responses')).toBe('openai-responses')
    expect([findWire('bedrock-converse-stream'), findWire('constructor'), findWire(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it("of Google's client come back in their form, whatever changed", () => {
    const payload = {
      model: 'm',
      contents: [1],
      config: { temperature: 0, tools: ['a'], systemInstruction: 's' },
    }
    const { body, payloadOf } = readBody(payload, 'google') ?? { body: {}, payloadOf: () => undefined }
    expect(body).toEqual({ model: 'm', contents: [1], tools: ['a'], systemInstruction: 's' })
    expect(payloadOf(body)).toEqual(payload)
    expect(payloadOf({ ...body, tools: ['b'], contents: [2] })).toEqual({
      model: 'm',
      contents: [2],
      config: { temperature: 0, tools: ['b'], systemInstruction: 's' },
    })
  })

  it.each(['nothing', undefined, null, 7])('that are not objects stay unchanged: %s', (payload) => {
    expect(readBody(payload, 'anthropic')).toBeUndefined()
  })
})

describe('references of a search', () => {
  const result = {
    type: 'tool_result',
    tool_use_id: 'a',
    content: [{ type: 'tool_reference', tool_name: 't' }],
  }
  const more = { type: 'text', text: 'one more fits' }

  it('are stored with the words, and replace them in a request', () => {
    const native = findReferences([{ role: 'user', content: [result, more] }])
    expect(native).toEqual([result, more])
    const branch = [
      entry({
        type: 'message',
        message: { role: 'toolResult', toolCallId: 'a', content: [], details: { native } },
      }),
    ]
    const history = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'words' }] }]
    expect(restoreReferences(history, readReferences(branch))).toEqual([
      { role: 'user', content: [result, more] },
    ])
  })

  it('are not looked for in answers that are words', () => {
    expect(findReferences([{ role: 'user', content: [{ ...result, content: 'words' }] }])).toBeUndefined()
    const history = [{ role: 'user', content: 'hello' }]
    expect(restoreReferences(history, new Map())).toBe(history)
  })
})

it('gives a finished message as a reply of each wire', () => {
  const message = {
    role: 'assistant',
    content: [{ type: 'toolCall', id: 'call_1|fc_1', name: 't', arguments: { a: 1 } }],
  }
  expect(JSON.stringify(createReply(message, 'anthropic', 'm'))).toContain('"id":"call_1"')
  expect(createReply(message, 'openai-responses', 'm')).toEqual({
    output: [{ type: 'function_call', call_id: 'call_1', name: 't', arguments: '{"a":1}' }],
  })
  expect(JSON.stringify(createReply(message, 'google', 'gemini-3'))).not.toContain('call_1')
  expect(JSON.stringify(createReply(message, 'google', 'claude-5'))).toContain('call_1')
  expect(createReply('nonsense', 'openai-chat', 'm')).toEqual({
    choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [] } }],
  })
})

describe('calls over the bridge', () => {
  const catalogue = {
    resolve: (name: string) =>
      name === 'Read File' ? { kind: 'found', entry: { wireName: 'files__read_file' } } : { kind: 'none' },
  } as never

  it('are shown as calls of the inner tool, and go over the bridge with what others changed', () => {
    const calls = createBridgedCalls()
    const input: Record<string, unknown> = { name: 'Read File', arguments: { path: 'a' }, load: true }
    const event = { toolName: 'tool_call', toolCallId: 'c', input }
    calls.show(event, catalogue)
    expect(event).toEqual({ toolName: 'files__read_file', toolCallId: 'c', input: { path: 'a' } })
    input.path = 'b'
    expect(calls.restore('c', input)).toEqual({ name: 'Read File', load: true, arguments: { path: 'b' } })
    expect(calls.restore('c', input)).toBe(input)
  })

  it.each([{ name: 'nobody', arguments: {} }, { arguments: {} }, { name: 'Read File', arguments: 'text' }])(
    'stay as they are where the inner call cannot be shown: %j',
    (input) => {
      const event = { toolName: 'tool_call', toolCallId: 'c', input: { ...input } }
      createBridgedCalls().show(event, catalogue)
      expect(event).toEqual({ toolName: 'tool_call', toolCallId: 'c', input })
    },
  )
})

describe('the ledger in a session', () => {
  const event = (id: number, kind = 'cleared') => ({ id, anchor: 'a', kind }) as never
  function session() {
    const branch: SessionEntry[] = []
    const pi = {
      appendEntry: (customType: string, data: unknown) => void branch.push(entry({ customType, data })),
    }
    const manager = {
      getBranch: () => branch,
      getSessionId: () => 's',
      getSessionFile: () => undefined,
      getSessionDir: () => '',
    }
    return { branch, pi, store: sessionStore(pi, manager) }
  }

  it('contains the entries of the branch, and rejects an append that does not continue it', async () => {
    const { branch, store } = session()
    await store.append('s', 0, [event(0), event(1)])
    branch.push(called('x'))
    await store.append('s', 2, [event(2)])
    expect((await store.read('s')).map(({ id }) => id)).toEqual([0, 1, 2])
    expect((await store.read('s', 2)).map(({ id }) => id)).toEqual([2])
    await expect(store.append('s', 2, [event(2)])).rejects.toMatchObject({ code: 'ledger-conflict' })
    branch.pop()
    expect(await store.read('s')).toHaveLength(2)
  })

  it('starts again after a reset entry', async () => {
    const { branch, pi, store } = session()
    branch.push(entry({ customType: ENTRY, data: ['nonsense'] }))
    pi.appendEntry(ENTRY, createReset('it could not be read'))
    expect(await store.read('s')).toEqual([])
    await store.append('s', 0, [event(0)])
    expect(await store.read('s')).toHaveLength(1)
  })

  it.each([['nonsense'], 'nonsense', null, {}, { v: 3 }, { v: 3, events: 'none' }])(
    'is damaged if one of our entries has no events: %j',
    async (data) => {
      const { branch, store } = session()
      branch.push(entry({ customType: ENTRY, data }))
      await expect(store.read('s')).rejects.toThrow('has no events')
      branch.push(entry({ customType: 'somebody-else', data }), entry({ type: 'message', customType: ENTRY }))
      await expect(store.append('s', 0, [event(0)])).rejects.toThrow('has no events')
    },
  )

  it('is in memory where a newer version has written, whose entries stay as they are', async () => {
    const { branch, store } = session()
    branch.push(entry({ customType: ENTRY, data: { v: 99, steps: {} } }))
    expect(await store.read('s')).toEqual([])
    await store.append('s', 0, [event(0)])
    expect(await store.read('s')).toHaveLength(1)
    expect(branch).toHaveLength(1)
  })

  it('knows from the session that the history was shortened', () => {
    const compaction = entry({ type: 'compaction' })
    const known = entry({ customType: ENTRY, data: { v: 3, events: [event(0, 'compacted')] } })
    expect(awaitsCompaction([called('x')])).toBe(false)
    expect(awaitsCompaction([known, compaction])).toBe(true)
    expect(awaitsCompaction([compaction, known])).toBe(false)
  })
})
