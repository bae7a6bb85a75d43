/** Context that the provider compacts or clears: its summary is sent back unchanged, and loaded tools stay visible. */
import { createToolwell, type DeliveryName } from '@toolwell/core'
import { type AnthropicMessage, anthropic, assemble } from '@toolwell/core/anthropic'
import { openaiChat } from '@toolwell/core/openai-chat'
import type { ScriptedCall } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { mixed, server } from './support/tools.js'
import { startThinking } from './support/wires/anthropic.js'
import { startResponsesHost } from './support/wires/openai-responses.js'

const search: ScriptedCall = { name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } }
const create: ScriptedCall = { name: 'tracker__create_issue', arguments: { value: 'x' } }
const bridged = { name: 'tool_call', arguments: { name: 'tracker__create_issue', arguments: { value: 'x' } } }
const said = { text: 'Well.' }
const summary = { type: 'compaction', content: 'They found a tool.', encrypted_content: null }

describe('a signed compaction block', () => {
  const signed: AnthropicMessage = {
    role: 'assistant',
    content: [{ ...summary, encrypted_content: 'sealed', signature: 'signed', tool_changes: [] }],
  }

  it.each(['on', 'off'] as const)('is sent back first and unchanged (%s)', async (mode) => {
    const host = await startThinking({ tools: mixed(), mode }, [said, said, said])
    await host.ask('One.')
    await host.compactTo([signed])
    await host.ask('Two.')
    await host.ask('Three.')
    expect(host.requests.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const index of [1, 2]) expect(host.body(index).messages[0]).toEqual(signed)
    expect(host.warnings).toEqual([])
  })

  it.each(['on', 'off'] as const)(
    'takes the place of messages that the host kept before it (%s)',
    async (mode) => {
      const host = await startThinking({ tools: mixed(), mode }, [
        { calls: [search] },
        said,
        said,
        said,
        said,
      ])
      await host.ask('One.')
      host.messages.push(signed)
      await host.ask('Two.')
      host.well.catalogue.setSource('late', { tools: server('late', ['send_mail']) })
      await host.ask('Three.')
      expect(host.requests.every(({ status }) => status === 200)).toBe(true)
      for (const index of [-1, -2]) expect(host.body(index).messages[0]).toEqual(signed)
      expect(host.body(-1).messages.slice(0, 2)).toEqual(host.body(-2).messages.slice(0, 2))
      // A second summary replaces the first.
      host.messages.push(signed)
      await host.ask('Four.')
      expect(host.body().messages.slice(0, 1)).toEqual([signed])
      expect(host.body().messages.length).toBeLessThan(4)
    },
  )

  it('is a separate paragraph for another provider', async () => {
    const conversation = await createToolwell({ tools: mixed() }).open({ id: 'a' })
    const content = [
      { ...summary, signature: 'signed' },
      { type: 'text', text: 'I go on.' },
    ]
    const thread = anthropic(conversation).thread([{ role: 'assistant', content }])
    expect(openaiChat(conversation).adopt(thread)).toEqual([
      { role: 'assistant', content: 'They found a tool.\n\nI go on.' },
    ])
  })

  it('is read from a stream', async () => {
    async function* events() {
      yield { type: 'message_start', message: { usage: {} } }
      const block = { type: 'compaction', content: 'They', encrypted_content: null, signature: 'signed' }
      yield { type: 'content_block_start', index: 0, content_block: block }
      const delta = { type: 'compaction_delta', content: 'They found a tool.', encrypted_content: 'sealed' }
      yield { type: 'content_block_delta', index: 0, delta }
      yield { type: 'message_delta', delta: { stop_reason: 'compaction' } }
      yield { type: 'message_stop' }
    }
    const { messages } = await assemble(events())
    expect(messages).toEqual([
      { role: 'assistant', content: [{ ...summary, encrypted_content: 'sealed', signature: 'signed' }] },
    ])
  })
})

const deliveries: readonly DeliveryName[] = ['native', 'bridge', 'append']

describe.each(deliveries)('over %s, after a compaction by the server, a loaded tool', (delivery) => {
  const script = [{ calls: [search] }, said, { calls: [delivery === 'bridge' ? bridged : create] }, said]

  it('is visible again on Anthropic', async () => {
    const host = await startThinking({ tools: mixed(), mode: 'on', delivery }, script)
    await host.ask('Find it.')
    host.messages.push({ role: 'user', content: 'Go on.' })
    host.messages.push({ role: 'assistant', content: [summary, { type: 'text', text: 'I go on.' }] })
    await host.ask('Use it.')
    const { messages, tools } = host.body()
    const start = messages.findIndex(({ content }) => JSON.stringify(content).includes('"compaction"'))
    const seen = JSON.stringify([
      messages.slice(start),
      (tools ?? []).filter(({ defer_loading: deferred }) => !deferred),
    ])
    expect(seen).toContain('The value for create_issue')
    expect(host.requests.every(({ status }) => status === 200)).toBe(true)
    expect(host.conversation.events.filter(({ kind }) => kind === 'compacted')).toHaveLength(1)
  })

  it('is visible again on the Responses API', async () => {
    const host = await startResponsesHost({ tools: mixed(), mode: 'on', delivery }, script)
    await host.ask('Find it.')
    host.items.push({ role: 'user', content: 'Go on.' })
    host.items.push({ type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' })
    await host.ask('Use it.')
    const input = host.input()
    const start = input.findIndex(({ type }) => type === 'compaction')
    expect(JSON.stringify([input.slice(start), host.body().tools])).toContain('The value for create_issue')
    expect(host.requests.every(({ status }) => status === 200)).toBe(true)
    expect(host.conversation.events.filter(({ kind }) => kind === 'compacted')).toHaveLength(1)
  })
})

describe('clear_tool_uses', () => {
  const cleared = { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 1 }] }
  const use = (id: string, name: string, input: object) => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name, input }],
  })

  it('counts as a compaction once, if it hid the answer that revealed a tool', async () => {
    const claude = anthropic(await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' }))
    const messages: AnthropicMessage[] = [{ role: 'user', content: 'Go.' }]
    const step = async (reply: { role: string; content: unknown }, report?: object) => {
      const turn = await claude.begin(messages)
      const { messages: made } = await turn.run({ ...reply, ...(report && { context_management: report }) })
      messages.push(reply, ...made)
      return turn
    }
    const names = ({ parts }: Awaited<ReturnType<typeof step>>) =>
      (parts.tools ?? []).filter((tool) => !tool.defer_loading).map(({ name }) => name)
    await step(use('toolu_1', 'tool_search', { query: 'select:tracker__create_issue' }))
    expect(names(await step(use('toolu_2', 'read_file', {})))).not.toContain('tracker__create_issue')
    await step(use('toolu_3', 'read_file', {}), cleared)
    expect(names(await step(use('toolu_4', 'read_file', {}), cleared))).toContain('tracker__create_issue')
    const turn = await step(use('toolu_5', 'read_file', {}), cleared)
    const before = JSON.stringify(turn.parts.tools)
    expect(JSON.stringify((await step(use('toolu_6', 'read_file', {}))).parts.tools)).toBe(before)
  })

  it('is read from a stream', async () => {
    async function* events() {
      yield { type: 'message_start', message: { usage: {} } }
      yield { type: 'message_delta', delta: { stop_reason: 'end_turn' }, context_management: cleared }
      yield { type: 'message_stop' }
    }
    expect((await assemble(events())).reply.context_management).toEqual(cleared)
  })
})
