// Mastra, with Node 22.13 or later. Needs OPENAI_API_KEY; `npm run examples -- mastra` needs no key.
// npm install @mastra/core@1.71.0 @ai-sdk/openai@3.0.139
import { createOpenAI } from '@ai-sdk/openai'
import { Agent, type ToolsInput } from '@mastra/core/agent'
import { createToolwell, defineTool } from '@toolwell/core'
import { type AiMessage, aiSdk } from '@toolwell/core/ai-sdk'

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
const lazy = aiSdk<AiMessage, ToolsInput>(await well.open({ id: 'thread-1' }))
const agent = new Agent({
  id: 'billing',
  name: 'Billing',
  instructions: 'You do the billing.',
  model: lazy.model(createOpenAI()('gpt-5.4')),
  tools: lazy.settings.tools,
})
const providerOptions = { openai: { store: false } }
const { text } = await agent.generate('Send invoice 7.', { maxSteps: 10, providerOptions })
console.log(text)
