/** A program with servers that would outlive it: one that obeys, one that is stubborn, one with a helper. It never closes them. */
import { readFileSync } from 'node:fs'
import { createToolwell } from '@toolwell/core'
import { connectServers, memoryCache } from '@toolwell/mcp'
import { oddServer } from './odd-server.ts'

const [mark = '', log = '', how = ''] = process.argv.slice(2)
const names = ['plain', 'stubborn', 'helped']
const config = [
  oddServer('plain', {}, {}, mark),
  oddServer('stubborn', { stubborn: true }, {}, mark),
  oddServer('helped', { helper: true, stubborn: true, log }, {}, mark),
]
const servers = connectServers(createToolwell().catalogue, config, { cache: memoryCache() })
await servers.settled(60_000)
for (const name of names) await servers.call(name, 'pid', {})
const helper = [...readFileSync(log, 'utf8').matchAll(/helper (\d+)/g)].at(-1)?.[1]
process.stdout.write(`${helper}\n`, () => {
  if (how === 'exit') process.exit(0)
})
