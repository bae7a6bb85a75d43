/** Which lock counts for which server: the one beside the config file that its entry stands in. Read again when the file is another one. */
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ServerConfig } from '../../config/server-config.js'
import type { Lock } from './lock.js'
import { LOCK_FILE, readLock } from './lock-file.js'

export type LockState =
  | { readonly file: string; readonly lock: Lock; readonly problem?: undefined }
  /** There is one and it cannot be used: then nothing is let through. */
  | { readonly file: string; readonly lock?: undefined; readonly problem: string }

export interface Locks {
  /** As it is on disk now: the same object while that has not changed. Undefined where there is none. */
  of(server: Pick<ServerConfig, 'file'>): LockState | undefined
  /** They may be other ones now, whatever their files look like. */
  forget(): void
}

/** Where the lock of a server is, if it has one. */
export function lockFileOf({ file }: Pick<ServerConfig, 'file'>): string | undefined {
  return file === undefined ? undefined : lockBeside(file)
}

const lockBeside = (config: string) => join(dirname(config), LOCK_FILE)

/** `fixed`: this file for all servers; `false`: none. */
export function createLocks(fixed?: string | false): Locks {
  const known = new Map<string, { readonly stamp: string; readonly state: LockState | undefined }>()
  /** Made once for each config: every call looks at its lock. */
  const paths = new Map<string, string>()
  const beside = (config: string): string => {
    const path = paths.get(config) ?? lockBeside(config)
    paths.set(config, path)
    return path
  }
  return {
    of(server) {
      const own = server.file === undefined ? undefined : beside(server.file)
      const file = fixed === false ? undefined : (fixed ?? own)
      if (file === undefined) return undefined
      // Before it is read: what is written in between shows the next time.
      const stamp = stampOf(file)
      const last = known.get(file)
      if (last?.stamp === stamp) return last.state
      const state = read(file)
      known.set(file, { stamp, state })
      return state
    },
    forget: () => known.clear(),
  }
}

/** A lock is written as a new file: another number even within one tick of the clock. */
function stampOf(file: string): string {
  try {
    // Most have none, and an error costs more than a look.
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
    return stat ? `${stat.mtimeNs}-${stat.size}-${stat.ino}` : 'none'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? ''
  }
}

function read(file: string): LockState | undefined {
  try {
    const lock = readLock(file)
    return lock && { file, lock }
  } catch (error) {
    return { file, problem: error instanceof Error ? error.message : String(error) }
  }
}
