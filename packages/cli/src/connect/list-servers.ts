/** Lists every server once after `connect`, so that the first client finds all tools in the cache. */
import { plural, sentence } from '../shared/layout.js'
import { withServers } from '../shared/servers/with-servers.js'
import type { Terminal } from '../shared/terminal.js'
import { withCommandName } from '../shared/this-command.js'

/** Milliseconds for each server. The first start may download it. */
const PATIENCE = 60_000

/** Returns lines for the user. A server that fails does not undo the connection. */
export async function listServers(file: string, terminal: Terminal): Promise<string[]> {
  const options = { config: file, timeout: PATIENCE, refresh: false, isQuiet: true, showsRefused: true }
  return withServers(options, terminal, async ({ servers }) => {
    const reports = servers.inspect().filter(({ state }) => state !== 'disabled')
    const listed = reports.filter(({ name }) => servers.definition(name) !== undefined)
    const tools = listed.reduce((sum, each) => sum + each.tools.length, 0)
    return [
      ...(listed.length === 0
        ? []
        : [`Listed ${plural(tools, 'tool')} of ${plural(listed.length, 'server')}.`]),
      ...reports
        .filter((each) => !listed.includes(each))
        .map(({ name, state, reason }) => {
          // Only this reason is a text of Toolwell. Others may quote the server.
          const why = state === 'needs-login' ? withCommandName(reason, terminal.name) : reason
          return `! ${name} could not be listed: ${sentence(why)}`
        }),
    ]
  })
}
