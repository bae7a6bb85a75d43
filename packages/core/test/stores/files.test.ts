/** The files of the JSONL store: who may use them, how damage is found, and when an append counts. */
import { spawnSync } from 'node:child_process'
import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { jsonlStore } from '../../src/ledger/stores/jsonl.js'
import { checkLedger, repairLedger } from '../../src/ledger/stores/repair.js'
import { numbered, searched } from '../fixtures/store-events.js'

/** The disk type that the system reports. */
const disk = vi.hoisted(() => ({ type: 0xef53 }))
vi.mock('node:fs/promises', async (original) => ({
  ...(await original<object>()),
  statfs: async () => disk,
}))

let folder: string
let file: string
beforeEach(async () => {
  disk.type = 0xef53
  folder = await mkdtemp(join(tmpdir(), 'toolwell-files-'))
  file = join(folder, 'thread.jsonl')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const isPosix = process.platform !== 'win32'

describe('files and folders', () => {
  it.runIf(isPosix)('are for their owner alone', async () => {
    const inner = join(folder, 'a', 'b')
    await jsonlStore(inner).append('thread', 0, [searched(0)])
    expect((await stat(inner)).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(inner, 'thread.jsonl'))).mode & 0o777).toBe(0o600)
  })

  it.runIf(isPosix)('are refused if everybody may write', async () => {
    await chmod(folder, 0o777)
    const store = jsonlStore(folder)
    for (const attempt of [() => store.append('thread', 0, [searched(0)]), () => store.read('thread')])
      await expect(attempt()).rejects.toMatchObject({
        code: 'store-failed',
        message: expect.stringContaining('chmod o-w'),
      })
    expect(await readdir(folder)).toEqual([])
  })

  it.runIf(isPosix)('are not used through a link', async () => {
    const other = join(folder, 'other.txt')
    await writeFile(other, '{"v":3')
    await symlink(other, file)
    const store = jsonlStore(folder)
    for (const attempt of [() => store.append('thread', 0, [searched(0)]), () => store.read('thread')])
      await expect(attempt()).rejects.toMatchObject({
        code: 'store-failed',
        message: expect.stringContaining('is a link'),
      })
    expect(await readFile(other, 'utf8')).toBe('{"v":3')
  })

  it.each(['notes of my own', '# a file\nwith lines\n', '[1,2', '\u0000\u0000notes'])(
    'of somebody else are neither read nor written: %j',
    async (text) => {
      await writeFile(file, text)
      const store = jsonlStore(folder)
      await expect(store.read('thread')).rejects.toMatchObject({ code: 'ledger-corrupt' })
      await expect(store.append('thread', 0, [searched(0)])).rejects.toMatchObject({ code: 'ledger-corrupt' })
      expect(await readFile(file, 'utf8')).toBe(text)
    },
  )

  it.runIf(isPosix)('that are not files are refused at once', async () => {
    spawnSync('mkfifo', [file])
    await expect(jsonlStore(folder).append('thread', 0, [searched(0)])).rejects.toMatchObject({
      code: 'store-failed',
    })
    await rm(file)
    await mkdir(file)
    await expect(jsonlStore(folder).read('thread')).rejects.toMatchObject({ code: 'store-failed' })
  })
})

describe('damage', () => {
  it.each([
    ['a line that counts', false],
    ['a line that lost a race', true],
  ])('of any bit is noticed or changes no event, in a file that ends with %s', async (_, endsWithLoser) => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, [searched(0, 'J*é')])
    const lost = await readFile(file)
    await store.append('thread', 1, numbered(1, 2))
    // A cut-off append, and an append that lost a race against the first.
    await appendFile(file, lost.subarray(0, 90))
    await appendFile(file, lost)
    await store.append('thread', 3, [searched(3)])
    if (endsWithLoser) await appendFile(file, lost)
    const whole = await readFile(file)
    const handle = await open(file, 'r+')
    const outcomes = { refused: 0, same: 0 }
    try {
      for (const [at, byte] of whole.entries())
        for (let bit = 0; bit < 8; bit++) {
          await handle.write(Buffer.of(byte ^ (1 << bit)), 0, 1, at)
          const read = await jsonlStore(folder)
            .read('thread')
            .catch((error: { code: string }) => error.code)
          if (read === 'ledger-corrupt') outcomes.refused++
          else {
            expect(read, `byte ${at}, bit ${bit}`).toEqual([searched(0, 'J*é'), ...numbered(1, 3)])
            outcomes.same++
          }
          await handle.write(Buffer.of(byte), 0, 1, at)
        }
    } finally {
      await handle.close()
    }
    expect(outcomes.refused + outcomes.same).toBe(whole.length * 8)
    // Only bits of the closing newlines and of the piece that was cut off may change without notice.
    expect(outcomes.same).toBeLessThan(110 * 8)
  })

  it('is reported with the intact events, and repaired without losing a byte', async () => {
    const store = jsonlStore(folder)
    for (let at = 0; at < 4; at++) await store.append('thread', at, [searched(at)])
    const bytes = await readFile(file)
    const second = bytes.indexOf('\n\n') + 60
    bytes[second] = 0
    await writeFile(file, bytes)
    const error = await jsonlStore(folder)
      .read('thread')
      .then(String, (reason: Error) => reason.message)
    expect(error).toContain('line 4 of')
    expect(error).toContain('The 1 events before it are intact')
    expect(error).toContain(`toolwell ledger repair ${file}`)
    const kept = `${file}.damaged-1`
    expect(await repairLedger(file)).toMatchObject({ damage: { line: 4 }, events: 1, kept })
    expect(await repairLedger(file)).toBeUndefined()
    expect(await readFile(kept)).toEqual(bytes)
    // The store that wrote the file knows that it was replaced.
    await expect(store.append('thread', 4, [searched(4)])).rejects.toMatchObject({ data: { found: 1 } })
    expect(await store.read('thread')).toEqual([searched(0)])
    await store.append('thread', 1, [searched(1, 'again')])
    expect(await jsonlStore(folder).read('thread')).toEqual([searched(0), searched(1, 'again')])
    expect(await checkLedger(file)).toEqual({ file, events: 2, torn: 0 })
    expect((await readdir(folder)).sort()).toEqual(['thread.jsonl', 'thread.jsonl.damaged-1'])
    expect(await store.list?.()).toEqual(['thread'])
  })

  it('of the first line leaves an empty ledger after the repair', async () => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, numbered(0, 2))
    await writeFile(file, (await readFile(file, 'utf8')).replace('query', 'Query'))
    expect(await repairLedger(file)).toMatchObject({ events: 0 })
    await jsonlStore(folder).append('thread', 0, [searched(0)])
    expect(await jsonlStore(folder).read('thread')).toEqual([searched(0)])
  })

  it('is found in a file that was copied under another name', async () => {
    await jsonlStore(folder).append('thread', 0, [searched(0)])
    await copyFile(file, join(folder, 'copy.jsonl'))
    await expect(jsonlStore(folder).read('copy')).rejects.toThrow('belongs to ledger "thread"')
    expect(await checkLedger(join(folder, 'copy.jsonl'))).toMatchObject({ events: 0, damage: { line: 2 } })
  })
})

/** Runs something once, right after the bytes of an append have reached the disk. */
async function afterSync(task: () => Promise<unknown>): Promise<void> {
  const handle = await open(join(folder, 'probe'), 'w')
  await handle.close()
  const prototype = Object.getPrototypeOf(handle)
  const { datasync } = prototype
  prototype.datasync = async function (this: unknown) {
    prototype.datasync = datasync
    await datasync.call(this)
    await task()
  }
}

describe('an append', () => {
  it.each(['deleted', 'replaced'])('to a file that was %s meanwhile is not acknowledged', async (change) => {
    const other = join(folder, 'other')
    await jsonlStore(other).append('thread', 0, numbered(0, 3, 'other'))
    const store = jsonlStore(folder)
    await store.append('thread', 0, [searched(0)])
    await afterSync(() => (change === 'deleted' ? rm(file) : rename(join(other, 'thread.jsonl'), file)))
    const found = change === 'deleted' ? 0 : 3
    await expect(store.append('thread', 1, [searched(1)])).rejects.toMatchObject({
      code: 'ledger-conflict',
      data: { expected: 1, found },
    })
    expect(await store.read('thread')).toEqual(numbered(0, found, 'other'))
  })

  it('that the disk did not confirm has an unknown outcome', async () => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, [searched(0)])
    await afterSync(async () => {
      throw new Error('EIO: i/o error, fdatasync')
    })
    await expect(store.append('thread', 1, [searched(1)])).rejects.toMatchObject({
      code: 'store-failed',
      message: expect.stringContaining('may or may not hold the new events'),
    })
    // The next read shows the result.
    expect(await store.read('thread')).toEqual(numbered(0, 2))
    await store.append('thread', 2, [searched(2)])
  })

  it('is one write, however long it is', async () => {
    const handle = await open(join(folder, 'probe'), 'w')
    await handle.close()
    const prototype = Object.getPrototypeOf(handle)
    const { write } = prototype
    let writes = 0
    prototype.write = function (this: unknown, ...given: unknown[]) {
      writes++
      return write.apply(this, given)
    }
    try {
      await jsonlStore(folder).append('thread', 0, [searched(0, 'x'.repeat(3_000_000))])
    } finally {
      prototype.write = write
    }
    expect(writes).toBe(1)
    expect(await jsonlStore(folder).read('thread')).toEqual([searched(0, 'x'.repeat(3_000_000))])
  })
})

describe.runIf(process.platform === 'linux')('a folder on another file system', () => {
  const types = { NFS: 0x6969, SMB: 0xfe534d42, '9p': 0x01021997 }
  it.each(Object.entries(types))('is refused on %s', async (name, type) => {
    disk.type = type
    const inner = join(folder, 'inner')
    await expect(jsonlStore(inner).append('thread', 0, [searched(0)])).rejects.toMatchObject({
      code: 'store-failed',
      message: expect.stringContaining(`${inner} is on ${name}`),
    })
    expect(await readdir(folder)).toEqual([])
    // Also if the ledger was written elsewhere and moved.
    disk.type = 0xef53
    await jsonlStore(inner).append('thread', 0, [searched(0)])
    disk.type = type
    await expect(jsonlStore(inner).append('thread', 1, [searched(1)])).rejects.toThrow(`is on ${name}`)
  })

  it('gives a warning on FUSE', async () => {
    disk.type = 0x65735546
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    await jsonlStore(folder).append('thread', 0, [searched(0)])
    expect(await warned).toMatchObject({ code: 'TOOLWELL_FUSE' })
  })
})
