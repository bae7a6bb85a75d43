/** The state that every page shares: requests to the gateway, its session, and its events. */
import { signal } from '@preact/signals'
import type {
  Attention,
  CallRow,
  ChangeResult,
  DashboardEvents,
  ErrorAnswer,
  NowAnswer,
  SessionAnswer,
} from '@toolwell/gateway/api'
import { useEffect, useRef, useState } from 'preact/hooks'
import { plural } from './format.js'

const API = '/dashboard/api/'
const MOST_CALLS = 200
const CSRF = 'toolwell-csrf'

/**
 * Keeps the CSRF token of a link, which is in the address after #. The storage belongs to this port, but browsers send the cookie
 * to every port.
 */
export function keepCsrfToken(): void {
  const [, token] = /^#([\w-]{32})$/.exec(location.hash) ?? []
  if (token === undefined) return
  localStorage.setItem(CSRF, token)
  history.replaceState(null, '', location.pathname + location.search)
}

const csrf = () => localStorage.getItem(CSRF) ?? ''

export const session = signal<SessionAnswer | undefined>(undefined)
/** `ended`: the cookie is gone. `lost`: the gateway does not answer, and the page tries again. */
export const connection = signal<'opening' | 'live' | 'lost' | 'ended'>('opening')
export const attention = signal<readonly Attention[]>([])
/** Newest first. */
export const calls = signal<readonly CallRow[]>([])
/** Grow when the gateway says that something changed. A page that reads one of them loads again. */
export const revisions = { servers: signal(0), tools: signal(0), calls: signal(0), searches: signal(0) }
/** Where to add a server. */
export const configFile = () => {
  const [set] = session.value?.sets ?? []
  return set?.missing[0] ?? set?.files[0] ?? 'toolwell.json'
}
/** For screen readers. */
export const announcement = signal('')
export const clock = signal(Date.now())

interface Toast {
  readonly text: string
  readonly isProblem?: boolean
  readonly undo?: () => Promise<unknown>
  /** A page that was opened, in case the browser blocked it. */
  readonly opened?: string
}
export const toast = signal<Toast | undefined>(undefined)

async function ask<T>(path: string, body?: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json', 'X-Toolwell-Csrf': csrf() }
  const init: RequestInit =
    body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  let response: Response
  try {
    response = await fetch(API + path, init)
  } catch {
    throw new Error('The gateway does not answer. Check that it is running.')
  }
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return answer as T
  if (response.status === 401) connection.value = 'ended'
  const message = (answer as ErrorAnswer | undefined)?.error?.message
  throw new Error(message ?? `The gateway answered with status ${response.status}.`)
}

export const get = <T>(path: string): Promise<T> => ask<T>(path)
export const post = <T>(path: string, body: object): Promise<T> => ask<T>(path, body)

/** Runs something the user asked for, and shows why it failed. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    toast.value = { text: error instanceof Error ? error.message : String(error), isProblem: true }
    return false
  }
}

export const offerUndo = ({ id, title }: ChangeResult): void => {
  toast.value = { text: title, undo: () => post(`changes/${id}/undo`, {}) }
}

export interface Loaded<T> {
  readonly data: T | undefined
  readonly error: string | undefined
}

/** What each address answered last, so that a page shows at once when the user returns. */
const answers = new Map<string, unknown>()

/** Loads an address of the API, and again after its revision grows, at most every second. */
export function useAnswer<T>(path: string | undefined, revision = 0): Loaded<T> {
  const [state, setState] = useState<{ path: string | undefined; error?: string }>({ path })
  const last = useRef({ path, at: 0 })
  useEffect(() => {
    if (path === undefined) return
    let isCurrent = true
    const load = async () => {
      last.current = { path, at: Date.now() }
      const error = await get<T>(path).then(
        (data) => void answers.set(path, data),
        (reason: Error) => reason,
      )
      if (isCurrent) setState({ path, ...(error && { error: error.message }) })
    }
    const { path: before, at } = last.current
    const timer = setTimeout(load, before === path ? Math.max(0, at + 1000 - Date.now()) : 0)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [path, revision])
  const data = path === undefined ? undefined : (answers.get(path) as T | undefined)
  return { data, error: state.path === path ? state.error : undefined }
}

export async function loadAll(): Promise<void> {
  const [opened, now] = await Promise.all([get<SessionAnswer>('session'), get<NowAnswer>('now')])
  session.value = opened
  attention.value = now.attention
  calls.value = now.calls
  for (const revision of Object.values(revisions)) revision.value++
}

const listeners: { readonly [K in keyof DashboardEvents]: (data: DashboardEvents[K]) => void } = {
  hello() {
    connection.value = 'live'
    // Events before the connection were missed.
    void attempt(loadAll)
  },
  call(call) {
    calls.value = [call, ...calls.value].slice(0, MOST_CALLS)
    revisions.calls.value++
  },
  search() {
    revisions.searches.value++
  },
  attention(now) {
    if (now.length > attention.value.length)
      announcement.value = `${plural(now.length, 'thing')} waiting for you.`
    attention.value = now
    revisions.servers.value++
  },
  changed({ servers, tools }) {
    if (servers) revisions.servers.value++
    if (tools) revisions.tools.value++
  },
  missed: () => void attempt(loadAll),
  bye() {
    connection.value = 'lost'
  },
}

let source: EventSource | undefined

/** Listens while the page is visible: a browser opens only six connections to one address, shared by all tabs. */
export function listen(): void {
  const open = () => {
    if (source || document.hidden || connection.value === 'ended') return
    source = new EventSource(`${API}events?csrf=${encodeURIComponent(csrf())}`)
    for (const [name, listener] of Object.entries(listeners))
      source.addEventListener(name, (event) =>
        listener(JSON.parse((event as MessageEvent<string>).data) as never),
      )
    source.onerror = () => {
      close()
      if (connection.value === 'live') connection.value = 'lost'
      // Finds out whether the cookie is gone, too.
      setTimeout(() => get('session').then(open, open), 2000)
    }
  }
  const close = () => {
    source?.close()
    source = undefined
  }
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) close()
    else open()
  })
  open()
  setInterval(() => {
    clock.value = Date.now()
  }, 5000)
}
