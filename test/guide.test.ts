/** The docs: programs print the output on the page, request JSON matches a real run, and the index lists every page. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { guardChildren } from './setup/guard-children.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const guard = guardChildren()
const tsx = import.meta.resolve('tsx')

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwell-guide-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (file: string, ...parameters: string[]) =>
  spawnSync(process.execPath, ['--import', tsx, file, ...parameters], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: guard },
  })

describe('a program of the guide that says what it prints', () => {
  const pages = ['docs/start/first-loop.md', 'docs/guides/choose-eager-tools.md']
  const readmes = ['packages/testing/README.md', 'packages/presets/README.md']
  const programs = [...pages, ...readmes].flatMap((file) =>
    [
      ...read(file).matchAll(/^```ts\n((?:(?!^```)[\s\S])*?)^```\n\nIt prints:\n\n```text\n([\s\S]*?)^```/gm),
    ].map(([, code = '', printed = ''], index) => ({ name: `${file} ${index + 1}`, code, printed })),
  )

  it('is found', () => {
    expect(programs.length).toBeGreaterThanOrEqual(4)
  })

  it.each(programs)('prints that: $name', ({ code, printed }) => {
    const file = join(folder, 'program.ts')
    writeFileSync(file, code)
    const { status, stdout, stderr } = run(file)
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: printed, stderr: '' })
  })
})

it('the page with the bytes is what a run gives: `npx tsx examples/seen.ts --write` writes it', () => {
  const { status, stdout, stderr } = run(join(root, 'examples/seen.ts'))
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe(read('docs/concepts/how-a-request-is-built.md'))
})

it('docs/README.md lists every page', () => {
  const contents = read('docs/README.md')
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /^(start|guides|concepts|reference)\/.*\.md$/.test(file))
  expect(pages.filter((page) => !contents.includes(`](${page})`))).toEqual([])
})
