/** OpenAI Responses: tools, instructions, items. */
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
import { type BenchWire, createThread, renderToolsFirst } from './wire.ts'

export const responsesWire: BenchWire = {
  name: 'openai-responses',
  open(conversation, system) {
    const adapter = openaiResponses(conversation)
    return createThread<ResponsesItem, { readonly output: readonly ResponsesItem[] }>({
      async begin(messages) {
        const turn = await adapter.begin(messages, { instructions: system })
        const { input, tools = [], instructions = '' } = turn.parts
        return { view: turn.view, body: { tools, system: instructions, messages: input }, run: turn.run }
      },
      user: (text) => ({ type: 'message', role: 'user', content: text }),
      reply({ text, calls }) {
        const output: ResponsesItem[] = [
          ...(text === '' ? [] : [{ type: 'message', role: 'assistant', content: text }]),
          ...calls.map(({ id, name, arguments: input, native }): ResponsesItem => {
            if (native === 'search')
              return {
                type: 'tool_search_call',
                execution: 'client',
                call_id: id,
                status: 'completed',
                arguments: input,
              }
            const call = { type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) }
            return native === 'found' ? { ...call, namespace: name } : call
          }),
        ]
        return { reply: { output }, history: output }
      },
    })
  },
  render: renderToolsFirst,
}
