/** Servers for as long as one verb works: from the cache where they are known, listed where they are not, gone at the end. */
import { createToolwell, type Toolwell } from '@toolwell/core'
import {
  type Config,
  connectServers,
  defaultCacheFolder,
  diskCache,
  type ServerEvent,
  type Servers,
} from '@toolwell/mcp'
import { withStatus } from '../status.js'
import type { Terminal } from '../terminal.js'
import { readConfig } from './read-config.js'

export interface OpenServers {
  readonly config: Config
  readonly well: Toolwell
  readonly servers: Servers
  /** Everything that was told while they were listed. */
  readonly events: readonly ServerEvent[]
  /** Milliseconds until a server had been listed; absent where it came from the cache or did not answer. */
  readonly took: ReadonlyMap<string, number>
}

export interface OpenOptions {
  readonly config: string | undefined
  /** Milliseconds for each server. */
  readonly timeout: number
  /** List every server now, whatever is cached. */
  readonly refresh: boolean
  /** Whether locks count. A verb that looks at the definitions themselves does without. */
  readonly isLocked?: boolean
}

export async function withServers<T>(
  { config: file, timeout, refresh, isLocked = true }: OpenOptions,
  terminal: Terminal,
  work: (open: OpenServers) => Promise<T>,
): Promise<T> {
  const config = await readConfig(file, terminal)
  const events: ServerEvent[] = []
  const took = new Map<string, number>()
  const started = performance.now()
  const warnings: string[] = []
  const cache = diskCache({
    folder: defaultCacheFolder(terminal.env),
    onWarning: (detail) => warnings.push(detail),
  })
  const well = createToolwell()
  const servers = connectServers(well.catalogue, config, {
    cache,
    connectTimeout: timeout,
    ...(isLocked ? {} : { lock: false }),
    onEvent(event) {
      events.push(event)
      if (event.kind === 'server-listed') took.set(event.server, performance.now() - started)
    },
  })
  const waiting = () =>
    servers
      .inspect()
      .filter(({ state }) => state === 'connecting')
      .map(({ name }) => name)
  try {
    await withStatus(
      () => statusLine(config.servers.length, waiting()),
      terminal,
      async () => {
        // Each has its own time; this one is for all of them together.
        await servers.settled(config.servers.length * timeout + 60_000)
        if (refresh)
          await Promise.all(
            servers
              .inspect()
              .filter(({ name, state }) => state !== 'disabled' && !took.has(name) && state !== 'failed')
              .map(({ name }) => servers.refresh(name).catch(() => undefined)),
          )
        await servers.settled(timeout)
      },
    )
    for (const warning of warnings) await terminal.errors.write(`toolwell: ${warning}\n`)
    return await work({ config, well, servers, events, took })
  } finally {
    await servers.close()
  }
}

function statusLine(all: number, waiting: readonly string[]): string {
  return `Listing servers … ${all - waiting.length} of ${all}${waiting.length > 0 ? `, waiting for ${waiting.join(', ')}` : ''}`
}
