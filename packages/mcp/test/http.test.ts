/** Servers over HTTP, of both eras of the protocol and of the old kind with SSE. */

import { fileURLToPath } from 'node:url'
import { defineServer, McpFailure } from '@toolwell/mcp'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LoginNeed } from '../src/upstream/retries.js'
import { startEverything, startModern } from './support/http-servers.js'
import { eventually } from './support/processes.js'
import { setup } from './support/setup.js'

describe('a real server', () => {
  it.each(['streamableHttp', 'sse'] as const)('is used over %s without a configured type', async (kind) => {
    const { url } = await startEverything(kind)
    const { text, report } = await setup([defineServer('everything', { url })])
    expect(report('everything')).toMatchObject({ state: 'cached', era: 'legacy' })
    expect(report('everything').tools.length).toBeGreaterThan(5)
    expect(await text('everything', 'echo', { message: 'hello' })).toBe('Echo: hello')
  })

  it('that was restarted, and has lost its sessions, is reached again for the next call', async () => {
    const first = await startEverything('streamableHttp')
    const { text, states } = await setup([defineServer('everything', { url: first.url })])
    expect(await text('everything', 'echo', { message: 'one' })).toBe('Echo: one')
    await first.stop()
    await startEverything('streamableHttp', first.port)
    expect(await text('everything', 'echo', { message: 'two' })).toBe('Echo: two')
    expect(states('everything').filter((state) => state === 'ready')).toHaveLength(2)
  })

  it('that is gone is said to be gone', async () => {
    const server = await startEverything('streamableHttp')
    const { text } = await setup([defineServer('everything', { url: server.url })])
    await server.stop()
    const failure = await text('everything', 'echo', { message: 'x' }).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/cannot be used: .*ECONNREFUSED/),
    })
  })
})

describe('a server of the newer protocol', () => {
  it('is found to be one, and used', async () => {
    const { url } = await startModern()
    const { text, report } = await setup([defineServer('modern', { url })])
    expect(report('modern')).toMatchObject({ state: 'cached', era: 'modern', tools: ['ask', 'echo'] })
    expect(await text('modern', 'echo', { a: 1 })).toBe('{"a":1}')
  })

  it('is used on standard input and output too', async () => {
    const program = fileURLToPath(new URL('support/modern-server.mjs', import.meta.url))
    const { text, report } = await setup([
      defineServer('modern', { command: process.execPath, args: [program, 'stdio'] }),
    ])
    expect(report('modern')).toMatchObject({ era: 'modern' })
    expect(await text('modern', 'echo', { a: 1 })).toBe('{"a":1}')
  })

  it('gets arguments as headers where a tool asks for it', async () => {
    const seen: (string | undefined)[] = []
    const { url } = await startModern({
      before: (request) => {
        if (request.headers['mcp-method'] === 'tools/call')
          seen.push(String(request.headers['mcp-param-region']))
        return false
      },
    })
    const { text } = await setup([defineServer('modern', { url })])
    await text('modern', 'echo', { region: 'north' })
    expect(seen).toEqual(['north'])
  })

  it('announces a changed list on a separate stream', async () => {
    const tools = ['echo']
    const server = await startModern({ tools })
    const { text, well } = await setup([defineServer('modern', { url: server.url })])
    await text('modern', 'echo')
    tools.push('later')
    server.notify()
    await eventually(() => well.catalogue.get('modern/later') !== undefined, 'the new tool joined')
    expect(await text('modern', 'later', { a: 1 })).toBe('{"a":1}')
  })
})

describe('a server that wants a login', () => {
  it('is in the state needs-login, with the command to run, and used when there is a token', async () => {
    let token = 'right'
    const { url } = await startModern({
      before: (request, response) => {
        if (request.headers.authorization === 'Bearer right') return false
        response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
        return true
      },
    })
    const { report, servers } = await setup([defineServer('closed', { url })])
    expect(report('closed')).toMatchObject({
      state: 'needs-login',
      reason: 'closed asks for a login: run toolwell login closed',
    })
    await expect(servers.call('closed', 'echo', {})).rejects.toMatchObject({ kind: 'needs-login' })

    const open = await setup([defineServer('closed', { url })], {
      auth: () => ({ token: async () => token }),
    })
    expect(open.report('closed').state).toBe('cached')
    expect(await open.text('closed', 'echo', { a: 1 })).toBe('{"a":1}')
    token = 'expired'
    await expect(open.text('closed', 'echo')).rejects.toMatchObject({ kind: 'needs-login' })
    expect(open.report('closed').state).toBe('needs-login')
    expect(open.well.catalogue.sources.get('closed')?.state).toBe('needs-login')
    token = 'right'
    expect(await open.text('closed', 'echo', { a: 2 })).toBe('{"a":2}')
    expect(open.report('closed').state).toBe('ready')
  })

  it('for one call only is used again by itself', async () => {
    const { url } = await startModern({
      tools: ['echo', 'closed'],
      before: (request, response) => {
        if (request.headers['mcp-name'] !== 'closed') return false
        response.writeHead(401).end()
        return true
      },
    })
    const { text, report, states, well } = await setup([defineServer('remote', { url })])
    await expect(text('remote', 'closed')).rejects.toMatchObject({ kind: 'needs-login' })
    await eventually(() => report('remote').state === 'ready', 'it is used again')
    expect(well.catalogue.sources.get('remote')?.state).toBe('ready')
    expect(report('remote').reason).toBe('')
    expect(states('remote')).toContain('needs-login')
    expect(await text('remote', 'echo', { a: 1 })).toBe('{"a":1}')
  })

  it.each([true, false])('and lets everybody in again is found out, known before: %s', async (isKnown) => {
    let isOpen = isKnown
    let asked = 0
    const { url } = await startModern({
      before: (_, response) => {
        if (isOpen) return false
        asked++
        response.writeHead(401).end()
        return true
      },
    })
    const { text, report, events } = await setup([defineServer('remote', { url })])
    if (isKnown) expect(await text('remote', 'echo', { a: 1 })).toBe('{"a":1}')
    isOpen = false
    await expect(text('remote', 'echo')).rejects.toMatchObject({ kind: 'needs-login' })
    const before = asked
    await eventually(() => asked > before, 'it was tried again')
    expect(report('remote').state).toBe('needs-login')
    isOpen = true
    await eventually(() => report('remote').state !== 'needs-login', 'it is let in')
    expect(report('remote').reason).toBe('')
    expect(await text('remote', 'echo', { a: 2 })).toBe('{"a":2}')
    expect(events.filter((event) => event.kind === 'warning' && event.code === 'list-failed')).toEqual([])
  })

  it('is tried less and less often', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    let tries = 0
    const need = new LoginNeed(
      () => undefined,
      async () => {
        tries++
      },
    )
    need.set(true)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(tries).toBe(5)
    await vi.advanceTimersByTimeAsync(86_400_000)
    expect(tries).toBeLessThan(160)
    need.end()
    expect(vi.getTimerCount()).toBe(0)
  })
})

it.each([
  ['answers nonsense', 200, 'text/html', '<html>'],
  ['answers with a server error', 500, 'text/plain', 'secret-detail'],
  ['is something else', 404, 'text/plain', 'not found'],
])('a url that %s is a server that failed, with the reason', async (_, status, type, body) => {
  const { url } = await startModern({
    before: (_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(body)
      return true
    },
  })
  const address = url.replace('http://', 'http://ada:hunter22@').concat('?token=verysecret')
  const { report, servers } = await setup([defineServer('wrong', { url: address })])
  expect(report('wrong')).toMatchObject({
    state: 'failed',
    reason: expect.stringMatching(/^wrong cannot be used: ./),
  })
  expect(JSON.stringify(report('wrong'))).not.toMatch(/hunter22|verysecret/)
  const failure = await servers.call('wrong', 'echo', {}).catch((error: unknown) => error)
  expect(McpFailure.is(failure)).toBe(true)
})
