/** The scenario harness for the Responses API, and the host behind it for tests of this wire alone. */
import type { ToolwellOptions } from '@toolwell/core'
import {
  openaiResponses,
  type ResponsesItem,
  type ResponsesParts,
  type ResponsesPrompt,
  type ResponsesReply,
} from '@toolwell/core/openai-responses'
import { responsesProtocol } from '@toolwell/testing'
import { responsesRenderOrder } from '../../../../testing/src/openai-responses/protocol.js'
import type { ResponsesRequestBody } from '../../../../testing/src/openai-responses/request.js'
import type { Script, WireHarness } from '../wire-harness.js'
import { type NativeHost, post, startWireHost, type WireDriver, type WireSetup } from '../wire-host.js'

type Setup = WireSetup & {
  readonly instructions?: string
  /** Off where the user speaks while tools run. Default on. */
  readonly strictOrder?: boolean
  /** Changes what the model answers, for items that no script can write. */
  readonly reply?: (output: readonly ResponsesItem[], index: number) => readonly ResponsesItem[]
}

interface More {
  /** The native history. */
  readonly items: ResponsesItem[]
  input(index?: number): readonly ResponsesItem[]
}

export type ResponsesHost = NativeHost<ResponsesItem, ResponsesRequestBody, More> & More

const driver = ({
  instructions,
  strictOrder = true,
  reply = (output) => output,
}: Setup): WireDriver<
  ResponsesItem,
  ResponsesReply,
  ResponsesParts,
  ResponsesPrompt,
  ResponsesRequestBody,
  More
> => ({
  protocol: responsesProtocol({ strictByDefault: true, strictOrder }),
  prompt: instructions === undefined ? {} : { instructions },
  adapter: openaiResponses,
  user: (text) => ({ role: 'user', content: text }),
  async send({ url, requests }, parts) {
    const { output } = await post<ResponsesReply>(`${url}/responses`, { model: 'scripted', ...parts })
    return output && { output: reply(output, requests.length) }
  },
  kept: ({ output }) => output,
  lastText(items) {
    const content = items.findLast((item) => item.role === 'assistant')?.content
    return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : ''
  },
  tools: ({ tools = [] }) => tools.map((tool) => ({ name: tool.name ?? String(tool.type), native: tool })),
  rendered: responsesRenderOrder,
  more: (items, body) => ({ items, input: (index) => body(index).input as readonly ResponsesItem[] }),
})

export const openaiResponsesHarness: WireHarness = {
  name: 'openai-responses',
  order: 'tools-first',
  deliveries: ['append', 'bridge', 'native'],
  open: (options, script, setup) => startResponsesHost(options, script, setup),
}

export function startResponsesHost(
  options: ToolwellOptions,
  script: Script,
  setup: Setup = {},
): Promise<ResponsesHost> {
  return startWireHost(driver(setup), options, script, setup)
}
