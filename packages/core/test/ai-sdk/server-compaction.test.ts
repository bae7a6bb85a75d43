/** Context that the provider compacts or clears, through the SDK. */
import { describe, expect, it } from 'vitest'
import { mixed, server } from '../support/tools.js'
import { type Body, bridged, call, calls, majors, said, search, startHost } from './support.js'

const name = 'tracker__create_issue'
const find = calls(search(`select:${name}`))
const summary = (signature?: string) => ({
  type: 'text',
  text: 'They found a tool.',
  providerOptions: { anthropic: { type: 'compaction', ...(signature && { signature }) } },
})

// Version 6 has neither signed summaries nor those of OpenAI.
describe.each(majors)('AI SDK $major', ({ major }) => {
  it.runIf(major === 7).each(['on', 'off'] as const)(
    'sends a signed summary first, without the messages before it (%s)',
    async (mode) => {
      const options = { tools: mixed(), mode }
      const host = await startHost({
        major,
        wire: 'anthropic-thinking',
        script: [said(), said(), said()],
        options,
      })
      await host.ask('One.')
      host.messages.push({ role: 'assistant', content: [summary('signed')] })
      await host.ask('Two.')
      host.well.catalogue.setSource('late', { tools: server('late', ['send_mail']) })
      await host.ask('Three.')
      expect(host.statuses()).toEqual([200, 200, 200])
      for (const index of [1, 2])
        expect(host.body(index).messages[0]).toEqual({
          role: 'assistant',
          content: [{ type: 'compaction', content: 'They found a tool.', signature: 'signed' }],
        })
      expect(host.body(2).messages.slice(0, 2)).toEqual(host.body(1).messages.slice(0, 2))
    },
  )

  const responses = [
    ['responses', 'native'],
    ['responses', 'bridge'],
  ] as const
  it.each([
    ['anthropic', 'native'] as const,
    ['anthropic', 'bridge'] as const,
    ['anthropic', 'append'] as const,
    ...(major === 7 ? responses : []),
  ])('shows a loaded tool again after a summary: %s, %s', async (wire, delivery) => {
    const use = calls(delivery === 'bridge' ? bridged(name) : call(name))
    const options = { tools: mixed(), mode: 'on', delivery } as const
    const host = await startHost({ major, wire, script: [find, said(), use, said()], options })
    await host.ask('Find it.')
    host.messages.push({
      role: 'assistant',
      content: [
        wire === 'anthropic'
          ? summary()
          : {
              type: 'custom',
              kind: 'openai.compaction',
              providerOptions: {
                openai: { type: 'compaction', itemId: 'cmp_1', encryptedContent: 'sealed' },
              },
            },
        { type: 'text', text: 'I go on.' },
      ],
    })
    await host.ask('Use it.')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
    const { tools = [], ...body } = host.body(2)
    const messages = (body.messages ?? (body as { input?: object[] }).input ?? []) as object[]
    const start = messages.findIndex((message) => JSON.stringify(message).includes('"compaction"'))
    expect(start).toBeGreaterThan(0)
    const seen = JSON.stringify([messages.slice(start), tools.filter((tool) => !tool.defer_loading)])
    expect(seen).toContain('The value for create_issue')
    expect(host.conversation.events.filter(({ kind }) => kind === 'compacted')).toHaveLength(1)
  })

  it.each(['generate', 'stream'])(
    'shows a loaded tool again once if the API cleared the answer that had it (%s)',
    async (way) => {
      const read = calls(call('read_file'))
      const options = { tools: mixed(), mode: 'on', delivery: 'native' } as const
      const script = [find, read, read, said(), read, said()]
      const host = await startHost({ major, wire: 'anthropic', script, options })
      const model = clearing(host.model as Model)
      const ask = (text: string) =>
        way === 'generate' ? host.ask(text, { model }) : host.askStreaming(text, { model })
      await ask('Find it.')
      await ask('Again.')
      const shown = host.endpoint.requests.map(({ raw }) => {
        const { tools = [] } = JSON.parse(raw) as Body
        return tools.some((tool) => tool.name === name && !tool.defer_loading)
      })
      expect(shown).toEqual([false, false, true, true, true, true])
      expect(host.conversation.events.filter(({ kind }) => kind === 'compacted')).toHaveLength(1)
    },
  )
})

interface Reply {
  readonly stream: ReadableStream<object>
}
interface Model {
  doGenerate(options: object): Promise<object>
  doStream(options: object): Promise<Reply>
}

/** A model whose API hides the oldest result of a tool, and reports it. */
function clearing(model: Model): object {
  const contextManagement = { appliedEdits: [{ type: 'clear_tool_uses_20250919', clearedToolUses: 1 }] }
  const providerMetadata = { anthropic: { contextManagement } }
  const methods = {
    doGenerate: async (options: object) => ({ ...(await model.doGenerate(options)), providerMetadata }),
    doStream: async (options: object) => {
      const { stream, ...rest } = await model.doStream(options)
      const transform = new TransformStream<object, object>({
        transform: (part, controller) =>
          controller.enqueue('type' in part && part.type === 'finish' ? { ...part, providerMetadata } : part),
      })
      return { ...rest, stream: stream.pipeThrough(transform) }
    },
  }
  return new Proxy(model, {
    get: (target, key) =>
      Object.hasOwn(methods, key) ? Reflect.get(methods, key) : Reflect.get(target, key, target),
  })
}
