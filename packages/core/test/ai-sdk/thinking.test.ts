/** Anthropic's bound thinking through the SDK: kept between two latches, omitted after one, or dropped by the API. */
import { createToolwell } from '@toolwell/core'
import { importTools } from '@toolwell/core/ai-sdk'
import { describe, expect, it } from 'vitest'
import { mixed, server } from '../support/tools.js'
import { call, type Host, majors, search, startHost } from './support.js'

const options = { tools: mixed(), mode: 'on', delivery: 'native' } as const
const wire = 'anthropic-thinking'
const thoughts = (host: Host, index: number) => host.raw(index).split('"type":"thinking"').length - 1
const said = { thinking: 'Hm.', text: 'Done.' }
const finds = { thinking: 'What is there?', calls: [search('select:tracker__create_issue')] }
const dropping = {
  providerOptions: {
    anthropic: { thinking: { type: 'adaptive', blockBinding: { prefixMismatchBehavior: 'drop_block' } } },
  },
}

describe.each(majors)('AI SDK $major', ({ major }) => {
  it('keeps thinking when a tool is loaded, changed and announced', async () => {
    const well = createToolwell(options)
    const host = await startHost({ major, wire, script: [finds, said, said, said], well })
    await host.ask('One.')
    const tools = server('tracker', ['create_issue'], { description: 'Quite another thing.' })
    well.catalogue.setSource('tracker', { tools })
    await host.ask('Two.')
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(thoughts(host, 2)).toBe(2)
    expect(host.raw(2)).toContain('Quite another thing.')
  })

  it('lets a late source and a changed tool wait for the end of the loop while deferral is off', async () => {
    const well = createToolwell({ tools: mixed() })
    const acts = { thinking: 'Let me.', calls: [call('create_issue')] }
    const host = await startHost({ major, wire, script: [acts, said, said, said], well })
    const change = () => {
      well.catalogue.setSource('tracker', {
        tools: server('tracker', ['create_issue'], {
          description: 'Quite another thing.',
        }),
      })
      well.catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
    }
    await host.ask('One.', { onStepFinish: change })
    expect(host.toolsJson(1)).toBe(host.toolsJson(0))
    expect(thoughts(host, 1)).toBe(1)
    await host.ask('Two.')
    await host.ask('Three.')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
    expect(host.names(2)).toContain('mail__send_mail')
    expect([thoughts(host, 2), thoughts(host, 3)]).toEqual([0, 1])
  })

  it.each(['off', 'eager'] as const)(
    'continues after a call of an unknown tool, streamed or not (%s)',
    async (kind) => {
      const given = kind === 'off' ? { mode: 'off' as const } : { mode: 'on' as const, delivery: kind }
      for (const ask of ['ask', 'askStreaming'] as const) {
        const unknown = { thinking: 'Perhaps this.', calls: [call('no_such_tool')] }
        const host = await startHost({
          major,
          wire,
          script: [unknown, said, said],
          options: { tools: mixed(), ...given },
        })
        await host[ask]('One.')
        await host[ask]('Two.')
        expect(host.statuses()).toEqual([200, 200, 200])
      }
    },
  )

  it('sends an imported tool as it was until the end of the loop while deferral is off', async () => {
    const { sdk } = majors[major - 6] as (typeof majors)[number]
    const read = (description: string) => {
      const inputSchema = sdk.jsonSchema({ type: 'object', properties: {} })
      return importTools({ add: sdk.tool({ description, inputSchema, execute: () => 'done' }) }, sdk.asSchema)
    }
    const well = createToolwell({ tools: await read('Adds.') })
    const changed = await read('Adds in another way.')
    const acts = { thinking: 'Let me.', calls: [call('add', {})] }
    const host = await startHost({ major, wire, script: [acts, said, said], well })
    await host.ask('One.', { onStepFinish: () => well.catalogue.setSource('', { tools: changed }) })
    await host.ask('Two.')
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(host.toolsJson(1)).toBe(host.toolsJson(0))
    expect(host.toolsJson(2)).toContain('Adds in another way.')
  })

  it('omits thinking from before a compaction, and keeps thinking after it', async () => {
    const host = await startHost({ major, wire, script: [finds, said, said, said, said], options })
    await host.ask('One.')
    const before = [...host.messages]
    host.messages.splice(0, before.length, { role: 'user', content: 'A summary.' }, ...before.slice(-1))
    await host.lazy.compact(before, host.messages)
    await host.ask('Two.')
    await host.ask('Three.')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
    expect([thoughts(host, 2), thoughts(host, 3)]).toEqual([0, 1])
  })

  it('keeps it for a fixed budget, where models do not check it', async () => {
    const host = await startHost({ major, wire, script: [said, said], options })
    await host.ask('One.')
    const before = [...host.messages]
    host.messages.splice(0, before.length, { role: 'user', content: 'A summary.' }, ...before.slice(-1))
    await host.lazy.compact(before, host.messages)
    const thinking = { type: 'enabled', budgetTokens: 1024 }
    // This model verifies thinking and refuses the request, which proves that nothing was omitted.
    await host.ask('Two.', { providerOptions: { anthropic: { thinking } } }).catch(() => undefined)
    expect(thoughts(host, 1)).toBe(1)
  })

  it('leaves it to the API where the host has asked that', async () => {
    const host = await startHost({ major, wire, script: [said, said], options })
    await host.ask('One.')
    const before = [...host.messages]
    host.messages.splice(0, before.length, { role: 'user', content: 'A summary.' }, ...before.slice(-1))
    await host.lazy.compact(before, host.messages)
    await host.ask('Two.', dropping)
    expect(host.statuses()).toEqual([200, 200])
    expect(thoughts(host, 1)).toBe(1)
  })
})
