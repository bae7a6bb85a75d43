import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { jsonlStore } from '../../src/ledger/stores/jsonl.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolwell-processes-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const store = fileURLToPath(new URL('../../src/ledger/stores/jsonl.ts', import.meta.url))

/** Appends `count` events, and reads again after each conflict. */
const WRITER = `
const { jsonlStore } = await import(process.argv[1])
const [, , folder, name, count] = process.argv
const store = jsonlStore(folder)
let conflicts = 0
for (let done = 0; done < Number(count); ) {
  const { length } = await store.read('shared')
  try {
    await store.append('shared', length, [{ id: length, anchor: name, kind: 'cleared' }, { id: length + 1, anchor: name, kind: 'cleared' }])
    done++
  } catch (error) {
    if (error.code !== 'ledger-conflict') throw error
    conflicts++
  }
}
process.stdout.write(String(conflicts))
`

function write(
  name: string,
  count: number,
  script = WRITER,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    script,
    store,
    folder,
    name,
    String(count),
  ])
  let output = ''
  child.stdout.on('data', (data) => {
    output += data
  })
  child.stderr.on('data', (data) => {
    output += data
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })))
}

it('keeps the appends of two processes apart: none lost, none interleaved', async () => {
  const ended = await Promise.all([write('one', 40), write('two', 40)])
  expect(ended.map(({ code, output }) => (code === 0 ? code : output))).toEqual([0, 0])
  const events = await jsonlStore(folder).read('shared')
  expect(events.map((event) => event.id)).toEqual(Array.from({ length: 160 }, (_, index) => index))
  expect(events.filter((event) => event.anchor === 'one')).toHaveLength(80)
  expect(events.filter((_, index) => index % 2 === 0).map((event) => event.anchor)).toEqual(
    events.filter((_, index) => index % 2 === 1).map((event) => event.anchor),
  )
  expect(await readdir(folder)).toEqual(['shared.jsonl'])
})

/** Tries to be the first to write to each of many ledgers. */
const RACER = `
const { jsonlStore } = await import(process.argv[1])
const [, , folder, name, count] = process.argv
const store = jsonlStore(folder)
const won = []
for (let index = 0; index < Number(count); index++) {
  try {
    await store.append('race' + index, 0, [{ id: 0, anchor: name, kind: 'cleared' }])
    won.push(index)
  } catch (error) {
    if (error.code !== 'ledger-conflict') throw error
  }
}
process.stdout.write(JSON.stringify(won))
`

it('lets exactly one of several processes begin a ledger', async () => {
  const rounds = 40
  const ended = await Promise.all(['a', 'b', 'c', 'd'].map((name) => write(name, rounds, RACER)))
  expect(ended.map(({ code, output }) => (code === 0 ? code : output))).toEqual([0, 0, 0, 0])
  const winners = ended.flatMap(({ output }) => JSON.parse(output) as number[]).sort((a, b) => a - b)
  expect(winners).toEqual(Array.from({ length: rounds }, (_, index) => index))
  const store = jsonlStore(folder)
  for (let index = 0; index < rounds; index++) expect(await store.read(`race${index}`)).toHaveLength(1)
})
