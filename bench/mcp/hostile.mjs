/** One hostile server: processor time until it is listed, reviewed and cached, and until a search over its tools is answered. */
import { createToolwell } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { connectServers, defineServer, diskCache, diskFirstUse } from '@toolwell/mcp'

const [folder, program, rawFrom] = process.argv.slice(2)
const well = createToolwell({ mode: 'on', delivery: 'bridge' })
const begun = process.cpuUsage()
const spent = () => {
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}
const args = [program, JSON.stringify({ rawFrom })]
const servers = connectServers(
  well.catalogue,
  [defineServer('hostile', { command: process.execPath, args }, { file: `${folder}/toolwell.json` })],
  {
    cache: diskCache({ folder: `${folder}/cache` }),
    firstUse: diskFirstUse({ folder: `${folder}/first-use` }),
    logs: false,
  },
)
await servers.settled(600_000)
const listed = spent()
const chat = openaiChat(await well.open({ id: 'a' }))
const turn = await chat.begin([{ role: 'user', content: 'x' }])
await turn.run({
  role: 'assistant',
  content: null,
  tool_calls: [
    {
      id: '1',
      type: 'function',
      function: { name: 'tool_search', arguments: '{"query":"send a message"}' },
    },
  ],
})
const searched = spent()
const [{ tools, unusable }] = servers.inspect()
process.stdout.write(
  JSON.stringify({ listed, searched, tools: tools.length, unusable: unusable.map(({ reason }) => reason) }),
)
await servers.close()
