/** A complete program with the AI SDK: scripted by default, or with the real OpenAI API if OPENAI_API_KEY is set. */
import assert from 'node:assert/strict'
import { createOpenAI } from '@ai-sdk/openai'
import { createToolwell } from '@toolwell/core'
import { aiSdk, importTools } from '@toolwell/core/ai-sdk'
import { chatProtocol, startScriptedEndpoint } from '@toolwell/testing'
import { asSchema, generateText, jsonSchema, type ModelMessage, stepCountIs, tool } from 'ai'

const script = [
  { calls: [{ name: 'tool_search', arguments: { query: 'send an invoice' } }] },
  { calls: [{ name: 'tool_call', arguments: { name: 'billing__send_invoice', arguments: { number: 7 } } }] },
  { text: 'Invoice 7 is on its way.' },
]
const key = process.env.OPENAI_API_KEY
const endpoint = key ? undefined : await startScriptedEndpoint(chatProtocol(), { model: script })
const openai = createOpenAI({ apiKey: key ?? 'none', ...(endpoint ? { baseURL: endpoint.url } : {}) })
const model = openai.chat(process.env.OPENAI_MODEL ?? 'gpt-5-mini')

const done: string[] = []
const number = { type: 'integer', minimum: 1 } as const
const inputSchema = jsonSchema<{ number: number }>({
  type: 'object',
  properties: { number },
  required: ['number'],
})
const invoice = (action: string) =>
  tool({ description: `To ${action} one invoice`, inputSchema, execute: () => done.push(action) })
const tools = { send_invoice: invoice('send'), void_invoice: invoice('void'), copy_invoice: invoice('copy') }

const well = createToolwell({ mode: 'on' }) // the default, 'auto', defers only if that saves money
well.catalogue.setSource('billing', { description: 'Invoices', tools: await importTools(tools, asSchema) })
const lazy = aiSdk<ModelMessage>(await well.open({ id: 'thread-1' }))

const messages: ModelMessage[] = [{ role: 'user', content: 'Send invoice 7.' }]
const { text } = await generateText({ model, ...lazy.settings, messages, stopWhen: stepCountIs(10) })
await endpoint?.close()
assert.deepEqual(done, ['send'])
process.stdout.write(`${text}\n`)
