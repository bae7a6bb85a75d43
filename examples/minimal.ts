/** The program of the README, complete: thirty tools of one server, a scripted endpoint, and a check of what it did. */
import assert from 'node:assert/strict'
import { createToolwell, defineTool } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { startScriptedChat } from '@toolwell/testing'

const endpoint = await startScriptedChat({
  model: [
    { calls: [{ name: 'tool_search', arguments: { query: 'send an invoice' } }] },
    {
      calls: [{ name: 'tool_call', arguments: { name: 'billing__send_invoice', arguments: { number: 7 } } }],
    },
    { text: 'Invoice 7 is on its way.' },
  ],
})

const actions = ['send', 'void', 'copy', 'print', 'archive', 'export']
const things = ['invoice', 'quote', 'reminder', 'receipt', 'statement']
const billingTools = actions.flatMap((action) =>
  things.map((thing) =>
    defineTool({
      name: `${action}_${thing}`,
      description: `${action[0]?.toUpperCase()}${action.slice(1)} one ${thing}, chosen by its number.`,
      inputSchema: {
        type: 'object',
        properties: { number: { type: 'integer', minimum: 1 } },
        required: ['number'],
      },
      execute: ({ number }) => `${thing} ${number}: ${action} done`,
    }),
  ),
)

const well = createToolwell({ mode: 'on' }) // by default it turns itself on when that pays
well.catalogue.setSource('billing', { description: 'Invoices and quotes', tools: billingTools })
const chat = openaiChat(await well.open({ id: 'thread-1' }))

const messages: ChatMessage[] = [{ role: 'user', content: 'Send invoice 7.' }]
for (;;) {
  const turn = await chat.begin(messages)
  const response = await fetch(`${endpoint.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'scripted', ...turn.parts }),
  })
  const completion = (await response.json()) as { choices: [{ message: ChatMessage }] }
  const reply = completion.choices[0].message
  const { messages: results } = await turn.run(reply)
  messages.push(reply, ...results)
  if (results.length === 0) break
}
await endpoint.close()

assert.equal(messages.at(-1)?.content, 'Invoice 7 is on its way.')
assert.ok(messages.some((message) => message.content === 'invoice 7: send done'))
assert.deepEqual(
  endpoint.requests[0]?.body.tools?.map((tool) => tool.function.name),
  ['tool_search', 'tool_call'],
)
process.stdout.write(`${messages.at(-1)?.content}\n`)
