/** Runs the tests sized for a change once under each newer Node, from npm. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { installed } from './setup/framework-folder.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const versions = ['22.23.3', '24.21.0']

it.each(versions)('passes npm test under Node %s', { timeout: 1_800_000 }, (version) => {
  const bin = join(installed([`node@${version}`]), 'node_modules/node/bin')
  const { TOOLWELL_TESTS: _, VITEST: __, ...env } = process.env
  const options = {
    cwd: root,
    // Programs that the tests start find this Node first.
    env: { ...env, PATH: `${bin}${process.platform === 'win32' ? ';' : ':'}${env.PATH}` },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  } as const
  expect(spawnSync(join(bin, 'node'), ['--version'], options).stdout.trim()).toBe(`v${version}`)
  const { status, stdout, stderr } = spawnSync(join(bin, 'node'), ['scripts/run.mjs', 'test'], options)
  expect(status, `${stdout}\n${stderr}`.slice(-20_000)).toBe(0)
})
