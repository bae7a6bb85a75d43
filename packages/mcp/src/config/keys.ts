/** The keys of a config file: one table for checking entries and for the JSON Schema. */
import { isRecord } from '@toolwell/core/internal'

export type Kind =
  | { readonly kind: 'string' | 'path' | 'url' | 'boolean' | 'strings' | 'texts' | 'duration' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** A duration, or false for never. */
  | { readonly kind: 'duration-or-false' }
  /** True or false for all tools, or patterns of names. */
  | { readonly kind: 'boolean-or-strings' }
  /** An object of lists of strings. */
  | { readonly kind: 'lists' }
  /** A list of words, or one string of words. */
  | { readonly kind: 'words' }
  | { readonly kind: 'port' }
  /** A whole number from 0. */
  | { readonly kind: 'count' }
  /** An object with known keys. */
  | { readonly kind: 'object'; readonly keys: Readonly<Record<string, Key>> }

export type Key = Kind & { readonly about: string }

/** Keys that say how a server is started or reached. */
const REACHED: Readonly<Record<string, Key>> = {
  type: {
    kind: 'choice',
    values: ['stdio', 'http', 'streamable-http', 'streamableHttp', 'sse'],
    about:
      'Transport. Default: stdio for a command; for a url, Streamable HTTP, then SSE if the server does not support it.',
  },
  command: {
    kind: 'path',
    about: 'Program to start. A path that begins with . is relative to this file.',
  },
  args: { kind: 'strings', about: 'Arguments of the program.' },
  env: {
    kind: 'texts',
    about: 'Environment variables of the program, in addition to PATH, HOME and a few others.',
  },
  envFile: {
    kind: 'path',
    about: 'File with more variables, as NAME=value lines; relative to this file. Values in env win.',
  },
  cwd: {
    kind: 'path',
    about:
      'Working folder; relative to this file. Default: the workspace folder. If workspace is false: the folder of this file, or your home folder for your own config.',
  },
  url: { kind: 'url', about: 'Address of a remote server, without user name and password.' },
  headers: { kind: 'texts', about: 'Headers of every request.' },
  oauth: {
    kind: 'object',
    about: 'Settings of `toolwell login` that the server does not announce by itself.',
    keys: {
      clientId: {
        kind: 'string',
        about: 'Registered client, or the https address of its metadata document.',
      },
      clientSecret: { kind: 'string', about: 'Secret of the client: "${NAME_OF_A_VARIABLE}".' },
      scopes: { kind: 'words', about: 'Scopes to request instead of the scopes that the server names.' },
      callbackPort: {
        kind: 'port',
        about: 'Port of the registered redirect address http://127.0.0.1:PORT/callback.',
      },
    },
  },
}

/** A file that sets one of these keys decides what is started or reached, and which data it gets. */
export const REACHED_KEYS: ReadonlySet<string> = new Set(Object.keys(REACHED))

/** Keys that say how Toolwell treats the server. */
const TREATED: Readonly<Record<string, Key>> = {
  description: {
    kind: 'string',
    about: 'Purpose of the server in one line. Used by search and shown by inspect.',
  },
  enabled: { kind: 'boolean', about: 'False: the server is not used. Default: true.' },
  lazy: {
    kind: 'boolean',
    about:
      'False: the server is started at once and kept running, and its tools are always loaded. Default: true.',
  },
  alwaysLoad: {
    kind: 'boolean-or-strings',
    about: 'Tools that are always loaded: true for all, or patterns of names.',
  },
  examples: {
    kind: 'lists',
    about:
      'By tool name: requests that the tool answers, in your words. Search counts each as one use. Models do not see them.',
  },
  insteadOf: {
    kind: 'texts',
    about:
      'By tool name: when to use the tool instead of other means ("Use this, not git worktree in the shell."). The model reads it after the tool is loaded.',
  },
  marks: {
    kind: 'boolean',
    about:
      'True: use the marks of the server in _meta: always-loaded tools (anthropic/alwaysLoad) and words for search (anthropic/searchHint). Default: false.',
  },
  surfaceTokens: {
    kind: 'count',
    about:
      'Tokens of each request that always-loaded tools of this server may use. Tools beyond that are deferred. Default: 1500.',
  },
  maxResultTokens: {
    kind: 'count',
    about:
      'Tokens of text in one result that the gateway passes on. It keeps longer text, and the client gets the beginning and reads the rest with read_result. 0: no limit. Default: 8000, or 20000 for clients that shorten results themselves.',
  },
  maxConcurrentCalls: {
    kind: 'count',
    about:
      'Calls of this server that one token or stdio client may run through the gateway at the same time. 0: no limit. Default: 100.',
  },
  maxCallsPerMinute: {
    kind: 'count',
    about:
      'Calls of this server that one token or stdio client may make through the gateway in a minute. 0: no limit. Default: 0.',
  },
  allow: {
    kind: 'strings',
    about:
      'Offer only tools that match one of these patterns: "read_*", "server/tool" or "server__tool", in any case. * matches any characters.',
  },
  deny: {
    kind: 'strings',
    about: 'Do not offer tools that match one of these patterns, written as in allow. Wins over allow.',
  },
  readOnly: {
    kind: 'strings',
    about:
      'Patterns of tools that change nothing, in your judgement. The gateway runs them through run_read_only_tool, which a client can allow permanently. Claims of the server do not count.',
  },
  timeout: {
    kind: 'duration',
    about:
      'Timeout of a call in milliseconds, or as "30s", "5m". If the host watches progress, progress restarts it, up to three times this limit in total. Default: 60s.',
  },
  startTimeout: {
    kind: 'duration',
    about:
      'Timeout for starting the server and listing its tools. Default: 30s, or the value set by the program.',
  },
  idle: {
    kind: 'duration-or-false',
    about:
      'The server is stopped after this time without use; false: never. Default: 5m, or 30m if `share` is client or conversation.',
  },
  trust: {
    kind: 'choice',
    values: ['full', 'first-use', 'follow', 'none'],
    about:
      'full: findings are shown, nothing is quarantined. first-use (default): tools that look poisoned, or changed since they were first seen, are quarantined. follow: changes are used and reported. none: nothing is used before you approve it, and annotations are ignored.',
  },
  share: {
    kind: 'choice',
    values: ['all', 'workspace', 'client', 'conversation'],
    about:
      'Who shares one process of the server. all (default): everyone, or everyone in one folder if the server may depend on the folder. workspace: everyone in one folder. client: one client. conversation: one conversation.',
  },
  workspace: {
    kind: 'boolean',
    about:
      'Does the server depend on the project folder? True: one server per folder. False: one server for all folders, without folder information. Default: true, unless the entry has a cwd or url and does not use ${workspaceFolder}.',
  },
}

export const SERVER_KEYS: Readonly<Record<string, Key>> = { ...REACHED, ...TREATED }

/** Internal keys of other clients, ignored without a warning. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'dev',
  'gallery',
  'version',
  'watchPaths',
  'transportType',
  'fromGalleryId',
  'metadata',
])

/** Keys of other clients that approve calls in advance. Toolwell does not decide that. */
const APPROVALS: ReadonlySet<string> = new Set(['autoApprove', 'alwaysAllow'])

/** Keys of other clients with the same meaning. */
const FOREIGN_SERVER_KEYS: Readonly<Record<string, string>> = {
  serverUrl: 'url',
  httpUrl: 'url',
  includeTools: 'allow',
  excludeTools: 'deny',
  disabledTools: 'deny',
}

export type TranslatedKey =
  | { readonly kind: 'known'; readonly name: string; readonly value: unknown; readonly key: Key }
  /** Has a meaning in another client that Toolwell does not support. */
  | { readonly kind: 'skipped' }
  /** Can be ignored without loss. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'unknown' }

/** Translates a key of a server entry from any client. */
export function translateKey(given: string, value: unknown, { isForeign = true } = {}): TranslatedKey {
  if (value === null || value === undefined || BOOKKEEPING.has(given)) return { kind: 'silent' }
  // `trust: true` of another client approves calls, not definitions.
  const isSwitch = given === 'trust' && typeof value === 'boolean'
  if (APPROVALS.has(given) || (isForeign && isSwitch)) return { kind: 'skipped' }
  const isOff = given === 'disabled' && typeof value === 'boolean'
  if (isOff && !value) return { kind: 'silent' }
  const name = isOff
    ? 'enabled'
    : Object.hasOwn(FOREIGN_SERVER_KEYS, given)
      ? FOREIGN_SERVER_KEYS[given]
      : given
  const key = name !== undefined && Object.hasOwn(SERVER_KEYS, name) ? SERVER_KEYS[name] : undefined
  return name !== undefined && key
    ? { kind: 'known', name, value: isOff ? false : value, key }
    : { kind: 'unknown' }
}

/** Keys within `oauth` of other clients with the same meaning. */
export const FOREIGN_OAUTH_KEYS: Readonly<Record<string, string>> = { scope: 'scopes' }

export const FILE_KEYS = [
  '$schema',
  'mcpServers',
  'servers',
  'inputs',
  'profiles',
  'scan',
  'hostTools',
] as const

/** Keys of `hostTools`, for agents that read this file themselves. */
export const HOST_TOOLS_KEYS: Readonly<Record<string, Key>> = {
  defer: {
    kind: 'strings',
    about:
      "Names or patterns of the agent's own tools that are deferred like tools of servers. Basic tools (in pi: read, bash, edit, write) are never deferred.",
  },
}

export const PROFILE_KEYS: Readonly<Record<string, Key>> = {
  servers: { kind: 'strings', about: 'Servers of the profile, by name or pattern. Default: all.' },
  allow: { kind: 'strings', about: 'Only tools that match one of these patterns: "read_*", "github/*".' },
  deny: { kind: 'strings', about: 'No tool that matches one of these patterns.' },
}

/** Shows an example of a valid value. */
export function showExample(key: Kind): string {
  switch (key.kind) {
    case 'string':
    case 'path':
      return '"…"'
    case 'url':
      return '"https://example.com/mcp"'
    case 'boolean':
      return 'true or false'
    case 'texts':
      return '{ "NAME": "value" }'
    case 'lists':
      return '{ "tool_name": ["…"] }'
    case 'choice':
      return key.values.map((value) => JSON.stringify(value)).join(' or ')
    case 'boolean-or-strings':
      return 'true or ["…"]'
    case 'port':
      return '3118'
    case 'count':
      return '1500'
    case 'object':
      return `{ ${Object.keys(key.keys)
        .map((name) => `"${name}": …`)
        .join(', ')} }`
    case 'duration':
    case 'duration-or-false':
      return '"30s"'
    default:
      return '["…"]'
  }
}

/** Describes why a value does not fit its key. Undefined if it fits. */
export function describeMisfit(value: unknown, key: Kind): string | undefined {
  switch (key.kind) {
    case 'string':
    case 'path':
    case 'url':
      return typeof value === 'string' && value.trim() !== ''
        ? undefined
        : 'must be a string that is not empty'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'strings':
      return isStrings(value) ? undefined : 'must be a list of strings'
    case 'texts':
      return isTexts(value) ? undefined : 'must be an object of strings'
    case 'choice':
      return key.values.includes(value as string) ? undefined : `must be one of ${key.values.join(', ')}`
    case 'boolean-or-strings':
      return typeof value === 'boolean' || isStrings(value)
        ? undefined
        : 'must be true, false or a list of patterns'
    case 'lists':
      return isRecord(value) && Object.values(value).every(isStrings)
        ? undefined
        : 'must be an object of lists of strings'
    case 'words':
      return typeof value === 'string' || isStrings(value) ? undefined : 'must be a list of strings'
    case 'count':
      return Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : 'must be a whole number from 0'
    case 'port':
      return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536
        ? undefined
        : 'must be a whole number from 1 to 65535'
    case 'object':
      return isRecord(value) ? undefined : 'must be an object'
    default:
      // Durations are checked by the entry reader.
      return undefined
  }
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** People write numbers and booleans for environment variables, too. */
function isTexts(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.values(value).every((item) => ['string', 'number', 'boolean'].includes(typeof item))
  )
}
