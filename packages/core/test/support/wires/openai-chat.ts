/** The scenario harness for Chat Completions. */
import {
  type Conversation,
  createToolwell,
  memoryStore,
  type ToolwellEvent,
  type ToolwellOptions,
} from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { renderOrder, startScriptedChat } from '@toolwell/core/testing'
import { onTestFinished } from 'vitest'
import type { WireHarness, WireHost } from '../wire-harness.js'

export const openaiChatHarness: WireHarness = {
  name: 'openai-chat',
  order: 'tools-first',
  async open(options, script, setup = {}) {
    const model = typeof script === 'function' ? (_: unknown, index: number) => script(index) : script
    const chat = await startScriptedChat({ model, maxDescription: 1024 })
    onTestFinished(() => chat.close())
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
      history: ChatMessage[],
    ): WireHost => {
      const adapter = openaiChat(conversation)
      let messages = history
      const at = (index = -1) => {
        const request = chat.requests.at(index)
        if (!request) throw new Error(`There is no request ${index}.`)
        return request
      }
      const host: WireHost = {
        well,
        conversation,
        events,
        get requests() {
          return chat.requests
        },
        get length() {
          return messages.length
        },
        say: (text) => void messages.push({ role: 'user', content: text }),
        async step(requestId = `request-${++count}`) {
          const turn = await adapter.begin(messages, { requestId })
          const response = await fetch(`${chat.url}/chat/completions`, {
            method: 'POST',
            body: JSON.stringify({ model: 'scripted', ...turn.parts }),
          })
          const answer = (await response.json()) as {
            choices?: { message: ChatMessage }[]
            error?: { message: string }
          }
          if (response.status === 400)
            throw new Error(`The endpoint refused the request: ${answer.error?.message}`)
          const reply = answer.choices?.[0]?.message
          if (!reply) return []
          const { messages: results } = await turn.run(reply, setup.run)
          messages.push(reply, ...results)
          return results.map((result) => String(result.content))
        },
        async ask(text) {
          host.say(text)
          while ((await host.step()).length > 0);
          return String(messages.at(-1)?.content ?? '')
        },
        toolNames: (index) => (at(index).body.tools ?? []).map((tool) => tool.function.name),
        toolsJson: (index) => JSON.stringify(at(index).body.tools ?? []),
        rendered: (index) => renderOrder(at(index).body),
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
