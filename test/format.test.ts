/** The stored format: every line carries its version, and a version that cannot be read is refused and left unchanged. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { createToolwell, type Tool } from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { describe, expect, it, onTestFinished } from 'vitest'

const tools: readonly Tool[] = [
  { name: 'read', description: 'Read a file.', inputSchema: { type: 'object' } },
  { name: 'memory_graph', description: 'Inspect records.', inputSchema: { type: 'object' }, defer: true },
]

/** A folder with the ledger `thread`, and a Toolwell on it. */
async function stored(text = '') {
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-format-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'thread.jsonl')
  if (text !== '') await writeFile(file, text)
  const store = jsonlStore(folder)
  const open = () => createToolwell({ tools, store, mode: 'on', delivery: 'append' }).open({ id: 'thread' })
  return { open, read: () => readFile(file, 'utf8') }
}

describe('a ledger line', () => {
  it('carries the version of its format', async () => {
    const { open, read } = await stored()
    const conversation = await open()
    await conversation.begin({ requestId: '1', anchor: 'a', wire: 'openai-chat' })
    await conversation.load(['memory_graph'])
    const written = (await read()).split('\n').filter(Boolean)
    expect(written.length).toBeGreaterThan(1)
    for (const line of written) expect(line).toMatch(/^[0-9a-f]{8} \{"v":4,"id":"thread","first":\d+,"prev":/)
    expect((await open()).inspect()).toEqual(conversation.inspect())
  })

  it('of a newer version is refused and left as it is', async () => {
    const body = '{"v":5,"events":[]}'
    const text = `\n${crc32(body).toString(16).padStart(8, '0')} ${body}\n`
    const { open, read } = await stored(text)
    await expect(open()).rejects.toMatchObject({ code: 'ledger-too-new', data: { found: 5, known: 4 } })
    expect(await read()).toBe(text)
  })

  it.each([1, 2, 3])('of version %i is refused and left as it is', async (version) => {
    const text = `{"v":${version},"events":[]}\n`
    const { open, read } = await stored(text)
    await expect(open()).rejects.toThrow('was written by an older version of Toolwell')
    expect(await read()).toBe(text)
  })
})
