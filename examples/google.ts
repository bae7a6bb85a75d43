/** Gemini with plain fetch: a scripted endpoint, or the real API if GEMINI_API_KEY is set. Checks its own result. */
import assert from 'node:assert/strict'
import { createToolwell, defineTool } from '@toolwell/core'
import { type GoogleContent, google } from '@toolwell/core/google'
import { googleProtocol, startScriptedEndpoint } from '@toolwell/testing'

const script = [
  { calls: [{ name: 'tool_search', arguments: { query: 'send an invoice' } }] },
  { calls: [{ name: 'tool_call', arguments: { name: 'billing__send_invoice', arguments: { number: 7 } } }] },
  { text: 'Invoice 7 is on its way.' },
]
const endpoint = await startScriptedEndpoint(googleProtocol(), { model: script })
const key = process.env.GEMINI_API_KEY
const server = key ? 'https://generativelanguage.googleapis.com' : endpoint.url
const url = `${server}/v1beta/models/${process.env.GEMINI_MODEL ?? 'gemini-2.5-flash'}:generateContent`
const headers = { 'content-type': 'application/json', 'x-goog-api-key': key ?? '' }

const inputSchema = { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] }
const tools = ['send', 'void', 'print', 'archive'].map((action) => {
  const execute = ({ number }: Record<string, unknown>) => `invoice ${number}: ${action} done`
  return defineTool({ name: `${action}_invoice`, description: `To ${action} one`, inputSchema, execute })
})
const well = createToolwell({ mode: 'on' }) // the default, 'auto', defers only if that saves money
well.catalogue.setSource('billing', { description: 'Invoices', tools })
const gemini = google(await well.open({ id: 'thread-1' }))

const contents: GoogleContent[] = [{ role: 'user', parts: [{ text: 'Send invoice 7.' }] }]
for (let step = 1; ; step++) {
  const turn = await gemini.begin(contents, { requestId: `step-${step}`, systemInstruction: 'Be brief.' })
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(turn.parts) })
  const reply = (await response.json()) as { candidates?: { content: GoogleContent }[] }
  assert.ok(reply.candidates?.[0], JSON.stringify(reply))
  const { messages } = await turn.run(reply)
  contents.push(reply.candidates[0].content, ...messages)
  if (messages.length === 0) break
}
await endpoint.close()
assert.match(JSON.stringify(contents), /"result":"invoice 7: send done"/)
process.stdout.write(`${contents.at(-1)?.parts?.at(-1)?.text}\n`)
