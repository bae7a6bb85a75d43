/** One program start: from process start until a search over cached servers is answered. */
import { createToolwell } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { connectServers, defineServer, diskCache, diskFirstUse } from '@toolwell/mcp'

const [folder, names] = process.argv.slice(2)
const config = JSON.parse(names).map((name) =>
  defineServer(name, { command: 'not-started', cwd: '/' }, { file: `${folder}/toolwell.json` }),
)
const well = createToolwell({ mode: 'on', delivery: 'bridge' })
const servers = connectServers(well.catalogue, config, {
  cache: diskCache({ folder }),
  firstUse: diskFirstUse({ folder: `${folder}/first-use` }),
  logs: false,
})
const filled = performance.now()
const chat = openaiChat(await well.open({ id: 'a' }))
const turn = await chat.begin([{ role: 'user', content: 'x' }])
const search = {
  name: 'tool_search',
  arguments: JSON.stringify({ query: 'create an issue in a repository' }),
}
const { messages } = await turn.run({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: '1', type: 'function', function: search }],
})
const milliseconds = performance.now()
const started = servers.inspect().reduce((sum, { starts }) => sum + starts, 0)
const found = messages.some(({ content }) => String(content).includes('toolwell/1'))
process.stdout.write(JSON.stringify({ filled, milliseconds, started, found, tools: well.catalogue.size }))
await servers.close()
