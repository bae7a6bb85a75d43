/** Tools that throw or return values on which every question fails: `run` answers, and other results stay. */
import { createToolwell } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { expect, it } from 'vitest'
import { tool } from './support/tools.js'

const fail = () => {
  throw hostile
}
const traps: ProxyHandler<object> = {
  get: fail,
  getPrototypeOf: fail,
  has: fail,
  ownKeys: fail,
  getOwnPropertyDescriptor: fail,
}
const hostile: object = new Proxy({}, traps)
const { proxy: revoked, revoke } = Proxy.revocable({}, {})
revoke()

it.each<[string, () => unknown]>([
  [
    'throws a Proxy',
    () => {
      throw hostile
    },
  ],
  ['rejects with a Proxy', () => Promise.reject(hostile)],
  ['rejects with a revoked Proxy', () => Promise.reject(revoked)],
  ['returns a Proxy', () => hostile],
  ['returns a Proxy inside a value', () => ({ content: [hostile], deep: revoked })],
])('keeps the results of parallel calls if a tool %s', async (_, execute) => {
  for (const timeout of [undefined, 5000]) {
    const bad = tool('bad', { execute, ...(timeout ? { timeout } : {}) })
    const well = createToolwell({ tools: [bad, tool('good')] })
    const chat = openaiChat(await well.open({ id: 'a' }))
    const user: ChatMessage = { role: 'user', content: 'Go.' }
    const turn = await chat.begin([user])
    const call = (id: string, name: string) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: '{}' },
    })
    const reply: ChatMessage = {
      role: 'assistant',
      content: null,
      tool_calls: [call('a', 'bad'), call('b', 'good')],
    }
    const { messages, answers } = await turn.run(reply)
    expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['error', 'result'])
    const next = await chat.begin([user, reply, ...messages])
    expect(next.parts.messages.map(({ content }) => content)).toContain('good ran with {}')
  }
})
