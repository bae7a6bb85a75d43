// LangChain. Needs OPENAI_API_KEY; `npm run examples -- langchain` needs no key.
// npm install langchain@1.5.14 @langchain/core@1.2.13 @langchain/langgraph@1.4.13 @langchain/openai@1.5.8 @langchain/anthropic@1.5.11
import { ChatOpenAI } from '@langchain/openai'
import { createToolwell, defineTool } from '@toolwell/core'
import { framework } from '@toolwell/core/framework'
import { createAgent, createMiddleware, ToolMessage } from 'langchain'

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
const lazy = framework(await well.open({ id: 'thread-1' }), { wire: 'openai-chat' })

const toolwell = createMiddleware({
  name: 'Toolwell',
  wrapModelCall: (request, handler) => {
    const tools = lazy.tools().map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    }))
    return handler({ ...request, tools: [...request.tools, ...tools] })
  },
  wrapToolCall: async (request, handler) => {
    if (request.tool) return handler(request) // one that the agent was created with
    const { id = '', name, args } = request.toolCall
    const { text } = await lazy.run({ id, name, input: args })
    return new ToolMessage({ tool_call_id: id, name, content: text })
  },
})
const agent = createAgent({
  model: new ChatOpenAI({ model: 'gpt-5.4', useResponsesApi: false, configuration: { fetch: lazy.fetch } }),
  systemPrompt: 'You do the billing.',
  middleware: [toolwell],
})
const first = await agent.invoke({ messages: [{ role: 'user', content: 'Send invoice 7.' }] })
console.log(first.messages.at(-1)?.text)
const second = await agent.invoke({ messages: [...first.messages, { role: 'user', content: 'And 8.' }] })
console.log(second.messages.at(-1)?.text)
