/** A complete program with the Responses API: scripted by default, or with the real API if OPENAI_API_KEY is set. */
import assert from 'node:assert/strict'
import { createToolwell, type Tool } from '@toolwell/core'
import { openaiResponses, type ResponsesItem, type ResponsesReply } from '@toolwell/core/openai-responses'
import { responsesProtocol, startScriptedEndpoint } from '@toolwell/testing'

const model = [
  { calls: [{ name: 'tool_search', arguments: { query: 'send an invoice' } }] },
  { calls: [{ name: 'billing__send_invoice', arguments: { number: 7 } }] },
  { text: 'Invoice 7 is on its way.' },
]
const key = process.env.OPENAI_API_KEY
const endpoint = key ? undefined : await startScriptedEndpoint(responsesProtocol(), { model })
const url = `${endpoint?.url ?? 'https://api.openai.com/v1'}/responses`
const headers = { 'content-type': 'application/json', authorization: `Bearer ${key ?? 'none'}` }
const settings = { model: process.env.OPENAI_MODEL ?? 'gpt-5.4', store: false }

const done: string[] = []
const number = { type: 'integer', minimum: 1 }
const tools = ['send', 'void', 'copy', 'print'].map((action): Tool => {
  const execute = (input: { number?: number }) => `invoice ${input.number}: ${done.push(action)} done`
  const inputSchema = { type: 'object', properties: { number }, required: ['number'] }
  return { name: `${action}_invoice`, description: `To ${action} one invoice`, inputSchema, execute }
})
const well = createToolwell({ mode: 'on' }) // the default, 'auto', defers only if that saves money
well.catalogue.setSource('billing', { description: 'Invoices', tools })
const responses = openaiResponses(await well.open({ id: 'thread-1' }))

const items: ResponsesItem[] = [{ role: 'user', content: 'Send invoice 7.' }]
for (let step = 1, answered = 1; answered > 0; step++) {
  const turn = await responses.begin(items, { requestId: `step-${step}`, instructions: 'Be brief.' })
  const body = JSON.stringify({ ...settings, include: ['reasoning.encrypted_content'], ...turn.parts })
  const reply = (await (await fetch(url, { method: 'POST', headers, body })).json()) as ResponsesReply
  const { messages } = await turn.run(reply)
  items.push(...reply.output, ...messages)
  answered = messages.length
}
await endpoint?.close()
assert.deepEqual(done, ['send'])
process.stdout.write(`${JSON.stringify(items.at(-1)?.content)}\n`)
