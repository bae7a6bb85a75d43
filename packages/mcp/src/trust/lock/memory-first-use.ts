/** What was first seen, for as long as the program runs. */
import type { ServerConfig } from '../../config/server-config.js'
import { type FirstUse, type FirstUseStore, scopeOf } from './first-use.js'

/** For programs that want no files. */
export function memoryFirstUse(): FirstUseStore {
  const kept = new Map<string, { readonly record: FirstUse; readonly stamp: string }>()
  let writes = 0
  /** Made once for each server: every call looks at its record. */
  const keys = new WeakMap<ServerConfig, string>()
  const keyOf = (server: ServerConfig) => {
    const key = keys.get(server) ?? JSON.stringify([scopeOf(server), server.name])
    keys.set(server, key)
    return key
  }
  return {
    read: (server) => kept.get(keyOf(server))?.record,
    write: (server, record) => void kept.set(keyOf(server), { record, stamp: String(++writes) }),
    stamp: (server) => kept.get(keyOf(server))?.stamp ?? '',
  }
}
