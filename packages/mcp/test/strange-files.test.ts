/** Files of a cloned folder that are devices, pipes or too large. */
import { execFileSync } from 'node:child_process'
import { chmodSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineServer, describeProblem, diskCache, loadConfig } from '@toolwell/mcp'
import { trustedProjects } from '@toolwell/mcp/internal'
import { describe, expect, it } from 'vitest'
import { resolveReferences } from '../src/config/references.js'
import { readLock } from '../src/trust/lock/lock-file.js'
import { temporary } from './support/temporary.js'

const STRANGE = {
  'a link to /dev/zero': [(path: string) => symlinkSync('/dev/zero', path), 'not a regular file'],
  'a pipe': [(path: string) => void execFileSync('mkfifo', [path]), 'not a regular file'],
  'a file of 40 MB': [(path: string) => writeFileSync(path, ' '.repeat(40 << 20)), 'larger than'],
} as const

describe.skipIf(process.platform === 'win32').each(Object.entries(STRANGE))('%s', (_, [make, words]) => {
  it('is not read as config', () => {
    const path = join(temporary(), 'toolwell.json')
    make(path)
    const { servers, problems } = loadConfig({ files: [{ path, optional: true }], env: {} })
    expect(servers).toEqual([])
    expect(problems.map(describeProblem).join()).toContain(words)
    expect(problems.map(describeProblem).join()).toContain(path)
  })

  it('is not read as env file', () => {
    const folder = temporary()
    make(join(folder, '.env'))
    const text = JSON.stringify({ mcpServers: { one: { command: 'node', envFile: '.env' } } })
    const { problems } = loadConfig({ files: [{ path: join(folder, 'toolwell.json'), text }], env: {} })
    expect(problems.map(describeProblem).join()).toMatch(new RegExp(`\\.env .*${words}`))
  })

  it('is not read as lock', () => {
    const path = join(temporary(), 'toolwell.lock')
    make(path)
    expect(() => readLock(path)).toThrow(words)
  })

  it('is not trusted', () => {
    const folder = temporary()
    const path = join(folder, 'toolwell.json')
    make(path)
    const projects = trustedProjects(join(folder, 'state'))
    expect(projects.add(path)).toBe(false)
    expect(projects.readTrusted(path)).toBeUndefined()
  })

  it('is not read as secret', async () => {
    const path = join(temporary(), 'secret')
    make(path)
    const server = defineServer('one', { command: 'node', env: { KEY: `\${file:${path}}` } })
    await expect(resolveReferences(server, { folder: '/' })).rejects.toThrow(words)
  })
})

it('refuses a config of 2 MB', () => {
  const path = join(temporary(), 'toolwell.json')
  writeFileSync(path, `{}${' '.repeat(2 << 20)}`)
  expect(
    loadConfig({ files: [path], env: {} })
      .problems.map(describeProblem)
      .join(),
  ).toContain('larger than 1 MB')
})

it('notices a project file that changed although its time and size did not', () => {
  const folder = temporary()
  const path = join(folder, 'toolwell.json')
  const write = (text: string) => {
    writeFileSync(path, text)
    utimesSync(path, 1, 1)
  }
  write('{"a":1}')
  const projects = trustedProjects(join(folder, 'state'))
  expect(projects.add(path)).toBe(true)
  expect(projects.readTrusted(path)).toBe('{"a":1}')
  write('{"a":2}')
  expect(projects.readTrusted(path)).toBeUndefined()
  expect(projects.read(path)?.hasChanged).toBe(true)
})

it.skipIf(process.platform === 'win32')('does not use a cache folder that everybody may write to', () => {
  const folder = temporary()
  const server = defineServer('one', { command: 'node' })
  const failed = { at: 1, reason: 'planted' }
  diskCache({ folder }).writeFailure?.(server, failed)
  expect(diskCache({ folder }).readFailure?.(server)).toEqual(failed)
  chmodSync(folder, 0o777)
  const warnings: string[] = []
  const cache = diskCache({ folder, onWarning: ({ text }) => warnings.push(text) })
  expect(cache.readFailure?.(server)).toBeUndefined()
  cache.writeFailure?.(server, failed)
  expect(warnings).toEqual([expect.stringContaining(`everybody may write to ${folder}`)])
})
