/** Anthropic Messages: tools, system, messages. */
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { type BenchWire, createThread, renderToolsFirst, textOf } from './wire.ts'

export const anthropicWire: BenchWire = {
  name: 'anthropic',
  open(conversation, system) {
    const adapter = anthropic(conversation)
    return createThread<AnthropicMessage, AnthropicMessage & { content: unknown }>({
      async begin(messages) {
        const turn = await adapter.begin(messages, { system })
        const { parts } = turn
        const body = { tools: parts.tools ?? [], system: textOf(parts.system), messages: parts.messages }
        return { view: turn.view, body, run: turn.run }
      },
      user: (text) => ({ role: 'user', content: text }),
      reply({ text, calls }) {
        const content = [
          ...(text === '' ? [] : [{ type: 'text', text }]),
          ...calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
        ]
        const reply = { role: 'assistant', content }
        return { reply, history: [reply] }
      },
    })
  },
  /** A deferred definition appears at the reference that brings it in. */
  render(body, pieces) {
    const tools = body.tools as readonly { name: string; defer_loading?: boolean }[]
    const deferred = new Map<string, object>()
    for (const tool of tools)
      if (tool.defer_loading) {
        const { defer_loading: _, ...definition } = tool
        deferred.set(tool.name, definition)
      }
    const messages =
      deferred.size === 0 ? body.messages : body.messages.flatMap((message) => expanded(message, deferred))
    return renderToolsFirst({ ...body, tools: tools.filter((tool) => !tool.defer_loading), messages }, pieces)
  },
}

/** A message and the definitions that its results refer to. */
function expanded(message: object, deferred: ReadonlyMap<string, object>): object[] {
  const { content } = message as { content?: unknown }
  const found = partsOf(content)
    .flatMap((block) => partsOf(block.content))
    .flatMap((part) => (part.type === 'tool_reference' ? (deferred.get(String(part.tool_name)) ?? []) : []))
  return [message, ...found]
}

function partsOf(content: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(content) ? content : []
}
