/** A server may name the folder it runs in: other projects do not see that path, and it does not count as a change of the server. */
import { mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import {
  type ConnectOptions,
  connectServers,
  diskCache,
  diskFirstUse,
  loadConfig,
  memoryCache,
  memoryFirstUse,
  type ServerConfig,
} from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describedTool } from './support/odd-server.js'
import { play } from './support/play.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

const program = fileURLToPath(new URL('support/odd-server.mjs', import.meta.url))

function projects() {
  const base = realpathSync(temporary())
  const [w, x] = ['project-w', 'project-x'].map((name) => {
    mkdirSync(join(base, name))
    return join(base, name)
  }) as [string, string]
  const list = join(base, 'list.json')
  const put = (...tools: readonly object[]) => writeFileSync(list, JSON.stringify(tools))
  put(READ)
  return { base, w, x, list, put }
}

const READ = describedTool('read', {
  description: 'Reads files below {cwd}, also {cwd}/notes.',
  inputSchema: {
    type: 'object',
    properties: { root: { type: 'string', enum: ['{cwd}', '{cwd}/notes'], default: '{cwd}' } },
  },
})

/** The user's own config, read for a folder. */
function read(base: string, workspaceFolder: string, list: string, entry: object = {}): ServerConfig {
  const manners = JSON.stringify({ toolsFrom: list, instructions: 'Works in {cwd}.' })
  const text = JSON.stringify({
    mcpServers: { odd: { command: process.execPath, args: [program, manners, 'odd'], ...entry } },
  })
  const { servers } = loadConfig({ files: [{ path: join(base, 'toolwell.json'), text }], workspaceFolder })
  if (!servers[0]) throw new Error('it is a server')
  return servers[0]
}

const inFolder = (workspace: string) => ({ caller: { workspace } })

describe('a server that names its folder', () => {
  it('is the same server in two projects, and neither reads the folder of the other', async () => {
    const { base, w, x, list, put } = projects()
    const near = `Not ${w}-old, /mnt${w}, ${w}.bak or ${w}2. But (${w}), file://${w}/a and ${w}.`
    put(READ, describedTool('near', { description: near }))
    const { servers, report, text } = await setup([read(base, w, list)])
    expect(await text('odd', 'read', {}, inFolder(w))).toBe('{}')
    expect(await text('odd', 'read', {}, inFolder(x))).toBe('{}')
    expect(await text('odd', 'read', {}, inFolder(w))).toBe('{}')
    expect(report('odd')).toMatchObject({ state: 'ready', findings: [] })
    expect([...report('odd').quarantined]).toEqual([])
    expect(servers.definition('odd')?.tools.map(({ description }) => description)).toEqual([
      'Reads files below ${workspaceFolder}, also ${workspaceFolder}/notes.',
      // On the edges of paths alone.
      `Not ${w}-old, /mnt${w}, ${w}.bak or ${w}2. But (\${workspaceFolder}), file://\${workspaceFolder}/a and \${workspaceFolder}.`,
    ])
    expect(servers.definition('odd')?.instructions).toBe('Works in ${workspaceFolder}.')
  })

  it('is read with the folder where the program has one, and without where its callers have several', async () => {
    const { base, w, x, list } = projects()
    const { well } = await setup([read(base, w, list)])
    const one = await play(well, 'one')
    expect(await one.search('read files')).toContain(`Reads files below ${w}, also ${w}/notes.`)
    expect(await one.call('odd__read', { root: `${w}/notes` })).toBe(JSON.stringify({ root: `${w}/notes` }))
    const many = createToolwell({ mode: 'on', delivery: 'bridge' })
    const servers = connectServers(many.catalogue, [read(base, w, list)], {
      cache: memoryCache(),
      firstUse: memoryFirstUse(),
      logs: false,
      caller: ({ conversation }) => ({ workspace: conversation === 'w' ? w : x }),
    })
    onTestFinished(() => servers.close())
    await servers.settled(60_000)
    const second = await play(many, 'x')
    expect(await second.search('read files')).toContain('below ${workspaceFolder}, also')
    expect(second.requests.join()).not.toContain('project-w/')
  })

  it('that changes is quarantined in both', async () => {
    const { base, w, x, list, put } = projects()
    for (const changedIn of [w, x]) {
      put(READ)
      const { report, servers, text } = await setup([read(base, w, list)])
      await text('odd', 'read', {}, inFolder(w))
      put({ ...READ, description: 'Reads files below {cwd}. EVILWORDS' })
      const other = changedIn === w ? x : w
      await servers.refresh('odd', { workspace: changedIn })
      for (const folder of [w, x])
        await expect(text('odd', 'read', {}, inFolder(folder))).rejects.toMatchObject({ kind: 'quarantined' })
      expect(report('odd').quarantined.get('read'), `changed in ${changedIn}, not ${other}`).toContain(
        'toolwell approve odd/read',
      )
    }
  })

  it('says nothing else by writing the variable instead of its value', async () => {
    const { base, w, list, put } = projects()
    const firstUse = memoryFirstUse()
    const shown = async () => {
      const { well, report } = await setup([read(base, w, list)], { firstUse })
      expect([...report('odd').quarantined]).toEqual([])
      return [...well.catalogue.entries()].map(({ tool }) => tool.description)
    }
    put({ ...READ, description: 'Reads {cwd}.' })
    expect(await shown()).toEqual([`Reads ${w}.`])
    put({ ...READ, description: 'Reads ${workspaceFolder}.' })
    expect(await shown()).toEqual([`Reads ${w}.`])
  })

  it.each(['a link', 'the folder itself'])('is known through %s', async (way) => {
    const { base, w, x, list } = projects()
    const link = join(base, 'link')
    symlinkSync(x, link)
    // A process in a linked folder names the folder itself.
    const { report, servers } = await setup([read(base, way === 'a link' ? link : w, list)])
    for (const workspace of [w, x, link]) await servers.refresh('odd', { workspace })
    expect([...report('odd').quarantined]).toEqual([])
    expect(JSON.stringify(servers.definition('odd')?.tools[0]?.inputSchema)).not.toContain(base)
  })

  it('is the same after its folder was moved, and in a later program in another one', async () => {
    const { base, w, x, list } = projects()
    const keep = (): ConnectOptions => ({
      cache: diskCache({ folder: join(base, 'cache') }),
      firstUse: diskFirstUse({ folder: join(base, 'first-use') }),
    })
    const quarantined = async (folder: string) => {
      const { report, servers } = await setup([read(base, folder, list)], keep())
      await servers.refresh('odd')
      const { quarantined: held, warnings } = report('odd')
      return [[...held], warnings.filter(({ code }) => code !== 'first-use')]
    }
    expect(await quarantined(w)).toEqual([[], []])
    expect(await quarantined(x)).toEqual([[], []])
    const moved = join(base, 'moved')
    renameSync(w, moved)
    expect(await quarantined(moved)).toEqual([[], []])
  })

  it('may itself be in a project: its paths there are not a change elsewhere', async () => {
    const { base, w, x, list, put } = projects()
    const log = describedTool('log', { description: `Writes ${join(w, 'server', 'log.txt')}.` })
    put(READ, log)
    const orders = [
      [w, x, base],
      [x, w, base],
      [base, x, w],
    ]
    for (const order of orders) {
      const firstUse = memoryFirstUse()
      for (const first of order) {
        const { report, servers } = await setup([read(base, first, list)], { firstUse })
        for (const workspace of [w, x]) await servers.refresh('odd', { workspace })
        expect([...report('odd').quarantined], `${first} of ${order}`).toEqual([])
      }
    }
  })

  it('may name paths in the user’s home folder, wherever it runs', async () => {
    const { base, x, list, put } = projects()
    const settings = describedTool('settings', {
      description: `Reads ${join(homedir(), '.odd', 'settings')}.`,
    })
    put(READ, settings)
    const { report, servers } = await setup([read(base, homedir(), list)])
    await servers.refresh('odd', { workspace: x })
    expect([...report('odd').quarantined]).toEqual([])
    expect(servers.definition('odd')?.tools.map(({ description }) => description)).toContain(
      `Reads ${join(homedir(), '.odd', 'settings')}.`,
    )
  })
})
