/**
 * The halls of a gateway, one for each set of config files: opened when a caller first needs it, brought up to date when a file
 * changes. Workspaces without a config of their own share one. Each has its own catalogue and its own trust; processes that depend on no
 * folder are those of all.
 */
import { dropUndefined } from '@toolwell/core/internal'
import type { ConfigFile, ConnectOptions, ServerEvent } from '@toolwell/mcp'
import { type ReadOnlyStore, SharedProcesses } from '@toolwell/mcp/internal'
import type { HallProblem } from './broken-entries.js'
import { type Hall, openHall } from './hall.js'
import { statOf } from './stat.js'

/** Where the callers of one workspace are: in a hall that may become another one, and whoever wants to know of changes. */
export interface Place {
  readonly workspace: string | undefined
  readonly hall: Hall
  /** Calls back when what is in it may have changed. Gives the function that ends it. */
  watch(listener: () => void): () => void
}

export type HallEvent =
  | { readonly kind: 'config-read'; readonly files: readonly string[]; readonly servers: number }
  | { readonly kind: 'config-refused'; readonly files: readonly string[]; readonly problem: string }
  /** Something in the config that is in use; the rest of it counts. */
  | ({ readonly kind: 'config-problem' } & HallProblem)
  /** A client came to a folder whose config is not used, because nobody has trusted it. */
  | { readonly kind: 'project-untrusted'; readonly folder: string; readonly file: string }
  /** `config`: the file that a command about the server has to name; undefined where the command reads it by itself. */
  | { readonly kind: 'server'; readonly event: ServerEvent; readonly config: string | undefined }

export interface HallsOptions {
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
  readonly onEvent: (event: HallEvent) => void
}

interface Known {
  readonly hall: Hall
  readonly paths: readonly string[]
  readonly listeners: Set<() => void>
  stamp: string
  /** Problems that were told of. */
  told: readonly HallProblem[]
}

/** Milliseconds between looks at the config files: their dates, read from folders that are in memory. */
const LOOK_EVERY = 1000

export class Halls {
  readonly #options: HallsOptions
  readonly #halls = new Map<string, Known>()
  readonly #places = new Map<string, OwnPlace>()
  readonly #processes = new SharedProcesses()
  readonly #looking: NodeJS.Timeout
  #isClosed = false

  constructor(options: HallsOptions) {
    this.#options = options
    this.#looking = setInterval(() => this.lookAgain(), LOOK_EVERY)
    this.#looking.unref()
  }

  /** Those that are open, each with the workspaces of its callers. */
  get all(): {
    readonly hall: Hall
    readonly workspaces: readonly string[]
    /** Config files that would count and are not there. */
    readonly missing: readonly string[]
    readonly untrusted: readonly { readonly folder: string; readonly file: string }[]
  }[] {
    return [...this.#halls.values()].map(({ hall, paths }) => ({
      hall,
      missing: paths.filter((path) => statOf(path) === undefined),
      untrusted: [...this.#places.values()].flatMap(({ hall: own, workspace, untrusted }) =>
        own === hall && workspace !== undefined && untrusted !== undefined
          ? [{ folder: workspace, file: untrusted }]
          : [],
      ),
      workspaces: [...this.#places.values()].flatMap((place) =>
        place.hall === hall && place.workspace !== undefined ? [place.workspace] : [],
      ),
    }))
  }

  find(workspace: string | undefined): Place {
    const key = workspace ?? ''
    const known = this.#places.get(key)
    if (known) return known
    if (this.#isClosed) throw new Error('The gateway is stopping.')
    const place = new OwnPlace(workspace, this.#hallOf(workspace))
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
  lookAgain(): void {
    if (this.#isClosed) return
    // Only by way of a workspace: a file of a project that is no longer trusted is not read.
    for (const place of this.#places.values()) {
      place.enter(this.#hallOf(place.workspace))
      this.#lookForUntrusted(place)
    }
    const used = new Set([...this.#places.values()].map(({ hall }) => hall))
    for (const [key, { hall }] of this.#halls) {
      if (used.has(hall) || hall.busy > 0) continue
      this.#halls.delete(key)
      void hall.close().catch(() => undefined)
    }
  }

  /** Closes every server. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#looking)
    await Promise.all([...this.#halls.values()].map(({ hall }) => hall.close()))
    this.#processes.close()
  }

  #lookForUntrusted(place: OwnPlace): void {
    const { untrusted, onEvent } = this.#options
    const { workspace, untrusted: before } = place
    if (workspace === undefined) return
    place.untrusted = untrusted?.(workspace)
    if (place.untrusted !== undefined && before === undefined)
      onEvent({ kind: 'project-untrusted', folder: workspace, file: place.untrusted })
  }

  /** Each once, for as long as it is there. */
  #tellProblems(known: Known): void {
    const { problems } = known.hall
    const isTold = (each: HallProblem) =>
      known.told.some(({ problem, goesOn }) => problem === each.problem && goesOn === each.goesOn)
    for (const each of problems) if (!isTold(each)) this.#options.onEvent({ kind: 'config-problem', ...each })
    known.told = problems
  }

  #readAgain(known: Known, files: readonly ConfigFile[]): void {
    const { hall, listeners } = known
    const { onEvent } = this.#options
    const isOther = hall.readAgain(files)
    const paths = files.map(({ path }) => path)
    if (hall.problem !== undefined) onEvent({ kind: 'config-refused', files: paths, problem: hall.problem })
    else if (isOther) {
      onEvent({ kind: 'config-read', files: paths, servers: hall.known.size })
      for (const listener of listeners) listener()
    }
    this.#tellProblems(known)
  }

  #hallOf(workspace: string | undefined): Known {
    const { env, connect, readOnly, command, onEvent } = this.#options
    const all = this.#options.files(workspace)
    // The user's own file counts also before it is there; a project without one is like any other.
    const files = all.filter(({ path }, index) => index === 0 || statOf(path) !== undefined)
    const paths = files.map(({ path }) => path)
    const key = JSON.stringify(paths)
    const stamp = stampOf(files)
    const known = this.#halls.get(key)
    if (known) {
      if (known.stamp !== stamp) {
        known.stamp = stamp
        this.#readAgain(known, files)
      }
      return known
    }
    const listeners = new Set<() => void>()
    const hall = openHall({
      files,
      folder: workspace,
      env,
      connect,
      processes: this.#processes,
      ...dropUndefined({ readOnly, command }),
      onServer: (event, config) => onEvent({ kind: 'server', event, config }),
      onChange: () => {
        for (const listener of listeners) listener()
      },
    })
    const made: Known = { hall, paths, listeners, stamp, told: [] }
    this.#halls.set(key, made)
    this.#tellProblems(made)
    return made
  }
}

class OwnPlace implements Place {
  readonly workspace: string | undefined
  readonly #listeners = new Set<() => void>()
  #known: Known
  untrusted: string | undefined

  constructor(workspace: string | undefined, known: Known) {
    this.workspace = workspace
    this.#known = known
    known.listeners.add(this.#tell)
  }

  get hall(): Hall {
    return this.#known.hall
  }

  enter(known: Known): void {
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

function stampOf(files: readonly ConfigFile[]): string {
  return files
    .map(({ path, text }) => {
      if (text !== undefined) return `${path} ${text}`
      const stat = statOf(path)
      return stat ? `${path} ${stat.mtimeMs} ${stat.size} ${stat.ino}` : path
    })
    .join('\n')
}
