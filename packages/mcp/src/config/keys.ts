/** The keys of a config file: one table from which entries are checked and the JSON Schema for editors is made. */
import { isRecord } from '@toolwell/core/internal'

export type Kind =
  | { readonly kind: 'string' | 'path' | 'url' | 'boolean' | 'strings' | 'texts' | 'duration' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** A time, or false for never. */
  | { readonly kind: 'duration-or-false' }
  /** Yes or no for all tools, or patterns of names. */
  | { readonly kind: 'boolean-or-strings' }
  /** An object of lists of strings. */
  | { readonly kind: 'lists' }
  /** A list of words, or the words in one string. */
  | { readonly kind: 'words' }
  | { readonly kind: 'port' }
  /** A whole number from 0. */
  | { readonly kind: 'count' }
  /** An object with keys of its own. */
  | { readonly kind: 'object'; readonly keys: Readonly<Record<string, Key>> }

export type Key = Kind & { readonly about: string }

/** What starts or reaches a server, as clients write it. */
const REACHED: Readonly<Record<string, Key>> = {
  type: {
    kind: 'choice',
    values: ['stdio', 'http', 'streamable-http', 'streamableHttp', 'sse'],
    about:
      'How the server is reached. Left out: by command or url, and a url that has no Streamable HTTP is tried as SSE.',
  },
  command: {
    kind: 'path',
    about: 'The program to start. A path that begins with . is relative to this file.',
  },
  args: { kind: 'strings', about: 'Its arguments.' },
  env: { kind: 'texts', about: 'Environment variables for it, besides the usual few (PATH, HOME, …).' },
  envFile: {
    kind: 'path',
    about: 'A file of more such variables, as NAME=value lines; relative to this file. Those of env win.',
  },
  cwd: {
    kind: 'path',
    about:
      'The folder it runs in; relative to this file. Default: the workspace folder; with workspace false, the folder of this file, or your home folder for your own config.',
  },
  url: { kind: 'url', about: 'The address of a remote server, without user and password.' },
  headers: { kind: 'texts', about: 'Headers of every request to it.' },
  oauth: {
    kind: 'object',
    about: 'What `toolwell login` needs to know beyond what the server says of itself.',
    keys: {
      clientId: {
        kind: 'string',
        about: 'A client that is registered with the server, or the https address of its metadata document.',
      },
      clientSecret: { kind: 'string', about: 'Its secret: "${NAME_OF_A_VARIABLE}".' },
      scopes: { kind: 'words', about: 'Scopes to ask for, instead of those that the server names.' },
      callbackPort: {
        kind: 'port',
        about: 'The port of the redirect address http://127.0.0.1:PORT/callback, where it is registered.',
      },
    },
  },
}

/** Whoever writes one of these decides what is started or reached, and what is given to it. */
export const REACHED_KEYS: ReadonlySet<string> = new Set(Object.keys(REACHED))

/** How Toolwell treats the server. */
const TREATED: Readonly<Record<string, Key>> = {
  description: {
    kind: 'string',
    about: 'What the server is for, in a line. Searched, and shown in inspect.',
  },
  enabled: { kind: 'boolean', about: 'False: known, and not used. Default: true.' },
  lazy: {
    kind: 'boolean',
    about: 'False: its tools are always sent, and it is started at once and kept running. Default: true.',
  },
  alwaysLoad: {
    kind: 'boolean-or-strings',
    about: 'Tools that are always sent: true for all, or patterns of names.',
  },
  examples: {
    kind: 'lists',
    about:
      'By the name of a tool: requests that it answers, as you would put them. Each counts as one use in a search; nobody sees them.',
  },
  insteadOf: {
    kind: 'texts',
    about:
      'By the name of a tool: what it is to be used for instead of other means ("Use this, not git worktree in the shell."). The model reads it once the tool is loaded.',
  },
  marks: {
    kind: 'boolean',
    about:
      'Whether what the server marks in _meta counts: tools that are always sent (anthropic/alwaysLoad), words for search (anthropic/searchHint). Default: false.',
  },
  surfaceTokens: {
    kind: 'count',
    about:
      'How many tokens of every request the tools of this server may take that are always sent; those beyond are deferred. Default: 1500.',
  },
  allow: {
    kind: 'strings',
    about: 'Only tools whose name fits one of these patterns. * stands for any characters.',
  },
  deny: { kind: 'strings', about: 'No tool whose name fits one of these patterns, whatever allow says.' },
  readOnly: {
    kind: 'strings',
    about:
      'Tools that you hold to change nothing, by patterns of names: the gateway runs them through tool_read, which a client may allow for ever. What a server says of itself does not count.',
  },
  timeout: {
    kind: 'duration',
    about:
      'How long a call may take, or be without a sign of progress where the host watches it: milliseconds, or "30s", "5m". Default: 60s.',
  },
  startTimeout: {
    kind: 'duration',
    about:
      'How long the server may take to start and list its tools. Default: 30s, or what the program says.',
  },
  idle: {
    kind: 'duration-or-false',
    about: 'The server is stopped when unused for so long; false: never. Default: 5m.',
  },
  trust: {
    kind: 'choice',
    values: ['full', 'first-use', 'follow', 'none'],
    about:
      'full: findings are shown and nothing is held back. first-use (default): what looks poisoned, or is not what it was when first seen, is held back. follow: changes are used, and told. none: nothing is used before it is approved, and its annotations are not believed.',
  },
  share: {
    kind: 'choice',
    values: ['all', 'workspace', 'client', 'conversation'],
    about:
      'Who shares one running server: everyone (default; everyone in one folder, where the server may depend on the folder), everyone in one folder in any case, one client, or one conversation.',
  },
  workspace: {
    kind: 'boolean',
    about:
      'Whether the server depends on the folder of a project. True: each folder has its own. False: one serves all, and is not told of folders. Left out: it depends on it, unless it has a cwd or url of its own and nothing names ${workspaceFolder}.',
  },
}

export const SERVER_KEYS: Readonly<Record<string, Key>> = { ...REACHED, ...TREATED }

/** Keys that other clients keep for themselves. They are ignored without a warning. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'dev',
  'gallery',
  'version',
  'watchPaths',
  'transportType',
  'fromGalleryId',
  'metadata',
])

/** Which calls other clients let pass without asking. That is not decided here. */
const APPROVALS: ReadonlySet<string> = new Set(['autoApprove', 'alwaysAllow'])

/** Keys of other clients that say the same in other words. */
const FOREIGN_SERVER_KEYS: Readonly<Record<string, string>> = {
  serverUrl: 'url',
  httpUrl: 'url',
  includeTools: 'allow',
  excludeTools: 'deny',
  disabledTools: 'deny',
}

export type TranslatedKey =
  | { readonly kind: 'known'; readonly name: string; readonly value: unknown; readonly key: Key }
  /** Another client knows what it means, and it cannot be done here. */
  | { readonly kind: 'left' }
  /** Nothing is lost without it. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'unknown' }

/** What a key of a server's entry is here, in whichever client's words it is written. */
export function translateKey(given: string, value: unknown, { isForeign = true } = {}): TranslatedKey {
  if (value === null || value === undefined || BOOKKEEPING.has(given)) return { kind: 'silent' }
  // `trust: true` of another client means "do not ask me", which is not said of definitions.
  const isSwitch = given === 'trust' && typeof value === 'boolean'
  if (APPROVALS.has(given) || (isForeign && isSwitch)) return { kind: 'left' }
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

/** The same within `oauth`. */
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

/** How the agent's own tools are treated, where an agent reads this file itself. */
export const HOST_TOOLS_KEYS: Readonly<Record<string, Key>> = {
  defer: {
    kind: 'strings',
    about:
      'Tools of the agent itself that are deferred like those of servers, by names or patterns. What it cannot do without (in pi: read, bash, edit, write) never is.',
  },
}

export const PROFILE_KEYS: Readonly<Record<string, Key>> = {
  servers: { kind: 'strings', about: 'Servers of the profile, by name or pattern. Default: all.' },
  allow: { kind: 'strings', about: 'Only tools that fit one of these patterns: "read_*", "github/*".' },
  deny: { kind: 'strings', about: 'No tool that fits one of these patterns.' },
}

/** An example of a value that fits. */
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

/** Why a value does not fit its key, in words, or undefined. */
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
      // Times are read, and refused, where their unit is known.
      return undefined
  }
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Numbers and booleans are what people write for an environment variable; null is how some clients say "none". */
function isTexts(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.values(value).every((item) => ['string', 'number', 'boolean'].includes(typeof item))
  )
}
