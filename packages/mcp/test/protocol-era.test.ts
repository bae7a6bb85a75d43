/** The protocol era of local servers: order of answers decides it, not time. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineServer, type ServerConfig } from '@toolwell/mcp'
import { expect, it, onTestFinished } from 'vitest'
import { type OpenOptions, openClient } from '../src/upstream/open-client.js'
import { createWatchdog } from '../src/upstream/watchdog.js'
import { oddServer } from './support/odd-server.js'
import { temporary } from './support/temporary.js'

const program = fileURLToPath(new URL('support/modern-server.mjs', import.meta.url))
const modern = (way: string) =>
  defineServer('modern', {
    command: process.execPath,
    args: [program, way],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  })

async function open(server: ServerConfig, more: Partial<OpenOptions> = {}) {
  const watchdog = createWatchdog()
  const { client } = await openClient({
    server,
    version: '0',
    watchdog,
    capabilities: {},
    era: undefined,
    auth: undefined,
    hide: (text) => text,
    timeout: 120_000,
    // No process starts so quickly.
    probeTimeout: 1,
    signal: new AbortController().signal,
    onListChanged: () => undefined,
    prepare: () => undefined,
    ...more,
  })
  onTestFinished(async () => {
    await client.close()
    watchdog.close()
  })
  return client
}

it.each(['stdio', 'stdio-modern'])(
  'a server that starts slowly keeps the newer protocol (%s)',
  async (way) => {
    const client = await open(modern(way))
    expect(client.getProtocolEra()).toBe('modern')
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'ask'])
  },
)

it.each([{}, { ignoresProbe: true }])(
  'an older server that starts slowly is started once (%o)',
  async (manners) => {
    const log = join(temporary(), 'log')
    const client = await open(oddServer('odd', { ...manners, log }))
    expect(client.getProtocolEra()).toBe('legacy')
    expect(readFileSync(log, 'utf8').match(/start/g)).toHaveLength(1)
  },
)

it('a server that was known as older may have become one of the newer protocol only', async () => {
  const client = await open(modern('stdio-modern'), { era: 'legacy' })
  expect(client.getProtocolEra()).toBe('modern')
})

it('a server known to have the newer protocol is not started twice because it starts slowly', async () => {
  let starts = 0
  await open(modern('stdio'), { era: 'modern', prepare: () => void starts++ })
  expect(starts).toBe(1)
})
