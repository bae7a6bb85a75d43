/** The server behind every measurement: `echo`, `slow` (50 ms) and `count`, over stdio or HTTP, in both protocol generations. */
import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

let count = 0
const inputSchema = { type: 'object', properties: { n: { type: 'number' } } }
const tools = ['echo', 'slow', 'count'].map((name) => ({ name, description: `Does ${name}.`, inputSchema }))

function create() {
  const server = new Server({ name: 'upstream', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const text = (value) => ({ content: [{ type: 'text', text: String(value) }] })
    if (params.name === 'count') return text(count)
    count++
    if (params.name === 'slow') await new Promise((resolve) => setTimeout(resolve, 50))
    return text(params.arguments?.n ?? '')
  })
  return server
}

if (process.argv[2] === 'http') {
  const server = createServer(toNodeHandler(createMcpHandler(create))).listen(0, '127.0.0.1', () =>
    process.stdout.write(`${server.address().port}\n`),
  )
} else serveStdio(create)
