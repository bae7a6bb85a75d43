/** An entry of another client with the keys of toolwell.json. What only that client writes is brought into the common form first. */
import { defined, isRecord } from '@toolwell/core/internal'
import { type Translated, translateEntry, withCommonVariables } from '@toolwell/mcp/internal'
import type { Shape } from './clients.js'

export type Fields = Readonly<Record<string, unknown>>

/** `folder`: what relative paths start from. A sentence where it is no server. */
export function convert(value: unknown, shape: Shape, folder: string): Translated | string {
  if (!isRecord(value)) return 'it is not an object'
  // No other client has these: there it is a text, and here it would be run.
  if (/\$\{cmd:/.test(JSON.stringify(value)))
    return 'it holds a ${cmd:…}, which that client does not run; write the entry yourself'
  const common = shape === 'codex' ? fromCodex(value) : shape === 'opencode' ? fromOpencode(value) : value
  const dialect = shape === 'gemini' || shape === 'opencode' ? shape : 'common'
  const { entry, left } = translateEntry(withCommonVariables(common, dialect) as Fields, folder)
  if (typeof entry.command !== 'string' && typeof entry.url !== 'string')
    return 'it has neither a command nor a url'
  if (shape === 'gemini' && entry.url !== undefined && entry.type === undefined) entry.type = 'sse'
  return { entry, left }
}

function fromCodex(value: Fields): Fields {
  const {
    bearer_token_env_var: token,
    http_headers: headers,
    env_http_headers: variables,
    env_vars: passed,
    ...rest
  } = value
  const { tool_timeout_sec: timeout, enabled_tools: allow, disabled_tools: deny, ...more } = rest
  const { startup_timeout_sec: seconds, startup_timeout_ms: milliseconds, ...others } = more
  const entry: Record<string, unknown> = { ...others }
  const all: Record<string, unknown> = { ...(isRecord(headers) ? headers : {}) }
  if (isRecord(variables))
    for (const [name, variable] of Object.entries(variables)) all[name] = `\${${String(variable)}}`
  if (typeof token === 'string') all.Authorization = `Bearer \${${token}}`
  if (Object.keys(all).length > 0) entry.headers = all
  if (Array.isArray(passed)) {
    const names = passed.filter((name): name is string => typeof name === 'string')
    entry.env = {
      ...Object.fromEntries(names.map((name) => [name, `\${${name}:-}`])),
      ...(isRecord(entry.env) ? entry.env : {}),
    }
  }
  if (typeof timeout === 'number') entry.timeout = `${timeout}s`
  if (typeof milliseconds === 'number') entry.startTimeout = `${milliseconds}ms`
  if (typeof seconds === 'number') entry.startTimeout = `${seconds}s`
  if (Array.isArray(allow)) entry.allow = allow
  if (Array.isArray(deny)) entry.deny = deny
  return entry
}

function fromOpencode({ type, command, environment, timeout, ...others }: Fields): Fields {
  const [program, ...args] = Array.isArray(command) ? command : [command]
  const local = defined({
    command: program,
    args: args.length > 0 ? args : undefined,
    env: isRecord(environment) ? environment : undefined,
  })
  // There it is the time until the tools are listed.
  const start = typeof timeout === 'number' ? { startTimeout: `${timeout}ms` } : {}
  return { ...others, ...start, ...(type === 'remote' ? {} : local) }
}
