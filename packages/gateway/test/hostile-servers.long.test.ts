/**
 * Servers that misbehave during a call, for every kind of client over HTTP and stdio: the call gets a clear answer, and others
 * are not affected.
 */
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { type Answer, CLIENT_KINDS, openClient, type TestClient } from './support/clients.js'
import { entry, startGateway } from './support/gateway.js'
import { home } from './support/home.js'

const program = fileURLToPath(new URL('support/hostile-server.mjs', import.meta.url))
const config = {
  mcpServers: {
    bad: { command: process.execPath, args: [program], timeout: '2s' },
    good: entry(oddServer('good')),
  },
}

type Kind = (typeof CLIENT_KINDS)[number]

const WAYS: Readonly<Record<string, (kind: Kind, isAll: boolean) => Promise<TestClient>>> = {
  HTTP: async (kind, isAll) =>
    openClient(kind, `${(await startGateway(config)).url}/mcp${isAll ? '/all' : ''}`),
  stdio: (kind, isAll) => openClient(kind, home(config).way(...(isAll ? ['--all'] : []))),
}

/** Expected answer to a call. An error unless `isFine`. */
const ANSWERS: Readonly<Record<string, { readonly says: RegExp; readonly isFine?: true }>> = {
  crash: {
    says: /bad__crash failed: bad was lost while it ran crash: the server exited with code 7\. The call may have taken effect/,
  },
  vanish: { says: /bad__vanish failed: bad was lost while it ran vanish: the server exited with code 0/ },
  garbage: { says: /^after the garbage$/, isFine: true },
  silent: { says: /bad__silent failed: bad did not answer silent within 2 s/ },
  bytes: { says: /^a\ufffd+b$/, isFine: true },
  twice: { says: /^first$/, isFine: true },
  strangers: { says: /^yours$/, isFine: true },
  shapeless: { says: /bad__shapeless failed: bad could not run shapeless: Invalid result/ },
  refused: { says: /bad__refused failed: .*Not today/ },
}

const CASES = Object.keys(WAYS).flatMap((way) => [
  { way, mode: 'the three tools', isAll: false },
  { way, mode: 'every tool', isAll: true },
])

describe.each(CLIENT_KINDS)('a client of %s', (kind) => {
  it.each(CASES)(
    'over $way with $mode is answered, whatever a server does in a call',
    async ({ way, isAll }) => {
      const client = (await WAYS[way]?.(kind, isAll)) as TestClient
      const names = (await client.list()).map(({ name }) => name)
      expect(names).toContain(isAll ? 'bad__crash' : 'run_tool')
      const call = (name: string, input: object = {}): Promise<Answer> =>
        isAll ? client.call(name, input) : client.call('run_tool', { name, arguments: input })
      for (const [name, { says, isFine = false }] of Object.entries(ANSWERS)) {
        // Clients of another server do not wait.
        const [answer, other] = await Promise.all([
          call(`bad__${name}`).catch(asAnswer),
          call('good__echo', { name }),
        ])
        const [{ text = '' } = {}] = answer.content
        expect([name, text, answer.isError ?? false]).toEqual([name, expect.stringMatching(says), !isFine])
        expect(other.content[0]?.text).toBe(JSON.stringify({ name }))
        expect((await call('bad__echo', { text: name })).content[0]?.text).toBe(name)
      }
      const size = 8_000_000
      const [{ text = '' } = {}] = (await call('bad__huge', { size })).content
      const handle = /"handle": "(r_[\w-]+)"/.exec(text)?.[1]
      expect(await client.text('read_result', { handle, characters: `${size - 4}` })).toMatch(/\nxxxxx$/)
    },
  )
})

/** A call by the tool's own name gets the server's protocol error. */
function asAnswer(error: Error & { readonly code?: number; readonly data?: unknown }): Answer {
  expect([error.code, error.data]).toEqual([-32050, { until: 'tomorrow' }])
  return { content: [{ type: 'text', text: `bad__refused failed: ${error.message}` }], isError: true }
}
