/** Talks to a gateway as a bridge does, line by line. */
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { onTestFinished } from 'vitest'
import { authorized, type Started } from './gateway.js'

export interface Wire {
  /** The answer with the id of the request. */
  ask(message: {
    readonly id: number | string
    readonly [key: string]: unknown
  }): Promise<Record<string, unknown>>
  say(message: object): void
  /** Ends the connection. */
  close(): void
  /** Resolves when the gateway has ended the connection. */
  readonly closed: Promise<void>
}

export async function openWire(
  { port }: Pick<Started, 'port'>,
  path = '/mcp',
  more: Readonly<Record<string, string>> = {},
): Promise<Wire> {
  const headers = { ...authorized, ...more, Connection: 'Upgrade', Upgrade: 'toolwell-stdio' }
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, agent: false, headers })
    asked.on('upgrade', (_, upgraded) => resolve(upgraded))
    asked.on('response', ({ statusCode }) => reject(new Error(`it is refused with ${statusCode}`)))
    asked.on('error', reject)
    asked.end()
  })
  onTestFinished(() => void socket.destroy())
  const waiting = new Map<unknown, (answer: Record<string, unknown>) => void>()
  createInterface({ input: socket }).on('line', (line) => {
    const answer = JSON.parse(line) as Record<string, unknown>
    waiting.get(answer.id)?.(answer)
  })
  const say = (message: object) => void socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  return {
    ask: (message) =>
      new Promise((resolve) => {
        waiting.set(message.id, resolve)
        say(message)
      }),
    say,
    close: () => void socket.destroy(),
    closed: new Promise((resolve) => socket.on('close', () => resolve())),
  }
}
