/** What every store of kept results does, and what the folder does besides. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell } from '@toolwell/core'
import { memoryResults, type ResultStore, type ResultStoreLimits } from '@toolwell/core/result'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { resultFolder } from '@toolwell/core/stores/results'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tool } from '../support/tools.js'

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-results-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const stores: Record<string, (limits?: ResultStoreLimits) => ResultStore> = {
  memory: memoryResults,
  folder: (limits) => resultFolder(join(temporary(), 'results'), limits),
}
const text = (length: number) => ({ text: 'x'.repeat(length) })

describe.each(Object.entries(stores))('%s', (_, create) => {
  it('gives back what was written, text and bytes', async () => {
    const store = create()
    const file = { data: 'AAAA', mediaType: 'application/zip', name: 'a.zip' }
    expect(await store.write('a', 'r_1', { text: 'ä\u2028\ud83d\ude00\n' })).toBe(true)
    expect(await store.write('a', 'r_2', file)).toBe(true)
    expect(await store.read('a', 'r_1')).toEqual({ text: 'ä\u2028\ud83d\ude00\n' })
    expect(await store.read('a', 'r_2')).toEqual(file)
  })

  it('knows a handle by its ledger, whatever characters they hold', async () => {
    const store = create()
    const ids = ['a', 'A', '../a', 'a/b', 'a\u0000', '', 'con', '%2e%2e']
    for (const id of ids) await store.write(id, 'r', { text: `of ${id}` })
    for (const id of ids) expect(await store.read(id, 'r')).toEqual({ text: `of ${id}` })
    expect(await store.read('b', 'r')).toBeUndefined()
    expect(await store.read('a', '../r')).toBeUndefined()
  })

  it('replaces what is written again', async () => {
    const store = create({ maxBytes: 1000 })
    for (let index = 0; index < 20; index++) await store.write('a', 'r', { text: String(index) })
    expect(await store.read('a', 'r')).toEqual({ text: '19' })
  })

  it('drops the oldest to make room, and keeps nothing that has none', async () => {
    const store = create({ maxBytes: 1000 })
    await store.write('a', 'r_1', text(400))
    await new Promise((resolve) => setTimeout(resolve, 20))
    await store.write('a', 'r_2', text(400))
    await new Promise((resolve) => setTimeout(resolve, 20))
    await store.write('a', 'r_3', text(400))
    expect(await store.read('a', 'r_1')).toBeUndefined()
    expect(await store.read('a', 'r_3')).toEqual(text(400))
    expect(await store.write('a', 'r_4', text(2000))).toBe(false)
    expect(await store.read('a', 'r_4')).toBeUndefined()
    expect(await store.read('a', 'r_3')).toEqual(text(400))
  })

  it('forgets what is too old', async () => {
    const store = create({ maxAge: 0 })
    await store.write('a', 'r', text(1))
    expect(await store.read('a', 'r')).toBeUndefined()
  })
})

describe('the folder', () => {
  it.skipIf(process.platform === 'win32')('is for its owner alone, and so are its files', async () => {
    const folder = join(temporary(), 'deep', 'results')
    await resultFolder(folder).write('a', 'r', text(1))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('leaves files of others alone, and takes none of them for a result', async () => {
    const folder = temporary()
    writeFileSync(join(folder, 'ledger.jsonl'), 'mine')
    const store = resultFolder(folder, { maxBytes: 200 })
    for (let index = 0; index < 5; index++) await store.write('a', `r_${index}`, text(100))
    expect(readFileSync(join(folder, 'ledger.jsonl'), 'utf8')).toBe('mine')
    const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('.result.json'))
    writeFileSync(join(folder, name), '{"ledger":"other","handle":"r","content":{"text":"x"}}')
    expect(await store.read('a', 'r_4')).toBeUndefined()
    writeFileSync(join(folder, name), '{"half')
    expect(await store.read('a', 'r_4')).toBeUndefined()
  })

  it('removes the files of what is too old when something new is written', async () => {
    const folder = temporary()
    const store = resultFolder(folder, { maxAge: 60_000 })
    await store.write('a', 'r_1', text(1))
    const [name = ''] = readdirSync(folder)
    utimesSync(join(folder, name), 1, 1)
    expect(await store.read('a', 'r_1')).toBeUndefined()
    await store.write('a', 'r_2', text(1))
    expect(readdirSync(folder)).not.toContain(name)
  })

  it('lets a conversation read after a restart', async () => {
    const folder = temporary()
    const open = () =>
      createToolwell({
        tools: [tool('look', { execute: () => 'row\n'.repeat(5000) })],
        mode: 'on',
        maxResultTokens: 500,
        store: jsonlStore(folder),
        results: resultFolder(join(folder, 'results')),
      }).open({ id: 'a' })
    const before = await open()
    await before.begin({ requestId: '1', anchor: 'm1', wire: 'openai-chat' })
    const [shown] = await before.run([{ callId: 'c1', anchor: 'c1', name: 'look', input: { value: {} } }])
    const handle = /"(r_[0-9a-f]+)"/.exec(shown?.text ?? '')?.[1]
    const after = await open()
    await after.begin({ requestId: '2', anchor: 'c1', wire: 'openai-chat' })
    const [answer] = await after.run([
      { callId: 'c2', anchor: 'c2', name: 'read_result', input: { value: { handle, lines: '5000-5001' } } },
    ])
    expect(answer?.text).toBe('[lines 5000-5001 of 5001]\nrow\n')
  })
})
