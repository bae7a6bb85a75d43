/** Deny rules of a client count behind the gateway: over the wire, in every scope, and when they are edited after `connect`. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openClient } from '../../gateway/test/support/clients.js'
import { describedTool } from '../../mcp/test/support/odd-server.js'
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
      policy: [
        'home/.gemini/policies/mine.toml',
        () =>
          '[[rule]]\nmcpName = "*"\ndecision = "deny"\npriority = 1\n[[rule]]\nmcpName = "files"\ntoolName = ["read_file", "move_file"]\ndecision = "allow"\npriority = 9\n',
      ],
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
