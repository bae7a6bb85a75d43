/** Which tools the permission rules of each client deny, by the files that the client reads. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createRulesJudge } from '../../gateway/src/servers/client-rules.js'
import { readPermissions } from '../src/shared/clients/client-rules.js'
import { RULE_READERS } from '../src/shared/clients/rule-readers.js'
import { folderWith } from './support/run.js'

const TOOLS = ['files/read_file', 'files/write_file', 'git.hub/get-issue']

async function judge(
  client: string,
  files: Readonly<Record<string, unknown>>,
  env: Record<string, string> = {},
) {
  const root = folderWith(files)
  const places = {
    home: join(root, 'home'),
    folder: join(root, 'work', 'inner'),
    platform: 'linux',
    env,
    root,
  }
  mkdirSync(join(root, 'work', '.git'), { recursive: true })
  const found = await readPermissions(client, places)
  if (!found) return undefined
  const actions = TOOLS.map((each) => {
    const [server = '', tool = ''] = each.split('/')
    return [each, createRulesJudge({ ...found, own: {} })(server, tool)] as const
  })
  const of = (action: string) => actions.filter((each) => each[1] === action).map(([tool]) => tool)
  return { denied: of('deny'), asked: of('ask'), shown: found.found.map(({ text }) => text) }
}

const [READ, WRITE, ISSUE] = TOOLS as [string, string, string]
const permissions = (deny: string[], ask: string[] = []) => ({ permissions: { deny, ask } })

describe('Claude Code', () => {
  it.each<[string, string, unknown, string[]]>([
    ['the user', 'home/.claude/settings.json', permissions(['mcp__files__write_file']), [WRITE]],
    ['the project', 'work/inner/.claude/settings.json', permissions(['mcp__files']), [READ, WRITE]],
    [
      'the top of the repository',
      'work/.claude/settings.json',
      permissions(['mcp__files__*']),
      [READ, WRITE],
    ],
    ['the local file', 'work/inner/.claude/settings.local.json', permissions(['mcp__*__write_*']), [WRITE]],
    [
      'an agent of the user',
      'home/.claude/agents/team/a.md',
      '---\nname: a\ndescription: Use it: always.\ntools: *\ndisallowedTools: Write, mcp__files__write_file\n---\nNo.\n',
      [WRITE],
    ],
    [
      'an agent of the project',
      'work/.claude/agents/a.md',
      '---\r\ndisallowedTools:\r\n  - "mcp__files"\r\nname: a\r\n---\r\n',
      [READ, WRITE],
    ],
    ['the prompt of an agent as no rule', 'work/.claude/agents/a.md', 'disallowedTools: mcp__files\n', []],
    ['the prompt of an agent without keys', 'work/.claude/agents/a.md', '---\n---\ntools: *deny\n', []],
    [
      'an agent with a blank after its first line',
      'home/.claude/agents/a.md',
      '---  \nname: a\ndisallowedTools: mcp__files__write_file\n---\n',
      [WRITE],
    ],
    [
      'an agent whose keys are indented',
      'home/.claude/agents/a.md',
      '---\n\n  name: a\n  disallowedTools:\n    - mcp__files__write_file\n---\n',
      [WRITE],
    ],
    // Claude Code does not read these as YAML.
    ...['`Read`, `mcp__perplexity-ask`', '*, Ask', 'All except Edit: ask', '"Read", \'ask\': false'].map(
      (tools): [string, string, string, string[]] => [
        `an agent with tools that are not YAML: ${tools}`,
        'work/.claude/agents/a.md',
        `---\ntools: ${tools}\ndisallowedTools: mcp__files__write_file\n---\n`,
        [WRITE],
      ],
    ),
    [
      'the administrator',
      'etc/claude-code/managed-settings.json',
      permissions(['mcp__git_hub__get-issue']),
      [ISSUE],
    ],
    [
      'a further file of the administrator',
      'etc/claude-code/managed-settings.d/a.json',
      permissions(['mcp__files__write_file']),
      [WRITE],
    ],
    [
      'a rule with arguments',
      'home/.claude/settings.json',
      permissions(['mcp__files__write_file(path:/etc)']),
      [WRITE],
    ],
    [
      'a denied server',
      'etc/claude-code/managed-settings.json',
      { deniedMcpServers: [{ serverName: 'files' }] },
      [READ, WRITE],
    ],
    [
      'allowed servers',
      'etc/claude-code/managed-settings.json',
      { allowedMcpServers: [{ serverName: 'files' }, { serverName: 'toolwell' }] },
      [ISSUE],
    ],
    ['built-in tools only', 'home/.claude/settings.json', permissions(['Write*', 'Bash(rm *)']), []],
    ...['*__write_file', '*write_file', 'mcp_*write_file', 'm*__files__wr*'].map(
      (text): [string, string, unknown, string[]] => [
        `the wildcard ${text}`,
        'home/.claude/settings.json',
        permissions([text]),
        [WRITE],
      ],
    ),
  ])('reads the rules of %s', async (_, file, value, denied) => {
    expect(await judge('claude-code', { [file]: value })).toMatchObject({ denied })
  })

  it.each(['/', '../'])('reads the local file of the main checkout in a worktree (%s)', async (from) => {
    const root = folderWith({ 'main/.claude/settings.local.json': permissions(['mcp__files__write_file']) })
    const gitdir = `${from === '/' ? root : '..'}/main/.git/worktrees/tree`
    mkdirSync(join(root, 'tree', 'inner'), { recursive: true })
    writeFileSync(join(root, 'tree', '.git'), `gitdir: ${gitdir}\n`)
    for (const folder of [join(root, 'tree'), join(root, 'tree', 'inner')]) {
      const places = { home: join(root, 'home'), folder, platform: 'linux', env: {}, root }
      expect((await readPermissions('claude-code', places))?.layers).toEqual([
        [['deny', 'mcp__files__write_file']],
      ])
    }
  })

  it.each(['agents/a.md', 'skills/a/SKILL.md', 'commands/a.md'])(
    'reads .claude/%s of the folders above without a repository, and of the main checkout',
    async (file) => {
      const text = '---\ndisallowedTools: mcp__files__write_file\n---\n'
      const root = folderWith({ [`main/.claude/${file}`]: text, 'main/inner/x': '', 'tree/x': '' })
      writeFileSync(join(root, 'tree', '.git'), 'gitdir: ../main/.git/worktrees/tree\n')
      for (const folder of [join(root, 'main', 'inner'), join(root, 'tree')]) {
        const places = { home: join(root, 'home'), folder, platform: 'linux', env: {}, root }
        expect((await readPermissions('claude-code', places))?.layers).toEqual([
          [['deny', 'mcp__files__write_file']],
        ])
      }
    },
  )

  it('lets deny win over ask, and ask over allow', async () => {
    const value = {
      permissions: { allow: ['mcp__files'], ask: ['mcp__files'], deny: ['mcp__files__write_file'] },
    }
    expect(await judge('claude-code', { 'home/.claude/settings.json': value })).toMatchObject({
      denied: [WRITE],
      asked: [READ],
    })
  })

  it('follows CLAUDE_CONFIG_DIR', async () => {
    const elsewhere = folderWith({ 'settings.json': permissions(['mcp__files__write_file']) })
    expect(await judge('claude-code', {}, { CLAUDE_CONFIG_DIR: elsewhere })).toMatchObject({
      denied: [WRITE],
    })
  })
})

describe('opencode', () => {
  it.each<[string, unknown, string[]]>([
    ['a name', { permission: { files_write_file: 'deny' } }, [WRITE]],
    ['a wildcard', { permission: { 'files_*': 'deny' } }, [READ, WRITE]],
    ['the last match', { permission: { 'files_*': 'deny', files_read_file: 'allow' } }, [WRITE]],
    ['every tool', { permission: 'deny' }, TOOLS],
    ['an object', { permission: { files_write_file: { '*': 'deny' } } }, [WRITE]],
    ['two stars for the arguments', { permission: { files_write_file: { '**': 'deny' } } }, [WRITE]],
    ['one character for the arguments', { permission: { files_write_file: { '?': 'deny' } } }, [WRITE]],
    ['other arguments', { permission: { files_write_file: { 'a*': 'deny' } } }, []],
    ['a name with arguments', { permission: { 'files_write_file *': 'deny' } }, [WRITE]],
    ['the older key', { tools: { files_write_file: false } }, [WRITE]],
    [
      'the newer key over the older one',
      { tools: { files_write_file: false }, permission: { files_write_file: 'allow' } },
      [],
    ],
    ['a server that is off', { mcp: { files: { enabled: false } } }, [READ, WRITE]],
    ['an agent', { agent: { plan: { permission: { files_write_file: 'deny' } } } }, [WRITE]],
    ['an agent that has no tool of the gateway', { agent: { plan: { tools: { '*': false } } } }, []],
    ['other characters', { permission: { 'git_hub_get-issue': 'deny' } }, [ISSUE]],
    [
      'an allow rule for the gateway, which lifts no deny',
      { permission: { files_write_file: 'deny', 'toolwell_*': 'allow' } },
      [WRITE],
    ],
    [
      'an ask rule for the gateway, which lifts no deny',
      { permission: { files_write_file: 'deny', 'toolwell_*': 'ask' } },
      [WRITE],
    ],
    [
      'a wildcard that matches the gateway and lifts no deny',
      { permission: { files_write_file: 'deny', 't*': 'allow', '*well_*': 'allow' } },
      [WRITE],
    ],
    [
      'an allow rule for the gateway after a deny rule for every tool',
      { permission: { '*': 'deny', files_read_file: 'allow', 'toolwell_*': 'allow' } },
      [WRITE, ISSUE],
    ],
    ['a deny rule for the gateway', { permission: { '*well_files__write*': 'deny' } }, [WRITE]],
    ['built-in tools only', { permission: { bash: 'deny', external_directory: 'deny' } }, []],
  ])('reads %s', async (_, value, denied) => {
    expect(await judge('opencode', { 'work/opencode.json': value })).toMatchObject({ denied })
    expect(await judge('kilo', { 'work/kilo.json': value })).toMatchObject({ denied })
  })

  it.each([
    ['agent', 'permission:\n  files_write_file: deny'],
    ['agents/team', 'description: a: b\ntools: { files_write_file: false, read: true }\nmodel: x/y'],
    ['modes', '"tools":\n  "files_write_*": false'],
    ['agent', '  mode: primary\n  permission:\n    files_write_file: deny'],
    ['agent', 'tools:\n  files_write_file: False'],
    ['agent', 'mode: primary\r\npermission:\r\n  files_write_file: deny\r'],
  ])('reads agents in %s', async (folder, text) => {
    for (const client of ['opencode', 'kilo']) {
      const agent = `---\n${text}\n---\nPlan.\n`
      for (const place of [`home/.config/${client}`, `work/.${client}`])
        expect(await judge(client, { [`${place}/${folder}/plan.md`]: agent })).toMatchObject({
          denied: [WRITE],
        })
    }
  })

  it.each([
    '---\npermission: { files_write_file: deny }\n',
    '---yaml\npermission:\n  files_write_file: deny\n---\n',
  ])('reads an agent that begins with %j', async (text) => {
    expect(await judge('opencode', { 'work/.opencode/agent/a.md': text })).toMatchObject({ denied: [WRITE] })
  })

  it.each([
    ['kilo', 'work/opencode.jsonc'],
    ['kilo', 'home/.config/kilo/opencode.json'],
    ['kilo', 'work/inner/.kilo/opencode.jsonc'],
    ...['work', 'home'].flatMap((place) =>
      ['kilo.json', 'kilo.jsonc', 'opencode.json', 'opencode.jsonc'].map((file) => [
        'kilo',
        `${place}/.kilocode/${file}`,
      ]),
    ),
  ])('%s: reads %s', async (client = '', file = '') => {
    expect(await judge(client, { [file]: { permission: { files_write_file: 'deny' } } })).toMatchObject({
      denied: [WRITE],
    })
  })

  it.each(['.kilo', '.kilocode'])(
    'Kilo: a server that %s/mcp.json switches off is denied',
    async (folder) => {
      const mcpServers = { files: { command: 'x', disabled: true }, 'git.hub': { command: 'x' } }
      expect(await judge('kilo', { [`work/inner/${folder}/mcp.json`]: { mcpServers } })).toMatchObject({
        denied: [READ, WRITE],
      })
    },
  )

  it.each(['opencode', 'kilo'])('%s: reads the folders above without a repository', async (client) => {
    const root = folderWith({
      [`a/${client}.json`]: { permission: { files_write_file: 'deny' } },
      'a/b/c/x': '',
      [`home/.config/${client}/${client}.json`]: { permission: { files_read_file: 'deny' } },
      [`a/b/.${client}/${client}.json`]: { permission: { files_read_file: 'allow' } },
    })
    const folder = join(root, 'a', 'b', 'c')
    const places = { home: join(root, 'home'), folder, platform: 'linux', env: {}, root }
    const found = await readPermissions(client, places)
    const judgeTool = found && createRulesJudge({ ...found, own: {} })
    expect([judgeTool?.('files', 'write_file'), judgeTool?.('files', 'read_file')]).toEqual(['deny', 'deny'])
  })

  it('keeps agents with one name apart', async () => {
    const files = {
      'home/.config/opencode/agents/a/plan.md': '---\npermission: { files_write_file: deny }\n---\n',
      'home/.config/opencode/agents/b/plan.md': '---\npermission: { files_write_file: ask }\n---\n',
    }
    expect(await judge('opencode', files)).toMatchObject({ denied: [WRITE] })
  })

  it.each([{ files_write_file: 'allow' }, { 'toolwell_*': 'allow' }, { '*': 'ask' }])(
    'a project lifts no deny rule of the user: %o',
    async (permission) => {
      const files = {
        'home/.config/opencode/opencode.jsonc': {
          permission: { files_write_file: 'deny', files_read_file: 'ask' },
        },
        'work/inner/opencode.json': { permission },
      }
      const found = await judge('opencode', files)
      expect(found).toMatchObject({ denied: [WRITE] })
      expect(found?.asked).toContain(READ)
    },
  )

  it('counts variables that the client passes on', async () => {
    const permission = { files_write_file: 'deny' }
    const folder = folderWith({ 'a.json': { permission }, 'opencode.json': { permission } })
    const named = { 'work/opencode.json': { permission: { files_write_file: '{env:ACTION}' } } }
    for (const [client, name, value] of [
      ['opencode', 'OPENCODE_CONFIG', join(folder, 'a.json')],
      ['opencode', 'OPENCODE_CONFIG_DIR', folder],
      ['opencode', 'OPENCODE_CONFIG_CONTENT', JSON.stringify({ permission })],
      ['opencode', 'OPENCODE_PERMISSION', JSON.stringify(permission)],
      ['opencode', 'ACTION', 'deny'],
      ['kilo', 'KILO_PERMISSION', JSON.stringify(permission)],
      ['kilo', 'KILO_CONFIG', join(folder, 'a.json')],
      ['kilo', 'KILO_CONFIG_CONTENT', JSON.stringify({ permission })],
    ] as const)
      expect([
        name,
        (await judge(client, name === 'ACTION' ? named : {}, { [name]: value }))?.denied,
      ]).toEqual([name, [WRITE]])
  })
})

it.each<[string, string, string, string[], string[]]>([
  [
    'servers that the administrator allows',
    'etc/codex/requirements.toml',
    '[mcp_servers.files.identity]\ncommand = "a"\n[mcp_servers.toolwell.identity]\ncommand = "b"',
    [ISSUE],
    [],
  ],
  [
    'disabled tools',
    'home/.codex/config.toml',
    '[mcp_servers.files]\ndisabled_tools = ["write_file"]',
    [WRITE],
    [],
  ],
  [
    'enabled tools',
    'work/.codex/config.toml',
    '[mcp_servers.files]\nenabled_tools = ["read_file"]',
    [WRITE],
    [],
  ],
  [
    'a server that is off',
    'etc/codex/managed_config.toml',
    '[mcp_servers.files]\nenabled = false',
    [READ, WRITE],
    [],
  ],
  [
    'tools of the gateway',
    'home/.codex/config.toml',
    '[mcp_servers.toolwell]\ndisabled_tools = ["files__write_file"]',
    [WRITE],
    [],
  ],
  [
    'a profile',
    'home/.codex/careful.config.toml',
    '[mcp_servers.files]\ndisabled_tools = ["write_file"]',
    [WRITE],
    [],
  ],
  [
    'an agent',
    'home/.codex/agents/team/a.toml',
    'name = "a"\n[mcp_servers.files]\ndisabled_tools = ["write_file"]',
    [WRITE],
    [],
  ],
  [
    'an agent of the administrator',
    'etc/codex/agents/a.toml',
    '[mcp_servers.files]\ndisabled_tools = ["write_file"]',
    [WRITE],
    [],
  ],
  [
    'an agent of the project',
    'work/.codex/agents/a.toml',
    '[mcp_servers.files]\nenabled = false',
    [READ, WRITE],
    [],
  ],
  [
    'the three tools of the gateway',
    'home/.codex/config.toml',
    '[mcp_servers.toolwell]\nenabled_tools = ["find_tools"]',
    [],
    [],
  ],
  [
    'tools that ask',
    'home/.codex/config.toml',
    '[mcp_servers.files.tools.write_file]\napproval_mode = "prompt"',
    [],
    [WRITE],
  ],
])('Codex: reads %s', async (_, file, text, denied, asked) => {
  expect(await judge('codex', { [file]: text })).toMatchObject({ denied, asked })
})

it('Codex: reads the agents that its config names', async () => {
  const files = {
    'home/.codex/config.toml':
      '[agents.a]\ndescription = "a"\nconfig_file = "roles/a.toml"\n[agents]\nmax_depth = 1\n',
    'home/.codex/roles/a.toml': '[mcp_servers.files]\ndisabled_tools = ["write_file"]',
  }
  expect(await judge('codex', files)).toMatchObject({ denied: [WRITE] })
})

describe('Copilot CLI', () => {
  it.each<[string, string, unknown, string[]]>([
    ['the user', 'home/.copilot/settings.json', { disabledMcpServers: ['files'] }, [READ, WRITE]],
    [
      'the top of the repository',
      'work/.github/copilot/settings.json',
      { disabledMcpServers: ['files', 'toolwell'] },
      [READ, WRITE],
    ],
    [
      'the local file',
      'work/inner/.github/copilot/settings.local.json',
      { disabledMcpServers: ['git.hub'] },
      [ISSUE],
    ],
    [
      'the administrator',
      'etc/github-copilot/managed-settings.json',
      { deniedMcpServers: [{ serverName: 'files' }] },
      [READ, WRITE],
    ],
    [
      'a list of the administrator',
      'etc/github-copilot/managed-settings.json',
      { allowedMcpServers: [{ serverName: 'files' }, { serverName: 'toolwell' }] },
      [ISSUE],
    ],
    ...[
      ['Mcp(files/write_file)', [WRITE]] as const,
      ['Mcp(files)', [READ, WRITE]] as const,
      ['mcp( files / *_file )', [READ, WRITE]] as const,
      ['Mcp(toolwell)', []] as const,
    ].map(([rule, denied]): [string, string, unknown, string[]] => [
      `the deny rule ${rule} of the administrator`,
      'etc/github-copilot/managed-settings.json',
      permissions(['Shell(rm *)', rule]),
      [...denied],
    ]),
  ])('reads servers that are off: %s', async (_, file, value, denied) => {
    expect(await judge('copilot-cli', { [file]: value })).toMatchObject({ denied })
  })

  it('reads ask rules of the administrator', async () => {
    const files = {
      'etc/github-copilot/managed-settings.json': permissions([], ['Mcp(files/write_file)', 'Edit(/src/**)']),
    }
    expect(await judge('copilot-cli', files)).toEqual({
      denied: [],
      asked: [WRITE],
      shown: ['Mcp(files/write_file)'],
    })
  })

  it('follows COPILOT_HOME', async () => {
    const files = { 'other/settings.json': { disabledMcpServers: ['files'] } }
    const env = { COPILOT_HOME: join(folderWith(files), 'other') }
    expect(await judge('copilot-cli', {}, env)).toMatchObject({ denied: [READ, WRITE] })
  })
})

it('Gemini CLI: reads tools that need confirmation', async () => {
  const files = {
    'home/.gemini/settings.json': { tools: { confirmationRequired: ['mcp_files_write_file'] } },
  }
  expect(await judge('gemini', files)).toMatchObject({ denied: [], asked: [WRITE] })
})

it.each<[string, string, unknown, string[]]>([
  [
    'the only tools',
    'home/.gemini/settings.json',
    { tools: { core: ['read_file', 'mcp_files_read_file', 'mcp_toolwell_run_tool'] } },
    [WRITE, ISSUE],
  ],
  [
    'the only built-in tools',
    'home/.gemini/settings.json',
    { tools: { core: ['read_file', 'mcp_toolwell_run_tool'] } },
    [],
  ],
  [
    'excluded tools',
    'home/.gemini/settings.json',
    { tools: { exclude: ['mcp_files_write_file', 'run_shell_command'] } },
    [WRITE],
  ],
  ['the older key', 'home/.gemini/settings.json', { excludeTools: ['files__write_file'] }, [WRITE]],
  ['excluded servers', 'work/.gemini/settings.json', { mcp: { excluded: ['files'] } }, [READ, WRITE]],
  ['allowed servers', 'etc/gemini-cli/settings.json', { mcp: { allowed: ['files', 'toolwell'] } }, [ISSUE]],
  [
    'allowed servers, with the gateway alone',
    'home/.gemini/settings.json',
    { mcp: { allowed: ['toolwell'] } },
    [],
  ],
  [
    'tools of a server',
    'work/.gemini/settings.json',
    { mcpServers: { files: { includeTools: ['read_file'] } } },
    [WRITE],
  ],
  [
    'a policy',
    'etc/gemini-cli/policies/a.toml',
    '[[rule]]\nmcpName = "files"\ntoolName = "write_file"\ndecision = "deny"',
    [WRITE],
  ],
  [
    'a policy with a full name',
    'home/.gemini/policies/a.toml',
    '[[rule]]\ntoolName = "mcp_files_*"\ndecision = "deny"',
    [READ, WRITE],
  ],
])('Gemini CLI: reads %s', async (_, file, value, denied) => {
  expect(await judge('gemini', { [file]: value })).toMatchObject({ denied })
})

/** A policy file of Gemini CLI with rules for the tools of a server. */
const policy = (...rules: [decision: string, server: string, tool: string, priority: number][]) =>
  rules
    .map(
      ([decision, server, tool, priority]) =>
        `[[rule]]\nmcpName = "${server}"\ntoolName = "${tool}"\ndecision = "${decision}"\npriority = ${priority}\n`,
    )
    .join('')
const DENY = ['deny', 'files', 'write_file', 100] as const

it.each<[string, Record<string, string>, string[]]>([
  [
    'a rule for the gateway lifts no deny',
    {
      'home/.gemini/policies/a.toml': policy([...DENY]),
      'home/.gemini/policies/b.toml': policy(['allow', 'toolwell', '*', 950]),
    },
    [WRITE],
  ],
  [
    'a full name of the gateway lifts no deny',
    {
      'home/.gemini/policies/a.toml': `${policy([...DENY])}[[rule]]\ntoolName = "mcp_toolwell_*"\ndecision = "ask_user"\npriority = 950`,
    },
    [WRITE],
  ],
  [
    'a rule for the gateway denies',
    { 'home/.gemini/policies/a.toml': policy(['deny', 'toolwell', 'files__write*', 1]) },
    [WRITE],
  ],
  [
    'the administrator wins over the user',
    {
      'etc/gemini-cli/policies/a.toml': policy(['deny', 'files', 'write_file', 10]),
      'home/.gemini/policies/a.toml': policy(['allow', 'files', '*', 500]),
    },
    [WRITE],
  ],
  [
    'the user wins over the project',
    {
      'home/.gemini/policies/a.toml': policy(['deny', 'files', 'write_file', 10]),
      'work/.gemini/policies/a.toml': policy(['allow', 'files', '*', 500], ['deny', 'git.hub', '*', 1]),
    },
    [WRITE, ISSUE],
  ],
  [
    'the higher priority wins',
    { 'home/.gemini/policies/a.toml': policy([...DENY], ['allow', 'files', '*', 101]) },
    [],
  ],
  [
    'the first of two equal priorities wins',
    { 'home/.gemini/policies/a.toml': policy([...DENY], ['allow', 'files', '*', 100]) },
    [WRITE],
  ],
  [
    'the first file wins at equal priorities',
    {
      'home/.gemini/policies/a.toml': policy([...DENY]),
      'home/.gemini/policies/b.toml': policy(['allow', 'files', '*', 100]),
    },
    [WRITE],
  ],
])('Gemini CLI: policies: %s', async (_, files, denied) => {
  expect(await judge('gemini', files)).toMatchObject({ denied })
})

it.each<[string, string, Record<string, unknown>]>([
  [
    'opencode: a rule of another case',
    'opencode',
    {
      'work/opencode.json': {
        permission: { files_write_file: 'deny', 'Files_*': 'allow', FILES_WRITE_FILE: 'ask' },
      },
    },
  ],
  [
    'Gemini CLI: another case',
    'gemini',
    {
      'home/.gemini/policies/a.toml': policy(
        [...DENY],
        ['allow', 'Files', '*', 900],
        ['ask_user', 'FILES', '*', 900],
      ),
    },
  ],
  [
    'Gemini CLI: a wildcard that it does not know',
    'gemini',
    {
      'home/.gemini/policies/a.toml': policy(
        [...DENY],
        ['allow', 'files', 'write*', 900],
        ['allow', 'fil*', '*', 900],
      ),
    },
  ],
  [
    'Gemini CLI: a wildcard for the part of a server',
    'gemini',
    {
      'home/.gemini/policies/a.toml': `${policy([...DENY])}[[rule]]\ntoolName = "mcp_f*"\ndecision = "allow"\npriority = 900\n`,
    },
  ],
  [
    'Gemini CLI: an ask rule with a wildcard that it does not know',
    'gemini',
    {
      'home/.gemini/policies/a.toml': policy([...DENY], ['ask_user', 'files', 'write*', 900]),
    },
  ],
  [
    'Gemini CLI: an ask rule for some arguments',
    'gemini',
    {
      'home/.gemini/policies/a.toml': `${policy(['ask_user', 'files', 'write_file', 900])}argsPattern = "tmp"\n${policy([...DENY])}`,
    },
  ],
  [
    'Gemini CLI: an extension',
    'gemini',
    {
      'home/.gemini/policies/a.toml': policy(['deny', 'files', 'write_file', 0]),
      'home/.gemini/extensions/b/policies/a.toml': policy(['allow', 'files', '*', 900]),
    },
  ],
  [
    'Gemini CLI: a list with a wildcard',
    'gemini',
    { 'home/.gemini/settings.json': { mcpServers: { files: { includeTools: ['read_file', 'write*'] } } } },
  ],
  [
    'Codex: a list with a wildcard',
    'codex',
    { 'home/.codex/config.toml': '[mcp_servers.files]\nenabled_tools = ["read_file", "w*", "WRITE_FILE"]' },
  ],
  ...(
    [
      ['its own folder', 'work/inner/.gemini/policies/a.toml'],
      ['the folder above', 'work/.gemini/policies/a.toml'],
    ] as const
  ).map(([place, file]): [string, string, Record<string, unknown>] => [
    `Gemini CLI: a policy of a project in ${place}`,
    'gemini',
    {
      'home/.gemini/extensions/b/policies/a.toml': policy([...DENY]),
      [file]: policy(['allow', 'files', '*', 1], ['ask_user', 'files', '*', 1]),
    },
  ]),
  [
    'Gemini CLI: a rule for sessions with a person',
    'gemini',
    {
      'home/.gemini/policies/a.toml': `${policy([...DENY], ['allow', 'files', '*', 200])}interactive = true\n`,
    },
  ],
  [
    'Gemini CLI: policies of the user, if the settings name others',
    'gemini',
    {
      'home/.gemini/settings.json': { policyPaths: ['~/mine.toml'] },
      'home/mine.toml': policy([...DENY]),
      'home/.gemini/policies/a.toml': policy(['allow', 'files', '*', 500], ['ask_user', 'files', '*', 501]),
    },
  ],
  [
    'Gemini CLI: policies that the settings name for the administrator, who has some',
    'gemini',
    {
      'home/.gemini/settings.json': { adminPolicyPaths: ['~/mine.toml'] },
      'home/mine.toml': policy(['allow', 'files', '*', 500]),
      'etc/gemini-cli/policies/a.toml': policy([...DENY]),
    },
  ],
])('an allow rule that the client itself would not apply lifts no deny: %s', async (_, client, files) => {
  expect(await judge(client, files)).toMatchObject({ denied: [WRITE] })
})

it.each<[string, string, unknown, string[]]>([
  [
    'servers that `gemini mcp disable` turned off',
    'mcp-server-enablement.json',
    { files: { enabled: false }, 'git.hub': { enabled: true } },
    [READ, WRITE],
  ],
  [
    'tools that an extension excludes',
    'extensions/a/gemini-extension.json',
    { name: 'a', excludeTools: ['mcp_files_write_file'] },
    [WRITE],
  ],
  ['policies of an extension', 'extensions/a/policies/b.toml', policy([...DENY]), [WRITE]],
])('Gemini CLI: reads %s', async (_, file, value, denied) => {
  expect(await judge('gemini', { [`home/.gemini/${file}`]: value })).toMatchObject({ denied })
})

it.each<[string, string, string, Record<string, unknown>]>([
  ['gemini', 'GEMINI_CLI_SYSTEM_DEFAULTS_PATH', 'a.json', { 'a.json': { mcp: { excluded: ['git.hub'] } } }],
  [
    'gemini',
    'GEMINI_CLI_SYSTEM_SETTINGS_PATH',
    'a.json',
    { 'system-defaults.json': { mcp: { excluded: ['git.hub'] } } },
  ],
  [
    'qwen',
    'QWEN_CODE_SYSTEM_SETTINGS_PATH',
    'a.json',
    { 'system-defaults.json': { mcp: { excluded: ['git.hub'] } } },
  ],
])('%s: reads the files that %s names', async (client, variable, file, files) => {
  const env = { [variable]: join(folderWith(files), file) }
  expect(await judge(client, {}, env)).toMatchObject({ denied: [ISSUE] })
})

it('Gemini CLI: a rule that denies every tool counts for servers', async () => {
  const rule = (decision: string, priority: number, target: string) =>
    `[[rule]]\ndecision = "${decision}"\npriority = ${priority}\n${target}\n`
  const files = {
    'home/.gemini/policies/a.toml': [
      rule('deny', 1, 'toolName = "*"'),
      rule('allow', 100, 'mcpName = "files"\ntoolName = "read_file"'),
      rule('allow', 900, 'mcpName = "toolwell"\ntoolName = "*"'),
    ].join('\n'),
  }
  expect(await judge('gemini', files)).toMatchObject({ denied: [WRITE, ISSUE] })
})

it('Gemini CLI: reads the policies that the settings name', async () => {
  const more = folderWith({
    'a.toml': policy(['deny', 'files', 'write_file', 1]),
    'b/c.toml': policy(['deny', 'git.hub', '*', 1], ['allow', 'files', '*', 999]),
  })
  const files = {
    'home/.gemini/settings.json': { policyPaths: [join(more, 'b')] },
    'etc/gemini-cli/settings.json': { adminPolicyPaths: [join(more, 'a.toml')] },
    'work/.gemini/settings.json': { policyPaths: ['mine.toml'] },
    'work/inner/mine.toml': policy(['allow', 'git.hub', '*', 999], ['deny', 'files', 'read_file', 999]),
  }
  expect(await judge('gemini', files)).toMatchObject({ denied: [WRITE, ISSUE] })
})

it.each<[string, string, unknown, string[]]>([
  ['denied tools', 'home/.qwen/settings.json', permissions(['mcp__files__write_file']), [WRITE]],
  ['the local file', 'work/inner/.qwen/settings.local.json', permissions(['mcp__files']), [READ, WRITE]],
  [
    'disabled tools',
    'work/.qwen/settings.json',
    { tools: { disabled: ['mcp__files__write_file'] } },
    [WRITE],
  ],
  [
    'an agent',
    'home/.qwen/agents/a.md',
    '---\ntools: [read_file]\ndisallowedTools: [mcp__files__write_file]\n---\n',
    [WRITE],
  ],
  ['the system', 'etc/qwen-code/settings.json', { mcp: { excluded: ['files'] } }, [READ, WRITE]],
])('Qwen Code: reads %s', async (_, file, value, denied) => {
  expect(await judge('qwen', { [file]: value })).toMatchObject({ denied })
})

it.each<[string, string, unknown, RegExp]>([
  [
    'claude-code',
    'etc/claude-code/managed-settings.json',
    { deniedMcpServers: [{ serverCommand: ['npx', 'evil'] }] },
    /"deniedMcpServers" has an entry without "serverName", and Toolwell compares only names/,
  ],
  [
    'claude-code',
    'work/inner/.claude/settings.json',
    '{ "permissions": ',
    /settings\.json: this is not a valid JSON object\. Claude Code keeps/,
  ],
  [
    'claude-code',
    'home/.claude/settings.json',
    { permissions: { deny: 'mcp__files' } },
    /"permissions\.deny" must be a list of strings/,
  ],
  ['claude-code', 'home/.claude/settings.json', { permissions: [] }, /"permissions" must be an object/],
  ['codex', 'home/.codex/config.toml', '[mcp_servers', /this is not a valid TOML file\. Codex keeps/],
  [
    'opencode',
    'work/opencode.json',
    '[]',
    /not a valid JSON object\. .*Fix the file, then restart opencode\.$/,
  ],
  [
    'opencode',
    'work/opencode.json',
    { permission: { files_write_file: 'forbid' } },
    /the action "forbid" of "files_write_file" must be "allow", "ask" or "deny"/,
  ],
  [
    'kilo',
    'work/kilo.json',
    { permission: { files_write_file: '{env:ACTION}' } },
    /the value of "\{env:ACTION\}" is unknown/,
  ],
  [
    'opencode',
    'work/opencode.json',
    { permission: { '{file:name}': 'deny' } },
    /the value of "\{file:name\}" is unknown/,
  ],
  [
    'opencode',
    'work/.opencode/agent/a.md',
    '---\npermission: { files_write_file: deny\n---\n',
    /a\.md: "permission" or "tools" is not valid YAML\. opencode keeps/,
  ],
  [
    'opencode',
    'work/.opencode/agent/a.md',
    '---\npermission:\n  files_write_file: *a\n---\n',
    /a\.md: "permission" or "tools" is not valid YAML\. opencode keeps/,
  ],
  ...['[', '? '].map((text): [string, string, unknown, RegExp] => [
    'opencode',
    'work/.opencode/agent/a.md',
    `---\npermission:\n  ${text.repeat(3000)}\ntools: { a: deny }\n---\n`,
    /a\.md: "permission" or "tools" is not valid YAML/,
  ]),
  [
    'gemini',
    'home/.gemini/settings.json',
    { mcp: { excluded: [1] } },
    /"mcp\.excluded" must be a list of strings/,
  ],
  [
    'claude-code',
    'work/inner/.claude/settings.json',
    permissions([`mcp__${'*a'.repeat(1000)}`]),
    /settings\.json: a rule is longer than 1000 characters/,
  ],
  ['qwen', 'home/.qwen/settings.json', `{ "a": "${'x'.repeat(33 * 1024 * 1024)}" }`, /larger than 32 MB/],
  ['qwen', 'work/inner/.qwen/settings.json', `{ "a": "${'x'.repeat(1024 * 1024)}" }`, /larger than 1 MB/],
])('%s: rules that cannot be read are an error', async (client, file, value, message) => {
  await expect(judge(client, { [file]: value })).rejects.toThrow(message)
})

it('Claude Code: reads the servers that are off in the folder', async () => {
  const root = folderWith({})
  const folder = join(root, 'work')
  const files = { '.claude.json': { projects: { [folder]: { disabledMcpServers: ['files', 'toolwell'] } } } }
  const env = { CLAUDE_CONFIG_DIR: folderWith(files) }
  const found = await readPermissions('claude-code', { home: root, folder, platform: 'linux', env, root })
  expect(found?.layers).toEqual([[['deny', '*', 'files']]])
})

it.runIf(process.platform !== 'win32')(
  'reads few agents where a project links to a large folder',
  async () => {
    const root = folderWith({ 'work/.claude/settings.json': permissions(['mcp__files__write_file']) })
    mkdirSync(join(root, 'work/.claude/agents'))
    for (const name of ['a', 'b']) symlinkSync('/', join(root, 'work/.claude/agents', name))
    const places = { home: join(root, 'home'), folder: join(root, 'work'), platform: 'linux', env: {}, root }
    expect(RULE_READERS['claude-code'].files(places).length).toBeLessThan(1500)
  },
)

it('Claude Code: an agent of a project with a million parentheses does not block', async () => {
  const text = `---\ndisallowedTools: mcp__files ${'('.repeat(1_000_000)}\n---\n`
  expect(await judge('claude-code', { 'work/.claude/agents/a.md': text })).toMatchObject({
    denied: [READ, WRITE],
  })
})

it.each([
  ['project', 'main', 'main/.git/HEAD'],
  ['folder above without a repository', 'main/inner', 'x'],
  ['main checkout', 'tree', 'tree/.git'],
])('many keys in agents of the %s take no time', async (_, folder, file) => {
  const keys = Array.from({ length: 50_000 }, (_, at) => `  k${at}: deny`).join('\n')
  const agents = Array.from({ length: 8 }, (_, at) => [
    `main/.claude/agents/${at}.md`,
    `---\npermission:\n${keys}\n---\n`,
  ])
  const git = 'gitdir: ../main/.git/worktrees/tree\n'
  const root = folderWith({ ...Object.fromEntries(agents), 'main/inner/x': '', [file]: git })
  const places = { home: join(root, 'home'), folder: join(root, folder), platform: 'linux', env: {}, root }
  const begun = performance.now()
  await expect(readPermissions('claude-code', places)).rejects.toThrow('larger than 8 MB together')
  expect(performance.now() - begun).toBeLessThan(5000)
})

it('opencode: a pattern with many stars takes no time', async () => {
  const agent = { plan: { permission: { [`${'*'.repeat(200)}x_y`]: 'deny' } } }
  const begun = performance.now()
  expect(await judge('opencode', { 'work/opencode.json': { agent } })).toMatchObject({ denied: [] })
  expect(performance.now() - begun).toBeLessThan(2000)
})

it('reads a file again that the client is writing', async () => {
  const root = folderWith({ 'home/.claude.json': '{ "projects": ' })
  const [home, folder] = [join(root, 'home'), join(root, 'work')]
  // Reads the first file at once.
  const reading = readPermissions('claude-code', { home, folder, platform: 'linux', env: {}, root })
  const whole = { projects: { [folder]: { disabledMcpServers: ['files'] } } }
  writeFileSync(join(home, '.claude.json'), JSON.stringify(whole))
  expect((await reading)?.layers).toEqual([[['deny', '*', 'files']]])
})

it('large numbers, comments and empty files are no errors', async () => {
  expect(await judge('codex', { 'home/.codex/config.toml': 'i = 9223372036854775807' })).toMatchObject({
    denied: [],
  })
  expect(
    await judge('gemini', { 'home/.gemini/settings.json': '\uFEFF{ /* mine */ "a": 1, }' }),
  ).toMatchObject({ denied: [] })
  expect(await judge('claude-code', { 'home/.claude/settings.json': '' })).toMatchObject({ denied: [] })
})

it.runIf(process.platform !== 'win32').each([
  ['an endless device', (file: string) => symlinkSync('/dev/zero', file)],
  ['a pipe', (file: string) => void execFileSync('mkfifo', [file])],
])('Claude Code: a project whose .git is %s neither blocks nor fills memory', async (_, make) => {
  const root = folderWith({ 'work/.claude/settings.json': permissions(['mcp__files__write_file']) })
  make(join(root, 'work', '.git'))
  // A separate process, because a blocking read could not be stopped.
  const source = fileURLToPath(new URL('../src/shared/clients/client-rules.ts', import.meta.url))
  const places = { home: join(root, 'home'), folder: join(root, 'work'), platform: 'linux', env: {}, root }
  const script = `import(${JSON.stringify(source)}).then(async ({ readPermissions }) => console.log(JSON.stringify((await readPermissions('claude-code', ${JSON.stringify(places)})).layers)))`
  const words = ['--conditions', 'development', '--import', 'tsx', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 60_000 })
  expect(JSON.parse(stdout)).toEqual([[['deny', 'mcp__files__write_file']]])
})

describe('a name in a list of denied tools counts in every form', () => {
  const LONG = ['atlassian_jira_cloud', 'bulk_delete_issues_forever_and_without_asking_you'] as const
  it.each<[string, string, unknown, readonly [string, string], string]>([
    ['gemini', 'the name alone', { tools: { exclude: ['write_file'] } }, ['files', 'write_file'], 'deny'],
    ['gemini', 'the older key', { excludeTools: ['Write-File'] }, ['files', 'write_file'], 'deny'],
    ['gemini', 'server__tool', { excludeTools: ['files__write_file'] }, ['files', 'write_file'], 'deny'],
    [
      'gemini',
      'a server with the prefix',
      { tools: { exclude: ['mcp_files_write_file'] } },
      ['mcp_files', 'write_file'],
      'deny',
    ],
    [
      'gemini',
      'a shortened name',
      { tools: { exclude: ['mcp_atlassian_jira_cloud_bulk_...forever_and_without_asking_you'] } },
      LONG,
      'deny',
    ],
    ['qwen', 'the name alone', { tools: { disabled: ['write_file'] } }, ['files', 'write_file'], 'deny'],
    [
      'qwen',
      'a shortened name',
      permissions(['mcp__atlassian_jira_cloud__bulk_delete_issues_foreve_1a2b3c4d']),
      LONG,
      'deny',
    ],
    [
      'qwen',
      'the older shortened name',
      permissions(['mcp__atlassian_jira_cloud__b___forever_and_without_asking_you']),
      LONG,
      'deny',
    ],
    ['gemini', 'another tool', { tools: { exclude: ['write_file'] } }, ['files', 'write_files'], 'allow'],
    ['claude-code', 'a built-in tool', permissions(['Write', 'Read(.env)']), ['files', 'write'], 'allow'],
    ['claude-code', 'a server', permissions(['mcp__fetch']), ['web', 'fetch'], 'allow'],
    ['claude-code', 'another server', permissions(['mcp__git__*']), ['git-hub', 'push'], 'allow'],
  ])('%s: %s', async (client, _, value, [server, tool], action) => {
    const folder = client === 'claude-code' ? 'claude' : client
    const root = folderWith({ [`home/.${folder}/settings.json`]: value })
    const places = { home: join(root, 'home'), folder: root, platform: 'linux', env: {}, root }
    const found = await readPermissions(client, places)
    expect(found && createRulesJudge({ ...found, own: {} })(server, tool)).toBe(action)
  })
})

describe.each(['gemini', 'qwen'])('%s: variables in settings', (client) => {
  const settings = (server: string, tool: string, allowed: string[] = []) => ({
    [`home/.${client}/settings.json`]: {
      mcp: { excluded: [server] },
      tools: { exclude: [tool] },
      mcpServers: { files: { env: { KEY: '$UNSET' }, excludeTools: allowed } },
    },
  })

  it.each([
    ['$OFF', '${TOOL}', []],
    ['${OFF}', 'x', ['$TOOL']],
    ['${OFF:-files}', '${UNSET:-write_file}', []],
  ])('inserts %s and %s', async (server, tool, list) => {
    const env = { OFF: 'git.hub', TOOL: 'write_file' }
    expect(await judge(client, settings(server, tool, list), env)).toMatchObject({ denied: [WRITE, ISSUE] })
  })

  it.each([
    ['$UNSET', 'x'],
    ['x', 'a_${UNSET}'],
  ])('refuses %s and %s without a value', async (server, tool) => {
    await expect(judge(client, settings(server, tool))).rejects.toThrow(
      /settings\.json: the value of "\$\{?UNSET\}?" is unknown to Toolwell, so write the value itself/,
    )
  })
})

it.runIf(process.platform !== 'win32')(
  'Gemini CLI: refuses a project with many links to a large file',
  async () => {
    const root = folderWith({ 'work/big': `# ${'x'.repeat(900_000)}\n`, 'work/.gemini/policies/a.toml': '' })
    for (let at = 0; at < 400; at++)
      symlinkSync('../../big', join(root, 'work/.gemini/policies', `${at}.toml`))
    const places = { home: join(root, 'home'), folder: join(root, 'work'), platform: 'linux', env: {}, root }
    await expect(readPermissions('gemini', places)).rejects.toThrow(
      'the files with rules in this project are larger than 8 MB together',
    )
  },
)

it('keeps the last of equal rules', async () => {
  const names = ['mcp__b', 'mcp__a', ...Array.from({ length: 20_000 }, () => 'mcp__b')]
  const root = folderWith({ 'home/.claude/settings.json': permissions(names) })
  const places = { home: join(root, 'home'), folder: root, platform: 'linux', env: {}, root }
  expect((await readPermissions('claude-code', places))?.layers).toEqual([
    [
      ['deny', 'mcp__a'],
      ['deny', 'mcp__b'],
    ],
  ])
})

it('has no rules for other clients', async () => {
  expect(await judge('cursor', {})).toBeUndefined()
})
