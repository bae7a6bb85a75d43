/** Events that must not stop a gateway that runs for days, and nothing untrusted runs. */
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { trustedProjects } from '@toolwell/gateway'
import { loadConfig } from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually } from '../../mcp/test/support/processes.js'
import { listSettled, openClient } from './support/clients.js'
import { authorized, entry, type Started, startGateway, temporary } from './support/gateway.js'

const odd = () => ({ odd: entry(oddServer('odd')) })
const inFolder = (folder: string) => ({ ...authorized, 'X-Toolwell-Workspace': encodeURI(folder) })

async function stillServes({ url }: Started): Promise<void> {
  const client = await openClient('v2 modern', `${url}/mcp`)
  expect(await client.text('run_tool', { name: 'odd__echo', arguments: {} })).toBe('{}')
}

/** Sends a raw request and returns everything until the connection ends. Keeps its own side open. */
function send({ port }: Started, lines: readonly string[]) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let said = ''
  socket.on('data', (data) => {
    said += String(data)
  })
  socket.on('error', () => undefined)
  const ended = new Promise<string>((resolve) => socket.once('end', () => resolve(said)))
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return { socket, ended }
}

describe('requests', () => {
  it.each(['/', '//', '//evil', 'http://[', '/%'])('to %s are refused, also to upgrade', async (path) => {
    const started = await startGateway({ mcpServers: odd() })
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket']
    for (const host of ['evil.example', `127.0.0.1:${started.port}`])
      for (const more of [upgrade, ['Connection: close']]) {
        const { socket, ended } = send(started, [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...more])
        expect(await ended).toMatch(/^HTTP\/1\.1 4\d\d /)
        socket.destroy()
      }
    await stillServes(started)
  })

  it('that are refused and left half open are not waited for', async () => {
    const started = await startGateway({ mcpServers: odd() })
    const sent = ['GET /mcp HTTP/1.1', 'Host: evil', 'Connection: Upgrade', 'Upgrade: x']
    const sockets = Array.from({ length: 20 }, () => send(started, sent))
    for (const { ended } of sockets) expect(await ended).toContain('403')
    await started.gateway.close()
    for (const { socket } of sockets) socket.destroy()
  })
})

describe('requests in an unusual form', () => {
  const asked = ({ port }: Started, target: string, host: string) => {
    const greeting = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: greeting })
    return [
      `POST ${target.replace('PORT', String(port))} HTTP/1.1`,
      `Host: ${host.replace('PORT', String(port))}`,
      `Authorization: ${authorized.Authorization}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Content-Length: ${body.length}`,
      'Connection: close',
      '',
      body,
    ]
  }

  it.each([
    ['http://127.0.0.1:PORT/mcp', '127.0.0.1:PORT', 200],
    ['http://localhost:PORT/mcp/few', 'localhost:PORT', 200],
    ['http://evil.example/mcp', '127.0.0.1', 403],
    ['http://a@127.0.0.1:PORT/mcp', '127.0.0.1:PORT', 200],
    ['/mcp', 'a@127.0.0.1', 403],
    ['/mcp', '127.0.0.1/a', 403],
    ['/mcp', '127.0.0.1', 200],
  ])('to %s of %s get %i', async (target, host, status) => {
    const started = await startGateway({ mcpServers: odd(), profiles: { few: { servers: ['odd'] } } })
    const { socket } = send(started, asked(started, target, host))
    const [said] = await once(socket, 'data')
    expect(String(said).split('\r\n')[0]).toContain(`HTTP/1.1 ${status} `)
    socket.destroy()
  })

  it.each(['h2c', 'websocket', 'TLS/1.2, h2c'])(
    'that would upgrade to %s are answered as if they had not asked, bodies and all',
    async (protocol) => {
      const started = await startGateway({
        mcpServers: { odd: entry(oddServer('odd'), { maxResultTokens: 0 }) },
      })
      const upgrade = [
        'Connection: Upgrade, HTTP2-Settings',
        `Upgrade: ${protocol}`,
        'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
      ]
      const head = (more: string[]) =>
        `${[
          'POST /mcp HTTP/1.1',
          `Host: 127.0.0.1:${started.port}`,
          `Authorization: ${authorized.Authorization}`,
          'Content-Type: application/json',
          'Accept: application/json, text/event-stream',
          'MCP-Protocol-Version: 2026-07-28',
          'Mcp-Method: tools/call',
          'Mcp-Name: run_tool',
          ...upgrade,
          ...more,
        ].join('\r\n')}\r\n\r\n`
      const text = `é${'x'.repeat(1_000_000)}z`
      const body = Buffer.from(
        JSON.stringify({
          ...{ jsonrpc: '2.0', id: 'a', method: 'tools/call' },
          params: {
            ...{ name: 'run_tool', arguments: { name: 'odd__echo', arguments: { text } } },
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
              'io.modelcontextprotocol/clientCapabilities': {},
            },
          },
        }),
      )
      const socket = connect({ port: started.port, host: '127.0.0.1' })
      onTestFinished(() => void socket.destroy())
      let said = ''
      socket.on('data', (data) => {
        said += String(data)
      })
      const answers = (count: number) =>
        eventually(() => said.split('xz').length === count + 1, `answer ${count} on one connection`)
      // On one connection: a body at once, a body after its headers, and a chunked body.
      socket.write(Buffer.concat([Buffer.from(head([`Content-Length: ${body.length}`])), body]))
      await answers(1)
      socket.write(head([`Content-Length: ${body.length}`, 'Expect: 100-continue']))
      await eventually(() => said.includes('100 Continue'), 'it is to go on')
      socket.write(body)
      await answers(2)
      socket.write(head(['Transfer-Encoding: chunked']))
      for (const piece of [body.subarray(0, 7), body.subarray(7)]) {
        socket.write(`${piece.length.toString(16)}\r\n`)
        socket.write(piece)
        socket.write('\r\n')
      }
      socket.write('0\r\n\r\n')
      await answers(3)
      expect(said.match(/HTTP\/1\.1 200/g)).toHaveLength(3)
      await started.gateway.close()
    },
  )

  it('with headers that are too large get an error', async () => {
    const started = await startGateway({ mcpServers: odd() })
    const workspace = `X-Toolwell-Workspace: /${'a'.repeat(100_000)}`
    const { socket, ended } = send(started, ['GET /mcp HTTP/1.1', 'Host: 127.0.0.1', workspace])
    expect(await ended).toMatch(
      /^HTTP\/1\.1 431 [\s\S]*headers of a request must not be larger than \d+ bytes/,
    )
    socket.destroy()
  })
})

it('a stream that has nothing to say yet has begun all the same', async () => {
  // Without servers, no list change is announced.
  const { url } = await startGateway({ mcpServers: {} })
  const headers = { ...authorized, Accept: 'application/json, text/event-stream' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } }
  const begun = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  const session = { 'Mcp-Session-Id': begun.headers.get('mcp-session-id') ?? '' }
  const listening = new AbortController()
  // The server's first keep-alive would come after fifteen seconds.
  const late = setTimeout(() => listening.abort(), 12_000)
  const stream = await fetch(`${url}/mcp`, { headers: { ...headers, ...session }, signal: listening.signal })
  expect(stream.status).toBe(200)
  clearTimeout(late)
  listening.abort()
})

it('a removed profile is as unknown as one that never existed, until it is back', async () => {
  const profiles = { few: { servers: ['odd'] } }
  const started = await startGateway({ mcpServers: odd(), profiles })
  const way = `${started.url}/mcp/few`
  const staying = await openClient('v1', way)
  const client = await openClient('v2 modern', way)
  await Promise.all([client.list(), staying.list()])
  started.write({ mcpServers: odd() })
  await eventually(() => started.of('config-read').length > 0, 'the config is read')
  // The client may still use its cached list.
  await expect(client.text('find_tools', { query: 'echo' })).rejects.toThrow(/Unknown profile \\"few\\"/)
  for (const kind of ['v1', 'v2 modern'] as const)
    await expect(openClient(kind, way)).rejects.toThrow(/Unknown profile \\"few\\"/)
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: toolwell-stdio',
    `Authorization: ${authorized.Authorization}`,
  ]
  const { socket, ended } = send(started, ['GET /mcp/few HTTP/1.1', 'Host: 127.0.0.1', ...upgrade])
  expect(await ended).toMatch(/^HTTP\/1\.1 400 [\s\S]*Unknown profile/)
  socket.destroy()
  started.write({ mcpServers: odd(), profiles })
  await eventually(() => started.of('config-read').length > 1, 'the config is read again')
  for (const each of [client, staying]) expect(await each.list()).toHaveLength(3)
})

it('keeps serving when the profile of a connected client is removed', async () => {
  const started = await startGateway({ mcpServers: odd(), profiles: { few: { servers: ['odd'] } } })
  const client = await openClient('v1', `${started.url}/mcp/few`)
  await client.list()
  started.write({ mcpServers: odd() })
  await eventually(() => started.of('config-read').length > 0, 'the config is read')
  await stillServes(started)
  await expect(client.list()).rejects.toThrow(/Unknown profile "few"/)
})

it('takes no profile that is called like the way to every tool', async () => {
  const config = { mcpServers: odd(), profiles: { all: { servers: [] } } }
  const started = await startGateway(config)
  const { problems } = loadConfig({ files: [started.config] })
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('can be called "all"')])
  const client = await openClient('v2 modern', `${started.url}/mcp/all`)
  expect((await client.list()).length).toBeGreaterThan(0)
})

it.each(['.', '..', '%2e', './all', 'few/..', '..\\mcp', '../mcp?x', ''])(
  'gives nobody all tools who asks for those of the profile %j',
  async (profile) => {
    const started = await startGateway({ mcpServers: odd(), profiles: { '.': {}, '..': {}, few: {} } })
    const token = `Authorization: ${authorized.Authorization}`
    const upgrade = ['Connection: Upgrade', 'Upgrade: toolwell-stdio']
    for (const more of [upgrade, ['Connection: close']]) {
      const lines = [`GET /mcp/${profile} HTTP/1.1`, 'Host: 127.0.0.1', token, ...more]
      const { socket, ended } = send(started, lines)
      expect(await ended).toMatch(/^HTTP\/1\.1 40[04] /)
      socket.destroy()
    }
  },
)

it('keeps serving when the folder of a caller becomes a file', async () => {
  const folder = join(temporary(), 'work')
  mkdirSync(folder)
  const user = join(temporary(), 'user.json')
  writeFileSync(user, JSON.stringify({ mcpServers: odd() }))
  const started = await startGateway(
    { mcpServers: odd() },
    {
      files: (workspace) => [
        { path: user },
        ...(workspace ? [{ path: join(workspace, 'toolwell.json') }] : []),
      ],
    },
  )
  const client = await openClient('v2 modern', `${started.url}/mcp`, inFolder(folder))
  await listSettled(client)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, '')
  writeFileSync(user, JSON.stringify({ mcpServers: { ...odd(), more: entry(oddServer('more')) } }))
  await eventually(() => started.of('config-read').length > 0, 'the config is read again')
  await stillServes(started)
  const response = await fetch(`${started.url}/mcp`, {
    method: 'POST',
    headers: inFolder(folder),
    body: '{}',
  })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('must be the path of a folder')
})

it('starts no server of a trusted project’s config after it has changed', async () => {
  const project = temporary()
  const path = join(project, 'toolwell.json')
  const ran = join(project, 'RAN')
  const user = join(temporary(), 'user.json')
  writeFileSync(user, JSON.stringify({ mcpServers: odd() }))
  writeFileSync(path, JSON.stringify({ mcpServers: { mine: entry(oddServer('mine')) } }))
  const trusted = trustedProjects(temporary())
  trusted.add(path)
  const started = await startGateway(
    {},
    {
      files(workspace) {
        const text =
          workspace === undefined ? undefined : trusted.readTrusted(join(workspace, 'toolwell.json'))
        return [{ path: user }, ...(text === undefined ? [] : [{ path, text }])]
      },
    },
  )
  const client = await openClient('v2 modern', `${started.url}/mcp`, inFolder(project))
  expect(await client.text('run_tool', { name: 'mine__echo', arguments: {} })).toBe('{}')
  const program = `require('fs').writeFileSync(${JSON.stringify(ran)}, '')`
  const evil = { command: process.execPath, args: ['-e', program] }
  writeFileSync(path, JSON.stringify({ mcpServers: { mine: entry(oddServer('mine')), evil } }))
  const call = () => client.text('run_tool', { name: 'mine__echo', arguments: {} })
  await expect.poll(call, { timeout: 200_000 }).toMatch(/no tool/)
  await stillServes(started)
  expect(existsSync(ran)).toBe(false)
  trusted.add(path)
  await eventually(() => existsSync(ran), 'what is trusted again is used')
})
