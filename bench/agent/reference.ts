/** Runs the command of examples/agent: one process per turn, all on one session. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chatProtocol, startScriptedEndpoint } from '@toolwell/testing'
import type { Agent } from './agents.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export const REFERENCE: Agent = {
  name: 'the agent of `npm run agent`',
  replies: ({ query, server, tool, input }) => [
    { calls: [{ name: 'tool_search', arguments: { query } }] },
    { calls: [{ name: 'tool_call', arguments: { name: `${server}__${tool}`, arguments: input } }] },
  ],
  async play(servers, turns) {
    const folder = mkdtempSync(join(tmpdir(), 'toolwell-bench-reference-'))
    const endpoint = await startScriptedEndpoint(chatProtocol(), {
      model: [{ text: 'Hello.' }, ...turns.flat()],
    })
    const entries = Object.entries(servers).map(([name, args]) => [
      name,
      { command: process.execPath, args, env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } },
    ])
    const config = join(folder, 'toolwell.json')
    writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(entries) }))
    const home = Object.fromEntries(
      ['CACHE', 'DATA', 'STATE', 'CONFIG'].map((name) => [`XDG_${name}_HOME`, join(folder, '.home')]),
    )
    const there = ['--url', endpoint.url, '--model', 'scripted', '--workspace', folder, '--servers', config]
    const say = async (text: string, ...session: readonly string[]) => {
      const words = ['-p', text, '--mode', 'auto', ...there, ...session]
      const child = spawn(process.execPath, ['--import', 'tsx', 'examples/agent/main.ts', ...words], {
        cwd: root,
        stdio: 'ignore',
        env: { ...process.env, ...home },
      })
      const code = await new Promise((resolve) => child.once('close', resolve))
      if (code !== 0) throw new Error(`the agent ended with ${String(code)} at ${JSON.stringify(text)}`)
    }
    try {
      // An earlier session lists the servers, so that the measured one finds them in the cache.
      await say('Hello.', '--session', 'before')
      const before = endpoint.requests.length
      for (const [index] of turns.entries())
        await say(`This is turn ${index + 1}.`, index === 0 ? '--session' : '--resume', 'bench')
      const refused = endpoint.requests.find(({ violation }) => violation)
      if (refused) throw new Error(`the agent: ${refused.violation?.message}`)
      return endpoint.requests.slice(before).map(({ body }) => body)
    } finally {
      await endpoint.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
