/** A client that leaves during a call does not affect others: its call is cancelled at the server, and the server keeps running. */
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually } from '../../mcp/test/support/processes.js'
import { openClient } from './support/clients.js'
import { authorized, entry, type Started, startGateway, temporary } from './support/gateway.js'

const WAIT = { name: 'run_tool', arguments: { name: 'odd__wait', arguments: { leaver: 1 } } }
const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: WAIT }
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'leaver', version: '1' } },
}

function post({ url }: Started, body: object, more: RequestInit & { headers?: Record<string, string> } = {}) {
  const headers = {
    ...authorized,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...more.headers,
  }
  return fetch(`${url}/mcp`, { ...more, method: 'POST', headers, body: JSON.stringify(body) })
}

/** Each starts the call and returns a way to leave. */
const ways: Record<string, (started: Started) => Promise<() => unknown>> = {
  async 'closes the connection of its request'(started) {
    const leaving = new AbortController()
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'leaver', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const headers = {
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'run_tool',
    }
    const body = { ...call, params: { ...WAIT, _meta } }
    post(started, body, { headers, signal: leaving.signal }).catch(() => undefined)
    return () => leaving.abort()
  },
  async 'ends its session'(started) {
    const begun = await post(started, initialize)
    const headers = { 'Mcp-Session-Id': begun.headers.get('mcp-session-id') ?? '' }
    post(started, call, { headers })
      .then((response) => response.text())
      .catch(() => undefined)
    return () => fetch(`${started.url}/mcp`, { method: 'DELETE', headers: { ...authorized, ...headers } })
  },
  'closes its end of a bridge': ({ port }) =>
    new Promise((resolve) => {
      const headers = { ...authorized, Connection: 'Upgrade', Upgrade: 'toolwell-stdio' }
      const asked = request({ port, host: '127.0.0.1', path: '/mcp', headers })
      asked.on('upgrade', (_, socket) => {
        socket.write(`${JSON.stringify(initialize)}\n${JSON.stringify(call)}\n`)
        resolve(() => socket.end())
      })
      asked.end()
    }),
}

it.each(Object.keys(ways))('a client that %s during a call harms nobody', async (name) => {
  const log = join(temporary(), 'log')
  const lines = (words: string) => readFileSync(log, 'utf8').split(words).length - 1
  const started = await startGateway({ mcpServers: { odd: entry(oddServer('odd', { log })) } })
  const neighbour = await openClient('v2 legacy', `${started.url}/mcp`)
  const pid = await neighbour.text('run_tool', { name: 'odd__pid', arguments: {} })
  const starts = lines('start')
  for (let round = 1; round <= 2; round++) {
    // Answered when the server receives a cancellation.
    const waiting = neighbour.text('run_tool', {
      name: 'odd__wait',
      arguments: { ignoresCancellation: true },
    })
    const leave = await ways[name]?.(started)
    await eventually(() => lines('call wait') === 2 * round, 'both calls are under way')
    await leave?.()
    expect(await waiting).toBe('too late')
    expect(lines('cancelled')).toBe(round)
  }
  expect(await neighbour.text('run_tool', { name: 'odd__pid', arguments: {} })).toBe(pid)
  expect(lines('start')).toBe(starts)
})
