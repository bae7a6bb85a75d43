/**
 * The prefix law, for any conversation: under native and bridge no load changes a byte before the last message;
 * under append the first changed byte is the end of the tools array. In the
 * render order of each wire.
 */
import type { Toolwell } from '@toolwell/core'
import { commonPrefix, type ScriptedCall, type ScriptedReply } from '@toolwell/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { mixed, server } from './support/tools.js'
import type { WireHarness, WireHost } from './support/wire-harness.js'
import {
  anthropicChangesHarness,
  anthropicHarness,
  anthropicThinkingChangesHarness,
  anthropicThinkingHarness,
} from './support/wires/anthropic.js'
import { googleHarness } from './support/wires/google.js'
import { mistralChatHarness, openaiChatHarness, templateChatHarness } from './support/wires/openai-chat.js'
import { openaiResponsesHarness } from './support/wires/openai-responses.js'

const harnesses: readonly WireHarness[] = [
  anthropicHarness,
  anthropicChangesHarness,
  anthropicThinkingHarness,
  anthropicThinkingChangesHarness,
  openaiResponsesHarness,
  openaiChatHarness,
  mistralChatHarness,
  templateChatHarness,
  googleHarness,
]

const names = [
  'tracker__create_issue',
  'tracker__close_issue',
  'calendar__find_slot',
  'git__enter_worktree',
  'mail__send_mail',
]
const name = fc.constantFrom(...names)
const query = fc.oneof(
  fc.constantFrom('create an issue', 'find a slot', 'bake a cake', 'send a mail', ''),
  fc.uniqueArray(name, { minLength: 1, maxLength: 3 }).map((some) => `select:${some.join(',')}`),
  name.map((one) => `unload:${one}`),
)
const call: fc.Arbitrary<ScriptedCall> = fc.oneof(
  query.map((text) => ({ name: 'tool_search', arguments: { query: text } })),
  fc.constantFrom(...names, 'Tracker-CreateIssue', 'no_such_tool', 'read_file').map((called) => ({
    name: called,
    arguments: { value: 'x' },
  })),
  name.map((inner) => ({ name: 'tool_call', arguments: { name: inner, arguments: {} } })),
  name.map((called) => ({ name: called, arguments: { value: 7 } })),
)
const reply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  { weight: 4, arbitrary: fc.array(call, { minLength: 1, maxLength: 3 }).map((calls) => ({ calls })) },
  { weight: 1, arbitrary: fc.constant({ text: 'Well.' }) },
)
/** Other events between two requests. */
const act = fc.constantFrom(
  'nothing',
  'nothing',
  'server comes',
  'server goes',
  'host loads',
  'host unloads',
  'owners reword',
)

const TOLD = 'I called '

/** Eager, hidden and loaded tools alike: what was sent of them stays as it was sent. */
function reword(source: string, { catalogue }: Toolwell): void {
  const ids = [...(catalogue.sources.get(source)?.ids ?? [])]
  const tools = ids.flatMap((id) => catalogue.get(id)?.tool ?? [])
  catalogue.setSource(source, {
    tools: tools.map((each) => ({ ...each, description: `${each.description}, again` })),
  })
}

async function perform(what: string, { well, conversation }: WireHost): Promise<void> {
  if (what === 'server comes') well.catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
  if (what === 'server goes') well.catalogue.removeSource('mail')
  if (what === 'owners reword') for (const source of ['', 'tracker', 'calendar']) reword(source, well)
  if (what === 'host loads') await conversation.load(['calendar__find_slot'])
  if (what === 'host unloads') await conversation.unload(['calendar__find_slot'])
}

describe.each(harnesses)('on $name', (harness) => {
  it.each(harness.deliveries)('holds over %s', async (delivery) => {
    const property = fc.asyncProperty(
      fc.array(fc.tuple(act, reply), { minLength: 2, maxLength: 8 }),
      async (steps) => {
        const host = await harness.open({ tools: mixed(), mode: 'on', delivery }, (index) => {
          return steps[index]?.[1] ?? { text: 'Well.' }
        })
        host.say('Begin.')
        /** Requests that begin a user turn: there a template may drop earlier thinking. */
        const turns = new Set<number>()
        for (const [index, [what]] of steps.entries()) {
          await perform(what, host)
          const answers = await host.step()
          if (answers.length > 0) continue
          host.say('Go on.')
          turns.add(index + 1)
        }
        for (let index = 1; index < host.requests.length; index++) {
          const [before, after] = [host.rendered(index - 1), host.rendered(index)]
          // A call of an undeclared tool becomes text, and that is also a user message.
          const isTold = after.split(TOLD).length > before.split(TOLD).length
          if (harness === templateChatHarness && (turns.has(index) || isTold)) continue
          const grows = delivery === 'append' && host.toolsJson(index) !== host.toolsJson(index - 1)
          const stable = grows ? arrayEnd(host, index) : before.lastIndexOf('{"')
          expect(commonPrefix(before, after), `request ${index}`).toBeGreaterThanOrEqual(stable)
        }
      },
    )
    await fc.assert(property, {
      numRuns: runs(12),
      examples: [
        // Behind the result stand the tools that were added with it, and then a call of something that nobody declares.
        [
          [
            ['nothing', { calls: [{ name: 'git__enter_worktree', arguments: { value: 'x' } }] }],
            ['nothing', { calls: [{ name: 'tool_call', arguments: { name: 'tracker__create_issue' } }] }],
            ['nothing', { text: 'Well.' }],
          ],
        ],
      ],
    })
  })
})

/** Where the tools array of the request before ended, in render order. */
function arrayEnd(host: WireHost, index: number): number {
  const inner = host.toolsJson(index - 1).slice(0, -1)
  expect(host.toolsJson(index).startsWith(inner), 'the array grows at its end').toBe(true)
  return Math.max(0, host.rendered(index - 1).indexOf(inner.slice(1, 40))) + inner.length - 2
}
