import { lookup } from 'node:dns'
import { lookup as lookupPromise } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { isLoopback } from './setup/is-loopback.js'

const refused = (host: string) => `Tests may only connect to loopback, not to ${host}`

/** The emitter's first error. An attempt that reached the network would end in a time-out or in another message. */
async function errorOf(emitter: NodeJS.EventEmitter): Promise<string> {
  const [error] = await once(emitter, 'error')
  return error.message
}

async function serving<T>(
  address: { path: string } | undefined,
  use: (port: number) => Promise<T>,
): Promise<T> {
  const server = createServer((_request, response) => response.end('here'))
  const listening = once(server, 'listening')
  if (address) server.listen(address.path)
  else server.listen(0, '127.0.0.1')
  await listening
  try {
    return await use((server.address() as AddressInfo).port)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

describe('tests reach nothing but this machine', () => {
  it('refuses fetch to a public name without resolving it', async () => {
    const error = await fetch('https://example.com/').catch((reason: unknown) => reason)
    expect((error as Error).cause).toMatchObject({ message: refused('example.com') })
  })

  it.each([
    ['options', () => connect({ host: '192.0.2.1', port: 9 })],
    ['port and host', () => connect(9, '192.0.2.1')],
    ['a socket of its own', () => new Socket().connect(9, '192.0.2.1')],
    ['a port as text', () => new Socket().connect('9' as unknown as number, '192.0.2.1')],
    ['TLS', () => connectTls({ host: '192.0.2.1', port: 9 })],
    ['http', () => get('http://192.0.2.1:9/')],
  ])('refuses a connection to a public address by %s', async (_by, open) => {
    expect(await errorOf(open())).toBe(refused('192.0.2.1'))
  })

  it('refuses a connection whose first bytes are written before it is open', async () => {
    const socket = connect(9, '192.0.2.1')
    socket.write('early')
    expect(await errorOf(socket)).toBe(refused('192.0.2.1'))
  })

  it('refuses at once, within the tick that would start connecting', async () => {
    const socket = connect(9, '192.0.2.1')
    socket.on('error', () => {})
    await new Promise(process.nextTick)
    expect(socket.destroyed).toBe(true)
  })

  it('refuses to look up public names', async () => {
    const failure = await new Promise((resolve) => lookup('example.com', resolve))
    expect(failure).toMatchObject({ message: refused('example.com') })
    await expect(lookupPromise('example.com')).rejects.toThrow(refused('example.com'))
  })

  it('looks up localhost', async () => {
    expect(isLoopback((await lookupPromise('localhost')).address)).toBe(true)
  })

  it.each(['127.0.0.1', 'localhost'])('lets fetch through to %s', async (host) => {
    const text = await serving(undefined, async (port) => (await fetch(`http://${host}:${port}/`)).text())
    expect(text).toBe('here')
  })

  it('lets a Unix socket through', async () => {
    const path = join(tmpdir(), `toolwell-loopback-${process.pid}.sock`)
    const status = await serving({ path }, async () => {
      const [response] = await once(get({ socketPath: path, path: '/' }), 'response')
      response.resume()
      return response.statusCode
    })
    expect(status).toBe(200)
  })

  it.each([
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    'localhost',
    'LOCALHOST.',
  ])('counts %s as loopback', (host) => expect(isLoopback(host)).toBe(true))

  it.each([
    '128.0.0.1',
    '0.0.0.0',
    '::',
    '::2',
    'fe80::1%eth0',
    '127.example.com',
    'localhost.example.com',
    '',
  ])('does not count "%s" as loopback', (host) => expect(isLoopback(host)).toBe(false))
})
