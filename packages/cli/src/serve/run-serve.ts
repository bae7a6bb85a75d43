/** The gateway in this process: says where it is, what happens, and ends when it is asked to. */

import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Daemon, type GatewayEvent, PortInUse, runDaemon, trustedProjects } from '@toolwell/gateway'
import { type DaemonFile, FolderProblem, tokenFileIn } from '@toolwell/gateway/bridge'
import { type ConfigFile, defaultConfigFiles } from '@toolwell/mcp'
import { folderArgument } from '../shared/gateway/folder.js'
import { type Hints, noServersLine } from '../shared/gateway/report-lines.js'
import { Problem } from '../shared/problem.js'
import type { Terminal } from '../shared/terminal.js'
import { version } from '../shared/this-command.js'
import type { ExitCode } from '../shared/verb.js'
import { describeEvent } from './events.js'

export interface ServeOptions {
  readonly folder: string
  readonly port: number | undefined
  readonly config: string | undefined
  readonly isJson: boolean
  /** Lines on clients and calls too; otherwise on what is wrong alone. */
  readonly showsAll: boolean
  readonly byBridge: boolean
}

export async function runServe(options: ServeOptions, terminal: Terminal): Promise<ExitCode> {
  const { folder, port, config, isJson, showsAll, byBridge } = options
  const { output, errors, env } = terminal
  const say = (line: string) => output.write(`${line}\n`).catch(() => undefined)
  /** Where it is comes first; what happens before that is told after it. */
  const early: string[] = []
  let isGreeted = false
  const tell = (line: string) => (isGreeted ? void say(line) : void early.push(line))
  const at = folderArgument(folder, env)
  const hints = { name: terminal.name, at, hasChanged: createTrustCheck(folder) }
  const onEvent = (event: GatewayEvent) => {
    if (isJson) tell(JSON.stringify({ ...event, at: Date.now() }))
    else {
      const line = describeEvent(event, hints)
      if (line !== undefined && (showsAll || line.startsWith('!'))) tell(line)
    }
  }
  const started = await runDaemon({
    folder,
    startedBy: byBridge ? 'bridge' : 'person',
    version: version(),
    ...findConfigFiles(config, folder, terminal),
    env,
    connect: {},
    command: terminal.name,
    onEvent,
    ...(port === undefined ? {} : { port }),
    words: [
      ...(config === undefined ? [] : ['--config', resolve(terminal.folder, config)]),
      ...(port === undefined ? [] : ['--port', String(port)]),
    ],
  }).catch((error) => {
    throw explainError(error)
  })
  if (started.kind === 'another') {
    await errors.write(`toolwell: ${alreadyRuns(started.file, `${terminal.name} stop${at}`)}\n`)
    // For a bridge that is what it wanted.
    return byBridge ? 0 : 1
  }
  const { daemon } = started
  if (isJson)
    await say(JSON.stringify({ kind: 'listening', url: daemon.url, tokenFile: tokenFileIn(folder) }))
  else {
    await say(welcome(daemon, folder, terminal))
    const { halls } = await daemon.gateway.inspect()
    const [own] = halls
    // One that a client started learns from the client which files count: only that there is none can be said before.
    const missing = own?.missing ?? findMissingFile(config, terminal)
    if (own ? own.servers.length === 0 : missing.length > 0)
      await say(noServersLine({ files: [], problems: [], ...own, missing }, terminal.name))
  }
  isGreeted = true
  for (const line of early) await say(line)
  const unwatch = terminal.onInterrupt?.(() => void daemon.close())
  const why = await daemon.stopped.finally(unwatch)
  if (!isJson) await say(why === 'idle' ? 'Stopped: no client was left.' : 'Stopped.')
  return 0
}

function welcome({ url, file, takenPort }: Daemon, folder: string, { name, env }: Terminal): string {
  const at = folderArgument(folder, env)
  return [
    `The gateway is at ${url}/mcp (process ${file.pid}).`,
    ...(takenPort === undefined
      ? []
      : [
          `! Port ${takenPort} is used by another program, so it has another one. Clients over stdio find it there; clients on HTTP that name ${takenPort} do not. For these, free the port, and then: ${name} stop${at}`,
        ]),
    `Its token is in ${tokenFileIn(folder)}; ${name} token${at} prints it.`,
    file.startedBy === 'bridge'
      ? `A client over stdio has started it. It stops ten minutes after the last client, or with: ${name} stop${at}`
      : 'Ctrl-C stops it.',
  ].join('\n')
}

function alreadyRuns({ pid, port, startedBy }: DaemonFile, stop: string): string {
  const runs = `A gateway runs already: process ${pid}, http://127.0.0.1:${port}/mcp.`
  return startedBy === 'bridge'
    ? `${runs} A client over stdio has started it, and clients on HTTP can use it as well. To have it in this terminal instead, stop it, and then give this command again: ${stop}`
    : `${runs} Stop it with: ${stop}`
}

/** What was asked for counts everywhere; otherwise the user's own file, and that of the caller's folder where it is trusted. */
function findConfigFiles(config: string | undefined, home: string, { folder, env }: Terminal) {
  if (config === undefined) {
    const trusted = trustedProjects(home)
    return {
      files: (workspace: string | undefined): ConfigFile[] => {
        const [own, project] = defaultConfigFiles(workspace ?? folder, env)
        const text = workspace === undefined || !project ? undefined : trusted.textOf(project.path)
        const used = project && text !== undefined ? { ...project, text } : undefined
        return [own, used].filter((file) => file !== undefined)
      },
      untrusted: (workspace: string): string | undefined => {
        const [own, project] = defaultConfigFiles(workspace, env)
        if (!project || project.path === own?.path || !existsSync(project.path)) return undefined
        return trusted.textOf(project.path) === undefined ? project.path : undefined
      },
    }
  }
  const path = resolve(folder, config)
  if (!existsSync(path)) throw new Problem(`There is no file ${path}.`, 'Check the path behind --config.')
  return { files: (): ConfigFile[] => [{ path }] }
}

function createTrustCheck(home: string): Hints['hasChanged'] {
  const trusted = trustedProjects(home)
  return (file) => trusted.look(file)?.hasChanged === true
}

function findMissingFile(config: string | undefined, { folder, env }: Terminal): string[] {
  if (config !== undefined) return []
  const [own] = defaultConfigFiles(folder, env)
  return own && !existsSync(own.path) ? [own.path] : []
}

function explainError(error: unknown): unknown {
  if (error instanceof PortInUse)
    return new Problem(error.message, 'Give another with --port PORT, or 0 for any that is free.', {
      reason: 'port-in-use',
    })
  if (error instanceof FolderProblem)
    return new Problem(error.message, '', { reason: 'folder', cause: error })
  return error
}

// `toolwell serve --trust FOLDER`: the config of a project may start its servers from now on, as it is now.

export async function runTrust(
  project: string,
  folder: string,
  { output, folder: here }: Terminal,
): Promise<0> {
  const path = join(resolve(here, project), 'toolwell.json')
  if (!trustedProjects(folder).add(path))
    throw new Problem(
      `There is no file ${path} that can be read.`,
      'Give the folder of a project that has one.',
    )
  await output.write(`The gateway uses ${path} as it is now. A change has to be trusted again.\n`)
  // A client may come to the folder by another name.
  const real = realpathSync(path)
  if (real !== path) trustedProjects(folder).add(real)
  return 0
}
