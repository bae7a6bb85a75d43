/** An entry of another client in the words of toolwell.json. Values are kept as they are; what has no meaning here is named. */
import { isAbsolute, resolve } from 'node:path'
import type { Shape } from './clients.js'

export type Fields = Readonly<Record<string, unknown>>

export interface Converted {
  readonly entry: Record<string, unknown>
  /** Keys that mean nothing here. */
  readonly left: readonly string[]
}

/** The same words, or others for the same. */
const KEPT: Readonly<Record<string, string>> = {
  type: 'type',
  command: 'command',
  args: 'args',
  env: 'env',
  envFile: 'envFile',
  cwd: 'cwd',
  url: 'url',
  serverUrl: 'url',
  headers: 'headers',
  oauth: 'oauth',
  description: 'description',
  includeTools: 'allow',
  excludeTools: 'deny',
  disabledTools: 'deny',
}

/** What clients say about themselves, and not about the server. */
const SILENT = new Set([
  'autoApprove',
  'alwaysAllow',
  'dev',
  'gallery',
  'version',
  'watchPaths',
  'transportType',
  'metadata',
  'trust',
  'startup_timeout_sec',
  'startup_timeout_ms',
  'required',
])

/** `folder`: what relative paths start from. A sentence where it is no server. */
export function convert(value: unknown, shape: Shape, folder: string): Converted | string {
  if (!isFields(value)) return 'it is no object'
  const { entry, left } =
    shape === 'codex'
      ? fromCodex(value)
      : shape === 'opencode'
        ? fromOpencode(value)
        : fromCommon(value, shape)
  if (typeof entry.command !== 'string' && typeof entry.url !== 'string')
    return 'it has neither a command nor a url'
  if (typeof entry.command === 'string' && isRelativePath(entry.command))
    entry.command = resolve(folder, entry.command)
  for (const key of ['cwd', 'envFile'] as const) {
    const path = entry[key]
    if (typeof path === 'string' && !isAbsolute(path) && !path.startsWith('${'))
      entry[key] = resolve(folder, path)
  }
  return { entry, left }
}

function fromCommon(value: Fields, shape: Shape): { entry: Record<string, unknown>; left: string[] } {
  const entry: Record<string, unknown> = {}
  const left: string[] = []
  for (const [key, each] of Object.entries(value)) {
    const kept = Object.hasOwn(KEPT, key) ? KEPT[key] : undefined
    if (each === null || each === undefined) continue
    if (kept !== undefined) entry[kept] = each
    else if (key === 'timeout' && typeof each === 'number')
      entry.timeout = each < 1000 ? `${each}s` : `${each}ms`
    else if (key === 'disabled') {
      if (each === true) entry.enabled = false
    } else if (key === 'enabled') {
      if (each === false) entry.enabled = false
    } else if (key === 'httpUrl') Object.assign(entry, { url: each, type: 'http' })
    else if (!SILENT.has(key)) left.push(key)
  }
  if (shape === 'gemini' && entry.url !== undefined && entry.type === undefined) entry.type = 'sse'
  return { entry, left }
}

function fromCodex(value: Fields): { entry: Record<string, unknown>; left: string[] } {
  const {
    bearer_token_env_var: token,
    http_headers: headers,
    env_http_headers: variables,
    env_vars: passed,
    ...rest
  } = value
  const { tool_timeout_sec: timeout, enabled_tools: allow, disabled_tools: deny, ...others } = rest
  const { entry, left } = fromCommon(others, 'codex')
  const all: Record<string, unknown> = { ...(isFields(headers) ? headers : {}) }
  if (isFields(variables))
    for (const [name, variable] of Object.entries(variables)) all[name] = `\${${String(variable)}}`
  if (typeof token === 'string') all.Authorization = `Bearer \${${token}}`
  if (Object.keys(all).length > 0) entry.headers = all
  if (Array.isArray(passed)) {
    const names = passed.filter((name): name is string => typeof name === 'string')
    entry.env = {
      ...Object.fromEntries(names.map((name) => [name, `\${${name}:-}`])),
      ...(isFields(entry.env) ? entry.env : {}),
    }
  }
  if (typeof timeout === 'number') entry.timeout = `${timeout}s`
  if (Array.isArray(allow)) entry.allow = allow
  if (Array.isArray(deny)) entry.deny = deny
  return { entry, left }
}

function fromOpencode(value: Fields): { entry: Record<string, unknown>; left: string[] } {
  const { type, command, environment, ...others } = value
  const { entry, left } = fromCommon(others, 'opencode')
  const [program, ...args] = Array.isArray(command) ? command : [command]
  if (type !== 'remote') {
    if (program !== undefined) entry.command = program
    if (args.length > 0) entry.args = args
    if (isFields(environment)) entry.env = environment
  }
  return { entry: variablesIn(entry) as Record<string, unknown>, left }
}

/** `{env:NAME}` is how opencode writes `${NAME}`. */
function variablesIn(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\{env:([A-Za-z_]\w*)\}/g, (_, name) => `\${${name}}`)
  if (Array.isArray(value)) return value.map(variablesIn)
  return isFields(value)
    ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, variablesIn(each)]))
    : value
}

function isRelativePath(program: string): boolean {
  return /^\.{1,2}[\\/]/.test(program) || (!isAbsolute(program) && /^[^\s\\/$]+[\\/]/.test(program))
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
