/** The one entry that starts Toolwell, as each client writes it. */

import { readFileSync } from 'node:fs'
import { isRecord } from '@toolwell/core/internal'
import { defaultGatewayFolder, findDaemon } from '@toolwell/gateway/bridge'
import type { Terminal } from '../terminal.js'
import { npmStartFolder } from '../this-command.js'
import type { ClientFile } from './clients.js'
import { listEntries, parseClient, valueAt } from './read-client.js'
import { type Fields, findShape, type ShapeName } from './shapes.js'

export const ENTRY_NAME = 'toolwell'

/** The command line of the entry. Node and the script are absolute: a client may be started without the PATH of a shell. */
export function entryCommand([node, script]: Terminal['program'], profile?: string): [string, ...string[]] {
  return [node, script, 'serve', '--stdio', ...(profile === undefined ? [] : ['--profile', profile])]
}

export function createEntry(shape: ShapeName, [node, ...args]: readonly [string, ...string[]]): Fields {
  switch (shape) {
    case 'claude-code':
    case 'vscode':
      return { type: 'stdio', command: node, args }
    case 'opencode':
      return { type: 'local', command: [node, ...args], enabled: true }
    case 'copilot':
      return { type: 'local', command: node, args, tools: ['*'] }
    case 'zed':
      // Versions before 2026 tell servers from extensions by `source`.
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

/** The command line that an entry of any client starts. */
export function readCommandLine(entry: unknown): string[] {
  if (!isRecord(entry)) return []
  const { command, cmd, args } = entry
  const words = [command ?? cmd, args].flat()
  return words.filter((word): word is string => typeof word === 'string')
}

/** Whether an entry starts the gateway, of this Toolwell or of one in another place: through npm and a shell, too. */
export function startsToolwell(entry: unknown): boolean {
  // A shell is given its words in one, with quotes.
  const words = readCommandLine(entry)
    .flatMap((word) => word.split(/[\s'"]+/))
    .filter((word) => word !== '' && word !== '--')
  return words.some((word, at) => words[at + 1] === 'serve' && PROGRAM.test(word))
}

/** By its name, that of its package, or its script. A folder of that name is no program: `serve` does not follow it. */
const PROGRAM =
  /(?:^|[\\/])toolwell(?:\.mjs|\.cmd|\.ps1|@[^\\/]*)?$|[\\/](?:packages[\\/]cli|toolwell)[\\/]dist[\\/]main\.js$/

// The entry of Toolwell in one file of a client.

/** A file that cannot be read is not looked at: its client tells its user. */
export function readToolwellEntry({ file, shape: name }: ClientFile): unknown {
  const { format, tables } = findShape(name)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  // Some of these files are large, and most have no such entry.
  if (!text.includes(ENTRY_NAME)) return undefined
  const parsed = parseClient(text, format, file)
  if ('problem' in parsed) return undefined
  return tables
    .flatMap((path) => listEntries(valueAt(parsed.value, path)))
    .find((each) => each.name === ENTRY_NAME)?.entry
}

// Entries that are the gateway itself, known by what they start or reach: behind itself it would list and search itself.

/** Of an entry with the keys of toolwell.json. */
export type IsGateway = (entry: Fields) => boolean

/** Those of `toolwell serve` and of `npm start`, where nobody asked for others. */
const USUAL_PORTS = [7411, 7412]

/** Gateways that run are asked for their ports. */
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
