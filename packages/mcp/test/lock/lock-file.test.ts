/** `toolwell.lock` on disk. */
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLock, EMPTY_LOCK, LockError } from '../../src/trust/lock/lock.ts'
import { formatLock, parseLock, readLock, writeLock } from '../../src/trust/lock/lock-file.ts'

const lock = createLock([
  {
    name: 'b',
    tools: [
      { name: 'z', description: 'Zero\u200bwidth' },
      { name: 'a', description: 'A' },
    ],
  },
  { name: 'a', instructions: 'Hello', tools: [] },
])

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolwell-lock-'))
  file = join(folder, 'toolwell.lock')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const failure = (promise: Promise<unknown>): Promise<LockError> =>
  promise.then(
    () => Promise.reject(new Error('did not fail')),
    (error) => error,
  )

describe('a lock file', () => {
  it('is written in a fixed order, for everyone to read, and read back as it was', async () => {
    await writeLock(file, lock)
    expect(readLock(file)).toEqual(lock)
    const text = await readFile(file, 'utf8')
    expect(text).toBe(formatLock(lock))
    expect(Object.keys(JSON.parse(text))).toEqual(['version', 'servers'])
    expect(Object.keys(JSON.parse(text).servers)).toEqual(['a', 'b'])
    expect(Object.keys(JSON.parse(text).servers.b.tools)).toEqual(['a', 'z'])
    expect(text).toContain('Zero\\u200bwidth')
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o644)
  })

  it('is one text for one lock, whatever the order it was made in', () => {
    const again = createLock([
      { name: 'a', instructions: 'Hello', tools: [] },
      {
        name: 'b',
        tools: [
          { description: 'A', name: 'a' },
          { description: 'Zero\u200bwidth', name: 'z' },
        ],
      },
    ])
    expect(formatLock(again)).toBe(formatLock(lock))
  })

  it('that is not there is undefined', async () => expect(readLock(file)).toBeUndefined())

  it('is replaced as a whole, and leaves no other file', async () => {
    await writeLock(file, lock)
    await Promise.all(Array.from({ length: 8 }, (_, index) => writeLock(file, index % 2 ? lock : EMPTY_LOCK)))
    expect([formatLock(lock), formatLock(EMPTY_LOCK)]).toContain(await readFile(file, 'utf8'))
    expect(await readdir(folder)).toEqual(['toolwell.lock'])
  })

  it('is written through a link', async () => {
    const real = join(folder, 'real.lock')
    await writeFile(real, formatLock(EMPTY_LOCK))
    await symlink(real, file)
    await writeLock(file, lock)
    expect(readLock(real)).toEqual(lock)
  })

  it.each([
    ['cut off', '{"version": 1, "serv', 'corrupt'],
    ['empty', '', 'corrupt'],
    ['a list', '[]', 'corrupt'],
    ['without servers', '{"version": 1}', 'corrupt'],
    ['without version', '{"servers": {}}', 'corrupt'],
    ['with a broken server', '{"version": 1, "servers": {"a": 3}}', 'corrupt'],
    [
      'with a broken tool',
      '{"version": 1, "servers": {"a": {"fingerprint": "", "instructions": "", "tools": {"t": {}}}}}',
      'corrupt',
    ],
    ['from a newer program', '{"version": 2, "servers": {}}', 'too-new'],
    [
      'in a merge conflict',
      '{\n<<<<<<< HEAD\n"version": 1\n=======\n"version": 1\n>>>>>>> other\n}',
      'conflict',
    ],
  ])('that is %s is refused with the way out, and kept', async (_, text, code) => {
    await writeFile(file, text)
    for (const error of [
      await failure((async () => readLock(file))()),
      await failure(writeLock(file, lock)),
    ]) {
      expect(LockError.is(error)).toBe(true)
      expect(error.code).toBe(code)
      expect(error.message).toContain(file)
      expect(error.message).toMatch(/Restore|Update|git checkout/)
    }
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it('whose text was edited without its fingerprint is refused', () => {
    const edited = formatLock(lock).replace('"description": "A"', '"description": "Something else"')
    expect(() => parseLock(edited)).toThrow(/fingerprint .* does not match/)
  })

  it('that cannot be written leaves nothing behind', async () => {
    const place = join(folder, 'locked')
    await writeFile(place, '')
    const error = await failure(writeLock(join(place, 'toolwell.lock'), lock))
    expect(error.code).toBe('failed')
    expect(await readdir(folder)).toEqual(['locked'])
    await chmod(place, 0o644)
  })
})
