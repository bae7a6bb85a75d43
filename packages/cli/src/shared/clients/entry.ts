/** The one entry that starts Toolwell, as each client writes it. */
import { isRecord } from '@toolwell/core/internal'
import type { Terminal } from '../terminal.js'
import type { Fields, ShapeName } from './shapes.js'

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
