/** The scenario harness for Anthropic Messages. */
import {
  type Conversation,
  createToolwell,
  memoryStore,
  type ToolwellEvent,
  type ToolwellOptions,
} from '@toolwell/core'
import {
  type AnthropicMessage,
  type AnthropicReply,
  type AnthropicToolResult,
  anthropic,
} from '@toolwell/core/anthropic'
import { onTestFinished } from 'vitest'
import { anthropicProtocol } from '../../../src/testing/anthropic-protocol.js'
import { anthropicRenderOrder } from '../../../src/testing/anthropic-usage.js'
import { startScriptedEndpoint } from '../../../src/testing/scripted-endpoint.js'
import type { WireHarness, WireHost } from '../wire-harness.js'

export const anthropicHarness: WireHarness = {
  name: 'anthropic',
  order: 'tools-first',
  async open(options, script, setup = {}) {
    const model = typeof script === 'function' ? (_: unknown, index: number) => script(index) : script
    const endpoint = await startScriptedEndpoint(anthropicProtocol(), { model })
    onTestFinished(() => endpoint.close())
    const store = options.store ?? memoryStore()
    const events: ToolwellEvent[] = []
    let count = 0

    const start = (changed: Partial<ToolwellOptions>) => {
      const well = createToolwell({ ...options, ...changed, store, onEvent: (event) => events.push(event) })
      setup.prepare?.(well)
      return well
    }

    const create = (
      well: ReturnType<typeof start>,
      conversation: Conversation,
      history: AnthropicMessage[],
    ): WireHost => {
      const adapter = anthropic(conversation)
      let messages = history
      const at = (index = -1) => {
        const request = endpoint.requests.at(index)
        if (!request) throw new Error(`There is no request ${index}.`)
        return request
      }
      const host: WireHost = {
        well,
        conversation,
        events,
        get requests() {
          return endpoint.requests
        },
        get length() {
          return messages.length
        },
        say: (text) => void messages.push({ role: 'user', content: text }),
        async step(requestId = `request-${++count}`) {
          const turn = await adapter.begin(messages, { requestId, system: 'You are careful.' })
          const response = await fetch(`${endpoint.url}/v1/messages`, {
            method: 'POST',
            body: JSON.stringify({ model: 'scripted', max_tokens: 1024, ...turn.parts }),
          })
          const answer = (await response.json()) as Partial<AnthropicReply> & { error?: { message: string } }
          if (response.status === 400)
            throw new Error(`The endpoint refused the request: ${answer.error?.message}`)
          if (answer.role === undefined) return []
          const reply: AnthropicReply = { role: answer.role, content: answer.content }
          const { messages: results } = await turn.run(reply, setup.run)
          messages.push(reply, ...results)
          return results.flatMap(({ content }) =>
            (content as AnthropicToolResult[]).map((block) => block.content),
          )
        },
        async ask(text) {
          host.say(text)
          while ((await host.step()).length > 0);
          const last = messages.at(-1)?.content
          return Array.isArray(last) ? last.map((block: { text?: string }) => block.text ?? '').join('') : ''
        },
        toolNames: (index) => (at(index).body.tools ?? []).map((tool) => tool.name ?? ''),
        toolsJson: (index) => JSON.stringify(at(index).body.tools ?? []),
        rendered: (index) => anthropicRenderOrder(at(index).body),
        async compact(summary, keep) {
          const next = [{ role: 'user', content: summary }, ...(keep > 0 ? messages.slice(-keep) : [])]
          await adapter.compact(messages, next)
          messages = next
        },
        async fork(id, length) {
          const part = messages.slice(0, length)
          return create(well, await adapter.fork(part, { id }), part)
        },
        async resume(changed = {}) {
          const other = start(changed)
          return create(other, await other.open({ id: conversation.id }), structuredClone(messages))
        },
        with: (other) => create(well, other, []),
      }
      return host
    }
    const well = start({})
    return create(well, await well.open({ id: 'scenario' }), [])
  },
}
