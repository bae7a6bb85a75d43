/** Calls of a remote server that are answered with an error of HTTP, or with half an answer: the caller reads whether it may have run. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineServer } from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startModern } from './support/http-servers.js'
import { eventually } from './support/processes.js'
import { setup } from './support/setup.js'

type Answer = (response: ServerResponse, id: unknown) => void

const UNKNOWN = 'The call may have taken effect; check before you call it again'
const PAGE = `<!doctype html><html><head><title>Bad gateway</title><style>body{}</style></head><body><h1>502 Bad Gateway</h1></body></html>`

/** Answers `echo` correctly, and `tool` with the given answer. Streams are resumed with `resumed`. */
async function startServer(
  tool: Answer,
  { resumed, annotations = {} }: { resumed?: Answer; annotations?: object } = {},
) {
  const seen = { calls: 0, sessions: 0 }
  let last: unknown
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { id, method = '', params = {} } = JSON.parse(Buffer.concat(pieces).toString() || '{}')
    const answer = (result: object) =>
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (method === 'initialize') {
      seen.sessions++
      return answer({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'odd', version: '1' },
      })
    }
    if (method === 'tools/list')
      return answer({
        tools: ['echo', 'wait', 'tool'].map((name) => ({
          name,
          inputSchema: { type: 'object' },
          annotations,
        })),
      })
    if (request.method === 'GET' && request.headers['last-event-id'] !== undefined && resumed)
      return resumed(response, last)
    if (method !== 'tools/call')
      return response.writeHead(method === '' ? 405 : method.startsWith('n') ? 202 : 404).end()
    if (params.name === 'echo') return answer({ content: [{ type: 'text', text: 'ok' }] })
    seen.calls++
    last = id
    if (params.name === 'tool') tool(response, id)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen }
}

const status =
  (code: number, body = '', type = 'text/html'): Answer =>
  (response) =>
    response.writeHead(code, { 'Content-Type': type }).end(body)

describe('a call that is answered with a status of HTTP', () => {
  it.each([
    [500, 'oops', `remote answered tool with status 500 ("oops"). ${UNKNOWN}`],
    [502, PAGE, `remote answered tool with status 502. ${UNKNOWN}`],
    [503, '', `remote answered tool with status 503. ${UNKNOWN}`],
    [504, `${'x'.repeat(300)}`, `remote answered tool with status 504 ("${'x'.repeat(160)}"). ${UNKNOWN}`],
  ])('%d may have run, and is not repeated', async (code, body, message) => {
    const { url, seen } = await startServer(status(code, body), { annotations: { readOnlyHint: true } })
    const { text, report } = await setup([defineServer('remote', { url })])
    await expect(text('remote', 'tool')).rejects.toMatchObject({ kind: 'lost', message })
    expect(seen.calls).toBe(1)
    expect(await text('remote', 'echo')).toBe('ok')
    expect(report('remote')).toMatchObject({ state: 'ready', starts: 2 })
  })

  it.each([
    [400, 'Bad <b>request</b>\n', 'remote refused tool: it answered with status 400 ("Bad <b>request</b>")'],
    [409, PAGE, 'remote refused tool: it answered with status 409'],
    [413, '', 'remote refused tool: it answered with status 413'],
    [429, 'slow down', 'remote refused tool: it answered with status 429 ("slow down")'],
  ])('%d was refused', async (code, body, message) => {
    const { url } = await startServer(status(code, body))
    const { text } = await setup([defineServer('remote', { url })])
    await expect(text('remote', 'tool')).rejects.toMatchObject({ kind: 'error', message })
    expect(await text('remote', 'echo')).toBe('ok')
  })

  it('404 has not run: it is called once more, and no page is shown', async () => {
    const { url, seen } = await startServer(status(404, PAGE))
    const { text } = await setup([defineServer('remote', { url })])
    await expect(text('remote', 'tool')).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'remote cannot be used: it answered with status 404',
    })
    expect(seen.calls).toBe(2)
  })

  it('shows no secret of the config', async () => {
    const { url } = await startServer(status(500, 'no such key: hidden-7f3a9c'))
    const { text } = await setup([defineServer('remote', { url, headers: { 'X-Key': 'hidden-7f3a9c' } })])
    await expect(text('remote', 'tool')).rejects.toThrow(/status 500 \("no such key: (?!hidden)/)
  })
})

describe('an answer that breaks off', () => {
  const stream = (response: ServerResponse, head: string) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(head)
  }
  const cut =
    (head: string): Answer =>
    (response) => {
      stream(response, head)
      setImmediate(() => response.socket?.destroy())
    }
  const ended: Answer = (response) => {
    stream(response, ': hello\n\n')
    response.end()
  }
  const LOST = {
    kind: 'lost',
    message: `remote was lost while it ran tool: its answer was interrupted. ${UNKNOWN}`,
  }
  // A call that waited for this timeout would outlast the test.
  const patient = { timeout: 600_000 }

  it.each([
    ['before it has begun', cut(': hello\n\n')],
    ['in the middle', cut('data: {"jsonrpc":"2.0","id":')],
    ['by being at its end', ended],
  ])('reports %s at once, and does not disturb other calls', async (_, tool) => {
    const { url, seen } = await startServer(tool)
    const { text, report } = await setup([defineServer('remote', { url }, patient)])
    const other = new AbortController()
    const waiting = text('remote', 'wait', {}, { signal: other.signal })
    waiting.catch(() => undefined)
    await eventually(() => seen.calls === 1, 'the other call is under way')
    await expect(text('remote', 'tool')).rejects.toMatchObject(LOST)
    expect(seen.calls).toBe(2)
    expect(await text('remote', 'echo')).toBe('ok')
    expect(report('remote')).toMatchObject({ state: 'ready', starts: 2 })
    other.abort()
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' })
  })

  it('is requested once more if that is harmless', async () => {
    const { url, seen } = await startServer(cut(''), { annotations: { readOnlyHint: true } })
    const { text } = await setup([defineServer('remote', { url }, patient)])
    await expect(text('remote', 'tool')).rejects.toMatchObject(LOST)
    expect(seen).toEqual({ calls: 2, sessions: 2 })
  })

  it('resumes if the server says how, and is reported if not', async () => {
    const tool = cut('id: 5\nretry: 10\ndata: \n\n')
    const resumed: Answer = (response, id) => {
      const result = { content: [{ type: 'text', text: 'after all' }] }
      stream(response, `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
      response.end()
    }
    const able = await setup([
      defineServer('remote', { url: (await startServer(tool, { resumed })).url }, patient),
    ])
    expect(await able.text('remote', 'tool')).toBe('after all')
    const unable = await setup([defineServer('remote', { url: (await startServer(tool)).url }, patient)])
    await expect(unable.text('remote', 'tool')).rejects.toMatchObject(LOST)
  })

  it('is reported in the newer protocol, too', async () => {
    const { url } = await startModern({
      before: (request, response) => {
        if (request.headers['mcp-method'] !== 'tools/call') return false
        cut(': hello\n\n')(response, undefined)
        return true
      },
    })
    const { servers } = await setup([defineServer('remote', { url }, patient)])
    await expect(servers.call('remote', 'echo', {})).rejects.toMatchObject({ kind: 'lost' })
  })
})
