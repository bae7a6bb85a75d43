/** A file of every client that can be connected, in its own form, with a comment where it takes one. Written here, copied from nowhere. */
import { platform } from 'node:os'

export const SECRET = 'tr3asure-of-the-s3ven-seas'

const settings = platform() === 'darwin' ? 'home/Library/Application Support' : 'home/.config'

export interface ClientFixture {
  readonly client: string
  readonly file: string
  readonly text: string
  /** Names that `connect` takes over. */
  readonly taken: readonly string[]
}

const stdio = (name: string) =>
  `{ "command": "${name}-server", "args": ["--fast"], "env": { "KEY": "${SECRET}" } }`

export const fixtures: readonly ClientFixture[] = [
  {
    client: 'claude-code',
    file: 'home/.claude.json',
    text: `{
  "numStartups": 12,
  "mcpServers": {
    "notes": ${stdio('notes')},
    "shared": { "type": "http", "url": "https://example.com/shared" }
  },
  "projects": { "/somewhere": { "mcpServers": { "inner": { "command": "inner" } } } }
}`,
    taken: ['notes', 'shared'],
  },
  {
    client: 'claude-desktop',
    file: `${settings}/Claude/claude_desktop_config.json`,
    text: `{"mcpServers":{"desk":${stdio('desk')}},"globalShortcut":""}`,
    taken: ['desk'],
  },
  {
    client: 'cursor',
    file: 'home/.cursor/mcp.json',
    text: `{
\t// of mine
\t"mcpServers": {
\t\t"shared": { "url": "https://example.com/shared" }, // the same as elsewhere
\t\t"weather": ${stdio('weather')}, /* rain */
\t},
}
`,
    taken: ['shared', 'weather'],
  },
  {
    client: 'vscode',
    file: `${settings}/Code/User/mcp.json`,
    text: `{\r\n    "inputs": [],\r\n    "servers": {\r\n        "code": { "type": "stdio", "command": "code-server-x", "gallery": true }\r\n    }\r\n}\r\n`,
    taken: ['code'],
  },
  {
    client: 'codex',
    file: 'home/.codex/config.toml',
    text: `# Codex
model = "gpt-5" # the model

[mcp_servers.tables]
command = "tables-server"   # local
env = { KEY = "${SECRET}" }
startup_timeout_sec = 20

[mcp_servers.tables.tools.read]
approval_mode = "approve"

# how it looks
[tui]
theme = "dark"
`,
    taken: ['tables'],
  },
  {
    client: 'gemini',
    file: 'home/.gemini/settings.json',
    text: `{\n  "theme": "GitHub",\n  "mcpServers": { "gem": ${stdio('gem')} }\n}`,
    taken: ['gem'],
  },
  {
    client: 'opencode',
    file: 'home/.config/opencode/opencode.jsonc',
    text: `{
  "$schema": "https://opencode.ai/config.json",
  // servers
  "mcp": {
    "open": { "type": "local", "command": ["open-server"], "environment": { "KEY": "${SECRET}" } }
  }
}
`,
    taken: ['open'],
  },
  {
    client: 'qwen',
    file: 'home/.qwen/settings.json',
    text: `\uFEFF{\n  "mcpServers": {\n    "qw": ${stdio('qw')}\n  }\n}\n`,
    taken: ['qw'],
  },
  {
    client: 'windsurf',
    file: 'home/.codeium/windsurf/mcp_config.json',
    text: `{ "mcpServers": { "wind": { "serverUrl": "https://example.com/wind", "headers": { "K": "${SECRET}" } } } }`,
    taken: ['wind'],
  },
  {
    client: 'zed',
    file: 'home/.config/zed/settings.json',
    text: `// Zed settings
//
{
  "context_servers": {
    "zedd": { "source": "custom", "command": "zed-server", "args": [], "env": { "KEY": "${SECRET}" } },
    "extended": { "source": "extension", "settings": {} },
  },
  "vim_mode": true,
}
`,
    taken: ['zedd'],
  },
  {
    client: 'cline',
    file: 'home/.cline/data/settings/cline_mcp_settings.json',
    text: `{\n  "mcpServers": {\n    "cl": {\n      "command": "cl-server",\n      "env": { "KEY": "${SECRET}" },\n      "timeout": 60,\n      "autoApprove": ["x"]\n    }\n  }\n}`,
    taken: ['cl'],
  },
  {
    client: 'copilot-cli',
    file: 'home/.copilot/mcp-config.json',
    text: `{"mcpServers":{"pilot":{"type":"local","command":"pilot-server","args":[],"tools":["*"]}}}\n`,
    taken: ['pilot'],
  },
  {
    client: 'kilo',
    file: 'home/.config/kilo/kilo.json',
    text: `{\n    "mcp": { "ki": { "type": "remote", "url": "https://example.com/ki", "headers": { "K": "${SECRET}" } } }\n}\n`,
    taken: ['ki'],
  },
  {
    client: 'goose',
    file: 'home/.config/goose/config.yaml',
    text: `# goose
GOOSE_PROVIDER: anthropic
extensions:
  developer:
    enabled: true
    type: builtin
    name: developer
  # of mine
  goo:
    enabled: true
    type: stdio
    name: goo
    cmd: goo-server
    args: []   # none
    envs:
      KEY: ${SECRET}
GOOSE_MODE: auto
`,
    taken: ['goo'],
  },
  {
    client: 'continue',
    file: 'home/.continue/config.yaml',
    text: `name: Mine
version: 1.0.0
schema: v1
mcpServers:
  - name: con # first
    command: con-server
    env:
      KEY: ${SECRET}
  - uses: someone/block
models: []
`,
    taken: ['con'],
  },
  {
    client: 'kimi',
    file: 'home/.kimi-code/mcp.json',
    text: `{ "mcpServers": { "kim": ${stdio('kim')} } }\n`,
    taken: ['kim'],
  },
]
