import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const read = (file: string) => readFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8')
const CLIENTS = /^(openai|ai|@ai-sdk\/.*|@anthropic-ai\/sdk|@google\/genai)$/

it('lists the tested versions of every client as package.json installs them', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }
  const installed = Object.entries(devDependencies)
    .map(([name, version]) => /^npm:(.+)@([^@]+)$/.exec(version)?.slice(1) ?? [name, version])
    .filter(([name = '']) => CLIENTS.test(name))
    .map(([name, version]) => `${name} ${version}`)
  const rows = [...read('docs/compatibility/versions.md').matchAll(/^\| `(.+?)` \| (.+?) \|/gm)]
  const listed = rows.flatMap(([, name, versions = '']) =>
    versions.split(', ').map((version) => `${name} ${version}`),
  )
  expect(listed.length).toBeGreaterThan(10)
  expect(listed.sort()).toEqual(installed.sort())
})

it('names the Node versions that the long tier runs', () => {
  const [, names = ''] = /installs Node (.+?) from npm/.exec(read('docs/compatibility/versions.md')) ?? []
  const tested = [...read('test/node-versions.long.test.ts').matchAll(/'(\d+\.\d+\.\d+)'/g)].map(([, v]) => v)
  expect(names.split(' and ')).toEqual(tested)
})
