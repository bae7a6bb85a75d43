/** Strict servers accept every history after every move, and a detour over providers gives the same story as the direct way. */
import { createToolwell } from '@toolwell/core'
import type { ChatMessage } from '@toolwell/core/openai-chat'
import { anthropicProtocol, chatProtocol, googleProtocol, responsesProtocol } from '@toolwell/testing'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../test/setup/tier.ts'
import { delegate } from '../agent/session-tools.ts'
import { type WireName, wires } from '../agent/wires.ts'
import { type RequestBody, storyOf } from './story.ts'
import { WIRES } from './world.ts'

const PROTOCOLS = {
  anthropic: anthropicProtocol(),
  'openai-responses': responsesProtocol(),
  'openai-chat': chatProtocol(),
  google: googleProtocol(),
}

const SAID = ['Hello.', 'Go on.', 'Two\nlines', '{"a":1}', 'Grüße 👋']
const words = (broken: readonly string[]) => fc.constantFrom(...SAID, ...(broken.length > 0 ? ['', ' '] : []))
const call = (...broken: string[]) =>
  fc.record({
    id: fc.constantFrom('call_1', 'call_2', 'call_3', 'call 4/ä', `call_${'x'.repeat(33)}`),
    name: fc.constantFrom('delegate', 'ghost', 'tool_search', 'tool_call'),
    arguments: fc.constantFrom('{}', '{"query":"a","name":"ghost","arguments":{"b":2}}', ...broken),
  })
/** A reply with calls. If something is broken, not all of them are answered. */
const reply = (...broken: string[]) =>
  fc
    .record({
      text: words(broken),
      calls: fc.uniqueArray(call(...broken), { maxLength: 3, selector: ({ id }) => id }),
      answered: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      answer: words(broken),
    })
    .map(({ text, calls, answered, answer }): ChatMessage[] => [
      {
        role: 'assistant',
        content: text,
        ...(calls.length > 0
          ? {
              tool_calls: calls.map(({ id, ...target }) => ({ id, type: 'function', function: target })),
            }
          : {}),
      },
      ...calls
        .filter((_, index) => answered[index] || broken.length === 0)
        .map(({ id }) => ({ role: 'tool', tool_call_id: id, content: answer })),
    ])
const spoken = (broken: readonly string[]) =>
  words(broken).map((content): ChatMessage[] => [{ role: 'user', content }])
const history = (...broken: string[]) =>
  fc
    .array(fc.oneof(spoken(broken), reply(...broken)), { maxLength: 8 })
    .map((turns): ChatMessage[] => [
      { role: 'user', content: 'Begin.' },
      ...turns.flat(),
      { role: 'user', content: 'Finish.' },
    ])

async function requestAt(wire: WireName, messages: readonly object[]): Promise<RequestBody> {
  const well = createToolwell({ tools: [delegate], mode: 'on' })
  const line = wires[wire].open(await well.open({ id: 'main' }), 'Be brief.')
  const { body } = wires[wire].request({ url: '', model: 'any' }, (await line.begin(messages)).parts)
  return body as RequestBody
}

async function converters() {
  const conversation = await createToolwell().open({ id: 'converter' })
  return (wire: WireName) => wires[wire].open(conversation, 'Be brief.')
}

const way = fc.array(fc.constantFrom(...WIRES), { minLength: 1, maxLength: 4 })

it('a history of any kind is taken by every provider it moves to, and by those it moves on to', async () => {
  const at = await converters()
  await fc.assert(
    fc.asyncProperty(history('{"cut', '[1]', ''), way, async (messages, stations) => {
      let wire: WireName = 'openai-chat'
      let moved: readonly object[] = messages
      for (const next of stations) {
        moved = at(next).adopt(at(wire).thread(moved))
        wire = next
        expect(PROTOCOLS[wire].violationOf(await requestAt(wire, moved))).toBeUndefined()
      }
    }),
    { numRuns: runs(150) },
  )
})

it('a detour over other providers tells the model what the straight way tells it', async () => {
  const at = await converters()
  await fc.assert(
    fc.asyncProperty(history(), way, async (messages, stations) => {
      let wire: WireName = 'openai-chat'
      let moved: readonly object[] = messages
      for (const next of stations) {
        moved = at(next).adopt(at(wire).thread(moved))
        wire = next
      }
      // Gemini joins two replies in a row.
      fc.pre(
        messages.every(
          ({ role }, index) => role !== 'assistant' || messages[index - 1]?.role !== 'assistant',
        ),
      )
      const straight = at(wire).adopt(at('openai-chat').thread(messages))
      expect(storyOf(await requestAt(wire, moved))).toEqual(storyOf(await requestAt(wire, straight)))
    }),
    { numRuns: runs(150) },
  )
})
