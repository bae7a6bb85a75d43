/** Calls by another name than the tool has: the history names the tool, wherever the request declares it. */
import { createToolwell, memoryStore } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { mixed } from '../support/tools.js'
import { call, calls, type Message, majors, said, sentCalls, startHost, type WireName } from './support.js'

const tools = mixed().map((each) => (each.name === 'find_slot' ? { ...each, aliases: ['free_time'] } : each))
const name = 'calendar__find_slot'
const wires: readonly WireName[] = ['chat', 'anthropic', 'responses', 'google']
const combinations = majors.flatMap(({ major }) =>
  wires.flatMap((wire) => ['Calendar-Find-Slot', 'free_time'].map((asked) => ({ major, wire, asked }))),
)

describe.each(combinations)('AI SDK $major over $wire, $asked', ({ major, wire, asked }) => {
  it('is appended and called by its name from then on, also in another process', async () => {
    const store = memoryStore()
    const options = { tools, mode: 'on', delivery: 'append', store } as const
    const well = createToolwell(options)
    const script = [calls(call(asked)), calls(call(asked, { value: 'y' })), said(), said()]
    const host = await startHost({ major, wire, script, well, conversation: await well.open({ id: 'a' }) })
    const result = await host.ask('When?')
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(host.names(1)).toContain(name)
    // The calls keep their place under the name of the tool; no text describes them.
    expect(sentCalls(host.body(2))).toEqual([name, name])
    expect(host.raw(2)).not.toContain('rewrote a call')
    expect(result.steps.flatMap(({ warnings = [] }) => warnings)).toEqual([])
    const stored: Message[] = JSON.parse(JSON.stringify(host.messages))
    await host.ask('Thanks.')
    const again = createToolwell(options)
    const conversation = await again.open({ id: 'a' })
    const resumed = await startHost({ major, wire, script: [said()], well: again, conversation })
    resumed.messages.push(...stored)
    await resumed.ask('Thanks.')
    expect(resumed.raw(0)).toBe(host.raw(3))
  })
})

const native = majors.flatMap(({ major }) =>
  (['anthropic', 'responses'] as const).map((wire) => ({ major, wire })),
)

describe.each(native)('AI SDK $major over $wire, native', ({ major, wire }) => {
  it('reads as a search at first, and by its name after that', async () => {
    const options = { tools, mode: 'on', delivery: 'native' } as const
    const script = [calls(call('free_time')), calls(call('free_time', { value: 'y' })), said()]
    const host = await startHost({ major, wire, script, options })
    await host.ask('When?')
    expect(host.statuses()).toEqual([200, 200, 200])
    // OpenAI's search answers in definitions alone: there the search comes first, and the call stays a call.
    const called = wire === 'responses' ? [name, name] : [name]
    expect(sentCalls(host.body(2)).filter((each) => each !== 'tool_search')).toEqual(called)
    expect(host.raw(2)).toContain('select:calendar__find_slot')
  })
})
