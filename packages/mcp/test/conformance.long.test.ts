/** The official conformance suite's scenarios about logins, against a client that is a host with this package. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { useServer } from './support/conformance-client.js'

const support = (name: string) => fileURLToPath(new URL(`support/${name}`, import.meta.url))
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')

/** Scenarios of extensions that Toolwell does not have. If one passes, remove it from this list. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  'auth/client-credentials-basic': 'a login without a user',
  'auth/client-credentials-jwt': 'a login without a user',
  'auth/enterprise-managed-authorization': "a login through a company's own identity provider",
  'auth/wif-jwt-bearer': 'a login of a workload',
  'auth/dpop': 'tokens that are bound to a key',
  'auth/dpop-nonce': 'tokens that are bound to a key',
}

interface Verdict {
  readonly scenario: string
  readonly passed: number
  readonly failed: number
}

/** Runs all scenarios of the suite; what they ask of a client is done in this process, one after the other. */
async function verdicts(): Promise<Verdict[]> {
  let queue = Promise.resolve()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    queue = queue.then(() =>
      useServer(JSON.parse(body)).then(
        () => void response.writeHead(200).end(),
        (error: unknown) => void response.writeHead(500).end(String(error)),
      ),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = [process.execPath, support('conformance-client.mjs'), `http://127.0.0.1:${port}`]
  const words = ['client', '--command', client.join(' '), '--suite', 'all', '--timeout', '240000']
  const hook = pathToFileURL(support('conformance-on-node-20.mjs')).href
  const program = join(dirname(manifest), 'dist/index.js')
  const child = spawn(process.execPath, ['--import', hook, program, ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => (said += chunk))
  await once(child, 'close')
  server.closeAllConnections()
  server.close()
  return [...said.matchAll(/^[✓✗] (auth\/\S+): (\d+) passed, (\d+) failed/gm)].map(
    ([, scenario = '', passed, failed]) => ({ scenario, passed: Number(passed), failed: Number(failed) }),
  )
}

it('is passed, but for the extensions that are not offered', { timeout: 300_000 }, async () => {
  const found = await verdicts()
  expect(found.length).toBeGreaterThanOrEqual(33)
  const failed = found.filter((verdict) => verdict.failed > 0).map(({ scenario }) => scenario)
  expect(failed.sort()).toEqual(Object.keys(NOT_OFFERED).sort())
  expect(found.filter(({ passed }) => passed < 3)).toEqual([])
})
