// OpenAI Agents. Needs OPENAI_API_KEY; `npm run examples -- openai-agents` needs no key.
// npm install @openai/agents@0.20.0 openai@7.53.0 zod@4.6.7
import { Agent, Runner, setDefaultOpenAIClient, tool, user } from '@openai/agents'
import { createToolwell, defineTool } from '@toolwell/core'
import { framework } from '@toolwell/core/framework'
import OpenAI from 'openai'

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
const lazy = framework(await well.open({ id: 'thread-1' }), { wire: 'openai-responses' })
setDefaultOpenAIClient(new OpenAI({ fetch: lazy.fetch }))

const agent = new Agent({
  name: 'billing',
  instructions: 'You do the billing.',
  model: 'gpt-5.4',
  modelSettings: { store: false },
  tools: lazy.tools().map(({ name, description }) =>
    tool({
      name,
      description,
      strict: false,
      parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
      execute: async (input, _context, details) =>
        (await lazy.run({ id: details?.toolCall?.callId ?? '', name, input })).text,
    }),
  ),
})
const runner = new Runner({
  // A call of an unknown tool would end the run.
  toolNotFoundBehavior: 'return_error_to_model',
  toolErrorFormatter: async ({ kind, callId: id, toolName: name }) =>
    kind === 'tool_not_found' ? (await lazy.run({ id, name, input: {} })).text : undefined,
})
const first = await runner.run(agent, 'Send invoice 7.')
console.log(first.finalOutput)
const second = await runner.run(agent, [...first.history, user('And 8.')], { stream: true })
await second.completed
console.log(second.finalOutput)
