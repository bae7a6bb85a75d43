/** The program of the README. A test compares both. */
import { createToolwell, defineTool } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { startScriptedChat } from '@toolwell/testing'

// Thirty tools of a billing server. Yours come from your code or from MCP servers.
const tools = ['send', 'void', 'copy', 'print', 'archive', 'export'].flatMap((verb) =>
  ['invoice', 'quote', 'reminder', 'receipt', 'statement'].map((thing) =>
    defineTool({
      name: `${verb}_${thing}`,
      description: `Does one thing to the ${thing} with this number: ${verb}.`,
      inputSchema: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
      execute: ({ number }) => `${thing} ${number}: ${verb} done`,
    }),
  ),
)

// A scripted model on your machine: it searches, calls the tool it found, and answers.
const model = await startScriptedChat({
  model: [
    { calls: [{ name: 'tool_search', arguments: { query: 'send an invoice' } }] },
    {
      calls: [{ name: 'tool_call', arguments: { name: 'billing__send_invoice', arguments: { number: 7 } } }],
    },
    { text: 'Invoice 7 is on its way.' },
  ],
})

const well = createToolwell({ mode: 'on' }) // the default, 'auto', defers only if that saves money
well.catalogue.setSource('billing', { tools }) // deferred; with createToolwell({ tools }), add defer: 'all'
const chat = openaiChat(await well.open({ id: 'thread-1' })) // with a store, a known id resumes

const messages: ChatMessage[] = [{ role: 'user', content: 'Send invoice 7.' }]
for (;;) {
  const turn = await chat.begin(messages) // what to send
  console.log('tools sent:', turn.parts.tools?.map((tool) => tool.function.name).join(', '))
  const body = JSON.stringify({ model: 'any', ...turn.parts })
  const response = await fetch(`${model.url}/chat/completions`, { method: 'POST', body })
  const completion = (await response.json()) as { choices: [{ message: ChatMessage }] }
  const { messages: results } = await turn.run(completion) // searches, checks arguments, runs tools
  messages.push(completion.choices[0].message, ...results)
  if (results.length === 0) break
}
await model.close()
console.log(messages.at(-2)?.content)
console.log(messages.at(-1)?.content)
console.log(well.report()) // the cost, compared with sending every tool
