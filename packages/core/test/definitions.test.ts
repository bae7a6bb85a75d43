/** The parts of a host's definitions that reach each wire: `strict`, examples, and at most as many tools as a request allows. */
import { createToolwell } from '@toolwell/core'
import { anthropic, importTools as importAnthropic } from '@toolwell/core/anthropic'
import { importTools as importChat, openaiChat } from '@toolwell/core/openai-chat'
import { importTools as importResponses, openaiResponses } from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import { startHost } from './support/host.js'
import { server, tool } from './support/tools.js'
import { anthropicHarness } from './support/wires/anthropic.js'
import { openaiChatHarness } from './support/wires/openai-chat.js'
import { openaiResponsesHarness } from './support/wires/openai-responses.js'

const inputSchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const inputExamples = [{ city: 'Oslo' }]
const own = tool('weather', { inputSchema, strict: true, inputExamples })
const found = tool('forecast', { source: 'met', inputSchema, strict: true, inputExamples })
const search = {
  calls: [{ name: 'tool_search', arguments: { query: 'select:met__forecast' } }],
}

describe.each([
  ['anthropic', anthropicHarness, ['"strict":true', '"input_examples":[{"city":"Oslo"}]']],
  ['openai-chat', openaiChatHarness, ['"strict":true']],
  ['openai-responses', openaiResponsesHarness, ['"strict":true']],
] as const)('%s', (_, harness, marks) => {
  const deliveries = harness.deliveries.filter((delivery) => delivery !== 'bridge')

  it.each(['eager' as const, ...deliveries])('carries strict and examples over %s', async (delivery) => {
    const script = delivery === 'eager' ? [{ text: 'ok' }] : [search, { text: 'ok' }]
    const host = await harness.open({ tools: [own, found], mode: 'on', delivery }, script)
    await host.ask('How is the weather?')
    const { raw = '' } = host.requests.at(-1) ?? {}
    for (const mark of marks) expect(raw.split(mark).length - 1, mark).toBe(2)
  })
})

describe("a host's own array", () => {
  const user = [{ role: 'user' as const, content: 'go' }]
  const fresh = (tools: Parameters<typeof createToolwell>[0] & object) =>
    createToolwell({ mode: 'on', ...tools }).open({ id: 'a' })

  it('keeps strict and input_examples of Anthropic', async () => {
    const given = { name: 'w', description: 'W', input_schema: { ...inputSchema, type: 'object' as const } }
    const tools = importAnthropic([{ ...given, strict: true, input_examples: [{ city: 'Oslo' }] }])
    const turn = await anthropic(await fresh({ tools, eager: ['w'] })).begin(user)
    expect(turn.parts.tools?.[0]).toMatchObject({ strict: true, input_examples: [{ city: 'Oslo' }] })
  })

  it('keeps strict of both wires of OpenAI', async () => {
    const definition = { name: 'w', description: 'W', parameters: inputSchema, strict: true }
    const chat = importChat([{ type: 'function', function: definition }])
    const chatTurn = await openaiChat(await fresh({ tools: chat })).begin(user)
    expect(chatTurn.parts.tools?.[0]?.function.strict).toBe(true)
    const responses = importResponses([{ type: 'function', ...definition }])
    const turn = await openaiResponses(await fresh({ tools: responses })).begin(user)
    expect(turn.parts.tools?.[0]).toMatchObject({ strict: true })
  })
})

describe('more tools than a request takes', () => {
  it('are deferred by default, however small they are', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `t${index}`)
    const host = await startHost({ tools: server('many', names) }, [{ text: 'done' }], {
      endpoint: { maxTools: 128 },
    })
    expect(await host.ask('go')).toBe('done')
    expect(host.names().length).toBeLessThanOrEqual(128)
    expect(host.conversation.inspect().because).toContain('a request on this wire takes 128')
  })
})
