// AI SDK 6 and 7. Needs OPENAI_API_KEY; `npm run examples -- ai-sdk` needs no key.
// npm install ai@6.0.326 @ai-sdk/openai@3.0.139
// npm install ai@7.0.173 @ai-sdk/openai@4.0.118
import { createOpenAI } from '@ai-sdk/openai'
import { createToolwell } from '@toolwell/core'
import { aiSdk, importTools } from '@toolwell/core/ai-sdk'
import { asSchema, generateText, jsonSchema, type ModelMessage, stepCountIs, tool } from 'ai'

const inputSchema = jsonSchema<{ number: number }>({
  type: 'object',
  properties: { number: { type: 'integer' } },
  required: ['number'],
})
const invoice = (action: string) =>
  tool({
    description: `To ${action} one invoice`,
    inputSchema,
    execute: ({ number }) => `invoice ${number}: ${action} done`,
  })
const tools = {
  send_invoice: invoice('send'),
  void_invoice: invoice('void'),
  print_invoice: invoice('print'),
}

const well = createToolwell({ mode: 'on' }) // the default, 'auto', defers only if that saves money
well.catalogue.setSource('billing', { description: 'Invoices', tools: await importTools(tools, asSchema) })
const lazy = aiSdk<ModelMessage, typeof tools>(await well.open({ id: 'thread-1' }))

const { text } = await generateText({
  model: createOpenAI()('gpt-5.4'),
  system: 'You do the billing.',
  messages: [{ role: 'user', content: 'Send invoice 7.' }],
  stopWhen: stepCountIs(10), // a search is a step, and the call that follows is another
  providerOptions: { openai: { store: false } }, // keep the history yourself
  ...lazy.settings,
})
console.log(text)
