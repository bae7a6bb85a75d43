/** The agents that install from npm: their packages, config, deny rules, and how they start without a terminal. */
import type { ClientName } from '../../src/shared/clients/clients.js'
import type { Wire } from './agent-run.js'

/** The command line of each server. */
export type Servers = Readonly<Record<string, readonly [string, ...string[]]>>

export interface Agent {
  readonly client: ClientName
  /** The first package is the agent itself. */
  readonly packages: readonly [string, ...string[]]
  /** The program, below node_modules. */
  readonly program: string
  readonly wire: Wire
  /** The first request may leave before the servers are ready, and its calls fail. */
  readonly isEarly?: true
  readonly args: (prompt: string) => readonly string[]
  readonly env?: (url: string) => Readonly<Record<string, string>>
  /** Files below the home folder. An object is written as JSON. The entry of `pages` has the time limit. */
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
  readonly limit: readonly [key: string, value: number]
}

/** Entries with `command` and `args`. */
const commands = (servers: Servers, limit: Agent['limit'], more = {}) =>
  Object.fromEntries(
    Object.entries(servers).map(([name, [command, ...args]]) => [
      name,
      { command, args, ...more, ...limitOf(name, limit) },
    ]),
  )

const limitOf = (name: string, [key, value]: Agent['limit']) => (name === 'pages' ? { [key]: value } : {})

/** Sets a top-level key of a JSON file. */
const inJson =
  (key: string, rules: (tools: readonly string[]) => unknown) => (text: string, tools: readonly string[]) =>
    JSON.stringify({ ...(JSON.parse(text || '{}') as object), [key]: rules(tools) }, null, 2)

/** Sets rules on the entry of `pages` in a JSON file. */
export const onEntry =
  (rules: (tools: readonly string[]) => object) => (text: string, tools: readonly string[]) => {
    const whole = JSON.parse(text) as { mcpServers: Record<string, object> }
    const pages = { ...whole.mcpServers.pages, ...rules(tools) }
    return JSON.stringify({ ...whole, mcpServers: { ...whole.mcpServers, pages } }, null, 2)
  }

/** Rules of Claude Code and Qwen Code. */
const permissions = inJson('permissions', (tools) => ({ deny: tools.map((tool) => `mcp__pages__${tool}`) }))

const allBut = (tools: readonly string[]) =>
  ['open_page', 'read_page', 'erase_page', 'print_page'].filter((tool) => !tools.includes(tool))

/** Lines of TOML or YAML. */
const lines = (entry: object, sign: string, between: string) =>
  Object.entries(entry)
    .map(([key, value]) => `${key}${sign}${JSON.stringify(value)}`)
    .join(between)

const MILLISECONDS = ['timeout', 900_000] as const
const withMcp = (server: string, tool: string) => `mcp__${server}__${tool}`
const withUnderscores = (server: string, tool: string) => `${server}__${tool}`
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
      // Allows the flag above for root.
      IS_SANDBOX: '1',
    }),
    config: (servers) => ({
      '.claude.json': { hasCompletedOnboarding: true, mcpServers: commands(servers, MILLISECONDS) },
    }),
    shows: withMcp,
    deny: { file: '.claude/settings.json', write: permissions },
    limit: MILLISECONDS,
  },
  {
    client: 'codex',
    packages: ['@openai/codex@0.169.0'],
    program: '.bin/codex',
    wire: 'responses',
    isEarly: true,
    args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    config: (servers, url) => ({
      '.codex/auth.json': { OPENAI_API_KEY: 'none' },
      '.codex/config.toml': [
        `model = "gpt-5.5"\nopenai_base_url = "${url}"\n`,
        ...Object.entries(commands(servers, ['tool_timeout_sec', 900])).map(
          ([name, entry]) => `[mcp_servers.${name}]\n${lines(entry, ' = ', '\n')}\n`,
        ),
      ].join(''),
    }),
    shows: (server, tool) => `mcp__${server}.${tool}`,
    deny: {
      file: '.codex/config.toml',
      write: (text, tools) =>
        text.replace(/(?:disabled.*\n)?(?=tool_timeout)/, `disabled_tools = ${JSON.stringify(tools)}\n`),
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
        mcpServers: commands(servers, MILLISECONDS),
      },
    }),
    shows: (server, tool) => `mcp_${server}_${tool}`,
    deny: {
      file: '.gemini/policies/rules.toml',
      write: (_text, tools) =>
        tools
          .map((toolName) => ({ mcpName: 'pages', toolName, decision: 'deny', priority: 900 }))
          .map((rule) => `[[rule]]\n${lines(rule, ' = ', '\n')}\n`)
          .join(''),
    },
    limit: MILLISECONDS,
  },
  {
    client: 'qwen',
    packages: ['@qwen-code/qwen-code@0.24.4', NODE_22],
    program: '.bin/qwen',
    wire: 'chat',
    args: (prompt) => ['-p', prompt, '--yolo', '--auth-type', 'openai', '-m', 'qwen3-coder-plus'],
    env: (url) => ({ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: url }),
    config: (servers) => ({
      '.qwen/settings.json': {
        privacy: { usageStatisticsEnabled: false },
        mcpServers: commands(servers, MILLISECONDS),
      },
    }),
    shows: withMcp,
    deny: { file: '.qwen/settings.json', write: permissions },
    limit: MILLISECONDS,
  },
  likeOpencode('opencode', 'opencode-ai@1.18.33'),
  likeOpencode('kilo', '@kilocode/cli@7.7.7'),
  {
    client: 'cline',
    packages: ['cline@3.0.65'],
    program: '.bin/cline',
    wire: 'chat',
    args: (prompt) => ['--auto-approve', 'true', '-P', 'openai-compatible', '-m', 'scripted', prompt],
    config: (servers, baseUrl) => {
      const settings = { provider: 'openai-compatible', apiKey: 'none', model: 'scripted', baseUrl }
      const provider = { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' }
      const providers = { 'openai-compatible': provider }
      return {
        '.cline/data/settings/providers.json': { version: 1, modes: {}, providers },
        '.cline/data/settings/cline_mcp_settings.json': { mcpServers: commands(servers, ['timeout', 900]) },
      }
    },
    shows: withUnderscores,
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
    config: (servers, apiBase) => {
      const model = { name: 'scripted', provider: 'openai', model: 'gpt-4o', apiKey: 'none', apiBase }
      const item = (entry: object) => `  - ${lines(entry, ': ', '\n    ')}\n`
      const entries = Object.entries(commands(servers, ['connectionTimeout', 900_000]))
      const list = entries.map(([name, entry]) => item({ name, ...entry })).join('')
      const head = `name: Local\nversion: 1.0.0\nschema: v1\nmodels:\n${item(model)}`
      return { '.continue/config.yaml': `${head}mcpServers:\n${list}` }
    },
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
    config: (servers) => {
      const entries = Object.entries(servers).map(([name, [cmd, ...args]]) => {
        const limit = { timeout: 300, ...limitOf(name, ['timeout', 900]) }
        const entry = { enabled: true, type: 'stdio', name, cmd, args, envs: {}, ...limit }
        return `  ${name}:\n    ${lines(entry, ': ', '\n    ')}\n`
      })
      return { '.config/goose/config.yaml': `extensions:\n${entries.join('')}` }
    },
    shows: withUnderscores,
    deny: {
      // It ignores permission.yaml without a terminal.
      file: '.config/goose/config.yaml',
      write: (text, tools) =>
        text.replace(
          /(?:available.*\n {4})?(?=timeout: 900)/,
          `available_tools: ${JSON.stringify(allBut(tools))}\n    `,
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
    config: (servers, base_url) => {
      const provider = lines({ type: 'openai', base_url, api_key: 'none' }, ' = ', '\n')
      const model = { provider: 'scripted', model: 'scripted', max_context_size: 200_000 }
      return {
        '.kimi-code/config.toml': [
          'default_model = "scripted"\ntelemetry = false',
          `[providers.scripted]\n${provider}`,
          `[models.scripted]\n${lines(model, ' = ', '\n')}\n`,
        ].join('\n'),
        '.kimi-code/mcp.json': { mcpServers: commands(servers, ['toolTimeoutMs', 900_000]) },
      }
    },
    shows: withMcp,
    deny: {
      file: '.kimi-code/mcp.json',
      write: onEntry((tools) => ({ disabledTools: tools })),
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
        mcpServers: commands(servers, MILLISECONDS, { type: 'local', tools: ['*'] }),
      },
    }),
    shows: (server, tool) => `${server}-${tool}`,
    deny: {
      file: '.copilot/mcp-config.json',
      write: onEntry((tools) => ({ tools: allBut(tools) })),
      isOnEntry: true,
    },
    limit: MILLISECONDS,
  },
]

/** Kilo is a fork of opencode. */
function likeOpencode(client: 'opencode' | 'kilo', name: string): Agent {
  const file = `.config/${client}/${client}.json`
  return {
    client,
    packages: [name],
    program: `.bin/${client}`,
    wire: 'chat',
    args: (prompt) => ['run', '--auto', '-m', 'scripted/scripted', prompt],
    env: () => ({ [`${client.toUpperCase()}_DISABLE_AUTOUPDATE`]: '1' }),
    config: (servers, baseURL) => {
      const models = { scripted: { tool_call: true, limit: { context: 200_000, output: 8_000 } } }
      const options = { baseURL, apiKey: 'none' }
      const entries = Object.entries(servers).map(([server, command]) => [
        server,
        { type: 'local', command, enabled: true, ...limitOf(server, MILLISECONDS) },
      ])
      const provider = { scripted: { npm: '@ai-sdk/openai-compatible', options, models } }
      return { [file]: { provider, mcp: Object.fromEntries(entries) as object } }
    },
    shows: (server, tool) => `${server}_${tool}`,
    deny: {
      file,
      write: inJson('permission', (tools) =>
        Object.fromEntries(tools.map((tool) => [`pages_${tool}`, 'deny'])),
      ),
    },
    limit: MILLISECONDS,
  }
}
