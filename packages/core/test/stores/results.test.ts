/** Behaviour of every store of kept results, and more of the folder store. */
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell, type ToolwellOptions } from '@toolwell/core'
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

  it('removes what is kept under a ledger, and nothing of another', async () => {
    const store = create({ maxBytes: 1000 })
    const ids = ['a', 'ab', 'a"', 'a",', '../a']
    await store.delete?.('a')
    for (const id of ids) for (const handle of ['r_1', 'r_2']) await store.write(id, handle, text(10))
    await store.delete?.('a')
    expect(await store.read('a', 'r_1')).toBeUndefined()
    expect(await store.read('a', 'r_2')).toBeUndefined()
    for (const id of ids.slice(1)) expect(await store.read(id, 'r_2')).toEqual(text(10))
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
})

describe('next to the ledgers of jsonlStore', () => {
  const open = (folder: string, options: Pick<ToolwellOptions, 'results'> = {}) =>
    createToolwell({
      tools: [tool('look', { execute: () => 'row\n'.repeat(5000) })],
      mode: 'on',
      limits: { maxResultTokens: 500 },
      store: jsonlStore(folder),
      ...options,
    }).open({ id: 'a' })

  async function look(folder: string, options?: Pick<ToolwellOptions, 'results'>): Promise<string> {
    const before = await open(folder, options)
    await before.begin({ requestId: '1', anchor: 'm1', wire: 'openai-chat' })
    const [shown] = await before.run([{ callId: 'c1', anchor: 'c1', name: 'look', input: { value: {} } }])
    return /"(r_[0-9a-f]+)"/.exec(shown?.text ?? '')?.[1] ?? ''
  }

  it('a long result is kept without being asked for, and read after a restart', async () => {
    const folder = temporary()
    const handle = await look(folder)
    const after = await open(folder)
    await after.begin({ requestId: '2', anchor: 'c1', wire: 'openai-chat' })
    const [answer] = await after.run([
      { callId: 'c2', anchor: 'c2', name: 'read_result', input: { value: { handle, lines: '5000-5001' } } },
    ])
    expect(answer?.text).toBe('[lines 5000-5001 of 5001]\nrow\n')
  })

  it('nothing in that folder is a ledger, and a ledger may have its name', async () => {
    const folder = temporary()
    await look(folder)
    const kept = join(folder, 'results')
    expect(readdirSync(kept)).toHaveLength(1)
    copyFileSync(join(folder, 'a.jsonl'), join(kept, 'a.jsonl'))
    const store = jsonlStore(folder)
    expect(await store.list?.()).toEqual(['a'])
    await store.append('results', 0, [{ id: 0, anchor: '', kind: 'cleared' }])
    expect((await store.list?.())?.sort()).toEqual(['a', 'results'])
    expect(await store.read('results')).toHaveLength(1)
    const long = 'results'.repeat(28)
    await store.append(`${long}/x`, 0, [{ id: 0, anchor: '', kind: 'cleared' }])
    expect((await store.list?.())?.sort()).toEqual(['a', 'results', `${long}/x`])
  })

  it('is deleted with its ledger, and stays while the ledger stays', async () => {
    const folder = temporary()
    const handle = await look(folder)
    const store = jsonlStore(folder)
    await store.results.write('b', handle, text(1))
    await store.append('fork', 0, [
      { id: 0, anchor: '', kind: 'forked', ledger: 'fork', origin: { ledger: 'a', events: 1 } },
    ])
    await expect(store.delete?.('a')).rejects.toMatchObject({ code: 'store-failed' })
    expect(await store.results.read('a', handle)).toBeDefined()
    await store.delete?.('fork')
    await store.delete?.('a')
    expect(await store.results.read('a', handle)).toBeUndefined()
    expect(await store.results.read('b', handle)).toEqual(text(1))
  })

  it('is made by the first long result alone, and not where the host names another place', async () => {
    const folder = temporary()
    const results = memoryResults()
    const handle = await look(folder, { results })
    expect(await results.read('a', handle)).toBeDefined()
    expect(readdirSync(folder).filter((name) => !name.startsWith('a.'))).toEqual([])
    await jsonlStore(folder).delete?.('a')
    expect(readdirSync(folder)).not.toContain('results')
  })

  it('rejects a store whose results cannot store, by name', () => {
    const store = { ...jsonlStore(temporary()), results: [] as never }
    expect(() => createToolwell({ store })).toThrow('store.results needs a function read()')
  })
})
