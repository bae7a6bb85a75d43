/** P4: a model or a proxy without native deferral refuses the request, and the thread continues over the bridge. */
import { createToolwell, memoryStore, type ToolwellEvent } from '@toolwell/core'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import {
  assemble,
  openaiResponses,
  type ResponsesItem,
  type ResponsesReply,
  readEvents,
} from '@toolwell/core/openai-responses'
import { anthropicProtocol, responsesProtocol, startScriptedEndpoint } from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mixed } from './support/tools.js'

const model = [{ text: 'done' }]

async function post(url: string, path: string, body: object) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

describe('a refused request', () => {
  it('on Anthropic ends, and the next one goes over the bridge, also after a restart', async () => {
    const endpoint = await startScriptedEndpoint(anthropicProtocol({ deferral: false }), { model })
    onTestFinished(() => endpoint.close())
    const store = memoryStore()
    const open = () => createToolwell({ tools: mixed(), mode: 'on', store }).open({ id: 'a' })
    const conversation = await open()
    const messages: AnthropicMessage[] = [{ role: 'user', content: 'go' }]
    const first = await anthropic(conversation).begin(messages)
    expect(first.view.delivery).toBe('native')
    const refused = await post(endpoint.url, '/v1/messages', { model: 'x', max_tokens: 9, ...first.parts })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('defer_loading')])
    expect(await first.refused(new Error(refused.text))).toBe(true)

    const second = await anthropic(await open()).begin(messages)
    expect(second.view.delivery).toBe('bridge')
    const taken = await post(endpoint.url, '/v1/messages', { model: 'x', max_tokens: 9, ...second.parts })
    expect(taken.status).toBe(200)
    // The bridge is not what was refused: whatever is wrong now is something else.
    expect(await second.refused(new Error('overloaded'))).toBe(false)
    const { withheld, accounting } = (await open()).inspect()
    expect(withheld.native).toContain('the provider refused it')
    expect(accounting.requests).toBe(1)
  })

  it('on Responses likewise', async () => {
    const endpoint = await startScriptedEndpoint(responsesProtocol({ toolSearch: false }), { model })
    onTestFinished(() => endpoint.close())
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
    const items: ResponsesItem[] = [{ role: 'user', content: 'go' }]
    const first = await openaiResponses(conversation).begin(items)
    const refused = await post(endpoint.url, '/responses', { model: 'x', ...first.parts })
    expect(refused.status).toBe(400)
    expect(await first.refused(new Error(refused.text))).toBe(true)
    const second = await openaiResponses(conversation).begin(items)
    expect(second.view.delivery).toBe('bridge')
    expect((await post(endpoint.url, '/responses', { model: 'x', ...second.parts })).status).toBe(200)
  })

  it('on Responses also within a thread: the server does not know namespaces', async () => {
    const endpoint = await startScriptedEndpoint(responsesProtocol({ namespaces: false }), {
      model: [
        { calls: [{ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } }] },
        {
          calls: [
            { name: 'tool_call', arguments: { name: 'tracker__create_issue', arguments: { value: 'x' } } },
          ],
        },
        { text: 'done' },
      ],
    })
    onTestFinished(() => endpoint.close())
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
    const items: ResponsesItem[] = [{ role: 'user', content: 'go' }]
    const statuses: number[] = []
    for (let isDone = false; !isDone; ) {
      const turn = await openaiResponses(conversation).begin(items)
      const { status, text } = await post(endpoint.url, '/responses', { model: 'x', ...turn.parts })
      statuses.push(status)
      if (status === 400) {
        expect(text).toContain('unknown variant')
        expect(await turn.refused(new Error(text))).toBe(true)
        continue
      }
      const reply = JSON.parse(text) as { output: ResponsesItem[] }
      const { messages } = await turn.run(reply)
      items.push(...reply.output, ...messages)
      isDone = messages.length === 0
    }
    expect(statuses).toEqual([200, 400, 200, 200])
    expect(JSON.stringify(items)).toContain('create_issue ran with')
  })

  it('returns false if there is nothing else to try, or if it is not the last request', async () => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
    const messages: ChatMessage[] = [{ role: 'user', content: 'go' }]
    const turn = await openaiChat(conversation).begin(messages)
    expect(await turn.refused(new Error('no'))).toBe(false)
    expect(conversation.events.some(({ kind }) => kind === 'downgraded')).toBe(false)
  })
})

describe('a Responses server that ignores tool_search', () => {
  const find = { name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } }
  const create = {
    name: 'tool_call',
    arguments: { name: 'tracker__create_issue', arguments: { value: 'x' } },
  }

  it.each(['whole', 'streamed'])(
    'is noticed by the tools that it returns: the next request goes over the bridge (%s)',
    async (form) => {
      const endpoint = await startScriptedEndpoint(responsesProtocol({ toolSearch: 'ignored' }), {
        model: [{ text: 'I cannot do that.' }, { calls: [find] }, { calls: [create] }, { text: 'done' }],
      })
      onTestFinished(() => endpoint.close())
      const events: ToolwellEvent[] = []
      const store = memoryStore()
      const open = () =>
        createToolwell({ tools: mixed(), mode: 'on', store, onEvent: (event) => events.push(event) }).open({
          id: 'a',
        })
      const ask = async (body: object) => {
        if (form === 'whole') {
          const { text } = await post(endpoint.url, '/responses', body)
          return JSON.parse(text) as ResponsesReply
        }
        const { body: stream } = await fetch(`${endpoint.url}/responses`, {
          method: 'POST',
          body: JSON.stringify({ ...body, stream: true }),
        })
        if (!stream) throw new Error('The response has no body.')
        return assemble(readEvents(stream))
      }
      const items: ResponsesItem[] = []
      const deliveries: string[] = []
      for (const text of ['Create an issue.', 'Try again.']) {
        items.push({ role: 'user', content: text })
        for (let isDone = false; !isDone; ) {
          // A new process each time: the ledger remembers it.
          const turn = await openaiResponses(await open()).begin(items)
          deliveries.push(turn.view.delivery)
          const reply = await ask({ model: 'x', ...turn.parts })
          const { messages } = await turn.run(reply)
          items.push(...('output' in reply ? reply.output : reply.messages), ...messages)
          isDone = messages.length === 0
        }
      }
      expect(deliveries).toEqual(['native', 'bridge', 'bridge', 'bridge'])
      expect(JSON.stringify(items)).toContain('create_issue ran with')
      expect(endpoint.requests.map(({ violation }) => violation)).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ])
      expect(events.filter(({ kind }) => kind === 'downgraded')).toHaveLength(1)
      expect(events).toContainEqual(
        expect.objectContaining({
          kind: 'delivery-unavailable',
          delivery: 'native',
          detail: expect.stringContaining('ignored tool_search'),
        }),
      )
      // The first request was answered, so it counts.
      expect((await open()).inspect().accounting.requests).toBe(4)
    },
  )

  it.each<[string, object]>([
    ['does not return its tools', {}],
    ['returns no tools at all', { tools: [] }],
    [
      'calls the search',
      {
        tools: [{ type: 'function', name: 'read_file' }],
        output: [
          { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { query: 'issue' } },
        ],
      },
    ],
  ])('is not assumed if the server %s', async (_, reply) => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
    const turn = await openaiResponses(conversation).begin([{ role: 'user', content: 'go' }])
    expect(turn.parts.tools?.length).toBeGreaterThan(1)
    await turn.run({ output: [], ...reply })
    expect(conversation.events.some(({ kind }) => kind === 'downgraded')).toBe(false)
  })
})
