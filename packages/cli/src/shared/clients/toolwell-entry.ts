/** The entry that starts Toolwell in the config of a client: creates, reads and recognises it. */
import { isRecord } from '@toolwell/core/internal'
import { defaultGatewayFolder, findDaemon } from '@toolwell/gateway/bridge'
import type { Terminal } from '../terminal.js'
import { npmStartFolder } from '../this-command.js'
import type { ClientFile } from './clients.js'
import { listEntries, parseClient, readClientFile, valueAt } from './read-client.js'
import { type Fields, findShape, type ShapeName } from './shapes.js'

export const ENTRY_NAME = 'toolwell'

export interface EntryOptions {
  /** The client whose permission rules count. */
  readonly client: string
  readonly profile: string | undefined
  readonly isAll: boolean
  /** Servers of the client and their names in toolwell.json, if rules may depend on them. */
  readonly own: readonly { readonly name: string; readonly as: string }[]
}

/** The command line of the entry. Both paths are absolute, because clients may start without the PATH of a shell. */
export function entryCommand(
  [node, script]: Terminal['program'],
  { client, profile, isAll, own }: EntryOptions,
): [string, ...string[]] {
  const pairs = own.map(({ name, as }) => [...new Set([as, name])].map(encodeURIComponent).join('='))
  return [
    node,
    script,
    'serve',
    '--stdio',
    '--client',
    client,
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(pairs.length === 0 ? [] : ['--own', pairs.join(',')]),
    ...(isAll ? ['--all'] : []),
  ]
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

/** `limits`: those of the entries that it replaces. */
export function createEntry(shape: ShapeName, line: readonly [string, ...string[]], limits: Limits): Fields {
  const entry = createBareEntry(shape, line)
  return { ...entry, ...readLimits([entry, limits]) }
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
