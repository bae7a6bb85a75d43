/** Chat Completions with plain fetch: a scripted endpoint, or the real API if OPENAI_API_KEY is set. Checks its own result. */
import assert from 'node:assert/strict'
import { createToolwell, defineTool } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { chatProtocol, startScriptedEndpoint } from '@toolwell/testing'

const script = [
  { calls: [{ name: 'tool_search', arguments: { query: 'send an invoice' } }] },
  { calls: [{ name: 'tool_call', arguments: { name: 'billing__send_invoice', arguments: { number: 7 } } }] },
  { text: 'Invoice 7 is on its way.' },
]
const endpoint = await startScriptedEndpoint(chatProtocol(), { model: script })
const key = process.env.OPENAI_API_KEY
const server = process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1' // or any compatible server
const url = `${key ? server : endpoint.url}/chat/completions`
const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }

const inputSchema = { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] }
const tools = ['send', 'void', 'print', 'archive'].map((action) => {
  const execute = ({ number }: Record<string, unknown>) => `invoice ${number}: ${action} done`
  return defineTool({ name: `${action}_invoice`, description: `To ${action} one`, inputSchema, execute })
})
const well = createToolwell({ mode: 'on' }) // the default, 'auto', defers only if that saves money
well.catalogue.setSource('billing', { description: 'Invoices', tools })
const chat = openaiChat(await well.open({ id: 'thread-1' }))

const messages: ChatMessage[] = [{ role: 'user', content: 'Send invoice 7.' }]
for (let results: ChatMessage[] | undefined; results?.length !== 0; ) {
  const turn = await chat.begin(messages)
  const body = JSON.stringify({ model: process.env.OPENAI_MODEL ?? 'gpt-5-mini', ...turn.parts })
  const response = await fetch(url, { method: 'POST', headers, body })
  const completion = (await response.json()) as { choices?: [{ message: ChatMessage }] }
  assert.ok(completion.choices, JSON.stringify(completion))
  const [choice] = completion.choices // the whole choice: it says if a reply was cut off
  results = (await turn.run(choice)).messages
  messages.push(choice.message, ...results)
}
await endpoint.close()
assert.ok(messages.some(({ content }) => content === 'invoice 7: send done'))
process.stdout.write(`${messages.at(-1)?.content}\n`)
