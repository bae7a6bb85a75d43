/** The journeys with `@anthropic-ai/sdk`. */
import Anthropic1 from '@anthropic-ai/sdk'
import type {
  Message,
  MessageCreateParamsNonStreaming,
  MessageParam,
} from '@anthropic-ai/sdk/resources/messages'
import { type AnthropicParts, type AnthropicPrompt, anthropic, assemble } from '@toolwell/core/anthropic'
import { anthropicProtocol } from '@toolwell/testing'
import Anthropic0 from 'anthropic-sdk-0'
import type { AnthropicRequestBody } from '../../../testing/src/anthropic/rules.js'
import { anthropicRenderOrder } from '../../../testing/src/anthropic/usage.js'
import { startWireHost, type WireDriver } from '../support/wire-host.js'
import { anthropicHarness } from '../support/wires/anthropic.js'
import { type Mode, runJourneys, type Session } from './journey.js'

type Driver = WireDriver<
  MessageParam,
  Message,
  AnthropicParts<MessageParam>,
  AnthropicPrompt,
  AnthropicRequestBody,
  { readonly session: Session }
>

/** The majors that people have. */
const majors = [Anthropic0 as unknown as typeof Anthropic1, Anthropic1] as const

const driver = (session: Session, Anthropic: typeof Anthropic1): Driver => ({
  protocol: anthropicProtocol({ boundThinking: true }),
  prompt: { system: 'You are careful.' },
  adapter: (conversation) => anthropic<MessageParam>(conversation),
  user: (text) => ({ role: 'user', content: text }),
  async send({ url }, parts) {
    const client = new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: session.retries })
    const request = {
      model: 'claude-haiku-5-5',
      max_tokens: 1024,
      ...parts,
      ...(session.choice === undefined
        ? {}
        : { tool_choice: { type: 'tool', name: session.choice } as const }),
    }
    const { message, complete } = await ask(client, request, session.mode)
    session.seen.push({ text: textOf(message), calls: callsOf(message), complete })
    return complete ? message : undefined
  },
  kept: (message) => [message],
  lastText(messages) {
    const last = messages.at(-1)?.content ?? ''
    return typeof last === 'string'
      ? last
      : last.map((block) => (block.type === 'text' ? block.text : '')).join('')
  },
  tools: ({ tools = [] }) =>
    tools.filter((tool) => !tool.defer_loading).map((tool) => ({ name: tool.name ?? '', native: tool })),
  rendered: anthropicRenderOrder,
  more: () => ({ session }),
})

async function ask(
  client: Anthropic1,
  request: MessageCreateParamsNonStreaming,
  mode: Mode,
): Promise<{ readonly message: Message; readonly complete: boolean }> {
  switch (mode) {
    case 'whole':
      return { message: await client.messages.create(request), complete: true }
    case 'helper':
      return { message: await client.messages.stream(request).finalMessage(), complete: true }
    case 'assembled': {
      const streamed = await assemble<Message>(await client.messages.create({ ...request, stream: true }))
      return { message: streamed.reply, complete: streamed.complete }
    }
  }
}

function textOf({ content }: Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

function callsOf({ content }: Message): Session['seen'][number]['calls'] {
  return content.flatMap((block) =>
    block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [],
  )
}

for (const [major, Anthropic] of majors.entries())
  runJourneys({
    name: `the Anthropic client ${major}`,
    deliveries: anthropicHarness.deliveries,
    modes: ['whole', 'helper', 'assembled'],
    open: (session, options, script) => startWireHost(driver(session, Anthropic), options, script),
    isStatus: (error, status) =>
      status === 400
        ? error instanceof Anthropic.BadRequestError
        : error instanceof Anthropic.APIError && error.status === status,
    failure: '"is_error":true',
    // Whole replies and the client's own sums hold an object in any case; the reason why they ended tells that it was cut.
    broken: 'told',
  })
