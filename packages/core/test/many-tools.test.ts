/** Many tools of the host: the catalogue reads them in pieces, without a visible difference. */
import { createToolwell, type Tool } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { createPendingWork } from '../src/base/async.js'
import { tool } from './support/tools.js'

const MANY = 1500

const many = (): Tool[] =>
  Array.from({ length: MANY }, (_, index) =>
    tool(`tool_${index}`, index % 3 === 0 ? {} : { source: `server ${index % 7}` }),
  )

const bad = (): Tool => {
  const inputSchema: Record<string, unknown> = { type: 'object' }
  inputSchema.properties = { self: inputSchema }
  return { ...tool('bad'), inputSchema }
}

const looked = ({ catalogue }: ReturnType<typeof createToolwell>) => ({
  revision: catalogue.revision,
  sources: [...catalogue.sources.keys()],
  entries: [...catalogue.entries()].map(({ id, wireName, source }) => ({ id, wireName, source })),
  findings: catalogue.findings,
  changed: [...catalogue.changesSince(0)].length,
})

describe('many tools', () => {
  it('are the same whether a caller asks at once, or the catalogue reads them in pieces', async () => {
    const asked = createToolwell({ tools: many() })
    expect(asked.catalogue.size).toBe(MANY)
    const waited = createToolwell({ tools: many() })
    await waited.open({ id: 'a' })
    expect(looked(waited)).toEqual(looked(asked))
    const between = createToolwell({ tools: many() })
    const opening = between.open({ id: 'a' })
    expect(between.catalogue.get('tool_0')?.wireName).toBe('tool_0')
    await opening
    expect(looked(between)).toEqual(looked(asked))
  })

  it('are found by the first search', async () => {
    const conversation = await createToolwell({ tools: many(), mode: 'on' }).open({ id: 'a' })
    await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'openai-chat' })
    const input = { value: { query: 'tool_1498' } }
    const [answer] = await conversation.run([{ callId: 'c', anchor: 'c', name: conversation.loader, input }])
    expect(answer?.text).toContain('tool_1498')
  })

  it('are refused at once for what their fields show, and with the first use for what lies deeper', async () => {
    const of = (...others: unknown[]) => [...many(), ...(others as Tool[])]
    expect(() => createToolwell({ tools: of({ name: 'x', description: '' }) })).toThrow('has no inputSchema')
    expect(() => createToolwell({ tools: of(tool('tool_0')) })).toThrow('Two tools are named "tool_0"')
    expect(() => createToolwell({ tools: of(tool('x', { source: 'toolwell' })) })).toThrow('cannot be named')
    expect(() => createToolwell({ tools: of(tool('x', { role: 'todo', defer: true })) })).toThrow(
      'x cannot be deferred',
    )
    expect(() => createToolwell({ tools: [bad()] })).toThrow('contains itself')
    const well = createToolwell({ tools: of(bad()) })
    await expect(well.open({ id: 'a' })).rejects.toThrow('contains itself')
    await expect(well.open({ id: 'a' })).rejects.toThrow('contains itself')
    expect(() => well.catalogue.size).toThrow('contains itself')
    const alias = createToolwell({ tools: of(tool('old', { canonicalName: 'nowhere' })) })
    await expect(alias.open({ id: 'a' })).rejects.toThrow('deprecated alias of "nowhere"')
  })

  it('are available to an event listener while the catalogue reads them', async () => {
    const sizes: number[] = []
    const well = createToolwell({
      tools: many(),
      onEvent: ({ kind }) => kind === 'source-changed' && sizes.push(well.catalogue.size),
    })
    await well.open({ id: 'a' })
    expect(sizes).toHaveLength(8)
    expect(sizes.at(-1)).toBe(MANY)
  })
})

describe('late work', () => {
  it('gives the event loop back between its pieces, and is done once', async () => {
    let steps = 0
    let turns = 0
    const work = createPendingWork(
      (function* () {
        for (; steps < 100; steps++) {
          const until = performance.now() + 1
          while (performance.now() < until);
          yield
        }
      })(),
    )
    let isOver = false
    const beat = () => {
      turns++
      if (!isOver) setImmediate(beat)
    }
    beat()
    await Promise.all([work.inPieces(), work.inPieces()])
    isOver = true
    expect(steps).toBe(100)
    expect(turns).toBeGreaterThan(3)
    expect(work.finish()).toBe(true)
  })
})
