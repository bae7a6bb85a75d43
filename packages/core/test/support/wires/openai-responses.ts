/** The scenario harness for the Responses API, and the host behind it for tests of this wire alone. */
import {
  type Conversation,
  createToolwell,
  memoryStore,
  type Toolwell,
  type ToolwellEvent,
  type ToolwellOptions,
} from '@toolwell/core'
import { openaiResponses, type ResponsesItem, type ResponsesReply } from '@toolwell/core/openai-responses'
import { onTestFinished } from 'vitest'
import { responsesProtocol, responsesRenderOrder } from '../../../src/testing/responses-protocol.js'
import type { ResponsesRequestBody } from '../../../src/testing/responses-request.js'
import { type RecordedRequest, startScriptedEndpoint } from '../../../src/testing/scripted-endpoint.js'
import type { Script, WireHarness, WireHost } from '../wire-harness.js'

type Setup = Parameters<WireHarness['open']>[2] & {
  readonly instructions?: string
  /** Changes what the model answers, for items that no script can write. */
  readonly reply?: (output: readonly ResponsesItem[], index: number) => readonly ResponsesItem[]
}

export interface ResponsesHost extends WireHost {
  readonly requests: readonly RecordedRequest<ResponsesRequestBody>[]
  /** The native history. */
  readonly items: ResponsesItem[]
  /** What had to be mended for the last request. */
  readonly warnings: readonly string[]
  body(index?: number): ResponsesRequestBody
  input(index?: number): readonly ResponsesItem[]
  compactTo(items: readonly ResponsesItem[]): Promise<void>
  fork(id: string, length: number): Promise<ResponsesHost>
  resume(options?: Partial<ToolwellOptions>): Promise<ResponsesHost>
  with(conversation: Conversation, items?: readonly ResponsesItem[]): ResponsesHost
}

export const openaiResponsesHarness: WireHarness = {
  name: 'openai-responses',
  order: 'tools-first',
  open: (options, script, setup) => startResponsesHost(options, script, setup),
}

export async function startResponsesHost(
  options: ToolwellOptions,
  script: Script,
  setup: Setup = {},
): Promise<ResponsesHost> {
  const model = typeof script === 'function' ? (_: unknown, index: number) => script(index) : script
  const endpoint = await startScriptedEndpoint(responsesProtocol({ strictByDefault: true }), { model })
  onTestFinished(() => endpoint.close())
  const store = options.store ?? memoryStore()
  const events: ToolwellEvent[] = []
  const prompt = setup.instructions === undefined ? {} : { instructions: setup.instructions }
  let count = 0

  const start = (changed: Partial<ToolwellOptions>): Toolwell => {
    const well = createToolwell({ ...options, ...changed, store, onEvent: (event) => events.push(event) })
    setup.prepare?.(well)
    return well
  }

  const create = (well: Toolwell, conversation: Conversation, items: ResponsesItem[]): ResponsesHost => {
    const adapter = openaiResponses(conversation)
    let warnings: readonly string[] = []
    const at = (index = -1) => {
      const request = endpoint.requests.at(index)
      if (!request) throw new Error(`There is no request ${index}.`)
      return request
    }
    const host: ResponsesHost = {
      well,
      conversation,
      events,
      items,
      get requests() {
        return endpoint.requests
      },
      get length() {
        return items.length
      },
      get warnings() {
        return warnings
      },
      body: (index) => at(index).body,
      input: (index) => at(index).body.input as readonly ResponsesItem[],
      say: (text) => void items.push({ role: 'user', content: text }),
      async step(requestId = `request-${++count}`) {
        const turn = await adapter.begin(items, { requestId, ...prompt })
        warnings = turn.warnings
        const response = await fetch(`${endpoint.url}/responses`, {
          method: 'POST',
          body: JSON.stringify({ model: 'scripted', ...turn.parts }),
        })
        const answer = (await response.json()) as Partial<ResponsesReply> & { error?: { message: string } }
        if (response.status === 400)
          throw new Error(`The endpoint refused the request: ${answer.error?.message}`)
        if (!answer.output) return []
        const output = setup.reply?.(answer.output, endpoint.requests.length) ?? answer.output
        const { messages, answers } = await turn.run({ output }, setup.run)
        items.push(...output, ...messages)
        return answers.map(({ text }) => text)
      },
      async ask(text) {
        host.say(text)
        while ((await host.step()).length > 0);
        return lastText(items)
      },
      toolNames: (index) => (at(index).body.tools ?? []).map((tool) => String(tool.name)),
      toolsJson: (index) => JSON.stringify(at(index).body.tools ?? []),
      rendered: (index) => responsesRenderOrder(at(index).body),
      compact: (summary, keep) =>
        host.compactTo([{ role: 'user', content: summary }, ...(keep > 0 ? items.slice(-keep) : [])]),
      async compactTo(next) {
        await adapter.compact(items, next)
        items.splice(0, items.length, ...next)
      },
      async fork(id, length) {
        const part = items.slice(0, length)
        return create(well, await adapter.fork(part, { id }), part)
      },
      async resume(changed = {}) {
        const other = start(changed)
        return create(other, await other.open({ id: conversation.id }), structuredClone(items))
      },
      with: (other, history = []) => create(well, other, [...history]),
    }
    return host
  }
  const well = start({})
  return create(well, await well.open({ id: 'scenario' }), [])
}

function lastText(items: readonly ResponsesItem[]): string {
  const content = items.findLast((item) => item.role === 'assistant')?.content
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : ''
}
