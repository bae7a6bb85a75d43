/** Each client in its own form: where its file is, what an entry of it becomes, and that a variable reaches the server as its value. */
import { readFileSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { CLIENTS, clientFiles } from '../src/shared/clients/clients.js'
import { homeWith } from './support/home.js'

const settings = platform() === 'darwin' ? 'home/Library/Application Support' : 'home/.config'
const KEY = 'v4lue-of-the-variable'

interface Row {
  readonly client: string
  readonly file: string
  readonly text: unknown
  /** Under `mcpServers` of toolwell.json. `$` stands for the folder. */
  readonly entries: Readonly<Record<string, unknown>>
  /** As they are started: every variable has its value. */
  readonly endpoints: Readonly<Record<string, object>>
}

const rows: readonly Row[] = [
  {
    client: 'claude-code',
    file: '.mcp.json',
    text: {
      mcpServers: { a: { command: 'a', env: { K: '${KEY}', L: '${NOT_SET:-en}' }, timeout: 120_000 } },
    },
    entries: { a: { command: 'a', env: { K: '${KEY}', L: '${NOT_SET:-en}' }, timeout: '120000ms' } },
    endpoints: { a: { env: { K: KEY, L: 'en' } } },
  },
  {
    client: 'claude-desktop',
    file: `${settings}/Claude/claude_desktop_config.json`,
    text: { mcpServers: { a: { command: 'a', args: ['$5'] } } },
    entries: { a: { command: 'a', args: ['$5'] } },
    endpoints: { a: { args: ['$5'] } },
  },
  {
    client: 'cursor',
    file: '.cursor/mcp.json',
    text: { mcpServers: { a: { url: 'https://example.com/mcp', headers: { K: 'Bearer ${env:KEY}' } } } },
    entries: { a: { url: 'https://example.com/mcp', headers: { K: 'Bearer ${env:KEY}' } } },
    endpoints: { a: { headers: { K: `Bearer ${KEY}` } } },
  },
  {
    client: 'vscode',
    file: `${settings}/Code/User/mcp.json`,
    text: {
      inputs: [{ id: 'key', type: 'promptString', password: true }],
      servers: {
        a: { type: 'stdio', command: 'a', args: ['${workspaceFolder}'], env: { K: '${input:key}' } },
      },
    },
    entries: {
      a: { type: 'stdio', command: 'a', args: ['${workspaceFolder}'], env: { K: '${env:KEY}' } },
    },
    endpoints: { a: { args: ['$'], env: { K: KEY } } },
  },
  {
    client: 'codex',
    file: 'home/.codex/config.toml',
    text: `
[mcp_servers.a]
command = "a"
args = ["$KEY"]
env_vars = ["KEY", { name = "LANG", source = "local" }]
startup_timeout_ms = 1500
tool_timeout_sec = 0.5

[mcp_servers.b]
url = "https://example.com/mcp"
bearer_token_env_var = "KEY"
env_http_headers = { X-Key = "KEY" }
startup_timeout_sec = 45
startup_timeout_ms = 1
`,
    entries: {
      a: {
        command: 'a',
        args: ['$KEY'],
        env: { KEY: '${KEY:-}', LANG: '${LANG:-}' },
        timeout: '0.5s',
        startTimeout: '1500ms',
      },
      b: {
        url: 'https://example.com/mcp',
        headers: { 'X-Key': '${KEY}', Authorization: 'Bearer ${KEY}' },
        startTimeout: '45s',
      },
    },
    // Codex knows no variables within a text.
    endpoints: {
      a: { args: ['$KEY'], env: { KEY, LANG: 'en_GB' } },
      b: { headers: { 'X-Key': KEY, Authorization: `Bearer ${KEY}` } },
    },
  },
  ...(['gemini', 'qwen'] as const).map((client) => ({
    client,
    file: `home/.${client}/settings.json`,
    text: {
      mcpServers: {
        a: { command: 'a', args: ['$KEY', 'cost: $$5'], env: { K: 'x-$KEY', L: '${KEY}' }, timeout: 600_000 },
        b: {
          httpUrl: 'https://example.com/mcp',
          headers: { K: 'Bearer $KEY' },
          oauth: { enabled: true, clientId: 'me', scopes: ['read'] },
        },
      },
    },
    entries: {
      a: {
        command: 'a',
        args: ['${KEY}', 'cost: $$5'],
        env: { K: 'x-${KEY}', L: '${KEY}' },
        timeout: '600000ms',
      },
      b: {
        url: 'https://example.com/mcp',
        type: 'http',
        headers: { K: 'Bearer ${KEY}' },
        oauth: { clientId: 'me', scopes: ['read'] },
      },
    },
    endpoints: {
      a: { args: [KEY, 'cost: $$5'], env: { K: `x-${KEY}`, L: KEY } },
      b: { type: 'http', headers: { K: `Bearer ${KEY}` } },
    },
  })),
  {
    client: 'opencode',
    file: 'home/.config/opencode/opencode.jsonc',
    text: `{
      // of mine
      "experimental": { "mcp_timeout": 90000 },
      "mcp": {
        "a": { "type": "local", "command": ["a", "{env:KEY}"], "environment": { "K": "{env:KEY}" }, "timeout": 7000, },
        "b": { "type": "remote", "url": "https://example.com/mcp", "headers": { "K": "Bearer {env:KEY}" } },
      } }`,
    entries: {
      a: { command: 'a', args: ['${KEY}'], env: { K: '${KEY}' }, timeout: '90000ms', startTimeout: '7000ms' },
      b: { url: 'https://example.com/mcp', headers: { K: 'Bearer ${KEY}' }, timeout: '90000ms' },
    },
    endpoints: { a: { args: [KEY], env: { K: KEY } }, b: { headers: { K: `Bearer ${KEY}` } } },
  },
  {
    client: 'windsurf',
    file: 'home/.codeium/windsurf/mcp_config.json',
    text: {
      mcpServers: {
        a: { command: 'a', env: { K: '${env:KEY}' }, disabledTools: ['rm'], disabled: false },
        b: { serverUrl: 'https://example.com/mcp', headers: { K: 'Bearer ${env:KEY}' }, disabled: true },
        c: { command: 'c', env: { K: '${file:/etc/hostname}' } },
      },
    },
    entries: {
      a: { command: 'a', env: { K: '${env:KEY}' }, deny: ['rm'] },
      b: { url: 'https://example.com/mcp', headers: { K: 'Bearer ${env:KEY}' }, enabled: false },
      c: { command: 'c', env: { K: '${file:/etc/hostname}' } },
    },
    endpoints: { a: { env: { K: KEY } }, b: { headers: { K: `Bearer ${KEY}` } } },
  },
  {
    client: 'zed',
    file: 'home/.config/zed/settings.json',
    text: `// Zed settings
{
  "theme": "One Dark",
  "context_server_timeout": 75,
  "context_servers": {
    "a": { "source": "custom", "command": "a", "args": ["x"], "env": { "K": "v" }, "timeout": 3600 },
    "b": { "url": "https://example.com/mcp", "headers": { "K": "v" }, "enabled": false },
    "old": { "command": { "path": "old-server", "args": ["--stdio"], "env": {} }, "settings": {} },
    "extended": { "source": "extension", "enabled": true, "settings": { "token": "x" } },
  },
}`,
    entries: {
      a: { command: 'a', args: ['x'], env: { K: 'v' }, timeout: '3600s' },
      b: { url: 'https://example.com/mcp', headers: { K: 'v' }, enabled: false, timeout: '75s' },
      old: { command: 'old-server', args: ['--stdio'], env: {}, timeout: '75s' },
    },
    endpoints: { a: { env: { K: 'v' } }, old: { command: 'old-server', args: ['--stdio'] } },
  },
  {
    client: 'cline',
    file: 'home/.cline/data/settings/cline_mcp_settings.json',
    text: {
      mcpServers: {
        a: { command: 'a', env: { K: '${env: KEY }' }, timeout: 3600, autoApprove: ['x'], disabled: true },
        b: { url: 'https://example.com/sse', timeout: 30, oauth: { tokens: { access_token: 'x' } } },
        c: {
          transport: {
            type: 'streamableHttp',
            url: 'https://example.com/mcp',
            headers: { K: 'Bearer ${env:KEY}' },
          },
          oauthClient: { clientId: 'me' },
          metadata: { source: 'marketplace' },
        },
        d: { transportType: 'http', url: 'https://example.com/mcp' },
      },
    },
    entries: {
      a: { command: 'a', env: { K: '${env:KEY}' }, timeout: '3600s', enabled: false },
      b: { url: 'https://example.com/sse', type: 'sse', timeout: '30s' },
      c: {
        type: 'streamableHttp',
        url: 'https://example.com/mcp',
        headers: { K: 'Bearer ${env:KEY}' },
        oauth: { clientId: 'me' },
      },
      d: { type: 'streamableHttp', url: 'https://example.com/mcp' },
    },
    endpoints: { a: { env: { K: KEY } }, b: { type: 'sse' }, c: { headers: { K: `Bearer ${KEY}` } } },
  },
  {
    client: 'copilot-cli',
    file: 'home/.copilot/mcp-config.json',
    text: {
      mcpServers: {
        a: {
          type: 'local',
          command: 'a',
          args: ['$KEY'],
          env: { K: '${KEY}', L: '${NONE:-en}' },
          tools: ['*'],
        },
        b: {
          type: 'http',
          url: 'https://example.com/mcp',
          headers: { K: 'Bearer $KEY' },
          tools: ['read', 'list'],
          timeout: 900,
        },
      },
    },
    entries: {
      a: { command: 'a', args: ['${KEY}'], env: { K: '${KEY}', L: '${NONE:-en}' } },
      b: {
        type: 'http',
        url: 'https://example.com/mcp',
        headers: { K: 'Bearer ${KEY}' },
        allow: ['read', 'list'],
        timeout: '900ms',
      },
    },
    endpoints: { a: { args: [KEY], env: { K: KEY, L: 'en' } }, b: { headers: { K: `Bearer ${KEY}` } } },
  },
  {
    client: 'kilo',
    file: 'home/.config/kilo/kilo.jsonc',
    text: '{ "mcp": { "a": { "type": "local", "command": ["a"], "environment": { "K": "{env:KEY}" }, "timeout": 10000 } } }',
    entries: { a: { command: 'a', env: { K: '${KEY}' }, startTimeout: '10000ms' } },
    endpoints: { a: { env: { K: KEY } } },
  },
  {
    client: 'kilo',
    file: '.kilocode/mcp.json',
    text: {
      mcpServers: { a: { command: './a', env: { K: '${env:KEY}' }, alwaysAllow: ['x'], timeout: 300 } },
    },
    entries: { a: { command: '$/a', env: { K: '${env:KEY}' }, timeout: '300s' } },
    endpoints: { a: { env: { K: KEY } } },
  },
  {
    client: 'goose',
    file: 'home/.config/goose/config.yaml',
    text: `GOOSE_PROVIDER: anthropic # mine
extensions:
  developer: { enabled: true, type: builtin, name: developer, timeout: 300 }
  todo:
    enabled: true
    type: platform
    name: todo
  a:
    enabled: true
    type: stdio
    name: a
    description: Reads notes
    cmd: a-server
    args: [--fast]
    envs:
      L: "en"
    env_keys:
      - KEY
    timeout: 300
    bundled: null
    available_tools: []
  b:
    enabled: false
    type: streamable_http
    uri: https://example.com/mcp
    headers:
      Authorization: Bearer \${KEY}
      X-Region: $REGION
    envs: { REGION: eu }
    available_tools: [read]
    timeout: 1500
  script:
    type: inline_python
    code: print(1)
`,
    entries: {
      a: {
        command: 'a-server',
        args: ['--fast'],
        env: { KEY: '${KEY}', L: 'en' },
        timeout: '300s',
        description: 'Reads notes',
      },
      b: {
        url: 'https://example.com/mcp',
        type: 'http',
        headers: { Authorization: 'Bearer ${KEY}', 'X-Region': 'eu' },
        allow: ['read'],
        timeout: '1500s',
        enabled: false,
      },
    },
    endpoints: {
      a: { env: { KEY, L: 'en' } },
      b: { headers: { Authorization: `Bearer ${KEY}`, 'X-Region': 'eu' } },
    },
  },
  {
    client: 'continue',
    file: 'home/.continue/config.yaml',
    text: `name: Mine
version: 1.0.0
schema: v1
mcpServers:
  - name: a
    command: a
    args: ["\${{ secrets.KEY }}"]
    env:
      K: \${{ secrets.me/pack/KEY }}
      L: \${{inputs.KEY}}
    connectionTimeout: 20000
  - name: b
    type: streamable-http
    url: https://example.com/mcp
    requestOptions:
      headers:
        Authorization: Bearer \${{ secrets.KEY }}
      verifySsl: false
  - uses: someone/block
`,
    entries: {
      a: { command: 'a', args: ['${KEY}'], env: { K: '${KEY}', L: '${KEY}' }, startTimeout: '20000ms' },
      b: {
        type: 'streamable-http',
        url: 'https://example.com/mcp',
        headers: { Authorization: 'Bearer ${KEY}' },
      },
    },
    endpoints: {
      a: { args: [KEY], env: { K: KEY, L: KEY } },
      b: { headers: { Authorization: `Bearer ${KEY}` } },
    },
  },
  {
    client: 'continue',
    file: '.continue/mcpServers/mine.yaml',
    text: 'name: Block\nmcpServers:\n  - name: a\n    command: ./a\n    env: { K: "${{ secrets.KEY }}" }\n',
    entries: { a: { command: '$/a', env: { K: '${KEY}' } } },
    endpoints: { a: { env: { K: KEY } } },
  },
  {
    client: 'continue',
    file: '.continue/mcpServers/copied.json',
    text: { mcpServers: { a: { command: 'a', env: { K: '${KEY}' } } } },
    entries: { a: { command: 'a', env: { K: '${KEY}' } } },
    endpoints: { a: { env: { K: KEY } } },
  },
  {
    client: 'kimi',
    file: 'home/.kimi-code/mcp.json',
    text: {
      mcpServers: {
        a: { command: 'a', startupTimeoutMs: 900, toolTimeoutMs: 2000, enabledTools: ['x'], enabled: false },
        b: { transport: 'http', url: 'https://example.com/mcp', bearerTokenEnvVar: 'KEY', auth: 'oauth' },
      },
    },
    entries: {
      a: { command: 'a', allow: ['x'], timeout: '2000ms', startTimeout: '900ms', enabled: false },
      b: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${KEY}' } },
    },
    endpoints: { b: { headers: { Authorization: `Bearer ${KEY}` } } },
  },
]

const filled = <T>(value: T, folder: string): T =>
  JSON.parse(
    JSON.stringify(value, (_, each) =>
      typeof each === 'string' && /^\$(?:\/|$)/.test(each) ? each.replace('$', folder) : each,
    ),
  )

describe('import', () => {
  it('knows a form of every client', () => {
    expect(new Set(rows.map(({ client }) => client))).toEqual(new Set(CLIENTS))
  })

  it.each(rows)('reads $file of $client', async ({ client, file, text, entries, endpoints }) => {
    const { run, folder } = homeWith({ [file]: text })
    const env = { KEY, LANG: 'en_GB' }
    const { code, output, errors } = await run(['import', '--from', client, '--yes'], { env })
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(output).not.toContain('! ')
    const target = join(folder, 'toolwell.json')
    const { mcpServers } = JSON.parse(readFileSync(target, 'utf8'))
    expect(mcpServers).toEqual(filled(entries, folder))
    const { servers, problems } = loadConfig({ files: [target], env, workspaceFolder: folder })
    expect(problems).toEqual([])
    for (const [name, endpoint] of Object.entries(endpoints))
      expect([name, servers.find((each) => each.name === name)?.endpoint]).toEqual([
        name,
        expect.objectContaining(filled(endpoint, folder)),
      ])
  })

  it('tells a block of a hub, an extension and a program apart from servers, and is silent on what is built in', async () => {
    const { run } = homeWith(Object.fromEntries(rows.map(({ file, text }) => [file, text])))
    const { output } = await run(['import'], { env: { KEY } })
    expect(output).toContain('skipped number 3: it is a block from the Continue hub')
    expect(output).toContain('skipped extended: it is a Zed extension')
    expect(output).toContain('skipped script: it is Python code inside the config of Goose')
    for (const name of ['developer', 'todo'])
      expect(output).toContain(`skipped ${name}: it is built into Goose`)
    expect(output).not.toMatch(/\+ (?:developer|todo)/)
    expect(output).toContain('without requestOptions, which Toolwell does not use')
    expect(output).not.toContain(KEY)
  })

  it('names the line of a broken file, and nothing of its content', async () => {
    const { run } = homeWith({
      'home/.config/goose/config.yaml': 'a: 1\nextensions: {\n  s3cret-thing: [\n',
      'home/.continue/config.yaml': 'a: 1\n---\nb: s3cret-thing\n',
      'home/.kimi/mcp.json': '{ "mcpServers": { "a": {} } }',
    })
    const { output } = await run(['import'])
    expect(output).toMatch(/goose\/config\.yaml {2}the file is not valid YAML \(line \d\)/)
    expect(output).toMatch(/continue\/config\.yaml {2}the file contains several YAML documents/)
    expect(output).not.toContain('s3cret')
  })

  it('a folder with deep, long or many entries delays nobody', async () => {
    const many = Array.from({ length: 20_000 }, (_, at) => [`s${at}`, { command: 'x' }])
    const { run } = homeWith({
      '.continue/mcpServers/a.yaml': `mcpServers:\n  - ${'['.repeat(3000)}`,
      '.continue/mcpServers/b.yaml': Array.from({ length: 60_000 }, (_, at) => `k${at}: x`).join('\n'),
      '.mcp.json': { mcpServers: Object.fromEntries(many) },
    })
    const begun = performance.now()
    const { output } = await run(['import'])
    expect(performance.now() - begun).toBeLessThan(5000)
    expect(output).toMatch(/a\.yaml {2}the file is nested too deeply\n/)
    expect(output).toMatch(/b\.yaml {2}the file is larger than 64 KB\n/)
    expect(output).toMatch(/\.mcp\.json {2}the file has more than 500 servers\n/)
  })

  it('looks where each client keeps its file on each system', () => {
    const places = (platform: string, env = {}) =>
      clientFiles({ home: '/h', folder: '/p', platform, env }).map(({ file }) => file.replaceAll('\\', '/'))
    const storage = 'Code/User/globalStorage'
    expect(places('linux')).toEqual(
      expect.arrayContaining([
        '/h/.codeium/windsurf/mcp_config.json',
        '/h/.config/zed/settings.json',
        '/h/.cline/data/settings/cline_mcp_settings.json',
        `/h/.config/${storage}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`,
        '/h/.copilot/mcp-config.json',
        '/h/.config/kilo/kilo.jsonc',
        `/h/.config/${storage}/kilocode.kilo-code/settings/mcp_settings.json`,
        '/h/.config/goose/config.yaml',
        '/h/.continue/config.yaml',
        '/h/.qwen/settings.json',
        '/h/.kimi-code/mcp.json',
        '/p/.zed/settings.json',
        '/p/.github/mcp.json',
        '/p/.kilo/kilo.jsonc',
      ]),
    )
    expect(places('darwin')).toEqual(
      expect.arrayContaining([
        '/h/.config/zed/settings.json',
        '/h/.config/goose/config.yaml',
        `/h/Library/Application Support/${storage}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`,
      ]),
    )
    expect(places('win32', { APPDATA: '/r' })).toEqual(
      expect.arrayContaining([
        '/r/Zed/settings.json',
        '/r/Block/goose/config/config.yaml',
        `/r/${storage}/kilocode.kilo-code/settings/mcp_settings.json`,
        '/h/.codeium/windsurf/mcp_config.json',
      ]),
    )
    expect(
      places('linux', {
        CLAUDE_CONFIG_DIR: '/l',
        CLINE_DIR: '/c',
        COPILOT_HOME: '/o',
        GOOSE_PATH_ROOT: '/g',
        CONTINUE_GLOBAL_DIR: '/n',
        KIMI_CODE_HOME: '/k',
      }),
    ).toEqual(
      expect.arrayContaining([
        '/l/.claude.json',
        '/c/data/settings/cline_mcp_settings.json',
        '/o/mcp-config.json',
        '/g/config/config.yaml',
        '/n/config.yaml',
        '/k/mcp.json',
      ]),
    )
    expect(places('linux', { CLINE_MCP_SETTINGS_PATH: '/s.json' })).toContain('/s.json')
  })
})
