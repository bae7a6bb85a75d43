// OpenAI Responses with plain fetch. Needs OPENAI_API_KEY; `npm run examples -- openai-responses` needs no key.
import { createToolwell, defineTool } from '@toolwell/core'
import { openaiResponses, type ResponsesItem, type ResponsesReply } from '@toolwell/core/openai-responses'

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
const responses = openaiResponses(await well.open({ id: 'thread-1' }))

const url = `${process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1'}/responses`
const headers = {
  'content-type': 'application/json',
  authorization: `Bearer ${process.env.OPENAI_API_KEY}`,
}
// With `store: false`, the encrypted reasoning lets the provider read its reasoning again.
const settings = { model: 'gpt-5.4', store: false, include: ['reasoning.encrypted_content'] }

const items: ResponsesItem[] = [{ role: 'user', content: 'Send invoice 7.' }]
for (let hasMore = true; hasMore; ) {
  const turn = await responses.begin(items, { instructions: 'You do the billing.' }) // what to send
  const body = JSON.stringify({ ...settings, ...turn.parts })
  const response = await fetch(url, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  const reply = (await response.json()) as ResponsesReply
  const { messages } = await turn.run(reply) // searches, checks arguments, runs tools
  items.push(...reply.output, ...messages) // all of the output, with reasoning, then the answers
  hasMore = messages.length > 0
}
console.log(JSON.stringify(items.at(-1)?.content))
