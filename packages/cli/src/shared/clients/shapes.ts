/** The config of each client: its format, the place of its servers, and the conversion of an entry to the common keys. */
import { dropUndefined, isRecord } from '@toolwell/core/internal'
import type { VariableDialect } from '@toolwell/mcp/internal'

export type Fields = Readonly<Record<string, unknown>>

/** An entry with the common keys, or the reason why it cannot be imported. */
export type CommonEntry = Fields | string

export interface Shape {
  readonly format: 'json' | 'toml' | 'yaml'
  /** Paths of the servers in the file, in order of precedence. */
  readonly tables: readonly (readonly string[])[]
  /** A list whose members have a `name`, instead of an object. */
  readonly isList?: true
  /** Content that a new file needs besides its servers. */
  readonly blank?: string
  /** A file in the same folder that the client reads only if this one is missing. */
  readonly older?: string
  /** Syntax of variables. */
  readonly variables: VariableDialect
  /** Converts an entry. `whole` is the file, which may contain settings for every server. */
  readonly common: (entry: Fields, whole: Fields) => CommonEntry
}

const asItIs = (entry: Fields): Fields => entry

export const SHAPES = {
  servers: json([['mcpServers'], ['servers']]),
  // `readClient` also reads the servers of a folder from this file.
  'claude-code': json([['mcpServers']]),
  vscode: json([['servers'], ['mcpServers']], fromVscode),
  'vscode-settings': json([['mcp', 'servers']], fromVscode),
  gemini: { ...json([['mcpServers']], fromGemini), variables: 'shell' },
  copilot: { ...json([['mcpServers']], fromCopilot), variables: 'shell' },
  opencode: { ...json([['mcp']], fromOpencode), variables: 'opencode' },
  zed: json([['context_servers']], fromZed),
  cline: json([['mcpServers']], fromCline),
  kimi: json([['mcpServers']], fromKimi),
  codex: { format: 'toml', tables: [['mcp_servers']], variables: 'common', common: fromCodex },
  goose: { format: 'yaml', tables: [['extensions']], variables: 'common', common: fromGoose },
  continue: {
    format: 'yaml',
    tables: [['mcpServers']],
    isList: true,
    // github.com/continuedev/continue, packages/config-yaml/src/schemas: name and version are required.
    blank: 'name: Local Config\nversion: 1.0.0\nschema: v1\n',
    older: 'config.json',
    variables: 'continue',
    common: fromContinue,
  },
} as const satisfies Readonly<Record<string, Shape>>

export type ShapeName = keyof typeof SHAPES

export function findShape(name: ShapeName): Shape {
  return SHAPES[name]
}

function json(tables: readonly (readonly string[])[], common: Shape['common'] = asItIs) {
  return { format: 'json', tables, variables: 'common', common } as const
}

/** code.visualstudio.com/docs/agents/reference/mcp-configuration: `sandbox` has the limits of a server with `sandboxEnabled`. */
function fromVscode(entry: Fields): CommonEntry {
  return entry.sandboxEnabled === true
    ? 'VS Code runs it in a sandbox, and servers behind Toolwell run outside it'
    : entry
}

/** github.com/google-gemini/gemini-cli, docs/tools/mcp-server.md: `url` is SSE, `httpUrl` is Streamable HTTP. Qwen Code is a fork. */
function fromGemini(entry: Fields): Fields {
  return typeof entry.url === 'string' && entry.type === undefined && entry.httpUrl === undefined
    ? { ...entry, type: 'sse' }
    : entry
}

/** docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers: `tools` is ["*"] or names, times are milliseconds. */
function fromCopilot({ type, tools, timeout, isDefaultServer: _, ...others }: Fields): Fields {
  const isAll = !Array.isArray(tools) || tools.includes('*')
  return {
    ...others,
    ...(type === undefined || type === 'local' ? {} : { type }),
    ...(isAll ? {} : { allow: tools }),
    ...span('timeout', timeout, 'ms'),
  }
}

/** opencode.ai/docs/mcp-servers: a command is one list, and `timeout` limits the listing of tools. */
function fromOpencode({ type, command, environment, timeout, ...others }: Fields, whole: Fields): Fields {
  const [program, ...args] = Array.isArray(command) ? command : [command]
  const local = dropUndefined({
    command: program,
    args: args.length > 0 ? args : undefined,
    env: isRecord(environment) ? environment : undefined,
  })
  const { mcp_timeout: every } = isRecord(whole.experimental) ? whole.experimental : ({} as Fields)
  return {
    ...others,
    ...span('timeout', every, 'ms'),
    ...span('startTimeout', timeout, 'ms'),
    ...(type === 'remote' ? {} : local),
  }
}

/** github.com/zed-industries/zed, crates/settings_content/src/project.rs, ContextServerSettingsContent: seconds; older files have an object as `command`. */
function fromZed(entry: Fields, whole: Fields): CommonEntry {
  const { source, remote: _, settings, command, timeout, oauth, ...others } = entry
  if (source === 'extension' || (settings !== undefined && command === undefined && others.url === undefined))
    return 'it is a Zed extension'
  const { path, ...nested } = isRecord(command) ? command : ({ path: command } as Fields)
  const login = isRecord(oauth)
    ? { oauth: dropUndefined({ clientId: oauth.client_id, clientSecret: oauth.client_secret }) }
    : {}
  return {
    ...others,
    ...nested,
    ...login,
    ...dropUndefined({ command: path }),
    ...span('timeout', timeout ?? whole.context_server_timeout, 's'),
  }
}

/** @cline/core 0.0.86, extensions/mcp: seconds; flat, or below `transport`; a url without a type is SSE. The older file of Kilo has the same format. */
function fromCline(entry: Fields): Fields {
  // `oauth` contains tokens, not settings.
  const { transport, timeout, transportType, type: given, oauthClient, oauth: _, ...others } = entry
  const flat: Fields = { ...others, ...(isRecord(transport) ? transport : {}) }
  const type = given ?? flat.type ?? (transportType === 'http' ? 'streamableHttp' : transportType)
  const isRemote = typeof flat.url === 'string' && flat.command === undefined
  return {
    ...flat,
    ...dropUndefined({ type: type ?? (isRemote ? 'sse' : undefined), oauth: oauthClient }),
    ...span('timeout', timeout, 's'),
  }
}

/** @moonshot-ai/kimi-code 2.1.0, McpServerStdioConfigSchema and McpServerHttpConfigSchema. */
function fromKimi(entry: Fields): Fields {
  const { transport, type = transport, bearerTokenEnvVar: token, auth: _, ...rest } = entry
  const { startupTimeoutMs, toolTimeoutMs, enabledTools, headers, ...others } = rest
  return {
    ...others,
    ...dropUndefined({ type, allow: enabledTools }),
    ...headersWith(headers, typeof token === 'string' ? { Authorization: `Bearer \${${token}}` } : {}),
    ...span('timeout', toolTimeoutMs, 'ms'),
    ...span('startTimeout', startupTimeoutMs, 'ms'),
  }
}

/** github.com/openai/codex, docs/config.md. */
function fromCodex(value: Fields): Fields {
  const {
    bearer_token_env_var: token,
    http_headers: headers,
    env_http_headers: variables,
    env_vars: passed,
    ...rest
  } = value
  const { tool_timeout_sec: timeout, enabled_tools: allow, disabled_tools: deny, ...more } = rest
  const { startup_timeout_sec: seconds, startup_timeout_ms: milliseconds, env, ...others } = more
  const named = Object.entries(isRecord(variables) ? variables : {}).map(
    ([name, variable]) => [name, `\${${String(variable)}}`] as const,
  )
  return {
    ...others,
    ...headersWith(headers, {
      ...Object.fromEntries(named),
      ...(typeof token === 'string' ? { Authorization: `Bearer \${${token}}` } : {}),
    }),
    ...envWith(env, passed, (name) => `\${${name}:-}`),
    ...dropUndefined({
      allow: Array.isArray(allow) ? allow : undefined,
      deny: Array.isArray(deny) ? deny : undefined,
    }),
    ...span('timeout', timeout, 's'),
    ...span('startTimeout', milliseconds, 'ms'),
    ...span('startTimeout', seconds, 's'),
  }
}

/** github.com/block/goose, crates/goose/src/agents/extension.rs: seconds; `env_keys` are in its keyring or in the environment. */
function fromGoose(entry: Fields): CommonEntry {
  const { type, name: _, display_name: __, bundled: ___, cmd, uri, envs, env_keys, headers, ...rest } = entry
  const { timeout, available_tools: tools, description, ...others } = rest
  if (type !== 'stdio' && type !== 'streamable_http' && type !== 'sse')
    return type === 'inline_python'
      ? 'it is Python code inside the config of Goose'
      : 'it is built into Goose'
  const limits = {
    ...others,
    ...span('timeout', timeout, 's'),
    ...(Array.isArray(tools) && tools.length > 0 ? { allow: tools } : {}),
    ...(typeof description === 'string' && description.trim() !== '' ? { description } : {}),
  }
  if (type === 'stdio')
    return {
      ...limits,
      ...dropUndefined({ command: cmd }),
      ...envWith(envs, env_keys, (name) => `\${${name}}`),
    }
  // Headers use shell syntax for variables of the entry and of the environment.
  const own: Fields = isRecord(envs) ? envs : {}
  const filled = Object.entries(isRecord(headers) ? headers : {}).map(([name, value]) => [
    name,
    typeof value !== 'string'
      ? value
      : value.replace(/\$(?:\{\s*([A-Za-z_]\w*)\s*\}|([A-Za-z_]\w*))/g, (_whole, braced, bare) => {
          const variable = String(braced ?? bare)
          return Object.hasOwn(own, variable) ? String(own[variable]) : `\${${variable}}`
        }),
  ])
  return {
    ...limits,
    url: uri,
    type: type === 'sse' ? 'sse' : 'http',
    ...headersWith(undefined, Object.fromEntries(filled)),
  }
}

/** github.com/continuedev/continue, packages/config-yaml/src/schemas/mcp: `connectionTimeout` is milliseconds. */
function fromContinue(entry: Fields): CommonEntry {
  if (typeof entry.uses === 'string') return 'it is a block from the Continue hub'
  const { name: _, faviconUrl: __, sourceFile: ___, serverName: ____, ...rest } = entry
  const { connectionTimeout, requestOptions, ...others } = rest
  const { headers, ...further } = isRecord(requestOptions) ? requestOptions : ({} as Fields)
  return {
    ...others,
    ...(Object.keys(further).length > 0 ? { requestOptions: further } : {}),
    ...headersWith(headers, {}),
    ...span('startTimeout', connectionTimeout, 'ms'),
  }
}

function span(key: 'timeout' | 'startTimeout', value: unknown, unit: 's' | 'ms'): Fields {
  return typeof value === 'number' && value > 0 ? { [key]: `${value}${unit}` } : {}
}

function headersWith(headers: unknown, more: Fields): Fields {
  const all = { ...(isRecord(headers) ? headers : {}), ...more }
  return Object.keys(all).length > 0 ? { headers: all } : {}
}

/** `passed`: names of variables, or objects with a `name`. Values in `env` take precedence. */
function envWith(env: unknown, passed: unknown, reference: (name: string) => string): Fields {
  const names = (Array.isArray(passed) ? passed : []).flatMap((each: unknown) => {
    const name = isRecord(each) ? each.name : each
    return typeof name === 'string' ? [name] : []
  })
  const all = {
    ...Object.fromEntries(names.map((name) => [name, reference(name)])),
    ...(isRecord(env) ? env : {}),
  }
  return Object.keys(all).length > 0 ? { env: all } : {}
}
