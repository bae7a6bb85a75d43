import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { VERSION } from '../src/upstream/open-client.js'

it('servers receive the version of the package', () => {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  expect(JSON.parse(manifest).version).toBe(VERSION)
})
