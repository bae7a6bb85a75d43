import { describe, expect, it } from 'vitest'
import { applyManifest, readManifest } from '../../src/tool/manifest.js'
import type { Tool } from '../../src/tool/tool.js'

const execute = () => 'done'

function tool(name: string, more: Partial<Tool> = {}): Tool {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, execute, ...more }
}

function manifest(...tools: unknown[]) {
  return readManifest({ provides: { tools } })
}

describe('a manifest applied to tools', () => {
  it('wins over what the host says, and leaves the rest', () => {
    const tools = [tool('read', { domain: 'files', card: 'Reads' }), tool('graph', { defer: false })]
    const result = applyManifest(
      tools,
      manifest({ name: 'graph', lazy: true, domain: 'memory' }, { name: 'read', domain: 'io' }),
    )
    expect(result).toEqual([
      tool('read', { domain: 'io', card: 'Reads' }),
      tool('graph', { defer: true, domain: 'memory' }),
    ])
  })

  it('keeps the order, the tools it does not mention, and its inputs', () => {
    const tools = Object.freeze([
      Object.freeze(tool('c')),
      Object.freeze(tool('a')),
      Object.freeze(tool('b')),
    ])
    const result = applyManifest(tools, manifest('b', { name: 'a', title: 'A' }))
    expect(result.map(({ name }) => name)).toEqual(['c', 'a', 'b'])
    expect(result[0]).toBe(tools[0])
    expect(result[1]).toEqual(tool('a', { title: 'A' }))
  })

  it('turns deprecated names into alias entries of the tool that survives, at the end', () => {
    const result = applyManifest(
      [tool('graph'), tool('read')],
      manifest(
        { name: 'oldest', canonicalName: 'old' },
        { name: 'old', canonicalName: 'graph', description: 'Use graph.' },
        { name: 'graph', aliases: ['g'], canonicalName: 'graph' },
      ),
    )
    expect(result).toEqual([
      tool('graph', { aliases: ['g'], canonicalName: 'graph' }),
      tool('read'),
      tool('oldest', { canonicalName: 'graph', description: 'Does graph.' }),
      tool('old', { canonicalName: 'graph', description: 'Use graph.' }),
    ])
  })

  it('marks a registered tool as deprecated where the manifest says so', () => {
    const result = applyManifest(
      [tool('old'), tool('new')],
      manifest({ name: 'old', canonicalName: 'new' }, 'new'),
    )
    expect(result).toEqual([tool('old', { canonicalName: 'new' }), tool('new')])
  })

  it('refuses entries without a tool, all at once, with the nearest name', () => {
    const attempt = () =>
      applyManifest(
        [tool('memory_graph')],
        manifest('memory_grph', { name: 'old', canonicalName: 'zebra' }, 'zebra'),
        { file: 'extension-manifest.json' },
      )
    expect(attempt).toThrow(
      expect.objectContaining({
        code: 'invalid-manifest',
        message: [
          'extension-manifest.json: $.provides.tools[0]: no tool "memory_grph" is registered. Fix: Write "memory_graph".',
          'extension-manifest.json: $.provides.tools[1]: "old" is an alias of "zebra", which is not registered. Fix: Register the tool, or remove the entry.',
          'extension-manifest.json: $.provides.tools[2]: no tool "zebra" is registered. Fix: Register the tool, or remove the entry.',
        ].join('\n'),
      }),
    )
  })

  it('survives a circle in a manifest that was not read but made', () => {
    const circle = {
      tools: [
        { name: 'a', canonicalName: 'b' },
        { name: 'b', canonicalName: 'a' },
      ],
    }
    expect(() => applyManifest([], circle)).toThrow(/no tool "a" is registered/)
  })
})
