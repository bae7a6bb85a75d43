/** `toolwell ledger`: check and repair, on the real files of a store. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { LedgerEvent } from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { describe, expect, it } from 'vitest'
import { homeWith } from './support/home.js'

const event = (id: number): LedgerEvent => ({ id, anchor: `m${id}`, kind: 'cleared' })

async function ledgers() {
  const made = homeWith({})
  const folder = join(made.folder, 'ledgers')
  mkdirSync(folder, { mode: 0o700 })
  const store = jsonlStore(folder)
  for (const id of ['whole', 'hurt']) for (let at = 0; at < 3; at++) await store.append(id, at, [event(at)])
  const hurt = join(folder, 'hurt.jsonl')
  const bytes = readFileSync(hurt)
  bytes[bytes.indexOf('\n\n') + 70] = 35
  writeFileSync(hurt, bytes)
  return { ...made, folder, hurt, whole: join(folder, 'whole.jsonl'), store }
}

describe('check', () => {
  it('reports for every ledger of a folder whether it is intact, and the damaged line', async () => {
    const { run, folder, hurt, whole } = await ledgers()
    appendFileSync(whole, '\n01234567 {"v":4')
    const { code, output } = await run(['ledger', 'check', folder])
    expect(code).toBe(1)
    expect(output).toContain(
      `${whole}: intact, 3 events\n  1 append was cut off and does not count. Nothing to do.\n`,
    )
    expect(output).toContain(`${hurt}: damaged after 1 event\n  line 4 of ${hurt} does not have its checksum`)
    expect(output).toContain(`toolwell ledger repair ${hurt}`)
    expect(await run(['ledger', 'check', whole])).toMatchObject({ code: 0 })
  })

  it('ignores the results that are kept next to the ledgers', async () => {
    const { run, folder, whole, store } = await ledgers()
    await store.results.write('whole', 'r_1', { text: 'a long result' })
    expect(readdirSync(join(folder, 'results'))).toHaveLength(1)
    const { output } = await run(['ledger', 'check', folder, '--json'])
    const found = JSON.parse(output).ledgers.map(({ file }: { file: string }) => file)
    expect(found.sort()).toEqual([join(folder, 'hurt.jsonl'), whole])
  })

  it('gives the same as JSON', async () => {
    const { run, hurt } = await ledgers()
    const { code, output } = await run(['ledger', 'check', hurt, '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(output)).toMatchObject({
      ledgers: [{ file: hurt, events: 1, torn: 0, damage: { line: 4 } }],
    })
  })
})

it.each([3, 5])('check, show and repair agree that a file of format %i is not damaged', async (format) => {
  const { run, whole } = await ledgers()
  const body = `{"v":${format}}`
  appendFileSync(whole, `\n${crc32(body).toString(16).padStart(8, '0')} ${body}\n`)
  const checked = await run(['ledger', 'check', whole])
  expect(checked.code).toBe(1)
  expect(checked.output).toContain(
    `${whole}: written by another version after 3 events\n  line 8 of ${whole} has format ${format}`,
  )
  expect(checked.output).not.toContain('repair')
  const shown = await run(['ledger', whole])
  expect(shown.code).toBe(1)
  expect(shown.errors).toContain('The file was written by another version after these 3 events')
  expect((await run(['ledger', 'repair', whole])).errors).toContain('another version of Toolwell wrote it')
})

describe('repair', () => {
  it('lets a ledger continue after its intact events, and leaves an intact one unchanged', async () => {
    const { run, hurt, whole, folder } = await ledgers()
    const before = readFileSync(hurt)
    expect(await run(['ledger', 'repair', hurt])).toMatchObject({
      code: 0,
      output: expect.stringContaining('1 intact event'),
    })
    expect(readFileSync(`${hurt}.damaged-1`)).toEqual(before)
    expect(await jsonlStore(folder).read('hurt')).toEqual([event(0)])
    expect(await run(['ledger', 'repair', whole])).toMatchObject({ code: 1, output: `${whole} is intact.\n` })
    expect(readdirSync(folder).sort()).toEqual(['hurt.jsonl', 'hurt.jsonl.damaged-1', 'whole.jsonl'])
    expect(await run(['ledger', 'check', folder])).toMatchObject({ code: 0 })
  })
})

describe('wrong arguments', () => {
  it.each([
    [['ledger'], 'The file is missing.'],
    [
      ['ledger', 'nowhere.jsonl'],
      'There is no file or folder nowhere.jsonl. Give a file named NAME.jsonl, or a folder with such files.',
    ],
    [['ledger', 'check.jsonl', 'x'], 'There is no task "check.jsonl".'],
    [['ledger', 'chek', 'x'], 'Did you mean check?'],
    [['ledger', 'check'], 'The path is missing.'],
    [['ledger', 'check', 'a', 'b'], 'Unexpected argument "b".'],
    [['ledger', 'check', 'nowhere'], 'There is no file or folder nowhere.'],
  ])('%j', async (words, message) => {
    const { run } = homeWith({})
    const { code, errors } = await run(words)
    expect(code).toBe(2)
    expect(errors).toContain(message)
  })

  it('a folder without ledgers, and one with several for a task that changes one', async () => {
    const { run, folder } = await ledgers()
    mkdirSync(join(folder, 'empty'))
    expect((await run(['ledger', 'check', join(folder, 'empty')])).errors).toContain('There is no ledger in')
    expect((await run(['ledger', 'repair', folder])).errors).toContain('There are 2 ledgers')
    writeFileSync(join(folder, 'README.md'), 'Hi.')
    const { errors } = await run(['ledger', join(folder, 'README.md')])
    expect(errors).toContain('README.md is not a ledger. Give a file named NAME.jsonl')
  })
})
