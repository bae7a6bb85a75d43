/** One start of a gateway with a full cache: from process start to an answered tools/list. */
import { memoryResults } from '@toolwell/core/result'
import { createGateway } from '@toolwell/gateway'
import { diskCache, diskFirstUse } from '@toolwell/mcp'

const [folder, config, stays] = process.argv.slice(2)
const gateway = createGateway({
  version: '0',
  token: () => 'bench',
  files: () => [{ path: `${folder}/${config}.json` }],
  env: {},
  connect: {
    cache: diskCache({ folder }),
    firstUse: diskFirstUse({ folder: `${folder}/first-use` }),
    logs: false,
  },
})
const port = await gateway.listen(0)
if (stays === 'serve') process.stdout.write(`${port}\n`)
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
async function ask(method, params = {}) {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: 'Bearer bench',
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(params.name ? { 'Mcp-Name': params.name } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  })
  return response.text()
}
if (stays === 'serve') await new Promise(() => setInterval(() => undefined, 1000))
const list = await ask('tools/list')
const { user, system } = process.cpuUsage()
const report = await gateway.inspect()
const servers = report.serverSets.flatMap((set) => set.servers)
const figures = {
  cpu: (user + system) / 1000,
  bytes: list.length,
  started: servers.reduce((sum, { starts }) => sum + starts, 0),
  servers: servers.length,
  tools: servers.reduce((sum, { tools }) => sum + tools, 0),
  rss: process.memoryUsage.rss() / 1024 / 1024,
}
if (stays === undefined) {
  process.stdout.write(JSON.stringify(figures))
  process.exit(0)
}

// Memory after a hundred thousand calls: a fifth over the wire, the rest directly. Every fiftieth searches, every tenth calls a
// tool with an outdated schema, and the others run a tool.
const { ServerSets } = await import('../../packages/gateway/dist/servers/server-sets.js')
const { callTool } = await import('../../packages/gateway/dist/answer/call-tool.js')
const queries = [
  'create an issue',
  'send a message to a channel',
  'zzzqqq',
  'select:nothing',
  'list files in a folder',
]
const serverSets = new ServerSets({
  files: () => [{ path: `${folder}/${config}.json` }],
  env: {},
  connect: {
    cache: diskCache({ folder }),
    firstUse: diskFirstUse({ folder: `${folder}/first-use` }),
    logs: false,
  },
  onEvent: () => undefined,
})
const view = serverSets.find(undefined).serverSet.view(undefined)
await view.settled()
const names = view.direct.tools().map(({ wireName }) => wireName)
const call = (input) => ({ name: 'run_tool', input })
const asked = (index) => {
  if (index % 50 === 0)
    return { name: 'find_tools', input: { query: `${queries[(index / 50) % queries.length]} ${index}` } }
  return index % 10 === 1
    ? call({ name: names[index % names.length], arguments: { index }, load: 'old' })
    : call({ name: 'running__echo', arguments: { n: index } })
}
let ran = 0
const note = ({ kind, isError }) => {
  if (kind === 'run' && !isError) ran++
}
const overWire = async (total) => {
  for (let index = 0; index < total; index++) {
    const { name, input } = asked(index)
    await ask('tools/call', { name, arguments: input })
  }
}
const { signal } = new AbortController()
const from = {
  caller: {},
  workspace: undefined,
  results: { store: memoryResults(), principal: 'owner', client: '' },
  optionsFor: () => ({ signal }),
  currentView: () => view,
  take: () => ({ release: () => undefined }),
  searchTurn: async () => undefined,
  refused: new Set(),
}
const within = async (total) => {
  for (let index = 0; index < total; index++) await callTool(view, { ...asked(index), ...from }, note)
}
const heap = () => {
  for (let round = 0; round < 4; round++) globalThis.gc()
  return process.memoryUsage().heapUsed / 1024 / 1024
}
// The dashboard keeps the latest 2,000 calls.
await overWire(2500)
// Reads every tool, because facts about them are kept as long as they exist.
for (const name of names) {
  const input = { name, arguments: {}, load: 'old' }
  await callTool(view, { ...call(input), ...from }, note)
}
await within(1000)
const before = heap()
ran = 0
const total = Number(stays)
await overWire(total / 5)
await within(total - total / 5)
const after = heap()
const { counts } = await gateway.inspect()
await gateway.close()
await serverSets.close()
process.stdout.write(
  JSON.stringify({
    ...figures,
    heapBefore: before,
    heapAfter: after,
    asked: total,
    ran: ran + counts.calls - counts.failed,
  }),
)
process.exit(0)
