/**
 * An authorization server on loopback, and an MCP server behind it that lets in only who has its tokens. Strict where clients go wrong:
 * codes and refresh tokens are good for one use, and a refresh token that comes twice ends the whole login.
 */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  request as ask,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import { createModernServer } from './modern-server.mjs'

export interface ProtectedOptions {
  /** Seconds that an access token is said to hold. */
  readonly expiresIn?: number
  /** The user's answer. */
  readonly consent?: 'agree' | 'deny' | 'wrong-state'
  readonly registration?: boolean
  readonly revocation?: boolean
  /** A client that is known without registration. */
  readonly client?: { readonly id: string; readonly secret?: string }
  /** Tools that need an extra scope. */
  readonly scopes?: Readonly<Record<string, string>>
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Where requests go that have been let in. Default: a server of the newer protocol. */
  readonly behind?: string
  /** Sees every request that has been let in; true: it has answered. */
  readonly before?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Answers token requests instead of the real thing. */
  readonly onToken?: (parameters: URLSearchParams, response: ServerResponse) => boolean | Promise<boolean>
}

export interface Protected {
  /** Of the MCP server. */
  readonly url: string
  readonly issuer: string
  /** Every request to the authorization server: path and parameters. */
  readonly asked: { readonly path: string; readonly parameters: Record<string, string> }[]
  /** Every token, code and secret that was ever given. */
  readonly secrets: string[]
  /** Calls of tools that got through, by name. */
  readonly calls: string[]
  /** Ends every access token; refresh tokens stay good. */
  expire(): void
  /** Ends every refresh token too. */
  revokeAll(): void
  count(grant: string): number
}

interface Grant {
  readonly client: string
  readonly scope: string
  readonly resource: string
  isEnded: boolean
}

export async function startProtected(options: ProtectedOptions = {}): Promise<Protected> {
  const asked: Protected['asked'] = []
  const secrets: string[] = []
  const calls: string[] = []
  const clients = new Map<string, { redirects: string[]; secret?: string | undefined }>()
  const codes = new Map<string, { challenge: string; redirect: string; grant: Grant }>()
  const access = new Map<string, { grant: Grant; isExpired: boolean }>()
  const refresh = new Map<string, { grant: Grant; isUsed: boolean }>()
  const secret = (kind: string) => {
    const made = `${kind}-${randomBytes(16).toString('hex')}`
    secrets.push(made)
    return made
  }
  if (options.client) {
    clients.set(options.client.id, { redirects: [], secret: options.client.secret })
    if (options.client.secret) secrets.push(options.client.secret)
  }

  const handler = createMcpHandler(() => createModernServer({ tools: ['echo', 'write'] }))
  const mcp = toNodeHandler(handler)
  const resourceServer = await listen((request, response) => {
    if (request.url === `/.well-known/oauth-protected-resource${path}`)
      return json(response, 200, {
        resource: url,
        authorization_servers: [issuer],
        scopes_supported: ['notes:read'],
      })
    if (!/^\/(?:mcp|sse|message)\b/.test(request.url ?? '')) return json(response, 404, {})
    const [, token = ''] = /^Bearer (.*)$/.exec(request.headers.authorization ?? '') ?? []
    const known = access.get(token)
    if (!known || known.isExpired || known.grant.isEnded || known.grant.resource !== url)
      return json(
        response,
        401,
        { error: `no good: ${token}` },
        {
          'www-authenticate': `Bearer resource_metadata="${resource}/.well-known/oauth-protected-resource${path}"`,
        },
      )
    const tool = String(request.headers['mcp-name'] ?? '')
    const scope = options.scopes?.[tool]
    if (scope !== undefined && !known.grant.scope.split(' ').includes(scope))
      return json(
        response,
        403,
        {},
        {
          'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"`,
        },
      )
    if (options.before?.(request, response)) return undefined
    if (options.behind) return forward(request, response, options.behind)
    if (request.headers['mcp-method'] === 'tools/call') calls.push(tool)
    return mcp(request as Parameters<typeof mcp>[0], response)
  })
  const resource = addressOf(resourceServer)
  const path = options.behind === undefined ? '/mcp' : new URL(options.behind).pathname
  const url = resource + path
  const authServer = await listen(answer)
  const issuer = addressOf(authServer)
  onTestFinished(async () => {
    await handler.close()
    for (const server of [resourceServer, authServer]) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const address = new URL(request.url ?? '', issuer)
    const body = await bodyOf(request)
    const isJson = String(request.headers['content-type']).includes('json')
    const parameters =
      request.method === 'GET' ? address.searchParams : new URLSearchParams(isJson ? '' : body)
    asked.push({ path: address.pathname, parameters: Object.fromEntries(parameters) })
    const route = `${request.method} ${address.pathname}`
    if (route === 'GET /.well-known/oauth-authorization-server') return json(response, 200, metadata())
    if (route === 'POST /register' && options.registration !== false) {
      const { redirect_uris: redirects, token_endpoint_auth_method: method } = JSON.parse(body)
      const id = `client-${randomBytes(8).toString('hex')}`
      const own = method === 'none' ? undefined : secret('client-secret')
      clients.set(id, { redirects, secret: own })
      return json(response, 201, {
        ...JSON.parse(body),
        client_id: id,
        ...(own ? { client_secret: own } : {}),
      })
    }
    if (route === 'GET /authorize') return authorize(parameters, response)
    if (route === 'POST /token') {
      if (await options.onToken?.(parameters, response)) return undefined
      return token(parameters, request, response)
    }
    if (route === 'POST /revoke' && options.revocation !== false) {
      if (!isClient(parameters, request)) return json(response, 401, { error: 'invalid_client' })
      const given = parameters.get('token') ?? ''
      const grant = refresh.get(given)?.grant ?? access.get(given)?.grant
      if (grant) grant.isEnded = true
      return json(response, 200, {})
    }
    return json(response, 404, {})
  }

  function metadata() {
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      ...(options.registration === false ? {} : { registration_endpoint: `${issuer}/register` }),
      ...(options.revocation === false ? {} : { revocation_endpoint: `${issuer}/revoke` }),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      authorization_response_iss_parameter_supported: true,
      ...options.metadata,
    }
  }

  function authorize(parameters: URLSearchParams, response: ServerResponse): ServerResponse {
    const get = (name: string) => parameters.get(name) ?? ''
    const client = clients.get(get('client_id'))
    const redirect = get('redirect_uri')
    const isKnown = client && (client.redirects.length === 0 || client.redirects.includes(redirect))
    if (!isKnown || get('code_challenge_method') !== 'S256' || get('response_type') !== 'code')
      return json(response, 400, { error: 'invalid_request' })
    const back = new URL(redirect)
    back.searchParams.set('state', options.consent === 'wrong-state' ? 'of-somebody-else' : get('state'))
    back.searchParams.set('iss', issuer)
    if (options.consent === 'deny') {
      back.searchParams.set('error', 'access_denied')
      back.searchParams.set('error_description', 'The user said <no>')
    } else {
      const code = secret('code')
      const grant = {
        client: get('client_id'),
        scope: get('scope'),
        resource: get('resource'),
        isEnded: false,
      }
      codes.set(code, { challenge: get('code_challenge'), redirect, grant })
      back.searchParams.set('code', code)
    }
    return response.writeHead(302, { location: back.href }).end()
  }

  function token(parameters: URLSearchParams, request: IncomingMessage, response: ServerResponse) {
    if (!isClient(parameters, request)) return json(response, 401, { error: 'invalid_client' })
    const refused = (why: string) => json(response, 400, { error: 'invalid_grant', error_description: why })
    if (parameters.get('grant_type') === 'authorization_code') {
      const code = codes.get(parameters.get('code') ?? '')
      codes.delete(parameters.get('code') ?? '')
      const verifier = parameters.get('code_verifier') ?? ''
      if (!code || createHash('sha256').update(verifier).digest('base64url') !== code.challenge)
        return refused('the code or its verifier is wrong')
      if (code.redirect !== parameters.get('redirect_uri'))
        return refused('the redirect address is another one')
      return give(code.grant, response)
    }
    const known = refresh.get(parameters.get('refresh_token') ?? '')
    if (!known || known.grant.isEnded) return refused('the login has ended')
    if (known.isUsed) {
      known.grant.isEnded = true
      return refused('the refresh token was used before')
    }
    known.isUsed = true
    return give(known.grant, response)
  }

  function give(grant: Grant, response: ServerResponse): ServerResponse {
    const tokens = { access_token: secret('access'), refresh_token: secret('refresh') }
    access.set(tokens.access_token, { grant, isExpired: false })
    refresh.set(tokens.refresh_token, { grant, isUsed: false })
    return json(response, 200, {
      ...tokens,
      token_type: 'Bearer',
      scope: grant.scope,
      ...(options.expiresIn === undefined ? {} : { expires_in: options.expiresIn }),
    })
  }

  function isClient(parameters: URLSearchParams, request: IncomingMessage): boolean {
    const [, basic = ''] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? []
    const [id = '', given] = basic === '' ? [] : Buffer.from(basic, 'base64').toString().split(':')
    const client = clients.get(id || (parameters.get('client_id') ?? ''))
    return client !== undefined && client.secret === (given ?? parameters.get('client_secret') ?? undefined)
  }

  return {
    url,
    issuer,
    asked,
    secrets,
    calls,
    expire() {
      for (const each of access.values()) each.isExpired = true
    },
    revokeAll() {
      for (const each of [...access.values(), ...refresh.values()]) each.grant.isEnded = true
    },
    count: (grant) =>
      asked.filter(({ path, parameters }) => path === '/token' && parameters.grant_type === grant).length,
  }
}

function forward(request: IncomingMessage, response: ServerResponse, base: string): void {
  const { method = '', headers, url = '' } = request
  const onward = ask(new URL(url, base), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}

/** Follows redirects like a browser, until there is a page. */
export async function browse(address: string | URL): Promise<{ status: number; page: string }> {
  const response = await fetch(address)
  return { status: response.status, page: await response.text() }
}

async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Server> {
  // A busy machine pauses for longer than Node keeps idle connections.
  const server = createServer(
    { keepAliveTimeout: 60_000 },
    (request, response) => void answer(request, response),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: object = {},
): ServerResponse {
  return response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(value))
}
