/** What was first seen, for as long as the program runs. */
import type { ServerConfig } from '../../config/server-config.js'
import { type FirstUse, type FirstUseStore, scopeOf } from './first-use.js'

/** For programs that want no files. */
export function memoryFirstUse(): FirstUseStore {
  const kept = new Map<string, { readonly record: FirstUse; readonly stamp: string }>()
  let writes = 0
  const keyOf = (server: ServerConfig) => JSON.stringify([scopeOf(server), server.name])
  return {
    read: (server) => kept.get(keyOf(server))?.record,
    write: (server, record) => void kept.set(keyOf(server), { record, stamp: String(++writes) }),
    stamp: (server) => kept.get(keyOf(server))?.stamp ?? '',
  }
}
