/** Runs one daemon per user. The first process in a folder serves; the others learn where it runs. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { withFileLock } from '@toolwell/core/internal/node'
import { trustedProjects as projectsIn, type TrustedProjects } from '@toolwell/mcp/internal'
import { findDaemon } from '../bridge/find-daemon.js'
import {
  newToken,
  preparePrivateFolder,
  readDaemonFile,
  readToken,
  removeDaemonFile,
  tokenFileIn,
  tokenIn,
  writeDaemonFile,
} from '../bridge/folder.js'
import { readStartTime } from '../bridge/processes.js'
import { type DaemonFile, PROTOCOL } from '../bridge/protocol.js'
import { createGateway, type Gateway, type GatewayOptions } from '../http/gateway.js'
import { fileStorage } from '../storage/index.js'

/** Fixed, because client configs contain it. */
export const DEFAULT_PORT = 7411

export interface DaemonOptions
  extends Omit<GatewayOptions, 'token' | 'tokenHint' | 'key' | 'instance' | 'onStop'> {
  readonly folder: string
  readonly startedBy: DaemonFile['startedBy']
  /** 0 picks a free port. Default: DEFAULT_PORT. */
  readonly port?: number
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string
  /** Arguments for the command, without the folder, if a client has to restart a killed daemon. */
  readonly words?: readonly string[]
  /** Milliseconds without a client after which a daemon started by a bridge stops. */
  readonly idle?: number
  /** Milliseconds for running calls when a newer version replaces the daemon. Default: 25 seconds. */
  readonly drain?: number
}

export interface Daemon {
  readonly file: DaemonFile
  readonly token: string
  readonly url: string
  readonly gateway: Gateway
  /** Resolves with the reason when the daemon has stopped. */
  readonly stopped: Promise<'asked' | 'idle' | 'closed'>
  /** Stops accepting clients, and closes when the running calls have ended. */
  drain(): Promise<void>
  close(): Promise<void>
}

export type DaemonStart =
  | { readonly kind: 'serving'; readonly daemon: Daemon }
  | { readonly kind: 'another'; readonly file: DaemonFile }

/** Another program uses the port. */
export class PortInUse extends Error {
  readonly port: number
  constructor(port: number) {
    super(`Port ${port} is used by another program.`)
    this.port = port
  }
}

const IDLE = 10 * 60_000
const DRAIN = 25_000
/** Milliseconds for which a token is cached. */
const TOKEN_HOLDS = 100

export async function runDaemon(options: DaemonOptions): Promise<DaemonStart> {
  const { folder, startedBy } = options
  preparePrivateFolder(folder)
  return withFileLock(
    join(folder, 'daemon'),
    async (): Promise<DaemonStart> => {
      const found = await findDaemon(folder)
      if (found.kind !== 'none') return { kind: 'another', file: found.file }
      return { kind: 'serving', daemon: await serve(options, startedBy) }
    },
    { staleAfter: 30_000, giveUpAfter: 40_000 },
  )
}

async function serve(options: DaemonOptions, startedBy: DaemonFile['startedBy']): Promise<Daemon> {
  const {
    folder,
    port = DEFAULT_PORT,
    host,
    idle = IDLE,
    drain = DRAIN,
    now = Date.now,
    words = [],
    ...rest
  } = options
  const instance = randomUUID()
  const key = newToken()
  let isMoved = false
  let known = readToken(folder)
  let read = performance.now()
  let stop: (why: 'asked' | 'idle' | 'closed') => void = () => undefined
  const stopping = new Promise<'asked' | 'idle' | 'closed'>((resolve) => {
    stop = resolve
  })
  const gateway = createGateway({
    storage: fileStorage(folder),
    projects: trustedProjects(folder),
    ...rest,
    now,
    instance,
    key,
    token: (isFresh) => {
      // HTTP clients send the token to the program that has the wanted port.
      if (isMoved) return undefined
      if (isFresh || performance.now() - read >= TOKEN_HOLDS) {
        known = tokenIn(folder) ?? known
        read = performance.now()
      }
      return known
    },
    tokenHint: () =>
      isMoved
        ? `Another program uses port ${port}, so this gateway accepts stdio clients only. Free the port and run "toolwell stop". That program may have received the token; if you do not trust it, replace the token: toolwell token --new`
        : `The token is in ${tokenFileIn(folder)}`,
    onStop(why) {
      // Removed first, so that new clients start another daemon instead of waiting for this one.
      removeDaemonFile(folder, instance)
      if (why === 'asked') stop('asked')
      else void gateway.drain(drain).then(() => stop('asked'))
    },
  })
  const listening = await listen(gateway, port, host, startedBy, () => {
    isMoved = true
  })
  const start = readStartTime(process.pid)
  const file: DaemonFile = {
    pid: process.pid,
    port: listening,
    instance,
    key,
    version: options.version,
    protocol: PROTOCOL,
    startedBy,
    startedAt: now(),
    ...(start === '' ? {} : { start }),
    ...(words.length === 0 ? {} : { words }),
    ...(isMoved ? { takenPort: port } : {}),
  }
  try {
    writeDaemonFile(folder, file)
  } catch (error) {
    // Without its file, nobody could find or stop the daemon.
    await gateway.close()
    throw error
  }
  // A bridge connects at once and sends its workspace.
  if (startedBy === 'person') gateway.prepare()
  const watching =
    startedBy === 'bridge'
      ? setInterval(
          () => {
            const { staying, busy, lastUsed } = gateway.activity
            if (staying > 0 || busy > 0) return
            // Without its own file, no client can find this daemon.
            const isFound = readDaemonFile(folder)?.instance === instance
            if (!isFound || now() - lastUsed >= idle) stop('idle')
          },
          Math.min(1000, idle),
        )
      : undefined
  const stopped = stopping.then(async (why) => {
    clearInterval(watching)
    removeDaemonFile(folder, instance)
    await gateway.close()
    return why
  })
  return {
    file,
    token: known,
    url: `http://127.0.0.1:${listening}`,
    gateway,
    stopped,
    async drain() {
      removeDaemonFile(folder, instance)
      await gateway.drain(drain)
      stop('closed')
      await stopped
    },
    async close() {
      stop('closed')
      await stopped
    },
  }
}

/** A daemon started by a bridge may use any port. A person's port is in client configs. */
async function listen(
  gateway: Gateway,
  port: number,
  host: string | undefined,
  startedBy: DaemonFile['startedBy'],
  onMove: () => void,
): Promise<number> {
  try {
    return await gateway.listen(port, host)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isTaken = code === 'EADDRINUSE' || code === 'EACCES'
    if (isTaken && startedBy === 'bridge' && port !== 0) {
      onMove()
      return gateway.listen(0)
    }
    await gateway.close()
    if (!isTaken) throw error
    throw new PortInUse(port)
  }
}

/** Project config files that the user has trusted, kept in the private folder. */
export type { TrustedProjects } from '@toolwell/mcp/internal'

export const trustedProjects = (folder: string): TrustedProjects => projectsIn(folder, preparePrivateFolder)
