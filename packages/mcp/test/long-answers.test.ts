/** A remote server that does not stop to answer: what is read of it has an end, and so has the wait for it. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineServer } from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from './support/processes.js'
import { setup } from './support/setup.js'

type Kind = 'text/event-stream' | 'application/json'
const KINDS: readonly Kind[] = ['text/event-stream', 'application/json']
const MEGABYTE = 'x'.repeat(1024 * 1024)

/** It answers `echo` as it should, `flood` without an end and `hang` with a beginning. */
async function startEndless(type: Kind) {
  const seen = { sent: 0, begun: 0, closed: 0 }
  const flood = (response: ServerResponse) => {
    if (response.destroyed) return
    seen.sent++
    response.write(MEGABYTE, () => setImmediate(flood, response))
  }
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { id, method = '', params = {} } = JSON.parse(Buffer.concat(pieces).toString() || '{}')
    const answer = (result: object) => {
      const text = JSON.stringify({ jsonrpc: '2.0', id, result })
      response.writeHead(200, { 'Content-Type': type })
      // In two pieces, without a length.
      response.write(
        type === 'application/json' ? text.slice(0, 9) : `event: message\r\ndata: ${text.slice(0, 9)}`,
      )
      response.end(type === 'application/json' ? text.slice(9) : `${text.slice(9)}\r\n\r\n`)
    }
    if (method === 'initialize')
      return answer({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'endless', version: '1' },
      })
    const named = ['echo', 'flood', 'hang'].map((name) => ({ name, inputSchema: { type: 'object' } }))
    if (method === 'tools/list') return answer({ tools: named })
    if (method === 'tools/call' && params.name === 'echo')
      return answer({ content: [{ type: 'text', text: 'ok' }] })
    if (method !== 'tools/call')
      return response.writeHead(method === '' ? 405 : method.startsWith('n') ? 202 : 404).end()
    seen.begun++
    response.on('close', () => seen.closed++)
    response.writeHead(200, { 'Content-Type': type })
    response.write(type === 'application/json' ? '{"jsonrpc":"2.0","id' : 'data: ')
    if (params.name === 'flood') flood(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen }
}

describe.each(KINDS)('an answer as %s', (type) => {
  it('that is longer than a message may be is not read further, and its call fails with the reason', async () => {
    const { url, seen } = await startEndless(type)
    const { text } = await setup([defineServer('endless', { url })])
    await expect(text('endless', 'flood')).rejects.toThrow(
      'endless could not run flood: the server sent a message of more than 64 MB',
    )
    await eventually(() => seen.closed === 1, 'the answer is closed')
    // Data in buffers counts, too.
    expect(seen.sent).toBeLessThan(200)
    expect(await text('endless', 'echo')).toBe('ok')
  })

  it('is not read on when its call is cancelled, or has timed out', async () => {
    const { url, seen } = await startEndless(type)
    // Two servers: the timeout must not end the call that is cancelled.
    const { text } = await setup([
      defineServer('hasty', { url }, { timeout: 200 }),
      defineServer('endless', { url }),
    ])
    await expect(text('hasty', 'hang')).rejects.toMatchObject({ kind: 'timeout' })
    const cancelling = new AbortController()
    const cancelled = text('endless', 'hang', {}, { signal: cancelling.signal })
    await eventually(() => seen.begun === 2, 'it has begun')
    cancelling.abort()
    await expect(cancelled).rejects.toMatchObject({ kind: 'cancelled' })
    await eventually(() => seen.closed === 2, 'both answers are closed')
    expect(await text('endless', 'echo')).toBe('ok')
  })
})
