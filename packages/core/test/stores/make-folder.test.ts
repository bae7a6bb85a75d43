import { existsSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { makeFolder } from '../../src/ledger/stores/folders.js'

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-folder-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

it('creates a folder with its parents, and keeps an existing one', async () => {
  const folder = join(await temporary(), 'a', 'b', 'c')
  makeFolder(folder, 0o700)
  makeFolder(folder)
  expect(statSync(folder).isDirectory()).toBe(true)
  if (process.platform !== 'win32') expect(statSync(folder).mode & 0o777).toBe(0o700)
})

it('says what is in its way', async () => {
  const file = join(await temporary(), 'file')
  writeFileSync(file, '')
  expect(() => makeFolder(join(file, 'below'))).toThrow(/EEXIST|ENOTDIR/)
  expect(() => makeFolder(file)).toThrow('EEXIST')
})

it.runIf(existsSync('/proc/self'))('gives up where a folder takes no entries', () => {
  expect(() => makeFolder('/proc/none/below')).toThrow('ENOENT')
})
