// Gemini with plain fetch. Needs GEMINI_API_KEY; `npm run examples -- google` needs no key.
import { createToolwell, defineTool } from '@toolwell/core'
import { type GoogleContent, google } from '@toolwell/core/google'

const invoice = (action: string) =>
  defineTool({
    name: `${action}_invoice`,
    description: `To ${action} one invoice`,
    inputSchema: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
    execute: ({ number }) => `invoice ${number}: ${action} done`,
  })
const well = createToolwell({ mode: 'on' }) // the default, 'auto', defers only if that saves money
well.catalogue.setSource('billing', {
  description: 'Invoices',
  tools: ['send', 'void', 'print'].map(invoice),
})
const gemini = google(await well.open({ id: 'thread-1' }))

const server = process.env.GOOGLE_GEMINI_BASE_URL ?? 'https://generativelanguage.googleapis.com'
const url = `${server}/v1beta/models/gemini-3-flash:generateContent`
const headers = { 'content-type': 'application/json', 'x-goog-api-key': process.env.GEMINI_API_KEY ?? '' }

const contents: GoogleContent[] = [{ role: 'user', parts: [{ text: 'Send invoice 7.' }] }]
for (let hasMore = true; hasMore; ) {
  const turn = await gemini.begin(contents, { systemInstruction: 'You do the billing.' })
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(turn.parts) })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  const reply = (await response.json()) as { candidates: [{ content: GoogleContent }] }
  const { messages } = await turn.run(reply) // one content with every response, or none
  contents.push(reply.candidates[0].content, ...messages)
  hasMore = messages.length > 0
}
console.log(contents.at(-1)?.parts?.at(-1)?.text)
