/** The middle of a login: a listener for the browser, the address that the user opens, and the wait for an answer. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  auth,
  computeScopeUnion,
  type OAuthDiscoveryState,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client'
import { defined } from '@toolwell/core/internal'
import { quoted } from '../upstream/failures.js'
import type { Challenge, Draft, LoginAttempt } from './login-attempt.js'
import { describeLoginError } from './login-error.js'

/** On the port of the config; else on that of the last login, because a client is registered with its port; else on any. */
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
          `Port ${port} of this machine cannot be listened on (${codeOf(error)}).`,
          'End the program that holds it, or change "callbackPort" in the config.',
          error,
        )
    }
  }
  throw new Error('no port was tried')
}

/** Introduces this program to the authorization server, and gives the address for the user. */
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
      ...defined({ resourceMetadataUrl, scope }),
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
    'Tell whoever runs the server that its authorization endpoint must be https.',
  )
}

function registrationFailure(
  { name, failures }: LoginAttempt,
  discovery: OAuthDiscoveryState,
  redirectUrl: string,
  error: unknown,
) {
  const isUnknown = error instanceof RegistrationRejectedError || /registration/.test(String(error))
  if (!isUnknown) return failures.refused('cannot be logged in to', error)
  if (!discovery.authorizationServerMetadata && !discovery.resourceMetadata)
    return failures.make(
      'unsupported',
      `${name} asks for credentials and does not say where to log in.`,
      'If it takes a key, put it into its config: "headers": { "Authorization": "Bearer ${NAME_OF_A_VARIABLE}" }.',
      error,
    )
  return failures.make(
    'not-registered',
    `${name} takes only clients that it knows (${describeLoginError(error)}).`,
    `Register one with redirect address ${redirectUrl} and put it into the config: "oauth": { "clientId": "…", "callbackPort": ${new URL(redirectUrl).port} }.`,
    error,
  )
}

export interface UserOptions {
  readonly timeout: number
  readonly onAddress: (address: URL) => void | Promise<void>
  readonly onStray: (() => void) | undefined
}

/** Shows the address, and waits for the browser to come back. */
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
  // Whoever opens the address may wait for its last page, which is shown when all is done.
  const opened = (async () => onAddress(address))().then(() => answered)
  try {
    return await Promise.race([answered, opened])
  } catch (error) {
    const cancelled = failures.ifCancelled(error)
    if (cancelled) throw cancelled
    // It could not even be shown.
    if (!late.aborted) throw error
    const time = timeout < 1000 ? `${timeout} ms` : `${Math.round(timeout / 1000)} s`
    if (strays > 0)
      throw failures.make(
        'wrong-state',
        `No answer to this login came within ${time}; ${strays} to another did.`,
        'Run it again, and use the address that it prints, not an older page.',
      )
    // An authorization server that does not know its client tells only the user.
    const anew = ` If the page does not know this program, run toolwell logout ${quoted(name)} first.`
    throw failures.make(
      'timeout',
      `Nobody answered within ${time}.`,
      `Run it again, or give it longer.${draft.isReused ? anew : ''}`,
    )
  }
}

/** A browser, or whatever opens addresses, must get nothing else from a server. */
function isSafe({ protocol, hostname }: URL): boolean {
  return (
    protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
  )
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? String(error)
}

// Where the browser comes back to: a listener on loopback for one login. It answers no other request.

const PATH = '/callback'

/** What the user reads in the browser at the end. */
export interface Page {
  readonly title: string
  readonly text: string
}

export interface Answer {
  readonly parameters: URLSearchParams
  /** Shows how it ended. The browser waits for it. */
  show(page: Page): Promise<void>
}

export interface Callback {
  readonly url: string
  /** The answer with this state. Others are refused, and counted as strays. */
  answer(state: string, signal: AbortSignal, onStray: () => void): Promise<Answer>
  /** Idempotent. */
  close(): Promise<void>
}

/** Rejects with `EADDRINUSE` where the port is taken; 0 is any that is free. */
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
          // Whoever does not know the state was not sent by the login that waits here, and cannot end it.
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

/** Another site may have a DNS name that points to this machine. */
function isOurs({ headers }: IncomingMessage, port: number): boolean {
  return headers.host === `127.0.0.1:${port}` || headers.host === `localhost:${port}`
}

function refuse(response: ServerResponse): Promise<void> {
  return send(response, 400, {
    title: 'This is not the login that is expected',
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
