/** Replicas that see two editions of a tool: one announcement, not one in every turn. */
import { createToolwell, memoryStore } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { expect, it } from 'vitest'
import { tool } from './support/tools.js'

const edition = (text: string) => [tool('log', { description: `Shows the log, ${text}` })]
const count = (text: string, part: string) => text.split(part).length - 1

it.each(['append', 'bridge'] as const)('announces each edition once over %s', async (delivery) => {
  const store = memoryStore()
  const replicas = ['first', 'second'].map((text) => {
    const well = createToolwell({ mode: 'on', delivery, store })
    well.catalogue.setSource('git', { tools: edition(text) })
    return well
  })
  const history: ChatMessage[] = [{ role: 'user', content: 'Go.' }]
  const open = async (index: number) => openaiChat((await replicas[index % 2]?.open({ id: 'a' })) as never)
  const call: ChatMessage = {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: 'c',
        type: 'function',
        function: { name: 'tool_search', arguments: '{"query":"select:git__log"}' },
      },
    ],
  }
  const turn = await (await open(0)).begin(history)
  history.push(call, ...(await turn.run(call)).messages)
  let sent = ''
  const step = async (index: number) => {
    history.push({ role: 'assistant', content: `Well ${history.length}.` }, { role: 'user', content: 'On.' })
    sent = JSON.stringify((await (await open(index)).begin(history)).parts.messages)
  }
  for (let index = 1; index <= 12; index++) await step(index)
  expect(count(sent, 'Changed by its owner')).toBe(1)
  expect(sent).toContain('Shows the log, second')

  // This process sees the change itself, back to a known edition.
  replicas[1]?.catalogue.setSource('git', { tools: edition('first') })
  await step(1)
  expect(count(sent, 'Changed by its owner')).toBe(2)
})
