/** The smallest proxy on the official SDK: one client, one handler, nothing in between. */
import { createServer } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

const [kind, ...rest] = process.argv.slice(2)
const client = new Client({ name: 'proxy', version: '1' }, { versionNegotiation: { mode: 'auto' } })
await client.connect(
  kind === 'http'
    ? new StreamableHTTPClientTransport(new URL(rest[0]))
    : new StdioClientTransport({ command: process.execPath, args: rest }),
)
const { tools } = await client.listTools()
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'proxy', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', ({ params }) => client.callTool(params))
  return server
})
const server = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1', () =>
  process.stdout.write(`${server.address().port}\n`),
)
