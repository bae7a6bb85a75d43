/** The endpoints that callers have come to, one for each path and folder: made when first asked for, gone after a long silence. */
import type { Halls, Place } from '../room/halls.js'
import type { Endpoint } from './endpoint.js'
import { type McpPath, writePath } from './path.js'

export interface EndpointsOptions {
  readonly halls: Halls
  readonly make: (place: Place, path: McpPath) => Endpoint
  /** Milliseconds without a caller. */
  readonly idle: number
  readonly now: () => number
}

interface Known {
  readonly endpoint: Endpoint
  lastUsed: number
}

export class Endpoints {
  readonly #options: EndpointsOptions
  readonly #known = new Map<string, Known>()
  readonly #sweeping: NodeJS.Timeout

  constructor(options: EndpointsOptions) {
    this.#options = options
    this.#sweeping = setInterval(() => this.sweep(), Math.min(options.idle, 60_000))
    this.#sweeping.unref()
  }

  find(path: McpPath, workspace: string | undefined): Endpoint {
    const { halls, make, now } = this.#options
    const key = `${writePath(path)} ${workspace ?? ''}`
    const known = this.#known.get(key)
    if (known) {
      known.lastUsed = now()
      return known.endpoint
    }
    const endpoint = make(halls.find(workspace), path)
    this.#known.set(key, { endpoint, lastUsed: now() })
    return endpoint
  }

  /** Ends those that nobody stays at and nobody has asked for long, and lets go of folders that none is left for. */
  sweep(): void {
    const { halls, idle, now } = this.#options
    for (const [key, { endpoint, lastUsed }] of this.#known) {
      const { place, isInUse } = endpoint
      if (isInUse || place.hall.busy > 0 || now() - lastUsed < idle) continue
      this.#known.delete(key)
      void endpoint.close().catch(() => undefined)
    }
    halls.release(new Set([...this.#known.values()].map(({ endpoint }) => endpoint.place)))
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await Promise.all([...this.#known.values()].map(({ endpoint }) => endpoint.close()))
  }
}
