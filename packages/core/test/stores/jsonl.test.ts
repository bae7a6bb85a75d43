import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { storeContract } from '../../../testing/src/store-contract.js'
import { jsonlStore } from '../../src/ledger/stores/jsonl.js'
import { numbered, searched } from '../fixtures/store-events.js'

let folder: string
let file: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolwell-jsonl-'))
  file = join(folder, 'thread.jsonl')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** A line as the store writes it, without its newlines. */
function lineOf(fields: object): string {
  const body = JSON.stringify(fields)
  return `${crc32(body).toString(16).padStart(8, '0')} ${body}`
}

describe('the JSONL store', () => {
  for (const { title, run } of storeContract({
    async create() {
      // Two levels below the temporary folder, neither of which exists yet.
      const place = join(folder, 'not', 'there')
      return { store: jsonlStore(place), reopen: async () => jsonlStore(place), dispose: async () => {} }
    },
  }))
    it(title, async ({ skip }) => {
      const reason = await run()
      if (reason !== undefined) skip(reason)
    })

  it('writes one line per append: checksum, format, id, place in the ledger, key and events', async () => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, numbered(0, 2))
    await store.append('thread', 2, [searched(2, 'a\nb\u2028c')])
    const text = await readFile(file, 'utf8')
    expect(text).toMatch(/^\n[^\n]+\n\n[^\n]+\n$/)
    const [first = '', second = ''] = text.split('\n').filter(Boolean)
    expect([first, second].map((line) => JSON.parse(line.slice(9)))).toEqual([
      { v: 4, id: 'thread', first: 0, prev: '', key: expect.any(String), events: numbered(0, 2) },
      {
        v: 4,
        id: 'thread',
        first: 2,
        prev: first.slice(0, 8),
        key: expect.any(String),
        events: [searched(2, 'a\nb\u2028c')],
      },
    ])
    expect(first).toBe(lineOf(JSON.parse(first.slice(9))))
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

describe('an append that was cut off', () => {
  it('loses nothing acknowledged, at any cut', async () => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, numbered(0, 2))
    const before = (await stat(file)).size
    await store.append('thread', 2, [searched(2, 'é\u2028🧰'), searched(3)])
    const whole = await readFile(file)
    // Without its last byte, the newline, the line still has its checksum and counts.
    for (let offset = before; offset < whole.length - 1; offset += 1) {
      await writeFile(file, whole.subarray(0, offset))
      const reopened = jsonlStore(folder)
      expect(await reopened.read('thread'), `cut at byte ${offset}`).toEqual(numbered(0, 2))
      await reopened.append('thread', 2, [searched(2, 'again')])
      expect(await jsonlStore(folder).read('thread')).toEqual([...numbered(0, 2), searched(2, 'again')])
    }
    await writeFile(file, whole.subarray(0, -1))
    expect(await jsonlStore(folder).read('thread')).toHaveLength(4)
    await jsonlStore(folder).append('thread', 4, [searched(4)])
    expect((await jsonlStore(folder).read('thread')).slice(2)).toEqual([
      searched(2, 'é\u2028🧰'),
      searched(3),
      searched(4),
    ])
  })

  it('is ignored by a store that did not read the ledger first', async () => {
    await jsonlStore(folder).append('thread', 0, [searched(0)])
    await appendFile(file, '\n0123abcd {"v":4,"id":"thr')
    await jsonlStore(folder).append('thread', 1, [searched(1)])
    expect(await jsonlStore(folder).read('thread')).toEqual(numbered(0, 2))
  })

  it('leaves an empty ledger if it is the first one, even as zeros that the disk never replaced', async () => {
    for (const text of ['\n', '\n0123abcd {"v":4', '\u0000\u0000\u0000', '\u0000\u0000\n0123']) {
      await writeFile(file, text)
      const store = jsonlStore(folder)
      expect(await store.read('thread')).toEqual([])
      await store.append('thread', 0, [searched(0)])
      expect(await jsonlStore(folder).read('thread')).toEqual([searched(0)])
    }
  })

  it('does not change the file for an append that meets a conflict', async () => {
    await jsonlStore(folder).append('thread', 0, [searched(0)])
    await appendFile(file, '\n0123abcd {"v":4')
    const before = await readFile(file)
    await expect(jsonlStore(folder).append('thread', 5, [searched(5)])).rejects.toMatchObject({
      data: { found: 1 },
    })
    expect(await readFile(file)).toEqual(before)
  })
})

describe('a line', () => {
  const fields = (first: number, prev = '', more: object = {}) => ({
    v: 4,
    id: 'thread',
    first,
    prev,
    key: `k${first}`,
    events: [searched(first)],
    ...more,
  })
  const good = lineOf(fields(0))
  const sum = good.slice(0, 8)
  const broken: readonly (readonly [title: string, text: string, line: number, problem: string])[] = [
    ['with a wrong checksum', `\n${good}\n\n0${lineOf(fields(1, sum)).slice(1)}\n`, 4, 'its checksum'],
    ['that is not a ledger line', `\n${good}\n\nx\n`, 4, 'its checksum'],
    ['that is damaged before a good one', `\n${good}x}\n\n${lineOf(fields(1, sum))}\n`, 2, 'its checksum'],
    ['without events', `\n${good}\n\n${lineOf(fields(1, sum, { events: [] }))}\n`, 4, 'its checksum'],
    ['whose events have other ids', `\n${lineOf(fields(0, '', { events: [searched(1)] }))}\n`, 2, 'checksum'],
    ['of another ledger', `\n${lineOf(fields(0, '', { id: 'other' }))}\n`, 2, 'belongs to ledger "other"'],
    ['after a gap', `\n${good}\n\n${lineOf(fields(2, sum))}\n`, 4, 'follows 2 events, but 1 come before it'],
    ['that follows another line', `\n${good}\n\n${lineOf(fields(1, '00000000'))}\n`, 4, 'another line'],
    [
      'after a cut-off line that was counted',
      `\n${good.slice(0, -5)}\n${lineOf(fields(1, sum))}\n`,
      3,
      'but 0',
    ],
  ]
  it.each(broken)('%s is damage, and nobody appends', async (_, text, line, problem) => {
    await writeFile(file, text)
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

  it('that lost a race is ignored, before and after others', async () => {
    const late = lineOf(fields(0, '', { key: 'late', events: [searched(0, 'late')] }))
    const next = lineOf(fields(1, sum))
    await writeFile(file, `\n${good}\n\n${late}\n\n${next}\n\n${late}\n`)
    expect(await jsonlStore(folder).read('thread')).toEqual(numbered(0, 2))
    await jsonlStore(folder).append('thread', 2, [searched(2)])
    expect(await jsonlStore(folder).read('thread')).toEqual(numbered(0, 3))
  })

  it('of a newer format is refused as too new', async () => {
    await writeFile(file, `\n${good}\n\n${lineOf({ v: 5, facts: {} })}\n`)
    const before = await readFile(file)
    const expected = { code: 'ledger-too-new', data: { ledger: 'thread', found: 5, known: 4 } }
    await expect(jsonlStore(folder).read('thread')).rejects.toMatchObject(expected)
    await expect(jsonlStore(folder).append('thread', 1, [searched(1)])).rejects.toMatchObject(expected)
    expect(await readFile(file)).toEqual(before)
  })

  it('of an older format is refused with one sentence', async () => {
    await writeFile(file, '{"v":3,"sum":"0123abcd","events":[]}\n')
    const error = await jsonlStore(folder)
      .read('thread')
      .catch((reason: Error) => reason)
    expect(error).toMatchObject({
      code: 'ledger-corrupt',
      message: `Ledger "thread" was written by an older version of Toolwell, which this version does not read: start another ledger, or delete ${file}.`,
    })
  })
})

describe('several writers of one folder', () => {
  it('notice each other, and continue after reading again', async () => {
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

  it('notice that the file was deleted, shortened or replaced', async () => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, [searched(0)])
    const { size } = await stat(file)
    await store.append('thread', 1, [searched(1)])
    await truncate(file, size)
    await expect(store.append('thread', 2, [searched(2)])).rejects.toMatchObject({ data: { found: 1 } })
    await expect(store.read('thread', 2)).rejects.toMatchObject({ data: { found: 1 } })
    // Longer than before, in the same file.
    await store.append('thread', 1, [searched(1, 'mine')])
    await truncate(file, size)
    await jsonlStore(folder).append('thread', 1, numbered(1, 3, 'other'))
    await expect(store.append('thread', 2, [searched(2)])).rejects.toMatchObject({ data: { found: 4 } })
    expect(await store.read('thread', 1)).toEqual(numbered(1, 3, 'other'))
    // The system may give the number of a deleted file to the next one.
    await rm(file)
    await expect(store.append('thread', 4, [searched(4)])).rejects.toMatchObject({ data: { found: 0 } })
    await jsonlStore(folder).append('thread', 0, numbered(0, 9, 'new'))
    expect(await store.read('thread')).toEqual(numbered(0, 9, 'new'))
  })
})

describe('a store that cannot write or read', () => {
  it.skipIf(!existsSync('/bin/bash'))(
    'reports an append that fails half-way, and works afterwards',
    async () => {
      await jsonlStore(folder).append('thread', 0, numbered(0, 2))
      const source = new URL('../../src/ledger/stores/jsonl.ts', import.meta.url).href
      const program = `
      const { jsonlStore } = await import(${JSON.stringify(source)})
      const store = jsonlStore(${JSON.stringify(folder)})
      const event = { id: 2, anchor: '', kind: 'compacted', kept: { text: 'x'.repeat(3_000_000) } }
      for (let turn = 0; turn < 2; turn++) {
        const error = await store.append('thread', 2, [event]).catch((reason) => reason)
        console.log(error?.code, error?.message)
      }
      console.log((await store.read('thread')).length)`
      // The limit on file sizes accepts the first part of the line, like a disk that fills up.
      const command = 'ulimit -f 2000 && exec "$0" --import tsx --input-type=module -e "$1"'
      const { stdout } = await promisify(execFile)('/bin/bash', ['-c', command, process.execPath, program])
      expect(stdout.trim().split('\n')).toEqual([
        expect.stringMatching(/^store-failed .* the disk took \d+ of \d+ bytes; it may be full\.$/),
        expect.stringMatching(/^store-failed .*EFBIG/),
        '2',
      ])
      expect(await jsonlStore(folder).read('thread')).toEqual(numbered(0, 2))
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
