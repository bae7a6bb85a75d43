/** Starts or reaches one server for a place: resolves its folder and references, and opens the connection. */
import { existsSync } from 'node:fs'
import { createDefinitionRedactor, createRedactor } from '../config/redact.js'
import { resolveReferences } from '../config/references.js'
import type { ServerConfig } from '../config/server-config.js'
import { findEntryFolder } from '../config/translate-entry.js'
import { removeFolder, removeSecrets } from '../definition/clean-definition.js'
import type { ServerDefinition } from '../definition/server-definition.js'
import type { Guard } from '../trust/guard.js'
import type { Caller } from './caller.js'
import { type Place, resolveServer } from './choose-place.js'
import { type Connection, openConnection } from './connection.js'
import type { Failures } from './failures.js'
import type { ServerAuth } from './open-client.js'
import { VERSION } from './open-client.js'
import { createServerLog, findLogFile } from './server-log.js'
import { type OpenProcess, processKey, type SharedProcesses } from './shared-processes.js'
import type { Watchdog } from './watchdog.js'

export interface StarterOptions {
  readonly server: ServerConfig
  readonly watchdog: Watchdog
  /** Shared processes. Undefined: no process is shared. */
  readonly processes: SharedProcesses | undefined
  readonly guard: Pick<Guard, 'waitingCommand' | 'recognise'>
  readonly auth: ServerAuth | undefined
  /** Folder for logs of local servers; undefined: no logs. */
  readonly logs: string | undefined
  readonly now: () => number
}

export interface StartRequest {
  readonly place: Place
  /** The server for the folder of the place. */
  readonly server: ServerConfig
  readonly caller: Caller
  /** Known protocol era. */
  readonly era: 'legacy' | 'modern' | undefined
  readonly timeout: number
  readonly signal: AbortSignal
  readonly onListChanged: () => void
}

export class ServerStarter {
  readonly #options: StarterOptions
  /** By folder: the server of the last start. */
  readonly #started = new Map<string, ServerConfig>()
  readonly #redactors = new WeakMap<ServerConfig, (text: string) => string>()

  constructor(options: StarterOptions) {
    this.#options = options
  }

  /** Hides all secrets of the server in a text, including values of references. */
  hide(text: string): string {
    const { auth, server } = this.#options
    const all = [server, ...this.#started.values()]
    return all.reduce((rest, each) => this.#redactorOf(each)(rest), auth?.hide?.(text) ?? text)
  }

  /** Created once per start. */
  #redactorOf(server: ServerConfig): (text: string) => string {
    const known = this.#redactors.get(server) ?? createRedactor(server)
    this.#redactors.set(server, known)
    return known
  }

  /** Removes secrets and the folder from a listed definition, before other code sees it. */
  clean(listed: ServerDefinition, { folder }: Place): ServerDefinition {
    const { server, guard } = this.#options
    const redactor = createDefinitionRedactor(this.#started.get(folder) ?? server)
    const clean = removeSecrets(removeFolder(listed, folder), redactor)
    return folder === '' ? clean : guard.recognise(server, clean, folder)
  }

  /** Returns the server for the folder of a place. Throws if the config cannot be read for it. */
  serverFor({ folder }: Place, failures: Failures): ServerConfig {
    const { server } = this.#options
    const written = resolveServer(server, folder)
    if (!('problem' in written)) return written
    throw failures.make(
      'unavailable',
      `${server.name} cannot be used in ${JSON.stringify(folder)}: ${written.problem}`,
    )
  }

  async start(
    { place, server: written, caller, signal, onListChanged, ...rest }: StartRequest,
    failures: Failures,
  ): Promise<Connection> {
    const { auth, guard, logs, now, processes, watchdog } = this.#options
    const waiting = guard.waitingCommand(written)
    if (waiting !== undefined) throw failures.make('quarantined', waiting)
    const open: OpenProcess = async ({ onResolved, ...user }) => {
      const { signal } = user
      const server = await resolveReferences(written, { folder: commandFolder(written), signal })
      onResolved(server)
      return openConnection({
        ...rest,
        ...user,
        server,
        version: VERSION,
        watchdog,
        capabilities: place.capabilities,
        owner: Object.keys(place.owner).length > 0 ? caller : undefined,
        prefersLegacy: place.era === 'legacy',
        auth,
        hide: (text) => this.hide(text),
        // The values of references are known now.
        log:
          logs === undefined
            ? undefined
            : createServerLog(findLogFile(server, logs), createRedactor(server), now),
      })
    }
    const user = {
      signal,
      onListChanged,
      onResolved: (server: ServerConfig) => void this.#started.set(place.folder, server),
    }
    const key = processKey(written, place)
    return processes && key !== undefined ? processes.open(key, user, open) : open(user)
  }
}

/** Commands run in the folder of the config file. A config may also be a text without a file. */
function commandFolder({ file }: ServerConfig): string {
  const folder = file === undefined ? '' : findEntryFolder(file)
  return existsSync(folder) ? folder : process.cwd()
}
