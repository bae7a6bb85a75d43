/** Compiles against the real types of both versions: settings spread into every function, histories and tools fit. */
import { createOpenAI as createOpenAI3 } from '@ai-sdk/openai'
import { createToolwell } from '@toolwell/core'
import { aiSdk, importTools } from '@toolwell/core/ai-sdk'
import { chatProtocol, type ScriptedReply, startScriptedEndpoint } from '@toolwell/testing'
import * as ai6 from 'ai'
import * as ai7 from 'ai-7'
import { createOpenAI as createOpenAI4 } from 'ai-sdk-7-openai'
import { expect, it, onTestFinished } from 'vitest'

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
const script: readonly ScriptedReply[] = [
  { calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
  { text: 'Sunny.' },
  { text: 'Yes.' },
  { text: 'Still.' },
]

async function start() {
  const endpoint = await startScriptedEndpoint(chatProtocol(), { model: [...script] })
  onTestFinished(() => endpoint.close())
  return { baseURL: endpoint.url, apiKey: 'none' }
}

it('fits version 6', async () => {
  const model = createOpenAI3(await start()).chat('gpt-scripted')
  const tools = {
    weather: ai6.tool({
      description: 'Tells the weather',
      inputSchema: ai6.jsonSchema<{ city: string }>(city),
      execute: ({ city: name }) => ({ sunny: name === 'Oslo' }),
    }),
  }
  const well = createToolwell({ tools: await importTools(tools, ai6.asSchema), mode: 'on' })
  const lazy = aiSdk<ai6.ModelMessage, typeof tools>(await well.open({ id: 'six' }))
  const messages: ai6.ModelMessage[] = [{ role: 'user', content: 'Sunny?' }]
  const stopWhen = ai6.stepCountIs(5)
  const result = await ai6.generateText({ model, ...lazy.settings, messages, stopWhen })
  const [first] = result.steps[0]?.toolResults ?? []
  // The results have the types of the tools the host defined.
  if (first && !first.dynamic) expect(first.output.sunny satisfies boolean).toBe(true)
  messages.push(...result.response.messages, { role: 'user', content: 'Sure?' })
  expect(await ai6.streamText({ model, ...lazy.settings, messages }).text).toBe('Yes.')
  const agent = new ai6.ToolLoopAgent({ model, ...lazy.settings })
  expect((await agent.generate({ messages })).text).toBe('Still.')
  await lazy.compact(messages, messages.slice(-1))
  const adopted: ai6.ModelMessage[] = lazy.adopt(lazy.thread(messages))
  expect(adopted).toHaveLength(messages.length)

  // A `prepareStep` of one's own goes around the one given.
  const prepareStep: ai6.PrepareStepFunction<typeof tools> = async (step) => ({
    ...(await lazy.settings.prepareStep(step)),
    temperature: 0,
  })
  expect(prepareStep).toBeTypeOf('function')
})

it('fits version 7', async () => {
  const model = createOpenAI4(await start()).chat('gpt-scripted')
  const tools = {
    weather: ai7.tool({
      description: 'Tells the weather',
      inputSchema: ai7.jsonSchema<{ city: string }>(city),
      execute: ({ city: name }) => ({ sunny: name === 'Oslo' }),
    }),
  }
  const well = createToolwell({ tools: await importTools(tools, ai7.asSchema), mode: 'on' })
  const lazy = aiSdk<ai7.ModelMessage, typeof tools>(await well.open({ id: 'seven' }))
  const messages: ai7.ModelMessage[] = [{ role: 'user', content: 'Sunny?' }]
  const stopWhen = ai7.stepCountIs(5)
  const result = await ai7.generateText({ model, ...lazy.settings, messages, stopWhen })
  const [first] = result.steps[0]?.toolResults ?? []
  if (first && !first.dynamic) expect(first.output.sunny satisfies boolean).toBe(true)
  for (const { toolName, output } of result.staticToolResults)
    if (toolName === 'weather' || toolName === 'office__weather')
      expect(output.sunny satisfies boolean).toBe(true)
  messages.push(...result.responseMessages, { role: 'user', content: 'Sure?' })
  expect(await ai7.streamText({ model, ...lazy.settings, messages }).text).toBe('Yes.')
  const agent = new ai7.ToolLoopAgent({ model, ...lazy.settings })
  expect((await agent.generate({ messages })).text).toBe('Still.')
  await lazy.compact(messages, messages.slice(-1))
  const adopted: ai7.ModelMessage[] = lazy.adopt(lazy.thread(messages))
  expect(adopted).toHaveLength(messages.length)
})

it('results of tools with a source have the names and types of those', async () => {
  const call = [
    { name: 'billing__send_invoice', arguments: { number: 7 } },
    { name: 'clock', arguments: {} },
  ]
  const inputSchema = ai6.jsonSchema<{ number: number }>({
    type: 'object',
    properties: { number: { type: 'integer' } },
  })
  const tools = {
    send_invoice: ai6.tool({
      description: 'Sends',
      inputSchema,
      execute: ({ number }) => ({ sent: number }),
    }),
    clock: ai6.tool({
      description: 'Tells',
      inputSchema: ai6.jsonSchema<object>({ type: 'object' }),
      execute: () => 'noon',
    }),
  }
  const endpoint = await startScriptedEndpoint(chatProtocol(), { model: [{ calls: call }] })
  onTestFinished(() => endpoint.close())
  const imported = await importTools(tools, ai6.asSchema, (name) => ({
    source: name === 'clock' ? undefined : 'billing',
    alwaysLoad: true,
  }))
  const well = createToolwell({ tools: imported, mode: 'on' })
  const lazy = aiSdk<ai6.ModelMessage, typeof tools>(await well.open({ id: 'named' }))
  const model = createOpenAI3({ baseURL: endpoint.url, apiKey: 'none' }).chat('gpt-scripted')
  const { staticToolResults: results } = await ai6.generateText({
    model,
    prompt: 'Send 7.',
    ...lazy.settings,
  })
  expect(results.map(({ toolName }) => toolName)).toEqual(['billing__send_invoice', 'clock'])
  const told = results.map((result) => {
    if (result.toolName === 'billing__send_invoice') return result.output.sent satisfies number
    if (result.toolName === 'clock') return result.output satisfies string
    // @ts-expect-error no tool ends in this
    return result.toolName === 'billing__send'
  })
  expect(told).toEqual([7, 'noon'])
})

it('fits both where no tools were written for the SDK', async () => {
  const well = createToolwell({ tools: [], mode: 'on' })
  const { settings } = aiSdk(await well.open({ id: 'plain' }))
  const six: ai6.ToolSet = settings.tools
  const seven: ai7.ToolSet = settings.tools
  expect(Object.keys(six)).toEqual(Object.keys(seven))
})
