/** The README: its first statements, and its program, which runs in an empty project. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const guard = new URL('./setup/loopback-only.ts', import.meta.url).href
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const [, program = '', printed = ''] =
  /^```ts\n([\s\S]*?)^```\n\nIt prints:\n\n```text\n([\s\S]*?)^```/m.exec(readme) ?? []

it('says in its first 30 lines what it is, what was measured and how, when to skip it, and the two commands', () => {
  const start = readme.split('\n').slice(0, 30).join('\n')
  for (const part of [
    /^# Toolwell\n\n[^\n]+\n/,
    /!\[[^\]]+\]\(docs\/images\//,
    /\*\*Measured\*\* with `npm run proof`/,
  ])
    expect(start).toMatch(part)
  for (const part of [/\*\*Skip it\*\*/, /^npm start /m, /^npm test /m, /^```ts\nimport /m])
    expect(start).toMatch(part)
})

it('has a program that prints what it says when it is pasted into a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'hello.ts'), program)
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), '--import', guard, 'hello.ts'],
    { cwd: folder, encoding: 'utf8' },
  )
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: printed, stderr: '' })
})

it('has the program of examples/minimal.ts', () => {
  const [, ...lines] = readFileSync(join(root, 'examples/minimal.ts'), 'utf8').split('\n')
  expect(program).toBe(lines.join('\n'))
})
