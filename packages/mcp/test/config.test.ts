/** Config files: those of four clients as they are, ours with every key, and everything that can be wrong with one. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Schema, Validator } from '@cfworker/json-schema'
import {
  type Config,
  defaultConfigFiles,
  defineServer,
  describeProblem,
  type LoadOptions,
  loadConfig,
} from '@toolwell/mcp'
import { isOffered, readDocument, showEndpoint } from '@toolwell/mcp/internal'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { configSchema } from '../src/config/json-schema.js'
import { createRedactor } from '../src/config/redact.js'
import { temporary } from './support/temporary.js'

/** Reads one text as the file of this name in the folder `/project`. */
function load(text: string | object, options: Partial<LoadOptions> & { name?: string } = {}): Config {
  const { name = 'toolwell.json', ...rest } = options
  const file = { path: `/project/${name}`, text: typeof text === 'string' ? text : JSON.stringify(text) }
  return loadConfig({ files: [file], env: {}, workspaceFolder: '/workspace', ...rest })
}

const errorsOf = (config: Config) =>
  config.problems.filter(({ severity }) => severity === 'error').map(describeProblem)
const one = (entry: object, options: Parameters<typeof load>[1] = {}) =>
  load({ mcpServers: { one: entry } }, options)

it('says which option of loadConfig is wrong', () => {
  const load = (options: unknown) => () => loadConfig(options as Parameters<typeof loadConfig>[0])
  expect(load({ file: 'a.json' })).toThrow('Unknown option "file" in loadConfig. Did you mean "files"?')
  expect(load({ files: 'a.json' })).toThrow('loadConfig needs files: a list of paths, not string.')
  expect(load({})).toThrow('loadConfig needs files: a list of paths, not undefined.')
  expect(load('a.json')).toThrow('loadConfig takes an object of options (files, ')
})

describe('a file of another client works unchanged', () => {
  it.each([
    [
      'claude_desktop_config.json',
      `{
        "globalShortcut": "Ctrl+Q",
        "mcpServers": { "files": { "command": "npx", "args": ["-y", "some-server", "\${HOME}/docs"], "env": { "LEVEL": "info" } } }
      }`,
      {
        type: 'stdio',
        command: 'npx',
        args: ['-y', 'some-server', '/home-of-ada/docs'],
        env: { LEVEL: 'info' },
      },
    ],
    [
      '.mcp.json',
      `{ "mcpServers": { "files": { "type": "http", "url": "\${BASE:-https://example.com}/mcp", "headers": { "Authorization": "Bearer \${TOKEN}" } } } }`,
      { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer abc123' } },
    ],
    [
      'cursor/mcp.json',
      `{ "mcpServers": { "files": { "command": "\${workspaceFolder}/run", "args": ["\${env:TOKEN}"], "disabled": false, "autoApprove": ["x"] } } }`,
      { type: 'stdio', command: '/workspace/run', args: ['abc123'] },
    ],
    [
      '.vscode/mcp.json',
      `{
        // written by hand
        "inputs": [{ "id": "key", "type": "promptString" }],
        "servers": { "files": { "type": "sse", "url": "http://127.0.0.1:3000/sse", }, },
      }`,
      { type: 'sse', url: 'http://127.0.0.1:3000/sse' },
    ],
  ])('%s', (name, text, endpoint) => {
    const config = load(text, { name, env: { HOME: '/home-of-ada', TOKEN: 'abc123' } })
    expect(config.problems).toEqual([])
    expect(config.servers).toMatchObject([
      { name: 'files', endpoint, enabled: true, lazy: true, share: 'all' },
    ])
  })

  it('with a file of variables, in which those of env win', () => {
    const folder = temporary()
    writeFileSync(
      join(folder, '.env'),
      '\ufeff# keys\nexport A=one # said\r\nB="two # words"\nC=\'three\'\n\nno line\nD=\nE="a\\nb"\n',
    )
    const entry = { command: 'x', env: { C: '3' }, envFile: './.env' }
    const path = join(folder, 'mcp.json')
    writeFileSync(path, JSON.stringify({ servers: { files: entry } }))
    const config = loadConfig({ files: [path], env: {} })
    expect(config.problems).toEqual([])
    expect(config.servers[0]?.endpoint).toMatchObject({
      env: { A: 'one', B: 'two # words', C: '3', D: '', E: 'a\nb' },
    })
    expect(config.servers[0]?.secrets).toContain('two # words')
    writeFileSync(path, JSON.stringify({ servers: { files: { ...entry, envFile: 'no.env' } } }))
    expect(loadConfig({ files: [path], env: {} }).problems).toMatchObject([
      {
        path: 'servers.files.envFile',
        message: expect.stringContaining('/*** cannot be used: there is no such file'),
      },
    ])
  })

  it('and what has another name there is understood', () => {
    const { servers, problems } = load(
      {
        mcpServers: {
          a: {
            serverUrl: 'https://example.com/a',
            disabledTools: ['x'],
            disabled: true,
            timeout: 90,
            trust: true,
          },
          b: { httpUrl: 'https://example.com/b', includeTools: ['r*'], excludeTools: ['rm'], colour: 'red' },
        },
      },
      { name: 'settings.json' },
    )
    expect(servers).toMatchObject([
      { enabled: false, deny: ['x'], timeout: 90_000, trust: 'first-use' },
      { allow: ['r*'], deny: ['rm'] },
    ])
    expect(problems.map(({ severity, path }) => [severity, path])).toEqual([
      ['warning', 'mcpServers.b.colour'],
    ])
  })
})

describe('a server', () => {
  it('takes every key', () => {
    const { servers, problems } = one({
      command: './bin/server',
      cwd: 'data',
      description: 'Things',
      enabled: true,
      lazy: false,
      alwaysLoad: ['read_*'],
      allow: ['*'],
      deny: ['rm'],
      timeout: '2m',
      idle: false,
      trust: 'none',
      share: 'conversation',
    })
    expect(problems).toEqual([])
    expect(servers[0]).toMatchObject({
      endpoint: { command: '/project/bin/server', cwd: '/project/data' },
      lazy: false,
      alwaysLoad: ['read_*'],
      timeout: 120_000,
      idle: Number.POSITIVE_INFINITY,
      trust: 'none',
      share: 'conversation',
    })
  })

  it('says how to log in to it, and its secret is one', () => {
    const oauth = { clientId: '${ID}', clientSecret: '${KEY}', scopes: ['a b', 'c'], callbackPort: 8123 }
    const { servers, problems } = one(
      { url: 'https://x.example', oauth },
      { env: { ID: 'me', KEY: 'shh-secret' } },
    )
    expect(problems).toEqual([])
    expect(servers[0]?.oauth).toEqual({
      clientId: 'me',
      clientSecret: 'shh-secret',
      scopes: ['a', 'b', 'c'],
      callbackPort: 8123,
    })
    expect(servers[0]?.secrets).toContain('shh-secret')
    expect(one({ url: 'https://x.example', oauth: {} }).servers[0]?.oauth).toEqual({})
    expect(one({ url: 'https://x.example' }).servers[0]?.oauth).toBe(undefined)
  })

  it.each([
    [{ oauth: 'me' }, 'oauth must be an object'],
    [{ oauth: { clientID: 'me' } }, 'did you mean "clientId"?'],
    [{ oauth: { callbackPort: 70_000 } }, 'mcpServers.one.oauth.callbackPort'],
    [{ oauth: { scopes: 7 } }, 'scopes must be a list of strings'],
    [{ oauth: { clientSecret: '${NOPE}' } }, 'NOPE is not set'],
  ])('says what is wrong with %j', (entry, message) => {
    expect(errorsOf(one({ url: 'https://x.example', ...entry }))).toEqual([expect.stringContaining(message)])
  })

  it('of another client may say more about its login than is meant here', () => {
    const oauth = { enabled: true, scope: 'a b', redirectUri: 'http://localhost:7777/x' }
    const { servers, problems } = one({ url: 'https://x.example', oauth }, { name: 'settings.json' })
    expect(servers[0]?.oauth).toEqual({ scopes: ['a', 'b'] })
    expect(problems.map(({ severity }) => severity)).toEqual(['warning', 'warning'])
    expect(one({ url: 'https://x.example', oauth: false }, { name: 'x.json' }).problems).toEqual([])
  })

  it('is found relative to its file, on the PATH, or where it says', () => {
    const commandOf = (command: string) => {
      const { endpoint } = one({ command }).servers[0] ?? {}
      return endpoint?.type === 'stdio' ? endpoint.command : undefined
    }
    expect(['../x', './x', 'bin/x', 'npx', '/opt/x'].map(commandOf)).toEqual([
      '/x',
      '/project/x',
      '/project/bin/x',
      'npx',
      '/opt/x',
    ])
  })

  it.each(['.vscode/mcp.json', '.cursor/mcp.json', '.gemini/settings.json'])(
    'of %s is found from the folder above, where that client starts it',
    (name) => {
      const { servers, problems } = one({ command: './x', cwd: 'src' }, { name })
      expect(problems).toEqual([])
      expect(servers[0]?.endpoint).toMatchObject({ command: '/project/x', cwd: '/project/src' })
      // A file of Toolwell is relative to its own folder.
      const own = one({ command: './x' }, { name: '.vscode/toolwell.json' })
      expect(own.servers[0]?.endpoint).toMatchObject({ command: '/project/.vscode/x' })
    },
  )

  it('runs in the workspace unless it says otherwise', () => {
    expect(one({ command: 'x' }).servers[0]?.endpoint).toMatchObject({ cwd: '/workspace' })
  })

  it('expands what it holds once, and knows the usual names', () => {
    const env = { A: '${B}', B: 'no', EMPTY: '' }
    const args = [
      '${A}',
      '${EMPTY}',
      '${EMPTY:-full}',
      '${NONE:-a:-b}',
      '${userHome}',
      '$A $(B) ${}x'.slice(0, 7),
    ]
    const { endpoint } = one({ command: 'x', args }, { env }).servers[0] ?? {}
    expect(endpoint).toMatchObject({ args: ['${B}', '', 'full', 'a:-b', homedir(), '$A $(B)'] })
  })
})

describe('what is wrong is said with file, line and fix, and the rest works', () => {
  it.each([
    [
      'an unknown key',
      '{\n"mcpServers": {\n"a": { "command": "x", "timeOut": 1000 } } }',
      '/project/toolwell.json:3 mcpServers.a.timeOut: unknown key "timeOut"; did you mean "timeout"? Write "timeout", or remove it.',
    ],
    [
      'an unknown key of the file',
      '{ "mcpServer": {} }',
      '/project/toolwell.json:1 mcpServer: unknown key "mcpServer". Did you mean "mcpServers"? Rename or remove it.',
    ],
    [
      'a missing command',
      '{ "mcpServers": { "a": {} } }',
      '/project/toolwell.json:1 mcpServers.a: the server has neither a command nor a url. Give "command" for a local server, "url" for a remote one.',
    ],
    [
      'a wrong url',
      '{ "mcpServers": { "a": { "url": "example.com" } } }',
      '/project/toolwell.json:1 mcpServers.a.url: the url is not an http or https address. Write it in full: "https://example.com/mcp".',
    ],
    [
      'a password in a url',
      '{ "mcpServers": { "a": { "url": "https://ada:${PASSWORD}@example.com/mcp" } } }',
      '/project/toolwell.json:1 mcpServers.a.url: the url contains a user name or password. Remove them from the url and write "headers": { "Authorization": "Basic ${NAME_OF_A_VARIABLE}" }.',
    ],
    [
      'a Windows path with single backslashes',
      '{ "mcpServers": { "a": { "command": "C:\\tools\\node.exe" } } }',
      '/project/toolwell.json:1 mcpServers.a.command: command contains a line break, a tab or another control character. In JSON, write each backslash twice: "C:\\\\tools\\\\run.exe".',
    ],
    [
      'a backslash that means nothing',
      '{ "mcpServers": { "a": { "command": "C:\\Program Files\\x" } } }',
      '/project/toolwell.json:1: this is not JSON: a single backslash must be written twice. Correct line 1; comments and trailing commas are allowed, single quotes and bare words are not.',
    ],
    [
      'a trust that is a switch',
      '{ "mcpServers": { "a": { "command": "x", "trust": true } } }',
      '/project/toolwell.json:1 mcpServers.a.trust: trust must be one of full, first-use, follow, none. Write "trust": "full" or "first-use" or "follow" or "none".',
    ],
    [
      'a variable that is not set',
      '{ "mcpServers": { "a": { "command": "x",\n\n"args": ["${NOPE}"] } } }',
      '/project/toolwell.json:3 mcpServers.a.args[0]: the environment variable NOPE is not set. Set NOPE, or give a default: ${NOPE:-value}.',
    ],
    [
      'an address that begins with a variable that is not set',
      '{ "mcpServers": { "a": { "url": "${NOPE}/mcp" } } }',
      '/project/toolwell.json:1 mcpServers.a.url: the environment variable NOPE is not set. Set NOPE, or give a default: ${NOPE:-value}.',
    ],
    [
      'a question an editor would ask',
      '{ "servers": { "a": { "command": "x", "env": { "K": "${input:api-key}" } } } }',
      '/project/toolwell.json:1 servers.a.env.K: ${input:api-key} asks the user of an editor, which is not possible here. Put the value into an environment variable and write ${env:API_KEY}.',
    ],
    [
      'a wrong type',
      '{ "mcpServers": { "a": { "command": "x", "args": "y" } } }',
      '/project/toolwell.json:1 mcpServers.a.args: args must be a list of strings. Write "args": ["…"].',
    ],
    [
      'a time without a unit',
      '{ "mcpServers": { "a": { "command": "x", "timeout": 30 } } }',
      '/project/toolwell.json:1 mcpServers.a.timeout: timeout 30 would be 30 milliseconds. Write "30s" or "30ms".',
    ],
    [
      'broken JSON',
      '{\n"mcpServers": {\n"a": { "command": \'x\' } } }',
      /^\/project\/toolwell\.json:3: this is not JSON: there is an unexpected character or word\. Correct line 3;/,
    ],
    [
      'an empty file',
      '',
      '/project/toolwell.json:1: the file is empty. Write { "mcpServers": { } }, or remove the file.',
    ],
    [
      'a list',
      '[]',
      '/project/toolwell.json:1: the file does not contain an object. Write { "mcpServers": { } }.',
    ],
    [
      'a server that is a string',
      '{ "mcpServers": { "a": "x" } }',
      '/project/toolwell.json:1 mcpServers.a: a server must be an object. Write { "command": "…" } or { "url": "…" }.',
    ],
    [
      'both kinds at once',
      '{ "mcpServers": { "a": { "command": "x", "url": "http://x" } } }',
      '/project/toolwell.json:1 mcpServers.a: the server has both a command and a url. Remove one of the two.',
    ],
    [
      'our own name',
      '{ "mcpServers": { "toolwell": { "command": "x" } } }',
      '/project/toolwell.json:1 mcpServers.toolwell: the name "toolwell" is reserved for the search and load tools. Rename it.',
    ],
  ])('%s', (_, text, message) => {
    const errors = errorsOf(load(text, { env: { PASSWORD: 'p4ssw0rd' } }))
    expect(errors).toHaveLength(1)
    if (typeof message === 'string') expect(errors[0]).toBe(message)
    else expect(errors[0]).toMatch(message)
  })

  it.each(['toolwell.json', 'flat.json', '.mcp.json'])('a server at the top of %s', (name) => {
    const config = load({ x: { command: 'npx', args: ['a'] }, y: { url: 'https://example.com' } }, { name })
    expect(config.servers).toEqual([])
    expect(errorsOf(config)).toEqual([
      `/project/${name}:1 x: the server "x" is outside of "mcpServers". Move it into "mcpServers": { "mcpServers": { "x": … } }.`,
      `/project/${name}:1 y: the server "y" is outside of "mcpServers". Move it into "mcpServers": { "mcpServers": { "y": … } }.`,
    ])
  })

  it('ignores settings of another client that look like a server', () => {
    const editor = { command: 'vim' }
    expect(load({ editor, theme: 'dark' }, { name: 'settings.json' }).problems).toEqual([])
    expect(load({ editor, mcpServers: {} }, { name: 'settings.json' }).problems).toEqual([])
    expect(load({}, { name: 'settings.json' }).problems).toEqual([])
  })

  it('one bad server costs no other', () => {
    const config = load({ mcpServers: { bad: { command: 7 }, good: { command: 'x' }, worse: null } })
    expect(config.servers.map(({ name }) => name)).toEqual(['good'])
    expect(config.problems.map(({ server }) => server).sort()).toEqual(['bad', 'worse'])
  })

  it('a server that is switched off may lack what it needs to start, and is there all the same', () => {
    const { problems, servers } = load({
      mcpServers: {
        far: { url: 'https://${NOPE}/mcp', headers: { Key: '${NONE}' }, enabled: false },
        near: { command: 'x', args: ['${NOPE}'], enabled: false },
      },
    })
    expect(problems).toEqual([])
    expect(servers).toMatchObject([
      { name: 'far', enabled: false, endpoint: { url: 'https://${NOPE}/mcp' } },
      { name: 'near', enabled: false, endpoint: { args: ['${NOPE}'] } },
    ])
  })

  it.each<[object, string[]]>([
    [
      { command: 'x', args: ['${NOPE}-${NONE}'], trust: 'x', timeout: 'soon', colour: 'red' },
      ['trust', 'colour', 'args[0]', 'args[0]', 'timeout'],
    ],
    [{ trust: 'x', idle: 'soon', env: { A: '${NOPE}' } }, ['trust', '', 'env.A', 'idle']],
    [{ command: 'x', url: 'nowhere', cwd: '${NOPE}', lazy: 'no' }, ['lazy', '', 'cwd', 'url']],
    [{ url: 'https://example.com', type: 'stdio', oauth: { clientId: 7 } }, ['oauth.clientId', 'type']],
    // What is there and wrong is not missing as well.
    [{ command: 7, timeout: 'soon' }, ['command', 'timeout']],
    [{ comand: 'x', timeout: 'soon' }, ['comand', 'timeout']],
  ])('everything that is wrong with one entry at once: %j', (entry, paths) => {
    const { problems, servers } = one(entry)
    expect(servers).toEqual([])
    expect(problems.map(({ path }) => path.replace(/^mcpServers\.one\.?/, ''))).toEqual(paths)
  })

  it('a slip of the pen in the file of another client leaves a server with nothing to start', () => {
    const { problems, servers } = one({ comand: 'x' }, { name: 'mcp.json' })
    expect(servers).toEqual([])
    expect(problems.map(({ severity, message, fix }) => `${severity}: ${message} ${fix}`)).toEqual([
      'warning: the key "comand" is not supported; did you mean "command"? If so, write "command"; otherwise it is ignored',
      expect.stringContaining('error: the server has neither a command nor a url'),
    ])
  })

  it('a file that is missing, a folder, or may not be read', () => {
    const folder = temporary()
    const secret = join(folder, 'secret.json')
    writeFileSync(secret, '{}')
    chmodSync(secret, 0)
    mkdirSync(join(folder, 'folder.json'))
    const read = (path: string, optional = false) =>
      loadConfig({ files: [{ path: join(folder, path), optional }] })
    expect(errorsOf(read('missing.json'))[0]).toMatch(/there is no such file\. Check the path/)
    expect(read('missing.json', true).problems).toEqual([])
    expect(errorsOf(read('folder.json'))[0]).toMatch(/this is a folder/)
    if (process.getuid?.() !== 0) expect(errorsOf(read('secret.json'))[0]).toMatch(/cannot be read/)
  })

  it('nothing a file can hold makes it throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.object().map((value) => JSON.stringify({ mcpServers: value })),
        ),
        (text) => {
          const { problems, servers } = load(text)
          for (const problem of problems) expect(describeProblem(problem)).toMatch(/\S[.?] \S/)
          expect(Array.isArray(servers)).toBe(true)
        },
      ),
      { numRuns: runs(500) },
    )
  })

  it('a name such as __proto__ is a name', () => {
    const config = load(
      '{ "mcpServers": { "__proto__": { "command": "x" }, "constructor": { "command": "y" } } }',
    )
    expect(config.servers.map(({ name }) => name)).toEqual(['__proto__', 'constructor'])
  })
})

describe('several files', () => {
  const both = (user: object, project: object) =>
    loadConfig({
      files: [
        { path: '/user/toolwell.json', text: JSON.stringify(user) },
        { path: '/project/toolwell.json', text: JSON.stringify(project) },
      ],
      env: {},
      workspaceFolder: '/workspace',
    })

  it('the later one has the last word on a server, and says that it took it', () => {
    const config = both(
      { mcpServers: { a: { command: './mine' } } },
      { mcpServers: { a: { command: './theirs' } } },
    )
    expect(config.servers).toMatchObject([{ endpoint: { command: '/project/theirs' } }])
    expect(config.problems.map(describeProblem)).toEqual([
      '/project/toolwell.json:1 mcpServers.a: this replaces the server of the same name in /user/toolwell.json. Rename one of the two to have both.',
    ])
  })

  it('an entry without command and url changes the one below it', () => {
    const config = both(
      { mcpServers: { a: { command: './mine', deny: ['x'] }, b: { command: 'y' } } },
      { mcpServers: { a: { enabled: false }, b: { deny: ['z'] } } },
    )
    expect(config.problems).toEqual([])
    expect(config.servers).toMatchObject([
      { name: 'a', enabled: false, deny: ['x'], endpoint: { command: '/user/mine' } },
      { name: 'b', enabled: true, deny: ['z'] },
    ])
  })

  it('a broken entry does not bring the weaker one back', () => {
    const old = { mcpServers: { a: { command: 'old' } } }
    for (const broken of [{ command: 5 }, { trust: 5 }, null]) {
      const config = both(old, { mcpServers: { a: broken } })
      expect(config.servers).toEqual([])
      expect(config.problems).toHaveLength(1)
    }
    expect(both({ mcpServers: { a: { command: 5 } } }, old).servers).toMatchObject([{ name: 'a' }])
  })
})

it('the usual places are that of the user and then that of the project, and neither has to be there', () => {
  const folder = temporary()
  const files = defaultConfigFiles(folder, { XDG_CONFIG_HOME: join(folder, 'config') })
  expect(loadConfig({ files })).toMatchObject({ servers: [], problems: [], files: [] })
  mkdirSync(join(folder, 'config', 'toolwell'), { recursive: true })
  writeFileSync(
    join(folder, 'config', 'toolwell', 'toolwell.json'),
    '{ "mcpServers": { "a": { "command": "x" } } }',
  )
  writeFileSync(join(folder, 'toolwell.json'), '{ "mcpServers": { "a": { "deny": ["y"] } } }')
  expect(loadConfig({ files }).servers).toMatchObject([{ name: 'a', deny: ['y'] }])
})

it.each(['mcp__long__write_file', 'mcp__toolwell__long__write_*', 'MCP__Long__*'])(
  'denies a tool by the name %s, which clients show, and allows none by it',
  (name) => {
    const isAllowed = (entry: object) =>
      load({ mcpServers: { long: { command: 'x', ...entry } } }).servers.map((server) =>
        isOffered('write_file', server),
      )
    expect([isAllowed({ deny: [name] }), isAllowed({ allow: [name] })]).toEqual([[false], [false]])
  },
)

describe('a profile', () => {
  const text = {
    mcpServers: {
      git: { command: 'g', allow: ['read_*', 'write_x'] },
      mail: { command: 'm' },
      web: { command: 'w' },
    },
    profiles: {
      work: { servers: ['git', 'm*'], allow: ['read_*', 'mail/send'], deny: ['git/read_secret'] },
    },
  }

  it('selects servers and tools', () => {
    expect(load(text, { profile: 'work' }).servers).toMatchObject([
      { name: 'git', allow: ['read_*', 'write_x'] },
      { name: 'mail', allow: undefined },
    ])
    const [git, mail] = load(text, { profile: 'work' }).servers
    const offered = (server: typeof git, ...tools: string[]) =>
      tools.filter((tool) => server && isOffered(tool, server))
    expect(offered(git, 'read_a', 'read_secret', 'write_x', 'send')).toEqual(['read_a'])
    expect(offered(mail, 'read_secret', 'send', 'delete')).toEqual(['read_secret', 'send'])
  })

  it('that is not there gives no server, and the nearest name', () => {
    const config = load(text, { profile: 'wrok' })
    expect(config.servers).toEqual([])
    expect(errorsOf(config)[0]).toMatch(/there is no profile "wrok"\. Did you mean "work"\?/)
  })

  it.each([
    ['', /needs a name/],
    [' ', /needs a name/],
    ['all', /every tool/],
    ['.', /called "\."/],
    ['..', /called "\.\."/],
    ['a/b', /slash/],
    ['a\\b', /slash/],
  ])('called %j is refused with the reason', (name, reason) => {
    const config = load({ ...text, profiles: { [name]: { servers: ['git'] }, work: {} } })
    expect(Object.keys(config.profiles)).toEqual(['work'])
    expect(errorsOf(config)).toEqual([expect.stringMatching(reason)])
  })

  it('is reported as missing if profiles is null', () => {
    expect(errorsOf(load({ ...text, profiles: null }))).toEqual([
      expect.stringContaining('profiles must be an object'),
    ])
  })

  it('with a wrong key is refused', () => {
    expect(errorsOf(load({ profiles: { a: { server: [] } } }))[0]).toMatch(/Did you mean "servers"\?/)
  })
})

describe('secrets', () => {
  const { servers } = load(
    {
      mcpServers: {
        local: {
          command: 'run',
          args: ['--api-key', 'flagsecret', '--token=inline-secret', '--name', 'visible', '${FROM_ENV}'],
          env: { KEY: 'environment-secret' },
        },
        remote: {
          url: 'https://example.com/mcp?key=query-secret#x',
          headers: { Authorization: 'Bearer header-secret' },
        },
      },
    },
    { env: { FROM_ENV: 'expanded-secret' } },
  )
  const secret =
    /flagsecret|inline-secret|environment-secret|pass-word|query-secret|header-secret|expanded-secret/

  it('are not in what is shown of a server', () => {
    const shown = servers.map(({ endpoint, secrets }) => showEndpoint(endpoint, secrets))
    expect(shown).toEqual([
      'run --api-key *** --token=*** --name *** ***',
      'https://example.com/mcp?key=***#***',
    ])
    // A file may not hold such an address; a program may give one.
    const inCode = defineServer('code', { url: 'https://ada:pass-word@example.com/mcp?api_key=short#x' })
    expect(showEndpoint(inCode.endpoint)).toBe('https://***@example.com/mcp?api_key=***#***')
    expect(createRedactor(inCode)('no pass-word at https://ada:pass-word@example.com/?token=x')).toBe(
      'no *** at https://***@example.com/?token=***',
    )
  })

  it('are taken out of any text', () => {
    for (const server of servers) {
      const hide = createRedactor(server)
      const everything = JSON.stringify(server.endpoint)
      expect(everything).toMatch(secret)
      expect(hide(everything)).not.toMatch(secret)
      expect(hide(`at ${encodeURIComponent(everything)}`)).not.toMatch(secret)
    }
    expect(
      createRedactor({ secrets: ['on', 'true'], endpoint: servers[0]?.endpoint as never })('turn it on'),
    ).toBe('turn it on')
  })
})

describe('rules of the scan', () => {
  it('are switched off by any of the files', () => {
    const { scan, problems } = loadConfig({
      files: [
        { path: 'toolwell.json', text: '{ "scan": { "rules": { "stuffing": "off" } } }' },
        { path: 'more/toolwell.json', text: '{ "scan": { "rules": { "steer-preference": "off" } } }' },
      ],
    })
    expect(problems).toEqual([])
    expect(scan).toEqual({ rules: { stuffing: 'off', 'steer-preference': 'off' } })
  })

  it.each([
    [{ scan: { rules: { 'steer-preferences': 'off' } } }, /Did you mean "steer-preference"\?/],
    [{ scan: { rules: { 'not-scanned': 'off' } } }, /cannot be switched off/],
    [{ scan: { rules: { secrecy: 'on' } } }, /Write "secrecy": "off", or remove it/],
    [{ scan: { rules: ['secrecy'] } }, /rules must be an object/],
    [{ scan: { rule: {} } }, /Did you mean "rules"\?/],
    [{ scan: false }, /scan must be an object/],
  ])('are rejected if invalid: %j', (config, message) => {
    const loaded = load(config)
    expect(errorsOf(loaded)[0]).toMatch(message)
    expect(loaded.scan).toEqual({ rules: {} })
  })
})

describe("the agent's own tools", () => {
  it('are deferred where any of the files says so', () => {
    const { hostTools, problems } = loadConfig({
      files: [
        { path: 'toolwell.json', text: '{ "hostTools": { "defer": ["grep"] } }' },
        { path: '.mcp.json', text: '{ "hostTools": { "defer": ["web_*", "grep"] } }' },
      ],
    })
    expect(problems).toEqual([])
    expect(hostTools).toEqual({ defer: ['grep', 'web_*'] })
  })

  it.each([
    [{ hostTools: ['grep'] }, /hostTools must be an object/],
    [{ hostTools: { defer: 'grep' } }, /defer must be a list of strings/],
    [{ hostTools: { deferred: ['grep'] } }, /Did you mean "defer"\?/],
    [{ hostTool: {} }, /Did you mean "hostTools"\?/],
  ])('are rejected if invalid: %j', (config, message) => {
    const loaded = load(config)
    expect(errorsOf(loaded)[0]).toMatch(message)
    expect(loaded.hostTools).toEqual({ defer: [] })
  })
})

it('what a tool is used for instead is text by the name of the tool', () => {
  const [server] = one({ command: 'x', insteadOf: { a: 'Use this, not b.' } }).servers
  expect(server?.insteadOf).toEqual({ a: 'Use this, not b.' })
})

it('the JSON Schema in the package is the one the keys give; `npx vitest run packages/mcp/test/config.test.ts -u` writes it', async () => {
  await expect(`${JSON.stringify(configSchema(), null, 2)}\n`).toMatchFileSnapshot('../toolwell.schema.json')
})

describe('the JSON Schema', () => {
  const validator = new Validator(configSchema() as Schema, '2020-12', false)
  const isValid = (value: unknown) => validator.validate(value).valid
  const entry = (more: object) => ({ mcpServers: { a: more } })

  it('takes the configs of the docs and the examples, and every kind of value', () => {
    for (const file of ['docs/samples/servers.json', 'examples/proof/toolwell.json']) {
      const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
      const { value } = readDocument(text, file)
      expect([file, validator.validate(value).errors]).toEqual([file, []])
    }
    const servers = ['git*']
    for (const value of [
      { $schema: 'x', servers: { a: { command: 'x', type: 'stdio' } }, inputs: [] },
      entry({ url: '${BASE:-https://example.com}/mcp', type: 'http', headers: { A: '${B}' } }),
      entry({ url: 'HTTPS://example.com', oauth: { scopes: 'a b', callbackPort: 3118 } }),
      entry({ command: '.\\run.exe', cwd: 'C:\\work', timeout: ' 1.5m', idle: false, alwaysLoad: ['x'] }),
      entry({ timeout: 1000, lazy: false, share: 'client', trust: 'none', allow: ['*'], deny: [] }),
      { profiles: { work: { servers, allow: ['read_*'], deny: ['git/push'] } } },
    ]) {
      expect([
        value,
        errorsOf(load(value, { env: { B: 'b' } })).filter((text) => !/neither/.test(text)),
      ]).toEqual([value, []])
      expect([value, isValid(value)]).toEqual([value, true])
    }
  })

  it.each([
    entry({ command: 'x', url: 'https://example.com' }),
    entry({ command: 'x', type: 'http' }),
    entry({ url: 'https://example.com', type: 'stdio' }),
    entry({ url: 'example.com' }),
    entry({ url: 'ftp://example.com' }),
    entry({ url: 'https://ada:secret@example.com/mcp' }),
    entry({ command: ' ' }),
    entry({ command: 'C:\tools' }),
    entry({ command: 'x', cwd: 'C:\new' }),
    entry({ command: 'x', args: 'y' }),
    entry({ command: 'x', env: { A: [] } }),
    entry({ command: 'x', timeout: 30 }),
    entry({ command: 'x', timeout: '0s' }),
    entry({ command: 'x', timeout: '1 day' }),
    entry({ command: 'x', idle: true }),
    entry({ command: 'x', trust: true }),
    entry({ command: 'x', share: 'some' }),
    entry({ command: 'x', nonsense: 1 }),
    entry({ url: 'https://example.com', oauth: { callbackPort: 0 } }),
    { mcpServers: { toolwell: { command: 'x' } } },
    { mcpServers: { ' ': { command: 'x' } } },
    { mcpServers: { ['a'.repeat(201)]: { command: 'x' } } },
    { mcpServers: [] },
    { profiles: { a: { server: [] } } },
    ...['', 'all', '.', '..', 'a/b', 'a\\b'].map((name) => ({ profiles: { [name]: {} } })),
    { mcpServer: {} },
  ])('refuses what is refused here: %j', (value) => {
    expect(errorsOf(load(value))).not.toEqual([])
    expect(isValid(value)).toBe(false)
  })
})

describe('a file with servers in a special place', () => {
  const claude = {
    mcpServers: { everywhere: { command: 'x' }, both: { command: 'weak' } },
    projects: {
      '/workspace': { mcpServers: { here: { command: './here' }, both: { command: 'strong' } } },
      '/elsewhere': { mcpServers: { there: { command: 'x' } } },
    },
  }

  it('of Claude Code gives those of this folder too, and these go first', () => {
    const { servers, problems } = load(claude, { name: '.claude.json' })
    expect(problems).toEqual([])
    expect(servers).toMatchObject([
      { name: 'both', endpoint: { command: 'strong' } },
      { name: 'everywhere' },
      { name: 'here', endpoint: { command: '/workspace/here' } },
    ])
    const broken = { projects: { '/workspace': { mcpServers: { here: { command: 7 } } } } }
    expect(errorsOf(load(broken, { name: '.claude.json' }))).toEqual([
      '/project/.claude.json:1 projects["/workspace"].mcpServers.here.command: command must be a string that is not empty. Write "command": "…".',
    ])
  })

  it('of Claude Code says so where all are for other folders', () => {
    const { servers, problems } = load(
      { projects: claude.projects },
      { name: '.claude.json', workspaceFolder: '/other' },
    )
    expect(servers).toEqual([])
    expect(problems.map(describeProblem)).toEqual([
      '/project/.claude.json:1 projects: the servers are for other folders than "/other": "/workspace", "/elsewhere". Run the command in one of these folders, or write the servers into toolwell.json.',
    ])
  })

  it('of VS Code may be its settings', () => {
    const { servers, problems } = load(
      '{ "editor.tabSize": 2, // mine\n "mcp": { "servers": { "one": { "type": "stdio", "command": "x" } } } }',
      { name: 'settings.json' },
    )
    expect([servers.map(({ name }) => name), problems]).toEqual([['one'], []])
  })

  it('of opencode or Codex is to be taken over', () => {
    const opencode = load({ mcp: { one: { type: 'local', command: ['x'] } } }, { name: 'opencode.json' })
    expect(errorsOf(opencode)[0]).toContain('toolwell import --from opencode')
    const folder = temporary()
    writeFileSync(join(folder, 'config.toml'), '[mcp_servers.a]\ncommand = "x"\n')
    expect(errorsOf(loadConfig({ files: [join(folder, 'config.toml')] }))).toEqual([
      `${join(folder, 'config.toml')}: this is TOML. Import its servers with: toolwell import --from codex.`,
    ])
  })
})
