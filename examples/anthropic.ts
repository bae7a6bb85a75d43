/** Anthropic Messages with a scripted endpoint, or with the real API if ANTHROPIC_API_KEY is set. Checks its own result. */
import assert from 'node:assert/strict'
import { createToolwell, defineTool } from '@toolwell/core'
import { type AnthropicMessage, type AnthropicReply, anthropic } from '@toolwell/core/anthropic'
import { anthropicProtocol, startScriptedEndpoint } from '@toolwell/testing'

const endpoint = await startScriptedEndpoint(anthropicProtocol(), {
  model: [
    { calls: [{ name: 'tool_search', arguments: { query: 'send an invoice' } }] },
    { calls: [{ name: 'billing__send_invoice', arguments: { number: 7 } }] },
    { text: 'Invoice 7 is on its way.' },
  ],
})
const { ANTHROPIC_API_KEY: key = '', ANTHROPIC_MODEL: model = 'claude-haiku-5-5' } = process.env
const url = key === '' ? endpoint.url : 'https://api.anthropic.com'
const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'x-api-key': key }

const sent: unknown[] = []
const inputSchema = { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] }
const tools = ['send', 'void', 'copy', 'print', 'archive'].map((action) => {
  const execute = (input: unknown) => `${action}: ${sent.push([action, input])} done`
  return defineTool({ name: `${action}_invoice`, description: `${action} one invoice`, inputSchema, execute })
})
const well = createToolwell({ mode: 'on' })
well.catalogue.setSource('billing', { description: 'Invoices', tools })
const chat = anthropic(await well.open({ id: 'thread-1' }))
const messages: AnthropicMessage[] = [{ role: 'user', content: 'Send invoice 7.' }]
for (let step = 1, goesOn = true; goesOn; step++) {
  const turn = await chat.begin(messages, { requestId: `step-${step}`, system: 'You do the billing.' })
  const body = JSON.stringify({ model, max_tokens: 1024, ...turn.parts })
  const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body })
  assert.equal(response.status, 200)
  const reply = (await response.json()) as AnthropicReply
  const { messages: results } = await turn.run(reply)
  messages.push(reply, ...results)
  goesOn = results.length > 0 || reply.stop_reason === 'pause_turn'
}
await endpoint.close()
assert.deepEqual(sent, [['send', { number: 7 }]])
process.stdout.write('Invoice 7 was sent.\n')
