/**
 * The server sets of a gateway, one per set of config files. A set opens when a caller first needs it and reloads when a file
 * changes. Workspaces with the same files share a set. Each set has its own catalogue and trust; all share the processes of
 * servers that do not depend on a folder.
 */
import { type Stats, statSync } from 'node:fs'
import { dropUndefined } from '@toolwell/core/internal'
import type { Telemetry } from '@toolwell/core/telemetry'
import type { ConfigFile, ConnectOptions, ServerEvent } from '@toolwell/mcp'
import { type ReadOnlyStore, readSmallFile, SharedProcesses } from '@toolwell/mcp/internal'
import type { ServerSetProblem } from './broken-servers.js'
import { openServerSet, type ServerSet } from './server-set.js'

/** A workspace and the server set it uses now. */
export interface Place {
  readonly workspace: string | undefined
  readonly serverSet: ServerSet
  /** Calls `listener` when the set or its contents may have changed. Returns a function that stops it. */
  watch(listener: () => void): () => void
}

export type ServerSetEvent =
  | { readonly kind: 'config-read'; readonly files: readonly string[]; readonly servers: number }
  | { readonly kind: 'config-refused'; readonly files: readonly string[]; readonly problem: string }
  /** A problem in the config in use. The rest of the config applies. */
  | ({ readonly kind: 'config-problem' } & ServerSetProblem)
  /** A client works in a folder whose config is skipped because nobody has trusted it. */
  | { readonly kind: 'project-untrusted'; readonly folder: string; readonly file: string }
  /** `config` is the file that a command about the server needs as `--config`. Undefined if the command reads it by default. */
  | { readonly kind: 'server'; readonly event: ServerEvent; readonly config: string | undefined }

export interface ServerSetsOptions {
  /** The config files of a workspace, lowest priority first. */
  readonly files: (workspace: string | undefined) => readonly ConfigFile[]
  /** The config file of a workspace that is skipped until the user trusts it. */
  readonly untrusted?: (workspace: string) => string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly connect: ConnectOptions
  /** Tools that the user approved as read-only. Default: the store in the user's data folder. */
  readonly readOnly?: ReadOnlyStore
  /** The command in lines for the user to paste. Default: `toolwell`. */
  readonly command?: string
  /** Records a span for each request of a client and each request to a server. */
  readonly telemetry?: Telemetry
  readonly onEvent: (event: ServerSetEvent) => void
}

interface OpenSet {
  readonly serverSet: ServerSet
  readonly paths: readonly string[]
  readonly listeners: Set<() => void>
  stamp: string
  /** Problems that were already reported. */
  reported: readonly ServerSetProblem[]
}

/** Milliseconds between checks of the config files. */
const CHECK_INTERVAL = 1000

export class ServerSets {
  readonly #options: ServerSetsOptions
  readonly #sets = new Map<string, OpenSet>()
  readonly #places = new Map<string, WatchedPlace>()
  readonly #processes = new SharedProcesses()
  readonly #checking: NodeJS.Timeout
  #isClosed = false

  constructor(options: ServerSetsOptions) {
    this.#options = options
    this.#checking = setInterval(() => this.checkFiles(), CHECK_INTERVAL)
    this.#checking.unref()
  }

  /** Open sets, each with the workspaces that use it. */
  get all(): {
    readonly serverSet: ServerSet
    readonly workspaces: readonly string[]
    /** Config files that do not exist. */
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
    this.#checkTrust(place)
    return place
  }

  /** Forgets places that are not in `used`. The next check closes sets that nobody uses. */
  release(used: ReadonlySet<Place>): void {
    for (const [key, place] of this.#places) {
      // The user's config stays open for the next caller.
      if (key === '' || used.has(place)) continue
      this.#places.delete(key)
      place.leave()
    }
  }

  /** Stops the processes that only this client used. */
  leave(client: string): void {
    if (this.#isClosed) return
    for (const { serverSet } of this.#sets.values()) serverSet.servers.leave(client)
  }

  /** Reloads changed files. If a file cannot be read, the set stays unchanged. */
  checkFiles(): void {
    if (this.#isClosed) return
    // Reads files only through their workspace, so that a project that lost its trust is skipped.
    for (const place of this.#places.values()) {
      place.enter(this.#findSet(place.workspace))
      this.#checkTrust(place)
    }
    // A pattern without effect is known only after its servers are listed.
    for (const known of this.#sets.values()) this.#reportProblems(known)
    const used = new Set([...this.#places.values()].map(({ serverSet }) => serverSet))
    for (const [key, { serverSet }] of this.#sets) {
      if (used.has(serverSet) || serverSet.busy > 0) continue
      this.#sets.delete(key)
      void serverSet.close().catch(() => undefined)
    }
  }

  /** Stops every server. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#checking)
    await Promise.all([...this.#sets.values()].map(({ serverSet }) => serverSet.close()))
    this.#processes.close()
  }

  #checkTrust(place: WatchedPlace): void {
    const { untrusted, onEvent } = this.#options
    const { workspace, untrusted: before } = place
    if (workspace === undefined) return
    place.untrusted = untrusted?.(workspace)
    if (place.untrusted !== undefined && before === undefined)
      onEvent({ kind: 'project-untrusted', folder: workspace, file: place.untrusted })
  }

  /** Reports each problem once, until it disappears. */
  #reportProblems(known: OpenSet): void {
    const { problems } = known.serverSet
    const isReported = (each: ServerSetProblem) =>
      known.reported.some(
        ({ problem, stillUsed }) => problem === each.problem && stillUsed === each.stillUsed,
      )
    for (const each of problems)
      if (!isReported(each)) this.#options.onEvent({ kind: 'config-problem', ...each })
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
    const { env, connect, readOnly, command, telemetry, onEvent } = this.#options
    const all = this.#options.files(workspace)
    // The user's file counts even before it exists; a project file only if it exists.
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
      ...dropUndefined({ readOnly, command, telemetry }),
      onServer: (event, config) => onEvent({ kind: 'server', event, config }),
      onChange: () => {
        for (const listener of listeners) listener()
      },
    })
    const made: OpenSet = { serverSet, paths, listeners, stamp, reported: [] }
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
    known.listeners.add(this.#notify)
  }

  get serverSet(): ServerSet {
    return this.#known.serverSet
  }

  enter(known: OpenSet): void {
    if (known === this.#known) return
    this.#known.listeners.delete(this.#notify)
    this.#known = known
    known.listeners.add(this.#notify)
    this.#notify()
  }

  leave(): void {
    this.#known.listeners.delete(this.#notify)
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly #notify = (): void => {
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

/** Milliseconds for which a removed file stays active. */
const REMOVAL_GRACE = 5000

interface Kept {
  readonly stamp: string
  /** Undefined if the file could not be read. */
  readonly text: string | undefined
  /** When the file was first found missing. */
  readonly since?: number
}

/** Keeps a removed file active for 5 s, because many editors save a file by removing it first. */
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
      known.set(path, { stamp, text: kept?.stamp === stamp ? kept.text : read(path) })
      return file
    }
    if (kept?.text === undefined) return file
    const { since = now() } = kept
    if (now() - since < REMOVAL_GRACE) {
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
    return readSmallFile(path).toString('utf8')
  } catch {
    return undefined
  }
}

/** Undefined if the path does not exist or cannot be read. */
export function statPath(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
