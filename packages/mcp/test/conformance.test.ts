/** The official conformance suite's scenarios about logins, against a client that is a host with this package. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'

const support = (name: string) => fileURLToPath(new URL(`support/${name}`, import.meta.url))
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
const suite = [
  '--import',
  pathToFileURL(support('conformance-on-node-20.mjs')).href,
  join(dirname(manifest), 'dist/index.js'),
]
const client = `${process.execPath} --import tsx ${support('conformance-client.ts')}`

/** Scenarios of extensions that Toolwell does not have. Whoever makes one pass takes it off this list. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  'auth/client-credentials-basic': 'a login without a user',
  'auth/client-credentials-jwt': 'a login without a user',
  'auth/enterprise-managed-authorization': "a login through a company's own identity provider",
  'auth/wif-jwt-bearer': 'a login of a workload',
  'auth/dpop': 'tokens that are bound to a key',
  'auth/dpop-nonce': 'tokens that are bound to a key',
}

const { stdout } = spawnSync(process.execPath, [...suite, 'list', '--client'], { encoding: 'utf8' })
const scenarios = [...stdout.matchAll(/^ *- (auth\/\S+)/gm)].map(([, name]) => name ?? '')

async function run(scenario: string) {
  const child = spawn(
    process.execPath,
    [...suite, 'client', '--command', client, '--scenario', scenario, '--timeout', '60000'],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'close')
  const [, passed, all] = /Passed: (\d+)\/(\d+)/.exec(said) ?? []
  const failures = said.split('\n').filter((line) => line.includes('FAILURE'))
  return { code, passed: Number(passed), all: Number(all), failures }
}

describe('the conformance suite', { timeout: 120_000 }, () => {
  it('has the scenarios that this test knows of', () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(33)
    expect(scenarios).toEqual(expect.arrayContaining(Object.keys(NOT_OFFERED)))
  })

  it.concurrent.each(scenarios.filter((name) => !Object.hasOwn(NOT_OFFERED, name)))(
    'is passed in %s',
    async (scenario) => {
      const { code, passed, all, failures } = await run(scenario)
      expect({ code, failures }).toEqual({ code: 0, failures: [] })
      expect(passed).toBe(all)
      expect(all).toBeGreaterThan(2)
    },
  )

  it.concurrent.each(Object.entries(NOT_OFFERED))('is not passed in %s: %s', async (scenario) => {
    const { code, failures } = await run(scenario)
    expect(code).toBe(1)
    expect(failures).not.toEqual([])
  })
})
