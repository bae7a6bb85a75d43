/** How this command is called, its version, and the gateway of its clone. */
import { readFileSync, realpathSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { shellWord } from '@toolwell/gateway/bridge'
import type { Terminal } from './terminal.js'

/** Finds the words that start this command here, so that users can paste the commands in messages. */
export function findCommandName([node, script]: Terminal['program'], env: Terminal['env']): string {
  // npm sets these variables for its scripts.
  if (env.npm_lifecycle_event === 'toolwell') return 'npm run -s toolwell --'
  if (env.npm_command === 'exec') return 'npx toolwell'
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const isOn = (name: string, file: string) =>
    folders.some((folder) => realOf(join(folder, name)) === realOf(file))
  if (isOn('toolwell', script)) return 'toolwell'
  return `${isOn('node', node) ? 'node' : shellWord(node)} ${shellWord(script)}`
}

/** Matches `toolwell COMMAND` in hints of other packages, but not `npx toolwell COMMAND` or a path. */
const HINT =
  /(?<![\w./\\@-]|npx )toolwell (?=(?:approve|calls|connect|dashboard|doctor|import|inspect|learn|ledger|lock|login|logout|logs|postgres|search|serve|status|stop|token|undo)\b)/g

/** Replaces `toolwell COMMAND` in a hint by the words that start this command. Do not use it on text from a server or client. */
export function withCommandName(hint: string, name: string): string {
  return hint.replace(HINT, () => `${name} `)
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
}

export function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}

/** The folder of the gateway that `npm start` runs in this clone. */
export function npmStartFolder([, script]: Terminal['program']): string {
  const clone = resolve(script, '..', '..', '..', '..')
  return join(clone, 'node_modules', '.toolwell-start', 'gateway')
}
