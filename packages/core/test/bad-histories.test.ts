/**
 * A strict server accepts the request built from any history. Unknown kinds of parts, blocks and
 * items are not tested: they pass unchanged, because providers add new kinds.
 */
import { type Conversation, createToolwell, type ToolwellOptions } from '@toolwell/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { brokenHistory, type Element } from './support/broken-histories.js'
import { brokenSdkWires } from './support/broken-sdk-wires.js'
import { type BrokenWire, brokenWires } from './support/broken-wires.js'
import { mixed } from './support/tools.js'

const deliveries = ['append', 'bridge', 'eager', 'native'] as const
const settings: readonly ToolwellOptions[] = [
  { mode: 'off' },
  ...deliveries.map((delivery) => ({ mode: 'on' as const, delivery })),
]

const last: Element = { kind: 'user', text: 'Go on.' }

describe.each([...brokenWires, ...brokenSdkWires])('a broken history on $name', (wire: BrokenWire) => {
  const check = async (
    law: (open: () => Promise<Conversation>, elements: readonly Element[]) => Promise<void>,
  ) => {
    for (const options of settings) {
      let count = 0
      const well = createToolwell({ tools: mixed(), ...options })
      await fc.assert(
        fc.asyncProperty(brokenHistory, (elements) =>
          law(() => well.open({ id: `thread-${++count}` }), [...elements, last]),
        ),
        { numRuns: runs(wire.runs ?? 30) },
      )
    }
  }

  it('gives a request that a strict server takes, the same each time, and says what it repaired', () =>
    check(async (open, elements) => {
      const conversation = await open()
      const history = wire.render(elements)
      const turn = await wire.begin(conversation, history)
      expect(wire.violationOf(turn.parts)).toBeUndefined()
      // Off, what is sent is the host's own array, or something was repaired.
      if (turn.mode === 'off' && wire.tells) expect(turn.sent !== history).toBe(turn.warnings.length > 0)
      expect(JSON.stringify((await wire.begin(conversation, history)).parts)).toBe(JSON.stringify(turn.parts))
      const elsewhere = await wire.begin(conversation, wire.render(elements))
      expect(JSON.stringify(elsewhere.parts)).toBe(JSON.stringify(turn.parts))
    }))

  it('keeps its bytes when it grows', () =>
    check(async (open, elements) => {
      const conversation = await open()
      const { sent } = await wire.begin(conversation, wire.render(elements))
      const grown = await wire.begin(conversation, [...wire.render(elements), ...wire.exchange()])
      expect(wire.violationOf(grown.parts)).toBeUndefined()
      expect(JSON.stringify(grown.sent.slice(0, sent.length))).toBe(JSON.stringify(sent))
    }))

  it('is imported as far as it can be read', () =>
    check(async (open, elements) => {
      const report = await wire.importHistory(await open(), wire.render(elements))
      expect(report).toEqual({ recovered: expect.any(Array), unrecovered: expect.any(Array) })
    }))

  it.each(settings)(
    'rewrites a call of a removed tool as a call or a user message, never as model text (%o)',
    async (options) => {
      const conversation = await createToolwell({ tools: mixed(), ...options }).open({ id: 'x' })
      const history = wire.render([
        { kind: 'user', text: 'Go.' },
        { kind: 'reply', text: '', calls: [{ id: 'call.1', name: 'gone', input: { to: 'Anna' } }] },
        { kind: 'answer', id: 'call.1', name: 'gone', text: 'sent to Anna' },
        { kind: 'reply', text: 'Done.', calls: [] },
        last,
      ])
      const { parts, sent } = await wire.begin(conversation, history)
      expect(wire.violationOf(parts)).toBeUndefined()
      const told = sent.filter((message) => /gone|Anna/.test(JSON.stringify(message)))
      expect(JSON.stringify(told)).toContain('sent to Anna')
      for (const message of told) {
        const { role = 'user', type = 'message' } = message as { role?: string; type?: string }
        const isCall = /tool_?-?call|tool_use|functionCall|function_call/.test(JSON.stringify(message))
        if (!isCall && type === 'message') expect(['user', 'tool']).toContain(role)
      }
    },
  )

  it('has what cannot be recovered reported: a search answer that was cut, a call without a search', async () => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'x' })
    const called = (id: string, name: string, input: object): Element[] => [
      { kind: 'reply', text: '', calls: [{ id, name, input }] },
      { kind: 'answer', id, name, text: 'cut sho' },
    ]
    const { recovered, unrecovered } = await wire.importHistory(
      conversation,
      wire.render([
        last,
        ...called('call.1', 'tool_search', { query: 'select:create_issue' }),
        ...called('call.1', 'tracker__create_issue', { value: 'x' }),
        { kind: 'answer', id: 'nobody', name: 'tool_search', text: 'to no call' },
      ]),
    )
    expect(recovered).toEqual([])
    expect(unrecovered).toEqual([
      { tool: 'tracker/create_issue', reason: expect.stringContaining('no search answer') },
      { tool: '', reason: expect.stringContaining('does not say what it loaded') },
    ])
  })
})
