/** A server with state, in place of a browser: each process has one page. Appends each call to the file in its argument. */
import { appendFileSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const [, , log] = process.argv
const server = new McpServer({ name: 'pages', version: '1.0.0' })
let page = 'about:blank'

function define(name, description, inputSchema, run, annotations = {}) {
  server.registerTool(name, { description, inputSchema, annotations }, (input) => {
    appendFileSync(log, `${process.pid} ${name}\n`)
    return { content: [{ type: 'text', text: `${run(input)} in process ${process.pid}.` }] }
  })
}

define('open_page', 'Open a web page in the browser by its address.', { url: z.string() }, ({ url }) => {
  page = url
  return `Opened ${page}`
})
define('read_page', 'Read the web page that is open in the browser.', {}, () => `The page is ${page}`, {
  readOnlyHint: true,
})
define('erase_page', 'Erase the web page that is open in the browser.', {}, () => `ERASED ${page}`)
define('print_page', 'Print the web page that is open in the browser.', {}, () => `PRINTED ${page}`)

server.server.oninitialized = () => appendFileSync(log, `${process.pid} started\n`)
await server.connect(new StdioServerTransport())
