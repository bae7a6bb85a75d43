/** `connect` and `undo`, killed at every step of every file: nothing is lost, and another undo leaves everything as it was. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { parseClient } from '../src/shared/clients/read-client.js'
import { homeWith } from './support/home.js'

const preload = pathToFileURL(fileURLToPath(new URL('support/kill-at-rename.mjs', import.meta.url))).href

const files = {
  'home/.cursor/mcp.json':
    '{\n  // mine\n  "mcpServers": { "a": { "command": "a" }, "b": { "command": "b" } }\n}\n',
  'home/.codex/config.toml': '# mine\n[mcp_servers.c]\ncommand = "c"\n',
  'home/.config/toolwell/toolwell.json': '{ "mcpServers": { "own": { "command": "own" } } }\n',
}

function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    lstatSync(join(folder, name)).isFile(),
  )
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

/** Every server is in a client, in toolwell.json, or in both; and every file can be read. */
function expectNothingLost(now: Record<string, string>) {
  const known = Object.entries(now)
    .filter(([name]) => name in files)
    .flatMap(([name, text]) => {
      const parsed = parseClient(text, name.endsWith('.toml') ? 'toml' : 'json', name)
      expect([name, parsed]).toEqual([name, { value: expect.any(Object) }])
      const { value } = parsed as { value: Record<string, object> }
      return Object.keys(value.mcpServers ?? value.mcp_servers ?? {})
    })
  for (const server of ['a', 'b', 'c', 'own']) expect(known).toContain(server)
}

it.each(['before', 'after'])('killed %s any step', async (moment) => {
  const env = (at: number) => ({ NODE_OPTIONS: `--import=${preload}`, KILL_AT: `${at} ${moment}` })
  let at = 1
  for (let isOver = false; !isOver; at++) {
    const home = homeWith(files)
    const before = filesIn(home.folder)
    const connected = await home.start(['connect', '--yes'], { env: env(at) })
    isOver = connected.code === 0
    expectNothingLost(filesIn(home.folder))
    // A started change can be finished, or undone.
    if (at % 4 === 1) expect((await home.run(['connect', '--yes'])).code).toBe(0)
    const undone = await home.start(['undo', '--yes'], { env: env(Math.max(1, at - 2)) })
    expectNothingLost(filesIn(home.folder))
    if (undone.code !== 0) expect((await home.run(['undo', '--yes'])).code).toBe(0)
    expect([at, filesIn(home.folder)]).toEqual([at, before])
  }
  expect(at).toBeGreaterThan(6)
})
