import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { withFileLock } from '../../src/ledger/stores/file-lock.js'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolwell-lock-'))
  file = join(folder, 'thing')
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(folder, { recursive: true, force: true })
})

const HOUR = 3_600_000

/** Sets the wall clock and stops it. Timers keep running. */
function setWallClock(difference: number): void {
  const time = Date.now() + difference
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(time)
}

describe.skipIf(process.platform === 'win32')('a file lock', () => {
  it('is not taken from its owner because the wall clock jumped', async () => {
    await symlink('elsewhere:1:abc', `${file}.lock`)
    setWallClock(HOUR)
    await expect(
      withFileLock(file, async () => 'taken', { staleAfter: 60_000, giveUpAfter: 50 }),
    ).rejects.toThrow('another process holds')
  })

  it('of a process that died elsewhere is taken after a while, also if the wall clock was set back', async () => {
    await symlink('elsewhere:1:abc', `${file}.lock`)
    setWallClock(-HOUR)
    expect(await withFileLock(file, async () => 'taken', { staleAfter: 50, giveUpAfter: 10_000 })).toBe(
      'taken',
    )
    expect(await readdir(folder)).toEqual([])
  })

  it('of a dead process here is taken at once, even if another process died while it cleared the lock', async () => {
    const dead = `${hostname()}:999999999:abc`
    await symlink(dead, `${file}.lock`)
    await symlink(dead, `${file}.lock.clearing`)
    const started = performance.now()
    expect(await withFileLock(file, async () => 'taken')).toBe('taken')
    expect(performance.now() - started).toBeLessThan(5000)
    expect(await readdir(folder)).toEqual([])
  })

  it('is held by one task at a time', async () => {
    let running = 0
    const task = async () => {
      expect(++running).toBe(1)
      await readdir(folder)
      running--
    }
    await Promise.all(Array.from({ length: 8 }, () => withFileLock(file, task)))
  })
})
