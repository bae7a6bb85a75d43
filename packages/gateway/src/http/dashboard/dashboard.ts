/** Serves the dashboard: its page, its JSON API and its events. Also answers `/api/v1`. */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { dropUndefined, isRecord } from '@toolwell/core/internal'
import { type ConnectOptions, diskFirstUse } from '@toolwell/mcp'
import { diskReadOnly, type ReadOnlyStore, type TrustedProjects } from '@toolwell/mcp/internal'
import { isSame } from '../../bridge/folder.js'
import { DASHBOARD_LINK_PATH } from '../../bridge/protocol.js'
import type { ServerSets } from '../../servers/server-sets.js'
import type { CallStats } from '../../storage/call-stats.js'
import type { Clients } from '../clients.js'
import { header, RequestTooLarge, readBody, reply } from '../exchange.js'
import type { Principal } from '../principals.js'
import type { Recorder } from '../recorder.js'
import type { GatewayReport } from '../report.js'
import {
  Access,
  ApiError,
  checkJson,
  checkSameOrigin,
  cookieName,
  hasCsrfToken,
  type Opened,
} from './access.js'
import type { ErrorAnswer, ServersV1, SessionAnswer, ToolRow } from './api-types.js'
import { Approvals } from './approvals.js'
import { listAttention, listCalls, listClients, showCall, toCallRow, toSearchRow } from './calls.js'
import { ConfigChanges } from './config-changes.js'
import { EventStreams } from './events.js'
import { SearchLab } from './search-lab.js'
import { ServerPages } from './server-detail.js'
import { listToolRows, type NamedSet, Sets, serverRow, summarise, wholeView } from './sets.js'
import { showSavings, showWork, sumSaved } from './sums.js'

export interface DashboardOptions {
  /** Folder of the built page, with its `index.html`. Undefined: only the API. */
  readonly page: string | undefined
  readonly projects: TrustedProjects | undefined
  readonly readOnly: ReadOnlyStore | undefined
  readonly connect: Pick<ConnectOptions, 'firstUse' | 'logs' | 'logins'>
  /** The key of the daemon, which may ask for links. The owner's token may not. */
  readonly key: string
  readonly serverSets: ServerSets
  readonly recorder: Recorder
  readonly stats: CallStats
  readonly clients: Clients
  readonly counts: () => GatewayReport['counts']
  readonly lost: () => GatewayReport['lost']
  readonly version: string
  readonly instance: string
  readonly startedAt: number
  /** The words that start the command, and the whole command for a new link. */
  readonly command: string
  readonly linkCommand: string
  readonly now: () => number
}

export interface Dashboard {
  /** Answers requests to `/dashboard…`. */
  handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void>
  /** Answers requests to `/api/v1/…` of a token. */
  handleV1(request: IncomingMessage, response: ServerResponse, url: URL, principal: Principal): void
  /** Servers, tools or the config may have changed. */
  onEvent(): void
  /** Number of open pages. */
  readonly pages: number
  close(): void
}

type Query = Readonly<Record<string, string | undefined>>
type Answer = object | Promise<object>

const SECURITY = {
  'Content-Security-Policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

const LARGEST_BODY = 1024 * 1024
/** Milliseconds in which changes of servers are collected for one event. */
const COLLECT = 200

export function createDashboard(options: DashboardOptions): Dashboard {
  const {
    page,
    key,
    serverSets,
    recorder,
    stats,
    clients,
    command,
    linkCommand,
    version,
    instance,
    startedAt,
    now,
  } = options
  const access = new Access(now)
  const streams = new EventStreams()
  const sets = new Sets(serverSets)
  const changes = new ConfigChanges({
    sets,
    projects: options.projects,
    onWritten: () => serverSets.checkFiles(),
    now,
  })
  const { firstUse = diskFirstUse(), logs, logins } = options.connect
  const approvals = new Approvals(sets, firstUse, changes)
  const lab = new SearchLab()
  const readOnly = options.readOnly ?? diskReadOnly()
  const rows = (set: NamedSet, only?: string) => listToolRows(set, { stats, recorder, readOnly }, only)
  const servers = new ServerPages({ sets, approvals, rows, logs, logins })
  const attention = () => listAttention(sets.all, { approvals, lost: options.lost(), command })
  const listServers = () => sets.all.flatMap(({ serverSet }) => [...serverSet.known.values()])

  const reads: Readonly<Record<string, (query: Query, request: IncomingMessage) => Answer>> = {
    session: (_, { headers }): SessionAnswer => ({
      version,
      instance,
      startedAt,
      address: `http://${headers.host}/mcp`,
      command,
      linkCommand,
      sets: sets.all.map(summarise),
    }),
    now: () => {
      const { calls, failed, refused, searches } = options.counts()
      return {
        attention: attention(),
        calls: listCalls(recorder.calls, { limit: '100' }).calls,
        clients: listClients(clients),
        counts: { calls, errors: failed, refused, searches },
        ...dropUndefined({ saved: sumSaved(stats, sets.find(undefined), now()) }),
      }
    },
    calls: (query) => listCalls(recorder.calls, query),
    'calls/*': ({ id = '' }) => showCall(recorder, Number(id), listServers()),
    work: (query) => showWork(stats, [...new Set(listServers().map(({ name }) => name))].sort(), query),
    tools: ({ set }) => ({ tools: sets.select(set).flatMap((each) => rows(each)) }),
    changes: () => ({ changes: changes.all }),
    servers: ({ set }) => ({
      servers: sets
        .select(set)
        .flatMap((each) => each.serverSet.servers.inspect().map((report) => serverRow(each, report))),
    }),
    server: ({ set, name = '' }) => servers.detail(set, name),
    search: ({ set, query = '', limit, client }) =>
      lab.ask(wholeView(sets.find(set).serverSet), {
        query,
        ...dropUndefined({ limit: limit === undefined ? undefined : Number(limit), client }),
      }),
    searches: () => ({ searches: recorder.searches.map(toSearchRow).reverse() }),
    savings: (query) => showSavings(stats, sets.find(query.set), query),
  }
  const writes: Readonly<Record<string, (body: Readonly<Record<string, unknown>>, id: string) => Answer>> = {
    changes: (body) => changes.apply(body),
    'changes/preview': (body) => changes.preview(body),
    'changes/*/undo': (_, id) => changes.undo(id),
    approvals: (body) => approvals.decide(body),
    'servers/restart': ({ set, server }) => servers.restart(String(set), String(server)),
    'servers/login': ({ set, server }) => servers.signIn(String(set), String(server)),
  }

  const answerApi = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    checkSameOrigin(request)
    const csrf = access.find(request)
    if (csrf === undefined)
      throw new ApiError(
        401,
        'no-cookie',
        `This needs the cookie of the dashboard, and no token replaces it. Open the dashboard with: ${linkCommand}`,
      )
    if (!hasCsrfToken(request, url, csrf))
      throw new ApiError(
        401,
        'no-csrf-token',
        `This needs the CSRF token from the link of the dashboard, not only the cookie. Get a new link with: ${linkCommand}`,
      )
    const [route, id] = findRoute(url.pathname.slice(API.length))
    if (request.method === 'GET') {
      if (route === 'events') {
        if (streams.open(request, response, { instance })) return
        throw new ApiError(
          503,
          'too-many-pages',
          'The dashboard is open in too many tabs. Close some of them.',
        )
      }
      const read = own(reads, route)
      if (read)
        return reply(response, 200, await read({ ...queryOf(url), ...dropUndefined({ id }) }, request))
    } else if (request.method === 'POST') {
      const write = own(writes, route)
      if (write) {
        checkJson(request)
        const answer = await write(await readJson(request), id ?? '')
        announce({ servers: true, tools: true })
        return reply(response, 200, answer)
      }
    }
    const isKnown = own(reads, route) ?? own(writes, route)
    if (isKnown) throw new ApiError(405, 'wrong-method', `${url.pathname} does not answer ${request.method}.`)
    throw new ApiError(404, 'unknown-path', `There is nothing at ${url.pathname}.`)
  }

  const answerPage = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const redirect = (opened?: Opened) => {
      response.writeHead(303, {
        // Browsers send the part after # to nobody.
        Location: opened ? `/dashboard/#${opened.csrf}` : '/dashboard/',
        ...(opened && {
          'Set-Cookie': `${cookieName(request)}=${opened.cookie}; Path=/dashboard; HttpOnly; SameSite=Strict`,
        }),
      })
      response.end()
    }
    const isOpen = access.find(request) !== undefined
    const code = url.searchParams.get('code')
    if (code !== null && request.method === 'GET') {
      const opened = access.exchange(code)
      if (opened) return redirect(opened)
      if (isOpen) return redirect()
    }
    if (!isOpen) {
      const why =
        code === null ? 'This page needs a link.' : 'This link was used before, or is older than two minutes.'
      return sendText(response, 401, `${why}\n\nGet a new link in a terminal:\n\n    ${linkCommand}\n`)
    }
    if (request.method !== 'GET') throw new ApiError(405, 'wrong-method', 'Pages are read with GET.')
    if (url.pathname === '/dashboard') return redirect()
    if (page === undefined)
      return sendText(response, 404, 'This gateway was started without the page of the dashboard.\n')
    await sendFile(response, page, url.pathname.slice('/dashboard/'.length))
  }

  /** A named token sees its own calls, and the tools and servers of its rights. */
  const answerV1 = (
    request: IncomingMessage,
    url: URL,
    { name: principal, rights, since = 0 }: Principal,
  ): object => {
    if (request.method !== 'GET')
      throw new ApiError(405, 'wrong-method', 'The API is read with GET. Changes need the dashboard.')
    const set = sets.find(undefined)
    const { serverSet } = set
    const view = serverSet.view(rights?.profile, undefined, rights)
    if (!view) throw new ApiError(404, 'unknown-profile', 'The profile of this token does not exist.')
    const isSeen = ({ server, tool }: Pick<ToolRow, 'server' | 'tool'>) =>
      !rights || view.isVisible(server, tool)
    switch (url.pathname) {
      case '/api/v1/calls':
        return listCalls(
          recorder.calls,
          queryOf(url),
          (call) => !rights || (call.principal === principal && Date.parse(call.time) >= since),
        )
      case '/api/v1/tools':
        return { tools: rows(set).flatMap(({ set: _, ...row }) => (isSeen(row) ? [row] : [])) }
      case '/api/v1/servers': {
        const seen = new Set(view.direct.tools().map(({ source }) => source))
        const found = serverSet.servers.inspect().map((report) => serverRow(set, report))
        return {
          servers: found.flatMap((row) => {
            const { name, state, description, tools, quarantined, info, listedAt } = row
            const shown = {
              name,
              state,
              description,
              tools,
              quarantined,
              ...dropUndefined({ info, listedAt }),
            }
            if (rights) return seen.has(name) ? [shown] : []
            const { reason, fix, endpoint, config, processes, starts } = row
            return [{ ...shown, reason, fix, endpoint, processes, starts, ...dropUndefined({ config }) }]
          }),
        } satisfies ServersV1
      }
    }
    throw new ApiError(404, 'unknown-path', 'The API has /api/v1/calls, /api/v1/tools and /api/v1/servers.')
  }

  let isDue = false
  let isAttentionDue = false
  const changed = { servers: false, tools: false }
  const announce = (what: Partial<typeof changed>) => {
    isAttentionDue = true
    Object.assign(changed, what)
    if (isDue || streams.size === 0) return
    isDue = true
    setTimeout(() => {
      isDue = false
      if (isAttentionDue) streams.send('attention', attention())
      streams.send('changed', { ...changed })
      Object.assign(changed, { servers: false, tools: false })
      isAttentionDue = false
    }, COLLECT).unref()
  }
  const unsubscribe = recorder.subscribe((recorded) => {
    if (streams.size === 0) return
    if (recorded.kind === 'call') streams.send('call', toCallRow(recorded.call))
    else streams.send('search', toSearchRow(recorded.search))
  })

  return {
    async handle(request, response, url) {
      for (const [name, value] of Object.entries(SECURITY)) response.setHeader(name, value)
      try {
        if (url.pathname === DASHBOARD_LINK_PATH) {
          const [, given = ''] = /^Bearer +(\S+) *$/i.exec(header(request, 'authorization') ?? '') ?? []
          if (request.method !== 'POST' || !isSame(given, key))
            throw new ApiError(403, 'no-key', `Only the command creates links. Run: ${linkCommand}`)
          const { localPort } = request.socket
          return reply(response, 200, {
            url: `http://127.0.0.1:${localPort}/dashboard/?code=${access.createCode()}`,
          })
        }
        if (url.pathname.startsWith(API)) await answerApi(request, response, url)
        else await answerPage(request, response, url)
      } catch (error) {
        sendError(response, error)
      }
    },
    handleV1(request, response, url, principal) {
      for (const [name, value] of Object.entries(SECURITY)) response.setHeader(name, value)
      try {
        reply(response, 200, answerV1(request, url, principal))
      } catch (error) {
        sendError(response, error)
      }
    },
    onEvent: () => announce({ servers: true, tools: true }),
    get pages() {
      return streams.size
    },
    close() {
      unsubscribe()
      lab.close()
      servers.close()
      streams.close()
    },
  }
}

const API = '/dashboard/api/'

/** `calls/12` becomes `calls/*` and `12`. */
function findRoute(path: string): [route: string, id?: string] {
  const [name = '', id, ...rest] = path.split('/')
  if (id === undefined) return [name]
  if (/^(preview|restart|login)$/.test(id)) return [path]
  return [[name, '*', ...rest].join('/'), id]
}

function own<T>(routes: Readonly<Record<string, T>>, route: string): T | undefined {
  return Object.hasOwn(routes, route) ? routes[route] : undefined
}

function queryOf({ searchParams }: URL): Query {
  return Object.fromEntries(searchParams)
}

async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const text = await readBody(request, LARGEST_BODY)
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text)
    if (isRecord(value)) return value
  } catch {
    // Answered below.
  }
  throw new ApiError(400, 'not-json', 'The body must be a JSON object.')
}

function sendError(response: ServerResponse, error: unknown): void {
  const known =
    error instanceof ApiError
      ? error
      : error instanceof RequestTooLarge
        ? new ApiError(413, 'too-large', error.message)
        : undefined
  if (!known) throw error
  const { status, code, message } = known
  // The rest of a refused body is not read.
  response.setHeader('Connection', 'close')
  reply(response, status, { error: { code, message } } satisfies ErrorAnswer)
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': TYPES['.txt'] })
  response.end(text)
}

/** Other paths give the page, which shows the view that the path names. */
async function sendFile(response: ServerResponse, folder: string, path: string): Promise<void> {
  const isFile = /^[\w-][\w./-]*\.[\w]+$/.test(path) && !path.includes('..')
  const name = isFile ? path : 'index.html'
  const type = TYPES[extname(name)]
  const content = type === undefined ? undefined : await readFile(join(folder, name)).catch(() => undefined)
  if (!content) return sendText(response, 404, `There is nothing at /dashboard/${path}.\n`)
  response.writeHead(200, {
    'Content-Type': type,
    'Content-Length': content.length,
    // The names of these files contain a hash of their content.
    ...(name.startsWith('assets/') ? { 'Cache-Control': 'private, max-age=31536000, immutable' } : {}),
  })
  response.end(content)
}
