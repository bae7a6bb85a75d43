/** Logs standard error of a server on disk for `toolwell logs`: whole lines without secrets, limited in size. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '@toolwell/core/internal/node'
import type { ServerConfig } from '../config/server-config.js'
import { sha256 } from '../definition/stored-definition.js'
import { userFolder } from '../definition/user-files.js'

/** Maximum size of a file. One older file is kept. */
const MOST_BYTES = 512 * 1024
/** Longer lines are cut into pieces. */
const MOST_LINE = 16 * 1024
/** Overlap with the next piece, so that a secret at the cut is recognised. */
const LONGEST_SECRET = 4096

export function defaultLogFolder(env?: Readonly<Record<string, string | undefined>>): string {
  return userFolder('logs', 'logs', env)
}

/** Path of the log, by config file and server name. */
export function findLogFile(
  { name, file = '' }: Pick<ServerConfig, 'name' | 'file'>,
  folder: string,
): string {
  const readable = name.replace(/[^\w-]+/g, '_').slice(0, 40)
  return join(folder, `${readable}-${sha256(JSON.stringify([file, name])).slice(0, 16)}.log`)
}

export interface ServerLog {
  write(text: string): void
  /** Writes the last line if it has no line break. */
  end(): void
}

/** Never throws: if a log cannot be written, only the log is missing. */
export function createServerLog(file: string, hide: (text: string) => string, now: () => number): ServerLog {
  let rest = ''
  let isBroken = false
  const put = (lines: readonly string[]) => {
    if (lines.length === 0 || isBroken) return
    const stamp = new Date(now()).toISOString()
    // Remove control characters, because a terminal shows the log.
    const text = lines
      .map(
        (line) =>
          `${stamp} ${hide(line).replace(/[\p{Cc}\p{Cf}]/gu, (each) => (each === '\t' ? each : ''))}\n`,
      )
      .join('')
    try {
      makeFolder(dirname(file), 0o700)
      if (sizeOf(file) + text.length > MOST_BYTES) renameSync(file, `${file}.1`)
    } catch {
      // The file does not exist yet.
    }
    try {
      appendFileSync(file, text.slice(-MOST_BYTES), { mode: 0o600 })
    } catch {
      isBroken = true
    }
  }
  return {
    write(text) {
      const lines = (rest + text).split(/\r?\n/)
      rest = lines.pop() ?? ''
      if (rest.length > MOST_LINE) {
        const shown = hide(rest)
        if (shown.length > LONGEST_SECRET) lines.push(shown.slice(0, -LONGEST_SECRET))
        rest = shown.slice(-LONGEST_SECRET)
      }
      put(lines)
    },
    end() {
      if (rest !== '') put([rest])
      rest = ''
    },
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size
  } catch {
    return 0
  }
}
