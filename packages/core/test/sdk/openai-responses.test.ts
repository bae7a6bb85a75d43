/** The journeys with `openai` on the Responses API. */
import {
  assemble,
  openaiResponses,
  type ResponsesItem,
  type ResponsesPrompt,
  type ResponsesReply,
  type ResponsesRequest,
} from '@toolwell/core/openai-responses'
import { responsesProtocol } from '@toolwell/testing'
import OpenAI7 from 'openai'
import type {
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import OpenAI6 from 'openai-6'
import { responsesRenderOrder } from '../../../testing/src/openai-responses/protocol.js'
import type { ResponsesRequestBody } from '../../../testing/src/openai-responses/request.js'
import { startWireHost, type WireDriver } from '../support/wire-host.js'
import { openaiResponsesHarness } from '../support/wires/openai-responses.js'
import { type Mode, runJourneys, type Session } from './journey.js'

/** Without a word on streams, so that it fits all three ways to ask. */
type Request = Omit<ResponseCreateParamsNonStreaming, 'stream'>

/** The history holds what the client sends and what it gets, which are two types to it. */
type Driver = WireDriver<
  ResponsesItem,
  ResponsesReply,
  ResponsesRequest<ResponseInputItem>,
  ResponsesPrompt,
  ResponsesRequestBody,
  { readonly session: Session }
>

/** The majors that people have; `fits.ts` compares their types. */
const majors = [OpenAI7, OpenAI6 as unknown as typeof OpenAI7] as const

const driver = (session: Session, OpenAI: typeof OpenAI7): Driver => ({
  protocol: responsesProtocol({ strictByDefault: true }),
  prompt: { instructions: 'You are careful.' },
  adapter: (conversation) => openaiResponses<ResponseInputItem>(conversation),
  user: (text) => ({ role: 'user', content: text }),
  async send({ url }, parts) {
    const client = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: session.retries })
    const { choice } = session
    const request: Request = {
      model: 'gpt-5-mini',
      store: false,
      include: ['reasoning.encrypted_content'],
      ...parts,
      ...(choice === undefined ? {} : { tool_choice: { type: 'function', name: choice } }),
    }
    const { complete, ...reply } = await ask(client, request, session.mode)
    session.seen.push({ text: textOf(reply), calls: callsOf(reply), complete })
    return complete ? reply : undefined
  },
  kept: ({ output }) => output,
  lastText: (items) => textOf({ output: items.slice(-1) }),
  tools: ({ tools = [] }) => tools.map((tool) => ({ name: tool.name ?? tool.type, native: tool })),
  rendered: responsesRenderOrder,
  more: () => ({ session }),
})

async function ask(
  client: OpenAI7,
  request: Request,
  mode: Mode,
): Promise<ResponsesReply & { readonly complete: boolean }> {
  switch (mode) {
    case 'whole': {
      const { output } = await client.responses.create(request)
      return { output, complete: true }
    }
    case 'helper': {
      const { output } = await client.responses.stream(request).finalResponse()
      return { output, complete: true }
    }
    case 'assembled': {
      const { reply, complete } = await assemble(await client.responses.create({ ...request, stream: true }))
      return { ...reply, complete }
    }
  }
}

function textOf({ output }: ResponsesReply): string {
  return output
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .map((part: { text?: string }) => part.text ?? '')
    .join('')
}

function callsOf({ output }: ResponsesReply): Session['seen'][number]['calls'] {
  return output.flatMap((item) => {
    if (item.type === 'tool_search_call') return [{ name: 'tool_search', input: item.arguments }]
    if (item.type !== 'function_call') return []
    return [{ name: item.name ?? '', input: read(String(item.arguments)) }]
  })
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
    name: `the OpenAI client ${7 - index} on Responses`,
    deliveries: openaiResponsesHarness.deliveries,
    modes: ['whole', 'helper', 'assembled'],
    open: (session, options, script) => startWireHost(driver(session, OpenAI), options, script),
    isStatus: (error, status) =>
      status === 400
        ? error instanceof OpenAI.BadRequestError
        : error instanceof OpenAI.APIError && error.status === status,
    failure: '"type":"function_call_output"',
    broken: 'told',
  })
