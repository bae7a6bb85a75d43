/** A proxy that strips deferral and says nothing is noticed, and the next latch does without it. */
import { createToolwell, type ToolwellEvent } from '@toolwell/core'
import { type AnthropicMessage, type AnthropicReply, anthropic } from '@toolwell/core/anthropic'
import { anthropicProtocol, type ScriptedReply, startScriptedEndpoint } from '@toolwell/core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { estimate } from '../src/tokens.js'
import { mixed, server } from './support/tools.js'

const find = (name: string): ScriptedReply => ({
  calls: [{ name: 'tool_search', arguments: { query: `select:${name}` } }],
})
const wide = server('wide', ['one', 'two', 'three', 'four'], { description: 'word '.repeat(400) })
const mark = { cache_control: { type: 'ephemeral' } }

/** A host behind a proxy that does something to each request. */
async function open(script: readonly ScriptedReply[], strip: (body: Body) => Body) {
  const endpoint = await startScriptedEndpoint(anthropicProtocol({ strictReveal: false }), {
    model: [...script, ...Array.from({ length: 20 }, () => ({ text: 'Well.' }))],
  })
  onTestFinished(() => endpoint.close())
  const events: ToolwellEvent[] = []
  const well = createToolwell({
    tools: [...mixed(), ...wide],
    mode: 'on',
    onEvent: (event) => events.push(event),
  })
  const conversation = await well.open({ id: 'a' })
  const wire = anthropic(conversation)
  const messages: AnthropicMessage[] = []
  const step = async () => {
    const turn = await wire.begin(messages, { system: 'Be careful. '.repeat(500) })
    const body = strip({ model: 'scripted', max_tokens: 100, ...mark, ...turn.parts })
    const response = await fetch(`${endpoint.url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(200)
    const reply = (await response.json()) as AnthropicReply & { usage: Usage }
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = reply.usage
    await conversation.recordRequest({
      requestId: turn.view.requestId,
      messageTokens: estimate.count(JSON.stringify([turn.parts.system, turn.parts.messages])),
      inputTokens: input_tokens + cache_creation_input_tokens + cache_read_input_tokens,
      cachedTokens: cache_read_input_tokens,
    })
    const ran = await turn.run(reply)
    messages.push({ role: reply.role, content: reply.content }, ...ran.messages)
    return ran.messages.length > 0
  }
  return {
    conversation,
    events,
    endpoint,
    async ask(text: string) {
      messages.push({ role: 'user', content: text })
      while (await step());
    },
    async compact() {
      const after = [{ role: 'user', content: 'Summary.' }]
      await wire.compact(messages, after)
      messages.splice(0, messages.length, ...after)
    },
  }
}

interface Body {
  readonly tools?: readonly { readonly defer_loading?: boolean }[]
  readonly [field: string]: unknown
}

interface Usage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
}

const honest = (body: Body) => body
/** Strips the flag: every declared tool is sent in full, and the references on top of it. */
const stripping = (body: Body): Body => ({
  ...body,
  ...(body.tools ? { tools: body.tools.map(({ defer_loading: _, ...tool }) => tool) } : {}),
})

const searches = [find('wide__one'), find('wide__two'), find('wide__three')]

describe('a proxy that strips deferral', () => {
  it('P4: is noticed by what input costs, said at once, and avoided from the next latch on', async () => {
    const host = await open(searches, stripping)
    await host.ask('go')
    const { withheld } = host.conversation.inspect()
    expect(withheld).toHaveProperty('native')
    expect(host.events).toContainEqual(
      expect.objectContaining({ kind: 'delivery-unavailable', delivery: 'native' }),
    )
    expect(host.events.filter((event) => event.kind === 'downgraded')).toHaveLength(1)
    // Not in the middle of a history that was written for it.
    expect(host.conversation.inspect().delivery).toBe('native')
    await host.compact()
    await host.ask('again')
    expect(host.conversation.inspect().delivery).toBe('bridge')
    expect(JSON.stringify(host.endpoint.requests.at(-1)?.body)).not.toContain('defer_loading')
  })

  it('P4: is noticed when the model calls what is declared out of its sight', async () => {
    const host = await open([{ calls: [{ name: 'toolwell_reserve', arguments: {} }] }], stripping)
    await host.ask('go')
    expect(host.conversation.inspect().withheld.native).toContain('toolwell_reserve')
  })
})

it('P4: an honest server is left alone, however much is loaded', async () => {
  const host = await open([...searches, find('wide__four'), find('tracker__create_issue')], honest)
  await host.ask('go')
  await host.ask('go on')
  expect(host.conversation.inspect().withheld).toEqual({})
  await host.compact()
  await host.ask('again')
  expect(host.conversation.inspect().delivery).toBe('native')
})
