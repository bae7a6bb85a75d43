/** Servers that send a gigabyte, ask a thousand questions or have hostile names, and clients that never answer. */
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { authorized, entry, startGateway } from './support/gateway.js'

const heavy = (more: object = {}) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('support/heavy-server.mjs', import.meta.url))],
  cwd: fileURLToPath(new URL('.', import.meta.url)),
  share: 'client',
  ...more,
})
const tools = [describedTool('echo')]

async function open(url: string, era: 'legacy' | 'modern', answer: () => Promise<object>): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { elicitation: {} },
      inputRequired: { maxRounds: 2000 },
      ...(era === 'modern' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
    },
  )
  client.setRequestHandler('elicitation/create', answer as never)
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorized } }),
  )
  onTestFinished(() => client.close())
  return client
}

const accept = async () => ({ action: 'accept', content: {} })
const read = ({ content }: { readonly content?: unknown }) => (content as { text?: string }[])[0]?.text ?? ''
const FOREVER = { timeout: 200_000, maxTotalTimeout: 200_000 }

describe.each(['legacy', 'modern'] as const)('a %s client', (era) => {
  it('gets an error for a resource of 1 GB, and the gateway keeps its memory and serves on', async () => {
    const { url, listed } = await startGateway({
      mcpServers: { heavy: heavy(), odd: entry(oddServer('odd', { tools })) },
    })
    await listed()
    const client = await open(`${url}/mcp/all`, era, accept)
    await client.listResources()
    const before = process.memoryUsage().rss
    const failed = client.readResource({ uri: 'big://one' }, FOREVER)
    await expect(failed).rejects.toThrow(/heavy/)
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024)
    expect((await client.callTool({ name: 'odd__echo', arguments: {} })).isError).not.toBe(true)
  })

  it('answers the questions of one call, which may ask 1,000 times, or 100 times across protocols', async () => {
    const { url, listed } = await startGateway({ mcpServers: { heavy: heavy({ timeout: '10m' }) } })
    await listed()
    let asked = 0
    const client = await open(`${url}/mcp/all`, era, () => {
      asked++
      return accept()
    })
    const result = await client.callTool({ name: 'heavy__ask', arguments: { times: 1000 } }, FOREVER)
    const answered = era === 'legacy' ? 1000 : 100
    expect(read(result)).toBe(`${answered} answers`)
    expect(asked).toBe(answered)
    // The limit belongs to the call, not to the client.
    expect(read(await client.callTool({ name: 'heavy__ask', arguments: { times: 1 } }, FOREVER))).toBe(
      '1 answers',
    )
  })

  it('that never answers a question ends its call after the timeout, and delays nobody', async () => {
    const { url, listed } = await startGateway({ mcpServers: { heavy: heavy({ timeout: '3s' }) } })
    await listed()
    const silent = await open(`${url}/mcp/all`, era, () => new Promise(() => undefined))
    const ended = silent.callTool({ name: 'heavy__ask', arguments: {} }, FOREVER)
    const other = await open(`${url}/mcp/all`, 'legacy', accept)
    expect(read(await other.callTool({ name: 'heavy__ask', arguments: {} }))).toBe('1 answers')
    if (era === 'legacy') expect(read(await ended)).toContain('3 s')
    // The question of the newer protocol ended the request; the server's call ends alone.
    else void ended.catch(() => undefined)
    expect(read(await other.callTool({ name: 'heavy__ask', arguments: {} }))).toBe('1 answers')
  })

  it('gets prompts with hostile names from their server, or not at all', async () => {
    const { url, listed } = await startGateway({ mcpServers: { heavy: heavy() } })
    await listed()
    const client = await open(`${url}/mcp`, era, accept)
    const { prompts } = await client.listPrompts()
    const names = prompts.map(({ name }) => name)
    expect(names).toContain('plain')
    expect(names.some((name) => /ignore previous/.test(name))).toBe(false)
    expect(Math.max(...names.map(({ length }) => length))).toBeLessThan(1001)
    for (const name of names) {
      const { messages } = await client.getPrompt({ name })
      expect(messages[0]?.content).toEqual({ type: 'text', text: name })
    }
    for (const name of ['toString', 'x'.repeat(1001), 'nothing'])
      await expect(client.getPrompt({ name })).rejects.toThrow(/Unknown prompt/)
  })
})
