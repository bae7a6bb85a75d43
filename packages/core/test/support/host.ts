/** A small loop over the real wire, for tests: what a host does, with every request body recorded. */
import {
  type Conversation,
  createToolwell,
  type RunOptions,
  type Toolwell,
  type ToolwellEvent,
  type ToolwellOptions,
} from '@toolwell/core'
import { type ChatMessage, type ChatTurn, openaiChat } from '@toolwell/core/openai-chat'
import {
  type ChatRequestBody,
  type ChatRuleOptions,
  type RecordedRequest,
  type ScriptedReply,
  startScriptedChat,
} from '@toolwell/testing'
import { onTestFinished } from 'vitest'

export interface TestHost {
  readonly well: Toolwell
  readonly conversation: Conversation
  readonly messages: ChatMessage[]
  readonly events: ToolwellEvent[]
  readonly requests: readonly RecordedRequest[]
  /** The names in the tools array of a request. */
  names(index?: number): string[]
  /** Sends one request and, where the reply calls tools, runs them. */
  step(requestId?: string): Promise<{ turn: ChatTurn; status: number; results: readonly ChatMessage[] }>
  say(text: string): void
  /** Says something, then steps until the model stops calling tools. */
  ask(text: string): Promise<string>
  /** Another host on the same endpoint, for a fork, a resume or a child. */
  with(conversation: Conversation, messages?: readonly ChatMessage[]): TestHost
  body(index?: number): ChatRequestBody
  raw(index?: number): string
}

export async function startHost(
  options: ToolwellOptions,
  script: readonly ScriptedReply[] | ((request: ChatRequestBody, index: number) => ScriptedReply),
  setup: {
    readonly id?: string
    readonly run?: RunOptions
    readonly prepare?: (well: Toolwell) => void
    readonly endpoint?: ChatRuleOptions
    /** The message tokens the host reports on every request. */
    readonly messageTokens?: number
  } = {},
): Promise<TestHost> {
  const chat = await startScriptedChat({ model: script, ...setup.endpoint })
  onTestFinished(() => chat.close())
  const events: ToolwellEvent[] = []
  const well = createToolwell({ ...options, onEvent: (event) => events.push(event) })
  setup.prepare?.(well)
  const conversation = await well.open({ id: setup.id ?? 'test' })
  let count = 0

  const create = (own: Conversation, messages: ChatMessage[]): TestHost => {
    const wire = openaiChat(own)
    const host: TestHost = {
      well,
      conversation: own,
      messages,
      events,
      get requests() {
        return chat.requests
      },
      body: (index = -1) => (chat.requests.at(index) as RecordedRequest).body,
      raw: (index = -1) => (chat.requests.at(index) as RecordedRequest).raw,
      names: (index = -1) => (host.body(index).tools ?? []).map((tool) => tool.function.name),
      say: (text) => void messages.push({ role: 'user', content: text }),
      async step(requestId = `request-${++count}`) {
        const turn = await wire.begin(messages, { requestId })
        const response = await fetch(`${chat.url}/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'scripted', ...turn.parts }),
        })
        const answer = (await response.json()) as {
          choices?: { message: ChatMessage }[]
          error?: { message: string }
        }
        if (response.status === 400)
          throw new Error(`The endpoint refused the request: ${answer.error?.message}`)
        const reply = answer.choices?.[0]?.message
        if (!reply) return { turn, status: response.status, results: [] }
        messages.push(reply)
        if (setup.messageTokens !== undefined)
          await own.recordRequest({ requestId: turn.view.requestId, messageTokens: setup.messageTokens })
        const { messages: results } = await turn.run(reply, setup.run)
        messages.push(...results)
        return { turn, status: response.status, results }
      },
      async ask(text) {
        host.say(text)
        for (;;) {
          const { results, status } = await host.step()
          if (results.length === 0 || status !== 200) return String(messages.at(-1)?.content ?? '')
        }
      },
      with: (other, history = messages) => create(other, [...history]),
    }
    return host
  }
  return create(conversation, [])
}

/** The text of the last tool message. */
export function lastResult(host: TestHost): string {
  return String(host.messages.findLast((message) => message.role === 'tool')?.content ?? '')
}

/** All requests the model reads, as one string. */
export function everyByte(host: TestHost): string {
  return host.requests.map((request) => request.raw).join('\n')
}
