/** How this command is called where it runs, so that a line which names it can be pasted. */
import { realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { shellWord } from '@toolwell/gateway/bridge'
import type { Terminal } from './terminal.js'

export function calledAs([node, script]: Terminal['program'], env: Terminal['env']): string {
  // What npm sets for what it runs.
  if (env.npm_lifecycle_event === 'toolwell') return 'npm run -s toolwell --'
  if (env.npm_command === 'exec') return 'npx toolwell'
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const isOn = (name: string, file: string) =>
    folders.some((folder) => realOf(join(folder, name)) === realOf(file))
  if (isOn('toolwell', script)) return 'toolwell'
  return `${isOn('node', node) ? 'node' : shellWord(node)} ${shellWord(script)}`
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
}
