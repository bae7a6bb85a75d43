/** P4: a model or a proxy that does not defer tools natively refuses the request, and the thread goes on over the bridge. */
import { createToolwell, memoryStore } from '@toolwell/core'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
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

  it('says no where there is nothing else to try, or where it is not the last request', async () => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
    const messages: ChatMessage[] = [{ role: 'user', content: 'go' }]
    const turn = await openaiChat(conversation).begin(messages)
    expect(await turn.refused(new Error('no'))).toBe(false)
    expect(conversation.events.some(({ kind }) => kind === 'downgraded')).toBe(false)
  })
})
