/** What was first seen, on disk: in the user's folder for data, because a cache may be deleted at any time. */
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
  /** Default: `toolwell/first-use` in the user's folder for data. */
  readonly folder?: string
  /** Told what could not be read or written. The work goes on. */
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
            text: `what servers were when first seen cannot be kept in ${folder}; changes cannot be noticed`,
            fix: 'Make the folder writable, or pin the servers with: toolwell lock',
          }
        : warning,
    ),
  )
  const prefixOf = ({ name }: ServerConfig) => `${name.replace(/[^\w-]+/g, '_').slice(0, 40)}-`
  /** Made once for each server: every call looks at its file. */
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
  /** The folder of the config was moved: its record is the one whose config is gone and that was started the same way, but for the version. */
  const takeOver = (server: ServerConfig) => {
    if (server.file === undefined || !existsSync(folder)) return
    const start = describeStart(server)
    const found: { readonly file: string; readonly seen: FirstUse }[] = []
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(prefixOf(server)) || !name.endsWith('.json')) continue
      const file = join(folder, name)
      const stored = open(file)
      if (!stored || stored.name !== server.name) continue
      if (stored.scope.startsWith('program ') || existsSync(stored.scope)) continue
      if (unversioned(stored.seen.start) === unversioned(start)) found.push({ file, seen: stored.seen })
    }
    const own = found.find(({ seen }) => seen.start === start) ?? found[0]
    if (!own) return
    // Under its new config: a program that still runs with the old one must not take it back.
    put(server, own.seen)
    files.remove(own.file)
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
        `it is not known whether ${server.name} has changed since it was first seen`,
        {
          code: 'first-use-damaged',
          fix: 'Look at the server with toolwell inspect, and pin it with toolwell lock',
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
