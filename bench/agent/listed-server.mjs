/** A stdio server that lists the tools of a file: `{ "tools": [ … ] }`. They are never run. */
import { readFileSync } from 'node:fs'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const listed = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const server = new Server({ name: 'listed', version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => listed)
await server.connect(new StdioServerTransport())
