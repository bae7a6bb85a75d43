/** Secrets in a config never appear in output, and harmless values stay readable: paths, packages, ports, hosts, scripts, words of settings. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { createDefinitionRedactor, createRedactor } from '../src/config/redact.js'
import { temporary } from './support/temporary.js'

/** A folder whose names look like keys. */
function folder(): string {
  const made = join(temporary(), 'project-7f3a9c2e1b', 'x8Kq2L9aZw')
  mkdirSync(made, { recursive: true })
  writeFileSync(join(made, 'server-4f9d2c.mjs'), '')
  return made
}

function serverOf(entry: object, workspaceFolder: string) {
  const text = JSON.stringify({ mcpServers: { s: entry } })
  const { servers, problems } = loadConfig({
    files: [{ path: join(workspaceFolder, 'toolwell.json'), text }],
    env: {},
    workspaceFolder,
  })
  expect(problems).toEqual([])
  const [server] = servers
  if (!server) throw new Error('not read')
  return server
}

type Ordinary = readonly [
  what: string,
  entry: (folder: string) => object,
  says: (folder: string) => readonly string[],
]

const ORDINARY: readonly Ordinary[] = [
  [
    'a folder',
    (at) => ({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem@2025.8.21', at] }),
    (at) => [
      'Secure MCP Filesystem Server running on stdio',
      `Allowed directories: [ '${at}' ]`,
      `ENOENT: no such file or directory, open '${at}/notes/todo.md'`,
      'x8Kq2L9aZw in project-7f3a9c2e1b has 3 files',
      '@modelcontextprotocol/server-filesystem@2025.8.21 is out of date',
    ],
  ],
  [
    'a program and its log file',
    (at) => ({
      command: process.execPath,
      args: [join(at, 'server-4f9d2c.mjs'), '--log-file', join(at, 'server.log')],
    }),
    (at) => [
      `at main (${at}/server-4f9d2c.mjs:12:5)`,
      `cannot open ${at}/server.log`,
      'see server.log',
      'node: not found',
    ],
  ],
  [
    'a container',
    (at) => ({
      command: 'docker',
      args: [
        ...[
          'run',
          '-i',
          '--rm',
          '--name',
          'filesystem',
          '-p',
          '8080:80',
          '-e',
          'LOG_LEVEL=debug',
          '-v',
          `${at}:/projects/documents`,
        ],
        ...[
          '--mount',
          `type=bind,src=${at},dst=/projects/data`,
          'mcp/filesystem:1.2.3',
          '/projects/documents',
        ],
      ],
    }),
    (at) => [
      'Listening on port 8080, forwarded to 80',
      'Serving /projects/documents and /projects/data',
      'Reads documents of projects.',
      `${at} is mounted`,
      'Pulling mcp/filesystem:1.2.3',
      'The filesystem server logs with level debug',
    ],
  ],
  [
    'a script',
    () => ({ command: 'sh', args: ['-c', 'cd /usr && exec node server.js --port 3000 --verbose'] }),
    () => [
      'node server.js: listening on port 3000',
      'exec: server.js: not found',
      'Unknown option --verbose',
      '/usr is read',
    ],
  ],
  [
    'a longer script',
    () => ({
      command: 'bash',
      args: [
        '-lc',
        'source .venv/bin/activate && python -m inventory_server --transport stdio 2>> server.log',
      ],
    }),
    () => [
      'python: No module named inventory_server',
      'activate: no such file',
      'Searches the inventory, by transport or server.',
    ],
  ],
  [
    'toolsets',
    () => ({
      command: 'github-mcp-server',
      args: ['stdio', '--toolsets', 'repos,issues,pull_requests', '--read-only'],
    }),
    () => [
      'Lists pull_requests of repos.',
      'list_pull_requests',
      'issues and pull requests',
      'enabled: repos,issues,pull_requests',
    ],
  ],
  [
    'settings in variables',
    (at) => ({
      command: 'node',
      env: {
        NODE_ENV: 'production',
        LOG_LEVEL: 'warning',
        AWS_REGION: 'us-east-1',
        PORT: '30000',
        DATA_DIR: at,
        PATH: `${at}:/usr/local/bin:/usr/bin:/bin`,
        ALLOWED_HOSTS: 'localhost,127.0.0.1',
        API_BASE: 'https://api.example.com/v1/search',
        SCOPES: 'read:issues,write:comments',
        ACCEPT: 'application/json',
      },
    }),
    (at) => [
      'running in production on port 30000',
      'warning: region us-east-1 is slow',
      `data in ${at}`,
      'GET https://api.example.com/v1/search failed: 503',
      'connects to localhost:30000, api.example.com',
      'needs read:issues and write:comments',
      'Searches issues and comments.',
      'expects application/json',
    ],
  ],
  [
    'a database',
    () => ({
      command: 'npx',
      args: ['-y', 'server-postgres', 'postgresql://ada:hunter2-x9@localhost:5432/inventory'],
    }),
    () => [
      'connect ECONNREFUSED 127.0.0.1:5432',
      'Lists the tables of the inventory.',
      'postgresql on localhost:5432, database inventory',
    ],
  ],
  [
    'a connection string',
    () => ({
      command: 'mssql-server',
      env: {
        CONNECTION: 'Server=localhost,1433;Database=Customers;User Id=reader;Password=Xy7!kkq0;Encrypt=true',
      },
    }),
    () => [
      'cannot reach localhost,1433',
      'Queries the Customers database.',
      'reader may read only',
      'Encrypt=true is set',
    ],
  ],
  [
    'JSON',
    () => ({
      command: 'node',
      env: {
        SETTINGS:
          '{"level":"debug","model":"default","timeout":30000,"paths":["/usr/bin"],"name":"inventory"}',
      },
    }),
    () => ['level debug, timeout 30000', 'Uses the default model.', 'inventory in /usr/bin'],
  ],
  [
    'what is written for readers',
    () => ({
      command: 'node',
      args: [
        '--prompt',
        '{"rules":["Answer in the language of Bagolumiso.","Never delete a file without asking."]}',
      ],
    }),
    () => ['Never delete a file without asking.', 'Answer in the language of Bagolumiso.'],
  ],
  [
    'a browser',
    () => ({
      command: 'npx',
      args: [
        '@playwright/mcp@latest',
        '--browser',
        'chromium',
        '--headless',
        '--viewport-size',
        '1280,720',
        '--caps',
        'vision,pdf',
      ],
    }),
    () => [
      'Launching chromium headless, 1280,720',
      'Saves the page as pdf.',
      'browser_take_screenshot',
      'caps: vision,pdf',
    ],
  ],
  [
    'an address',
    () => ({
      url: 'https://mcp.example.com/api/v1/mcp',
      headers: { Accept: 'application/json', 'X-Client': 'toolwell', Authorization: 'Bearer kQ93jx0aPq21' },
    }),
    () => [
      'cannot reach https://mcp.example.com/api/v1/mcp',
      'expects application/json',
      'example.com',
      'Bearer realm="api"',
    ],
  ],
  [
    'a bridge',
    () => ({
      command: 'npx',
      args: [
        '-y',
        'mcp-remote',
        'https://example.com/sse',
        '--transport',
        'http-only',
        '--header',
        'Accept: text/event-stream',
      ],
    }),
    () => ['Using transport http-only', 'Connecting to https://example.com/sse', 'text/event-stream'],
  ],
]

describe.each(ORDINARY)('%s', (_, entry, says) => {
  it('stays readable in messages and definitions', () => {
    const at = folder()
    const server = serverOf(entry(at), at)
    const hide = createRedactor(server)
    const definition = createDefinitionRedactor(server)
    for (const text of says(at)) {
      expect(hide(text)).toBe(text)
      expect(definition.hide(text)).toBe(text)
      expect(definition.holdsSecret(text)).toBe(false)
    }
  })
})

const WORD = 'bagolumiso'
const KEY = 'bagolumisoTeri9x'
const PEM = [
  '-----BEGIN EC PRIVATE KEY-----',
  'MHcCAQEEIOa1bcdefGHIJKLMNOPqrstuv',
  'wxyzABCDEF0123456789+/abcdQRST',
  'ZZ9kQw8LpT4x==',
  '-----END EC PRIVATE KEY-----',
].join('\n')
const base64 = (text: string) => Buffer.from(text).toString('base64')
const local = (args: readonly string[], env: Record<string, string> = {}) => ({ command: 'node', args, env })
const remote = (address: string, headers: Record<string, string> = {}) => ({ url: address, headers })

type AnnouncedAt = readonly [what: string, entry: object, says: readonly string[], leak: RegExp]

const TOLD: readonly AnnouncedAt[] = [
  [
    'a password of an address, decoded or encoded again',
    local([], { DB: 'postgres://ada:p%40ss%2Fw0rd%21x@host/db' }),
    ['p@ss/w0rd!x', 'p%40ss%2Fw0rd%21x', 'p%2540ss%252Fw0rd%2521x'],
    /w0rd/,
  ],
  ['a token before the colon', local([`https://${WORD}:x-oauth-basic@example.com/a.git`]), [WORD], /bago/],
  [
    'basic credentials, decoded',
    remote('https://example.com/mcp', { Authorization: `Basic ${base64(`ada:${WORD}`)}` }),
    [`ada:${WORD}`, WORD, base64(`ada:${WORD}`)],
    /bago|YWRh/,
  ],
  [
    'credentials with accents in base64',
    local([], { X_AUTH: base64('ada:geheim-für-öl') }),
    ['geheim-für-öl'],
    /geheim/,
  ],
  ['credentials in base64', local([], { X_AUTH: base64(`ada:${WORD}`) }), [`ada:${WORD}`, WORD], /bago/],
  ['a cookie', remote('https://example.com/mcp', { Cookie: `sid=${WORD}; theme=dark` }), [WORD], /bago/],
  [
    'an address in a query',
    remote(`https://example.com/?next=${encodeURIComponent(`https://x/?token=${WORD}`)}`),
    [WORD],
    /bago/,
  ],
  [
    'JSON in JSON',
    local([], { SETTINGS: JSON.stringify({ a: [{ credentials: JSON.stringify({ token: WORD }) }] }) }),
    [WORD],
    /bago/,
  ],
  [
    'a token at the end of much JSON',
    local([], {
      SETTINGS: JSON.stringify({
        all: Array.from({ length: 2000 }, (_, at) => `x${at}y-z/q${at}`),
        token: WORD,
      }),
    }),
    [WORD],
    /bago/,
  ],
  [
    'a key, line by line',
    local([], { CERTIFICATE: PEM }),
    [...PEM.split('\n').slice(1, -1), JSON.stringify(PEM), PEM.split('\n').slice(1, -1).join('')],
    /MHcC|wxyz|ZZ9k/,
  ],
  [
    'a key in JSON, line by line',
    local([], { ACCOUNT: JSON.stringify({ private_key: PEM.replaceAll('\n', '\\n') }) }),
    PEM.split('\n').slice(1, 3),
    /MHcC|wxyz/,
  ],
  [
    'a secret in two arguments',
    local(['--token', WORD, 'Teri9xQwz7']),
    [`${WORD}Teri9xQwz7`, `${WORD} Teri9xQwz7`],
    /bago|Teri9/,
  ],
  ['several tokens', local(['--tokens', `${WORD},lodira9kx2`]), [WORD, 'lodira9kx2'], /bago|lodira/],
  ['lines of variables', local([], { MORE: `A=1\nTOKEN=${WORD}\nB=2` }), [WORD], /bago/],
  ['YAML', local([], { SETTINGS: `auth:\n  token: ${WORD}\n  user: ada` }), [WORD], /bago/],
  ['TOML', local([], { SETTINGS: `[auth]\npassword = "${WORD}"` }), [WORD], /bago/],
  ['an address of JDBC', local([`jdbc:postgresql://host:5432/db?user=ada&password=${WORD}`]), [WORD], /bago/],
  ['user and password before a host', local([`jdbc:oracle:thin:ada/${WORD}@//host:1521/db`]), [WORD], /bago/],
  ['the same with a colon', local([], { DB: `ada:${WORD}@tcp(127.0.0.1:3306)/db` }), [WORD], /bago/],
  [
    'a field in braces',
    local([], { DB: `Driver={SQL Server};Pwd={${WORD};x};` }),
    [`${WORD};x`, WORD],
    /bago/,
  ],
  ['a switch with its value', local([`-uada:${WORD}`]), [WORD], /bago/],
  [
    'a header in a script',
    local(['-c', `curl -H "Authorization: Bearer ${WORD}" https://example.com | sh`]),
    [WORD],
    /bago/,
  ],
  ['a switch in a script', local(['-c', `node x.js --token ${WORD}`]), [WORD], /bago/],
  [
    'a phrase in a script',
    local(['-c', `node x.js --token "${WORD} tirafedona"`]),
    [`${WORD} tirafedona`],
    /bago/,
  ],
  ['JSON in a script', local(['-c', `node x.js '{"token":"${WORD}"}'`]), [WORD], /bago/],
  ['other letters', local(['--token', KEY]), [KEY.toUpperCase(), KEY.toLowerCase()], /bago/i],
  [
    'hex and base64',
    local(['--token', KEY]),
    [Buffer.from(KEY).toString('hex'), base64(KEY), base64(`ada:${KEY}`), base64(`a:${KEY}:x`)],
    /6261676f|x1bWlzb|dW1pc29|HVtaXNv/,
  ],
  [
    'one that is shortened',
    local(['--token', KEY]),
    ['bagolumi...', 'bagolumiso***', '…Teri9x'],
    /bago|eri9/,
  ],
  [
    'signs as JSON, markup and shells write them',
    local(['--token', `<a&b>"it's\\q9zz`]),
    [
      JSON.stringify(JSON.stringify(`<a&b>"it's\\q9zz`)),
      '&lt;a&amp;b&gt;&quot;it&#39;s\\q9zz',
      `'<a&b>"it'\\''s\\q9zz'`,
    ],
    /q9zz/,
  ],
  [
    'letters with accents',
    local(['--token', 'geheim-für-öl']),
    ['geheim-f\\u00fcr-\\u00f6l', "b'geheim-f\\xc3\\xbcr-\\xc3\\xb6l'", 'geheim-f%c3%bcr-%C3%B6l'],
    /geheim/,
  ],
]

describe.each(TOLD)('%s', (_, entry, says, leak) => {
  it('appears in no message and no definition', () => {
    const at = folder()
    const server = serverOf(entry, at)
    for (const text of says) {
      expect(text).toMatch(leak)
      expect(createRedactor(server)(`cannot use ${text} here`)).not.toMatch(leak)
      expect(createDefinitionRedactor(server).hide(`Uses ${text} here.`)).not.toMatch(leak)
    }
  })
})

it('keeps a server name that is also in its command line in messages, but hides a password with the same text', () => {
  const of = (args: string[]) => ({ ...serverOf(local(args), folder()), name: 'slowlist' })
  expect(createRedactor(of(['serve', 'slowlist']))('slowlist cannot be used: no')).toBe(
    'slowlist cannot be used: no',
  )
  expect(createRedactor(of(['serve', 'slowlost']))('slowlost: no')).toBe('***: no')
  expect(createRedactor(of(['--password', 'slowlist']))('wrong password slowlist')).toBe('wrong password ***')
  expect(createRedactor(of(['--password', 'slowlist']))('slowlist: wrong password slowlist')).toBe(
    'slowlist: wrong password ***',
  )
  expect(createRedactor(of(['--password', 'slowlist: 7x']))('slowlist: 7x')).toBe('slowlist')
  for (const word of ['SlowList', 'lowlist'])
    expect(createRedactor(of(['serve', word]))('slowlist cannot be used')).toBe('slowlist cannot be used')
})

it('a tool is not skipped because its name contains the first letters of a secret', () => {
  const holds = (secret: string, tool: string) =>
    createDefinitionRedactor(serverOf({ ...local([]), env: { API_KEY: secret } }, folder())).holdsSecret(tool)
  for (const secret of [
    'get_user-9f8e7d6c5b4a',
    'get_user,9f8e7d6c5b4a',
    'get_user|9f8e7d6c5b4a',
    'get_user;9f8e',
  ])
    for (const tool of ['get_user', 'get_users', 'forget_user'])
      expect([secret, holds(secret, tool)]).toEqual([secret, false])
  expect(holds('get_user,9f8e7d6c5b4a', 'x_9f8e7d6c5b4a')).toBe(true)
  expect(holds('Bearer hunter_secret', 'read_hunter_secret')).toBe(true)
})

it('what is nearly a long value of the config, escaped again and again, is read in one way only', () => {
  const lines = Array.from({ length: 60 }, (_, index) => `Line ${index}: \\"${index}" \\\n and \\' more`)
  const value = JSON.stringify({ script: JSON.stringify(lines) })
  const server = serverOf(local(['run', value]), folder())
  let text = `${value.slice(0, -9)} but not its end`
  for (let depth = 0; depth < 4; depth++) {
    expect(createRedactor(server)(text)).toContain('but not its end')
    expect(createDefinitionRedactor(server).hide(text)).toContain('but not its end')
    text = JSON.stringify(text)
  }
})
