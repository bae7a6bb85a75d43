/**
 * The serverSets of a gateway, one for each set of config files: opened when a caller first needs it, brought up to date when a file
 * changes. Workspaces without a config of their own share one. Each has its own catalogue and its own trust; processes that depend on no
 * folder are those of all.
 */

import { readFileSync, type Stats, statSync } from 'node:fs'
import { defined } from '@toolwell/core/internal'
import type { ConfigFile, ConnectOptions, ServerEvent } from '@toolwell/mcp'
import { type ReadOnlyStore, SharedProcesses } from '@toolwell/mcp/internal'
import type { ServerSetProblem } from './broken-servers.js'
import { openServerSet, type ServerSet } from './server-set.js'

/** Where the callers of one workspace are: in a serverSet that may become another one, and whoever wants to know of changes. */
export interface Place {
  readonly workspace: string | undefined
  readonly serverSet: ServerSet
  /** Calls back when what is in it may have changed. Gives the function that ends it. */
  watch(listener: () => void): () => void
}

export type ServerSetEvent =
  | { readonly kind: 'config-read'; readonly files: readonly string[]; readonly servers: number }
  | { readonly kind: 'config-refused'; readonly files: readonly string[]; readonly problem: string }
  /** Something in the config that is in use; the rest of it counts. */
  | ({ readonly kind: 'config-problem' } & ServerSetProblem)
  /** A client came to a folder whose config is not used, because nobody has trusted it. */
  | { readonly kind: 'project-untrusted'; readonly folder: string; readonly file: string }
  /** `config`: the file that a command about the server has to name; undefined where the command reads it by itself. */
  | { readonly kind: 'server'; readonly event: ServerEvent; readonly config: string | undefined }

export interface ServerSetsOptions {
  /** The config files that count in a workspace, the weaker first. */
  readonly files: (workspace: string | undefined) => readonly ConfigFile[]
  /** The config file of a workspace that is there and is not used before somebody trusts it. */
  readonly untrusted?: (workspace: string) => string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly connect: ConnectOptions
  /** What a person has approved as read-only. Default: what is in the user's folder for data. */
  readonly readOnly?: ReadOnlyStore
  /** How a person calls the command here, for lines that can be pasted. Default: by its name. */
  readonly command?: string
  readonly onEvent: (event: ServerSetEvent) => void
}

interface OpenSet {
  readonly serverSet: ServerSet
  readonly paths: readonly string[]
  readonly listeners: Set<() => void>
  stamp: string
  /** Problems that were told of. */
  reported: readonly ServerSetProblem[]
}

/** Milliseconds between looks at the config files: their dates, read from folders that are in memory. */
const LOOK_EVERY = 1000

export class ServerSets {
  readonly #options: ServerSetsOptions
  readonly #sets = new Map<string, OpenSet>()
  readonly #places = new Map<string, WatchedPlace>()
  readonly #processes = new SharedProcesses()
  readonly #looking: NodeJS.Timeout
  #isClosed = false

  constructor(options: ServerSetsOptions) {
    this.#options = options
    this.#looking = setInterval(() => this.checkFiles(), LOOK_EVERY)
    this.#looking.unref()
  }

  /** Those that are open, each with the workspaces of its callers. */
  get all(): {
    readonly serverSet: ServerSet
    readonly workspaces: readonly string[]
    /** Config files that would count and are not there. */
    readonly missing: readonly string[]
    readonly untrusted: readonly { readonly folder: string; readonly file: string }[]
  }[] {
    return [...this.#sets.values()].map(({ serverSet, paths }) => ({
      serverSet,
      missing: paths.filter((path) => statPath(path) === undefined),
      untrusted: [...this.#places.values()].flatMap(({ serverSet: own, workspace, untrusted }) =>
        own === serverSet && workspace !== undefined && untrusted !== undefined
          ? [{ folder: workspace, file: untrusted }]
          : [],
      ),
      workspaces: [...this.#places.values()].flatMap((place) =>
        place.serverSet === serverSet && place.workspace !== undefined ? [place.workspace] : [],
      ),
    }))
  }

  find(workspace: string | undefined): Place {
    const key = workspace ?? ''
    const known = this.#places.get(key)
    if (known) return known
    if (this.#isClosed) throw new Error('The gateway is stopping.')
    const place = new WatchedPlace(workspace, this.#findSet(workspace))
    this.#places.set(key, place)
    this.#lookForUntrusted(place)
    return place
  }

  /** Lets go of the places of folders that are not among these; what is then in no use is closed with the next look. */
  release(used: ReadonlySet<Place>): void {
    for (const [key, place] of this.#places) {
      // The user's own config counts for whoever comes next.
      if (key === '' || used.has(place)) continue
      this.#places.delete(key)
      place.leave()
    }
  }

  /** Reads what has changed. What cannot be read leaves everything as it was. */
  checkFiles(): void {
    if (this.#isClosed) return
    // Only by way of a workspace: a file of a project that is no longer trusted is not read.
    for (const place of this.#places.values()) {
      place.enter(this.#findSet(place.workspace))
      this.#lookForUntrusted(place)
    }
    const used = new Set([...this.#places.values()].map(({ serverSet }) => serverSet))
    for (const [key, { serverSet }] of this.#sets) {
      if (used.has(serverSet) || serverSet.busy > 0) continue
      this.#sets.delete(key)
      void serverSet.close().catch(() => undefined)
    }
  }

  /** Closes every server. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#looking)
    await Promise.all([...this.#sets.values()].map(({ serverSet }) => serverSet.close()))
    this.#processes.close()
  }

  #lookForUntrusted(place: WatchedPlace): void {
    const { untrusted, onEvent } = this.#options
    const { workspace, untrusted: before } = place
    if (workspace === undefined) return
    place.untrusted = untrusted?.(workspace)
    if (place.untrusted !== undefined && before === undefined)
      onEvent({ kind: 'project-untrusted', folder: workspace, file: place.untrusted })
  }

  /** Each once, for as long as it is there. */
  #reportProblems(known: OpenSet): void {
    const { problems } = known.serverSet
    const isTold = (each: ServerSetProblem) =>
      known.reported.some(
        ({ problem, stillUsed: goesOn }) => problem === each.problem && goesOn === each.stillUsed,
      )
    for (const each of problems) if (!isTold(each)) this.#options.onEvent({ kind: 'config-problem', ...each })
    known.reported = problems
  }

  #reload(known: OpenSet, files: readonly ConfigFile[]): void {
    const { serverSet, listeners } = known
    const { onEvent } = this.#options
    const isOther = serverSet.reload(files)
    const paths = files.map(({ path }) => path)
    if (serverSet.problem !== undefined)
      onEvent({ kind: 'config-refused', files: paths, problem: serverSet.problem })
    else if (isOther) {
      onEvent({ kind: 'config-read', files: paths, servers: serverSet.known.size })
      for (const listener of listeners) listener()
    }
    this.#reportProblems(known)
  }

  #findSet(workspace: string | undefined): OpenSet {
    const { env, connect, readOnly, command, onEvent } = this.#options
    const all = this.#options.files(workspace)
    // The user's own file counts also before it is there; a project without one is like any other.
    const files = all.filter(({ path }, index) => index === 0 || statPath(path) !== undefined)
    const paths = files.map(({ path }) => path)
    const key = JSON.stringify(paths)
    const stamp = createStamp(files)
    const known = this.#sets.get(key)
    if (known) {
      if (known.stamp !== stamp) {
        known.stamp = stamp
        this.#reload(known, files)
      }
      return known
    }
    const listeners = new Set<() => void>()
    const serverSet = openServerSet({
      files,
      folder: workspace,
      env,
      connect,
      processes: this.#processes,
      ...defined({ readOnly, command }),
      onServer: (event, config) => onEvent({ kind: 'server', event, config }),
      onChange: () => {
        for (const listener of listeners) listener()
      },
    })
    const made: OpenSet = { serverSet: serverSet, paths, listeners, stamp, reported: [] }
    this.#sets.set(key, made)
    this.#reportProblems(made)
    return made
  }
}

class WatchedPlace implements Place {
  readonly workspace: string | undefined
  readonly #listeners = new Set<() => void>()
  #known: OpenSet
  untrusted: string | undefined

  constructor(workspace: string | undefined, known: OpenSet) {
    this.workspace = workspace
    this.#known = known
    known.listeners.add(this.#tell)
  }

  get serverSet(): ServerSet {
    return this.#known.serverSet
  }

  enter(known: OpenSet): void {
    if (known === this.#known) return
    this.#known.listeners.delete(this.#tell)
    this.#known = known
    known.listeners.add(this.#tell)
    this.#tell()
  }

  leave(): void {
    this.#known.listeners.delete(this.#tell)
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly #tell = (): void => {
    for (const listener of this.#listeners) listener()
  }
}

function createStamp(files: readonly ConfigFile[]): string {
  return files
    .map(({ path, text }) => {
      if (text !== undefined) return `${path} ${text}`
      const stat = statPath(path)
      return stat ? `${path} ${stat.mtimeMs} ${stat.size} ${stat.ino}` : path
    })
    .join('\n')
}

// Config files that are away for a moment count as they were: many editors write a file by removing it first.

/** Milliseconds for which a file that has gone may come back. */
const AWAY = 5000

interface Kept {
  readonly stamp: string
  readonly text: string
  /** When it was first found to be away. */
  readonly since?: number
}

export function keepRemovedFiles(
  files: ServerSetsOptions['files'],
  now: () => number,
): ServerSetsOptions['files'] {
  const known = new Map<string, Kept>()
  const steady = (file: ConfigFile): ConfigFile => {
    const { path } = file
    if (file.text !== undefined) return file
    const kept = known.get(path)
    const found = statPath(path)
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

// What there is at a path; undefined where nothing can be said of it, for whatever reason: a config is looked at every second.

export function statPath(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
