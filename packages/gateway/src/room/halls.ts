/** The halls of a gateway, one for each workspace: opened when first asked for, and again when their config changes. */
import { statSync } from 'node:fs'
import { type ConnectOptions, describeProblem, type ServerEvent } from '@toolwell/mcp'
import { type Hall, openHall } from './hall.js'
import { brokenFiles, type HallConfig, type HallConfigOptions, readHallConfig } from './hall-config.js'
import type { Room } from './room.js'

/** A hall over time: what it is now, and whoever wants to know when that changes. */
export interface HallPlace {
  readonly workspace: string | undefined
  readonly hall: () => Hall
  /** The names of the profiles that there are. */
  readonly profiles: readonly string[]
  /** Undefined where there is no such profile, or none any more. */
  room(profile: string | undefined): Room | undefined
  /** What is wrong with the config that was written last, where an older one is still in use. */
  readonly problem: string | undefined
  /** Calls back when what is in it may have changed. Gives the function that ends it. */
  watch(listener: () => void): () => void
}

export type HallEvent =
  | { readonly kind: 'config-read'; readonly workspace: string | undefined; readonly servers: number }
  | { readonly kind: 'config-refused'; readonly workspace: string | undefined; readonly problem: string }
  | { readonly kind: 'server'; readonly workspace: string | undefined; readonly event: ServerEvent }

export interface HallsOptions extends HallConfigOptions {
  readonly connect: ConnectOptions
  readonly onEvent: (event: HallEvent) => void
}

/** Milliseconds between looks at the config files: their dates, read from folders that are in memory. */
const LOOK_EVERY = 1000

export class Halls {
  readonly #options: HallsOptions
  readonly #places = new Map<string, Place>()
  readonly #looking: NodeJS.Timeout
  readonly #leaving = new Set<Promise<void>>()
  #isClosed = false

  constructor(options: HallsOptions) {
    this.#options = options
    this.#looking = setInterval(() => this.lookAgain(), LOOK_EVERY)
    this.#looking.unref()
  }

  get all(): HallPlace[] {
    return [...this.#places.values()]
  }

  find(workspace: string | undefined): HallPlace {
    const key = workspace ?? ''
    const known = this.#places.get(key)
    if (known) return known
    if (this.#isClosed) throw new Error('The gateway is stopping.')
    const config = readHallConfig(this.#options, workspace)
    const place = new Place(workspace, this.#stampOf(workspace), (onChange) =>
      this.#open(workspace, config, onChange),
    )
    this.#places.set(key, place)
    return place
  }

  /** Reads the configs again that have changed. What cannot be read leaves everything as it was. */
  lookAgain(): void {
    if (this.#isClosed) return
    for (const place of this.#places.values()) {
      const stamp = this.#stampOf(place.workspace)
      if (stamp === place.stamp) continue
      place.stamp = stamp
      this.#readAgain(place)
    }
  }

  /** Closes every server. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#looking)
    for (const place of this.#places.values()) this.#leave(place.hall())
    await Promise.all(this.#leaving)
  }

  #readAgain(place: Place): void {
    const { workspace } = place
    const { onEvent } = this.#options
    const config = readHallConfig(this.#options, workspace)
    const [broken] = brokenFiles(config)
    place.problem = broken && describeProblem(broken)
    if (place.problem !== undefined) {
      onEvent({ kind: 'config-refused', workspace, problem: place.problem })
      return
    }
    const before = place.hall()
    if (isSame(config, before.config)) return
    place.enter((onChange) => this.#open(workspace, config, onChange))
    this.#leave(before)
    onEvent({ kind: 'config-read', workspace, servers: config.servers.length })
  }

  #open(workspace: string | undefined, config: HallConfig, onChange: () => void): Hall {
    const { connect, onEvent } = this.#options
    return openHall({
      config,
      connect,
      onServer: (event) => onEvent({ kind: 'server', workspace, event }),
      onChange,
    })
  }

  #leave(hall: Hall): void {
    const left: Promise<void> = (this.#isClosed ? hall.servers.close() : hall.close()).finally(() =>
      this.#leaving.delete(left),
    )
    this.#leaving.add(left)
  }

  #stampOf(workspace: string | undefined): string {
    return this.#options
      .files(workspace)
      .map(({ path }) => {
        const stat = statSync(path, { throwIfNoEntry: false })
        return stat ? `${path} ${stat.mtimeMs} ${stat.size} ${stat.ino}` : path
      })
      .join('\n')
  }
}

class Place implements HallPlace {
  readonly workspace: string | undefined
  stamp: string
  problem: string | undefined
  readonly #listeners = new Set<() => void>()
  #hall: Hall

  constructor(workspace: string | undefined, stamp: string, open: (onChange: () => void) => Hall) {
    this.workspace = workspace
    this.stamp = stamp
    this.#hall = open(this.#tell)
  }

  readonly hall = (): Hall => this.#hall

  get profiles(): string[] {
    return Object.keys(this.#hall.config.profiles)
  }

  room(profile: string | undefined): Room | undefined {
    return this.#hall.room(profile)
  }

  enter(open: (onChange: () => void) => Hall): void {
    this.#hall = open(this.#tell)
    this.#tell()
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly #tell = (): void => {
    for (const listener of this.#listeners) listener()
  }
}

function isSame(a: HallConfig, b: HallConfig): boolean {
  const written = ({ servers, homeless, scan, profiles }: HallConfig) =>
    JSON.stringify([servers, homeless, scan, profiles])
  return written(a) === written(b)
}
