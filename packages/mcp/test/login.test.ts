/** Logins to remote servers: a real authorization server on loopback, a real MCP server behind it. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  defineServer,
  diskLogins,
  LoginError,
  type LoginOptions,
  type LoginStore,
  login,
  logout,
  McpFailure,
  type ServerConfig,
  type ServerOptions,
  type ServerWarning,
} from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import type { Callback } from '../src/auth/ask-user.js'
import { waitForAnswer } from '../src/auth/ask-user.js'
import { createAttempt, createDraft } from '../src/auth/login-attempt.js'
import { browse, startProtected } from './support/auth-server.js'
import { startEverything, startModern } from './support/http-servers.js'
import { startLoginHost } from './support/login-hosts.js'
import { play } from './support/play.js'
import { eventually } from './support/processes.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

/** A user who opens every address and agrees to everything. */
const agree = (pages: string[] = []): Pick<LoginOptions, 'onAddress'> => ({
  onAddress(address) {
    void browse(address).then(({ page }) => pages.push(page))
  },
})

const only = (folder: string) =>
  join(folder, readdirSync(folder).find((name) => name.endsWith('.json')) ?? '')

async function loggedIn(options: Parameters<typeof startProtected>[0] = {}, more: ServerOptions = {}) {
  const remote = await startProtected(options)
  const folder = temporary()
  const store = diskLogins({ folder })
  const server = defineServer('notes', { url: remote.url }, more)
  const result = await login(server, { store, ...agree() })
  return { remote, folder, store, server, result }
}

describe('a login', () => {
  it('finds out where, registers, asks for what the server names, and keeps tokens that only the user can read', async () => {
    const remote = await startProtected({ expiresIn: 3600 })
    const folder = join(temporary(), 'deep', 'logins')
    const store = diskLogins({ folder })
    const server = defineServer('notes', { url: remote.url })
    const pages: string[] = []
    const before = Date.now()
    const result = await login(server, { store, ...agree(pages) })
    expect(result).toEqual({
      server: 'notes',
      issuer: remote.issuer,
      scopes: ['notes:read'],
      expiresAt: expect.any(Number),
      renewable: true,
    })
    expect(result.expiresAt).toBeGreaterThanOrEqual(before + 3_600_000)
    await eventually(() => pages.length > 0, 'the page was shown')
    expect(pages[0]).toContain('<h1>Logged in</h1>')
    const { parameters } = remote.asked.find(({ path }) => path === '/authorize') ?? {}
    expect(parameters).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: remote.url,
      scope: 'notes:read',
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    })
    expect(parameters?.state).toMatch(/^[\w-]{43}$/)
    const exchange = remote.asked.find(({ path }) => path === '/token')
    expect(exchange?.parameters).toMatchObject({ resource: remote.url, client_id: parameters?.client_id })
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(readdirSync(folder)).toHaveLength(1)
    expect(statSync(only(folder)).mode & 0o777).toBe(0o600)
  })

  it('makes the server usable, and its absence gives a message with the command', async () => {
    const { url } = await startProtected()
    const store = diskLogins({ folder: temporary() })
    const server = defineServer('notes', { url })
    const { report, servers, well, text, states, events } = await setup([server], { logins: store })
    const words = 'notes asks for a login: run toolwell login notes'
    expect(report('notes')).toMatchObject({ state: 'needs-login', reason: words })
    expect(events).toContainEqual({
      kind: 'server-state',
      server: 'notes',
      state: 'needs-login',
      reason: words,
    })
    await expect(servers.call('notes', 'echo', {})).rejects.toMatchObject({
      kind: 'needs-login',
      message: words,
    })
    expect(well.catalogue.sources.get('notes')).toMatchObject({
      state: 'needs-login',
      advice: 'run toolwell login notes',
    })
    await login(server, { store, ...agree() })
    // Nobody tells the program; it looks.
    await eventually(() => well.catalogue.get('notes/echo') !== undefined, 'the tools joined')
    expect(await text('notes', 'echo', { a: 1 })).toBe('{"a":1}')
    expect(states('notes').at(-1)).toBe('ready')
  })

  it('works for the next call, too, without a moment for anybody to look', async () => {
    const { url } = await startProtected()
    const store = diskLogins({ folder: temporary() })
    const server = defineServer('notes', { url })
    const { text, report } = await setup([server], { logins: store })
    await login(server, { store, ...agree() })
    expect(await text('notes', 'echo', { a: 1 })).toBe('{"a":1}')
    expect(report('notes').state).toBe('ready')
  })

  it('is named to the model that searches, with the command for its user', async () => {
    const { url } = await startProtected()
    const { well } = await setup([defineServer('my notes', { url })], {
      logins: diskLogins({ folder: temporary() }),
    })
    const { search } = await play(well, 'c')
    expect(await search('echo')).toContain('needs-login (run toolwell login "my notes")')
  })

  it('uses a client of the config, with its secret', async () => {
    const client = { id: 'known', secret: 'shh-very-secret' }
    const { remote, store, server } = await loggedIn(
      { client, registration: false },
      { oauth: { clientId: client.id, clientSecret: client.secret, scopes: ['a', 'b'] } },
    )
    const { parameters } = remote.asked.find(({ path }) => path === '/authorize') ?? {}
    expect(parameters).toMatchObject({ client_id: 'known', scope: 'a b' })
    const { text } = await setup([server], { logins: store })
    remote.expire()
    expect(await text('notes', 'echo', { a: 1 })).toBe('{"a":1}')
  })

  it.each(['streamableHttp', 'sse'] as const)(
    'opens a real server of the older protocol over %s, and is renewed there too',
    { timeout: 60_000 },
    async (kind) => {
      const { url: behind } = await startEverything(kind)
      const remote = await startProtected({ behind })
      const store = diskLogins({ folder: temporary() })
      const server = defineServer('everything', { url: remote.url })
      await login(server, { store, ...agree() })
      const { text } = await setup([server], { logins: store })
      expect(await text('everything', 'echo', { message: 'one' })).toBe('Echo: one')
      remote.expire()
      expect(await text('everything', 'echo', { message: 'two' })).toBe('Echo: two')
      expect(remote.count('refresh_token')).toBe(1)
    },
  )

  it("is redacted in a server's error text", async () => {
    const { remote, store, server } = await loggedIn({
      before(request, response) {
        if (request.headers['mcp-method'] !== 'tools/call') return false
        response.writeHead(500).end(`what is ${request.headers.authorization}?`)
        return true
      },
    })
    const { servers, events } = await setup([server], { logins: store })
    const failure = await servers.call('notes', 'echo', {}).catch((error: unknown) => error)
    expect(String(failure)).toContain('what is Bearer ***?')
    const said = JSON.stringify([events, servers.inspect(), String(failure)])
    for (const secret of remote.secrets) expect(said).not.toContain(secret)
  })

  it('uses a registration again, on the same port', async () => {
    const { remote, store, server } = await loggedIn()
    await login(server, { store, ...agree() })
    expect(remote.asked.filter(({ path }) => path === '/register')).toHaveLength(1)
    const addresses = remote.asked.filter(({ path }) => path === '/authorize')
    expect(new Set(addresses.map(({ parameters }) => parameters.redirect_uri)).size).toBe(1)
  })

  it('with a registration that the server has forgotten says how to get another one', async () => {
    const { store, server, remote } = await loggedIn()
    store.write(server, { ...store.read(server), client: { client_id: 'forgotten', issuer: remote.issuer } })
    const failure = login(server, { store, timeout: 100, ...agree() })
    await expect(failure).rejects.toMatchObject({
      code: 'timeout',
      fix: expect.stringContaining('run toolwell logout notes first'),
    })
    await logout(server, { store })
    await login(server, { store, ...agree() })
    expect(remote.asked.filter(({ path }) => path === '/register')).toHaveLength(2)
  })

  it('that fails leaves the one before as it was', async () => {
    const { store, server, folder } = await loggedIn()
    const before = readFileSync(only(folder), 'utf8')
    const failure = login(server, { store, timeout: 50, onAddress: () => undefined })
    await expect(failure).rejects.toMatchObject({ code: 'timeout' })
    expect(readFileSync(only(folder), 'utf8')).toBe(before)
    expect(readdirSync(folder)).toHaveLength(1)
  })
})

it('a login rejects the answer to another login, and keeps waiting', async () => {
  const consents = ['wrong-state', 'agree'] as const
  let asked = 0
  const remote = await startProtected({
    get consent() {
      return consents[asked] ?? 'agree'
    },
  })
  const pages: string[] = []
  let strays = 0
  const { server } = await login(defineServer('notes', { url: remote.url }), {
    store: diskLogins({ folder: temporary() }),
    async onAddress(address) {
      pages.push((await browse(address)).page)
      asked++
      void browse(address)
    },
    onStray: () => strays++,
  })
  expect([server, strays]).toEqual(['notes', 1])
  expect(pages[0]).toContain('This answer belongs to another login')
  expect(remote.count('authorization_code')).toBe(1)
})

describe('a login that fails says why', () => {
  const attempt = async (server: ServerConfig, options: Partial<LoginOptions> = {}) => {
    const store = diskLogins({ folder: temporary() })
    const error = await login(server, { store, ...agree(), ...options }).catch((each: unknown) => each)
    if (!LoginError.is(error)) throw new Error(`not a failed login: ${String(error)}`)
    expect(store.read(server)).toBe(undefined)
    return { code: error.code, message: error.message, fix: error.fix }
  }

  it('when the user denies', async () => {
    const remote = await startProtected({ consent: 'deny' })
    const pages: string[] = []
    const failure = await attempt(defineServer('notes', { url: remote.url }), agree(pages))
    expect(failure).toMatchObject({
      code: 'denied',
      message: 'The login to notes was denied: The user said <no>.',
    })
    await eventually(() => pages.length > 0, 'the page was shown')
    expect(pages[0]).toContain('The user said &#60;no&#62;')
    expect(remote.count('authorization_code')).toBe(0)
  })

  it('when answers belong to another login, which are refused', async () => {
    const server = defineServer('notes', { url: 'http://127.0.0.1:9/mcp' })
    const over = new AbortController()
    const store = diskLogins({ folder: temporary() })
    const known = createAttempt(server, 'http://127.0.0.1:9/mcp', store, {
      signal: undefined,
      over: over.signal,
    })
    // Somebody comes at once with another state, and nobody with the right one.
    const callback: Callback = {
      url: 'http://127.0.0.1:1/callback',
      answer: (_, signal, onStray) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
          onStray()
        }),
      close: async () => undefined,
    }
    let strays = 0
    const draft = createDraft(server, callback.url, {}, { authorizationServerUrl: 'http://127.0.0.1:9' })
    const address = new URL('http://127.0.0.1:9/authorize')
    const waiting = waitForAnswer(known, callback, draft, address, {
      timeout: 50,
      onAddress: () => undefined,
      onStray: () => strays++,
    })
    await expect(waiting).rejects.toMatchObject({
      code: 'wrong-state',
      fix: expect.stringContaining('use the address that it prints'),
    })
    expect(strays).toBe(1)
  })

  it.each([
    ['a local server', defineServer('local', { command: 'x' }), 'not-remote', '"env"'],
    ['nobody there', defineServer('gone', { url: 'http://127.0.0.1:9/mcp' }), 'unreachable', '"url"'],
    [
      'credentials in the config',
      defineServer('keyed', { url: 'http://127.0.0.1:9/mcp', headers: { authorization: 'Bearer abc' } }),
      'unsupported',
      'Remove the header',
    ],
  ])('with %s', async (_, server, code, fix) => {
    expect(await attempt(server)).toMatchObject({ code, fix: expect.stringContaining(fix) })
  })

  it('when none is needed', async () => {
    const { url } = await startModern({
      before: (request, response) => {
        if (request.url === '/mcp') return false
        response.writeHead(404).end()
        return true
      },
    })
    expect(await attempt(defineServer('open', { url }))).toMatchObject({ code: 'not-needed' })
  })

  it('when the server wants a key and knows no login', async () => {
    const { url } = await startModern({
      before: (request, response) => {
        response.writeHead(request.url === '/mcp' ? 401 : 404).end()
        return true
      },
    })
    expect(await attempt(defineServer('keyed', { url }))).toMatchObject({
      code: 'unsupported',
      fix: expect.stringContaining('"headers"'),
    })
  })

  it('when strangers are not registered, with the address to register', async () => {
    const { url } = await startProtected({ registration: false })
    expect(await attempt(defineServer('notes', { url }))).toMatchObject({
      code: 'not-registered',
      fix: expect.stringMatching(/redirect address http:\/\/127\.0\.0\.1:\d+\/callback .*"clientId"/),
    })
  })

  it('when the address to open is not one for a browser', async () => {
    const { url } = await startProtected({ metadata: { authorization_endpoint: 'file:///bin/sh' } })
    let opened = false
    const onAddress = () => {
      opened = true
    }
    expect(await attempt(defineServer('notes', { url }), { onAddress })).toMatchObject({ code: 'failed' })
    expect(opened).toBe(false)
  })

  it('when the issuer of the answer is another one', async () => {
    const remote = await startProtected()
    const onAddress = async (address: URL) => {
      const { headers } = await fetch(address, { redirect: 'manual' })
      const back = new URL(headers.get('location') ?? '')
      back.searchParams.set('iss', 'https://evil.example')
      void browse(back)
    }
    const failure = await attempt(defineServer('notes', { url: remote.url }), { onAddress })
    expect(failure).toMatchObject({ code: 'failed', message: expect.stringContaining('gave no tokens') })
    expect(remote.count('authorization_code')).toBe(0)
  })

  it('when it is cancelled', async () => {
    const { url } = await startProtected()
    const stop = new AbortController()
    const onAddress = () => stop.abort()
    const failure = await attempt(defineServer('notes', { url }), { onAddress, signal: stop.signal })
    expect(failure).toMatchObject({ code: 'cancelled' })
  })

  it('when the port is taken', async () => {
    const { url, issuer } = await startProtected()
    const callbackPort = Number(new URL(issuer).port)
    expect(await attempt(defineServer('notes', { url }, { oauth: { callbackPort } }))).toMatchObject({
      code: 'port-taken',
      fix: expect.stringContaining('"callbackPort"'),
    })
  })

  it('when tokens cannot be kept, before the user is asked', async () => {
    const remote = await startProtected()
    const file = join(temporary(), 'file')
    writeFileSync(file, '')
    const store = diskLogins({ folder: join(file, 'logins') })
    const failure = login(defineServer('notes', { url: remote.url }), { store, ...agree() })
    await expect(failure).rejects.toMatchObject({ code: 'not-kept' })
    expect(remote.asked).toEqual([])
  })
})

describe('an access token that has ended', () => {
  it('is renewed once for all calls that wait, and none of them fails', async () => {
    const { remote, store, server } = await loggedIn()
    const { text } = await setup([server], { logins: store })
    for (let round = 1; round <= 3; round++) {
      remote.expire()
      const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => text('notes', 'echo', { at })))
      expect(answers).toEqual(Array.from({ length: 20 }, (_, at) => `{"at":${at}}`))
      expect(remote.count('refresh_token')).toBe(round)
    }
  })

  it('that nobody renews is a login that is needed, and its tokens are gone', async () => {
    const { remote, store, server, folder } = await loggedIn()
    const { text, report, servers, events, well } = await setup([server], { logins: store })
    await text('notes', 'echo')
    remote.revokeAll()
    const failure = await servers.call('notes', 'echo', {}).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      kind: 'needs-login',
      message: 'notes asks for a login: run toolwell login notes',
    })
    expect(report('notes').state).toBe('needs-login')
    const said =
      JSON.stringify([events, servers.inspect(), String(failure)]) + readFileSync(only(folder), 'utf8')
    for (const secret of remote.secrets) expect(said).not.toContain(secret)
    await login(server, { store, ...agree() })
    expect(remote.asked.filter(({ path }) => path === '/register')).toHaveLength(1)
    await eventually(() => well.catalogue.sources.get('notes')?.state === 'ready', 'it was found')
    expect(await text('notes', 'echo', { a: 1 })).toBe('{"a":1}')
  })

  it('stays when the authorization server is away for a while, and is renewed when it is back', async () => {
    let isDown = false
    const { remote, store, server } = await loggedIn({
      onToken(_, response) {
        if (isDown) response.writeHead(503).end('sorry')
        return isDown
      },
    })
    const { text, report, servers } = await setup([server], { logins: store })
    await text('notes', 'echo')
    isDown = true
    remote.expire()
    const failure = await servers.call('notes', 'echo', {}).catch((error: unknown) => error)
    expect(McpFailure.is(failure) && failure.kind).not.toBe('needs-login')
    expect(String(failure)).toContain('the login could not be renewed')
    isDown = false
    expect(await text('notes', 'echo', { a: 2 })).toBe('{"a":2}')
    expect(report('notes').state).toBe('ready')
  })

  it('is renewed even if nothing can be written, as long as the program runs', async () => {
    const { remote, store, server } = await loggedIn()
    const refuse = (): never => {
      throw Object.assign(new Error('read-only'), { code: 'EROFS' })
    }
    const readOnly = { ...store, write: refuse, exclusively: async () => refuse() }
    const { text, events } = await setup([server], { logins: readOnly })
    for (let round = 1; round <= 3; round++) {
      remote.expire()
      expect(await text('notes', 'echo', { round })).toBe(`{"round":${round}}`)
    }
    expect(remote.count('refresh_token')).toBe(3)
    const warned = events.flatMap((event) => (event.kind === 'warning' ? event : []))
    expect(warned.filter(({ code }) => code === 'login-not-kept')).toEqual([
      expect.objectContaining({ text: expect.stringContaining('could not be stored (EROFS)') }),
    ])
  })

  it('is renewed by one of several processes, and used by all', async () => {
    const { remote, folder } = await loggedIn()
    const hosts = await Promise.all([1, 2, 3].map(() => startLoginHost(remote.url, folder)))
    for (let round = 1; round <= 3; round++) {
      remote.expire()
      const answers = await Promise.all(hosts.map((host) => host.calls()))
      expect(answers).toEqual(hosts.map(() => Array.from({ length: 5 }, (_, at) => `{"at":${at}}`)))
      // A refresh token that came twice would have ended the login for everybody.
      expect(remote.count('refresh_token')).toBe(round)
    }
  })
})

it('a tool that needs more is a login that is needed for it alone; the next login asks for it', async () => {
  const { remote, store, server } = await loggedIn({ scopes: { write: 'notes:write' } })
  const { text, servers, report } = await setup([server], { logins: store })
  expect(await text('notes', 'echo', { a: 1 })).toBe('{"a":1}')
  await expect(servers.call('notes', 'write', {})).rejects.toMatchObject({
    kind: 'needs-login',
    message: 'notes asks for a login that grants more (notes:write): run toolwell login notes',
  })
  expect(report('notes').state).toBe('ready')
  expect(await text('notes', 'echo', { a: 2 })).toBe('{"a":2}')
  const { scopes } = await login(server, { store, ...agree() })
  expect([...scopes].sort()).toEqual(['notes:read', 'notes:write'])
  expect(await text('notes', 'write', { a: 3 })).toBe('{"a":3}')
  expect(remote.calls).toEqual(['echo', 'echo', 'write'])
})

describe('the file of a login', () => {
  it.each([
    ['damaged', () => '{"toolwell":1,'],
    ['of another version', (text: string) => text.replace('"toolwell":1', '"toolwell":2')],
    ['of another server', (text: string) => text.replace(/"fingerprint":"\w+"/, '"fingerprint":"x"')],
    [
      'without a token in its tokens',
      (text: string) => text.replace(/"access_token":"[^"]*"/, '"access_token":7'),
    ],
    ['empty', () => ''],
  ])('that is %s is renamed, and a login is needed', async (_, change) => {
    const { remote, server, folder } = await loggedIn()
    const file = only(folder)
    writeFileSync(file, change(readFileSync(file, 'utf8')))
    const warnings: ServerWarning[] = []
    const store = diskLogins({ folder, onWarning: (warning) => warnings.push(warning) })
    const { report } = await setup([server], { logins: store })
    expect(report('notes').state).toBe('needs-login')
    expect(readdirSync(folder).filter((name) => name.endsWith('.unreadable'))).toHaveLength(1)
    expect(warnings.map(({ code }) => code)).toEqual(['login-damaged'])
    for (const secret of remote.secrets) expect(JSON.stringify(warnings)).not.toContain(secret)
  })

  it('that is a folder is renamed, too', async () => {
    const { server, folder } = await loggedIn()
    const store = diskLogins({ folder })
    const file = only(folder)
    store.forget(server)
    mkdirSync(file)
    expect(store.read(server)).toBe(undefined)
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.unreadable$/)])
  })

  it('that others can read is made private, and the user is warned', async () => {
    const { server, folder } = await loggedIn()
    chmodSync(only(folder), 0o644)
    const warnings: ServerWarning[] = []
    const store = diskLogins({ folder, onWarning: (warning) => warnings.push(warning) })
    expect(store.read(server)?.tokens).toBeDefined()
    expect(statSync(only(folder)).mode & 0o777).toBe(0o600)
    expect(warnings).toEqual([
      {
        code: 'login-exposed',
        text: expect.stringContaining('was readable by other users'),
        fix: expect.stringContaining('Log in again'),
      },
    ])
  })

  it('is read once while it stays the same, and before the next request once it is another one', async () => {
    const { server, folder, store } = await loggedIn()
    let reads = 0
    const counting: LoginStore = {
      ...store,
      read(given) {
        reads++
        return store.read(given)
      },
    }
    const { text, servers } = await setup([server], { logins: counting })
    await text('notes', 'echo', { a: 1 })
    const before = reads
    for (let n = 0; n < 5; n++) await text('notes', 'echo', { a: n })
    expect(reads).toBe(before)
    // Nothing of its content changes: others may read it now.
    chmodSync(only(folder), 0o644)
    expect(await text('notes', 'echo', { a: 2 })).toBe('{"a":2}')
    expect(statSync(only(folder)).mode & 0o777).toBe(0o600)
    store.forget(server)
    await expect(servers.call('notes', 'echo', {})).rejects.toMatchObject({ kind: 'needs-login' })
  })

  it('is another one for another name, address or client', async () => {
    const { store, server, remote } = await loggedIn()
    const { url } = remote
    expect(store.read(server)).toBeDefined()
    expect(store.read(defineServer('other', { url }))).toBe(undefined)
    expect(store.read(defineServer('notes', { url: `${url}/2` }))).toBe(undefined)
    expect(store.read(defineServer('notes', { url }, { oauth: { clientId: 'x' } }))).toBe(undefined)
  })
})

describe('a logout', () => {
  it('ends the login on both sides', async () => {
    const { remote, store, server, folder } = await loggedIn()
    const { servers } = await setup([server], { logins: store })
    expect(await logout(server, { store })).toEqual({
      server: 'notes',
      found: true,
      revoked: 'revoked',
      detail: '',
    })
    expect(readdirSync(folder)).toEqual([])
    const revoked = remote.asked.filter(({ path }) => path === '/revoke')
    expect(revoked.map(({ parameters }) => parameters.token_type_hint)).toEqual([
      'refresh_token',
      'access_token',
    ])
    await expect(servers.call('notes', 'echo', {})).rejects.toMatchObject({ kind: 'needs-login' })
    expect(await logout(server, { store })).toMatchObject({ found: false })
  })

  it('ends it here where the other side does not care, or fails', async () => {
    const silent = await loggedIn({ revocation: false })
    expect(await logout(silent.server, silent)).toMatchObject({ found: true, revoked: 'not-offered' })
    expect(readdirSync(silent.folder)).toEqual([])
    const broken = await loggedIn({ metadata: { revocation_endpoint: 'http://127.0.0.1:9/revoke' } })
    expect(await logout(broken.server, broken)).toMatchObject({ found: true, revoked: 'failed' })
    expect(readdirSync(broken.folder)).toEqual([])
  })
})
