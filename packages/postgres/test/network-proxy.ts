/** A TCP proxy on loopback that can lose answers and cut connections. */
import { connect, createServer, type Socket } from 'node:net'

export interface NetworkProxy {
  readonly port: number
  /** Passes the next bytes that contain this text to the server, drops the answer, and cuts the connection after it. */
  loseAnswerTo(text: string): Promise<void>
  cutAll(): void
  /** Cuts every connection, and each new one, until `start`. */
  stop(): void
  start(): void
  close(): Promise<void>
}

export async function startProxy(target: number): Promise<NetworkProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let watched: { readonly text: string; readonly done: () => void } | undefined
  let isStopped = false
  const server = createServer((client) => {
    if (isStopped) {
      client.destroy()
      return
    }
    const upstream = connect(target, '127.0.0.1')
    const pair = [client, upstream] as const
    pairs.add(pair)
    let losing: (() => void) | undefined
    client.on('data', (bytes) => {
      if (watched !== undefined && bytes.includes(watched.text)) {
        losing = watched.done
        watched = undefined
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      // 'Z' is the message that ends an answer: the statement has been committed.
      if (losing === undefined) client.write(bytes)
      else if (bytes.includes(Buffer.from([0x5a, 0, 0, 0, 5]))) {
        client.destroy()
        upstream.destroy()
        losing()
      }
    })
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.on('close', () => {
        pairs.delete(pair)
        for (const each of pair) each.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cutAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  return {
    port: (server.address() as { port: number }).port,
    loseAnswerTo: (text) =>
      new Promise((done) => {
        watched = { text, done }
      }),
    cutAll,
    stop() {
      isStopped = true
      cutAll()
    },
    start() {
      isStopped = false
    },
    close() {
      cutAll()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
