import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { clientFiles } from '../src/shared/clients/clients.js'
import { homeWith, misbehaving } from './support/home.js'
import { folderWith, toolwell } from './support/run.js'

const SECRET = 'very-secret-value-1234'
const settings = platform() === 'darwin' ? 'home/Library/Application Support' : 'home/.config'

const codex = `
model = "gpt-5"
notes = """
[mcp_servers.not_this]
"""
released = 2026-01-02T03:04:05Z

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-server", '--flag']
env = { DOCS_TOKEN = "${SECRET}" }
env_vars = ["LANG"]
startup_timeout_sec = 20
tool_timeout_sec = 90
enabled_tools = ["read_*"]

[mcp_servers."far away"]
url = "https://example.com/mcp"
bearer_token_env_var = "FAR_TOKEN"

[mcp_servers."far away".http_headers]
X-Region = "eu"

[mcp_servers.off]
command = "off-server"
enabled = false
`

/** One file of every client. */
const files = (folder: string) => ({
  '.mcp.json': { mcpServers: { files: { type: 'stdio', command: './bin/files', args: ['--root', '.'] } } },
  '.cursor/mcp.json': `{
    // of this project
    "mcpServers": { "github": { "url": "https://example.com/github", "headers": { "Authorization": "Bearer ${SECRET}" } }, },
  }`,
  '.vscode/mcp.json': {
    inputs: [{ id: 'key', type: 'promptString' }],
    servers: {
      github: { type: 'http', url: 'https://example.com/other' },
      local: { type: 'stdio', command: 'local-server', envFile: '.env', gallery: true },
      asked: { command: 'asked-server', env: { KEY: '${input:key}' }, dev: { watch: 'src' } },
    },
  },
  '.env': `LOCAL_KEY="${SECRET}"\n`,
  'opencode.jsonc': `{ "mcp": {
    "notes": { "type": "local", "command": ["bun", "x", "notes"], "environment": { "A": "{env:NOTES_A}", "B": "{file:./key.txt}" }, "timeout": 7000, "enabled": true },
    "hosted": { "type": "remote", "url": "https://example.com/hosted", "enabled": false }, } }`,
  'home/.claude.json': {
    numStartups: 3,
    mcpServers: { shared: { command: 'shared-server' }, toolwell: { command: 'toolwell' } },
    projects: {
      [folder]: { mcpServers: { here: { command: './here-server' } } },
      '/other': { mcpServers: { there: { command: 'x' } } },
    },
  },
  [`${settings}/Claude/claude_desktop_config.json`]: {
    mcpServers: { shared: { command: 'shared-server' }, broken: 'x', empty: { args: ['a'] } },
  },
  'home/.cursor/mcp.json': { mcpServers: { github: { command: 'weaker' } } },
  'home/.codex/config.toml': codex,
  'home/.gemini/settings.json': {
    theme: 'dark',
    mcpServers: {
      old: { url: 'https://example.com/sse', trust: true, timeout: 5000, excludeTools: ['rm'] },
      young: { httpUrl: 'https://example.com/http', timeout: 30, colour: 'red' },
    },
  },
})

function everyClient() {
  const place = homeWith({})
  for (const [name, content] of Object.entries(files(place.folder))) {
    const path = join(place.folder, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  }
  return place
}

describe('import', () => {
  it('takes servers of a project into the config of other folders only with a person', async () => {
    const text = JSON.stringify({ mcpServers: { a: { command: 'a-server' } } })
    const [folder, home] = [folderWith({ '.mcp.json': text }), folderWith({})]
    const file = join(home, '.config', 'toolwell', 'toolwell.json')
    const env = { HOME: home, USERPROFILE: home, XDG_CONFIG_HOME: join(home, '.config') }
    const words = ['import', '--to', file, '--yes']
    const refused = await toolwell(words, { folder, env })
    expect([refused.code, refused.errors]).toEqual([
      2,
      expect.stringContaining('Importing servers of this project for other folders needs a terminal'),
    ])
    expect(existsSync(file)).toBe(false)
    expect((await toolwell(words, { folder, env, screen: { output: 80, errors: 80 } })).code).toBe(0)
    expect(existsSync(file)).toBe(true)
  })

  it('takes over the servers of every client in their own words, and shows no secret', async () => {
    const { run, start, folder } = everyClient()
    const preview = await run(['import'])
    expect(preview.code).toBe(1)
    expect(preview.errors).toContain('Nothing was written. To write it, add --yes.')
    expect(existsSync(join(folder, 'toolwell.json'))).toBe(false)

    const { code, output, errors } = await start(['import', '--yes'])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    for (const label of [
      'Claude Code',
      'Claude Desktop',
      'Cursor',
      'VS Code',
      'Codex',
      'Gemini CLI',
      'opencode',
    ])
      expect(output).toMatch(new RegExp(`^  ${label} +\\S`, 'm'))
    expect(output).toContain('github-vscode')
    expect(output).toContain('renamed from github, because another server has that name')
    expect(output).toMatch(/skipped.* broken: it is not an object/)
    expect(output).toMatch(/skipped.* empty: it has neither a command nor a url/)
    expect(output).toMatch(/skipped.* toolwell: it is Toolwell itself/)
    expect(output).toMatch(/shared {2}shared-server {2}\(Claude Code, Claude Desktop\)/)
    expect(output).toContain('without colour, which Toolwell does not use')
    expect(output).toContain(
      'the client asks for ${input:key}, which Toolwell reads from the environment variable KEY',
    )
    expect(output).toContain('with LANG, DOCS_TOKEN')
    expect(preview.output + output).not.toContain(SECRET)

    const file = join(folder, 'toolwell.json')
    const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'))
    expect(mcpServers).toEqual({
      files: { type: 'stdio', command: join(folder, 'bin/files'), args: ['--root', '.'] },
      github: { url: 'https://example.com/github', headers: { Authorization: `Bearer ${SECRET}` } },
      'github-vscode': { type: 'http', url: 'https://example.com/other' },
      local: { type: 'stdio', command: 'local-server', envFile: join(folder, '.env') },
      asked: { command: 'asked-server', env: { KEY: '${env:KEY}' } },
      notes: {
        command: 'bun',
        args: ['x', 'notes'],
        env: { A: '${NOTES_A}', B: `\${file:${join(folder, 'key.txt')}}` },
        startTimeout: '7000ms',
      },
      hosted: { url: 'https://example.com/hosted', enabled: false },
      here: { command: join(folder, 'here-server') },
      shared: { command: 'shared-server' },
      docs: {
        command: 'npx',
        args: ['-y', 'docs-server', '--flag'],
        env: { DOCS_TOKEN: SECRET, LANG: '${LANG:-}' },
        timeout: '90s',
        startTimeout: '20s',
        allow: ['read_*'],
      },
      'far away': {
        url: 'https://example.com/mcp',
        headers: { 'X-Region': 'eu', Authorization: 'Bearer ${FAR_TOKEN}' },
      },
      off: { command: 'off-server', enabled: false },
      old: { url: 'https://example.com/sse', type: 'sse', timeout: '5000ms', deny: ['rm'] },
      young: { url: 'https://example.com/http', type: 'http', timeout: '30s' },
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    // The written file can be read: only the variables are missing.
    const config = loadConfig({
      files: [file],
      env: { FAR_TOKEN: 'abcdefgh', NOTES_A: 'a' },
      workspaceFolder: folder,
    })
    expect(config.problems.map(({ server, message }) => `${server}: ${message}`)).toEqual([
      expect.stringContaining('asked: the environment variable KEY is not set'),
    ])
    expect(config.servers.find(({ name }) => name === 'local')?.endpoint).toMatchObject({
      env: { LOCAL_KEY: SECRET },
    })

    // Again: nothing is new, and nothing changes.
    const before = readFileSync(file, 'utf8')
    const again = await run(['import', '--yes', '--json'])
    expect(again.code).toBe(0)
    expect(JSON.parse(again.output)).toMatchObject({ written: false, added: [], kept: [{ name: 'github' }] })
    expect(JSON.parse(again.output).same).toContain('github-vscode')
    expect(again.output).not.toContain(SECRET)
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('names what is lost, what is switched off, and every variable that is not set, and where', async () => {
    const { run } = homeWith({
      '.gemini/settings.json': {
        mcpServers: {
          calm: { command: 'calm-server', trust: true },
          far: {
            httpUrl: 'https://example.com/${FAR_PATH}?token=${FAR_TOKEN}',
            headers: { Authorization: 'Bearer ${FAR_KEY}' },
          },
        },
      },
      '.cursor/mcp.json': {
        mcpServers: {
          keyed: { url: `https://ada:${SECRET}@example.com/mcp?api_key=${SECRET}` },
          eager: { command: 'eager-server', autoApprove: ['rm'], lazy: false, gallery: true },
        },
      },
      'opencode.json': {
        mcp: { off: { type: 'remote', url: 'https://example.com/{env:OFF}', enabled: false } },
      },
    })
    const { output } = await run(['import'])
    const about = (name: string) => new RegExp(`^ {2}\\+ ${name} {2}(?:.*\\n {6}.*)*`, 'm').exec(output)?.[0]
    expect(about('calm')).toContain('without trust, which Toolwell does not use')
    expect(about('eager')).toContain('without autoApprove, which Toolwell does not use')
    expect(about('far')).toContain('https://example.com/${FAR_PATH}?token=***')
    expect(about('far')).toContain('! url: the environment variable FAR_PATH is not set.')
    expect(about('far')).toContain('! headers.Authorization: the environment variable FAR_KEY is not set.')
    expect(about('keyed')).toContain('https://***@example.com/mcp?api_key=***')
    expect(about('keyed')).toContain('! url: the url contains a user name or password.')
    expect(about('off')).toContain('disabled, as in the client')
    const { output: text } = await run(['import', '--json', '--yes'])
    const { added } = JSON.parse(text)
    expect(added.filter(({ enabled }: { enabled: boolean }) => !enabled)).toMatchObject([{ name: 'off' }])
    expect(output + text).not.toContain(SECRET)
  })

  it('takes a server once that clients write out more or less fully', async () => {
    const { run, folder } = homeWith({
      '.mcp.json': {
        mcpServers: {
          m: { type: 'stdio', command: 'm-server', args: [] },
          far: { url: 'https://example.com/mcp' },
          none: { command: 'n-server' },
        },
      },
      '.cursor/mcp.json': { mcpServers: { m: { command: 'm-server', env: {} } } },
      '.vscode/mcp.json': { servers: { far: { type: 'http', url: 'https://example.com/mcp' } } },
      '.gemini/settings.json': {
        mcpServers: {
          far: { httpUrl: 'https://example.com/mcp' },
          none: { command: 'n-server', includeTools: [] },
        },
      },
    })
    const { output } = await run(['import', '--yes'])
    expect(output).toMatch(/\+ m {2}m-server {2}\(Claude Code, Cursor\)/)
    expect(output).toMatch(/\+ far {2}\S+ {2}\(Claude Code, VS Code, Gemini CLI\)/)
    // No tool at all is not the same as every tool.
    const { mcpServers } = JSON.parse(readFileSync(join(folder, 'toolwell.json'), 'utf8'))
    expect(Object.keys(mcpServers)).toEqual(['m', 'far', 'none', 'none-gemini'])
    const again = JSON.parse((await run(['import', '--json'])).output)
    expect(again).toMatchObject({ added: [], kept: [], same: ['m', 'far', 'none', 'none-gemini'] })
  })

  it('takes a server once whose clients differ in time limits alone, and keeps the longer', async () => {
    const { run, folder } = homeWith({
      '.mcp.json': { mcpServers: { files: { command: 'f-server', timeout: 20_000 } } },
      '.cursor/mcp.json': { mcpServers: { files: { command: 'f-server' } } },
      'home/.codex/config.toml':
        '[mcp_servers.files]\ncommand = "f-server"\ntool_timeout_sec = 90\nstartup_timeout_sec = 40\n',
    })
    await run(['import', '--yes'])
    const { mcpServers } = JSON.parse(readFileSync(join(folder, 'toolwell.json'), 'utf8'))
    expect(mcpServers).toEqual({ files: { command: 'f-server', timeout: '90s', startTimeout: '40s' } })
    const again = JSON.parse((await run(['import', '--json'])).output)
    expect(again).toMatchObject({ added: [], kept: [], same: ['files'] })
  })

  it('finds programs where the client starts them: next to its folder, not in it', async () => {
    const { run, folder, home } = homeWith({
      '.vscode/mcp.json': { servers: { code: { command: './bin/code' } } },
      '.cursor/mcp.json': { mcpServers: { cursor: { command: 'bin/cursor', cwd: 'src' } } },
      '.gemini/settings.json': { mcpServers: { gemini: { command: './bin/gemini' } } },
      '.codex/config.toml': '[mcp_servers.codex]\ncommand = "./bin/codex"\n',
      'home/.cursor/mcp.json': { mcpServers: { own: { command: './own' } } },
    })
    await run(['import', '--yes'])
    expect(JSON.parse(readFileSync(join(folder, 'toolwell.json'), 'utf8')).mcpServers).toEqual({
      code: { command: join(folder, 'bin/code') },
      cursor: { command: join(folder, 'bin/cursor'), cwd: join(folder, 'src') },
      gemini: { command: join(folder, 'bin/gemini') },
      codex: { command: join(folder, 'bin/codex') },
      own: { command: join(home, 'own') },
    })
  })

  it('leaves switched off what a client has switched off by a list', async () => {
    const place = homeWith({
      '.mcp.json': {
        mcpServers: { agreed: { command: 'a' }, refused: { command: 'b' }, undecided: { command: 'c' } },
      },
      '.gemini/settings.json': {
        mcp: { allowed: ['kept', 'both', 'out'], excluded: ['both'] },
        mcpServers: { kept: { command: 'd' }, both: { command: 'e' } },
      },
      'home/.gemini/settings.json': {
        mcp: { allowed: ['other'], excluded: ['out'] },
        mcpServers: { out: { command: 'f' }, other: { command: 'g' } },
      },
      // The lists of one client say nothing about another.
      '.cursor/mcp.json': { mcpServers: { 'cursor-own': { command: 'h' } } },
    })
    writeFileSync(
      join(place.folder, 'home/.claude.json'),
      JSON.stringify({
        mcpServers: { mine: { command: 'i' }, paused: { command: 'j' } },
        projects: {
          [place.folder]: {
            enabledMcpjsonServers: ['agreed', 'refused'],
            disabledMcpjsonServers: ['refused', 'mine', 'cursor-own'],
            disabledMcpServers: ['paused'],
          },
          '/other': { disabledMcpjsonServers: ['agreed'] },
        },
      }),
    )
    const { output } = await place.run(['import', '--yes'])
    const { mcpServers } = JSON.parse(readFileSync(join(place.folder, 'toolwell.json'), 'utf8'))
    const off = Object.keys(mcpServers).filter((name) => mcpServers[name].enabled === false)
    expect(off.sort()).toEqual(['both', 'other', 'out', 'paused', 'refused', 'undecided'])
    expect(Object.keys(mcpServers)).toEqual(expect.arrayContaining(['agreed', 'kept', 'cursor-own', 'mine']))
    expect(output.match(/disabled, as in the client/g)).toHaveLength(off.length)
  })

  it('takes no empty or broken list for a switch', async () => {
    const place = homeWith({
      '.mcp.json': { mcpServers: { a: { command: 'a' } } },
      '.gemini/settings.json': { mcp: { excluded: 'b', allowed: {} }, mcpServers: { b: { command: 'b' } } },
      '.claude/settings.local.json': '{ broken',
    })
    writeFileSync(
      join(place.folder, 'home/.claude.json'),
      JSON.stringify({
        projects: { [place.folder]: { enabledMcpjsonServers: [], disabledMcpjsonServers: [7] } },
      }),
    )
    const { added } = JSON.parse((await place.run(['import', '--json'])).output)
    expect(added).toMatchObject([
      { name: 'a', enabled: true },
      { name: 'b', enabled: true },
    ])
  })

  it('adds to a file without losing its comments, its mode or an entry', async () => {
    const mine = `{
  // mine
  "mcpServers": {
    "github": { "command": "my-own" }, // stays
  },
  "profiles": {}
}
`
    const { run, folder } = homeWith({
      'toolwell.json': mine,
      '.cursor/mcp.json': { mcpServers: { github: { command: 'theirs' }, odd: misbehaving({}) } },
    })
    chmodSync(join(folder, 'toolwell.json'), 0o644)
    const { code, output } = await run(['import', '--yes', '--from', 'cursor'])
    expect(code).toBe(0)
    expect(output).toMatch(/! github {2}exists already and differs from the one in .*\. Yours stays/)
    const text = readFileSync(join(folder, 'toolwell.json'), 'utf8')
    for (const part of ['// mine', '"command": "my-own"', '// stays', '"profiles": {}', '"odd"'])
      expect(text).toContain(part)
    expect(statSync(join(folder, 'toolwell.json')).mode & 0o777).toBe(0o644)
    expect(JSON.parse((await run(['inspect', '--json'])).output).servers).toContainEqual(
      expect.objectContaining({ name: 'odd', state: 'cached', tools: 12 }),
    )
  })

  it.each([
    ['y\n', 0],
    ['Yes\r\n', 0],
    ['n\n', 1],
    ['\n', 1],
    ['', 1],
  ])('asks on a screen: %j', async (input, code) => {
    const folder = folderWith({ '.cursor/mcp.json': { mcpServers: { a: { command: 'x' } } } })
    const run = await toolwell(['import', '--from', 'cursor'], {
      folder,
      input,
      env: { HOME: join(folder, 'home') },
      screen: { output: 100, errors: 100 },
    })
    expect(run.output).toContain('Write this server to')
    expect([run.code, existsSync(join(folder, 'toolwell.json'))]).toEqual([code, code === 0])
  })

  it('continues if one file is broken, and names it', async () => {
    const { run, folder } = homeWith({
      '.mcp.json': '{ "mcpServers": { "a": ',
      'home/.codex/config.toml': `[mcp_servers.a]\ncommand = "${SECRET}`,
      'home/.cursor/mcp.json': { mcpServers: { good: { command: 'good-server' } } },
    })
    const { code, output, errors } = await run(['import', '--yes'])
    expect(code).toBe(0)
    expect(output).toMatch(/\.mcp\.json {2}this is not JSON: a value is missing \(line 1\)/)
    expect(output).toMatch(/config\.toml {2}the file is not valid TOML \(line 2\)/)
    expect(output + errors).not.toContain(SECRET)
    expect(Object.keys(JSON.parse(readFileSync(join(folder, 'toolwell.json'), 'utf8')).mcpServers)).toEqual([
      'good',
    ])
  })

  it.each([
    ['nothing to be found', {}, [], 2, /No servers of other clients found\. Looked for:[\s\S]*\.cursor/],
    [
      'a target that is not a config',
      { 'toolwell.json': '{ broken', '.mcp.json': { mcpServers: { a: { command: 'x' } } } },
      ['--yes'],
      2,
      /toolwell\.json is not a valid config/,
    ],
    [
      'a target that is a folder',
      { 'to/x': '', '.mcp.json': { mcpServers: { a: { command: 'x' } } } },
      ['--yes', '--to', 'to'],
      2,
      /cannot be used: this is a folder/,
    ],
    [
      'a target below a file',
      { to: '', '.mcp.json': { mcpServers: { a: { command: 'x' } } } },
      ['--yes', '--to', 'to/x.json'],
      2,
      /to\/x\.json cannot be/,
    ],
  ])('ends with a reason for %s, and changes nothing', async (_, files, words, code, message) => {
    const { run, folder } = homeWith(files)
    const before = readdirSync(folder, { recursive: true }).sort()
    const result = await run(['import', ...words])
    expect(result.code).toBe(code)
    expect(result.errors).toMatch(message)
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before)
  })

  it('looks in the usual places of each system', () => {
    const places = (platform: string, env = {}) =>
      clientFiles({ home: '/h', folder: '/p', platform, env }).map(({ file }) => file.replaceAll('\\', '/'))
    expect(places('linux')).toEqual(
      expect.arrayContaining([
        '/h/.config/Claude/claude_desktop_config.json',
        '/h/.config/Code/User/mcp.json',
        '/h/.config/opencode/opencode.json',
        '/h/.codex/config.toml',
        '/p/.vscode/mcp.json',
      ]),
    )
    expect(places('darwin')).toContain('/h/Library/Application Support/Claude/claude_desktop_config.json')
    expect(places('win32', { APPDATA: '/h/AppData/Roaming' })).toContain(
      '/h/AppData/Roaming/Code/User/mcp.json',
    )
    expect(places('linux', { CODEX_HOME: '/c' })).toContain('/c/config.toml')
  })
})

it('a command for a secret that another client would not run is not taken over', async () => {
  const home = homeWith({
    '.mcp.json': {
      mcpServers: { sly: { command: 'a', env: { KEY: '${cmd:touch RAN}' } }, fine: { command: 'b' } },
    },
  })
  const { output } = await home.run(['import', '--to', 'home/.config/toolwell/toolwell.json', '--yes'])
  expect(output).toContain('contains ${cmd:…}')
  expect(output).not.toContain('touch')
  const written = readFileSync(join(home.folder, 'home/.config/toolwell/toolwell.json'), 'utf8')
  expect(Object.keys(JSON.parse(written).mcpServers)).toEqual(['fine'])
})

it.each([
  [['import', 'cursor'], 'Unexpected argument "cursor". To import from one client, write --from CLIENT.'],
  [['import', '--from', 'curser'], '--from "curser" is not a known client. Did you mean cursor?'],
  [['import', '--from', 'emacs-of-old'], 'Known: claude-code, claude-desktop'],
  [['import', '--to'], '--to needs a value.'],
])('%j is refused: %s', async (words, message) => {
  const { code, output, errors } = await toolwell(words)
  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(errors).toContain(message)
})

it('looks into each file once, also where the folder is the home folder', () => {
  const files = clientFiles({ home: '/h', folder: '/h', platform: 'linux', env: {} })
  const paths = files.map(({ file }) => file)
  expect(new Set(paths).size).toBe(paths.length)
  expect(paths).toContain(join('/h', '.cursor', 'mcp.json'))
})
