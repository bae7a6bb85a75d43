/** Opens the dashboard of a gateway as a browser does: with a link, its cookie and its CSRF token. */
import { type IncomingHttpHeaders, request } from 'node:http'
import type { DashboardEvents, SessionAnswer } from '@toolwell/gateway/api'
import { onTestFinished } from 'vitest'
import { type Started, startGateway } from './gateway.js'

export const KEY = 'the-key-of-this-daemon-in-tests'

export interface Answer<T> {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: T
}

/** Sends any headers, which `fetch` does not. */
export function ask<T = { error: { code: string; message: string } }>(
  { port }: Pick<Started, 'port'>,
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer<T>> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => {
        const { statusCode: status = 0, headers: given } = response
        const isJson = given['content-type'] === 'application/json'
        resolve({ status, headers: given, text, body: (isJson ? JSON.parse(text) : undefined) as T })
      })
      response.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

export async function createLink(started: Pick<Started, 'port'>): Promise<string> {
  const headers = { Authorization: `Bearer ${KEY}` }
  const { body } = await ask<{ url: string }>(started, '/dashboard/link', { method: 'POST', headers })
  const { pathname, search } = new URL(body.url)
  return pathname + search
}

export interface Opened extends Started {
  readonly cookie: string
  readonly csrf: string
  readonly session: SessionAnswer
  /** The id of the first set. */
  readonly set: string
  get<T>(route: string): Promise<T>
  post<T>(route: string, body: unknown, headers?: Record<string, string>): Promise<Answer<T>>
}

export async function openDashboard(...[config, options]: Parameters<typeof startGateway>): Promise<Opened> {
  const started = await startGateway(config, { key: KEY, ...options })
  const { headers } = await ask(started, await createLink(started))
  const [cookie = ''] = (headers['set-cookie']?.[0] ?? '').split(';')
  const csrf = new URL(headers.location ?? '', started.url).hash.slice(1)
  const access = { Cookie: cookie, 'X-Toolwell-Csrf': csrf }
  const get = async <T>(route: string) => {
    const answer = await ask<T>(started, `/dashboard/api/${route}`, { headers: access })
    if (answer.status !== 200) throw new Error(`${route}: ${answer.status} ${answer.text}`)
    return answer.body
  }
  const session = await get<SessionAnswer>('session')
  return {
    ...started,
    cookie,
    csrf,
    session,
    set: session.sets[0]?.id ?? '',
    get,
    post: (route, body, more = {}) =>
      ask(started, `/dashboard/api/${route}`, {
        method: 'POST',
        headers: { ...access, 'Content-Type': 'application/json', ...more },
        body,
      }),
  }
}

type Event = { [N in keyof DashboardEvents]: { name: N; data: DashboardEvents[N] } }[keyof DashboardEvents]

/** Reads events until one passes. */
export async function watchEvents({ port, cookie, csrf }: Opened): Promise<{
  readonly events: Event[]
  until(test: (event: Event) => boolean): Promise<Event>
  readonly ended: Promise<void>
}> {
  const events: Event[] = []
  const waiting = new Set<() => void>()
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const asked = request({
    host: '127.0.0.1',
    port,
    path: `/dashboard/api/events?csrf=${csrf}`,
    headers: { Cookie: cookie },
    agent: false,
  })
  onTestFinished(() => void asked.destroy())
  asked.on('error', () => end())
  asked.end()
  asked.on('response', (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      text += piece
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
        if (name && data) events.push({ name, data: JSON.parse(data) } as Event)
      }
      for (const look of waiting) look()
    })
    response.on('close', () => end())
  })
  const until = (test: (event: Event) => boolean) =>
    new Promise<Event>((resolve) => {
      const look = () => {
        const found = events.find(test)
        if (!found) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
    })
  await until(({ name }) => name === 'hello')
  return { events, until, ended }
}

/** Asks again until the answer is true. */
export async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (
    const end = Date.now() + 60_000;
    !(await holds());
    await new Promise((resolve) => setTimeout(resolve, 20))
  )
    if (Date.now() > end) throw new Error(`not in a minute: ${what}`)
}
