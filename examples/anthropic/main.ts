// Anthropic Messages with plain fetch. Needs ANTHROPIC_API_KEY; `npm run examples -- anthropic` needs no key.
import { createToolwell, defineTool } from '@toolwell/core'
import { type AnthropicMessage, type AnthropicReply, anthropic } from '@toolwell/core/anthropic'

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
const chat = anthropic(await well.open({ id: 'thread-1' }))

const url = `${process.env.ANTHROPIC_BASE_URL ?? 'https://api.anthropic.com'}/v1/messages`
const headers = {
  'content-type': 'application/json',
  'anthropic-version': '2023-06-01',
  'x-api-key': process.env.ANTHROPIC_API_KEY ?? '',
}
const messages: AnthropicMessage[] = [{ role: 'user', content: 'Send invoice 7.' }]
for (let hasMore = true; hasMore; ) {
  const turn = await chat.begin(messages, { system: 'You do the billing.' }) // what to send
  const body = JSON.stringify({ model: 'claude-haiku-5-5', max_tokens: 1024, ...turn.parts })
  const response = await fetch(url, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  const reply = (await response.json()) as AnthropicReply
  const { messages: results } = await turn.run(reply) // searches, checks arguments, runs tools
  messages.push(reply, ...results)
  hasMore = results.length > 0 || reply.stop_reason === 'pause_turn'
}
console.log(JSON.stringify(messages.at(-1)?.content))
