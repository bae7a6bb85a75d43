/** Stores first-use records in the user's data folder, because a cache may be deleted at any time. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import { describeStart } from '../../config/redact.js'
import type { ServerConfig } from '../../config/server-config.js'
import { sha256 } from '../../definition/stored-definition.js'
import { createUserFiles, userFolder } from '../../definition/user-files.js'
import type { WarningListener } from '../../definition/warning.js'
import { createRecord, type FirstUse, type FirstUseStore, type SeenTool, trustScope } from './first-use.js'

const FORMAT = 1

export interface FirstUseOptions {
  /** Default: `toolwell/first-use` in the user's data folder. */
  readonly folder?: string
  /** Called for files that could not be read or written. */
  readonly onWarning?: WarningListener
}

export function defaultFirstUseFolder(env?: Readonly<Record<string, string | undefined>>): string {
  return userFolder('data', 'first-use', env)
}

export function diskFirstUse({
  folder = defaultFirstUseFolder(),
  onWarning,
}: FirstUseOptions = {}): FirstUseStore {
  const files = createUserFiles(folder, (warning) =>
    onWarning?.(
      warning.code === 'cache-unwritable'
        ? {
            code: 'first-use-unwritable',
            text: `first-use records cannot be stored in ${folder}; changes will not be noticed`,
            fix: 'Make the folder writable, or pin the servers with: toolwell lock',
          }
        : warning,
    ),
  )
  const prefixOf = ({ name }: ServerConfig) => `${name.replace(/[^\w-]+/g, '_').slice(0, 40)}-`
  /** Computed once per server: every call checks the file. */
  const paths = new WeakMap<ServerConfig, string>()
  const fileOf = (server: ServerConfig) => {
    const known = paths.get(server)
    if (known !== undefined) return known
    const own = sha256(JSON.stringify([trustScope(server), server.name])).slice(0, 32)
    const path = join(folder, `${prefixOf(server)}${own}.json`)
    paths.set(server, path)
    return path
  }
  const open = (file: string): Stored | undefined => {
    const text = files.get(file)?.toString('utf8')
    return text === undefined ? undefined : decoded(text)
  }
  const put = (server: ServerConfig, seen: FirstUse) => {
    const stored = { toolwell: FORMAT, scope: trustScope(server), name: server.name, ...seen }
    files.put(fileOf(server), `${JSON.stringify(stored, null, 1)}\n`)
  }
  /**
   * Copies the record after the config folder was moved: its config file is gone, and it was started in the same way, except for
   * the version. The record stays, because the file may come back, and an approval must not be lost or won by that.
   */
  const takeOver = (server: ServerConfig) => {
    if (server.file === undefined || !existsSync(folder)) return
    const start = describeStart(server)
    const found: { readonly at: number; readonly seen: FirstUse }[] = []
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(prefixOf(server)) || !name.endsWith('.json')) continue
      const file = join(folder, name)
      const stored = open(file)
      if (!stored || stored.name !== server.name) continue
      if (stored.scope.startsWith('program ') || existsSync(stored.scope)) continue
      if (unversioned(stored.seen.start) !== unversioned(start)) continue
      found.push({ at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0, seen: stored.seen })
    }
    found.sort((a, b) => b.at - a.at)
    const own = found.find(({ seen }) => seen.start === start) ?? found[0]
    if (own) put(server, own.seen)
  }
  return {
    read(server) {
      const file = fileOf(server)
      if (!existsSync(file)) takeOver(server)
      if (!existsSync(file)) return undefined
      const stored = open(file)
      if (stored) return stored.seen
      files.renameDamaged(
        file,
        'is damaged',
        `changes of ${server.name} since it was first seen cannot be noticed`,
        {
          code: 'first-use-damaged',
          fix: 'Check the server with toolwell inspect, and pin it with toolwell lock',
        },
      )
      return undefined
    },
    write: put,
    stamp(server) {
      try {
        const stat = statSync(fileOf(server), { bigint: true, throwIfNoEntry: false })
        return stat ? `${stat.mtimeNs}-${stat.size}-${stat.ino}` : ''
      } catch {
        return ''
      }
    },
  }
}

/** `@scope/name@1.2.3`, `image:1.2`. */
const unversioned = (start: string) =>
  start.replace(/(?<=[\w-])[@:](?:v?[\d^~*][\w.+-]*|latest|next)(?=\s|$)/g, '')

interface Stored {
  readonly scope: string
  readonly name: string
  readonly seen: FirstUse
}

function decoded(text: string): Stored | undefined {
  try {
    const { toolwell, scope, name, start, instructions, isApproved, tools, folder, commands, commandsFor } =
      JSON.parse(text)
    const isOurs =
      toolwell === FORMAT &&
      [scope, name, start, instructions].every((each) => typeof each === 'string') &&
      isRecord(tools) &&
      Object.values(tools).every(isSeen)
    if (!isOurs) return undefined
    const seen: FirstUse = {
      start,
      instructions,
      ...(isApproved === true ? { isApproved } : {}),
      tools: createRecord(Object.entries(tools as Record<string, SeenTool>)),
      ...(typeof folder === 'string' ? { folder } : {}),
      ...(Array.isArray(commands) ? { commands: commands.map(String) } : {}),
      ...(typeof commandsFor === 'string' ? { commandsFor } : {}),
    }
    return { scope, name, seen }
  } catch {
    return undefined
  }
}

function isSeen(value: unknown): boolean {
  return isRecord(value) && typeof value.fingerprint === 'string' && isRecord(value.definition)
}
