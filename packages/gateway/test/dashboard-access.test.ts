/** Access to the dashboard over the wire: links, cookies, CSRF tokens, hosts and origins. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileStorage, hashToken } from '@toolwell/gateway/storage'
import { describe, expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { openClient } from './support/clients.js'
import { ask, createLink, KEY, openDashboard } from './support/dashboard.js'
import { authorized, entry, startGateway, temporary } from './support/gateway.js'

const EMPTY = { mcpServers: {} }
const two = {
  mcpServers: {
    files: entry(oddServer('files', { tools: [describedTool('read_file')] })),
    notes: entry(oddServer('notes', { tools: [describedTool('write_note')] })),
  },
}

describe('a link', () => {
  it('works once, and sets a cookie that scripts and other sites cannot read', async () => {
    const started = await startGateway(EMPTY, { key: KEY })
    const link = await createLink(started)
    const first = await ask(started, link)
    expect(first.status).toBe(303)
    // Browsers send the part after # to nobody.
    expect(first.headers.location).toMatch(/^\/dashboard\/#[\w-]{32}$/)
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(
        new RegExp(`^toolwell_${started.port}=[\\w-]{32}; Path=/dashboard; HttpOnly; SameSite=Strict$`),
      ),
    ])
    const again = await ask(started, link)
    expect(again.status).toBe(401)
    expect(again.headers['set-cookie']).toBeUndefined()
    expect(again.text).toContain('toolwell dashboard')
  })

  it('expires after two minutes', async () => {
    let now = Date.now()
    const started = await startGateway(EMPTY, { key: KEY, now: () => now })
    const [late, good] = [await createLink(started), await createLink(started)]
    now += 119_000
    expect((await ask(started, good)).status).toBe(303)
    now += 1000
    expect((await ask(started, late)).status).toBe(401)
  })

  it('is created for the key of the daemon only, not for the token of the owner', async () => {
    const started = await startGateway(EMPTY, { key: KEY })
    for (const headers of [authorized, {}])
      expect((await ask(started, '/dashboard/link', { method: 'POST', headers })).status).toBe(403)
    const headers = { Authorization: `Bearer ${KEY}` }
    expect((await ask(started, '/dashboard/link', { headers })).status).toBe(403)
  })
})

describe('the page', () => {
  const page = () => {
    const folder = join(temporary(), 'page')
    mkdirSync(join(folder, 'assets'), { recursive: true })
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>page</title>')
    writeFileSync(join(folder, 'assets', 'main-1a.js'), 'export {}')
    writeFileSync(join(folder, '..', 'outside.txt'), 'outside')
    return folder
  }

  it('needs the cookie, and forbids frames, foreign content and caching', async () => {
    const opened = await openDashboard(EMPTY, { dashboard: page() })
    const headers = { Cookie: opened.cookie }
    expect((await ask(opened, '/dashboard/')).status).toBe(401)
    expect((await ask(opened, '/dashboard/', { headers: authorized })).status).toBe(401)
    const found = await ask(opened, '/dashboard/', { headers })
    expect(found.text).toContain('<title>page')
    expect(found.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining("default-src 'self'"),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    })
    const script = await ask(opened, '/dashboard/assets/main-1a.js', { headers })
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect((await ask(opened, '/dashboard/tools', { headers })).text).toContain('<title>page')
  })

  it('gives no file outside of its folder', async () => {
    const opened = await openDashboard(EMPTY, { dashboard: page() })
    for (const path of [
      '../outside.txt',
      '..%2foutside.txt',
      '%2e%2e/outside.txt',
      'assets/..%2f..%2foutside.txt',
    ])
      expect((await ask(opened, `/dashboard/${path}`, { headers: { Cookie: opened.cookie } })).text).not.toBe(
        'outside',
      )
  })
})

describe('the API of the page', () => {
  it('refuses requests without the cookie, whatever their token', async () => {
    const opened = await openDashboard(EMPTY)
    const wrong = `toolwell_${opened.port}=${'a'.repeat(32)}`
    const refused: Record<string, string>[] = [
      {},
      authorized,
      { Authorization: `Bearer ${KEY}` },
      { Cookie: wrong },
    ]
    for (const headers of refused)
      for (const [method, route] of [
        ['GET', 'session'],
        ['GET', 'now'],
        ['GET', 'events'],
        ['POST', 'approvals'],
        ['POST', 'changes'],
      ] as const) {
        const answer = await ask(opened, `/dashboard/api/${route}`, { method, headers })
        expect([route, answer.status, answer.body.error.code]).toEqual([route, 401, 'no-cookie'])
      }
  })

  it('refuses programs at other ports, to which browsers send the cookie too', async () => {
    const { cookie, ...opened } = await openDashboard(two)
    for (const csrf of ['', 'a'.repeat(32)])
      for (const [method, route] of [
        ['GET', 'session'],
        ['GET', 'calls'],
        ['GET', `events?csrf=${csrf}`],
        ['POST', 'approvals'],
      ] as const) {
        const headers = { Cookie: cookie, 'X-Toolwell-Csrf': csrf }
        const answer = await ask(opened, `/dashboard/api/${route}`, { method, headers })
        expect([route, answer.status, answer.body?.error.code]).toEqual([route, 401, 'no-csrf-token'])
      }
    expect((await ask(opened, '/dashboard/', { headers: { Cookie: cookie } })).text).not.toContain(
      opened.csrf,
    )
    expect(opened.session).not.toHaveProperty('csrf')
  })

  it('refuses a write by GET and in another format', async () => {
    const { post, get, cookie, csrf, ...opened } = await openDashboard(two)
    const change = { action: 'deny', tools: [{ set: opened.set, server: 'files', tool: 'read_file' }] }
    expect((await post('changes', change, { 'Content-Type': 'text/plain' })).status).toBe(415)
    const headers = { Cookie: cookie, 'X-Toolwell-Csrf': csrf }
    for (const route of ['approvals', 'servers/restart', 'changes/preview'])
      expect((await ask(opened, `/dashboard/api/${route}`, { headers })).status).toBe(405)
    expect(await get('changes')).toEqual({ changes: [] })
  })

  it('refuses other pages, other ports and other host names', async () => {
    const { cookie, csrf, post, ...opened } = await openDashboard(EMPTY)
    const access = { Cookie: cookie, 'X-Toolwell-Csrf': csrf }
    const own = `http://127.0.0.1:${opened.port}`
    const statusOf = async (headers: Record<string, string>) =>
      (await ask(opened, '/dashboard/api/session', { headers: { ...access, ...headers } })).status
    expect(await statusOf({ Origin: own, 'Sec-Fetch-Site': 'same-origin' })).toBe(200)
    expect(await statusOf({ Origin: 'https://evil.example' })).toBe(403)
    expect(await statusOf({ Origin: `http://127.0.0.1:${opened.port + 1}` })).toBe(403)
    expect(await statusOf({ 'Sec-Fetch-Site': 'same-site' })).toBe(403)
    expect(await statusOf({ 'Sec-Fetch-Site': 'cross-site' })).toBe(403)
    // A name that an attacker resolves to this computer.
    expect(await statusOf({ Host: 'evil.example' })).toBe(403)
    expect(
      await statusOf({ Host: `evil.example:${opened.port}`, Origin: `http://evil.example:${opened.port}` }),
    ).toBe(403)
    const foreign = { Origin: `http://localhost:${opened.port + 1}` }
    expect((await post('changes', {}, foreign)).status).toBe(403)
  })

  it('answers broken requests with an error that says what to send', async () => {
    const { post, ...opened } = await openDashboard(two)
    const codeOf = async (route: string, body: unknown) => {
      const answer = await post<{ error: { code: string } }>(route, body)
      return [answer.status, answer.body.error.code]
    }
    expect(await codeOf('changes', [1])).toEqual([400, 'not-json'])
    expect(await codeOf('changes', {})).toEqual([400, 'unknown-action'])
    expect(await codeOf('changes', { action: 'pin', tools: [{}] })).toEqual([400, 'no-tools'])
    expect(await codeOf('approvals', { server: 'files' })).toEqual([400, 'bad-request'])
    expect(await codeOf('servers/restart', { set: opened.set, server: 'toString' })).toEqual([
      404,
      'unknown-server',
    ])
    expect(await codeOf('nothing', {})).toEqual([404, 'unknown-path'])
    expect(await codeOf('changes/12/undo', {})).toEqual([404, 'unknown-change'])
  })
})

describe('/api/v1', () => {
  it('hides calls of an earlier token with the same name', async () => {
    const storage = fileStorage(temporary())
    const started = await startGateway(two, { storage })
    const callsOf = async (secret: string, work: (headers: Record<string, string>) => Promise<unknown>) => {
      const headers = { Authorization: `Bearer ${secret}` }
      await storage.tokens.remove('ci')
      const createdAt = Date.now()
      await storage.tokens.add({
        name: 'ci',
        hash: hashToken(secret),
        createdAt,
        rights: { servers: ['files', 'notes'] },
      })
      await work(headers)
      return (await ask<{ calls: object[] }>(started, '/api/v1/calls', { headers })).body.calls
    }
    const first = await callsOf('tw_the-first-token-of-this-name', async (headers) => {
      const client = await openClient('v2 modern', `${started.url}/mcp`, headers)
      await client.call('run_tool', { name: 'files__read_file', arguments: {} })
    })
    expect(first).toHaveLength(1)
    expect(await callsOf('tw_the-second-token-of-this-name', async () => undefined)).toEqual([])
  })

  it('shows a token what its rights name, and its own calls', async () => {
    const folder = temporary()
    const storage = fileStorage(folder)
    const secret = 'tw_notes-is-a-token-for-tests-only'
    const rights = { servers: ['notes'] }
    await storage.tokens.add({ name: 'notes', hash: hashToken(secret), createdAt: 0, rights })
    const started = await startGateway(two, { storage })
    const limited = { Authorization: `Bearer ${secret}` }
    const call = async (headers: Record<string, string>, name: string) => {
      const client = await openClient('v2 modern', `${started.url}/mcp`, headers)
      await client.call('run_tool', { name, arguments: {} })
    }
    await call(authorized, 'files__read_file')
    await call(authorized, 'notes__write_note')
    await call(limited, 'notes__write_note')
    const get = async <T>(path: string, headers: Record<string, string>) =>
      (await ask<T>(started, `/api/v1/${path}`, { headers })).body
    type Named = { name: string }[]
    const servers = async (headers: Record<string, string>) =>
      (await get<{ servers: Named }>('servers', headers)).servers.map(({ name }) => name)
    expect(await servers(authorized)).toEqual(['files', 'notes'])
    expect(await servers(limited)).toEqual(['notes'])
    const own = await get<{ servers: object[] }>('servers', limited)
    expect(own.servers[0]).not.toHaveProperty('endpoint')
    const tools = async (headers: Record<string, string>) =>
      (await get<{ tools: { server: string }[] }>('tools', headers)).tools.map(({ server }) => server)
    expect(await tools(authorized)).toEqual(['files', 'notes'])
    expect(await tools(limited)).toEqual(['notes'])
    const calls = async (headers: Record<string, string>) =>
      (await get<{ calls: { principal: string; tool: string }[] }>('calls', headers)).calls.map(
        ({ principal, tool }) => `${principal} ${tool}`,
      )
    expect(await calls(authorized)).toEqual(['notes write_note', 'owner write_note', 'owner read_file'])
    expect(await calls(limited)).toEqual(['notes write_note'])
    expect((await ask(started, '/api/v1/calls')).status).toBe(401)
    expect((await ask(started, '/api/v1/calls', { method: 'POST', headers: authorized })).status).toBe(405)
    expect((await ask(started, '/api/v1/approvals', { headers: authorized })).status).toBe(404)
  })
})
