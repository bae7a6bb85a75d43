/** R2: arguments are checked before anything runs, on every wire and delivery, and when deferral is off. */
import type { Tool, ToolwellOptions, Validation } from '@toolwell/core'
import type { ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { tool } from './support/tools.js'
import type { WireHarness } from './support/wire-harness.js'
import { anthropicHarness } from './support/wires/anthropic.js'
import { googleHarness } from './support/wires/google.js'
import { openaiChatHarness } from './support/wires/openai-chat.js'
import { openaiResponsesHarness } from './support/wires/openai-responses.js'

const harnesses: readonly WireHarness[] = [
  anthropicHarness,
  openaiResponsesHarness,
  openaiChatHarness,
  googleHarness,
]
const inputSchema = {
  type: 'object',
  properties: { number: { type: 'integer', description: 'Which invoice' } },
  required: ['number'],
  additionalProperties: false,
}
const NAME = 'billing__send_invoice'

function setup(more: Partial<Tool> = {}) {
  const ran: unknown[] = []
  const execute = (input: unknown) => {
    ran.push(input)
    return 'sent'
  }
  return { ran, send: tool('send_invoice', { source: 'billing', inputSchema, execute, ...more }) }
}

const search: ScriptedReply = { calls: [{ name: 'tool_search', arguments: { query: `select:${NAME}` } }] }
const call = (input: object, bridged: boolean): ScriptedReply => ({
  calls: [
    bridged
      ? { name: 'tool_call', arguments: { name: NAME, arguments: input } }
      : { name: NAME, arguments: input },
  ],
})

describe.each(harnesses.map((harness) => [harness.name, harness] as const))('%s', (_, harness) => {
  const deferring = harness.deliveries.map((delivery) => ({ mode: 'on' as const, delivery }))
  const whole = [{ mode: 'on' as const, delivery: 'eager' as const }, { mode: 'off' as const }]
  const ways: readonly ToolwellOptions[] = [...deferring, ...whole]

  it.each(ways)(
    'answers wrong arguments with the place and the schema, and runs nothing: %j',
    async (way) => {
      const { ran, send } = setup()
      const isBridged = way.delivery === 'bridge'
      const found = way.mode === 'off' || way.delivery === 'eager' ? [] : [search]
      const script = [
        ...found,
        call({ numbr: 'seven' }, isBridged),
        call({ number: 7 }, isBridged),
        { text: 'ok' },
      ]
      const host = await harness.open({ tools: [send], ...way }, script)
      expect(await host.ask('Send invoice 7.')).toBe('ok')
      expect(ran).toEqual([{ number: 7 }])
      const answered = host.requests[found.length + 1]?.raw ?? ''
      expect(answered).toContain(`do not match the schema of ${NAME}`)
      expect(answered).toContain('number')
      expect(answered).toContain('Which invoice')
      expect(answered).toContain('Nothing was run')
    },
  )

  it.each(ways)('gives a tool what its own validator made of the arguments: %j', async (way) => {
    const validate = (input: unknown): Validation => {
      const { number } = input as { number?: unknown }
      return typeof number === 'string' && /^\d+$/.test(number)
        ? { value: { number: Number(number) } }
        : { issues: [{ message: 'Digits, please.', path: ['number'] }] }
    }
    const { ran, send } = setup({ validate: async (input) => validate(input) })
    const isBridged = way.delivery === 'bridge'
    const found = way.mode === 'off' || way.delivery === 'eager' ? [] : [search]
    const script = [
      ...found,
      call({ number: 'seven' }, isBridged),
      call({ number: '7' }, isBridged),
      { text: 'ok' },
    ]
    const host = await harness.open({ tools: [send], ...way }, script)
    expect(await host.ask('Send invoice 7.')).toBe('ok')
    expect(ran).toEqual([{ number: 7 }])
    expect(host.requests[found.length + 1]?.raw).toContain('Digits, please.')
  })
})

describe('a validator', () => {
  it('that throws blocks the call and raises a hook-failed event', async () => {
    const { ran, send } = setup({
      validate: () => {
        throw new Error('broken')
      },
    })
    const host = await openaiChatHarness.open({ tools: [send], mode: 'off' }, [
      call({ number: 7 }, false),
      { text: 'ok' },
    ])
    await host.ask('Send invoice 7.')
    expect(ran).toEqual([])
    expect(host.requests[1]?.raw).toContain('could not be checked')
    expect(host.events).toContainEqual(expect.objectContaining({ kind: 'hook-failed', hook: 'validate' }))
  })

  it('is asked with the arguments that the policy then sees as the tool will get them', async () => {
    const seen: unknown[] = []
    const { send } = setup({ validate: () => ({ value: { number: 8 } }) })
    const host = await openaiChatHarness.open(
      {
        tools: [send],
        mode: 'off',
        policy: ({ action, input }) => {
          if (action === 'call') seen.push(input)
          return true
        },
      },
      [call({ number: 7 }, false), { text: 'ok' }],
    )
    await host.ask('Send invoice 7.')
    expect(seen).toEqual([{ number: 8 }])
  })
})

describe('wrong arguments of a tool that the model has the schema of', () => {
  it('count neither as a guess nor as a cost of deferral', async () => {
    const { send } = setup()
    const own = tool('pay', { inputSchema })
    const wrong: ScriptedReply = { calls: [{ name: 'pay', arguments: { numbr: 1 } }] }
    const host = await openaiChatHarness.open({ tools: [own, send], mode: 'on', delivery: 'append' }, [
      wrong,
      wrong,
      wrong,
      { text: 'ok' },
    ])
    await host.ask('Pay.')
    expect(host.events.filter(({ kind }) => kind === 'search-ignored')).toEqual([])
    const failed = host.conversation.events.filter((event) => event.kind === 'call-failed')
    expect(failed.map(({ reason }) => reason)).toEqual(['invalid', 'invalid', 'invalid'])
    expect(host.conversation.inspect().accounting.metaRequests).toBe(0)
  })
})
