/** Which lock counts for which server: the one beside the config file that its entry stands in. Read once, until told otherwise. */
import { dirname, join } from 'node:path'
import type { ServerConfig } from '../config/server-config.js'
import type { Lock } from './lock.js'
import { LOCK_FILE, readLock } from './lock-file.js'

export type LockState =
  | { readonly file: string; readonly lock: Lock; readonly problem?: undefined }
  /** There is one and it cannot be used: then nothing is let through. */
  | { readonly file: string; readonly lock?: undefined; readonly problem: string }

export interface Locks {
  /** Undefined where there is none. */
  of(server: Pick<ServerConfig, 'file'>): LockState | undefined
  /** They may be other ones now. */
  forget(): void
}

/** Where the lock of a server is, if it has one. */
export function lockFileOf({ file }: Pick<ServerConfig, 'file'>): string | undefined {
  return file === undefined ? undefined : join(dirname(file), LOCK_FILE)
}

/** `fixed`: this file for all servers; `false`: none. */
export function createLocks(fixed?: string | false): Locks {
  const known = new Map<string, LockState | undefined>()
  return {
    of(server) {
      const file = fixed === false ? undefined : (fixed ?? lockFileOf(server))
      if (file === undefined) return undefined
      if (!known.has(file)) known.set(file, read(file))
      return known.get(file)
    },
    forget: () => known.clear(),
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
