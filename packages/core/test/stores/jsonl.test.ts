import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { storeContract } from '../../../testing/src/store-contract.js'
import { jsonlStore } from '../../src/ledger/stores/jsonl.js'
import { numbered, searched } from '../fixtures/store-events.js'

const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url))

let folder: string
let file: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolwell-jsonl-'))
  file = join(folder, 'thread.jsonl')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

describe('the JSONL store', () => {
  for (const { title, run } of storeContract({
    async create() {
      // Two levels below the temporary folder, neither of which exists yet.
      const place = join(folder, 'not', 'there')
      return { store: jsonlStore(place), reopen: async () => jsonlStore(place), dispose: async () => {} }
    },
  }))
    it(title, run)

  it('writes one line per append, with the format and a checksum on it', async () => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, numbered(0, 2))
    await store.append('thread', 2, [searched(2, 'a\nb\u2028c')])
    const lines = (await readFile(file, 'utf8')).split('\n')
    expect(lines.map((line) => (line ? JSON.parse(line) : 'end'))).toEqual([
      { v: 3, sum: expect.stringMatching(/^[0-9a-f]{8}$/), events: numbered(0, 2) },
      { v: 3, sum: expect.stringMatching(/^[0-9a-f]{8}$/), events: [searched(2, 'a\nb\u2028c')] },
      'end',
    ])
  })

  it('creates no file for a refused or empty append, nor for a read', async () => {
    const store = jsonlStore(join(folder, 'inner'))
    await store.read('thread')
    await store.append('thread', 0, [])
    await expect(store.append('thread', 4, [searched(4)])).rejects.toMatchObject({ code: 'ledger-conflict' })
    await expect(store.append('thread', 0, [searched(7)])).rejects.toMatchObject({ code: 'invalid-option' })
    const left = await readdir(folder, { recursive: true, withFileTypes: true })
    expect(left.filter((entry) => entry.isFile())).toEqual([])
  })

  it('performs appends to one file in the order in which they were asked for', async () => {
    const store = jsonlStore(folder)
    await Promise.all(numbered(0, 30).map((event) => store.append('thread', event.id, [event])))
    expect(await store.read('thread')).toEqual(numbered(0, 30))
  })

  it('keeps what was given at the call, whatever happens to the events while they are written', async () => {
    const events = numbered(0, 2)
    const appended = jsonlStore(folder).append('thread', 0, events)
    events.length = 0
    await appended
    expect(await jsonlStore(folder).read('thread')).toEqual(numbered(0, 2))
  })
})

describe('file names of the JSONL store', () => {
  it('stay inside the folder, in lower case and short, for any id', async () => {
    const store = jsonlStore(join(folder, 'inner'))
    const ids = [
      ...[
        '..',
        '../up',
        '/etc/passwd',
        'C:\\x',
        'nul',
        'com1',
        'a\u0000b',
        '\ud800',
        '\udbff',
        '\ufffd',
        '%2e',
        'É',
      ],
      ...['Ü'.repeat(200), 'A'.repeat(200), 'x'.repeat(200), `${'A'.repeat(66)}xxcon`],
    ]
    for (const id of ids) await store.append(id, 0, [searched(0, id)])
    for (const id of ids) expect((await store.read(id))[0]).toEqual(searched(0, id))
    const found = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    expect(files).toHaveLength(ids.length)
    for (const path of files) {
      for (const piece of relative(folder, path).split('/')) {
        expect(piece).toMatch(/^[a-z0-9_%-]{1,200}(\.jsonl)?$/)
        expect(piece).not.toMatch(/^(con|nul|com1)\b/)
      }
    }
  })

  it('can be turned back into the id', async () => {
    const ids = ['Ab-c_1', 'a/b é 🧰', '\ud800', 'nul', `Q${'ß'.repeat(150)}`]
    const store = jsonlStore(folder)
    for (const id of ids) await store.append(id, 0, [searched(0)])
    const found = await readdir(folder, { recursive: true, withFileTypes: true })
    const decoded = found
      .filter((entry) => entry.isFile())
      .map((entry) =>
        relative(folder, join(entry.parentPath, entry.name))
          .replace(/\.jsonl$/, '')
          .replaceAll('/', ''),
      )
      .map((name) =>
        name.replace(
          /%(?:u([0-9a-f]{4})|([0-9a-f]{2}))/g,
          (_, long: string | undefined, short: string | undefined) =>
            String.fromCharCode(Number.parseInt(long ?? short ?? '', 16)),
        ),
      )
    expect(decoded.sort()).toEqual([...ids].sort())
  })
})

describe('a torn last line', () => {
  it('loses nothing that was acknowledged, wherever the last append was cut', async () => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, numbered(0, 2))
    const before = (await stat(file)).size
    await store.append('thread', 2, [searched(2, 'é\u2028🧰'), searched(3)])
    const whole = await readFile(file)
    for (let offset = before; offset < whole.length; offset += 1) {
      await writeFile(file, whole.subarray(0, offset))
      const reopened = jsonlStore(folder)
      expect(await reopened.read('thread'), `cut at byte ${offset}`).toEqual(numbered(0, 2))
      await reopened.append('thread', 2, [searched(2, 'again')])
      expect(await jsonlStore(folder).read('thread')).toEqual([...numbered(0, 2), searched(2, 'again')])
      expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(3)
    }
  })

  it('is cut off by a store that did not read the ledger first', async () => {
    await jsonlStore(folder).append('thread', 0, [searched(0)])
    await appendFile(file, '{"v":1,"events":[{"id":1,')
    await jsonlStore(folder).append('thread', 1, [searched(1)])
    expect(await jsonlStore(folder).read('thread')).toEqual(numbered(0, 2))
  })

  it('leaves an empty ledger when it is the only line', async () => {
    await writeFile(file, '\u0000\u0000{"v":1,"events"')
    const store = jsonlStore(folder)
    expect(await store.read('thread')).toEqual([])
    await store.append('thread', 0, [searched(0)])
    expect(await store.read('thread')).toEqual([searched(0)])
  })

  it('is not touched by an append that meets a conflict', async () => {
    await jsonlStore(folder).append('thread', 0, [searched(0)])
    await appendFile(file, '{"v":1,"ev')
    const before = await readFile(file)
    await expect(jsonlStore(folder).append('thread', 5, [searched(5)])).rejects.toMatchObject({
      data: { found: 1 },
    })
    expect(await readFile(file)).toEqual(before)
  })
})

describe('a corrupt line', () => {
  const good = (id: number) => JSON.stringify({ v: 1, events: [searched(id)] })
  const broken: readonly (readonly [
    title: string,
    lines: readonly string[],
    line: number,
    problem: string,
  ])[] = [
    ['in the middle', [good(0), '{"v":1,"ev', good(1)], 2, 'is not JSON'],
    ['at the end, with its newline', [good(0), good(1), 'x'], 3, 'is not JSON'],
    ['that is empty', [good(0), '', good(1)], 2, 'is not JSON'],
    ['that is no object', ['null', good(0)], 1, 'is not an object'],
    ['without a format', [good(0), '{"events":[]}'], 2, 'has no format number'],
    ['without events', [good(0), '{"v":1}'], 2, 'has no list of events'],
    ['that leaves an id out', [good(0), good(2)], 2, 'id 2 where 1 is next'],
    ['that repeats an id', [good(0), good(1), good(1)], 3, 'id 1 where 2 is next'],
    ['with an event that is null', [good(0), '{"v":1,"events":[null]}'], 2, 'id undefined where 1 is next'],
  ]
  it.each(broken)('%s is named, and nothing is changed', async (_, lines, line, problem) => {
    await writeFile(file, `${lines.join('\n')}\n`)
    const before = await readFile(file)
    const store = jsonlStore(folder)
    for (const attempt of [() => store.read('thread'), () => store.append('thread', 1, [searched(1)])]) {
      const error = await attempt().then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error).toMatchObject({ code: 'ledger-corrupt', data: { ledger: 'thread', line, file } })
      expect(String(error)).toContain(`line ${line} of ${file}`)
      expect(String(error)).toContain(problem)
      expect(String(error)).toContain(`toolwell ledger repair ${file}`)
    }
    expect(await readFile(file)).toEqual(before)
  })

  it('of a newer format is refused as too new', async () => {
    await writeFile(file, `${good(0)}\n{"v":4,"facts":{}}\n`)
    const before = await readFile(file)
    const expected = { code: 'ledger-too-new', data: { ledger: 'thread', found: 4, known: 3 } }
    await expect(jsonlStore(folder).read('thread')).rejects.toMatchObject(expected)
    await expect(jsonlStore(folder).append('thread', 1, [searched(1)])).rejects.toMatchObject(expected)
    expect(await readFile(file)).toEqual(before)
  })
})

describe('several writers of one folder', () => {
  it('notice each other, and go on after reading again', async () => {
    const first = jsonlStore(folder)
    const second = jsonlStore(folder)
    await first.append('thread', 0, [searched(0)])
    expect(await second.read('thread')).toHaveLength(1)
    await first.append('thread', 1, numbered(1, 2))
    await expect(second.append('thread', 1, [searched(1, 'late')])).rejects.toMatchObject({
      code: 'ledger-conflict',
      data: { ledger: 'thread', expected: 1, found: 3 },
    })
    await second.append('thread', 3, [searched(3)])
    await expect(first.append('thread', 3, [searched(3, 'late')])).rejects.toMatchObject({
      code: 'ledger-conflict',
    })
    expect(await first.read('thread')).toEqual(numbered(0, 4))
  })

  it('take turns when they append in the same instant', async () => {
    const stores = Array.from({ length: 6 }, () => jsonlStore(folder))
    const outcomes = await Promise.allSettled(
      stores.map((store, index) => store.append('thread', 0, [searched(0, `store ${index}`)])),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await jsonlStore(folder).read('thread')).toHaveLength(1)
  })

  it('notice that the file was deleted or shortened', async () => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, [searched(0)])
    const { size } = await stat(file)
    await store.append('thread', 1, [searched(1)])
    await truncate(file, size)
    await expect(store.append('thread', 2, [searched(2)])).rejects.toMatchObject({ data: { found: 1 } })
    await rm(file)
    await expect(store.append('thread', 1, [searched(1)])).rejects.toMatchObject({ data: { found: 0 } })
  })
})

describe('a store that cannot write or read', () => {
  it.skipIf(!existsSync('/bin/bash'))(
    'takes back an append that fails half-way, and works afterwards',
    async () => {
      await jsonlStore(folder).append('thread', 0, numbered(0, 2))
      const before = await readFile(file)
      const source = new URL('../../src/ledger/stores/jsonl.ts', import.meta.url).href
      const program = `
      const { jsonlStore } = await import(${JSON.stringify(source)})
      const store = jsonlStore(${JSON.stringify(folder)})
      const event = { id: 2, anchor: '', kind: 'compacted', kept: { text: 'x'.repeat(3_000_000) } }
      const error = await store.append('thread', 2, [event]).catch((reason) => reason)
      console.log(error?.code, error?.cause?.code)`
      // The limit on file sizes lets the first part of the line through, as a disk that fills up does.
      const command = 'ulimit -f 2000 && exec "$0" --import tsx --input-type=module -e "$1"'
      const { stdout } = await promisify(execFile)('/bin/bash', ['-c', command, process.execPath, program])
      expect(stdout.trim()).toBe('store-failed EFBIG')
      expect(await readFile(file)).toEqual(before)
      await jsonlStore(folder).append('thread', 2, [searched(2)])
      expect(await jsonlStore(folder).read('thread')).toEqual(numbered(0, 3))
    },
  )

  it('rejects with the cause when the folder is a file', async () => {
    await writeFile(file, '')
    const store = jsonlStore(file)
    await expect(store.read('inner')).rejects.toMatchObject({
      code: 'store-failed',
      cause: { code: 'ENOTDIR' },
    })
    await expect(store.append('inner', 0, [searched(0)])).rejects.toMatchObject({ code: 'store-failed' })
  })
})

describe('ledgers on disk', () => {
  it('of format 1 still load', async () => {
    const events: readonly { id: number; kind: string }[] = await jsonlStore(fixtures).read('ledger-v1')
    const lines = (await readFile(join(fixtures, 'ledger-v1.jsonl'), 'utf8')).trimEnd().split('\n')
    expect(events).toEqual(lines.flatMap((line) => JSON.parse(line).events))
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index))
    expect(new Set(events.map(({ kind }) => kind))).toEqual(
      new Set([
        ...[
          'opened',
          'searched',
          'activated',
          'deactivated',
          'suspended',
          'restored',
          'redefined',
          'requested',
        ],
        ...['call-started', 'call-succeeded', 'call-failed', 'announced', 'measured', 'compacted', 'cleared'],
      ]),
    )
  })

  it('of format 1 take new events', async () => {
    await writeFile(file, await readFile(join(fixtures, 'ledger-v1.jsonl')))
    const store = jsonlStore(folder)
    const { length } = await store.read('thread')
    await store.append('thread', length, [searched(length)])
    expect((await jsonlStore(folder).read('thread')).at(-1)).toEqual(searched(length))
  })
})
