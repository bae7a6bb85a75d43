/** What a source lists and cannot be used is never left out in silence. */
import { createToolwell, type Tool, type ToolwellEvent } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from './support/tools.js'

function set(...tools: readonly object[]) {
  const events: ToolwellEvent[] = []
  const well = createToolwell({ onEvent: (event) => events.push(event) })
  well.catalogue.setSource('crm', { tools: tools as readonly Tool[] })
  const findings = events.flatMap((event) => (event.kind === 'source-changed' ? event.findings : []))
  return { well, findings }
}

describe('a tool that cannot be used', () => {
  const broken = { name: 'read_contact', description: 'Reads', inputSchema: z.object({}) }

  it('is an event, and the others are there', () => {
    const { well, findings } = set(broken, tool('write_contact'))
    expect(findings).toMatchObject([
      {
        kind: 'invalid-tool',
        tool: 'read_contact',
        detail: expect.stringContaining('wrap the tool in defineTool'),
      },
    ])
    expect([...well.catalogue.entries()].map(({ id }) => id)).toEqual(['crm/write_contact'])
  })

  it.each(['read_contact', 'crm__read_contact', 'crm/read_contact', 'readContact'])(
    'is explained: %s',
    (name) => {
      expect(set(broken).well.explain(name)).toMatchObject({
        leftOut: true,
        because: expect.stringContaining('left out: read_contact has an inputSchema that is a schema of zod'),
      })
    },
  )

  it('is explained no more when its source is mended', () => {
    const { well } = set(broken)
    well.catalogue.setSource('crm', { tools: [tool('read_contact')] })
    expect(well.explain('read_contact')).toEqual({ deferred: true, because: expect.any(String) })
  })

  it('an unknown name stays unknown', () => {
    expect(set(broken).well.explain('read_contacts')).toBeUndefined()
  })
})

describe('a field that nobody reads', () => {
  it.each([
    ['eager', 'alwaysLoad'],
    ['alwaysload', 'alwaysLoad'],
    ['defer_loading', 'defer'],
    ['searchHints', 'searchHint'],
  ])('%s is an event that names %s', (key, meant) => {
    const { well, findings } = set({ ...tool('read'), [key]: true })
    expect(findings).toMatchObject([
      { kind: 'odd-field', detail: expect.stringContaining(`is ${meant} meant?`) },
    ])
    expect(well.catalogue.size).toBe(1)
  })

  it.each(['_meta', 'icons', 'execution', 'x-team'])('%s is its owner’s business', (key) => {
    expect(set({ ...tool('read'), [key]: {} }).findings).toEqual([])
  })
})
