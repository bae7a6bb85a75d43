/** A user cancels a request and edits the message: notices of that request never move into messages that were sent. */
import { type Conversation, createToolwell } from '@toolwell/core'
import { anthropic } from '@toolwell/core/anthropic'
import { google } from '@toolwell/core/google'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import { mixed, server } from './support/tools.js'

interface Line {
  begin(messages: readonly object[]): Promise<{ readonly parts: object }>
}

const chat = (role: string, text: string) => ({ role, content: text })
const wires = [
  {
    name: 'openai-chat',
    adapter: (conversation: Conversation): Line => openaiChat(conversation) as unknown as Line,
    say: chat,
  },
  {
    name: 'anthropic',
    adapter: (conversation: Conversation): Line => anthropic(conversation) as unknown as Line,
    say: chat,
  },
  {
    name: 'openai-responses',
    adapter: (conversation: Conversation): Line => openaiResponses(conversation) as unknown as Line,
    say: chat,
  },
  {
    name: 'google',
    adapter: (conversation: Conversation): Line => google(conversation) as unknown as Line,
    say: (role: string, text: string) => ({ role: role === 'user' ? 'user' : 'model', parts: [{ text }] }),
  },
]

describe.each(wires)('$name', ({ adapter, say }) => {
  const open = async () => {
    const well = createToolwell({ tools: mixed(), mode: 'on' })
    const line = adapter(await well.open({ id: 'a' }))
    const written = async (messages: readonly object[]) => {
      const { parts } = await line.begin(messages)
      const { messages: chat, input, contents } = parts as Record<string, readonly object[]>
      return (chat ?? input ?? contents ?? []).map((message) => JSON.stringify(message))
    }
    const history = [say('user', 'one'), say('assistant', 'Yes?')]
    await written(history.slice(0, 1))
    well.catalogue.setSource('late', { tools: server('late', ['send_mail']) })
    return { well, written, history }
  }
  const hasNotice = (message: string | undefined) => message?.includes('late__send_mail') === true

  it('a notice of a cancelled request goes into the edited message', async () => {
    const { written, history } = await open()
    const before = await written([...history, say('user', 'two')])
    const after = await written([...history, say('user', 'two, edited')])
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2))
    expect(after.map(hasNotice)).toEqual(before.map(hasNotice))
    expect(hasNotice(after.at(-1))).toBe(true)
    // It stays there, also if the user says the first words again later.
    const longer = [say('user', 'two, edited'), say('assistant', 'Well.'), say('user', 'two')]
    const later = await written([...history, ...longer])
    expect(later.slice(0, after.length)).toEqual(after)
    expect(later.slice(after.length).some(hasNotice)).toBe(false)
  })

  it('the branch that was left keeps its bytes', async () => {
    const { written, history } = await open()
    const branch = [...history, say('user', 'two'), say('assistant', 'Well.')]
    await written(branch.slice(0, 3))
    const sent = await written([...branch, say('user', 'three')])
    await written([...history, say('user', 'two, edited')])
    const again = await written([
      ...branch,
      say('user', 'three'),
      say('assistant', 'So.'),
      say('user', 'four'),
    ])
    expect(again.slice(0, sent.length)).toEqual(sent)
  })

  it('a longer history keeps its bytes after a request that ended before its last message', async () => {
    const { written, history } = await open()
    const longer = [...history, say('user', 'context'), say('user', 'question')]
    const sent = await written(longer)
    expect(sent.some(hasNotice)).toBe(true)
    await written(longer.slice(0, -1))
    const again = await written([...longer, say('assistant', 'So.'), say('user', 'more')])
    expect(again.slice(0, sent.length)).toEqual(sent)
  })

  it('a notice waits if the last message was sent before', async () => {
    const { written, history } = await open()
    await written([...history, say('user', 'two')])
    const first = await written(history.slice(0, 1))
    expect(first.some(hasNotice)).toBe(false)
  })
})
