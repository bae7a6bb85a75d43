/**
 * A request that is made once more, after a source came, changed or went: no byte that an earlier request has carried is
 * another one now. Notices wait for the next results or the user's next message.
 */
import { commonPrefix, type ScriptedCall, type ScriptedReply } from '@toolwell/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mixed, server } from './support/tools.js'
import type { WireHarness, WireHost } from './support/wire-harness.js'
import { anthropicChangesHarness, anthropicHarness } from './support/wires/anthropic.js'
import { googleHarness } from './support/wires/google.js'
import { mistralChatHarness, templateChatHarness } from './support/wires/openai-chat.js'
import { openaiResponsesHarness } from './support/wires/openai-responses.js'

const harnesses: readonly WireHarness[] = [
  anthropicHarness,
  anthropicChangesHarness,
  openaiResponsesHarness,
  mistralChatHarness,
  templateChatHarness,
  googleHarness,
]

const query = fc.constantFrom(
  'create an issue',
  'bake a cake',
  'select:worktree',
  'select:calendar__find_slot,tracker__close_issue',
)
const call: fc.Arbitrary<ScriptedCall> = fc.oneof(
  query.map((text) => ({ name: 'tool_search', arguments: { query: text } })),
  fc.constantFrom('read_file', 'calendar__find_slot').map((name) => ({ name, arguments: { value: 'x' } })),
)
const replies = fc.array(
  fc.array(call, { minLength: 1, maxLength: 3 }).map((calls): ScriptedReply => ({ calls })),
  { minLength: 1, maxLength: 4 },
)
const change = fc.constantFrom('comes', 'changes', 'goes')

function perform(what: string, { well: { catalogue } }: WireHost): void {
  if (what === 'comes') catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
  if (what === 'changes')
    catalogue.setSource('calendar', {
      tools: server('calendar', ['find_slot'], { description: 'New words' }),
    })
  if (what === 'goes') catalogue.removeSource('calendar')
}

const TOLD: Readonly<Record<string, string>> = {
  comes: 'now available',
  changes: 'Changed by its owner',
  goes: 'No longer available',
}

describe.each(harnesses)('on $name', (harness) => {
  it.each(harness.deliveries)('changes no byte that was sent, and tells it later (%s)', async (delivery) => {
    const property = fc.asyncProperty(replies, change, async (script, what) => {
      let failing = false
      let next = 0
      const host = await harness.open({ tools: mixed(), mode: 'on', delivery }, () => {
        if (failing) return { status: 500, error: 'busy' }
        return script[next++] ?? { text: 'Well.' }
      })
      // A change is announced only for a tool that the model has.
      await host.conversation.load(['calendar__find_slot'])
      host.say('Begin.')
      for (const _ of script) await host.step()
      failing = true
      // The reply is lost, and the host asks again, with a new id, as for every request here.
      await host.step()
      perform(what, host)
      await host.step()
      const [before, again] = [host.rendered(-2), host.rendered(-1)]
      expect(again).toBe(before)
      expect(host.requests.at(-1)?.raw).toBe(host.requests.at(-2)?.raw)
      failing = false
      await host.step()
      expect(host.rendered(-1)).toBe(before)
      host.say('And now?')
      await host.step()
      // A template drops what the model thought before a new message of the user.
      const isStable = harness !== templateChatHarness && host.toolsJson(-1) === host.toolsJson(-2)
      if (isStable) expect(commonPrefix(before, host.rendered(-1))).toBeGreaterThanOrEqual(before.length - 3)
      expect(host.requests.at(-1)?.raw).toContain(TOLD[what])
    })
    await fc.assert(property, { numRuns: 10 })
  })
})
