/**
 * The prefix law through the SDK, for any conversation: under native and bridge nothing that an earlier request has carried
 * changes, whatever the model calls and whatever happens to tools meanwhile, and the strict endpoints take every request.
 */
import { commonPrefix, type ScriptedCall } from '@toolwell/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../test/setup/tier.ts'
import { mixed, server } from '../support/tools.js'
import { call, calls, type Host, majors, said, search, startHost, type WireName } from './support.js'

const rows: readonly { readonly wire: WireName; readonly delivery: 'append' | 'bridge' | 'native' }[] = [
  { wire: 'chat', delivery: 'bridge' },
  { wire: 'chat', delivery: 'append' },
  { wire: 'responses', delivery: 'native' },
  { wire: 'responses', delivery: 'bridge' },
  { wire: 'anthropic', delivery: 'native' },
  { wire: 'anthropic', delivery: 'bridge' },
  { wire: 'anthropic-changes', delivery: 'native' },
  { wire: 'google', delivery: 'bridge' },
]
const names = ['tracker__create_issue', 'calendar__find_slot', 'git__enter_worktree', 'mail__send_mail']
const name = fc.constantFrom(...names)
const made: fc.Arbitrary<ScriptedCall> = fc.oneof(
  fc.constantFrom('create an issue', 'bake a cake', 'send a mail').map(search),
  fc.uniqueArray(name, { minLength: 1, maxLength: 2 }).map((some) => search(`select:${some.join(',')}`)),
  name.map((one) => search(`unload:${one}`)),
  fc.constantFrom(...names, 'no_such_tool', 'read_file').map((one) => call(one)),
  name.map((one) => call(one, { value: 7 })),
  name.map((one) => call('tool_call', { name: one, arguments: { value: 'x' } })),
)
const act = fc.constantFrom('nothing', 'nothing', 'comes', 'goes', 'changes', 'loads', 'unloads')
const step = fc.tuple(act, fc.array(fc.array(made, { minLength: 1, maxLength: 3 }), { maxLength: 3 }))

async function perform(what: string, { well: { catalogue }, conversation }: Host): Promise<void> {
  if (what === 'comes') catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
  if (what === 'goes') catalogue.removeSource('mail')
  if (what === 'changes') {
    const { size } = catalogue.sources
    const description = `Finds a slot, version ${catalogue.revision + size}`
    catalogue.setSource('calendar', { tools: server('calendar', ['find_slot'], { description }) })
  }
  if (what === 'loads') await conversation.load(['calendar__find_slot'])
  if (what === 'unloads') await conversation.unload(['calendar__find_slot'])
}

/** The messages of a request. */
function sent(host: Host, index: number): string {
  const { messages, input, contents } = host.body(index) as unknown as Record<string, unknown>
  return JSON.stringify(messages ?? input ?? contents).slice(0, -1)
}

describe.each(majors.flatMap(({ major }) => rows.map((row) => ({ major, ...row }))))(
  'AI SDK $major over $wire, $delivery',
  ({ major, wire, delivery }) => {
    it('holds', async () => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 4 }), async (steps) => {
        const script = steps.flatMap(([, replies]) => [...replies.map((some) => calls(...some)), said()])
        const adapter = wire === 'anthropic-changes' ? { toolChanges: true } : {}
        const options = { tools: mixed(), mode: 'on', delivery } as const
        const host = await startHost({ major, wire, script, options, adapter })
        for (const [index, [what]] of steps.entries()) {
          await perform(what, host)
          await host.ask(`Ask ${index}.`)
        }
        const { requests } = host.endpoint
        expect(requests.filter(({ status }) => status !== 200).map(({ violation }) => violation)).toEqual([])
        for (let index = 1; index < requests.length; index++) {
          // Under append, everything after the tools array is read again when the array grows.
          if (delivery === 'append' && host.toolsJson(index) !== host.toolsJson(index - 1)) continue
          const [before, after] = [sent(host, index - 1), sent(host, index)]
          expect(commonPrefix(before, after), `request ${index}`).toBeGreaterThanOrEqual(before.length)
          if (delivery === 'bridge') expect(host.toolsJson(index)).toBe(host.toolsJson(0))
        }
      })
      await fc.assert(property, {
        numRuns: runs(12),
        examples: [
          // A call of something that nobody declares, behind tools that the host has added.
          [
            [
              ['nothing', []],
              ['loads', [[{ name: 'tool_call', arguments: { name: 'tracker__create_issue' } }]]],
              ['nothing', []],
            ],
          ],
        ],
      })
    })
  },
)
