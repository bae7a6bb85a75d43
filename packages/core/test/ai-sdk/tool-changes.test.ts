/** Anthropic's tool changes through the SDK: system messages between the others bring tools, and take them. */
import { createToolwell } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { mixed } from '../support/tools.js'
import { call, calls, type Host, majors, said, search, startHost } from './support.js'

const options = { tools: mixed(), mode: 'on', delivery: 'native' } as const
const wire = 'anthropic-changes'
const adapter = { toolChanges: true }
const name = 'calendar__find_slot'
const changesIn = (host: Host, index: number) =>
  host.body(index).messages.filter(({ role }) => role === 'system')

describe.each(majors)('AI SDK $major', ({ major }) => {
  it('brings a tool that the host loads without a word of its schema', async () => {
    const conversation = await createToolwell(options).open({ id: 'a' })
    const script = [said(), calls(call(name)), said()]
    const host = await startHost({ major, wire, script, conversation, adapter })
    await host.ask('One.')
    await conversation.load([name])
    await host.ask('Two.')
    expect(host.statuses()).toEqual([200, 200, 200])
    const tool = { type: 'tool_reference', name }
    expect(changesIn(host, 2)).toEqual([{ role: 'system', content: [{ type: 'tool_addition', tool }] }])
    expect(host.raw(2)).not.toContain('Loaded tools, with their schemas')
    expect(host.raw(2)).toContain('find_slot ran with')
  })

  it('takes a tool away that is gone, and gives it back', async () => {
    const well = createToolwell(options)
    const script = [calls(search('select:tracker__create_issue')), said(), said(), said()]
    const host = await startHost({ major, wire, script, well, adapter })
    await host.ask('One.')
    well.catalogue.setState('tracker', 'disabled')
    await host.ask('Two.')
    well.catalogue.setState('tracker', 'ready')
    await host.ask('Three.')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
    const types = changesIn(host, 3).flatMap(({ content }) =>
      (content as { type: string }[]).map(({ type }) => type),
    )
    expect(types).toEqual(['tool_removal', 'tool_addition'])
  })

  it('needs no system message where nothing changes, and none at all without the option', async () => {
    const script = [said(), said()]
    const conversation = await createToolwell(options).open({ id: 'a' })
    const host = await startHost({ major, wire: 'anthropic', script, conversation })
    await host.ask('One.')
    await conversation.load([name])
    await host.ask('Two.')
    expect(host.statuses()).toEqual([200, 200])
    expect(changesIn(host, 1)).toEqual([])
    expect(host.raw(1)).toContain('Loaded tools, with their schemas')
  })
})
