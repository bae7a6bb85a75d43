/** Runs the gateway in this process and prints its address and events. Also trusts project configs (`--trust`). */
import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { dashboardFolder } from '@toolwell/dashboard'
import { type Daemon, type GatewayEvent, PortInUse, runDaemon, trustedProjects } from '@toolwell/gateway'
import { type DaemonFile, FolderProblem, tokenFileIn } from '@toolwell/gateway/bridge'
import { type ConfigFile, defaultConfigFiles } from '@toolwell/mcp'
import { openDatabase } from '../shared/database.js'
import { folderArgument, type Hints, noServersLine, stickyLine } from '../shared/gateway.js'
import { Problem } from '../shared/problem.js'
import type { Terminal } from '../shared/terminal.js'
import { version } from '../shared/this-command.js'
import type { ExitCode } from '../shared/verb.js'
import { describeEvent } from './events.js'
import { createOtlp } from './otlp.js'

export interface ServeOptions {
  readonly folder: string
  readonly port: number | undefined
  readonly host: string | undefined
  /** The address of the database that replicas share. */
  readonly database: string | undefined
  readonly config: string | undefined
  /** The collector that gets spans. */
  readonly otlp: URL | undefined
  readonly isJson: boolean
  /** Print clients and calls, not only problems. */
  readonly showsAll: boolean
  readonly byBridge: boolean
}

export async function runServe(options: ServeOptions, terminal: Terminal): Promise<ExitCode> {
  const { folder, port, host, config, database, otlp, isJson, showsAll, byBridge } = options
  const { output, errors, env } = terminal
  const print = (text: string) => {
    // The output of a gateway that a client started is its log.
    const lines =
      byBridge && !isJson ? text.split('\n').map((line) => `${new Date().toISOString()} ${line}`) : [text]
    return output.write(`${lines.join('\n')}\n`).catch(() => undefined)
  }
  /** Events before the address is printed. */
  const early: string[] = []
  let isGreeted = false
  const printEvent = (line: string) => (isGreeted ? void print(line) : void early.push(line))
  const at = folderArgument(folder, env)
  const hints = { name: terminal.name, at, hasChanged: createTrustCheck(folder) }
  const onEvent = (event: GatewayEvent) => {
    if (isJson) printEvent(JSON.stringify({ ...event, at: Date.now() }))
    else {
      const line = describeEvent(event, hints)
      if (line !== undefined && (showsAll || line.startsWith('!'))) printEvent(line)
    }
  }
  const shared = database === undefined ? undefined : await openDatabase(database, terminal)
  const telemetry =
    otlp &&
    createOtlp({
      url: otlp,
      version: version(),
      onLost: (reason) =>
        printEvent(
          isJson
            ? JSON.stringify({ kind: 'spans-lost', reason, at: Date.now() })
            : `! spans could not be sent to ${otlp.origin}: ${reason}`,
        ),
    })
  const started = await runDaemon({
    folder,
    startedBy: byBridge ? 'bridge' : 'person',
    version: version(),
    ...findConfigFiles(config, folder, terminal),
    env,
    connect: shared ? { firstUse: shared.firstUse, logins: shared.logins } : {},
    ...(shared ? { storage: shared.storage, readOnly: shared.readOnly } : {}),
    command: terminal.name,
    dashboard: dashboardFolder,
    linkCommand: `${terminal.name} dashboard${at}`,
    onEvent,
    ...(telemetry ? { telemetry } : {}),
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
    words: [
      ...(config === undefined ? [] : ['--config', resolve(terminal.folder, config)]),
      ...(port === undefined ? [] : ['--port', String(port)]),
    ],
  }).catch(async (error) => {
    await shared?.close()
    throw explainError(error)
  })
  if (started.kind === 'another') {
    await shared?.close()
    await errors.write(`toolwell: ${alreadyRuns(started.file, `${terminal.name} stop${at}`)}\n`)
    // A bridge can use the running gateway.
    return byBridge ? 0 : 1
  }
  const { daemon } = started
  if (isJson)
    await print(JSON.stringify({ kind: 'listening', url: daemon.url, tokenFile: tokenFileIn(folder) }))
  else {
    await print(welcome(daemon, folder, terminal))
    const { serverSets } = await daemon.gateway.inspect()
    const [own] = serverSets
    // A gateway started by a client learns its config files from the client. Here it only knows if the user's own file is missing.
    const missing = own?.missing ?? findMissingFile(config, terminal)
    if (own ? own.servers.length === 0 : missing.length > 0)
      await print(noServersLine({ files: [], problems: [], ...own, missing }, terminal.name))
    if (shared) await print('Tokens, approvals, logins, calls and long results are in the database.')
    const sticky = shared ? stickyLine(serverSets) : undefined
    if (sticky !== undefined) await print(sticky)
    if (host !== undefined && host !== '127.0.0.1' && shared?.storage.tokens.list().length === 0)
      await print(`! Other machines need a token. Add one with: ${terminal.name} token add NAME`)
  }
  isGreeted = true
  for (const line of early) await print(line)
  const unwatch = terminal.onInterrupt?.(
    (signal) => void (signal === 'SIGTERM' ? daemon.drain() : daemon.close()),
  )
  const why = await daemon.stopped.finally(unwatch)
  await telemetry?.close()
  if (!isJson) await print(why === 'idle' ? 'Stopped: no clients left.' : 'Stopped.')
  return 0
}

function welcome({ url, file }: Daemon, folder: string, { name, env }: Terminal): string {
  const at = folderArgument(folder, env)
  return [
    `The gateway listens on ${url}/mcp (process ${file.pid}).`,
    file.takenPort === undefined
      ? `Its token is in ${tokenFileIn(folder)}. Print it with: ${name} token${at}`
      : `! Another program uses port ${file.takenPort}, so the gateway chose another port and accepts stdio clients only. To serve HTTP clients too, free the port and run: ${name} stop${at}`,
    file.startedBy === 'bridge'
      ? `A stdio client started it. It stops ten minutes after the last client, or with: ${name} stop${at}`
      : 'Press Ctrl-C to stop it.',
  ].join('\n')
}

function alreadyRuns({ pid, port, startedBy, takenPort }: DaemonFile, stop: string): string {
  const runs = `A gateway is already running: process ${pid}, http://127.0.0.1:${port}/mcp.`
  const clients =
    takenPort === undefined
      ? ', and HTTP clients can use it too.'
      : `. Another program uses port ${takenPort}, so the gateway accepts stdio clients only.`
  return startedBy === 'bridge'
    ? `${runs} A stdio client started it${clients} To run it in this terminal instead, stop it and run this command again: ${stop}`
    : `${runs} Stop it with: ${stop}`
}

/** Uses the file of `--config` for every client; otherwise the user's own file and the trusted file of the client's folder. */
function findConfigFiles(config: string | undefined, home: string, { folder, env }: Terminal) {
  if (config === undefined) {
    const trusted = trustedProjects(home)
    return {
      files: (workspace: string | undefined): ConfigFile[] => {
        const [own, project] = defaultConfigFiles(workspace ?? folder, env)
        const text = workspace === undefined || !project ? undefined : trusted.readTrusted(project.path)
        const used = project && text !== undefined ? { ...project, text } : undefined
        return [own, used].filter((file) => file !== undefined)
      },
      untrusted: (workspace: string): string | undefined => {
        const [own, project] = defaultConfigFiles(workspace, env)
        if (!project || project.path === own?.path || !existsSync(project.path)) return undefined
        return trusted.readTrusted(project.path) === undefined ? project.path : undefined
      },
    }
  }
  const path = resolve(folder, config)
  if (!existsSync(path)) throw new Problem(`File not found: ${path}.`, 'Check the path after --config.')
  return { files: (): ConfigFile[] => [{ path }] }
}

function createTrustCheck(home: string): Hints['hasChanged'] {
  const trusted = trustedProjects(home)
  return (file) => trusted.read(file)?.hasChanged === true
}

function findMissingFile(config: string | undefined, { folder, env }: Terminal): string[] {
  if (config !== undefined) return []
  const [own] = defaultConfigFiles(folder, env)
  return own && !existsSync(own.path) ? [own.path] : []
}

function explainError(error: unknown): unknown {
  if (error instanceof PortInUse)
    return new Problem(
      error.message,
      'Choose another port with --port PORT, or use --port 0 for any free port.',
      {
        reason: 'port-in-use',
      },
    )
  if (error instanceof FolderProblem)
    return new Problem(error.message, '', { reason: 'folder', cause: error })
  return error
}

/** `toolwell serve --trust FOLDER`: lets the gateway use the current config of a project. */
export async function runTrust(
  project: string,
  folder: string,
  { output, folder: here }: Terminal,
): Promise<0> {
  const path = join(resolve(here, project), 'toolwell.json')
  if (!trustedProjects(folder).add(path))
    throw new Problem(
      `${path} does not exist or is not readable.`,
      'Give a project folder that contains a toolwell.json.',
    )
  await output.write(`The gateway now uses ${path}. If the file changes, trust it again.\n`)
  // A client may name the folder by its real path.
  const real = realpathSync(path)
  if (real !== path) trustedProjects(folder).add(real)
  return 0
}
