/** Config files that are away for a moment count as they were: many editors write a file by removing it first. */
import { readFileSync } from 'node:fs'
import type { ConfigFile } from '@toolwell/mcp'
import type { HallsOptions } from './halls.js'
import { statOf } from './stat.js'

/** Milliseconds for which a file that has gone may come back. */
const AWAY = 5000

interface Kept {
  readonly stamp: string
  readonly text: string
  /** When it was first found to be away. */
  readonly since?: number
}

export function steadyFiles(files: HallsOptions['files'], now: () => number): HallsOptions['files'] {
  const known = new Map<string, Kept>()
  const steady = (file: ConfigFile): ConfigFile => {
    const { path } = file
    if (file.text !== undefined) return file
    const kept = known.get(path)
    const found = statOf(path)
    if (found) {
      const stamp = `${found.mtimeMs} ${found.size} ${found.ino}`
      const text = kept?.stamp === stamp ? kept.text : read(path)
      if (text === undefined) known.delete(path)
      else known.set(path, { stamp, text })
      return file
    }
    if (!kept) return file
    const { since = now() } = kept
    if (now() - since < AWAY) {
      known.set(path, { ...kept, since })
      return { ...file, text: kept.text }
    }
    known.delete(path)
    return file
  }
  return (workspace) => files(workspace).map(steady)
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
