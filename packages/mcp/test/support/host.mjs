/** A program with servers that would outlive it: one obeys, one is stubborn, one has a helper. It never closes them. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import { connectServers, defineServer, memoryCache, memoryFirstUse } from '@toolwell/mcp'

const [mark = '', log = '', how = ''] = process.argv.slice(2)
const program = fileURLToPath(new URL('odd-server.mjs', import.meta.url))
const odd = (name, manners) =>
  defineServer(name, { command: process.execPath, args: [program, JSON.stringify(manners), mark] })
const names = ['plain', 'stubborn', 'helped']
const config = [
  odd('plain', {}),
  odd('stubborn', { stubborn: true }),
  odd('helped', { helper: true, stubborn: true, log }),
]
const servers = connectServers(createToolwell().catalogue, config, {
  cache: memoryCache(),
  firstUse: memoryFirstUse(),
  logs: false,
})
await servers.settled(60_000)
for (const name of names) await servers.call(name, 'pid', {})
const helper = [...readFileSync(log, 'utf8').matchAll(/helper (\d+)/g)].at(-1)?.[1]
process.stdout.write(`${helper}\n`, () => {
  if (how === 'exit') process.exit(0)
})
