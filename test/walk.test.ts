/** `npm run walk`: how many files a reader of one request has to open. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

it('visits at most 130 files for the README program and 45 for one begin', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/walk.mjs', '--json'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const { files, steps, callsToFront } = JSON.parse(stdout) as {
    files: string[]
    steps: { step: string; files: string[] }[]
    callsToFront: string[]
  }
  expect(files.length).toBeLessThanOrEqual(130)
  const begins = steps.filter(({ step }) => step.startsWith('begin'))
  expect(begins).toHaveLength(3)
  for (const { files: visited } of begins) expect(visited.length).toBeLessThanOrEqual(45)
  // An open conversation never calls back into the files that configure it.
  expect(callsToFront).toEqual([])
})
