/** Limits of the calls of one principal at one server. Each refusal names its limit. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { auditFile } from '@toolwell/gateway/storage'
import { expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { hashToken } from '../src/storage/token-file.js'
import { CLIENT_KINDS, openClient } from './support/clients.js'
import { authorized, entry, startGateway, temporary } from './support/gateway.js'

const tools = [describedTool('echo')]
const OTHER = 'tw_another-token'
const tokens = {
  list: () => [{ name: 'other', hash: hashToken(OTHER), createdAt: 0, rights: {} }],
  add: async () => false,
  remove: async () => false,
}

it.each(CLIENT_KINDS)('refuses %s a call above maxConcurrentCalls, and nobody else', async (kind) => {
  const answersOnce = join(temporary(), 'answer')
  const audit = auditFile(temporary())
  const config = (name: string) => entry(oddServer(name, { tools, answersOnce }), { maxConcurrentCalls: 2 })
  const { url } = await startGateway(
    { mcpServers: { odd: config('odd'), even: config('even') } },
    { storage: { tokens, audit } },
  )
  const client = await openClient(kind, `${url}/mcp`)
  const stranger = await openClient(kind, `${url}/mcp/all`, { Authorization: `Bearer ${OTHER}` })
  await client.text('find_tools', { query: 'echo' })
  const run = (name: string) => client.call('run_tool', { name, arguments: {} })
  const first = [run('odd__echo'), run('odd__echo')]
  // Only a call above the limit is answered now.
  let refused = await run('odd__echo')
  const others = [run('even__echo'), stranger.call('odd__echo')]
  expect(refused.isError).toBe(true)
  expect(refused.content[0]?.text).toBe(
    'Nothing was run: this client already runs 2 calls of server odd, the limit maxConcurrentCalls. Wait for one of them to end.',
  )
  writeFileSync(answersOnce, '')
  for (const answer of await Promise.all([...first, ...others])) expect(answer.isError).not.toBe(true)
  refused = await run('odd__echo')
  expect(refused.isError).not.toBe(true)
  await audit.flush()
  expect((await audit.read(0)).filter(({ outcome }) => outcome === 'refused')).toMatchObject([
    { server: 'odd', tool: 'echo', reason: 'limit', principal: 'owner' },
  ])
})

it('refuses calls above maxCallsPerMinute until there is room again', async () => {
  let now = Date.now()
  const { url } = await startGateway(
    { mcpServers: { odd: entry(oddServer('odd', { tools }), { maxCallsPerMinute: 3 }) } },
    { now: () => now },
  )
  const client = await openClient('v2 modern', `${url}/mcp/all`)
  const isRefused = async () => (await client.call('odd__echo')).isError === true
  expect([await isRefused(), await isRefused(), await isRefused()]).toEqual([false, false, false])
  expect(await client.text('odd__echo')).toBe(
    'Nothing was run: this client made 3 calls of server odd in a minute, the limit maxCallsPerMinute. Try again in 20 s.',
  )
  now += 20_000
  expect([await isRefused(), await isRefused()]).toEqual([false, true])
})

it('counts requests for prompts and resources', async () => {
  const suite = {
    command: process.execPath,
    args: [fileURLToPath(new URL('support/conformance-server.mjs', import.meta.url)), 'modern'],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    maxCallsPerMinute: 1,
  }
  const { url } = await startGateway({ mcpServers: { suite } })
  const post = (id: number) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        ...authorized,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'prompts/get',
        'Mcp-Name': 'test_simple_prompt',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id,
        method: 'prompts/get',
        params: {
          name: 'test_simple_prompt',
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    })
  expect(await (await post(1)).text()).toContain('"messages"')
  expect(await (await post(2)).text()).toContain('the limit maxCallsPerMinute')
})

it('names the limit of a request that is too large or takes too long', async () => {
  const { url } = await startGateway(
    {
      mcpServers: { odd: entry(oddServer('odd', { tools, answersOnce: '/missing' }), { timeout: '100ms' }) },
    },
    { maxRequestBodySize: 1000 },
  )
  const large = await fetch(`${url}/mcp`, { method: 'POST', headers: authorized, body: 'x'.repeat(1001) })
  expect(large.status).toBe(413)
  expect(await large.text()).toContain('The request must not be larger than 1000 bytes.')
  const client = await openClient('v2 modern', `${url}/mcp`)
  expect(await client.text('run_tool', { name: 'odd__echo', arguments: {} })).toContain(
    'did not answer echo within 100 ms, and the call was cancelled. Increase "timeout" in the config',
  )
})
