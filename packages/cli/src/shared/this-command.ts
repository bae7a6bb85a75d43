/** How this command is called where it runs, so that a line which names it can be pasted. */

import { readFileSync, realpathSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { shellWord } from '@toolwell/gateway/bridge'
import type { Terminal } from './terminal.js'

export function findCommandName([node, script]: Terminal['program'], env: Terminal['env']): string {
  // What npm sets for what it runs.
  if (env.npm_lifecycle_event === 'toolwell') return 'npm run -s toolwell --'
  if (env.npm_command === 'exec') return 'npx toolwell'
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const isOn = (name: string, file: string) =>
    folders.some((folder) => realOf(join(folder, name)) === realOf(file))
  if (isOn('toolwell', script)) return 'toolwell'
  return `${isOn('node', node) ? 'node' : shellWord(node)} ${shellWord(script)}`
}

/** Of packages below, whose hints know the command by its name alone. One that has the whole of it already is none. */
const HINT =
  /(?<![\w./\\@-]|npx )toolwell (?=(?:approve|connect|doctor|import|inspect|learn|ledger|lock|login|logout|logs|search|serve|status|stop|token|undo)\b)/g

/** A hint with the command as it is called here. Not for what a server or a client has said. */
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

// The version of this command.

export function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}

// The gateway that `npm start` runs, beside the one of the user.

/** Where `npm start` of the clone that this command is in has its gateway. */
export function npmStartFolder([, script]: Terminal['program']): string {
  const clone = resolve(script, '..', '..', '..', '..')
  return join(clone, 'node_modules', '.toolwell-start', 'state', 'toolwell', 'gateway')
}
