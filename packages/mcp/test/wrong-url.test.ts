/** Addresses of something other than an MCP server: each error names its cause and what to do, and no secret. */
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createPlain, type Server as PlainServer } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { createToolwell } from '@toolwell/core'
import {
  connectServers,
  defineServer,
  type HttpEndpoint,
  type LoginError,
  login,
  memoryCache,
  memoryFirstUse,
  type ServerAuth,
  type ServerConfig,
} from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openClient } from '../src/upstream/open-client.js'
import { createWatchdog } from '../src/upstream/watchdog.js'

const SECRET = 'hidden-7f3a9c'

async function listening(server: Server | PlainServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

const web = async (answer: RequestListener) => `http://127.0.0.1:${await listening(createServer(answer))}/mcp`
const status = (code: number, headers: Record<string, string> = {}, body = '') =>
  web((_, response) => response.writeHead(code, headers).end(body))
const page = { 'content-type': 'text/html; charset=utf-8' }

async function reasonOf(server: ServerConfig, auth?: ServerAuth): Promise<string> {
  const servers = connectServers(createToolwell().catalogue, [server], {
    firstUse: memoryFirstUse(),
    logs: false,
    cache: memoryCache(),
    connectTimeout: 60_000,
    ...(auth ? { auth: () => auth } : {}),
  })
  try {
    await servers.settled(90_000)
    const [report] = servers.inspect()
    expect(report?.state).toBe('failed')
    expect(JSON.stringify(report)).not.toContain(SECRET)
    return report?.reason ?? ''
  } finally {
    await servers.close()
  }
}

async function loginFailure(server: ServerConfig): Promise<LoginError> {
  const store = {
    read: () => undefined,
    write() {},
    remove() {},
    exclusively: <T>(_: unknown, work: () => T) => work(),
  }
  const made = login(server, { store: store as never, onAddress() {}, timeout: 1000 })
  return made.then(
    () => expect.unreachable('there was a login'),
    (error: LoginError) => error,
  )
}

const CASES: Readonly<Record<string, readonly [() => Promise<string>, why: RegExp, fix: RegExp]>> = {
  'a port that is closed': [
    async () => {
      const server = createServer()
      const port = await listening(server)
      await new Promise((resolve) => server.close(resolve))
      return `http://127.0.0.1:${port}/mcp`
    },
    /nothing listens on 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/,
    /start the server, or correct the port/i,
  ],
  'nothing there': [
    () => status(404, page, '<h1>No</h1>'),
    /nothing at its address \(404\)/,
    /path of "url"/,
  ],
  'a web page': [
    () => status(200, page, '<h1>Hello</h1>'),
    /there is a web page at its address/,
    /path of "url"/,
  ],
  'JSON that is no MCP': [
    () => status(200, { 'content-type': 'application/json' }, '{"hello":1}'),
    /its answer is not MCP/,
    /path of "url"/,
  ],
  'an empty answer': [() => status(204), /answers with nothing/, /path of "url"/],
  'no messages taken': [() => status(405), /does not accept MCP messages \(405\)/, /path of "url"/],
  'a failure of the server': [() => status(500, {}, 'boom'), /has an internal error \(500\)/, /see its log/i],
  'a gateway without a server': [
    () => status(502, page),
    /not available at the moment \(502\)/,
    /try again later/i,
  ],
  'access denied': [() => status(403), /denies access \(403\)/, /keys in "headers"/],
  'too many requests': [() => status(429), /too many requests \(429\)/, /try again later/i],
  'a refusal in words': [
    () => status(400, {}, 'wants \u001b[31mX-Team'),
    /refuses the request \(400\): "wants \[31mX-Team"/,
    /"url" and "headers"/,
  ],
  'a circle of redirects': [
    () => status(307, { location: '/mcp' }),
    /redirects in a circle \(307\)/,
    /check "url"/i,
  ],
  'a redirect to elsewhere': [
    () => status(301, { location: `https://elsewhere.invalid/mcp?token=${SECRET}` }),
    /has moved \(301\)/,
    /write it into "url"/i,
  ],
  'https without TLS': [
    async () => (await status(200)).replace('http:', 'https:'),
    /does not speak TLS/,
    /"http:\/\/" instead of "https:\/\/"/,
  ],
  'http where there is TLS': [
    async () => `http://127.0.0.1:${await listening(createTls({}))}/mcp`,
    /closed the connection without an answer/,
    /"https:\/\/" instead of "http:\/\/"/,
  ],
  'another protocol': [
    async () =>
      `http://127.0.0.1:${await listening(createPlain((socket) => socket.on('error', () => {}).end('220 mail\r\n')))}/mcp`,
    /does not speak HTTP/,
    /correct the port/i,
  ],
}

describe.each(Object.entries(CASES))('%s', (_, [addressOf, why, fix]) => {
  it.each<HttpEndpoint['type']>(['auto', 'http'])(
    'is reported by a server of type %s, and by a login',
    async (type) => {
      const url = `${await addressOf()}?api_key=${SECRET}`
      const server = defineServer('notes', { url, type, headers: { 'X-Key': SECRET } })
      const reason = await reasonOf(server)
      expect(reason).toMatch(why)
      expect(reason).toMatch(fix)
      const error = await loginFailure(server)
      expect(error).toMatchObject({ code: 'unreachable' })
      expect(error.message).toMatch(why)
      expect(error.fix).toMatch(fix)
      expect(`${error.message} ${error.fix}`).not.toContain(SECRET)
    },
  )
})

it('shows the address of a redirect to people, but not in a reason that a model reads', async () => {
  const url = await status(301, { location: `https://elsewhere.invalid/obey-me?token=${SECRET}` })
  const { catalogue } = createToolwell()
  const servers = connectServers(catalogue, [defineServer('notes', { url })], {
    firstUse: memoryFirstUse(),
    logs: false,
    cache: memoryCache(),
  })
  onTestFinished(() => servers.close())
  await servers.settled(90_000)
  const [report] = servers.inspect()
  expect(report?.movedTo).toBe('https://elsewhere.invalid/obey-me')
  expect(report?.reason).not.toContain('obey-me')
  expect((await loginFailure(defineServer('notes', { url }))).message).toContain('elsewhere.invalid/obey-me')
})

it.each([
  'a port that is closed',
  'nothing there',
  'a web page',
  'a failure of the server',
  'https without TLS',
  'http where there is TLS',
  'another protocol',
])('reports %s for a server of the older kind too', async (name) => {
  const [addressOf = async () => '', why = /^$/, fix = /^$/] = CASES[name] ?? []
  const reason = await reasonOf(defineServer('notes', { url: await addressOf(), type: 'sse' }))
  expect(reason).toMatch(why)
  expect(reason).toMatch(fix)
  expect(reason).not.toMatch(/SSE error|fetch failed/)
})

it.each([
  ['ENOTFOUND', /the host 127\.0\.0\.1 is not known \(ENOTFOUND\); check the spelling of "url"/],
  ['EAI_AGAIN', /is not known \(EAI_AGAIN\)/],
  ['CERT_HAS_EXPIRED', /has expired; tell the operator/],
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    /not signed by an authority that this machine trusts .*NODE_EXTRA_CA_CERTS/,
  ],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /is for another host/],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', /have no TLS version in common/],
  ['EHOSTUNREACH', /cannot be reached \(EHOSTUNREACH\); check .* VPN or proxy/],
])('explains the platform error %s in words', async (code, words) => {
  const auth: ServerAuth = {
    token: async () => undefined,
    async fetch() {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code }) })
    },
  }
  expect(await reasonOf(defineServer('notes', { url: 'https://127.0.0.1/mcp' }), auth)).toMatch(words)
})

it('a remote server that takes longer to wake up than a local one may is waited for', async () => {
  const asked: string[] = []
  const url = await web((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      asked.push(JSON.parse(body).method)
      setTimeout(() => response.writeHead(500).end(), 300)
    })
  })
  const watchdog = createWatchdog()
  const opening = openClient({
    server: defineServer('notes', { url }),
    version: '0',
    watchdog,
    capabilities: {},
    era: undefined,
    auth: undefined,
    hide: (text) => text,
    timeout: 60_000,
    probeTimeout: 50,
    signal: new AbortController().signal,
    onListChanged: () => undefined,
    prepare: () => undefined,
  })
  await expect(opening).rejects.toThrow(/has an internal error \(500\)/)
  expect(asked).toEqual(['server/discover'])
  watchdog.close()
})
