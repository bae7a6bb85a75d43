/** `toolwell logout`: ends a login. Loads the MCP client only when it runs. */
import { databaseFlag } from '../shared/database.js'
import { Problem } from '../shared/problem.js'
import { readServerName, serverFlags } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'

export const logout = defineVerb({
  name: 'logout',
  summary: 'End the login to a remote MCP server, and delete its tokens.',
  usage: ['SERVER [flags]'],
  takesWords: true,
  flags: {
    config: serverFlags.config,
    database: databaseFlag,
    json: { type: 'boolean', description: 'Print the result as JSON.' },
  },
  examples: [{ line: 'toolwell logout notes', about: 'log out of the server called notes in your config' }],
  exits: {
    0: 'You are logged out.',
    1: 'There was no login.',
    2: 'Wrong arguments, or an unknown server.',
  },
  async run(flags, terminal) {
    const name = readServerName(flags._, 'logout')
    const { findServer } = await import('../shared/servers/read-config.js')
    const { withLogins } = await import('../shared/servers/with-servers.js')
    const { logout: endLogin } = await import('@toolwell/mcp')
    const { output, errors } = terminal
    const server = await findServer(name, flags.config, terminal)
    const { found, revoked, detail } = await withLogins(flags.database, terminal, (store) =>
      endLogin(server, { store }),
    ).catch((error: unknown) => {
      const { message } = error as Error
      throw new Problem(
        `The login of ${name} could not be deleted: ${message}.`,
        'Check the permissions of its file.',
        { cause: error },
      )
    })
    if (flags.json)
      await output.write(`${JSON.stringify({ server: name, loggedOut: found, revoked, detail })}\n`)
    else if (found) await output.write(`Logged out of ${name}.\n`)
    if (revoked === 'failed')
      await errors.write(
        `toolwell: The server did not revoke the tokens: ${detail}. They are deleted here, and expire on the server.\n`,
      )
    if (!found) await errors.write(`toolwell: There was no login to ${name}.\n`)
    return found ? 0 : 1
  },
})
