/**
 * Two more servers for `npm start`, one that fails and one that changes a definition, and clients that use the servers. So the
 * dashboard is not empty at the first look.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { readToken } from '@toolwell/gateway/bridge'
import type { Place } from './place.ts'

/** Needs no packages, so it may be copied. */
export const TICKETS = fileURLToPath(new URL('tickets-server.mjs', import.meta.url))

export const sampleServers = (tickets: string) => ({
  tickets: { command: 'node', args: [tickets] },
  billing: {
    command: process.execPath,
    args: ['-e', 'console.error("error: BILLING_URL is not set"); process.exit(1)'],
  },
})

/** Three clients in two projects. Each call is real; some of them fail. */
export async function playSample(place: Place, port: number): Promise<void> {
  const { folder, project } = place
  const file = join(project, 'src', 'invoice.js')
  const other = join(folder, 'website')
  mkdirSync(other, { recursive: true })
  const open = (name: string, workspace: string) => connect(place, port, name, workspace)
  const coder = await open('coding-agent', project)
  const reviewer = await open('review-agent', project)
  const writer = await open('writing-agent', other)
  const call = (client: Client, name: string, input: object) =>
    client.callTool({ name, arguments: input as Record<string, unknown> }, { timeout: 120_000 })
  const run = (client: Client, name: string, input: object) =>
    call(client, 'run_tool', { name, arguments: input })
  for (const query of ['read the content of a text file', 'list a folder with all folders in it']) {
    await call(coder, 'find_tools', { query })
    await call(reviewer, 'find_tools', { query })
  }
  await run(coder, 'filesystem__directory_tree', { path: project })
  for (let times = 0; times < 3; times++) await run(coder, 'filesystem__read_text_file', { path: file })
  await run(reviewer, 'filesystem__read_text_file', { path: join(project, 'missing.js') })
  await call(reviewer, 'run_read_only_tool', { name: 'edit_file', arguments: { path: file, edits: [] } })
  await run(reviewer, 'filesystem__search_files', { path: project, pattern: '**/*.js' })
  await call(writer, 'find_tools', { query: 'remember something about a person' })
  const entities = ['ada', 'grace', 'edsger'].map((name) => ({
    name,
    entityType: 'person',
    observations: ['writes'],
  }))
  await run(writer, 'memory__create_entities', { entities })
  await run(writer, 'memory__read_graph', {})
  await call(writer, 'find_tools', { query: 'order a pizza with mushrooms' })
  await run(writer, 'everything__get-annotated-message', { messageType: 'success', includeImage: false })
  await run(coder, 'tickets__list_tickets', {})
  await run(coder, 'filesystem__read_multiple_files', { paths: [file, join(project, 'package.json'), file] })
  await Promise.all([coder, reviewer, writer].map((client) => client.close()))
}

async function connect({ state }: Place, port: number, name: string, workspace: string): Promise<Client> {
  const client = new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  const headers = {
    Authorization: `Bearer ${readToken(state)}`,
    'X-Toolwell-Workspace': encodeURI(workspace),
  }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { requestInit: { headers } }),
  )
  await client.listTools()
  return client
}
