/** The server that a word on the command line means, out of the user's config. */
import { nearest } from '@toolwell/core/internal'
import type { ServerConfig } from '@toolwell/mcp'
import { Problem } from '../problem.js'
import type { Terminal } from '../terminal.js'
import { readConfig } from './read-config.js'

export async function findServer(
  name: string,
  file: string | undefined,
  terminal: Terminal,
): Promise<ServerConfig> {
  const { servers, problems } = await readConfig(file, terminal)
  const server = servers.find((each) => each.name === name)
  if (server) return server
  const shown = JSON.stringify(name.slice(0, 60))
  const own = problems.filter((problem) => problem.server === name && problem.severity === 'error')
  if (own.length > 0)
    throw new Problem(`The server ${shown} cannot be used as its config stands.`, 'Fix the problems above.', {
      reason: 'broken-config',
      details: { server: name, problems: own },
    })
  const known = servers.map((each) => each.name)
  const [meant] = nearest(name, known, 1)
  throw new Problem(
    `No server is called ${shown}.`,
    meant ? `Did you mean ${meant}?` : `Known: ${known.join(', ')}.`,
    { reason: 'unknown-server', details: { server: name } },
  )
}
