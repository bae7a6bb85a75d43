/** Opens the servers or logins for the time that a verb runs. */
import { createToolwell, type Toolwell } from '@toolwell/core'
import type { SharedStorage } from '@toolwell/gateway/postgres'
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
import { withDatabase } from '../database.js'
import { withStatus } from '../progress.js'
import type { Terminal } from '../terminal.js'
import { withCommandName } from '../this-command.js'
import { findRefused, type ReadOptions, readConfig } from './read-config.js'

export interface OpenServers {
  readonly config: Config
  /** Servers whose entry in the config is unusable. */
  readonly refused: readonly (ConfigProblem & { readonly server: string })[]
  readonly well: Toolwell
  readonly servers: Servers
  /** Definitions of servers when they were first seen. */
  readonly firstUse: FirstUseStore
  /** Milliseconds that each listing took. Servers from the cache and failed servers are missing. */
  readonly took: ReadonlyMap<string, number>
}

export interface OpenOptions extends ReadOptions {
  readonly config: string | undefined
  /** Milliseconds for each server. */
  readonly timeout: number
  /** List every server, even if it is cached. */
  readonly refresh: boolean
  /** Stores that the replicas of a gateway share. Default: files. */
  readonly shared?: Pick<SharedStorage, 'firstUse' | 'logins'> | undefined
}

/** Connects to the servers, lists those that are not cached, runs `work` and closes the connections. */
export async function withServers<T>(
  { config: file, timeout, refresh, shared, ...reading }: OpenOptions,
  terminal: Terminal,
  work: (open: OpenServers) => Promise<T>,
): Promise<T> {
  const config = await readConfig(file, terminal, reading)
  const took = new Map<string, number>()
  const started = performance.now()
  const warnings: ServerWarning[] = []
  const onWarning = (warning: ServerWarning) => void warnings.push(warning)
  const cache = diskCache({ folder: defaultCacheFolder(terminal.env), onWarning })
  const { firstUse, logins } = shared ?? {
    firstUse: diskFirstUse({ folder: defaultFirstUseFolder(terminal.env), onWarning }),
    logins: diskLogins({ folder: defaultLoginFolder(terminal.env), onWarning }),
  }
  const well = createToolwell()
  const servers = connectServers(well.catalogue, config, {
    cache,
    firstUse,
    logs: defaultLogFolder(terminal.env),
    logins,
    connectTimeout: timeout,
    // Verbs that list every server report its current state.
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
        // Each server has its own timeout. This one limits the sum.
        await servers.settled(config.servers.length * timeout + 60_000)
        const again = servers
          .inspect()
          .filter(
            ({ name, state }) => refresh && !took.has(name) && state !== 'disabled' && state !== 'failed',
          )
        await Promise.all(
          again.map(async ({ name }) => {
            const begun = performance.now()
            // The report of the server has the reason of a failure.
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

/** Opens the logins for `work`, in the database or in files. Prints each warning about the files once. */
export async function withLogins<T>(
  database: string | undefined,
  terminal: Terminal,
  work: (store: LoginStore) => Promise<T>,
): Promise<T> {
  return withDatabase(database, terminal, (shared) =>
    shared ? work(shared.logins) : withLoginFiles(terminal, work),
  )
}

async function withLoginFiles<T>(
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
