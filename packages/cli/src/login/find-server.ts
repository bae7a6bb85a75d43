/** The server that a word on the command line means, out of the user's config. */
import { nearest } from '@toolwell/core'
import {
  defaultConfigFiles,
  defaultLoginFolder,
  describeProblem,
  diskLogins,
  type LoginStore,
  loadConfig,
  type ServerConfig,
} from '@toolwell/mcp'
import { Problem } from '../problem.js'
import type { Terminal } from '../terminal.js'

export function findServer(name: string, file: string | undefined, { env, folder }: Terminal): ServerConfig {
  const files = file === undefined ? defaultConfigFiles(folder, env) : [file]
  const { servers, problems, files: read } = loadConfig({ files, env, workspaceFolder: folder })
  const server = servers.find((each) => each.name === name)
  if (server) return server
  const errors = problems.filter(({ severity }) => severity === 'error')
  const own = errors.find((problem) => problem.server === name) ?? errors.find((problem) => !problem.server)
  if (own) throw new Problem(describeProblem(own))
  const shown = JSON.stringify(name.slice(0, 60))
  if (read.length === 0)
    throw new Problem(
      `There is no config, and so no server ${shown}.`,
      'Write a toolwell.json, or name a config: --config FILE',
    )
  const known = servers.map((each) => each.name)
  const [meant] = nearest(name, known, 1)
  throw new Problem(
    `No server is called ${shown}.`,
    meant ? `Did you mean ${meant}?` : `Known: ${known.join(', ') || 'none'}.`,
  )
}

/** Logins as the library keeps them, so that every program of the user finds them. */
export async function withLogins<T>(
  { env, errors }: Terminal,
  work: (store: LoginStore) => Promise<T>,
): Promise<T> {
  const warnings: string[] = []
  const store = diskLogins({
    folder: defaultLoginFolder(env),
    onWarning: (detail) => warnings.push(detail),
  })
  try {
    return await work(store)
  } finally {
    for (const warning of new Set(warnings)) await errors.write(`toolwell: ${warning}.\n`)
  }
}
