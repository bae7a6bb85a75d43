/** A tool's time limit: the call gets an abort signal, the model learns that the outcome is unknown, and nothing runs twice. */
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
const script: readonly ScriptedReply[] = [{ calls: [{ name: 'deploy', arguments: {} }] }, { text: 'done' }]

/** A tool that answers only when the test says so, whatever its signal says. */
function stubborn(timeout?: number) {
  const seen: { calls: number; signal?: AbortSignal | undefined } = { calls: 0 }
  let finish = (_: string) => {}
  const finished = new Promise<string>((resolve) => {
    finish = resolve
  })
  const deploy = tool('deploy', {
    ...(timeout === undefined ? {} : { timeout }),
    execute: (_, { signal }) => {
      seen.calls++
      seen.signal = signal
      return finished
    },
  })
  return { deploy, seen, finish }
}

describe.each(harnesses.map((harness) => [harness.name, harness] as const))('%s', (_, harness) => {
  it('answers that the outcome is unknown, ends the signal, and drops what comes late', async () => {
    const { deploy, seen, finish } = stubborn(20)
    const host = await harness.open({ tools: [deploy], mode: 'off' }, [...script])
    expect(await host.ask('Deploy.')).toBe('done')
    expect(host.requests.map(({ violation }) => violation)).toEqual([undefined, undefined])
    expect(host.requests[1]?.raw).toContain('The outcome is unknown')
    expect(seen.signal?.aborted).toBe(true)
    expect(seen.calls).toBe(1)
    expect(host.conversation.events.map(({ kind }) => kind)).not.toContain('call-succeeded')
    expect(host.conversation.events).toContainEqual(
      expect.objectContaining({ kind: 'call-failed', reason: 'timed-out', tool: 'deploy' }),
    )
    const stored = host.conversation.events.length
    finish('deployed')
    await Promise.resolve()
    await Promise.resolve()
    expect(host.events.filter(({ kind }) => kind === 'late-result-dropped')).toHaveLength(1)
    expect(host.conversation.events).toHaveLength(stored)
    expect(seen.calls).toBe(1)
  })
})

describe('a time limit', () => {
  it('that is not reached changes nothing', async () => {
    const { deploy, seen, finish } = stubborn(100_000)
    finish('deployed')
    const host = await openaiChatHarness.open({ tools: [deploy], mode: 'off' }, [...script])
    await host.ask('Deploy.')
    expect(host.requests[1]?.raw).toContain('deployed')
    expect(seen.signal?.aborted).toBe(false)
    expect(host.events.map(({ kind }) => kind)).not.toContain('late-result-dropped')
  })

  it('is none where none is given', async () => {
    const { deploy, seen, finish } = stubborn()
    setTimeout(() => finish('deployed'), 50)
    const host = await openaiChatHarness.open({ tools: [deploy], mode: 'off' }, [...script])
    await host.ask('Deploy.')
    expect(host.requests[1]?.raw).toContain('deployed')
    expect(seen.signal).toBeUndefined()
  })

  it.each([0, -1, Number.NaN, 2 ** 31, '5s'])('of %s is refused', async (timeout) => {
    const odd = { ...tool('odd'), timeout: timeout as number }
    await expect(openaiChatHarness.open({ tools: [odd] }, [])).rejects.toThrow(/timeout/)
  })
})
