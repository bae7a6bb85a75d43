/** Replicas of a gateway: the built command, each with a separate home, and a load balancer before them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { text as readText } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { folderWith } from './run.js'

const program = fileURLToPath(new URL('../../bin/toolwell.mjs', import.meta.url))

export interface Replica {
  readonly port: number
  readonly url: string
  readonly process: ChildProcess
  /** Everything that it has printed. */
  readonly output: () => string
  /** Resolves with the exit code, or null after a signal. */
  readonly exited: Promise<number | null>
}

export interface Machine {
  /** Resolves when the gateway listens. Every start on this machine uses the same port and files. */
  start(): Promise<Replica>
}

/** `words` follow `serve`; `env` has the database and the key. */
export function createMachine(words: readonly string[], env: Readonly<Record<string, string>>): Machine {
  const home = folderWith({})
  let port = 0
  const places = Object.fromEntries(
    ['CONFIG', 'CACHE', 'DATA', 'STATE'].map((name) => [`XDG_${name}_HOME`, `${home}/${name}`]),
  )
  return {
    async start() {
      const child = spawn(process.execPath, [program, 'serve', '--port', String(port), ...words], {
        cwd: home,
        env: { PATH: process.env.PATH, HOME: home, ...places, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      const exited = once(child, 'exit').then(([code]) => code as number | null)
      let output = ''
      const listening = new Promise<number>((resolve) => {
        for (const stream of [child.stdout, child.stderr])
          createInterface({ input: stream }).on('line', (line) => {
            output += `${line}\n`
            const [, found] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? []
            if (found !== undefined) resolve(Number(found))
          })
      })
      const failed = exited.then((code) => {
        throw new Error(`The replica ended with ${code}: ${output}`)
      })
      failed.catch(() => undefined)
      port = await Promise.race([listening, failed])
      return { port, url: `http://127.0.0.1:${port}`, process: child, output: () => output, exited }
    },
  }
}

export interface Balanced {
  readonly body: string
  readonly replica: Replica
}

/**
 * Passes each request to the next replica, and to another one only if it could not connect. Calls `onLost` with a request whose
 * replica broke off.
 */
export async function startBalancer(
  replicas: () => readonly Replica[],
  onLost: (request: Balanced) => void,
): Promise<string> {
  let turn = 0
  // Clients must not meet a connection that closes at this moment.
  const server = createServer({ keepAliveTimeout: 65_000 }, async (asked, response) => {
    const body = await readText(asked)
    const order = replicas()
    const first = turn++
    const tryNext = (attempt: number) => {
      const replica = order[(first + attempt) % order.length]
      if (!replica || attempt === order.length) return response.writeHead(503).end('No replica answers.')
      const { method, url, headers } = asked
      const passed = request({ port: replica.port, method, path: url, headers, agent: false }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.on('error', (error) => response.destroy(error))
        answer.on('close', () => {
          if (answer.complete) return
          onLost({ body, replica })
          response.destroy()
        })
        answer.pipe(response)
      })
      response.on('close', () => passed.destroy())
      passed.on('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'ECONNREFUSED') return tryNext(attempt + 1)
        if (response.headersSent || response.destroyed) return
        onLost({ body, replica })
        response.writeHead(502).end('The gateway broke off. The outcome of the request is unknown.')
      })
      passed.end(body)
    }
    tryNext(0)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
