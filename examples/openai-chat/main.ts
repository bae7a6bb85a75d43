// Chat Completions with plain fetch. Needs OPENAI_API_KEY; `npm run examples -- openai-chat` needs no key.
import { createToolwell, defineTool } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'

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
const chat = openaiChat(await well.open({ id: 'thread-1' }))

const url = `${process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1'}/chat/completions` // or any compatible server
const headers = {
  'content-type': 'application/json',
  authorization: `Bearer ${process.env.OPENAI_API_KEY}`,
}
const messages: ChatMessage[] = [
  { role: 'system', content: 'You do the billing.' },
  { role: 'user', content: 'Send invoice 7.' },
]
for (let hasMore = true; hasMore; ) {
  const turn = await chat.begin(messages) // what to send
  const body = JSON.stringify({ model: 'gpt-5-mini', ...turn.parts })
  const response = await fetch(url, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  const completion = (await response.json()) as { choices: [{ message: ChatMessage }] }
  const { messages: results } = await turn.run(completion) // searches, checks arguments, runs tools
  messages.push(completion.choices[0].message, ...results)
  hasMore = results.length > 0
}
console.log(messages.at(-1)?.content)
