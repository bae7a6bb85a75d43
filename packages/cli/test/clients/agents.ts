/** The agents that install from npm: their packages, config, deny rules and how they start without a terminal. */
import type { ClientName } from '../../src/shared/clients/clients.js'
import type { Wire } from './agent-run.js'

/** A server: its command line. */
export type Servers = Readonly<Record<string, readonly [string, ...string[]]>>

export interface Agent {
  readonly client: ClientName
  /** The first package is the agent itself. */
  readonly packages: readonly [string, ...string[]]
  /** The program, below node_modules. */
  readonly program: string
  readonly wire: Wire
  readonly args: (prompt: string) => readonly string[]
  readonly env: (url: string) => Readonly<Record<string, string>>
  /** Files below the home folder. An object is written as JSON, which is also YAML. */
  readonly config: (servers: Servers, url: string) => Readonly<Record<string, unknown>>
  /** The agent's name of a server's tool. */
  readonly shows: (server: string, tool: string) => string
  /** The file with the deny rules, and its text with rules for these tools of `pages`. */
  readonly deny: {
    readonly file: string
    readonly write: (text: string, tools: readonly string[]) => string
    /** The rules are on the entry of the server, which `connect` moves to toolwell.json. */
    readonly isOnEntry?: true
  }
  /** The key and the value of a time limit on the entry of `pages`. Missing if the agent has none. */
  readonly limit?: readonly [key: string, value: number]
}

const commands = (servers: Servers, more: (name: string) => object = () => ({})) =>
  Object.fromEntries(
    Object.entries(servers).map(([name, [command, ...args]]) => [name, { command, args, ...more(name) }]),
  )

/** Limits only the server `pages`. */
const limited =
  (...[key, value]: readonly [string, number]) =>
  (name: string) =>
    name === 'pages' ? { [key]: value } : {}

const inJson =
  (key: string, rules: (tools: readonly string[]) => unknown) => (text: string, tools: readonly string[]) =>
    JSON.stringify({ ...(JSON.parse(text || '{}') as object), [key]: rules(tools) }, null, 2)

/** Sets rules on the entry of `pages`. */
export const onEntry =
  (key: string, rules: (tools: readonly string[]) => object) => (text: string, tools: readonly string[]) => {
    const whole = JSON.parse(text) as Record<string, Record<string, object>>
    const pages = { ...whole[key]?.pages, ...rules(tools) }
    return JSON.stringify({ ...whole, [key]: { ...whole[key], pages } }, null, 2)
  }

const PAGE_TOOLS = ['open_page', 'read_page', 'erase_page', 'print_page']
const allBut = (tools: readonly string[]) => PAGE_TOOLS.filter((tool) => !tools.includes(tool))

const yamlLines = (entry: object) =>
  Object.entries(entry)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join('\n    ')

const modelFor = (url: string) => ({
  provider: {
    scripted: {
      npm: '@ai-sdk/openai-compatible',
      name: 'Scripted',
      options: { baseURL: url, apiKey: 'none' },
      models: { scripted: { name: 'Scripted', tool_call: true, limit: { context: 200_000, output: 8_000 } } },
    },
  },
})

/** For agents that need a newer Node than this repository. */
const NODE_22 = 'node@22.23.3'

/** The package with the program for this machine. */
const GOOSE = `@aaif/goose-binary-${process.platform}-${process.arch}`

export const AGENTS: readonly Agent[] = [
  {
    client: 'claude-code',
    packages: ['@anthropic-ai/claude-code@2.1.327'],
    program: '.bin/claude',
    wire: 'anthropic',
    args: (prompt) => ['-p', prompt, '--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5'],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    }),
    config: (servers) => ({
      '.claude.json': {
        hasCompletedOnboarding: true,
        mcpServers: commands(servers, limited('timeout', 900_000)),
      },
    }),
    shows: (server, tool) => `mcp__${server}__${tool}`,
    deny: {
      file: '.claude/settings.json',
      write: inJson('permissions', (tools) => ({ deny: tools.map((tool) => `mcp__pages__${tool}`) })),
    },
    limit: ['timeout', 900_000],
  },
  {
    client: 'codex',
    packages: ['@openai/codex@0.169.0'],
    program: '.bin/codex',
    wire: 'responses',
    args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    env: () => ({}),
    config: (servers, url) => ({
      '.codex/auth.json': { OPENAI_API_KEY: 'none' },
      '.codex/config.toml': [
        'model = "gpt-5.5"',
        `openai_base_url = "${url}"`,
        ...Object.entries(servers).flatMap(([name, [command, ...args]]) => [
          `[mcp_servers.${name}]`,
          `command = ${JSON.stringify(command)}`,
          `args = ${JSON.stringify(args)}`,
          ...(name === 'pages' ? ['tool_timeout_sec = 900'] : []),
        ]),
        '',
      ].join('\n'),
    }),
    shows: (server, tool) => `mcp__${server}.${tool}`,
    deny: {
      file: '.codex/config.toml',
      write: (text, tools) =>
        text.replace(
          /(?:disabled_tools.*\n)?tool_timeout/,
          `disabled_tools = ${JSON.stringify(tools)}\ntool_timeout`,
        ),
      isOnEntry: true,
    },
    limit: ['tool_timeout_sec', 900],
  },
  {
    client: 'gemini',
    packages: ['@google/gemini-cli@0.61.0'],
    program: '.bin/gemini',
    wire: 'google',
    args: (prompt) => ['-p', prompt, '--yolo', '--skip-trust', '-m', 'gemini-2.5-pro'],
    env: (url) => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url }),
    config: (servers) => ({
      '.gemini/settings.json': {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        mcpServers: commands(servers, limited('timeout', 900_000)),
      },
    }),
    shows: (server, tool) => `mcp_${server}_${tool}`,
    deny: {
      file: '.gemini/policies/rules.toml',
      write: (_text, tools) =>
        tools
          .map(
            (tool) =>
              `[[rule]]\nmcpName = "pages"\ntoolName = "${tool}"\ndecision = "deny"\npriority = 900\n`,
          )
          .join('\n'),
    },
    limit: ['timeout', 900_000],
  },
  {
    client: 'qwen',
    packages: ['@qwen-code/qwen-code@0.24.4', NODE_22],
    program: '.bin/qwen',
    wire: 'chat',
    args: (prompt) => ['-p', prompt, '--yolo', '--auth-type', 'openai', '-m', 'qwen3-coder-plus'],
    env: (url) => ({ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: url, OPENAI_MODEL: 'qwen3-coder-plus' }),
    config: (servers) => ({
      '.qwen/settings.json': {
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        mcpServers: commands(servers, limited('timeout', 900_000)),
      },
    }),
    shows: (server, tool) => `mcp__${server}__${tool}`,
    deny: {
      file: '.qwen/settings.json',
      write: inJson('permissions', (tools) => ({ deny: tools.map((tool) => `mcp__pages__${tool}`) })),
    },
    limit: ['timeout', 900_000],
  },
  {
    client: 'opencode',
    packages: ['opencode-ai@1.18.33'],
    program: '.bin/opencode',
    wire: 'chat',
    args: (prompt) => ['run', '--auto', '-m', 'scripted/scripted', prompt],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    config: (servers, url) => ({ '.config/opencode/opencode.json': openConfig(servers, url) }),
    shows: (server, tool) => `${server}_${tool}`,
    deny: { file: '.config/opencode/opencode.json', write: openRules },
    limit: ['timeout', 900_000],
  },
  {
    client: 'kilo',
    packages: ['@kilocode/cli@7.7.7'],
    program: '.bin/kilo',
    wire: 'chat',
    args: (prompt) => ['run', '--auto', '-m', 'scripted/scripted', prompt],
    env: () => ({ KILO_DISABLE_AUTOUPDATE: '1', KILO_DISABLE_MODELS_FETCH: '1' }),
    config: (servers, url) => ({ '.config/kilo/kilo.json': openConfig(servers, url) }),
    shows: (server, tool) => `${server}_${tool}`,
    deny: { file: '.config/kilo/kilo.json', write: openRules },
    limit: ['timeout', 900_000],
  },
  {
    client: 'cline',
    packages: ['cline@3.0.65'],
    program: '.bin/cline',
    wire: 'chat',
    args: (prompt) => ['--auto-approve', 'true', '-P', 'openai-compatible', '-m', 'scripted', prompt],
    env: () => ({}),
    config: (servers, url) => ({
      '.cline/data/settings/providers.json': {
        version: 1,
        lastUsedProvider: 'openai-compatible',
        modes: {},
        providers: {
          'openai-compatible': {
            settings: { provider: 'openai-compatible', apiKey: 'none', model: 'scripted', baseUrl: url },
            updatedAt: '2026-01-01T00:00:00.000Z',
            tokenSource: 'manual',
          },
        },
      },
      '.cline/data/settings/cline_mcp_settings.json': {
        mcpServers: commands(servers, limited('timeout', 900)),
      },
    }),
    shows: (server, tool) => `${server}__${tool}`,
    deny: {
      file: '.cline/data/settings/global-settings.json',
      write: inJson('disabledTools', (tools) => tools.map((tool) => `pages__${tool}`)),
    },
    limit: ['timeout', 900],
  },
  {
    client: 'continue',
    packages: ['@continuedev/cli@1.5.47'],
    program: '.bin/cn',
    wire: 'chat',
    args: (prompt) => ['-p', prompt],
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
    config: (servers, url) => ({
      '.continue/config.yaml': [
        'name: Local\nversion: 1.0.0\nschema: v1\nmodels:',
        `  - ${yamlLines({ name: 'scripted', provider: 'openai', model: 'gpt-4o', apiKey: 'none', apiBase: url })}`,
        'mcpServers:',
        ...Object.entries(commands(servers, limited('connectionTimeout', 900_000))).map(
          ([name, entry]) => `  - ${yamlLines({ name, ...entry })}`,
        ),
        '',
      ].join('\n'),
    }),
    shows: (_server, tool) => tool,
    deny: {
      file: '.continue/permissions.yaml',
      write: (_text, tools) => `exclude:\n${tools.map((tool) => `  - ${tool}\n`).join('')}`,
    },
    limit: ['connectionTimeout', 900_000],
  },
  {
    client: 'goose',
    packages: [`${GOOSE}@1.52.0`],
    program: `${GOOSE}/bin/goose`,
    wire: 'chat',
    args: (prompt) => ['run', '--no-session', '-t', prompt],
    env: (url) => ({
      OPENAI_HOST: new URL(url).origin,
      OPENAI_API_KEY: 'none',
      GOOSE_PROVIDER: 'openai',
      GOOSE_MODEL: 'gpt-4o',
      GOOSE_MODE: 'auto',
      GOOSE_DISABLE_KEYRING: '1',
    }),
    config: (servers) => ({
      '.config/goose/config.yaml': [
        'extensions:',
        ...Object.entries(servers).map(([name, [cmd, ...args]]) => {
          const timeout = name === 'pages' ? 900 : 300
          const entry = { enabled: true, type: 'stdio', name, cmd, args, envs: {}, timeout }
          return `  ${name}:\n    ${yamlLines(entry)}`
        }),
        '',
      ].join('\n'),
    }),
    shows: (server, tool) => `${server}__${tool}`,
    deny: {
      // It ignores permission.yaml without a terminal.
      file: '.config/goose/config.yaml',
      write: (text, tools) =>
        text.replace(
          /(?:available_tools.*\n {4})?timeout: 900/,
          `available_tools: ${JSON.stringify(allBut(tools))}\n    timeout: 900`,
        ),
      isOnEntry: true,
    },
    limit: ['timeout', 900],
  },
  {
    client: 'kimi',
    packages: ['@moonshot-ai/kimi-code@2.1.0', NODE_22],
    program: '.bin/kimi',
    wire: 'chat',
    args: (prompt) => ['-p', prompt],
    env: () => ({ KIMI_DISABLE_TELEMETRY: '1', KIMI_CODE_NO_AUTO_UPDATE: '1' }),
    config: (servers, url) => ({
      '.kimi-code/config.toml': [
        'default_model = "scripted"',
        'telemetry = false',
        '[providers.scripted]',
        'type = "openai"',
        `base_url = "${url}"`,
        'api_key = "none"',
        '[models.scripted]',
        'provider = "scripted"',
        'model = "scripted"',
        'max_context_size = 200000',
        '',
      ].join('\n'),
      '.kimi-code/mcp.json': { mcpServers: commands(servers, limited('toolTimeoutMs', 900_000)) },
    }),
    shows: (server, tool) => `mcp__${server}__${tool}`,
    deny: {
      file: '.kimi-code/mcp.json',
      write: onEntry('mcpServers', (tools) => ({ disabledTools: tools })),
      isOnEntry: true,
    },
    limit: ['toolTimeoutMs', 900_000],
  },
  {
    client: 'copilot-cli',
    packages: ['@github/copilot@1.0.102'],
    program: '.bin/copilot',
    wire: 'chat',
    args: (prompt) => ['-p', prompt, '--allow-all-tools', '--disable-builtin-mcps'],
    env: (url) => ({
      COPILOT_PROVIDER_BASE_URL: url,
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: 'gpt-4.1',
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
    }),
    config: (servers) => ({
      '.copilot/mcp-config.json': {
        mcpServers: commands(servers, (name) => ({
          type: 'local',
          tools: ['*'],
          ...limited('timeout', 900_000)(name),
        })),
      },
    }),
    shows: (server, tool) => `${server}-${tool}`,
    deny: {
      file: '.copilot/mcp-config.json',
      write: onEntry('mcpServers', (tools) => ({ tools: allBut(tools) })),
      isOnEntry: true,
    },
    limit: ['timeout', 900_000],
  },
]

/** The config of opencode and Kilo. */
function openConfig(servers: Servers, url: string) {
  const entries = Object.entries(servers).map(([name, command]) => [
    name,
    { type: 'local', command, enabled: true, ...limited('timeout', 900_000)(name) },
  ])
  return { ...modelFor(url), mcp: Object.fromEntries(entries) as object }
}

function openRules(text: string, tools: readonly string[]): string {
  const rules = tools.map((tool) => [`pages_${tool}`, 'deny'])
  return inJson('permission', () => Object.fromEntries(rules) as object)(text, tools)
}
