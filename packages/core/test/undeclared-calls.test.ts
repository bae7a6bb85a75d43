/** Calls of names that a request does not declare: the history keeps them recognisable, and sent messages keep their bytes. */
import { commonPrefix } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { server, tool } from './support/tools.js'
import {
  anthropicChangesHarness,
  anthropicHarness,
  anthropicThinkingHarness,
} from './support/wires/anthropic.js'
import { googleHarness } from './support/wires/google.js'
import { mistralChatHarness, openaiChatHarness } from './support/wires/openai-chat.js'
import { openaiResponsesHarness } from './support/wires/openai-responses.js'

const harnesses = [
  anthropicHarness,
  anthropicChangesHarness,
  anthropicThinkingHarness,
  googleHarness,
  openaiChatHarness,
  mistralChatHarness,

  openaiResponsesHarness,
]
const tools = [tool('own'), ...server('git', ['log', 'show'])]
const cases = harnesses.flatMap((harness) =>
  harness.deliveries
    .filter((delivery) => delivery !== 'bridge')
    .flatMap((delivery) =>
      (['hint', 'refuse'] as const).map((hiddenCalls) => ({
        harness,
        wire: harness.name,
        delivery,
        hiddenCalls,
      })),
    ),
)

describe('a refused call of a hidden tool', () => {
  it.each(cases)('is not written as a search: $wire, $delivery, $hiddenCalls', async (given) => {
    const { harness, delivery, hiddenCalls } = given
    const host = await harness.open({ tools, mode: 'on', delivery, surface: { hiddenCalls } }, [
      { calls: [{ name: 'own', arguments: { value: 'x' } }] },
      { calls: [{ name: 'git__log', arguments: { value: 'y' } }] },
      { text: 'Done.' },
    ])
    await host.ask('Go.')
    const third = host.requests[2]?.raw
    expect(third).toMatch(/An earlier call of .*git__log/)
    expect(third).not.toMatch(/query\\*": ?\\*"select:/)
    expect(host.requests.some(({ violation }) => violation)).toBe(false)
    // The text must not change the result before it.
    expect(commonPrefix(host.rendered(1), host.rendered(2))).toBeGreaterThanOrEqual(
      host.rendered(1).length - 2,
    )
  })
})

describe('a call of an unknown tool', () => {
  it.each(harnesses)(
    'does not change the sent result before it under delivery: eager: $name',
    async (harness) => {
      const host = await harness.open({ tools, mode: 'on', delivery: 'eager' }, [
        { calls: [{ name: 'own', arguments: { value: 'x' } }] },
        { calls: [{ name: 'nothing_like_it', arguments: {} }] },
        { text: 'Done.' },
      ])
      await host.ask('Go.')
      expect(host.requests[2]?.raw).toContain('An earlier call of ')
      expect(host.requests.some(({ violation }) => violation)).toBe(false)
      expect(commonPrefix(host.rendered(1), host.rendered(2))).toBeGreaterThanOrEqual(
        host.rendered(1).length - 2,
      )
    },
  )
})

describe('a wrong guess of the arguments of a hidden tool', () => {
  const strict = tool('wipe', {
    source: 'git',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  })
  const guesses = harnesses.flatMap((harness) =>
    harness.deliveries.map((delivery) => ({ harness, wire: harness.name, delivery })),
  )

  it.each(guesses)('shows the schema readably: $wire, $delivery', async ({ harness, delivery }) => {
    const host = await harness.open({ tools: [tool('own'), strict], mode: 'on', delivery }, [
      { calls: [{ name: 'own', arguments: { value: 'x' } }] },
      { calls: [{ name: 'git__wipe', arguments: { file: 'y' } }] },
      { text: 'Done.' },
    ])
    await host.ask('Go.')
    const texts: string[] = []
    JSON.parse(host.requests[2]?.raw ?? '', (_, value) => {
      if (typeof value === 'string') texts.push(value)
      return value
    })
    const shown = texts.find((text) => text.includes('"required":["path"]'))
    expect(shown).toContain('{"name":"git__wipe"')
    expect(shown?.includes('"load"')).toBe(delivery === 'bridge')
  })
})
