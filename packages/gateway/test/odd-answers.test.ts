/** Invalid answers of servers become errors that the model can read, in both protocol generations and over every transport. */
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openClient } from './support/clients.js'
import { authorized, type Started, startGateway } from './support/gateway.js'

const hostile = fileURLToPath(new URL('support/hostile-server.mjs', import.meta.url))
const start = () => startGateway({ mcpServers: { hostile: { command: process.execPath, args: [hostile] } } })

type Ask = (tool: string, input: object) => Promise<string>

async function overHttp(kind: 'v1' | 'v2 modern', { url }: Started): Promise<Ask> {
  const client = await openClient(kind, `${url}/mcp`)
  return async (tool, input) => {
    const { content, isError } = await client.call('run_tool', {
      name: `hostile__${tool}`,
      arguments: input,
    })
    return `${isError ? 'error: ' : ''}${content[0]?.text}`
  }
}

/** As a bridge passes it on. */
function overStdio({ port }: Started): Promise<Ask> {
  return new Promise((resolve) => {
    const headers = { ...authorized, Connection: 'Upgrade', Upgrade: 'toolwell-stdio' }
    const asked = request({ port, host: '127.0.0.1', path: '/mcp', headers })
    asked.on('upgrade', (_, socket) => {
      const ask = (message: object) =>
        new Promise<{ content: { text: string }[]; isError?: boolean }>((answered) => {
          let said = ''
          const listen = (data: Buffer) => {
            said += String(data)
            // Other lines are notifications.
            const line = said.split('\n').find((each) => each.includes('"result"'))
            if (line === undefined || !said.endsWith('\n')) return
            socket.off('data', listen)
            answered(JSON.parse(line).result)
          }
          socket.on('data', listen)
          socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })}\n`)
        })
      const clientInfo = { name: 'raw', version: '1' }
      const greeting = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
      void ask({ method: 'initialize', params: greeting }).then(() =>
        resolve(async (tool, input) => {
          const params = { name: 'run_tool', arguments: { name: `hostile__${tool}`, arguments: input } }
          const { content, isError } = await ask({ method: 'tools/call', params })
          return `${isError ? 'error: ' : ''}${content[0]?.text}`
        }),
      )
    })
    asked.end()
  })
}

const ways: Record<string, (started: Started) => Promise<Ask>> = {
  'a session': (started) => overHttp('v1', started),
  'single requests': (started) => overHttp('v2 modern', started),
  'a bridge': overStdio,
}

describe.each(Object.keys(ways))('over %s', (way) => {
  it('a result that is nested too deeply is an error, and counts as failed', async () => {
    const started = await start()
    const ask = await ways[way]?.(started)
    if (!ask) throw new Error('no way')
    const inputs = [2000, 5000, 100_000].flatMap((levels) => [
      { levels, isMeta: false },
      { levels, isMeta: true },
    ])
    for (const input of inputs)
      expect(await ask('deep', input)).toBe(
        'error: hostile__deep failed: the result cannot be passed on: it is nested too deeply',
      )
    expect(await ask('deep', { levels: 50 })).toBe('deep')
    expect((await started.gateway.inspect()).counts).toMatchObject({ calls: 7, failed: 6 })
    expect(await ask('echo', { text: 'still here' })).toBe('still here')
  })
})

it('a prompt or resource that is nested too deeply is an error', async () => {
  const { url } = await start()
  const client = new Client({ name: 'old', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: authorized },
  })
  await client.connect(transport as Parameters<typeof client.connect>[0])
  onTestFinished(() => client.close())
  const problem = 'the result cannot be passed on: it is nested too deeply'
  await expect(client.getPrompt({ name: 'hostile__deep' })).rejects.toThrow(problem)
  await expect(client.readResource({ uri: 'deep://' })).rejects.toThrow(problem)
})

it.each([null, 'text', 5, [], [{}]])(
  'an answer with the result %j is distinguished from silence',
  async (value) => {
    const ask = await overHttp('v2 modern', await start())
    expect(await ask('none', { value })).toMatch(
      /^error: hostile__none failed: hostile could not run none: its answer is not a valid result/,
    )
    expect(await ask('echo', { text: 'still here' })).toBe('still here')
  },
)
