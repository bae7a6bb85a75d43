/** Counting tokens: exact for ordinary text, and never more than so much work, whatever the text. */
import { createToolwell, estimate, loadTokenizer, type Tokenizer } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { limitTokenizer } from '../src/base/tokens.js'
import { tool } from './support/tools.js'

/** Takes the square of the length of a word, as tokenizers do, and says how much that was. */
function counting() {
  const seen = { work: 0, longest: 0 }
  const tokenizer: Tokenizer = {
    name: 'counting',
    count(text) {
      for (const word of text.split(/\s+/)) {
        seen.work += word.length ** 2
        seen.longest = Math.max(seen.longest, word.length)
      }
      return Math.ceil(text.length / 4)
    },
  }
  return { seen, tokenizer }
}

describe('a tokenizer', () => {
  it('is given no word of five million letters, and no more than a sample of such a text', () => {
    const { seen, tokenizer } = counting()
    const count = limitTokenizer(tokenizer).count('x'.repeat(5_000_000))
    expect(seen.longest).toBeLessThanOrEqual(256)
    expect(seen.work).toBeLessThan(256 * 500_000)
    expect(count / 1_250_000).toBeCloseTo(1, 1)
  })

  it('of the host is bounded too: a tool that describes itself in one word is counted', async () => {
    const { seen, tokenizer } = counting()
    const wild = tool('wild', { source: 'odd', description: 'x'.repeat(5_000_000) })
    const toolwell = createToolwell({
      tools: [tool('read_file'), wild],
      costs: { tokenizer },
      mode: 'on',
      delivery: 'bridge',
    })
    const conversation = await toolwell.open({ id: 'a' })
    await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'openai-chat' })
    expect(seen.longest).toBeLessThanOrEqual(256)
    expect(seen.work).toBeLessThan(256 * 3_000_000)
  })

  it('that is installed counts ordinary text as it always did, and five million letters at all', async () => {
    const { countTokens } = await import('gpt-tokenizer')
    const tokenizer = await loadTokenizer()
    const ordinary =
      'Creates an issue in the tracker. {"type":"object","properties":{"title":{"type":"string"}}}\n'.repeat(
        40,
      )
    expect(tokenizer.count(ordinary)).toBe(countTokens(ordinary))
    const mixed = `${ordinary}${'QUJD'.repeat(2000)} ${ordinary}`
    expect(tokenizer.count(mixed) / countTokens(mixed)).toBeCloseTo(1, 1)
    expect(tokenizer.count('ab'.repeat(2_500_000))).toBeGreaterThan(300_000)
    expect(tokenizer.count('😀'.repeat(1000))).toBeGreaterThan(900)
  })

  it('that only estimates is what it was', () => {
    expect(limitTokenizer(estimate)).toBe(estimate)
  })
})
