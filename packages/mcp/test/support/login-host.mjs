/** A program with one login: for every line it reads, five calls at once, and a line with what they gave. */
import { createInterface } from 'node:readline'
import { createToolwell } from '@toolwell/core'
import { connectServers, defineServer, diskLogins, memoryCache, memoryFirstUse } from '@toolwell/mcp'

const [url = '', folder = ''] = process.argv.slice(2)
const servers = connectServers(createToolwell().catalogue, [defineServer('notes', { url })], {
  firstUse: memoryFirstUse(),
  logs: false,
  cache: memoryCache(),
  logins: diskLogins({ folder }),
})
await servers.settled(60_000)
console.log('ready')
for await (const _ of createInterface({ input: process.stdin })) {
  const answers = await Promise.all(
    [0, 1, 2, 3, 4].map((at) =>
      servers.call('notes', 'echo', { at }).then(
        ({ content: [block] }) => (block?.type === 'text' ? block.text : ''),
        (error) => String(error),
      ),
    ),
  )
  console.log(JSON.stringify(answers))
}
await servers.close()
