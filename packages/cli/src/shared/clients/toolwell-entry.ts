/** The entry that starts Toolwell in the config of a client: creates, reads and recognises it. */
import { platform } from 'node:os'
import { join, resolve } from 'node:path'
import { createWireName, isRecord } from '@toolwell/core/internal'
import { defaultGatewayFolder, findDaemon, tokenIn } from '@toolwell/gateway/bridge'
import type { Terminal } from '../terminal.js'
import { npmStartFolder } from '../this-command.js'
import { type ClientFile, findHome } from './clients.js'
import { listEntries, parseClient, readClientFile, valueAt } from './read-client.js'
import { type Fields, findShape, type ShapeName } from './shapes.js'

export const ENTRY_NAME = 'toolwell'

export interface EntryOptions {
  /** The client whose permission rules count. */
  readonly client: string
  readonly profile: string | undefined
  /** The name of a token, whose rights count. */
  readonly token: string | undefined
  readonly isAll: boolean
  /** Servers of the client and their names in toolwell.json, if rules may depend on them. */
  readonly own: readonly { readonly name: string; readonly as: string; readonly program: readonly string[] }[]
}

/** The command line of the entry. Both paths are absolute, because clients may start without the PATH of a shell. */
export function entryCommand(
  [node, script]: Terminal['program'],
  { client, profile, token, isAll, own }: EntryOptions,
): [string, ...string[]] {
  const pairs = own.map(({ name, as, program }) => {
    const before = as === name ? '' : encodeURIComponent(name)
    return [encodeURIComponent(as), before, program.join('.')].join('=').replace(/=+$/, '')
  })
  return [
    node,
    script,
    'serve',
    '--stdio',
    '--client',
    client,
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(token === undefined ? [] : ['--token', token]),
    ...(pairs.length === 0 ? [] : ['--own', pairs.join(',')]),
    ...(isAll ? ['--all'] : []),
  ]
}

/** Defaults below the home folder. Toolwell has other folders on macOS and Windows, except for its config. */
const isUnix = platform() !== 'darwin' && platform() !== 'win32'
const OWN_FOLDERS = {
  XDG_CONFIG_HOME: '.config',
  XDG_CACHE_HOME: isUnix ? '.cache' : undefined,
  XDG_DATA_HOME: isUnix ? '.local/share' : undefined,
  XDG_STATE_HOME: isUnix ? '.local/state' : undefined,
}

/**
 * Variables that move the file of the entry, and so the rules of its client. Gemini, Qwen Code and opencode pass other variables
 * on themselves, with the value that counts at that time. CLAUDE_CONFIG_DIR has no default: it also moves `.claude.json`.
 */
const CLIENT_FOLDERS: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  'claude-code': { CLAUDE_CONFIG_DIR: undefined },
  codex: { CODEX_HOME: '.codex' },
  gemini: { GEMINI_CLI_HOME: '.' },
  qwen: { QWEN_HOME: '.qwen' },
}

/** Variables that move folders of Toolwell or of the client. Many clients do not pass them on to the servers that they start. */
export function entryVariables(
  client: string,
  { env, folder }: Pick<Terminal, 'env' | 'folder'>,
): Readonly<Record<string, string>> {
  const known = Object.entries({ ...OWN_FOLDERS, ...CLIENT_FOLDERS[client] })
  const moved = known.flatMap(([name, usual]) => {
    const place = env[name] ? resolve(folder, env[name]) : undefined
    const isUsual = usual !== undefined && place === join(findHome(env), usual)
    return place === undefined || isUsual ? [] : [[name, place] as const]
  })
  return Object.fromEntries(moved)
}

/** Keys with time limits in the entries of all clients. */
const LIMIT_KEYS = [
  'timeout',
  'tool_timeout_sec',
  'startup_timeout_sec',
  'startup_timeout_ms',
  'toolTimeoutMs',
  'startupTimeoutMs',
  'connectionTimeout',
] as const

type Limits = Readonly<Partial<Record<(typeof LIMIT_KEYS)[number], number>>>

/** Returns the longest time limits of entries of one client, in its own keys and units. */
export function readLimits(entries: readonly unknown[]): Limits {
  const longest = (key: string) =>
    Math.max(0, ...entries.flatMap((entry) => (isRecord(entry) && isLimit(entry[key]) ? [entry[key]] : [])))
  const found = LIMIT_KEYS.map((key) => [key, longest(key)] as const)
  const { startup_timeout_ms: ms = 0, ...limits } = Object.fromEntries(
    found.filter(([, limit]) => limit > 0),
  ) as Limits
  if (ms === 0) return limits
  // Codex ignores the milliseconds if an entry has both.
  const { startup_timeout_sec: seconds } = limits
  return seconds === undefined
    ? { ...limits, startup_timeout_ms: ms }
    : { ...limits, startup_timeout_sec: Math.max(seconds, Math.ceil(ms / 1000)) }
}

function isLimit(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER
}

/** `limits`: those of the entries that it replaces. `asked`: tools that Codex asks about. */
export function createEntry(
  shape: ShapeName,
  line: readonly [string, ...string[]],
  limits: Limits,
  variables: Readonly<Record<string, string>>,
  asked: readonly string[] = [],
): Fields {
  const entry = createBareEntry(shape, line)
  const key = shape === 'opencode' ? 'environment' : shape === 'goose' ? 'envs' : 'env'
  const moved = Object.keys(variables).length === 0 ? {} : { [key]: variables }
  const modes = asked.map((tool) => [tool, { approval_mode: 'prompt' }] as const)
  const tools = modes.length === 0 ? {} : { tools: Object.fromEntries(modes) }
  return { ...entry, ...moved, ...readLimits([entry, limits]), ...tools }
}

/** Tools of a server of Codex that ask, by their names in the gateway. `*` stands for every tool of the server. */
export function readAsked(value: unknown, server: string): string[] {
  const { tools, default_tools_approval_mode: usual } = isRecord(value) ? value : {}
  const asked = Object.entries(isRecord(tools) ? tools : {}).filter(
    ([, tool]) => isRecord(tool) && tool.approval_mode === 'prompt',
  )
  return [
    ...(usual === 'prompt' ? [`${server}__*`] : []),
    ...asked.map(([tool]) => createWireName(server, tool)),
  ]
}

/** The profile and the token of an entry for the gateway: in the words of its command line, or in its address. */
export function readScope(entry: unknown): {
  readonly profile: string | undefined
  readonly token: string | undefined
  readonly isAll: boolean
} {
  const words = readCommandLine(entry)
  const wordAfter = (flag: string) => (words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined)
  const address = readAddress(entry)
  const [, , ...path] = URL.canParse(address) ? new URL(address).pathname.split('/') : []
  const isAll = words.includes('--all') || path.at(-1) === 'all'
  const name = path[0] === 'all' || path[0] === '' ? undefined : path[0]
  return {
    profile: wordAfter('--profile') ?? (name === undefined ? undefined : decode(name)),
    token: wordAfter('--token'),
    isAll,
  }
}

/** Keeps invalid escapes: no profile has such a name. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The address of an HTTP entry, or an empty text. */
export function readAddress(entry: unknown): string {
  const { url, httpUrl } = isRecord(entry) ? entry : {}
  return String(httpUrl ?? url ?? '')
}

/** Does an HTTP entry send something else than the user's token? Such a token may have fewer rights. */
export function sendsOtherToken(entry: unknown, env: Terminal['env']): boolean {
  const texts = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : isRecord(value) ? Object.values(value).flatMap(texts) : []
  const sent = Object.entries(isRecord(entry) ? entry : {})
    .filter(([key]) => /header|token|requestOptions/i.test(key))
    .flatMap(([, value]) => texts(value))
    .map((text) => env[text] ?? text.replace(/\$?\{(?:env:)?(\w+)\}/g, (_, name: string) => env[name] ?? ''))
  const token = tokenIn(defaultGatewayFolder(env))
  return sent.some((text) => token === undefined || text.replace(/^Bearer\s+/i, '') !== token)
}

function createBareEntry(shape: ShapeName, [node, ...args]: readonly [string, ...string[]]): Fields {
  switch (shape) {
    case 'claude-code':
    case 'vscode':
      return { type: 'stdio', command: node, args }
    case 'opencode':
      return { type: 'local', command: [node, ...args], enabled: true }
    case 'copilot':
      return { type: 'local', command: node, args, tools: ['*'] }
    case 'zed':
      // Versions before 2026 use `source` to distinguish servers from extensions.
      return { source: 'custom', command: node, args, env: {} }
    case 'goose':
      return {
        enabled: true,
        type: 'stdio',
        name: ENTRY_NAME,
        description: 'The tools of all servers, found by search',
        cmd: node,
        args,
        envs: {},
        timeout: 300,
      }
    default:
      return { command: node, args }
  }
}

/** Reads the command line that an entry of any client starts. */
export function readCommandLine(entry: unknown): string[] {
  if (!isRecord(entry)) return []
  const { command, cmd, args } = entry
  const words = [command ?? cmd, args].flat()
  return words.filter((word): word is string => typeof word === 'string')
}

/** True if an entry starts a Toolwell gateway, from any installation, directly or through npm or a shell. */
export function startsToolwell(entry: unknown): boolean {
  // `sh -c` takes the whole command as one quoted argument.
  const words = readCommandLine(entry)
    .flatMap((word) => word.split(/[\s'"]+/))
    .filter((word) => word !== '' && word !== '--')
  return words.some((word, at) => words[at + 1] === 'serve' && PROGRAM.test(word))
}

/** The program name, the npm package or the script. */
const PROGRAM =
  /(?:^|[\\/])toolwell(?:\.mjs|\.cmd|\.ps1|@[^\\/]*)?$|[\\/](?:packages[\\/]cli|toolwell)[\\/]dist[\\/]main\.js$/

/** Reads the Toolwell entry in a client's file. Unreadable files are ignored: their client reports the error. */
export function readToolwellEntry(from: ClientFile): unknown {
  const { file, shape } = from
  const { format, tables } = findShape(shape)
  let text: string
  try {
    text = readClientFile(from)
  } catch {
    return undefined
  }
  // Fast path: some of these files are large, and most have no such entry.
  if (!text.includes(ENTRY_NAME)) return undefined
  const parsed = parseClient(text, format, file)
  if ('problem' in parsed) return undefined
  return tables
    .flatMap((path) => listEntries(valueAt(parsed.value, path)))
    .find((each) => each.name === ENTRY_NAME)?.entry
}

/** True if an entry (with the keys of toolwell.json) starts or reaches the gateway. Such an entry would make the gateway list itself. */
export type IsGateway = (entry: Fields) => boolean

/** Default ports of `toolwell serve` and `npm start`. */
const USUAL_PORTS = [7411, 7412]

/** Also recognises the ports of the gateways that are running. */
export async function createGatewayCheck({
  env,
  program,
}: Pick<Terminal, 'env' | 'program'>): Promise<IsGateway> {
  const folders = [defaultGatewayFolder(env), npmStartFolder(program)]
  const found = await Promise.all(folders.map((folder) => findDaemon(folder)))
  const ports = found.flatMap((each) => (each.kind === 'none' ? [] : [each.file.port]))
  const own = new Set([...USUAL_PORTS, ...ports])
  return (entry) => startsToolwell(entry) || (typeof entry.url === 'string' && isOwnAddress(entry.url, own))
}

function isOwnAddress(text: string, ports: ReadonlySet<number>): boolean {
  if (!URL.canParse(text)) return false
  const { hostname, port, pathname } = new URL(text)
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
  return isHere && ports.has(Number(port)) && /^\/mcp(?:\/|$)/.test(pathname)
}
