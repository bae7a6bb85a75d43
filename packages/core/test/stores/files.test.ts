/** The files of the JSONL store: ours alone, believed only as far as they are whole, and written by one owner at a time. */
import { spawnSync } from 'node:child_process'
import { constants } from 'node:fs'
import {
  appendFile,
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkLedger, repairLedger, unlockLedger } from '@toolwell/core/internal/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runs } from '../../../../test/setup/tier.ts'
import { newOwner } from '../../src/ledger/stores/jsonl/owner.js'
import { hold } from '../../src/ledger/stores/jsonl/ownership.js'
import { jsonlStore } from '../../src/ledger/stores/jsonl.js'
import { numbered, searched } from '../fixtures/store-events.js'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolwell-files-'))
  file = join(folder, 'thread.jsonl')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const isPosix = process.platform !== 'win32'
const lock = (segment: number) => join(folder, `thread.${segment}.lock`)
/** A process that has ended. */
const dead = () => `${hostname()}:${spawnSync(process.execPath, ['-e', '0']).pid}:gone:x`

describe('files and folders', () => {
  it.runIf(isPosix)('are for their owner alone', async () => {
    const inner = join(folder, 'a', 'b')
    await jsonlStore(inner).append('thread', 0, [searched(0)])
    expect((await stat(inner)).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(inner, 'thread.jsonl'))).mode & 0o777).toBe(0o600)
  })

  it.runIf(isPosix)('are refused where everybody may write', async () => {
    await chmod(folder, 0o777)
    const store = jsonlStore(folder)
    for (const attempt of [() => store.append('thread', 0, [searched(0)]), () => store.read('thread')])
      await expect(attempt()).rejects.toMatchObject({
        code: 'store-failed',
        message: expect.stringContaining('chmod o-w'),
      })
    expect(await readdir(folder)).toEqual([])
  })

  it.runIf(isPosix)('are not looked for behind a link', async () => {
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
    'of somebody else are neither read nor cut: %j',
    async (text) => {
      await writeFile(file, text)
      const store = jsonlStore(folder)
      await expect(store.read('thread')).rejects.toMatchObject({ code: 'ledger-corrupt' })
      await expect(store.append('thread', 0, [searched(0)])).rejects.toMatchObject({ code: 'ledger-corrupt' })
      expect(await readFile(file, 'utf8')).toBe(text)
    },
  )

  it.runIf(isPosix)('that are no files are refused, and nothing waits for them', async () => {
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
  it('of any bit is noticed where it is, and everything before it can be gone on with', async () => {
    const store = jsonlStore(folder)
    for (let at = 0; at < 6; at++) await store.append('thread', at * 2, numbered(at * 2, 2, `query é ${at}`))
    const whole = await readFile(file)
    const starts = [0]
    for (const [at, byte] of whole.entries()) if (byte === 10) starts.push(at + 1)
    let noticed = 0
    const tried = runs(900)
    for (let turn = 0; turn < tried; turn++) {
      // Every place in turn, and another bit each time. The last line may look as if it had been cut off.
      const at = Math.floor(((turn * 0.61803) % 1) * (starts[5] ?? 0))
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (turn % 8))
      await writeFile(file, bytes)
      const line = starts.findLastIndex((start) => start <= at)
      const report = await checkLedger(file)
      expect(report.damage, `byte ${at}, bit ${turn % 8}`).toBeDefined()
      expect(report.damage?.line).toBe(line + 1)
      expect(report.events).toBe(line * 2)
      noticed++
    }
    expect(noticed).toBe(tried)
  })

  it('is named with what is whole, and repaired without losing a byte', async () => {
    const store = jsonlStore(folder)
    for (let at = 0; at < 4; at++) await store.append('thread', at, [searched(at)])
    const bytes = await readFile(file)
    const second = bytes.indexOf(10) + 60
    bytes[second] = 0
    await writeFile(file, bytes)
    const error = await jsonlStore(folder)
      .read('thread')
      .then(String, (reason: Error) => reason.message)
    expect(error).toContain('line 2 of')
    expect(error).toContain('The 1 events before it are whole')
    expect(error).toContain(`toolwell ledger repair ${file}`)
    expect(await repairLedger(file)).toMatchObject({ line: 2, at: { count: 1 } })
    expect(await repairLedger(file)).toBeUndefined()
    expect(await readFile(file)).toEqual(bytes)
    const again = jsonlStore(folder)
    expect(await again.read('thread')).toEqual([searched(0)])
    await again.append('thread', 1, [searched(1, 'again')])
    expect(await jsonlStore(folder).read('thread')).toEqual([searched(0), searched(1, 'again')])
    expect(await checkLedger(file)).toMatchObject({ events: 2, segments: 2 })
  })
})

describe('a lock', () => {
  it('of a dead process costs nothing, and what it wrote to its end is kept', async () => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, numbered(0, 2))
    await symlink(dead(), lock(1))
    await appendFile(file, '{"v":3,"sum":"0000')
    await store.append('thread', 2, [searched(2)])
    expect(await jsonlStore(folder).read('thread')).toEqual(numbered(0, 3))
    expect((await readdir(folder)).sort()).toEqual(['thread.2.jsonl', 'thread.jsonl'])
  })

  it('of a process whose number is now another one is a dead one', async () => {
    await symlink(newOwner().replace(/:[^:]*:([^:]*)$/, ':0-1:$1'), lock(1))
    await jsonlStore(folder).append('thread', 0, [searched(0)])
    expect(await jsonlStore(folder).read('thread')).toEqual([searched(0)])
  })

  it('of another machine is refused with the way out, which lets the old owner write where nobody reads', async () => {
    const store = jsonlStore(folder)
    await store.append('thread', 0, numbered(0, 2))
    await symlink('elsewhere:12:34:x', lock(1))
    await expect(unlockLedger(join(folder, 'other.jsonl'))).resolves.toBeUndefined()
    expect(await checkLedger(file)).toMatchObject({
      lock: { standing: 'elsewhere', owner: { host: 'elsewhere', pid: 12 } },
    })
    await expect(hold(join(folder, 'thread'), 1, 0)).rejects.toThrow(`run: toolwell ledger unlock ${file}`)
    expect(await unlockLedger(file)).toMatchObject({ owner: { host: 'elsewhere' } })
    await store.append('thread', 2, [searched(2, 'new owner')])
    // The old one wakes up, and goes on with what it had begun.
    const line = (await readFile(join(folder, 'thread.2.jsonl'), 'utf8'))
      .split('\n')[1]
      ?.replace('new', 'old')
    await appendFile(file, `${line}\n{"v":3,"su`)
    const expected = [...numbered(0, 2), searched(2, 'new owner')]
    expect(await jsonlStore(folder).read('thread')).toEqual(expected)
    await store.append('thread', 3, [searched(3)])
    expect(await jsonlStore(folder).read('thread')).toEqual([...expected, searched(3)])
  })

  it('of a live process is never ended', async () => {
    await jsonlStore(folder).append('thread', 0, [searched(0)])
    await symlink(newOwner(), lock(1))
    await expect(unlockLedger(file)).rejects.toThrow(/is alive/)
    await expect(repairLedger(file)).rejects.toThrow(/holds/)
    const waiting = jsonlStore(folder).append('thread', 1, [searched(1)])
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect((await lstat(lock(1))).isSymbolicLink()).toBe(true)
    await rm(lock(1))
    await waiting
    expect(await jsonlStore(folder).read('thread')).toHaveLength(2)
  })

  it('that was broken in the middle of an append is noticed before the append is acknowledged', async () => {
    // The store writes; a takeover happens between its write and its look around.
    const store = jsonlStore(folder)
    await store.append('thread', 0, [searched(0)])
    const handle = await open(file, constants.O_RDONLY)
    await handle.close()
    const proto = Object.getPrototypeOf(handle)
    const { datasync } = proto
    let turns = 0
    proto.datasync = async function (this: unknown) {
      if (turns++ === 0) {
        await rm(lock(1))
        await symlink('elsewhere:1:1:x', lock(1))
        await unlockLedger(file)
      }
      return datasync.call(this)
    }
    try {
      await store.append('thread', 1, [searched(1)])
    } finally {
      proto.datasync = datasync
    }
    // It was counted by whoever took over: there once, and not written again.
    expect(await jsonlStore(folder).read('thread')).toEqual([searched(0), searched(1)])
    expect(await checkLedger(file)).toMatchObject({ segments: 2, events: 2 })
  })
})
