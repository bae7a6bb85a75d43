import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { platform } from 'node:os'
import { dirname, join } from 'node:path'
import { loadConfig } from '@toolwell/mcp'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { CLIENTS, userFiles } from '../src/shared/clients/clients.js'
import { RULE_READERS } from '../src/shared/clients/rule-readers.js'
import { readToolwellEntry } from '../src/shared/clients/toolwell-entry.js'
import { fixtures, SECRET } from './support/clients.js'
import { type Home, homeWith, misbehaving } from './support/home.js'
import { script, toolwell } from './support/run.js'

const OURS = 'home/.config/toolwell/toolwell.json'

/** Every file below the folder, by its path: nothing is overlooked. */
function filesIn({ folder }: Pick<Home, 'folder'>): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names
      .filter((name) => lstatSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name)).toString('latin1')]),
  )
}

const read = ({ folder }: Home, file: string) => readFileSync(join(folder, file), 'utf8')
const write = ({ folder }: Home, file: string, text: string) => {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}
const json = (text: string) => JSON.parse(text.replace(/^\uFEFF/, ''))
const serversOf = (home: Home) => Object.keys(json(read(home, OURS)).mcpServers)

const everyClient = () => homeWith(Object.fromEntries(fixtures.map(({ file, text }) => [file, text])))
const cursorWith = (text: string) => homeWith({ 'home/.cursor/mcp.json': text })
const CURSOR = 'home/.cursor/mcp.json'
const one = '{ "mcpServers": { "a": { "command": "a-server" } } }\n'

describe('connect', () => {
  it('continues if a file is nested too deeply, and names it', async () => {
    const deep = `{ "mcpServers": {}, "a": ${'['.repeat(3000)}${']'.repeat(3000)} }`
    const home = homeWith({ [CURSOR]: deep, 'home/.gemini/settings.json': one })
    const { output, errors } = await home.run(['connect', '--yes'])
    expect(output + errors).toMatch(/mcp\.json\s+! The file is nested more than 500 levels deep/)
    expect(read(home, CURSOR)).toBe(deep)
    expect(Object.keys(json(read(home, 'home/.gemini/settings.json')).mcpServers)).toEqual(['toolwell'])
  })

  it('keeps whole numbers of TOML that are larger than those of JavaScript', async () => {
    const codex = 'home/.codex/config.toml'
    const text =
      'i = 9223372036854775807\n\n[mcp_servers.a]\ncommand = "a-server"\nstartup_timeout_ms = 9223372036854775807\n'
    const home = homeWith({ [codex]: text })
    const { code, output, errors } = await home.run(['connect', '--yes'])
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' })
    expect(read(home, codex)).toMatch(/^i = 9223372036854775807\n/)
    expect(read(home, codex)).toContain('[mcp_servers.toolwell]')
    expect((await home.run(['undo', '--yes'])).code).toBe(0)
    expect(read(home, codex)).toBe(text)
  })

  it('knows a file of every client', () => {
    expect(new Set(fixtures.map(({ client }) => client))).toEqual(new Set(CLIENTS))
  })

  it('puts one entry in front of the servers of every client, and undo gives every byte back', async () => {
    const home = everyClient()
    const before = filesIn(home)
    const { code, output, errors } = await home.run(['connect', '--yes'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(output).not.toContain(SECRET)
    expect(output).toMatch(
      /^Connected: .*Cursor.*Restart them\.\nCopies of the files are in .*\. To restore them: toolwell undo$/m,
    )

    // Every client starts the same command, in its own words, and names itself.
    const lineOf = (client: string) => {
      const { taken = [] } = fixtures.find((each) => each.client === client) ?? {}
      const own = Object.hasOwn(RULE_READERS, client) ? ['--own', taken.join(',')] : []
      return [process.execPath, script, 'serve', '--stdio', '--client', client, ...own]
    }
    const words = (entry: { command?: unknown; cmd?: unknown; args?: unknown }) =>
      [entry.command ?? entry.cmd, entry.args ?? []].flat()
    const tables: Record<string, Record<string, object>> = Object.fromEntries(
      fixtures.map(({ client, file }) => {
        // Without the digests of the programs after --own.
        const text = read(home, file).replace(/==[\w.-]+/g, '')
        const value = file.endsWith('.toml')
          ? parseToml(text)
          : file.endsWith('.yaml')
            ? parseYaml(text)
            : (loadJson(text) as Record<string, unknown>)
        const table =
          value.mcpServers ??
          value.servers ??
          value.mcp_servers ??
          value.mcp ??
          value.context_servers ??
          value.extensions
        const byName = Array.isArray(table)
          ? Object.fromEntries(table.map((each: { name?: string }) => [each.name ?? 'unnamed', each]))
          : table
        return [client, byName]
      }),
    )
    for (const { client, taken } of fixtures) {
      expect([client, words(tables[client]?.toolwell ?? {})]).toEqual([client, lineOf(client)])
      for (const name of taken) expect([client, Object.keys(tables[client] ?? {})]).not.toContain(name)
    }
    expect(tables.vscode?.toolwell).toMatchObject({ type: 'stdio' })
    expect(tables.opencode?.toolwell).toEqual({ type: 'local', command: lineOf('opencode'), enabled: true })
    expect(tables['copilot-cli']?.toolwell).toMatchObject({ type: 'local', tools: ['*'] })
    expect(tables.goose?.toolwell).toMatchObject({ enabled: true, type: 'stdio', name: 'toolwell' })
    // Entries that are not servers stay.
    expect(Object.keys(tables.goose ?? {})).toEqual(['toolwell', 'developer'])
    expect(Object.keys(tables.continue ?? {})).toEqual(['toolwell', 'unnamed'])
    expect(Object.keys(tables.zed ?? {})).toEqual(['extended', 'toolwell'])
    expect(json(read(home, 'home/.claude.json')).projects).toHaveProperty('/somewhere')

    // The servers are where the gateway looks, once each, with all they need.
    const names = [...new Set(fixtures.flatMap(({ taken }) => taken))]
    expect(serversOf(home).sort()).toEqual([...names].sort())
    expect(statSync(join(home.folder, OURS)).mode & 0o777).toBe(0o600)
    const { servers, problems } = loadConfig({ files: [join(home.folder, OURS)], env: {} })
    expect(problems).toEqual([])
    expect(servers.find(({ name }) => name === 'notes')?.endpoint).toMatchObject({ env: { KEY: SECRET } })
    expect(servers.find(({ name }) => name === 'tables')).toMatchObject({ startTimeout: 20_000 })

    const undone = await home.run(['undo', '--yes'])
    expect({ code: undone.code, errors: undone.errors }).toEqual({ code: 0, errors: '' })
    expect(undone.output).not.toContain(SECRET)
    expect(filesIn(home)).toEqual(before)
  })

  it('names its own entry that it replaces, and a folder entry that takes precedence', async () => {
    const args = [script, 'serve', '--stdio', '--folder', '/elsewhere']
    const other = { mcpServers: { toolwell: { command: process.execPath, args } } }
    const http = { toolwell: { type: 'http', url: 'http://127.0.0.1:7412/mcp', headers: { a: SECRET } } }
    const home = homeWith({
      'home/.qwen/settings.json': JSON.stringify(other),
      'home/.gemini/settings.json': '{}',
      '.gemini/settings.json': JSON.stringify(other),
      'home/.codex/config.toml': '',
      '.codex/config.toml': `[mcp_servers.toolwell]\ncommand = "other"\n`,
      'home/.claude.json': JSON.stringify({ projects: { '/one': { mcpServers: http }, '/two': {} } }),
      '.mcp.json': JSON.stringify({ mcpServers: http }),
    })
    write(home, OURS, '{ "profiles": { "small": { "servers": [] } } }')
    const { output } = await home.run(['connect', '--yes'])
    const shown = (label: string) => output.split('\n\n').find((part) => part.startsWith(`${label}  `)) ?? ''
    const line = `${process.execPath} ${script} serve --stdio`
    expect(shown('Qwen Code')).toContain(`\n  - toolwell  ${line} --folder /elsewhere\n  + toolwell  ${line}`)
    expect(shown('Gemini CLI')).not.toContain('- toolwell')
    expect(shown('Gemini CLI')).toContain(
      `! In ${home.folder}, another entry called toolwell overrides this one. Remove it there: gemini mcp remove --scope project toolwell`,
    )
    expect(shown('Codex')).toMatch(/Remove it from .*\.codex\/config\.toml/)
    expect(shown('Claude Code')).toMatch(/! In \/one, .*: claude mcp remove --scope local toolwell$/m)
    expect(shown('Claude Code')).toMatch(/: claude mcp remove --scope project toolwell$/m)
    expect(output).not.toContain('/two')
    expect(output).not.toContain(SECRET)
    // The same is to be known of clients that are connected.
    const again = await home.run(['connect', '--json', '--dry-run'])
    const clients: { client: string; notes: string[]; replaced?: string }[] = JSON.parse(again.output).clients
    expect(Object.fromEntries(clients.map(({ client, notes }) => [client, notes.length]))).toEqual({
      ...{ 'claude-code': 2, codex: 1, gemini: 1, qwen: 0 },
    })
    // Another command line takes the place of this one.
    const profile = await home.run(['connect', 'qwen', '--profile', 'small', '--json', '--dry-run'])
    expect(JSON.parse(profile.output).clients).toMatchObject([{ replaced: `${line} --client qwen` }])
  })

  it('shows what it would do, and does nothing without a yes', async () => {
    const home = everyClient()
    const before = filesIn(home)
    const preview = await home.run(['connect'])
    expect(preview.code).toBe(1)
    expect(preview.errors).toContain('Nothing was written. To write it, add --yes.')
    const dry = await home.run(['connect', '--dry-run'])
    expect(dry).toMatchObject({ code: 0, errors: '' })
    expect(dry.output).toBe(preview.output)
    expect(dry.output).toMatch(
      /^Cursor {2}home\/\.cursor\/mcp\.json\n {2}- shared {2}moves to toolwell\.json\n {2}- weather/m,
    )
    expect(dry.output).toContain(`+ toolwell  ${process.execPath} ${script} serve --stdio`)
    expect(dry.output).toMatch(/extended {2}stays: it is a Zed extension\./)
    expect(dry.output).toMatch(/\+ shared {2}https:\/\/example\.com\/shared {2}\(Claude Code, Cursor\)/)
    expect(dry.output).toContain('without autoApprove')
    const asked = await home.run(['connect', '--json', '--dry-run'])
    expect(asked.code).toBe(0)
    expect(JSON.parse(asked.output)).toMatchObject({ written: false, refused: [] })
    expect(JSON.parse(asked.output).clients).toContainEqual(
      expect.objectContaining({
        client: 'cursor',
        state: 'planned',
        taken: [
          { name: 'shared', as: 'shared' },
          { name: 'weather', as: 'weather' },
        ],
      }),
    )
    expect(preview.output + asked.output).not.toContain(SECRET)
    expect(filesIn(home)).toEqual(before)
  })

  it.each([
    ['y\n', 0],
    ['n\n', 1],
    ['', 1],
  ])('asks on a screen: %j', async (input, code) => {
    const home = cursorWith(one)
    const env = {
      HOME: home.home,
      XDG_CONFIG_HOME: join(home.home, '.config'),
      XDG_DATA_HOME: join(home.home, 'data'),
    }
    const screen = { output: 100, errors: 100 }
    const run = await toolwell(['connect'], { folder: home.folder, input, env, screen })
    expect(run.output).toContain('Write 1 file?')
    expect([run.code, read(home, CURSOR) !== one]).toEqual([code, code === 0])
  })

  it('shows what docs/guides/connect-a-client.md shows', async () => {
    const docs = readFileSync(new URL('../../../docs/guides/connect-a-client.md', import.meta.url), 'utf8')
    const [, shown = ''] = /^```\n(Cursor {2}[\s\S]*?)^```/m.exec(docs) ?? []
    const files = {
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/notes'],
      autoApprove: ['read_file'],
    }
    const github = { command: 'github-mcp-server', args: ['stdio'], env: { GITHUB_TOKEN: SECRET } }
    const { home } = homeWith({ [CURSOR]: { mcpServers: { github, files, wiki: { args: [] } } } })
    const { output } = await toolwell(['connect', '--dry-run'], {
      folder: '/',
      env: { HOME: home, XDG_CONFIG_HOME: join(home, '.config') },
      program: ['/usr/bin/node', '/opt/toolwell/packages/cli/bin/toolwell.mjs'],
    })
    // From the root of the disk, every path is near.
    expect(output.replaceAll(home.slice(1), '~')).toBe(shown)
  })

  it('connects those that are named, with a profile', async () => {
    const home = everyClient()
    const untouched = filesIn(home)
    const connect = () => home.run(['connect', 'cursor', 'codex', '--profile', 'work', '--yes'])
    expect(await connect()).toMatchObject({ code: 2, errors: expect.stringContaining('Add the profile to') })
    expect(filesIn(home)).toEqual(untouched)
    write(home, OURS, '{ "profiles": { "small": { "servers": [] } } }')
    expect(await connect()).toMatchObject({ code: 2, errors: expect.stringContaining('Known: small.') })
    write(home, OURS, '{ "profiles": { "work": { "servers": [] } } }')
    expect((await connect()).code).toBe(0)
    for (const { client, file, text } of fixtures)
      expect([client, read(home, file) === text]).toEqual([client, client !== 'cursor' && client !== 'codex'])
    expect(read(home, 'home/.codex/config.toml')).toContain(
      '"serve", "--stdio", "--client", "codex", "--profile", "work"',
    )
    expect(serversOf(home)).toEqual(['shared', 'weather', 'tables'])
  })

  it('is the same the second time, and follows a clone that has moved', async () => {
    const home = everyClient()
    const before = filesIn(home)
    await home.run(['connect', '--yes'])
    const connected = filesIn(home)
    const again = await home.run(['connect', '--yes'])
    expect(again).toMatchObject({ code: 0, errors: '' })
    expect(again.output).toContain('is already connected')
    expect(filesIn(home)).toEqual(connected)

    const env = {
      HOME: home.home,
      XDG_CONFIG_HOME: join(home.home, '.config'),
      XDG_DATA_HOME: join(home.home, '.local', 'share'),
    }
    const program = [process.execPath, '/elsewhere/packages/cli/bin/toolwell.mjs'] as const
    const moved = await toolwell(['connect', 'cursor', '--yes'], { folder: home.folder, env, program })
    expect(moved.code).toBe(0)
    expect(read(home, CURSOR)).toContain('/elsewhere/packages/cli/bin/toolwell.mjs')
    await home.run(['undo', '--yes'])
    expect(filesIn(home)).toEqual(before)
  })

  it('F8: writes the variables that move folders into the entry of every client', async () => {
    const home = everyClient()
    const before = filesIn(home)
    const state = join(home.home, 'my state')
    const env = { XDG_STATE_HOME: state, OPENCODE_CONFIG_CONTENT: '{}', GITHUB_TOKEN: SECRET }
    const preview = await home.run(['connect', '--dry-run'], { env })
    expect(preview.output.split('    sets XDG_STATE_HOME=home/my state\n')).toHaveLength(fixtures.length + 1)
    await home.run(['connect', '--yes'], { env })
    for (const { client, file } of fixtures) {
      const [from] = userFiles({ ...home, platform: platform(), env: {} }).filter(
        (each) => each.file === join(home.folder, file),
      )
      const entry = from && readToolwellEntry(from)
      const key = ({ opencode: 'environment', kilo: 'environment', goose: 'envs' } as const)[client] ?? 'env'
      expect([client, entry]).toEqual([client, expect.objectContaining({ [key]: { XDG_STATE_HOME: state } })])
    }
    expect((await home.run(['connect', '--yes'], { env })).output).toContain('is already connected')
    await home.run(['undo', '--yes'], { env })
    expect(filesIn(home)).toEqual(before)
  })

  it.each([
    ['codex', 'CODEX_HOME', 'config.toml', ''],
    ['claude-code', 'CLAUDE_CONFIG_DIR', '.claude.json', '{}'],
    ['gemini', 'GEMINI_CLI_HOME', '.gemini/settings.json', '{}'],
    ['qwen', 'QWEN_HOME', 'settings.json', '{}'],
  ])('F8: the entry of %s keeps %s', async (client, name, file, text) => {
    const home = homeWith({ [`moved/${file}`]: text })
    const env = { [name]: join(home.folder, 'moved') }
    expect(await home.run(['connect', client, '--yes'], { env })).toMatchObject({ code: 0, errors: '' })
    expect(read(home, `moved/${file}`)).toMatch(new RegExp(`${name}.*${join(home.folder, 'moved')}"`))
    await home.run(['undo', '--yes'], { env })
    expect(read(home, `moved/${file}`)).toBe(text)
  })

  it('makes a file for a client that has none yet, and removes it again', async () => {
    const home = homeWith({ 'home/.cursor/x': '', 'home/.codex/auth.json': '{}', 'home/.config/goose/x': '' })
    const before = filesIn(home)
    const { code, output } = await home.run(['connect', '--yes'])
    expect(code).toBe(0)
    expect(output).toContain('(a new file)')
    expect(json(read(home, CURSOR)).mcpServers.toolwell).toMatchObject({ command: process.execPath })
    expect(parseToml(read(home, 'home/.codex/config.toml'))).toHaveProperty('mcp_servers.toolwell')
    expect(parseYaml(read(home, 'home/.config/goose/config.yaml'))).toHaveProperty('extensions.toolwell')
    expect(existsSync(join(home.folder, OURS))).toBe(false)
    await home.run(['undo', '--yes'])
    expect(filesIn(home)).toEqual(before)
  })

  it('finds Continue by its folder, and makes a file that it can read and that hides no other', async () => {
    const file = 'home/.continue/config.yaml'
    const home = homeWith({})
    mkdirSync(join(home.home, '.continue'))
    expect(await home.run(['connect', '--yes'])).toMatchObject({ code: 0, errors: '' })
    expect(parseYaml(read(home, file))).toEqual({
      ...{ name: 'Local Config', version: '1.0.0', schema: 'v1' },
      mcpServers: [
        {
          name: 'toolwell',
          command: process.execPath,
          args: [script, 'serve', '--stdio', '--client', 'continue'],
        },
      ],
    })
    write(home, file, read(home, file).replace('mcpServers', '# written anew\nmcpServers'))
    expect((await home.run(['undo', '--yes'])).code).toBe(0)
    expect(existsSync(join(home.folder, file))).toBe(false)
    // Models that were added meanwhile stay.
    await home.run(['connect', '--yes'])
    write(home, file, `${read(home, file)}models: [x]\n`)
    await home.run(['undo', '--yes'])
    expect(parseYaml(read(home, file))).toMatchObject({ name: 'Local Config', models: ['x'] })

    rmSync(join(home.folder, file))
    write(home, 'home/.continue/config.json', '{ "models": [] }')
    const { code, output } = await home.run(['connect', '--yes'])
    expect(code).toBe(1)
    expect(output).toMatch(
      /! A new file would override config\.json in the same folder\. .*The file was skipped\./,
    )
    expect(existsSync(join(home.folder, file))).toBe(false)
  })

  it('undo takes away the folders that were made, and none that somebody uses', async () => {
    const foldersIn = ({ folder }: Home) =>
      readdirSync(join(folder, 'home'), { recursive: true, encoding: 'utf8' })
        .filter((name) => lstatSync(join(folder, 'home', name)).isDirectory())
        // What Toolwell keeps for itself is its own.
        .filter((name) => !name.startsWith('.local'))
    const home = homeWith({ 'home/.claude.json': one })
    const before = foldersIn(home)
    expect((await home.run(['connect', '--yes'])).code).toBe(0)
    expect(foldersIn(home)).toEqual(['.config', join('.config', 'toolwell')])
    // Again, from what is there now.
    write(home, 'home/.cursor/mcp.json', '{ "mcpServers": { "b": { "command": "b-server" } } }')
    expect((await home.run(['connect', '--yes'])).code).toBe(0)
    expect((await home.run(['undo', '--yes'])).code).toBe(0)
    expect(foldersIn(home)).toEqual([...before, '.cursor'])
    await home.run(['connect', '--yes'])
    write(home, 'home/.config/another/file', '')
    await home.run(['undo', '--yes'])
    expect(foldersIn(home).sort()).toEqual(['.config', join('.config', 'another'), '.cursor'])
  })

  it('keeps entries that could not work here, and says why', async () => {
    const home = homeWith({
      [CURSOR]: JSON.stringify({
        mcpServers: {
          good: { command: 'good' },
          asks: { command: 'asks', env: { K: '${NEVER_SET_ANYWHERE}' } },
          odd: { args: ['x'] },
          taken: { command: 'theirs' },
        },
      }),
      [OURS]: { mcpServers: { taken: { command: 'mine' } } },
    })
    const { code, output } = await home.run(['connect', '--yes'])
    expect(code).toBe(0)
    expect(output).toMatch(/asks {2}stays: the environment variable NEVER_SET_ANYWHERE is not set/)
    expect(output).toMatch(/odd {2}stays: it has neither a command nor a url/)
    expect(output).toMatch(/taken {2}stays: toolwell\.json has another server with that name/)
    expect(Object.keys(json(read(home, CURSOR)).mcpServers).sort()).toEqual([
      'asks',
      'odd',
      'taken',
      'toolwell',
    ])
    expect(json(read(home, OURS)).mcpServers).toEqual({
      taken: { command: 'mine' },
      good: { command: 'good', share: 'client' },
    })
    // Once the variable is set, it goes too.
    await home.run(['connect', '--yes'], { env: { NEVER_SET_ANYWHERE: 'x' } })
    expect(Object.keys(json(read(home, CURSOR)).mcpServers).sort()).toEqual(['odd', 'taken', 'toolwell'])
    // And stays gone when it is not, for once.
    const once = read(home, CURSOR)
    await home.run(['connect', '--yes'])
    expect(read(home, CURSOR)).toBe(once)
  })

  it('takes a server once whose clients differ in time limits alone, and undo gives both back', async () => {
    const codex = 'home/.codex/config.toml'
    const home = homeWith({
      [CURSOR]: '{ "mcpServers": { "files": { "command": "f-server" } } }\n',
      [codex]: '[mcp_servers.files]\ncommand = "f-server"\ntool_timeout_sec = 90\n',
    })
    const before = [read(home, CURSOR), read(home, codex)]
    expect((await home.run(['connect', 'cursor', 'codex', '--yes'])).code).toBe(0)
    expect(json(read(home, OURS)).mcpServers).toEqual({
      files: { command: 'f-server', timeout: '90s', share: 'client' },
    })
    expect((await home.run(['undo', '--yes'])).code).toBe(0)
    expect([read(home, CURSOR), read(home, codex)]).toEqual(before)
    expect(existsSync(join(home.folder, OURS))).toBe(false)
  })

  it('gives each client its own process of a local server, unless they are to share one', async () => {
    const servers = { local: { command: 'a-server' }, far: { url: 'https://example.com/mcp' } }
    const home = cursorWith(JSON.stringify({ mcpServers: servers }))
    const { output } = await home.run(['connect', '--yes'])
    expect(output).toContain(
      'Each client keeps its own process of a local server. To share one, add --share.',
    )
    expect(json(read(home, OURS)).mcpServers).toEqual({
      local: { command: 'a-server', share: 'client' },
      far: servers.far,
    })
    // The same server of another client is not a second one.
    write(home, 'home/.gemini/settings.json', JSON.stringify({ mcpServers: { local: servers.local } }))
    await home.run(['connect', '--yes'])
    expect(serversOf(home)).toEqual(['local', 'far'])
    await home.run(['undo', '--yes'])
    expect(existsSync(join(home.folder, OURS))).toBe(false)
    const shared = await home.run(['connect', '--yes', '--share'])
    expect(shared.output).not.toContain('--share')
    expect(json(read(home, OURS)).mcpServers).toEqual(servers)
  })

  it.each([
    [
      'home/.cline/data/settings/cline_mcp_settings.json',
      {
        mcpServers: {
          a: { command: 'a', timeout: 30 },
          b: { command: 'b', timeout: 900 },
          c: { command: 'c' },
        },
      },
      { timeout: 900 },
    ],
    [
      'home/.gemini/settings.json',
      { mcpServers: { a: { command: 'a', timeout: 600_000 }, b: { command: 'b', timeout: 'x' } } },
      { timeout: 600_000 },
    ],
    [
      'home/.config/opencode/opencode.json',
      { mcp: { a: { type: 'local', command: ['a'], timeout: 20_000 } } },
      { timeout: 20_000 },
    ],
    [
      'home/.kimi-code/mcp.json',
      { mcpServers: { a: { command: 'a', toolTimeoutMs: 5, startupTimeoutMs: 6 } } },
      { toolTimeoutMs: 5, startupTimeoutMs: 6 },
    ],
    [CURSOR, { mcpServers: { a: { command: 'a' } } }, {}],
  ])('keeps the longest time limits of the entries in %s', async (file, text, limits) => {
    const home = homeWith({ [file]: JSON.stringify(text) })
    expect((await home.run(['connect', '--yes'])).code).toBe(0)
    const value = json(read(home, file))
    const { toolwell: entry } = value.mcpServers ?? value.mcp
    const isLimit = ([key]: [string, unknown]) => /timeout/i.test(key)
    expect(Object.fromEntries(Object.entries(entry).filter(isLimit))).toEqual(limits)
    // Connecting again changes nothing.
    expect((await home.run(['connect', '--yes'])).output).toContain('is already connected')
    expect((await home.run(['undo', '--yes'])).code).toBe(0)
    expect(read(home, file)).toBe(JSON.stringify(text))
  })

  it('keeps the time limits of Codex in the one unit that it reads, and those of Goose above ours', async () => {
    const codex = 'home/.codex/config.toml'
    const goose = 'home/.config/goose/config.yaml'
    const home = homeWith({
      [codex]:
        '[mcp_servers.a]\ncommand = "a"\nstartup_timeout_sec = 20\ntool_timeout_sec = 300\n\n[mcp_servers.b]\ncommand = "b"\nstartup_timeout_ms = 90500\ntool_timeout_sec = 60\n',
      [goose]:
        'extensions:\n  a:\n    enabled: true\n    type: stdio\n    name: a\n    cmd: a\n    timeout: 900\n',
    })
    expect((await home.run(['connect', '--yes'])).code).toBe(0)
    const { toolwell: entry } = parseToml(read(home, codex)).mcp_servers as Record<string, object>
    expect(entry).toMatchObject({ startup_timeout_sec: 91, tool_timeout_sec: 300 })
    expect(entry).not.toHaveProperty('startup_timeout_ms')
    expect(parseYaml(read(home, goose)).extensions.toolwell.timeout).toBe(900)
  })

  it('lists every server once, and continues if one fails', async () => {
    const log = 'started.log'
    const servers = {
      good: misbehaving({ log }),
      bad: misbehaving({ diesAtStart: 'It needs a key.' }),
      off: { ...misbehaving({ log }), disabled: true },
    }
    const home = cursorWith(JSON.stringify({ mcpServers: servers }))
    const starts = () => (existsSync(join(home.folder, log)) ? read(home, log).split('start').length - 1 : 0)
    await home.run(['connect', '--start', '--dry-run'])
    expect(starts()).toBe(0)
    const { code, output, errors } = await home.run(['connect', '--start', '--yes'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(output).toMatch(/\nListed 12 tools of 1 server\.\n! bad could not be listed: .*It needs a key/)
    expect(starts()).toBe(1)
    // The tools are in the cache.
    expect((await home.run(['search', 'echo'])).output).toContain('good/echo')
    expect(starts()).toBe(1)
    await home.run(['undo', '--yes'])
    const again = await home.run(['connect', '--start', '--yes', '--json'])
    expect(JSON.parse(again.output)).toMatchObject({ written: true })
    expect(again.errors).toMatch(/^toolwell: bad could not be listed: .*It needs a key/)
  })

  it('says where a variable has to be set, and a default only where the client reads one', async () => {
    const home = homeWith({
      'home/.codex/config.toml':
        '[mcp_servers.far]\nurl = "https://example.com/mcp"\nbearer_token_env_var = "NEVER_SET_TOKEN"\n',
      'home/.config/Code/User/mcp.json':
        '{ "servers": { "asks": { "command": "a", "args": ["${input:never-set}"] } } }',
      'home/.claude.json': '{ "mcpServers": { "own": { "command": "a", "args": ["${NEVER_SET_OWN}"] } } }',
    })
    const { output } = await home.run(['connect', '--dry-run'])
    const why = (name: string) => new RegExp(`^ {4}${name}  stays: .*`, 'm').exec(output)?.[0]
    const where = 'in the shell that runs this command and before you start the gateway'
    expect(why('far')).toMatch(new RegExp(`NEVER_SET_TOKEN is not set\\. Set NEVER_SET_TOKEN ${where}\\.$`))
    expect(why('asks')).toMatch(
      new RegExp(`\\$\\{input:never-set\\}.* NEVER_SET is not set\\. Set NEVER_SET ${where}\\.$`),
    )
    expect(why('own')).toMatch(
      /Set NEVER_SET_OWN .*, or add a default to the entry: \$\{NEVER_SET_OWN:-value\}\.$/,
    )
  })

  it('names the skipped clients at the end', async () => {
    const windsurf = 'home/.codeium/windsurf/mcp_config.json'
    const home = homeWith({ [CURSOR]: one, [windsurf]: '{ "mcpServers": ' })
    const { code, output } = await home.run(['connect', '--yes'])
    expect(code).toBe(1)
    expect(output).toMatch(
      /\nConnected: Cursor, .*\n.*\nDone, except for Windsurf\. The reason is above\.\n$/,
    )
  })

  it('says that a built-in part of the client stays', async () => {
    const text = `extensions:
  developer:
    enabled: true
    type: builtin
    name: developer
  todo:
    enabled: true
    type: platform
    name: todo
  files:
    enabled: true
    type: stdio
    cmd: files-server
`
    const home = homeWith({ 'home/.config/goose/config.yaml': text })
    const { output } = await home.run(['connect', '--dry-run'])
    expect(output).toContain('  - files  moves to toolwell.json\n')
    for (const name of ['developer', 'todo'])
      expect(output).toContain(`    ${name}  stays: it is built into Goose.\n`)
  })

  it('names the input that an editor would ask for', async () => {
    const home = homeWith({
      'home/.config/Code/User/mcp.json': JSON.stringify({
        inputs: [{ id: 'api-key', type: 'promptString', password: true }],
        servers: { asks: { command: 'asks', env: { K: '${input:api-key}' } } },
      }),
    })
    const { output } = await home.run(['connect', 'vscode', '--dry-run'])
    expect(output).toMatch(
      /asks {2}stays: the client asks for \$\{input:api-key\}, which Toolwell reads from the environment variable API_KEY, and API_KEY is not set/,
    )
  })

  it('tells of a list that would keep the entry from being started', async () => {
    const home = homeWith({
      'home/.gemini/settings.json': { mcp: { allowed: ['a'] }, mcpServers: { a: { command: 'a' } } },
    })
    const { output } = await home.run(['connect', '--dry-run'])
    expect(output).toContain(
      '! Gemini CLI starts only the servers in its list of enabled servers: add "toolwell" to it.',
    )
  })

  it('keeps modes, follows links to their target, and leaves no draft behind', async () => {
    const home = homeWith({ 'dotfiles/mcp.json': one, 'home/.gemini/settings.json': one })
    mkdirSync(join(home.home, '.cursor'))
    symlinkSync(join(home.folder, 'dotfiles/mcp.json'), join(home.folder, CURSOR))
    chmodSync(join(home.folder, 'dotfiles/mcp.json'), 0o640)
    chmodSync(join(home.home, '.gemini/settings.json'), 0o600)
    const { code, output } = await home.run(['connect', '--yes'])
    expect(code).toBe(0)
    expect(output).toContain('(a link to dotfiles/mcp.json)')
    expect(lstatSync(join(home.folder, CURSOR)).isSymbolicLink()).toBe(true)
    expect(json(read(home, 'dotfiles/mcp.json')).mcpServers).toHaveProperty('toolwell')
    expect(statSync(join(home.folder, 'dotfiles/mcp.json')).mode & 0o777).toBe(0o640)
    expect(statSync(join(home.home, '.gemini/settings.json')).mode & 0o777).toBe(0o600)
    expect(Object.keys(filesIn(home)).filter((name) => /tmp|\.lock/.test(name))).toEqual([])
    // Copies and records are for their owner alone.
    const folder = join(home.home, '.local/share/toolwell/connect')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0)
    await home.run(['undo', '--yes'])
    expect(lstatSync(join(home.folder, CURSOR)).isSymbolicLink()).toBe(true)
    expect(read(home, 'dotfiles/mcp.json')).toBe(one)
    expect(statSync(join(home.folder, 'dotfiles/mcp.json')).mode & 0o777).toBe(0o640)
  })

  it('leaves a list alone in which two entries have one name', async () => {
    const file = 'home/.continue/config.yaml'
    const text = 'mcpServers:\n  - name: a\n    command: node\n  - name: a\n    command: deno\n'
    const home = homeWith({ [file]: text })
    const { code, output } = await home.run(['connect', '--yes'])
    expect(output).toMatch(/! "a" appears twice \(line 4\)\. Remove one of the two\. The file was skipped\./)
    expect({ code, text: read(home, file), isWritten: existsSync(join(home.folder, OURS)) }).toEqual({
      code: 1,
      text,
      isWritten: false,
    })
  })

  it('knows the gateway by what an entry runs or reaches, and never puts it behind itself', async () => {
    const line = [process.execPath, script, 'serve', '--stdio']
    const [command, ...args] = line
    const itself = {
      gw: { command, args },
      tw2: { command, args: [...args, '--folder', '/elsewhere'] },
      npx: { command: 'npx', args: ['-y', 'toolwell@latest', 'serve', '--stdio'] },
      npm: { command: 'npm', args: ['run', '-s', 'toolwell', '--', 'serve', '--stdio'] },
      shell: {
        command: 'sh',
        args: ['-c', `cd / && node '/a clone/packages/cli/bin/toolwell.mjs' serve --stdio`],
      },
      http: { url: 'http://127.0.0.1:7411/mcp', headers: { Authorization: 'Bearer x' } },
      profile: { url: 'http://localhost:7412/mcp/small/all' },
    }
    const others = {
      folder: { command: 'files-server', args: ['serve', '--stdio', '/srv/toolwell'] },
      near: { url: 'http://127.0.0.1:7413/mcp' },
      far: { url: 'https://example.com:7411/mcp' },
    }
    const text = JSON.stringify({ mcpServers: { ...itself, ...others } })
    const home = cursorWith(text)
    const { code, output } = await home.run(['connect', '--yes'])
    expect(code).toBe(0)
    expect(serversOf(home)).toEqual(Object.keys(others))
    expect(Object.keys(json(read(home, CURSOR)).mcpServers)).toEqual([...Object.keys(itself), 'toolwell'])
    for (const name of Object.keys(itself))
      expect(output).toContain(`    ${name}  stays: it is Toolwell itself; one entry is enough.\n`)
    await home.run(['undo', '--yes'])
    expect(read(home, CURSOR)).toBe(text)
    await home.run(['import', '--yes'])
    expect(Object.keys(json(read(home, 'toolwell.json')).mcpServers)).toEqual(Object.keys(others))
  })

  it('changes one file once that two clients share', async () => {
    const home = cursorWith(one)
    mkdirSync(join(home.home, '.kimi'), { recursive: true })
    symlinkSync(join(home.folder, CURSOR), join(home.home, '.kimi/mcp.json'))
    const { code, output } = await home.run(['connect', '--yes'])
    expect(code).toBe(1)
    expect(output).toContain('It is the same file as that of Cursor.')
    await home.run(['undo', '--yes'])
    expect(read(home, CURSOR)).toBe(one)
  })

  it.each([
    [
      'broken JSON',
      '{\n  "mcpServers": {\n    "a": }\n',
      /This is not JSON: a value is missing \(line 3\)\. Fix the file\./,
    ],
    ['no object', '[]', /The file does not contain an object \(line 1\)/],
    ['a table of another kind', '{ "mcpServers": [] }', /"mcpServers" is not an object \(line 1\)/],
    [
      'a name twice',
      '{ "mcpServers": {\n"a": {"command":"x"},\n"a": {"command":"y"} } }',
      /"a" appears twice \(line 3\)/,
    ],
    ['UTF-16', Buffer.from('\uFEFF{}', 'utf16le').toString('latin1'), /It is not UTF-8 text/],
    [
      'another toolwell',
      '{ "mcpServers": { "toolwell": { "url": "https://example.com" } } }',
      /It has an entry called toolwell that does not start this command/,
    ],
  ])('leaves a file alone with %s, and connects the others', async (_, text, message) => {
    const home = homeWith({ [CURSOR]: Buffer.from(text, 'latin1'), 'home/.gemini/settings.json': one })
    const before = filesIn(home)
    const { code, output } = await home.run(['connect', '--yes'])
    expect(code).toBe(1)
    expect(output).toMatch(message)
    expect(filesIn(home)[CURSOR]).toBe(before[CURSOR])
    expect(read(home, 'home/.gemini/settings.json')).toContain('toolwell')
    const { refused } = JSON.parse((await home.run(['connect', '--json'])).output)
    expect(refused).toMatchObject([
      { client: 'cursor', message: expect.any(String), fix: expect.any(String) },
    ])
  })

  it.each([
    [
      'a link that leads nowhere',
      (path: string) => symlinkSync('/nowhere/at/all', path),
      /It is a link to a missing file/,
    ],
    ['a link to itself', (path: string) => symlinkSync(path, path), /Its link cannot be resolved \(ELOOP\)/],
    ['a folder', (path: string) => mkdirSync(path), /It is not a regular file/],
  ])('leaves alone %s', async (_, make, message) => {
    const home = homeWith({ 'home/.cursor/x': '' })
    make(join(home.folder, CURSOR))
    const { code, output } = await home.run(['connect', '--yes'])
    expect(code).toBe(1)
    expect(output).toMatch(message)
  })

  it.each([
    ['the file', '.cursor/mcp.json', 0o444, /It is not readable and writable \(EACCES\)/],
    ['its folder', '.cursor', 0o555, /Its folder is not writable \(EACCES\)/],
  ])('leaves alone what may not be written: %s', async (_, place, mode, message) => {
    const home = homeWith({ [CURSOR]: one, 'home/.gemini/settings.json': one })
    chmodSync(join(home.home, place), mode)
    // The administrator may write everything: then somebody else asks.
    const isRoot = process.getuid?.() === 0
    const user = isRoot ? { uid: 65_534, gid: 65_534 } : {}
    if (isRoot)
      for (const name of ['', ...readdirSync(home.folder, { recursive: true, encoding: 'utf8' })])
        chownSync(join(home.folder, name), 65_534, 65_534)
    const env = { PATH: process.env.PATH, HOME: home.home }
    const { status, stdout } = spawnSync(process.execPath, [script, 'connect', '--yes'], {
      cwd: home.folder,
      encoding: 'utf8',
      env,
      ...user,
    })
    chmodSync(join(home.home, place), 0o755)
    expect(stdout).toMatch(message)
    expect(status).toBe(1)
    expect(read(home, CURSOR)).toBe(one)
    expect(read(home, 'home/.gemini/settings.json')).toContain('toolwell')
  })

  it('changes no client where what was taken over before is elsewhere', async () => {
    const home = homeWith({ [CURSOR]: one, 'home/.gemini/settings.json': one.replace('"a"', '"g"') })
    await home.run(['connect', 'cursor', '--yes'])
    const before = filesIn(home)
    const env = { XDG_CONFIG_HOME: join(home.folder, 'other') }
    const { code, errors } = await home.run(['connect', 'gemini', '--yes'], { env })
    expect(code).toBe(2)
    expect(errors).toMatch(
      /an earlier connect moved servers to \S+ No client was changed\. Set XDG_CONFIG_HOME/,
    )
    expect(filesIn(home)).toEqual(before)
  })

  it('changes no client where its own config is broken', async () => {
    const home = homeWith({ [CURSOR]: one, [OURS]: '{ broken' })
    const before = filesIn(home)
    const { code, errors } = await home.run(['connect', '--yes'])
    expect(code).toBe(2)
    expect(errors).toContain('toolwell.json is not a valid config')
    expect(filesIn(home)).toEqual(before)
    write(home, OURS, '{ "mcpServers": {\n"x": {"command":"x"},\n"x": {"command":"y"} } }')
    const twice = await home.run(['connect', '--yes'])
    expect(twice.code).toBe(2)
    expect(twice.errors).toMatch(
      /toolwell\.json:3: "x" appears twice\. No client was changed\. Remove one of the two\./,
    )
    expect(read(home, CURSOR)).toBe(one)
  })

  it('takes a file of several megabytes', async () => {
    const history = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [`/project/${at}`, { history: ['x'.repeat(16 * 1024)] }]),
    )
    const text = JSON.stringify({ projects: history, mcpServers: { a: { command: 'a' } } }, null, 2)
    expect(text.length).toBeGreaterThan(6 * 1024 * 1024)
    const home = homeWith({ 'home/.claude.json': text })
    expect((await home.run(['connect', '--yes'])).code).toBe(0)
    expect(Object.keys(json(read(home, 'home/.claude.json')).mcpServers)).toEqual(['toolwell'])
    await home.run(['undo', '--yes'])
    expect(read(home, 'home/.claude.json')).toBe(text)
  })

  it('shows what is written, and what clients that share a server do not agree on', async () => {
    const gemini = { command: 'f-server', args: ['${workspaceFolder}'], timeout: 30_000, trust: true }
    const code = fixtures.find(({ client }) => client === 'vscode')?.file ?? ''
    const home = homeWith({
      [code]: '{ "servers": { "files": { "command": "f-server", "args": ["${workspaceFolder}"] } } }',
      'home/.gemini/settings.json': JSON.stringify({ mcpServers: { files: gemini } }),
    })
    const { output } = await home.run(['connect', 'vscode', 'gemini', '--dry-run'])
    expect(output).toContain('+ files  f-server ${workspaceFolder}  (VS Code, Gemini CLI)')
    expect(output).toContain('without trust, which Toolwell does not use')
    expect(output).toContain('timeout differs between these clients; using the default')
    const json_ = JSON.parse((await home.run(['connect', '--dry-run', '--json'])).output)
    expect(json_.servers.added[0]).toMatchObject({
      endpoint: 'f-server ${workspaceFolder}',
      left: ['trust'],
    })
    await home.run(['connect', 'vscode', 'gemini', '--yes'])
    expect(json(read(home, OURS)).mcpServers.files).not.toHaveProperty('timeout')
  })

  it('says so where another one has done it in the meantime, and names no server twice', async () => {
    const home = everyClient()
    const runs = await Promise.all([1, 2].map(() => home.start(['connect', 'cursor', '--yes'])))
    for (const { code, output } of runs)
      if (code === 0) expect(output).toMatch(/Connected: Cursor|Nothing to do|is already connected/)
    write(
      home,
      CURSOR,
      read(home, CURSOR).replace('"mcpServers": {', '"mcpServers": { "young": { "command": "y" },'),
    )
    const { output } = await home.run(['connect', 'cursor', '--yes'])
    expect(output).toContain('- young  moves to toolwell.json')
    expect(output).not.toContain('- weather')
  })

  it('is done once when two run at the same time', async () => {
    const home = everyClient()
    const before = filesIn(home)
    const runs = await Promise.all([1, 2, 3].map(() => home.start(['connect', '--yes'])))
    for (const { code, errors } of runs)
      expect([code, errors]).toEqual([
        expect.toSatisfy((each) => each === 0 || each === 2),
        expect.not.stringContaining('bug'),
      ])
    expect(runs.some(({ code }) => code === 0)).toBe(true)
    expect(serversOf(home).length).toBe(new Set(fixtures.flatMap(({ taken }) => taken)).size)
    await home.run(['undo', '--yes'])
    expect(filesIn(home)).toEqual(before)
  })

  it.each([
    [['connect', 'curser'], 'Unknown client "curser". Did you mean cursor?'],
    [['undo', 'curser'], 'Unknown client "curser". Did you mean cursor?'],
    [['connect', 'zed'], 'Zed was not found on this machine. Looked for:'],
    [['connect'], 'No client was found on this machine. Looked for:'],
  ])('%j ends with 2: %s', async (words, message) => {
    const { code, errors } = await homeWith({}).run(words)
    expect(code).toBe(2)
    expect(errors).toContain(message)
  })
})

describe('undo', () => {
  it('says so if nothing is connected', async () => {
    const home = cursorWith(one)
    expect(await home.run(['undo'])).toMatchObject({
      code: 0,
      output: 'Nothing is connected. There is nothing to undo.\n',
    })
    await home.run(['connect', '--yes'])
    await home.run(['undo', '--yes'])
    expect(await home.run(['undo', '--yes'])).toMatchObject({
      code: 0,
      output: 'Nothing is connected. There is nothing to undo.\n',
    })
    expect(await home.run(['undo', 'cursor'])).toMatchObject({
      code: 0,
      output: 'cursor is not connected. There is nothing to undo.\n',
    })
    expect(readdirSync(join(home.home, '.local/share/toolwell/connect'))).toEqual([])
  })

  it('restores every byte even if the client has rewritten its file', async () => {
    const home = cursorWith('{\n // mine\n  "mcpServers": { "a": { "command": "a" }, },\n}\n')
    const before = filesIn(home)
    await home.run(['connect', '--yes'])
    write(home, CURSOR, JSON.stringify(loadJson(read(home, CURSOR)), null, '\t'))
    const { code, output } = await home.run(['undo', '--yes'])
    expect(code).toBe(0)
    expect(output).toContain('restored to its state before connect, byte for byte, with a')
    expect(filesIn(home)).toEqual(before)
  })

  it.each([
    [
      'on lines',
      '{\n      "command": "a-server", // keep\n      "id": 12345678901234567890,\n      "f": 1.0,\n    }',
    ],
    ['on one line', '{ "command": "a-server", "id": 12345678901234567890, /* keep */ "f": 1.0 }'],
    ['compact', '{"command":"a-server","id":12345678901234567890,"f":1.0,"z":"\\u00e9"}'],
  ])('puts back the text of an entry %s as it was, whatever was changed since', async (_, entry) => {
    const text = `{\n  "mcpServers": {\n    "a": ${entry}\n  }\n}\n`
    const changed = {
      beside: (now: string) => now.replace('{', '{\n  "theme": "dark",'),
      // The client keeps no table that is empty.
      wholly: () => '{\n  "theme": "dark"\n}\n',
    }
    for (const change of [changed.beside, changed.wholly]) {
      const home = cursorWith(text)
      await home.run(['connect', '--yes'])
      write(home, CURSOR, change(read(home, CURSOR)))
      expect(await home.run(['undo', '--yes'])).toMatchObject({ code: 0, errors: '' })
      expect(read(home, CURSOR)).toContain(`    "a": ${entry}\n  }`)
      expect(read(home, CURSOR)).toContain('"theme": "dark"')
    }
  })

  it('keeps what was added since, takes out its own entry, and puts back what it took', async () => {
    const home = everyClient()
    await home.run(['connect', '--yes'])
    const edit = (file: string, from: string | RegExp, to: string) =>
      write(home, file, read(home, file).replace(from, to))
    edit(CURSOR, '// of mine', '// of mine\n\t"added": true,')
    edit(
      'home/.codex/config.toml',
      'theme = "dark"',
      'theme = "light"\n\n[mcp_servers.young]\ncommand = "young"\n',
    )
    edit('home/.config/goose/config.yaml', 'GOOSE_MODE: auto', 'GOOSE_MODE: chat')
    write(
      home,
      'home/.claude.json',
      JSON.stringify({ ...json(read(home, 'home/.claude.json')), numStartups: 13 }),
    )
    const { code, output } = await home.run(['undo', '--yes'])
    expect(code).toBe(0)
    expect(output).toContain('was changed since; those changes stay')
    expect(output).not.toContain(SECRET)

    const cursor = read(home, CURSOR)
    expect(cursor).toContain('// of mine')
    expect(loadJson(cursor)).toEqual({
      added: true,
      mcpServers: loadJson(fixtures.find(({ client }) => client === 'cursor')?.text ?? '').mcpServers,
    })
    const codex = read(home, 'home/.codex/config.toml')
    expect(codex).toContain('command = "tables-server"   # local')
    expect(Object.keys(parseToml(codex).mcp_servers as object).sort()).toEqual(['tables', 'young'])
    expect(codex).toContain('theme = "light"')
    expect(parseYaml(read(home, 'home/.config/goose/config.yaml'))).toMatchObject({
      GOOSE_MODE: 'chat',
      extensions: { goo: { cmd: 'goo-server' }, developer: { type: 'builtin' } },
    })
    const claude = json(read(home, 'home/.claude.json'))
    expect(claude.numStartups).toBe(13)
    expect(Object.keys(claude.mcpServers)).toEqual(['notes', 'shared'])
    expect(existsSync(join(home.folder, OURS))).toBe(false)
  })

  it('restores an earlier Toolwell entry, even if the file has changed since', async () => {
    const args = [script, 'serve', '--stdio', '--folder', '/elsewhere']
    const codex = 'home/.codex/config.toml'
    const entry = `[mcp_servers.toolwell] # of npm start\ncommand = "${process.execPath}"\nargs = ${JSON.stringify(args)}\n`
    const home = homeWith({ [codex]: `${entry}\n[mcp_servers.tables]\ncommand = "tables-server"\n` })
    const change = (text: string) => write(home, codex, `${read(home, codex)}\n${text}`)
    await home.run(['connect', 'codex', '--yes'])
    change('[mcp_servers.late]\ncommand = "echo"\n')
    // A second time, so that undo restores what undo restored before.
    await home.run(['connect', 'codex', '--yes'])
    const dry = await home.run(['undo', '--dry-run'])
    expect(dry.output).toContain('restored to its state before the last connect, byte for byte')
    change('[mcp_servers.later]\ncommand = "echo"\n')
    const { output, code } = await home.run(['undo', '--yes'])
    expect(code).toBe(0)
    expect(output).toContain('  + toolwell  the earlier entry')
    const servers = parseToml(read(home, codex)).mcp_servers as Record<string, object>
    expect(Object.keys(servers).sort()).toEqual(['late', 'later', 'tables', 'toolwell'])
    expect(servers.toolwell).toEqual({ command: process.execPath, args })
  })

  it.each([
    [
      'the entry is another one now',
      '{ "mcpServers": { "toolwell": { "url": "https://example.com" } } }',
      /Its entry toolwell was changed/,
    ],
    [
      'another server has the name of a moved one',
      '{ "mcpServers": { "a": { "command": "other" } } }',
      /It now has another server called "a"/,
    ],
    ['it is broken', '{ "mcpServers": ', /This is not JSON: .* \(line 1\)/],
    ['it is gone', undefined, /The file was deleted after it was connected/],
  ])('leaves a file alone where %s, and overwrites it if that is wanted', async (_, text, message) => {
    const home = cursorWith(one)
    const before = filesIn(home)
    chmodSync(join(home.folder, CURSOR), 0o644)
    await home.run(['connect', '--yes'])
    if (text === undefined) rmSync(join(home.folder, CURSOR))
    else write(home, CURSOR, text)
    const refused = await home.run(['undo', '--yes'])
    expect(refused.code).toBe(1)
    expect(refused.output).toMatch(message)
    expect(refused.output).toContain('The file was skipped.')
    expect(existsSync(join(home.folder, CURSOR)) ? read(home, CURSOR) : undefined).toBe(text)
    // Its servers stay as well.
    expect(serversOf(home)).toEqual(['a'])
    // So does connect.
    expect((await home.run(['connect', '--yes'])).code).toBe(1)

    const forced = await home.run(['undo', '--overwrite', '--yes'])
    expect(forced.code).toBe(0)
    const { [CURSOR]: cursor, ...others } = filesIn(home)
    expect(cursor).toBe(before[CURSOR])
    expect(statSync(join(home.folder, CURSOR)).mode & 0o777).toBe(0o644)
    expect(forced.output.includes('a copy is saved')).toBe(text !== undefined)
    const copies = Object.entries(others).filter(([name]) => name.includes('overwritten-cursor-'))
    expect(copies.map(([, content]) => content)).toEqual(text === undefined ? [] : [text])
  })

  it('names the skipped clients at the end', async () => {
    const home = homeWith({ [CURSOR]: one, 'home/.gemini/settings.json': one })
    await home.run(['connect', '--yes'])
    write(home, CURSOR, '{ "mcpServers": ')
    const { code, output } = await home.run(['undo', '--yes'])
    expect(code).toBe(1)
    expect(output).toMatch(/Done, except for Cursor\. Restart the other clients\.\n$/)
  })

  it('leaves the servers that another client still needs, and those that were changed here', async () => {
    const home = homeWith({
      [CURSOR]: '{ "mcpServers": { "both": { "command": "b" }, "mine": { "command": "m" } } }',
      'home/.gemini/settings.json':
        '{ "mcpServers": { "both": { "command": "b" }, "gem": { "command": "g" } } }',
      [OURS]: '{\n  // hand-written\n  "mcpServers": { "first": { "command": "f" } }\n}\n',
    })
    const before = filesIn(home)
    await home.run(['connect', 'cursor', '--yes'])
    await home.run(['connect', 'gemini', '--yes'])
    expect(namesIn(home)).toEqual(['first', 'both', 'mine', 'gem'])
    const dry = await home.run(['undo', 'cursor', '--dry-run', '--json'])
    expect(JSON.parse(dry.output)).toMatchObject({
      written: false,
      clients: [{ client: 'cursor', how: 'exact', back: ['both', 'mine'] }],
      servers: { removed: ['mine'], kept: [] },
    })
    await home.run(['undo', 'cursor', '--yes'])
    expect(namesIn(home)).toEqual(['first', 'both', 'gem'])
    expect(filesIn(home)[CURSOR]).toBe(before[CURSOR])
    await home.run(['undo', '--yes'])
    expect(filesIn(home)).toEqual(before)

    await home.run(['connect', '--yes'])
    write(home, OURS, read(home, OURS).replace('"command": "g"', '"command": "g", "idle": false'))
    const { output } = await home.run(['undo', '--yes'])
    expect(output).toMatch(/gem {2}stays, because you changed it/)
    expect(namesIn(home)).toEqual(['first', 'gem'])
    expect(read(home, OURS)).toContain('// hand-written')
  })

  it('takes what was changed between two connects for the new start', async () => {
    const home = cursorWith('{\n  "mcpServers": { "a": { "command": "a" } }\n}\n')
    await home.run(['connect', '--yes'])
    // The user adds a server to the client.
    write(
      home,
      CURSOR,
      read(home, CURSOR).replace('"mcpServers": {', '"mcpServers": {\n    "b": { "command": "b" },'),
    )
    await home.run(['connect', '--yes'])
    expect(Object.keys(json(read(home, CURSOR)).mcpServers)).toEqual(['toolwell'])
    expect(serversOf(home).sort()).toEqual(['a', 'b'])
    await home.run(['undo', '--yes'])
    expect(json(read(home, CURSOR)).mcpServers).toEqual({ a: { command: 'a' }, b: { command: 'b' } })
    expect(existsSync(join(home.folder, OURS))).toBe(false)
  })

  it('names a damaged backup', async () => {
    const home = cursorWith(one)
    await home.run(['connect', '--yes'])
    const folder = join(home.home, '.local/share/toolwell/connect')
    const connected = read(home, CURSOR)
    for (const name of readdirSync(folder))
      if (name.endsWith('.before')) writeFileSync(join(folder, name), 'x')
    const damaged = await home.run(['undo', '--yes', '--json'])
    expect([damaged.code, JSON.parse(damaged.output).reason]).toEqual([2, 'damaged'])
    for (const name of readdirSync(folder))
      if (name.startsWith('client-')) writeFileSync(join(folder, name), '{')
    expect((await home.run(['undo'])).errors).toContain('is damaged or was written by a newer version')
    expect(read(home, CURSOR)).toBe(connected)
  })
})

describe('doctor', () => {
  const moved = ['/gone/node', '/gone/packages/cli/bin/toolwell.mjs'] as const

  it('notices that a client starts a Toolwell that is not there any more, and connect sets it right', async () => {
    const home = everyClient()
    const env = {
      HOME: home.home,
      XDG_CONFIG_HOME: join(home.home, '.config'),
      XDG_DATA_HOME: join(home.home, '.local', 'share'),
    }
    await toolwell(['connect', '--yes'], { folder: home.folder, env, program: moved })
    write(home, OURS, '{}')
    const sick = await home.run(['doctor', '--json'])
    expect(sick.code).toBe(1)
    const { diagnoses } = JSON.parse(sick.output)
    expect(diagnoses.map(({ rule, level }: { rule: string; level: string }) => [rule, level])).toEqual(
      fixtures.map(() => ['clients', 'error']),
    )
    expect(diagnoses).toContainEqual({
      rule: 'clients',
      level: 'error',
      message:
        'Codex cannot start Toolwell: /gone/node and /gone/packages/cli/bin/toolwell.mjs no longer exist.',
      fix: 'Update the entry with: toolwell connect codex',
      file: join(home.home, '.codex', 'config.toml'),
    })
    expect((await home.run(['doctor'])).output).toMatch(
      /✗ A connected client cannot start Toolwell\n {4}\S+ {2}Claude Code cannot start/,
    )
    await home.run(['connect', '--yes'])
    const { diagnoses: left } = JSON.parse((await home.run(['doctor', '--json'])).output)
    expect(left.filter(({ rule }: { rule: string }) => rule === 'clients')).toEqual([])
  })

  it('notices a gateway that is behind itself', async () => {
    const gw = { url: 'http://127.0.0.1:7411/mcp', headers: { Authorization: 'Bearer x' }, enabled: true }
    const home = homeWith({ 'toolwell.json': { mcpServers: { gw, odd: misbehaving({}) } } })
    const { code, output } = await home.run(['doctor', '--config', 'toolwell.json'])
    expect(code).toBe(1)
    expect(output).toMatch(
      /✗ The config .*\n.*toolwell\.json {2}gw is Toolwell itself, so the gateway would list its own tools\.\n +→ Remove the entry "gw"\./,
    )
    expect(output).not.toContain('odd is Toolwell itself')
  })

  it('says so next to its findings about servers', async () => {
    const home = homeWith({
      [CURSOR]: one,
      'toolwell.json': { mcpServers: { odd: misbehaving({}) } },
    })
    await home.run(['connect', '--yes'])
    const text = read(home, CURSOR).replaceAll(script, '/gone/toolwell.mjs')
    write(home, CURSOR, text)
    const { code, output } = await home.run(['doctor', '--config', 'toolwell.json'])
    expect(code).toBe(1)
    expect(output).toContain('Cursor cannot start Toolwell: /gone/toolwell.mjs no longer exists.')
    expect(output).toContain('1 server, 12 tools')
  })
})

function namesIn(home: Home): string[] {
  return Object.keys(loadJson(read(home, OURS)).mcpServers as object)
}

/** JSON with comments, for files of these tests: no text in them holds what looks like one. */
function loadJson(text: string): Record<string, unknown> {
  const plain = text
    .replace(/^\uFEFF/, '')
    .replace(/\/\*.*?\*\//g, '')
    .replace(/(^|[\s,{}])\/\/.*$/gm, '$1')
    .replace(/,(\s*[}\]])/g, '$1')
  return JSON.parse(plain)
}
