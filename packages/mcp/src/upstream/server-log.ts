/** What a server writes to its standard error, on disk: whole lines without secrets, bounded, for `toolwell logs`. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '@toolwell/core/internal/node'
import type { ServerConfig } from '../config/server-config.js'
import { sha256 } from '../definition/stored-definition.js'
import { userFolder } from '../definition/user-files.js'

/** One file is at most this long; the one before it is kept. */
const MOST_BYTES = 512 * 1024
/** A line without an end is cut into pieces of this length. */
const MOST_LINE = 16 * 1024
/** What is kept of such a line for the next piece: a secret that has only begun is still whole there. */
const LONGEST_SECRET = 4096

export function defaultLogFolder(env?: Readonly<Record<string, string | undefined>>): string {
  return userFolder('logs', 'logs', env)
}

/** By the config it stands in and its name, as first use is remembered. */
export function findLogFile(
  { name, file = '' }: Pick<ServerConfig, 'name' | 'file'>,
  folder: string,
): string {
  const readable = name.replace(/[^\w-]+/g, '_').slice(0, 40)
  return join(folder, `${readable}-${sha256(JSON.stringify([file, name])).slice(0, 16)}.log`)
}

export interface ServerLog {
  write(text: string): void
  /** The rest, where the last line has no end. */
  end(): void
}

/** Nothing here throws: a log that cannot be written costs nothing but the log. */
export function createServerLog(file: string, hide: (text: string) => string, now: () => number): ServerLog {
  let rest = ''
  let isBroken = false
  const put = (lines: readonly string[]) => {
    if (lines.length === 0 || isBroken) return
    const stamp = new Date(now()).toISOString()
    // A terminal shows it: nothing in it may steer one.
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
      // There is none yet.
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
        const told = hide(rest)
        if (told.length > LONGEST_SECRET) lines.push(told.slice(0, -LONGEST_SECRET))
        rest = told.slice(-LONGEST_SECRET)
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
