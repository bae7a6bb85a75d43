/** The journeys with `openai` on Chat Completions. */
import { assemble, openaiChat, type StreamedMessage } from '@toolwell/core/openai-chat'
import { type ChatRequestBody, chatProtocol } from '@toolwell/testing'
import OpenAI7 from 'openai'
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import OpenAI6 from 'openai-6'
import { chatRenderOrder } from '../../../testing/src/openai-chat/answer.js'
import type { ChatParts } from '../../src/adapters/openai-chat/wire.js'
import { startWireHost, type WireDriver } from '../support/wire-host.js'
import { openaiChatHarness } from '../support/wires/openai-chat.js'
import { type Mode, runJourneys, type Session } from './journey.js'

/** A whole choice, or an assembled one. */
interface Reply {
  readonly message: ChatCompletionMessage | StreamedMessage
  readonly finish_reason?: string | null
}

/** Without a word on streams, so that it fits all three ways to ask. */
type Request = Omit<ChatCompletionCreateParamsNonStreaming, 'stream'>

type Driver = WireDriver<
  ChatCompletionMessageParam,
  Reply,
  ChatParts<ChatCompletionMessageParam>,
  object,
  ChatRequestBody,
  { readonly session: Session }
>

/** The majors that people have; `fits.ts` compares their types. */
const majors = [OpenAI7, OpenAI6 as unknown as typeof OpenAI7] as const

const driver = (session: Session, OpenAI: typeof OpenAI7): Driver => ({
  protocol: chatProtocol({ maxDescription: 1024 }),
  prompt: {},
  adapter: (conversation) => openaiChat<ChatCompletionMessageParam>(conversation),
  user: (text) => ({ role: 'user', content: text }),
  async send({ url }, parts) {
    const client = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: session.retries })
    const { choice } = session
    const request: Request = {
      model: 'gpt-5-mini',
      ...parts,
      ...(choice === undefined ? {} : { tool_choice: { type: 'function', function: { name: choice } } }),
    }
    const { reply, complete } = await ask(client, request, session.mode)
    const { message } = reply
    session.seen.push({ text: message.content ?? '', calls: callsOf(message), complete })
    return complete ? reply : undefined
  },
  kept: ({ message }) => [message],
  lastText: (messages) => String(messages.at(-1)?.content ?? ''),
  tools: ({ tools = [] }) => tools.map((tool) => ({ name: tool.function.name, native: tool })),
  rendered: chatRenderOrder,
  more: () => ({ session }),
})

async function ask(
  client: OpenAI7,
  request: Request,
  mode: Mode,
): Promise<{ readonly reply: Reply; readonly complete: boolean }> {
  switch (mode) {
    case 'whole': {
      const { choices } = await client.chat.completions.create(request)
      if (!choices[0]) throw new Error('The completion has no choice.')
      return { reply: choices[0], complete: true }
    }
    case 'helper':
      return {
        reply: { message: await client.chat.completions.stream(request).finalMessage() },
        complete: true,
      }
    case 'assembled':
      return assemble(await client.chat.completions.create({ ...request, stream: true }))
  }
}

function callsOf({ tool_calls: calls = [] }: Reply['message']): Session['seen'][number]['calls'] {
  return calls.flatMap((call) =>
    call.type === 'function' ? [{ name: call.function.name, input: read(call.function.arguments) }] : [],
  )
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

for (const [index, OpenAI] of majors.entries())
  runJourneys({
    name: `the OpenAI client ${7 - index} on Chat Completions`,
    deliveries: openaiChatHarness.deliveries,
    modes: ['whole', 'helper', 'assembled'],
    open: (session, options, script) => startWireHost(driver(session, OpenAI), options, script),
    isStatus: (error, status) =>
      status === 400
        ? error instanceof OpenAI.BadRequestError
        : error instanceof OpenAI.APIError && error.status === status,
    failure: '"role":"tool"',
    broken: 'told',
  })
