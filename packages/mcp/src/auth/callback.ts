/** Where the browser comes back to: a listener on loopback for one login. It answers no other request. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

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
export async function listenForCallback(port: number): Promise<Callback> {
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
