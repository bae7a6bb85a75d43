/** The one entry that starts Toolwell, as each client writes it. */
import { isRecord } from '@toolwell/core/internal'
import type { Fields, ShapeName } from '../import/shapes.js'
import type { Terminal } from '../shared/terminal.js'

export const ENTRY_NAME = 'toolwell'

/** Node and the script by their absolute paths: a client may be started without the PATH of a shell. */
export function entryOf(shape: ShapeName, [node, script]: Terminal['program'], profile?: string): Fields {
  const args = [script, 'serve', '--stdio', ...(profile === undefined ? [] : ['--profile', profile])]
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
export function commandLineOf(entry: unknown): string[] {
  if (!isRecord(entry)) return []
  const { command, cmd, args } = entry
  const words = [command ?? cmd, args].flat()
  return words.filter((word): word is string => typeof word === 'string')
}

/** Whether an entry starts Toolwell, this one or one in another place. */
export function isOurs(entry: unknown): boolean {
  const words = commandLineOf(entry)
  return (
    words.includes('serve') &&
    words.includes('--stdio') &&
    words.some((word) => /(?:^|[\\/])toolwell(?:\.mjs|\.cmd)?$|[\\/]cli[\\/]dist[\\/]main\.js$/.test(word))
  )
}
