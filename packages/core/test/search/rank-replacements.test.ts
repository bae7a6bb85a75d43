/** A tool that calls itself deprecated ranks after the tool it names. Tested through a well, as a model asks. */
import { createToolwell, type Tool } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { tool } from '../support/tools.js'

async function found(query: string, tools: readonly Tool[]): Promise<string[]> {
  const well = createToolwell({ tools, mode: 'on', delivery: 'bridge' })
  const { text } = await well.direct().search({ query })
  return [...text.matchAll(/files__(\w+)/g)].map(([, name = '']) => name).filter(isFirst)
}
const isFirst = (name: string, place: number, all: readonly string[]) => all.indexOf(name) === place
const files = (name: string, description: string) => tool(name, { source: 'files', description })

describe('a tool that calls itself deprecated', () => {
  const others = [files('read_media', 'Reads a picture.'), files('move', 'Moves a file elsewhere.')]

  it.each([
    'Read the complete contents of a file. DEPRECATED: Use load_text instead.',
    'DEPRECATED: reads the whole file. Use `load_text`.',
    'Deprecated, use load_text. Reads a file.',
    '[Deprecated: use load_text] Reads a file.',
    'Reads a file (deprecated in favor of load_text).',
    'Superseded by load_text. Reads a file.',
    'Reads a file. This tool is deprecated; prefer the new "load_text".',
  ])('ranks directly after the tool it names: %s', async (description) => {
    const tools = [...others, files('read_file', description), files('load_text', 'Gives text.')]
    expect((await found('read a file', tools)).join(' ')).toContain('load_text read_file')
  })

  it('ranks after the last of several that replace each other', async () => {
    const tools = [
      files('read_file', 'Reads a file. DEPRECATED: use read_2.'),
      files('read_2', 'Deprecated: use load_text.'),
      files('load_text', 'Gives text.'),
    ]
    expect((await found('read a file', tools))[0]).toBe('load_text')
  })

  it.each([
    ['its name is asked for', 'read_file', 'Reads a file. DEPRECATED: use load_text.'],
    ['it names no tool of its source', 'read a file', 'Reads a file. DEPRECATED: use fetch_text.'],
    [
      'it only mentions something deprecated',
      'read a file',
      'Reads a file with deprecated words. See load_text.',
    ],
  ])('keeps its rank if %s', async (_, query, description) => {
    const tools = [files('read_file', description), files('load_text', 'Gives text.')]
    expect((await found(query, tools))[0]).toBe('read_file')
  })

  it('may have no description, as may others', async () => {
    const silent = { name: 'read_file', inputSchema: { type: 'object' }, source: 'files' } as never
    expect(await found('read a file', [silent])).toEqual(['read_file'])
  })

  it('keeps its rank if two tools name each other', async () => {
    const tools = [
      files('read_file', 'Reads a file. DEPRECATED: use load_text.'),
      files('load_text', 'Gives text. DEPRECATED: use read_file.'),
    ]
    expect((await found('read a file', tools))[0]).toBe('read_file')
  })
})
