/** Deny rules of a client count behind the gateway: over the wire, in every scope, and when they are edited after `connect`. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openClient } from '../../gateway/test/support/clients.js'
import { describedTool } from '../../mcp/test/support/odd-server.js'
import { chooseMode } from '../src/connect/choose-mode.js'
import { checkLostRules } from '../src/connect/lost-rules.js'
import { type ClientName, userFiles } from '../src/shared/clients/clients.js'
import { parseClient } from '../src/shared/clients/read-client.js'
import { readCommandLine } from '../src/shared/clients/toolwell-entry.js'
import { type Home, homeWith, misbehaving } from './support/home.js'

const TOOLS = ['read_file', 'write_file', 'move_file']
const server = misbehaving({ tools: TOOLS.map((name) => describedTool(name)) })
const ALL = TOOLS.map((name) => `files__${name}`)
const REST = ['files__read_file', 'files__move_file']

type Json = Record<string, unknown>

interface Case {
  readonly file: string
  readonly text: string
  readonly entry: (value: Json) => unknown
  /** Files with a rule that denies write_file, or every tool of the server. */
  readonly scopes: Readonly<
    Record<string, readonly [file: string, edit: (text: string) => string, left?: string[]]>
  >
}

const add = (more: Json) => (text: string) => JSON.stringify({ ...JSON.parse(text || '{}'), ...more })
const deny = (...rules: string[]) => add({ permissions: { deny: rules } })
const jsonCase = (file: string, table: string, entry: object): Omit<Case, 'scopes'> => ({
  file,
  text: JSON.stringify({ [table]: { files: entry } }),
  entry: (value) => (value[table] as Json).toolwell,
})

const CASES: Readonly<Record<string, Case>> = {
  'claude-code': {
    ...jsonCase('home/.claude.json', 'mcpServers', server),
    scopes: {
      user: ['home/.claude/settings.json', deny('Bash(rm *)', 'mcp__files__write_file')],
      project: ['.claude/settings.json', deny('mcp__files'), []],
      local: ['.claude/settings.local.json', deny('mcp__toolwell__files__write_file')],
      wildcard: ['.claude/settings.local.json', deny('*__write_file')],
    },
  },
  opencode: {
    ...jsonCase('home/.config/opencode/opencode.json', 'mcp', {
      type: 'local',
      command: [server.command, ...server.args],
    }),
    scopes: {
      user: ['home/.config/opencode/opencode.json', add({ permission: { files_write_file: 'deny' } })],
      project: [
        'opencode.json',
        add({ tools: { 'files_*': false, files_read_file: true } }),
        ['files__read_file'],
      ],
      'user, with the gateway allowed': [
        'home/.config/opencode/opencode.json',
        add({ permission: { files_write_file: 'deny', 'toolwell_*': 'allow' } }),
      ],
      local: ['.opencode/opencode.jsonc', () => '{ // mine\n "permission": { "*_write_*": "deny", }, }'],
    },
  },
  codex: {
    file: 'home/.codex/config.toml',
    text: `[mcp_servers.files]\ncommand = ${JSON.stringify(server.command)}\nargs = ${JSON.stringify(server.args)}\n`,
    entry: (value) => (value.mcp_servers as Json).toolwell,
    scopes: {
      user: [
        'home/.codex/config.toml',
        (text) =>
          text.replace(
            '[mcp_servers.toolwell]',
            '[mcp_servers.toolwell]\ndisabled_tools = ["files__write_file"]',
          ),
      ],
      project: ['.codex/config.toml', () => '[mcp_servers.files]\ndisabled_tools = ["write_file"]\n'],
      'project, by a list of enabled tools': [
        '.codex/config.toml',
        () => '[mcp_servers.files]\nenabled_tools = ["read_file", "move_file"]\n',
      ],
    },
  },
  gemini: {
    ...jsonCase('home/.gemini/settings.json', 'mcpServers', server),
    scopes: {
      user: ['home/.gemini/settings.json', add({ tools: { exclude: ['mcp_files_write_file'] } })],
      project: ['.gemini/settings.json', add({ mcp: { excluded: ['files'] } }), []],
      'policy, with the gateway allowed': [
        'home/.gemini/policies/mine.toml',
        () =>
          '[[rule]]\nmcpName = "files"\ntoolName = "write_file"\ndecision = "deny"\npriority = 1\n[[rule]]\nmcpName = "toolwell"\ndecision = "allow"\npriority = 9\n',
      ],
      policy: [
        'home/.gemini/policies/mine.toml',
        () =>
          '[[rule]]\nmcpName = "*"\ndecision = "deny"\npriority = 1\n[[rule]]\nmcpName = "files"\ntoolName = ["read_file", "move_file"]\ndecision = "allow"\npriority = 9\n',
      ],
    },
  },
  'copilot-cli': {
    ...jsonCase('home/.copilot/mcp-config.json', 'mcpServers', { type: 'local', tools: ['*'], ...server }),
    scopes: {
      user: ['home/.copilot/settings.json', add({ disabledMcpServers: ['files'] }), []],
      project: ['.github/copilot/settings.json', add({ disabledMcpServers: ['files'] }), []],
      local: ['.github/copilot/settings.local.json', add({ disabledMcpServers: ['files'] }), []],
    },
  },
  qwen: {
    ...jsonCase('home/.qwen/settings.json', 'mcpServers', server),
    scopes: {
      user: ['home/.qwen/settings.json', deny('mcp__files__write_file')],
      project: ['.qwen/settings.json', add({ tools: { exclude: ['mcp__files__wri*'] } })],
      local: ['.qwen/settings.local.json', add({ mcpServers: { files: { excludeTools: ['write_file'] } } })],
    },
  },
}

function writeText({ folder }: Home, file: string, text: string) {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}

const readText = ({ folder }: Home, file: string): string | undefined => {
  try {
    return readFileSync(join(folder, file), 'utf8')
  } catch {
    return undefined
  }
}

/** Starts the entry that `connect` wrote, as the client does. */
function startEntry(home: Home, { file, entry }: Case, ...more: string[]) {
  const parsed = parseClient(readText(home, file) ?? '', file.endsWith('.toml') ? 'toml' : 'json', file)
  const [, , verb, stdio, ...words] = readCommandLine('value' in parsed ? entry({ ...parsed.value }) : {})
  expect([verb, stdio]).toEqual(['serve', '--stdio'])
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home.home,
    XDG_CONFIG_HOME: join(home.home, '.config'),
    XDG_CACHE_HOME: join(home.home, '.cache'),
    XDG_DATA_HOME: join(home.home, '.local', 'share'),
    XDG_STATE_HOME: join(home.home, '.local', 'state'),
  }
  return openClient('v1', { words: [...words, ...more], env, cwd: home.folder })
}

async function reach(home: Home, from: Case) {
  const [few, every] = [await startEntry(home, from), await startEntry(home, from, '--all')]
  const [search, read, run] = (await few.list()).map(({ name }) => name)
  const filter = async (isReached: (name: string) => Promise<boolean>) => {
    const reached: string[] = []
    for (const name of ALL) if (await isReached(name)) reached.push(name)
    return reached
  }
  const isShown = async (name: string, query: string) =>
    (await few.text(search ?? '', { query })).includes(`"name":"${name}"`)
  const isRun = (answer: Promise<string>) =>
    answer.then(
      (text) => text === '{}',
      () => false,
    )
  const listed = (await every.list()).map(({ name }) => name)
  const reached = {
    listed: ALL.filter((name) => listed.includes(name)),
    found: await filter((name) => isShown(name, name.replaceAll('_', ' '))),
    selected: await filter((name) => isShown(name, `select:${name}`)),
    run: await filter((name) => isRun(few.text(run ?? '', { name, arguments: {} }))),
    read: await filter((name) => isRun(few.text(read ?? '', { name, arguments: {} }))),
    direct: await filter((name) => isRun(few.text(name))),
    all: await filter((name) => isRun(every.text(name))),
  }
  await Promise.all([few.close(), every.close()])
  return reached
}

const everywhere = (names: readonly string[]) => ({
  ...{ listed: names, found: names, selected: names },
  ...{ run: names, read: names, direct: names, all: names },
})

it.each(Object.keys(CASES))('%s: deny rules count in every scope, also if edited later', async (client) => {
  const from = CASES[client] as Case
  const home = homeWith({ [from.file]: from.text })
  expect(await home.run(['connect', client, '--yes'])).toMatchObject({ code: 0, errors: '' })
  onTestFinished(async () => void (await home.run(['stop'])))
  // Everything is approved as read-only, so that only rules keep a tool from the read-only tool.
  const ours = 'home/.config/toolwell/toolwell.json'
  const config = JSON.parse(readText(home, ours) ?? '')
  config.mcpServers.files.readOnly = ['*']
  writeText(home, ours, JSON.stringify(config))
  expect(await reach(home, from)).toEqual(everywhere(ALL))
  for (const [scope, [file, edit, left = REST]] of Object.entries(from.scopes)) {
    const before = readText(home, file)
    writeText(home, file, edit(before ?? ''))
    expect([scope, await reach(home, from)]).toEqual([scope, everywhere(left)])
    if (before === undefined) rmSync(join(home.folder, file))
    else writeText(home, file, before)
  }
  expect((await reach(home, from)).run).toEqual(ALL)
})

it('a client whose rules cannot be read gets no tools, and is not connected', async () => {
  const from = CASES['claude-code'] as Case
  const home = homeWith({ [from.file]: from.text })
  expect((await home.run(['connect', '--yes'])).code).toBe(0)
  onTestFinished(async () => void (await home.run(['stop'])))
  writeText(home, '.claude/settings.json', '{ "permissions": { "deny": ["mcp__files__write_file" ')
  await expect(startEntry(home, from)).rejects.toThrow(
    /The gateway refuses this client.*\.claude\/settings\.json: this is not a valid JSON object\. Claude Code keeps permission rules there.*Fix the file, then restart Claude Code\./,
  )
  const again = await home.run(['connect', '--mode', 'all', '--yes'])
  expect([again.code, again.output]).toEqual([1, expect.stringContaining('this is not a valid JSON object')])
})

it('replaces an HTTP entry, keeps its profile and list, and applies the rules', async () => {
  const from = CASES['claude-code'] as Case
  const toolwell = { type: 'http', url: 'http://127.0.0.1:7411/mcp/work/all' }
  const home = homeWith({
    'home/.cursor/mcp.json': { mcpServers: { toolwell } },
    [from.file]: { mcpServers: { toolwell, files: server } },
    'home/.claude/settings.json': { permissions: { deny: ['mcp__files__write_file'] } },
    'home/.config/toolwell/toolwell.json': { profiles: { work: { deny: ['move_file'] } } },
  })
  const { code, output } = await home.run(['connect', '--yes'])
  expect(output).toMatch(/\+ toolwell .* --client cursor --profile work --all$/m)
  expect([code, output]).toEqual([0, expect.stringContaining(`  - toolwell  ${toolwell.url}\n`)])
  expect(output).toMatch(/\+ toolwell .* --client claude-code --profile work --own files==\S+$/m)
  onTestFinished(async () => void (await home.run(['stop'])))
  const names = (await (await startEntry(home, from, '--all')).list()).map(({ name }) => name)
  expect(names).toContain('files__read_file')
  expect(names.filter((name) => /move|write/.test(name))).toEqual([])
  expect((await home.run(['connect', '--yes'])).output).toContain('is already connected')
  expect((await home.run(['undo', '--yes'])).code).toBe(0)
  expect(JSON.parse(readText(home, from.file) ?? '').mcpServers.toolwell).toEqual(toolwell)
})

it.each([
  ['headers', { headers: { Authorization: 'Bearer tw_limited' } }],
  ['a variable', { headers: { Authorization: 'Bearer ${LIMITED}' } }],
])('keeps an HTTP entry with another token: %s', async (_, more) => {
  const toolwell = { type: 'http', url: 'http://127.0.0.1:7411/mcp', ...more }
  const home = homeWith({ 'home/.claude.json': { mcpServers: { toolwell, files: server } } })
  const { code, output } = await home.run(['connect', '--yes'])
  expect([code, output]).toEqual([
    1,
    expect.stringMatching(
      /over HTTP with a token that may have fewer rights .* Remove the entry .* give it the profile that toolwell doctor prints/,
    ),
  ])
})

it('keeps the profile and the token of an entry over stdio', async () => {
  const args = ['serve', '--stdio', '--profile', 'work', '--token', 'ci']
  const home = homeWith({
    'home/.claude.json': { mcpServers: { toolwell: { command: 'toolwell', args }, files: server } },
    'home/.config/toolwell/toolwell.json': { profiles: { work: { deny: ['move_file'] } } },
  })
  expect((await home.run(['connect', '--dry-run'])).output).toMatch(
    /\+ toolwell .* --profile work --token ci --own/,
  )
})

it('Codex: a tool of a moved server that asks still asks, and is not run by the read-only tool', async () => {
  const from = CASES.codex as Case
  const home = homeWith({
    [from.file]: `${from.text}[mcp_servers.files.tools.write_file]\napproval_mode = "prompt"\n[mcp_servers.files.tools.read_file]\napproval_mode = "approve"\n`,
  })
  expect(await home.run(['connect', 'codex', '--yes'])).toMatchObject({ code: 0, errors: '' })
  onTestFinished(async () => void (await home.run(['stop'])))
  const ours = 'home/.config/toolwell/toolwell.json'
  const config = JSON.parse(readText(home, ours) ?? '')
  config.mcpServers.files.readOnly = ['*']
  writeText(home, ours, JSON.stringify(config))
  expect(readText(home, from.file)).toContain('files__write_file')
  expect(await reach(home, from)).toEqual({ ...everywhere(ALL), read: REST })
  expect((await home.run(['connect', 'codex', '--yes'])).output).toContain('is already connected')
  // The tools of the server that are not named ask too.
  expect((await home.run(['undo', '--yes'])).code).toBe(0)
  writeText(
    home,
    from.file,
    from.text.replace('[mcp_servers.files]', '[mcp_servers.files]\ndefault_tools_approval_mode = "prompt"'),
  )
  expect((await home.run(['connect', 'codex', '--yes'])).code).toBe(0)
  writeText(home, ours, JSON.stringify(config))
  expect(await reach(home, from)).toEqual({ ...everywhere(ALL), read: [] })
})

it('a rule counts for a server that connect renamed', async () => {
  const from = CASES.opencode as Case
  const other = misbehaving({ tools: [describedTool('write_file')], title: 'another' })
  const home = homeWith({
    'home/.cursor/mcp.json': { mcpServers: { files: other } },
    [from.file]: add({ permission: { files_write_file: 'deny' } })(from.text),
  })
  const { output } = await home.run(['connect', '--yes'])
  expect(output).toMatch(/- files {2}moves to toolwell\.json as files-opencode/)
  onTestFinished(async () => void (await home.run(['stop'])))
  const client = await startEntry(home, from, '--all')
  const names = (await client.list()).map(({ name }) => name)
  expect(names.filter((name) => name.includes('__'))).toEqual([
    'files-opencode__move_file',
    'files-opencode__read_file',
  ])
})

it.each(['codex first', 'codex last'])(
  'a list of tools counts for the same server of another client: %s',
  async (order) => {
    const [codex, other] = [CASES.codex as Case, order === 'codex last' ? 'claude-code' : 'qwen']
    const files = (CASES[other] as Case).file
    const home = homeWith({
      [codex.file]: `${codex.text}disabled_tools = ["write_file"]\n`,
      [files]: { mcpServers: { files: server, twin: server } },
    })
    expect((await home.run(['connect', '--yes'])).code).toBe(0)
    onTestFinished(async () => void (await home.run(['stop'])))
    const names = async (from: Case) => {
      const client = await startEntry(home, from, '--all')
      return (await client.list()).map(({ name }) => name).filter((name) => name.endsWith('_file'))
    }
    const own = order === 'codex last' ? 'files-codex' : 'files'
    const reached = await names(codex)
    expect(reached).toEqual(expect.arrayContaining([`${own}__move_file`, `${own}__read_file`]))
    expect(reached.filter((name) => name.endsWith('write_file'))).toEqual([])
    // The other client has no such list.
    expect(await names(CASES[other] as Case)).toContain('twin__write_file')
  },
)

it('a server that is off in one client stays off there if another client has it', async () => {
  const [codex, claude] = [CASES.codex as Case, CASES['claude-code'] as Case]
  const home = homeWith({ [codex.file]: `${codex.text}enabled = false\n`, [claude.file]: claude.text })
  expect((await home.run(['connect', '--yes'])).code).toBe(0)
  onTestFinished(async () => void (await home.run(['stop'])))
  const names = async (from: Case) =>
    (await (await startEntry(home, from, '--all')).list())
      .map(({ name }) => name)
      .filter((name) => name.endsWith('_file'))
  expect(await names(codex)).toEqual([])
  expect(await names(claude)).toHaveLength(TOOLS.length)
})

it.each([
  ['other variables', { ...server, env: { A: 'b' } }],
  ['another path of the program', { command: 'node', args: server.args }],
  [
    'a shell',
    {
      command: 'sh',
      args: ['-c', `exec ${[server.command, ...server.args].map((word) => `'${word}'`).join(' ')}`],
    },
  ],
])('a rule counts for the same server of another client under another name: %s', async (_, twin) => {
  const from = CASES['claude-code'] as Case
  const home = homeWith({
    [from.file]: from.text,
    'home/.cursor/mcp.json': { mcpServers: { twin } },
    'home/.claude/settings.json': { permissions: { deny: ['mcp__files__write_file'] } },
  })
  expect((await home.run(['connect', '--yes'])).code).toBe(0)
  onTestFinished(async () => void (await home.run(['stop'])))
  const client = await startEntry(home, from, '--all')
  const names = (await client.list()).map(({ name }) => name)
  expect(names).toContain('twin__read_file')
  expect(names.filter((name) => name.endsWith('write_file'))).toEqual([])
})

it('a rule for a server counts for the same program, also if a variable of the server is not set', async () => {
  const from = CASES['claude-code'] as Case
  const home = homeWith({
    [from.file]: { mcpServers: { files: { ...server, env: { KEY: '${SECRET_KEY}' } } } },
    'home/.cursor/mcp.json': { mcpServers: { twin: { ...server, env: { KEY: 'x' } } } },
    'home/.claude/settings.json': { permissions: { deny: ['mcp__files'] } },
  })
  const connect = ['connect', '--yes', '--no-start']
  expect(await home.run(connect, { env: { SECRET_KEY: 'y' } })).toMatchObject({ code: 0 })
  expect(await home.run(connect)).toMatchObject({ code: 0 })
  onTestFinished(async () => void (await home.run(['stop'])))
  const client = await startEntry(home, from, '--all')
  const names = (await client.list()).map(({ name }) => name)
  expect(names.filter((name) => /^(?:files|twin)__/.test(name))).toEqual([])
})

it('windsurf: is refused if a limited server cannot move', async () => {
  const files = { ...server, disabledTools: ['write_file'], env: { KEY: '${env:SECRET_KEY}' } }
  const home = homeWith({ 'home/.codeium/windsurf/mcp_config.json': { mcpServers: { files } } })
  expect(await home.run(['connect', 'windsurf', '--yes', '--no-start'])).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /limits the tools of files, which cannot move now: the environment variable SECRET_KEY is not set/,
    ),
  })
})

it.each([
  ['a rule for a tool', 'mcp__files__write_file', REST],
  ['a rule for the server', 'mcp__files', []],
])('%s counts if the user renamed and edited the server in toolwell.json', async (_, rule, left) => {
  const from = CASES['claude-code'] as Case
  const home = homeWith({
    [from.file]: from.text,
    'home/.claude/settings.json': { permissions: { deny: [rule] } },
  })
  expect((await home.run(['connect', '--yes'])).code).toBe(0)
  onTestFinished(async () => void (await home.run(['stop'])))
  const ours = 'home/.config/toolwell/toolwell.json'
  const written = readText(home, ours) ?? ''
  const edits = ['"fs"', '"fs"'].map((name) => written.replace('"files"', name))
  edits[1] = edits[1]?.replace(JSON.stringify(server.command), '"node"') ?? ''
  for (const text of edits) {
    writeText(home, ours, text)
    // A slow machine may not have listed the renamed server at first.
    await vi.waitFor(
      async () => {
        const client = await startEntry(home, from, '--all')
        const names = (await client.list()).map(({ name }) => name)
        await client.close()
        expect(names).not.toContain('fs__write_file')
        const files = names.filter((name) => name.startsWith('fs__'))
        expect(files.sort()).toEqual(left.map((name) => name.replace('files__', 'fs__')).sort())
      },
      { timeout: 60_000 },
    )
  }
})

it('the preview shows deny rules, and names ask and allow rules that no longer match', async () => {
  const from = CASES['claude-code'] as Case
  const rules = {
    deny: ['mcp__files__write_file', 'Bash(rm *)'],
    ask: ['mcp__files__move_file', 'mcp__toolwell__run_tool'],
    allow: ['mcp__files__read_file', 'Read'],
  }
  const home = homeWith({
    [from.file]: from.text,
    'home/.claude/settings.json': { permissions: rules },
    '.claude/settings.local.json': { permissions: { deny: ['mcp__files'] } },
  })
  const { output } = await home.run(['connect', '--dry-run'])
  expect(output).toContain('    denied  mcp__files__write_file  (')
  expect(output).toMatch(/ {4}denied {2}mcp__files {2}\(.*settings\.local\.json\)/)
  expect(output).toMatch(/! Claude Code no longer recognises these ask rules: mcp__files__move_file\. /)
  expect(output).toContain(
    '! Claude Code no longer recognises these allow rules, so it asks again: mcp__files__read_file.',
  )
  expect(output).not.toContain('Bash')
  const { clients } = JSON.parse((await home.run(['connect', '--dry-run', '--json'])).output)
  expect(clients[0].denied).toMatchObject([
    { rule: 'mcp__files__write_file', file: join(home.home, '.claude/settings.json') },
    { rule: 'mcp__files' },
  ])
})

it.each<[string, string, unknown, string, string]>([
  [
    'cursor',
    'home/.cursor/mcp.json',
    { mcpServers: { files: server } },
    'home/.cursor/cli-config.json',
    '{ "permissions": { "deny": ["Mcp(files:write_file)"] } }',
  ],
  [
    'cursor',
    'home/.cursor/mcp.json',
    { mcpServers: { files: server } },
    'home/.cursor/hooks.json',
    '{ "version": 1, "hooks": { "beforeMCPExecution": [{ "command": "./no_write_file.sh" }] } }',
  ],
  [
    'cursor',
    'home/.cursor/mcp.json',
    { mcpServers: { files: server } },
    '.cursor/hooks.json',
    '{ "hooks": { "preToolUse": [{ "matcher": "MCP:write_file", "command": "./no.sh" }] } }',
  ],
  [
    'windsurf',
    'home/.codeium/windsurf/mcp_config.json',
    { mcpServers: { files: server } },
    'home/.codeium/windsurf/hooks.json',
    '{ "hooks": { "pre_mcp_tool_use": [{ "command": "./no_write_file.sh" }] } }',
  ],
  [
    'cline',
    'home/.cline/data/settings/cline_mcp_settings.json',
    { mcpServers: { files: server } },
    'home/.cline/data/settings/global-settings.json',
    '{ "disabledTools": ["files__write_file"] }',
  ],
  [
    'goose',
    'home/.config/goose/config.yaml',
    'extensions: {}\n',
    'home/.config/goose/permission.yaml',
    'user:\n  never_allow:\n    - files__write_file\n',
  ],
  [
    'continue',
    'home/.continue/config.yaml',
    'name: a\nversion: 1.0.0\n',
    'home/.continue/permissions.yaml',
    'exclude:\n  - files__write_file\n',
  ],
  [
    'continue',
    'home/.continue/config.yaml',
    'name: a\nversion: 1.0.0\n',
    'home/.continue/permissions.yaml',
    'exclude:\n  - Bash\n  - Write(**)\n  - Files_write_file\n',
  ],
  [
    'kimi',
    'home/.kimi-code/mcp.json',
    { mcpServers: {} },
    'home/.kimi-code/config.toml',
    '[[permission.rules]]\ndecision = "deny"\npattern = "mcp__files__write_file"\n',
  ],
  [
    'kimi',
    'home/.kimi-code/mcp.json',
    { mcpServers: {} },
    'home/.kimi-code/config.toml',
    '[[hooks]]\nevent = "PreToolUse"\nmatcher = "mcp__files__write_file"\ncommand = "x"\n',
  ],
  [
    'kimi',
    'home/.kimi-code/mcp.json',
    { mcpServers: {} },
    'home/.kimi-code/config.toml',
    '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash|files__write_file"\ncommand = "x"\n',
  ],
  [
    'kimi',
    'home/.kimi-code/mcp.json',
    { mcpServers: {} },
    'home/.kimi-code/config.toml',
    '[tools]\ndisabled = ["Bash", "mcp__*__write_file"]\n',
  ],
  ...['home/.kimi-code/agents/a.md', 'home/.agents/agents/a.md', '.kimi-code/agents/b/a.md'].map(
    (agent): [string, string, unknown, string, string] => [
      'kimi',
      'home/.kimi-code/mcp.json',
      { mcpServers: {} },
      agent,
      '---\nname: a\ndescription: b\ndisallowedTools:\n  - mcp__files__write_file\n---\nDo.\n',
    ],
  ),
  ...['.kimi-code/mcp.json', '.mcp.json'].map((file): [string, string, unknown, string, string] => [
    'kimi',
    'home/.kimi-code/mcp.json',
    { mcpServers: { write_file: server } },
    file,
    JSON.stringify({ mcpServers: { write_file: { ...server, enabled: false } } }),
  ]),
  [
    'zed',
    'home/.config/zed/settings.json',
    { context_servers: { write_file: server } },
    '.zed/settings.json',
    '{ "context_servers": { "write_file": { "enabled": false, "command": "x", "args": [] } } }',
  ],
  ...[
    'home/.continue/settings.json',
    'home/.claude/settings.json',
    '.claude/settings.local.json',
    '.continue/settings.json',
  ].map((file): [string, string, unknown, string, string] => [
    'continue',
    'home/.continue/config.yaml',
    'name: a\nversion: 1.0.0\n',
    file,
    '{ "hooks": { "PreToolUse": [{ "matcher": "Write|write_file", "hooks": [] }] } }',
  ]),
  [
    'zed',
    'home/.config/zed/settings.json',
    { agent: { tool_permissions: { tools: { 'mcp:files:write_file': { default: 'deny' } } } } },
    'home/other',
    '',
  ],
  ...[{ tools: { write_file: false } }, { enabled: false, tools: { write_file: true } }].map(
    (files): [string, string, unknown, string, string] => [
      'zed',
      'home/.config/zed/settings.json',
      { agent: { profiles: { write: { context_servers: { 'the write_file server': files } } } } },
      'home/other',
      '',
    ],
  ),
  ...['opencode', 'kilo'].map((client): [string, string, unknown, string, string] => [
    client,
    `home/.config/${client}/${client}.json`,
    { mcp: {} },
    `home/.local/share/${client}/auth.json`,
    '{ "https://write_file.example": { "type": "wellknown", "key": "K", "token": "t" } }',
  ]),
])('%s: is refused if it would lose deny rules', async (client, file, value, rules, text) => {
  const home = homeWith({ [file]: value, [rules]: text })
  const before = readText(home, file)
  const refused = await home.run(['connect', client, '--yes'])
  expect(refused).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /may deny tools in .*Toolwell does not apply these rules: .*write_file.*--accept-lost-rules/,
    ),
  })
  expect(readText(home, file)).toBe(before)
  expect(await home.run(['connect', client, '--yes', '--accept-lost-rules'])).toMatchObject({ code: 0 })
  expect(readText(home, file)).not.toBe(before)
})

it.each<[string, string, unknown, string, string]>([
  [
    'zed',
    'home/.config/zed/settings.json',
    {
      agent: {
        tool_permissions: { default: 'allow', tools: { 'mcp:files:write_file': { default: 'confirm' } } },
      },
    },
    'home/other',
    '',
  ],
  [
    'goose',
    'home/.config/goose/config.yaml',
    'extensions: {}\n',
    'home/.config/goose/permission.yaml',
    'user:\n  always_allow: []\n  ask_before: [files__write_file]\n  never_allow: []\n',
  ],
  [
    'continue',
    'home/.continue/config.yaml',
    'name: a\nversion: 0.0.1\nmcpServers: []\n',
    'home/.continue/permissions.yaml',
    'allow: ["*"]\nask: [Bash, files_write_file]\nexclude: []\n',
  ],
  [
    'kimi',
    'home/.kimi-code/mcp.json',
    { mcpServers: {} },
    'home/.kimi-code/config.toml',
    '[[permission.rules]]\ndecision = "ask"\npattern = "mcp__files__write_file"\n',
  ],
])('%s: the preview names ask rules that no longer match', async (client, file, value, rules, text) => {
  const home = homeWith({ [file]: value, [rules]: text })
  const { code, output } = await home.run(['connect', client, '--dry-run'])
  expect(code).toBe(0)
  expect(output).toMatch(
    /! .* no longer recognises these ask rules: [\w:]*write_file\. Do not let it run the tools of Toolwell without asking\./,
  )
})

it('Zed: a profile is no reason to refuse if it switches the gateway off, or no tool of a server', async () => {
  const off = { tools: { write_file: false } }
  const profiles = {
    ask: { enable_all_context_servers: false, context_servers: { files: off } },
    write: { context_servers: { files: { tools: { write_file: true } }, toolwell: off } },
    mine: { context_servers: { files: { enabled: true, ...off } } },
  }
  const home = homeWith({
    'home/.config/zed/settings.json': { context_servers: { files: server }, agent: { profiles } },
  })
  expect(await home.run(['connect', 'zed', '--yes', '--no-start'])).toMatchObject({ code: 0 })
})

it.each<[string, string, unknown, string, string]>([
  [
    'kimi',
    'home/.kimi-code/mcp.json',
    { mcpServers: {} },
    'home/.kimi-code/config.toml',
    '[tools]\ndisabled = ["Bash"]\n[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash|Write"\ncommand = "x"\n',
  ],
  [
    'kimi',
    'home/.kimi-code/mcp.json',
    { mcpServers: {} },
    '.mcp.json',
    '{ "mcpServers": { "other": { "command": "x", "enabled": false } } }',
  ],
  [
    'continue',
    'home/.continue/config.yaml',
    'name: a\nversion: 1.0.0\n',
    '.claude/settings.json',
    '{ "hooks": { "PreToolUse": [{ "matcher": "mcp__files__.*" }, { "matcher": "Bash|Write" }] } }',
  ],
  [
    'gemini',
    'home/.gemini/settings.json',
    { mcpServers: {} },
    '.gemini/settings.json',
    '{ "tools": { "sandbox": false } }',
  ],
  [
    'copilot-cli',
    'home/.copilot/mcp-config.json',
    { mcpServers: {} },
    'home/.copilot/settings.json',
    '{ "sandbox": { "enabled": true, "sandboxMcpServers": false } }',
  ],
])(
  '%s: is not refused for rules that limit no tool of a moved server',
  async (client, file, value, rules, text) => {
    const home = homeWith({ [file]: value, [rules]: text })
    expect(await home.run(['connect', client, '--dry-run'])).toMatchObject({ code: 0 })
  },
)

it.each<[string, string, string, unknown]>([
  [
    'copilot-cli',
    'home/.copilot/mcp-config.json',
    'home/.copilot/settings.json',
    { sandbox: { enabled: true } },
  ],
  [
    'copilot-cli',
    'home/.copilot/mcp-config.json',
    '.github/copilot/settings.json',
    { sandbox: { enabled: true } },
  ],
  ['gemini', 'home/.gemini/settings.json', '.gemini/settings.json', { tools: { sandbox: 'sandbox-exec' } }],
  ['qwen', 'home/.qwen/settings.json', '.qwen/settings.json', { sandbox: true }],
])('%s: is refused if its servers run in a sandbox', async (client, file, settings, value) => {
  const home = homeWith({ [file]: { mcpServers: { files: server } }, [settings]: value })
  expect(await home.run(['connect', client, '--yes', '--no-start'])).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /runs its servers in a sandbox, and servers behind Toolwell run outside it: .*--accept-lost-rules/,
    ),
  })
  expect(await home.run(['connect', client, '--yes', '--no-start', '--accept-lost-rules'])).toMatchObject({
    code: 0,
  })
})

it.each<[string, string, Json]>([
  ['windsurf', 'home/.codeium/windsurf/mcp_config.json', { disabledTools: ['write_file'] }],
  ['cline', 'home/.cline/data/settings/cline_mcp_settings.json', { disabled: true }],
  ['kimi', 'home/.kimi-code/mcp.json', { disabledTools: ['write_file'] }],
])('%s: is refused if a server that stays limits a server with its name', async (client, file, more) => {
  const home = homeWith({
    [file]: { mcpServers: { files: { ...server, ...more } } },
    'home/.config/toolwell/toolwell.json': { mcpServers: { files: server } },
  })
  const words = ['connect', client, '--yes']
  expect(await home.run(words)).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /limits the tools of files, and toolwell\.json has another server with that name.*--accept-lost-rules/,
    ),
  })
  expect(JSON.parse(readText(home, file) ?? '').mcpServers.toolwell).toBeUndefined()
  expect(await home.run([...words, '--accept-lost-rules'])).toMatchObject({ code: 0 })
})

it('copilot-cli: applies the list of tools of a server that stays', async () => {
  const from = CASES['copilot-cli'] as Case
  const home = homeWith({
    [from.file]: { mcpServers: { files: { type: 'local', ...server, tools: ['read_file', 'move_file'] } } },
    'home/.config/toolwell/toolwell.json': { mcpServers: { files: { ...server, readOnly: ['*'] } } },
  })
  expect(await home.run(['connect', 'copilot-cli', '--yes'])).toMatchObject({ code: 0 })
  onTestFinished(async () => void (await home.run(['stop'])))
  expect(await reach(home, from)).toEqual(everywhere(REST))
})

it.each<[ClientName, Json]>([
  ['vscode', { deniedMcpServers: [{ serverName: 'files' }] }],
  ['vscode', { allowedMcpServers: [{ serverName: 'other' }] }],
  ['vscode', { permissions: { deny: ['Mcp(files/write_file)'] } }],
  ['copilot-cli', { sandbox: { enabled: true } }],
])('%s: is refused if it would lose rules of the administrator: %j', async (client, value) => {
  const { folder, home } = homeWith({ 'etc/github-copilot/managed-settings.json': value })
  const places = { home, folder, platform: 'linux', env: {}, root: folder }
  const from = userFiles(places).find((each) => each.client === client)
  await expect(from && checkLostRules(from, places)).rejects.toThrow(
    /(?:may deny tools in|runs its servers in a sandbox).*managed-settings\.json/,
  )
})

it.each([
  ['other/cli-config.json', { permissions: { deny: ['Mcp(files:write_file)'] } }],
  ['home/.config/cursor/cli-config.json', { permissions: { deny: ['Mcp(files:write_file)'] } }],
  ['.cursor/cli.json', { permissions: { deny: ['Mcp(files:write_file)'] } }],
  ['.cursor/hooks.json', { hooks: { beforeMCPExecution: [{ command: './no_write_file.sh' }] } }],
])('Cursor: is refused for rules in %s', async (file, value) => {
  const { folder, home } = homeWith({ [file]: value, 'inner/x': '', '.git/x': '' })
  const env = { CURSOR_CONFIG_DIR: join(folder, 'other'), XDG_CONFIG_HOME: join(home, '.config') }
  const places = { home, folder: join(folder, 'inner'), platform: 'linux', env, root: folder }
  const from = userFiles(places).find(({ client }) => client === 'cursor')
  await expect(from && checkLostRules(from, places)).rejects.toThrow(/write_file/)
})

it.each([
  { CLINE_MCP_SETTINGS_PATH: 'other/servers.json' },
  { CLINE_GLOBAL_SETTINGS_PATH: 'other/global.json' },
])('Cline: is refused for disabled tools with %j', async (variables) => {
  const { folder, home } = homeWith({
    [variables.CLINE_GLOBAL_SETTINGS_PATH ?? 'home/.cline/data/settings/global-settings.json']: {
      disabledTools: ['files__write_file'],
    },
  })
  const env = Object.fromEntries(Object.entries(variables).map(([name, file]) => [name, join(folder, file)]))
  const places = { home, folder, platform: 'linux', env }
  const from = userFiles(places).find(({ client }) => client === 'cline')
  await expect(from && checkLostRules(from, places)).rejects.toThrow(/write_file/)
})

it('is refused if a file with rules cannot be read', async () => {
  const home = homeWith({ 'home/.cursor/mcp.json': { mcpServers: { files: server } } })
  mkdirSync(join(home.folder, '.cursor', 'hooks.json'), { recursive: true })
  expect(await home.run(['connect', 'cursor', '--yes', '--no-start'])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/hooks\.json may deny tools and cannot be read/),
  })
  expect(await home.run(['connect', 'cursor', '--yes', '--no-start', '--accept-lost-rules'])).toMatchObject({
    code: 0,
  })
})

it('VS Code: a server with a sandbox stays', async () => {
  const sandboxed = { ...server, sandboxEnabled: true, sandbox: { filesystem: { denyRead: ['/'] } } }
  const home = homeWith({
    'home/.config/Code/User/mcp.json': { servers: { files: sandboxed, other: server } },
  })
  const { output } = await home.run(['connect', 'vscode', '--yes', '--no-start'])
  expect(output).toMatch(/files {2}stays: VS Code runs it in a sandbox/)
  expect(JSON.parse(readText(home, 'home/.config/Code/User/mcp.json') ?? '').servers).toEqual({
    files: sandboxed,
    toolwell: expect.anything(),
  })
})

const hooks = (event: string, matcher: string) =>
  JSON.stringify({ hooks: { [event]: [{ matcher, hooks: [] }] } })

it.each<[string, string, string, string]>([
  ['claude-code', '.claude/settings.json', hooks('PreToolUse', 'Bash|mcp__files__write_file'), 'write_file'],
  ['claude-code', 'home/.claude/settings.json', hooks('PermissionRequest', '.*write.*'), '\\.\\*write'],
  [
    'claude-code',
    'home/.claude/agents/a.md',
    '---\nname: a\nhooks:\n  PreToolUse:\n    - matcher: "mcp__files__.*"\n      hooks: []\n---\n',
    'mcp__files',
  ],
  [
    'claude-code',
    '.claude/skills/a/SKILL.md',
    '---\nhooks: { "PreToolUse": [{ "matcher": "mcp__files__write_file" }] }\n---\n',
    'write_file',
  ],
  // A pattern matches anywhere in a name.
  ['claude-code', '.claude/settings.json', hooks('PreToolUse', 'Bash|write_.*'), 'write_'],
  ['claude-code', '.claude/settings.json', hooks('PreToolUse', '\\w*write_file$'), 'write_file'],
  [
    'claude-code',
    '.claude/settings.json',
    '{ "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [{ "if": "mcp__files__write_file(*)" }] }] } }',
    'write_file',
  ],
  ['qwen', '.qwen/settings.json', hooks('PreToolUse', '^(mcp__files__.*)$'), 'mcp__files'],
  ['gemini', '.gemini/settings.json', hooks('BeforeTool', 'mcp_files_.*'), 'mcp_files'],
  ['codex', 'home/.codex/hooks.json', hooks('PreToolUse', 'mcp__files__.*'), 'mcp__files'],
  [
    'codex',
    'home/.codex/careful.config.toml',
    '[[hooks.PreToolUse]]\nmatcher = "mcp__files__.*"\n',
    'mcp__files',
  ],
  ['codex', '.codex/config.toml', '[[hooks.PreToolUse]]\nmatcher = "mcp__files"\n', 'mcp__files'],
  ['copilot-cli', 'home/.copilot/hooks/a.json', hooks('preToolUse', 'bash|files-write_file'), 'write_file'],
  ['copilot-cli', '.github/hooks/a.json', hooks('PreToolUse', 'files-.*'), 'files-'],
  ['copilot-cli', 'home/.copilot/settings.json', hooks('permissionRequest', '.*write.*'), '\\.\\*write'],
])('%s: is refused if a hook in %s would no longer run', async (client, file, text, shown) => {
  const from = CASES[client] as Case
  const home = homeWith({ [from.file]: from.text, [file]: text })
  const refused = await home.run(['connect', client, '--yes', '--no-start'])
  expect(refused).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      new RegExp(`has a hook for .*${shown}.* does not run for tools behind Toolwell.*--accept-lost-rules`),
    ),
  })
  expect(readText(home, from.file)).toBe(from.text)
  const accept = ['connect', client, '--yes', '--no-start', '--accept-lost-rules']
  expect(await home.run(accept)).toMatchObject({ code: 0 })
  const { output } = await home.run(['doctor'])
  expect(output).toContain('has a hook for')
  expect(output).toContain(client === 'copilot-cli' ? 'such as toolwell-.*' : 'such as mcp__toolwell__.*')
})

it.each([
  '*',
  '',
  'mcp__.*',
  'Bash|Write',
  '(?:Edit|Write)',
  'Notebook.*',
  '^(Edit|Write)$',
  'mcp__(?:toolwell__)?files__.*',
])('a hook before %j is no reason to refuse', async (matcher) => {
  const from = CASES['claude-code'] as Case
  const home = homeWith({
    [from.file]: from.text,
    'home/.claude/settings.json': hooks('PreToolUse', matcher),
  })
  expect(await home.run(['connect', '--dry-run'])).toMatchObject({ code: 0 })
})

/** A folder for the PATH with a client that prints its version, or with its package as npm links it. */
function install(home: Home, command: string, version: string, isPackage: boolean): string {
  const folder = join(home.folder, `bin-${command}`)
  const body = isPackage ? 'exit 1' : `echo "${command} ${version} (a client)"`
  writeText(home, `bin-${command}/${command}`, `#!/bin/sh\n${body}\n`)
  chmodSync(join(folder, command), 0o755)
  if (isPackage)
    writeText(home, `bin-${command}/package.json`, JSON.stringify({ version, bin: { [command]: command } }))
  return folder
}

const NEW = {
  'claude-code': ['claude', '2.1.325'],
  codex: ['codex', '0.166.0'],
  qwen: ['qwen', '0.24.4'],
} as const

it.each<[string, keyof typeof NEW, Readonly<Record<string, unknown>>, string, string?]>([
  ['every tool', 'claude-code', {}, 'lists every tool, because claude 2.1.325 defers tools itself'],
  [
    'every tool',
    'codex',
    { 'home/.codex/config.toml': 'model = "gpt-5.5"\n' },
    'lists every tool, because codex 0.166.0',
  ],
  [
    'every tool',
    'codex',
    {
      'home/.codex/config.toml': 'model = "gpt-5.5"\n',
      'home/.codex/agents/a.toml': 'model = "gpt-4.1"\n',
      'home/.codex/b.config.toml': 'model = "gpt-4.1"\n',
    },
    'lists every tool, because codex 0.166.0',
  ],
  ['every tool', 'qwen', {}, 'lists every tool, because qwen 0.24.4'],
  [
    'every tool',
    'claude-code',
    { 'home/.claude/settings.json': { env: { ENABLE_TOOL_SEARCH: 'true' } } },
    'lists every tool',
  ],
  [
    'every tool',
    'codex',
    { 'home/.codex/config.toml': 'model = "gpt-5.5"\nmodel_provider = "proxy"\n' },
    'lists every tool',
  ],
  [
    'the tools of Toolwell',
    'claude-code',
    {},
    'lists the four tools of Toolwell, because claude 2.1.197 is older than 2.1.325',
    '2.1.197',
  ],
  [
    'the tools of Toolwell',
    'codex',
    {},
    'lists the four tools of Toolwell, because codex 0.99.0 is older',
    '0.99.0',
  ],
  [
    'the tools of Toolwell',
    'claude-code',
    { 'home/.claude/settings.json': { env: { ENABLE_TOOL_SEARCH: 'auto:5' } } },
    'because ENABLE_TOOL_SEARCH is "auto:5"',
  ],
  [
    'the tools of Toolwell',
    'claude-code',
    { 'home/.claude/settings.json': { model: 'claude-3-5-haiku' } },
    'because the model claude-3-5-haiku cannot search tools',
  ],
  [
    'the tools of Toolwell',
    'claude-code',
    { 'home/.claude/settings.json': { permissions: { deny: ['ToolSearch'] } } },
    'because a rule denies ToolSearch',
  ],
  [
    'the tools of Toolwell',
    'codex',
    { 'home/.codex/config.toml': 'model = "gpt-5"\n' },
    'because the model gpt-5 is not known to search tools',
  ],
  [
    'the tools of Toolwell',
    'codex',
    { 'home/.codex/config.toml': 'model_provider = "ollama"\n' },
    'because the models of ollama are unknown',
  ],
  [
    'the tools of Toolwell',
    'qwen',
    { 'home/.qwen/settings.json': { tools: { toolSearch: { enabled: false } } } },
    'because tools.toolSearch.enabled is false',
  ],
])('writes an entry with %s for %s', async (what, client, files, shown, version) => {
  const { file, text } = CASES[client] as Case
  const home = homeWith({ [file]: files[file] === undefined ? text : '', ...files })
  const [command, measured] = NEW[client]
  for (const isPackage of [true, false]) {
    const env = { PATH: install(home, command, version ?? measured, isPackage), ENABLE_TOOL_SEARCH: '' }
    const { output } = await home.run(['connect', client, '--dry-run'], { env })
    expect(output).toContain(shown)
    expect(/\+ toolwell .* --all$/m.test(output)).toBe(what === 'every tool')
    rmSync(join(home.folder, `bin-${command}`), { recursive: true })
  }
})

it('connect runs no program of the current project', async () => {
  const { file, text } = CASES.codex as Case
  const home = homeWith({ [file]: text })
  const project = join(home.folder, 'project')
  for (const folder of ['project/node_modules/.bin', 'project/bin']) {
    writeText(home, `${folder}/codex`, `#!/bin/sh\n: > "${home.folder}/was-run"\necho 0.166.0\n`)
    chmodSync(join(home.folder, folder, 'codex'), 0o755)
  }
  mkdirSync(join(project, 'inner'))
  const places = { home: home.home, platform: process.platform, folder: join(project, 'inner') }
  const choose = (folder: string, PATH: string) => chooseMode('codex', { ...places, folder, env: { PATH } })
  for (const PATH of [join(project, 'node_modules/.bin'), 'node_modules/.bin', ''])
    expect(await choose(join(project, 'inner'), PATH)).toMatchObject({ isAll: false })
  expect(await choose(project, join(project, 'bin'))).toMatchObject({ isAll: false })
  expect(readText(home, 'was-run')).toBeUndefined()
  // Elsewhere it is a program of the user.
  expect(await choose(home.home, join(project, 'bin'))).toMatchObject({ isAll: true })
  expect(readText(home, 'was-run')).toBe('')
})

it('a client of unknown version lists the four tools of Toolwell, and --mode overrides every choice', async () => {
  const { file, text } = CASES.codex as Case
  const home = homeWith({ [file]: text, 'home/.cursor/mcp.json': { mcpServers: { files: server } } })
  const unknown = await home.run(['connect', '--dry-run'])
  expect(unknown.output).toContain(
    'lists the four tools of Toolwell, because the version of codex is unknown',
  )
  expect(unknown.output).not.toContain('--all')
  const env = { PATH: install(home, 'codex', '0.166.0', true) }
  const all = await home.run(['connect', 'cursor', '--mode', 'all', '--dry-run'])
  expect(all.output).toMatch(/\+ toolwell .* --client cursor --all$/m)
  const search = await home.run(['connect', 'codex', '--mode', 'search', '--dry-run'], { env })
  expect(search.output).toContain('lists the four tools of Toolwell, because of --mode search')
  expect(await home.run(['connect', '--mode', 'some'])).toMatchObject({ code: 2 })
})
