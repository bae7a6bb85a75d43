/** `toolwell ledger`: check, repair and unlock, on the real files of a store. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
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
  bytes[bytes.indexOf(10) + 70] = 35
  writeFileSync(hurt, bytes)
  return { ...made, folder, hurt, whole: join(folder, 'whole.jsonl'), store }
}

describe('check', () => {
  it('says of every ledger of a folder whether it is whole, and where it is not', async () => {
    const { run, folder, hurt, whole } = await ledgers()
    appendFileSync(whole, '{"v":3,"s')
    const { code, output } = await run(['ledger', 'check', folder])
    expect(code).toBe(1)
    expect(output).toContain(`${whole}: whole, 3 events\n`)
    expect(output).toContain('9 bytes at its end are of an append that was cut off')
    expect(output).toContain(`${hurt}: damaged after 1 event\n  line 2 of ${hurt} does not have the checksum`)
    expect(output).toContain(`toolwell ledger repair ${hurt}`)
    expect(await run(['ledger', 'check', whole])).toMatchObject({ code: 0 })
  })

  it('takes no notice of the results that are kept beside the ledgers', async () => {
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
      ledgers: [{ file: hurt, events: 1, segments: 1, damage: { line: 2, at: { count: 1 } } }],
    })
  })
})

it('check, show and repair agree that what a newer version wrote is not damaged', async () => {
  const { run, whole } = await ledgers()
  const [first = '', ...rest] = readFileSync(whole, 'utf8').split('\n')
  writeFileSync(whole, [first, ...rest.map((line) => line.replace('{"v":3', '{"v":4'))].join('\n'))
  const checked = await run(['ledger', 'check', whole])
  expect(checked.code).toBe(1)
  expect(checked.output).toContain(
    `${whole}: of a newer version after 1 event, not damaged\n  line 2 of ${whole} has format 4`,
  )
  expect(checked.output).not.toContain('repair')
  const shown = await run(['ledger', whole])
  expect(shown.code).toBe(1)
  expect(shown.errors).toContain('What follows this event was written by a newer version, and is not damaged')
  expect((await run(['ledger', 'repair', whole])).errors).toContain('newer version, and is not damaged')
})

describe('repair', () => {
  it('lets a ledger go on from what is whole, and changes nothing of one that is', async () => {
    const { run, hurt, whole, folder } = await ledgers()
    const before = readFileSync(hurt)
    expect(await run(['ledger', 'repair', hurt])).toMatchObject({
      code: 0,
      output: expect.stringContaining('1 whole event'),
    })
    expect(readFileSync(hurt)).toEqual(before)
    expect(await jsonlStore(folder).read('hurt')).toEqual([event(0)])
    expect(await run(['ledger', 'repair', whole])).toMatchObject({ code: 1, output: `${whole} is whole.\n` })
    expect(readdirSync(folder).sort()).toEqual(['hurt.2.jsonl', 'hurt.jsonl', 'whole.jsonl'])
    expect(await run(['ledger', 'check', folder])).toMatchObject({ code: 0 })
  })
})

describe('unlock', () => {
  it('ends a lock of another machine', async () => {
    const { run, whole, folder, store } = await ledgers()
    symlinkSync('elsewhere:12:34:x', join(folder, 'whole.1.lock'))
    const { output } = await run(['ledger', 'check', whole])
    expect(output).toContain(
      `process 12 on elsewhere holds it; if that is gone: toolwell ledger unlock ${whole}`,
    )
    expect(await run(['ledger', 'unlock', whole])).toMatchObject({
      code: 0,
      output: expect.stringContaining('is free'),
    })
    await store.append('whole', 3, [event(3)])
    expect(await run(['ledger', 'unlock', whole])).toMatchObject({
      code: 1,
      output: `${whole} is not locked.\n`,
    })
  })

  it('leaves the lock of a live process', async () => {
    const { run, whole, folder } = await ledgers()
    symlinkSync(`${hostname()}:${process.pid}::x`, join(folder, 'whole.1.lock'))
    const { code, errors } = await run(['ledger', 'unlock', whole])
    expect(code).toBe(2)
    expect(errors).toContain(`process ${process.pid} is alive`)
  })
})

describe('wrong arguments', () => {
  it.each([
    [['ledger'], 'The file is missing.'],
    [
      ['ledger', 'nowhere.jsonl'],
      'There is no file or folder nowhere.jsonl. Give a folder with files named NAME.jsonl, or such a file.',
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
    expect(errors).toContain('README.md is no ledger. Give a folder with files named NAME.jsonl')
  })
})
