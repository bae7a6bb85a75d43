/** Servers for as long as one verb works: from the cache where they are known, listed where they are not, gone at the end. */

import { createToolwell, type Toolwell } from '@toolwell/core'
import {
  type Config,
  type ConfigProblem,
  connectServers,
  diskCache,
  diskFirstUse,
  diskLogins,
  type FirstUseStore,
  type LoginStore,
  type Servers,
  type ServerWarning,
} from '@toolwell/mcp'
import {
  defaultCacheFolder,
  defaultFirstUseFolder,
  defaultLogFolder,
  defaultLoginFolder,
  describeWarning,
} from '@toolwell/mcp/internal'
import { withStatus } from '../progress.js'
import type { Terminal } from '../terminal.js'
import { withCommandName } from '../this-command.js'
import { findRefused, type ReadOptions, readConfig } from './read-config.js'

export interface OpenServers {
  readonly config: Config
  /** Servers that the config names and that are not used because of their entry. */
  readonly refused: readonly (ConfigProblem & { readonly server: string })[]
  readonly well: Toolwell
  readonly servers: Servers
  /** What servers were when first seen. */
  readonly firstUse: FirstUseStore
  /** Milliseconds that listing took, of servers that were listed now; missing where a list came from the cache or not at all. */
  readonly took: ReadonlyMap<string, number>
}

export interface OpenOptions extends ReadOptions {
  readonly config: string | undefined
  /** Milliseconds for each server. */
  readonly timeout: number
  /** List every server now, whatever is cached. */
  readonly refresh: boolean
}

export async function withServers<T>(
  { config: file, timeout, refresh, ...reading }: OpenOptions,
  terminal: Terminal,
  work: (open: OpenServers) => Promise<T>,
): Promise<T> {
  const config = await readConfig(file, terminal, reading)
  const took = new Map<string, number>()
  const started = performance.now()
  const warnings: ServerWarning[] = []
  const onWarning = (warning: ServerWarning) => void warnings.push(warning)
  const cache = diskCache({ folder: defaultCacheFolder(terminal.env), onWarning })
  const firstUse = diskFirstUse({ folder: defaultFirstUseFolder(terminal.env), onWarning })
  const logins = diskLogins({ folder: defaultLoginFolder(terminal.env), onWarning })
  const well = createToolwell()
  const servers = connectServers(well.catalogue, config, {
    cache,
    firstUse,
    logs: defaultLogFolder(terminal.env),
    logins,
    connectTimeout: timeout,
    // Verbs that list every server want to know how each is now.
    patient: refresh,
    onEvent(event) {
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
        const again = servers
          .inspect()
          .filter(
            ({ name, state }) => refresh && !took.has(name) && state !== 'disabled' && state !== 'failed',
          )
        await Promise.all(
          again.map(async ({ name }) => {
            const begun = performance.now()
            // Why it failed is in its report.
            const isListed = await servers.refresh(name).then(
              () => true,
              () => false,
            )
            if (isListed) took.set(name, performance.now() - begun)
          }),
        )
        await servers.settled(timeout)
      },
    )
    for (const warning of warnings)
      await terminal.errors.write(`toolwell: ${withCommandName(describeWarning(warning), terminal.name)}\n`)
    return await work({
      config,
      refused: findRefused(config, reading.profile),
      well,
      servers,
      firstUse,
      took,
    })
  } finally {
    await servers.close()
  }
}

function statusLine(all: number, waiting: readonly string[]): string {
  return `Listing servers … ${all - waiting.length} of ${all}${waiting.length > 0 ? `, waiting for ${waiting.join(', ')}` : ''}`
}

// Logins as the library keeps them, so that every program of the user finds them.

/** What is wrong with their files goes to standard error, once and at the end. */
export async function withLogins<T>(
  { env, errors, name }: Terminal,
  work: (store: LoginStore) => Promise<T>,
): Promise<T> {
  const warnings = new Set<string>()
  const store = diskLogins({
    folder: defaultLoginFolder(env),
    onWarning: (warning) => warnings.add(describeWarning(warning)),
  })
  try {
    return await work(store)
  } finally {
    for (const warning of warnings) await errors.write(`toolwell: ${withCommandName(warning, name)}.\n`)
  }
}
