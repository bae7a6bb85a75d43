/** One entry of `mcpServers`: checked against the table of keys, variables expanded, paths made absolute. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { nearest } from '@toolwell/core'
import { defined, isRecord } from '@toolwell/core/shared'
import { type ConfigDocument, type Path, pathText } from './document.js'
import { readDuration } from './duration.js'
import { readEnvFile } from './env-file.js'
import { exampleOf, FOREIGN_OAUTH_KEYS, type Key, misfit, ownKey, SERVER_KEYS } from './keys.js'
import type { ConfigProblem } from './problem.js'
import {
  DEFAULTS,
  type HttpEndpoint,
  type OAuthSettings,
  type ServerConfig,
  type Share,
  type StdioEndpoint,
  type Trust,
} from './server-config.js'
import { isRelativeCommand } from './translate-entry.js'
import { expand, type VariableScope } from './variables.js'

/** An entry as it stands in a file, and where that is. */
export interface RawEntry {
  readonly name: string
  readonly document: ConfigDocument
  readonly path: Path
  readonly value: unknown
  /** Relative paths start here. */
  readonly folder: string
  /** A file of another client: what is unknown in it is not ours to refuse. */
  readonly foreign: boolean
}

export interface CheckedEntry {
  /** Under our own names. */
  readonly fields: Fields
  /** Keys whose value, or whose spelling, is wrong. */
  readonly refused: ReadonlySet<string>
  readonly problems: readonly ConfigProblem[]
}

export interface ReadEntry {
  /** As far as it can be read. Where a problem is an error, it cannot be started. */
  readonly server: ServerConfig | undefined
  readonly problems: readonly ConfigProblem[]
}

type Fields = Readonly<Record<string, unknown>>

export function checkEntry(raw: RawEntry): CheckedEntry {
  const problems: ConfigProblem[] = []
  const refused = new Set<string>()
  const report = (path: Path, message: string, fix: string, severity: ConfigProblem['severity'] = 'error') =>
    problems.push(problemAt(raw, path, message, fix, severity))
  if (!isRecord(raw.value)) {
    report([], 'a server must be an object', 'Write { "command": "…" } or { "url": "…" }')
    return { fields: {}, refused: new Set(Object.keys(SERVER_KEYS)), problems }
  }
  const take = (fields: Record<string, unknown>, path: Path, name: string, value: unknown, key: Key) => {
    const wrong = misfit(value, key)
    if (wrong) {
      refused.add(name)
      report(path, `${String(path.at(-1))} ${wrong}`, `Write "${name}": ${exampleOf(key)}`)
    } else fields[name] = key.kind === 'object' ? inner(value as Fields, key.keys, path) : value
  }
  const inner = (values: Fields, keys: Readonly<Record<string, Key>>, path: Path): Fields => {
    const fields: Record<string, unknown> = {}
    for (const [given, value] of Object.entries(values)) {
      if (value === null || value === undefined) continue
      const name = FOREIGN_OAUTH_KEYS[given] ?? given
      const key = Object.hasOwn(keys, name) ? keys[name] : undefined
      if (key) take(fields, [...path, given], name, value, key)
      else unknown([...path, given], given, Object.keys(keys))
    }
    return fields
  }
  const unknown = (path: Path, given: string, known: readonly string[]) => {
    const [suggestion] = nearest(given, known, 1)
    if (suggestion !== undefined && !raw.foreign) refused.add(suggestion)
    const meant = suggestion === undefined ? '' : `; did you mean ${JSON.stringify(suggestion)}?`
    if (raw.foreign)
      report(
        path,
        `the key ${JSON.stringify(given)} has no meaning here${meant}`,
        'Nothing needs to be done',
        'warning',
      )
    else
      report(
        path,
        `unknown key ${JSON.stringify(given)}${meant}`,
        suggestion === undefined
          ? `Remove it; known are ${known.join(', ')}`
          : `Write ${JSON.stringify(suggestion)}, or remove it`,
      )
  }
  const fields: Record<string, unknown> = {}
  for (const [given, value] of Object.entries(raw.value)) {
    const own = ownKey(given, value, { isForeign: raw.foreign })
    if (own.kind === 'known') {
      // Some clients say here whether there is a login at all, which the server says by itself.
      const isSwitch = own.name === 'oauth' && typeof value === 'boolean'
      if (!isSwitch || !raw.foreign) take(fields, [given], own.name, own.value, own.key)
    } else if (own.kind === 'unknown') unknown([given], given, Object.keys(SERVER_KEYS))
  }
  return { fields, refused, problems }
}

/** `refused`: what is missing in `fields` because it was wrong, and is not to be missed. */
export function readEntry(
  raw: RawEntry,
  fields: Fields,
  scope: VariableScope,
  refused: ReadonlySet<string>,
): ReadEntry {
  const problems: ConfigProblem[] = []
  const secrets: string[] = []
  const report = (path: Path, message: string, fix: string, severity: ConfigProblem['severity'] = 'error') =>
    problems.push(problemAt(raw, path, message, fix, severity))
  const text = (value: unknown, ...path: Path): string => {
    const expanded = expand(String(value), scope)
    secrets.push(...expanded.secrets)
    for (const { message, fix } of expanded.problems) report(path, message, fix)
    return expanded.text
  }
  const texts = (key: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries((fields[key] ?? {}) as Record<string, unknown>).map(([name, value]) => [
        name,
        text(value, key, name),
      ]),
    )
  const path = (key: 'command' | 'cwd' | 'envFile'): string => {
    const read = text(fields[key], key)
    if (/[\u0000-\u001f]/.test(read))
      report(
        [key],
        `${key} holds a line break, tab or the like`,
        'In JSON a backslash is written twice: "C:\\\\tools\\\\run.exe"',
      )
    return read
  }
  const duration = (key: 'timeout' | 'idle'): number => {
    const value = fields[key]
    if (value === undefined) return DEFAULTS[key]
    if (value === false && key === 'idle') return Number.POSITIVE_INFINITY
    const read = readDuration(value)
    if (read === undefined)
      report([key], `${key} must be a time above 0`, 'Write milliseconds, or a string such as "30s" or "5m"')
    else if (typeof value === 'number' && value < 1000) {
      // Some clients count in seconds.
      if (raw.foreign) {
        report([key], `${key} ${value} is read as seconds`, `Write "${value}s" to be clear`, 'warning')
        return value * 1000
      }
      report([key], `${key} ${value} would be ${value} milliseconds`, `Write "${value}s" or "${value}ms"`)
    }
    return read ?? DEFAULTS[key]
  }

  const endpoint = endpointOf()
  const oauth = oauthOf()
  const timeout = duration('timeout')
  const idle =
    fields.lazy === false && fields.idle === undefined ? Number.POSITIVE_INFINITY : duration('idle')
  const server: ServerConfig | undefined = endpoint && {
    name: raw.name,
    file: raw.document.file,
    endpoint,
    description: (fields.description as string | undefined) ?? '',
    enabled: fields.enabled !== false,
    lazy: fields.lazy !== false,
    alwaysLoad: fields.alwaysLoad === true ? ['*'] : ((fields.alwaysLoad || []) as string[]),
    allow: fields.allow as string[] | undefined,
    within: undefined,
    deny: (fields.deny as string[] | undefined) ?? [],
    timeout,
    idle,
    trust: (fields.trust as Trust | undefined) ?? 'first-use',
    share: (fields.share as Share | undefined) ?? 'all',
    oauth,
    secrets: [
      ...secrets,
      ...Object.values(endpoint.type === 'stdio' ? endpoint.env : endpoint.headers),
      ...(oauth?.clientSecret === undefined ? [] : [oauth.clientSecret]),
    ],
  }
  return { server, problems }

  function oauthOf(): OAuthSettings | undefined {
    if (fields.oauth === undefined) return undefined
    const { clientId, clientSecret, scopes, callbackPort } = fields.oauth as Fields
    return defined({
      clientId: clientId === undefined ? undefined : text(clientId, 'oauth', 'clientId'),
      clientSecret: clientSecret === undefined ? undefined : text(clientSecret, 'oauth', 'clientSecret'),
      scopes: scopes === undefined ? undefined : [scopes as string | string[]].flat().flatMap(words),
      callbackPort: callbackPort as number | undefined,
    })
  }

  function envFile(): Record<string, string> {
    if (fields.envFile === undefined) return {}
    const file = resolve(raw.folder, path('envFile'))
    try {
      return readEnvFile(readFileSync(file, 'utf8'))
    } catch (error) {
      const { code = 'unknown' } = error as { code?: string }
      report(['envFile'], `${file} cannot be read (${code})`, 'Check the path, or remove "envFile"')
      return {}
    }
  }

  function endpointOf(): ServerConfig['endpoint'] | undefined {
    const { command, url, type } = fields
    if (command === undefined && url === undefined) {
      if (!refused.has('command') && !refused.has('url'))
        report(
          [],
          'the server has neither a command nor a url',
          'Give "command" for a local server, "url" for a remote one',
        )
      // Nothing comes of them, but what is wrong in them is said.
      texts('env')
      texts('headers')
      return undefined
    }
    if (command !== undefined && url !== undefined) {
      report([], 'the server has both a command and a url', 'Remove one of the two')
      local()
      remote()
      return undefined
    }
    if (command !== undefined) {
      if (type !== undefined && type !== 'stdio')
        report(['type'], `a server with a command is of type stdio, not ${String(type)}`, 'Remove "type"')
      return local()
    }
    if (type === 'stdio')
      report(['type'], 'a server with a url is not of type stdio', 'Write "http" or "sse"')
    return remote()
  }

  function local(): StdioEndpoint {
    const program = path('command')
    const args = ((fields.args ?? []) as unknown[]).map((value, index) => text(value, 'args', index))
    if (/^\S+\s+\S/.test(program) && args.length === 0 && !isRelativeCommand(program))
      report(
        ['command'],
        'the command holds spaces, and no shell reads it',
        `Split it: "command": ${JSON.stringify(program.split(/\s+/)[0])}, "args": ${JSON.stringify(
          program
            .split(/\s+/)
            .slice(1)
            .map(() => '…'),
        )}`,
        'warning',
      )
    return {
      type: 'stdio',
      command: isRelativeCommand(program) ? resolve(raw.folder, program) : program,
      args,
      env: { ...envFile(), ...texts('env') },
      cwd: fields.cwd === undefined ? scope.workspaceFolder : resolve(raw.folder, path('cwd')),
    }
  }

  function remote(): HttpEndpoint {
    const { url, type } = fields
    const before = problems.length
    const address = text(url, 'url')
    // What lacks a variable is no address yet.
    const isWhole = problems.length === before
    if (isWhole && !isHttp(address))
      report(
        ['url'],
        'the url is not an http or https address',
        'Write it in full: "https://example.com/mcp"',
      )
    else if (isWhole && hasCredentials(address))
      report(
        ['url'],
        'the url holds a user name or password',
        'Write it without, and put them into "headers": { "Authorization": "Basic ${NAME_OF_A_VARIABLE}" }',
      )
    return {
      type: type === 'sse' ? 'sse' : type === undefined ? 'auto' : 'http',
      url: address,
      headers: texts('headers'),
    }
  }
}

export function problemAt(
  raw: RawEntry,
  path: Path,
  message: string,
  fix: string,
  severity: ConfigProblem['severity'],
): ConfigProblem {
  const whole = [...raw.path, ...path]
  return {
    file: raw.document.file,
    path: pathText(whole),
    line: raw.document.lineOf(whole),
    message,
    fix,
    server: raw.name,
    severity,
  }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function hasCredentials(address: string): boolean {
  const { username, password } = new URL(address)
  return username !== '' || password !== ''
}

function isHttp(address: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(address).protocol)
  } catch {
    return false
  }
}
