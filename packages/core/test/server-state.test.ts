/** Settings with which a provider keeps the history: refused at begin, with the way out. */
import { createToolwell } from '@toolwell/core'
import { anthropic } from '@toolwell/core/anthropic'
import { openaiResponses } from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import { startHost } from './ai-sdk/support.js'
import { mixed } from './support/tools.js'

const open = () => createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
const user = { role: 'user', content: 'Go.' }
const WAY_OUT = /Pass your whole history to begin on every request/

describe('state at the provider', () => {
  it.each([{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { store: true }])(
    'is refused in begin of the Responses API: %o',
    async (given) => {
      const begin = openaiResponses(await open()).begin([user], given as never)
      await expect(begin).rejects.toThrow(WAY_OUT)
    },
  )

  it('is refused in begin of Anthropic', async () => {
    await expect(anthropic(await open()).begin([user], { thread: { id: 'x' } } as never)).rejects.toThrow(
      WAY_OUT,
    )
  })

  it('is refused if a history has only the results of the last reply', async () => {
    const openai = openaiResponses(await open(), { native: false })
    const turn = await openai.begin([user])
    const search = {
      type: 'function_call',
      call_id: 'call_1',
      name: 'tool_search',
      arguments: '{"query":"issue"}',
    }
    const { messages } = await turn.run({ output: [search] })
    await expect(openai.begin(messages)).rejects.toThrow(/results without their calls.*previous_response_id/)
    await expect(openai.begin([user, search, ...messages])).resolves.toBeDefined()
  })

  it.each([{ previousResponseId: 'resp_1' }, { store: true }])(
    'is refused through the AI SDK: %o',
    async (given) => {
      const host = await startHost({ major: 7, wire: 'responses', script: [{ text: 'Well.' }] })
      const asked = host.ask('Go.', { providerOptions: { openai: given } })
      await expect(asked).rejects.toThrow(WAY_OUT)
    },
  )
})
