/** Servers over HTTP on loopback: a real one from npm in its own process, and one of the newer protocol in this one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import { createModernServer } from './modern-server.mjs'
import { programOf } from './real-servers.js'

export interface HttpServer {
  readonly url: string
  stop(): Promise<void>
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The server `everything` over Streamable HTTP or SSE. Reuses the port if one is given. */
export async function startEverything(
  kind: 'streamableHttp' | 'sse',
  known?: number,
): Promise<HttpServer & { port: number }> {
  const port = known ?? (await freePort())
  const child = spawn(process.execPath, [programOf('everything'), kind], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  onTestFinished(stop)
  // Read to the end: a server that cannot write to standard error dies of it.
  await new Promise<void>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += String(chunk)
      if (/on port \d+/.test(said)) resolve()
    })
    child.once('exit', () => reject(new Error(`the server did not start: ${said}`)))
  })
  return { url: `http://127.0.0.1:${port}/${kind === 'sse' ? 'sse' : 'mcp'}`, port, stop }
}

export interface ModernOptions {
  readonly tools?: string[]
  readonly cacheHints?: object
  readonly onCall?: (name: string, context: unknown) => void
  /** Sees every request first; true: it has answered. */
  readonly before?: (request: IncomingMessage, response: ServerResponse) => boolean
}

export async function startModern(options: ModernOptions = {}): Promise<HttpServer & { notify(): void }> {
  const handler = createMcpHandler(() => createModernServer(options))
  const node = toNodeHandler(handler)
  const server = createServer((request, response) => {
    if (!options.before?.(request, response)) void node(request as Parameters<typeof node>[0], response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    await handler.close()
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  onTestFinished(stop)
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, stop, notify: () => void handler.notify.toolsChanged() }
}
