/** Middle part of a login: listens for the browser, requests the address for the user, and waits for the answer. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  auth,
  computeScopeUnion,
  type OAuthDiscoveryState,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client'
import { dropUndefined } from '@toolwell/core/internal'
import { quoted } from '../upstream/failures.js'
import type { Challenge, Draft, LoginAttempt } from './login-attempt.js'
import { describeLoginError } from './login-error.js'

/** Listens on the configured port; else on the port of the last login, with which the client is registered; else on any port. */
export async function listen({ oauth, known, failures }: LoginAttempt): Promise<Callback> {
  const before = known.redirectUrl === undefined ? 0 : Number(new URL(known.redirectUrl).port)
  const ports = oauth?.callbackPort === undefined ? [...new Set([before, 0])] : [oauth.callbackPort]
  for (const port of ports) {
    try {
      return await listenForCallback(port)
    } catch (error) {
      if (port === ports.at(-1))
        throw failures.make(
          'port-taken',
          `Cannot listen on port ${port} of this machine (${codeOf(error)}).`,
          'Stop the program that uses the port, or change "callbackPort" in the config.',
          error,
        )
    }
  }
  throw new Error('no port was tried')
}

/** Registers this program with the authorization server if needed, and returns the address for the user. */
export async function requestAddress(
  attempt: LoginAttempt,
  draft: Draft,
  challenge: Challenge | undefined,
  discovery: OAuthDiscoveryState,
  redirectUrl: string,
): Promise<URL> {
  const { name, url, oauth, known, fetch, failures } = attempt
  const resourceMetadataUrl = challenge?.resourceMetadataUrl
  const scope = computeScopeUnion(oauth?.scopes?.join(' ') ?? challenge?.scope, known.wanted)
  try {
    await auth(draft.provider, {
      serverUrl: url,
      ...dropUndefined({ resourceMetadataUrl, scope }),
      fetchFn: fetch,
    })
  } catch (error) {
    throw failures.ifCancelled(error) ?? registrationFailure(attempt, discovery, redirectUrl, error)
  }
  const address = draft.address()
  if (address && isSafe(address)) return address
  throw failures.make(
    'failed',
    `${name} sends its users to an address that is not safe to open.`,
    'Tell the operator of the server that its authorization endpoint must use https.',
  )
}

function registrationFailure(
  { name, failures }: LoginAttempt,
  discovery: OAuthDiscoveryState,
  redirectUrl: string,
  error: unknown,
) {
  const isUnknown = error instanceof RegistrationRejectedError || /registration/.test(String(error))
  if (!isUnknown) return failures.refused('rejected the login', error)
  if (!discovery.authorizationServerMetadata && !discovery.resourceMetadata)
    return failures.make(
      'unsupported',
      `${name} asks for credentials and does not say where to log in.`,
      'If it accepts a key, add the key to its config: "headers": { "Authorization": "Bearer ${NAME_OF_A_VARIABLE}" }.',
      error,
    )
  return failures.make(
    'not-registered',
    `${name} accepts only registered clients (${describeLoginError(error)}).`,
    `Register one with redirect address ${redirectUrl} and add it to the config: "oauth": { "clientId": "…", "callbackPort": ${new URL(redirectUrl).port} }.`,
    error,
  )
}

export interface UserOptions {
  readonly timeout: number
  readonly onAddress: (address: URL) => void | Promise<void>
  readonly onStray: (() => void) | undefined
}

/** Shows the address, and waits for the browser's answer. */
export async function waitForAnswer(
  { name, stop, failures }: LoginAttempt,
  callback: Callback,
  draft: Draft,
  address: URL,
  { timeout, onAddress, onStray }: UserOptions,
): Promise<Answer> {
  let strays = 0
  const late = AbortSignal.timeout(timeout)
  const answered = callback.answer(draft.state, AbortSignal.any([stop, late]), () => {
    strays++
    onStray?.()
  })
  answered.catch(() => undefined)
  // `onAddress` may wait for the last page, which is shown at the very end.
  const opened = (async () => onAddress(address))().then(() => answered)
  try {
    return await Promise.race([answered, opened])
  } catch (error) {
    const cancelled = failures.ifCancelled(error)
    if (cancelled) throw cancelled
    // The address could not be shown.
    if (!late.aborted) throw error
    const time = timeout < 1000 ? `${timeout} ms` : `${Math.round(timeout / 1000)} s`
    if (strays > 0)
      throw failures.make(
        'wrong-state',
        `No answer to this login arrived within ${time}, only ${strays} to other logins.`,
        'Run it again, and use the address that it prints, not an older page.',
      )
    // An authorization server that does not know the client shows this only to the user.
    const hint = ` If the page says that this program is unknown, run toolwell logout ${quoted(name)} first.`
    throw failures.make(
      'timeout',
      `Nobody answered within ${time}.`,
      `Run it again, or increase the timeout.${draft.isReused ? hint : ''}`,
    )
  }
}

/** Only https, or http on loopback: other addresses of a server are not opened. */
function isSafe({ protocol, hostname }: URL): boolean {
  return (
    protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
  )
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? String(error)
}

const PATH = '/callback'

/** The last page in the browser. */
export interface Page {
  readonly title: string
  readonly text: string
}

export interface Answer {
  readonly parameters: URLSearchParams
  /** Shows the result. The browser waits for it. */
  show(page: Page): Promise<void>
}

export interface Callback {
  readonly url: string
  /** Waits for the answer with this state. Calls `onStray` for others. */
  answer(state: string, signal: AbortSignal, onStray: () => void): Promise<Answer>
  /** Idempotent. */
  close(): Promise<void>
}

/** Listens on loopback for the answer to one login. Rejects with `EADDRINUSE` if the port is in use; 0 means any free port. */
async function listenForCallback(port: number): Promise<Callback> {
  let take: (url: URL, response: ServerResponse) => void = (_, response) => void refuse(response)
  const server = createServer((request, response) => {
    const url = addressOf(request)
    if (!url || !isOurs(request, ownPort)) {
      response.writeHead(404, { 'content-type': 'text/plain', connection: 'close' }).end('Not found.\n')
      return
    }
    take(url, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: ownPort } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${ownPort}${PATH}`,
    answer(state, signal, onStray) {
      return new Promise((resolve, reject) => {
        const stop = () => reject(signal.reason)
        if (signal.aborted) return stop()
        signal.addEventListener('abort', stop, { once: true })
        take = ({ searchParams: parameters }, response) => {
          // An answer with another state does not belong to this login and cannot end it.
          if (parameters.get('state') !== state) {
            void refuse(response)
            onStray()
            return
          }
          take = (_, late) => void refuse(late)
          signal.removeEventListener('abort', stop)
          resolve({ parameters, show: (page) => send(response, 200, page) })
        }
      })
    },
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function addressOf({ url = '', method }: IncomingMessage): URL | undefined {
  if (method !== 'GET' || !url.startsWith('/')) return undefined
  const address = URL.canParse(url, 'http://127.0.0.1') ? new URL(url, 'http://127.0.0.1') : undefined
  return address?.pathname === PATH ? address : undefined
}

/** Checks the Host header against DNS rebinding. */
function isOurs({ headers }: IncomingMessage, port: number): boolean {
  return headers.host === `127.0.0.1:${port}` || headers.host === `localhost:${port}`
}

function refuse(response: ServerResponse): Promise<void> {
  return send(response, 400, {
    title: 'This answer belongs to another login',
    text: 'Use the address that was printed last, or run the command again.',
  })
}

async function send(response: ServerResponse, status: number, { title, text }: Page): Promise<void> {
  if (response.destroyed) return
  const body = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:34em;margin:15vh auto;padding:0 1em}</style>
<h1>${escaped(title)}</h1><p>${escaped(text)}</p></html>
`
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  await new Promise<void>((resolve) => {
    response.once('close', resolve)
    response.end(body)
  })
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
