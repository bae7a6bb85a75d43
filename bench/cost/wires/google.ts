/** Gemini: system instruction, tools, contents. */
import { type GoogleContent, google } from '@toolwell/core/google'
import { type BenchWire, createThread, renderToolsFirst, textOf } from './wire.ts'

export const googleWire: BenchWire = {
  name: 'google',
  open(conversation, system) {
    const adapter = google(conversation)
    return createThread<GoogleContent, GoogleContent>({
      async begin(messages) {
        const turn = await adapter.begin(messages, { systemInstruction: system })
        const { contents, tools = [], systemInstruction } = turn.parts
        const declared = tools.flatMap((tool) => tool.functionDeclarations ?? [])
        return {
          view: turn.view,
          body: { tools: declared, system: textOf(systemInstruction?.parts), messages: contents },
          run: turn.run,
        }
      },
      user: (text) => ({ role: 'user', parts: [{ text }] }),
      reply({ text, calls }) {
        const parts = [
          ...(text === '' ? [] : [{ text }]),
          ...calls.map(({ id, name, arguments: args }) => ({ functionCall: { id, name, args } })),
        ]
        const reply = { role: 'model', parts }
        return { reply, history: [reply] }
      },
    })
  },
  /** The system instruction comes before the tools. */
  render(body, pieces) {
    const { pieces: all, marks } = renderToolsFirst(body, pieces)
    const system = all.filter((piece) => piece.part === 'system')
    return { pieces: [...system, ...all.filter((piece) => piece.part !== 'system')], marks: marks.slice(1) }
  },
}
