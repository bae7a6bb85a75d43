/** What all steps of one login share: whose it is, where it is kept, and when to stop. */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { OAuthSettings, ServerConfig } from '../config/server-config.js'
import { createLoginFailures, type LoginFailures } from './login-failures.js'
import type { Login, LoginStore } from './login-store.js'
import { boundedFetch } from './stored-auth.js'

/** For each question to a server, in milliseconds. */
export const ANSWER_TIMEOUT = 30_000

export interface LoginAttempt {
  readonly server: ServerConfig
  readonly name: string
  readonly url: string
  readonly oauth: OAuthSettings | undefined
  readonly store: LoginStore
  /** What an earlier login has left. */
  readonly known: Login
  /** Aborted when the caller gives up, and at the end. */
  readonly stop: AbortSignal
  /** Asks a server, within its time and until `stop`. */
  readonly fetch: FetchLike
  readonly failures: LoginFailures
}

export function createAttempt(
  server: ServerConfig,
  url: string,
  store: LoginStore,
  { signal, over }: { readonly signal: AbortSignal | undefined; readonly over: AbortSignal },
): LoginAttempt {
  const stop = signal ? AbortSignal.any([over, signal]) : over
  const ask = boundedFetch(ANSWER_TIMEOUT)
  return {
    server,
    name: server.name,
    url,
    oauth: server.oauth,
    store,
    known: store.read(server) ?? {},
    stop,
    fetch: (address, init) =>
      ask(address, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, stop]) : stop }),
    failures: createLoginFailures(server, signal),
  }
}
