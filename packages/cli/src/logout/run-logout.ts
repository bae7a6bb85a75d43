/** The end of a login, from the terminal. */
import { logout } from '@toolwell/mcp'
import { Problem } from '../shared/problem.js'
import { findServer } from '../shared/servers/find-server.js'
import { withLogins } from '../shared/servers/with-logins.js'
import type { Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'

export async function runLogout(
  name: string,
  flags: { readonly config?: string | undefined; readonly json?: boolean | undefined },
  terminal: Terminal,
): Promise<ExitCode> {
  const { output, errors } = terminal
  const server = await findServer(name, flags.config, terminal)
  const { found, revoked, detail } = await withLogins(terminal, (store) => logout(server, { store })).catch(
    (error: unknown) => {
      const { message } = error as Error
      throw new Problem(
        `The login of ${name} could not be deleted: ${message}.`,
        'Check the permissions of its file.',
        {
          cause: error,
        },
      )
    },
  )
  if (flags.json)
    await output.write(`${JSON.stringify({ server: name, loggedOut: found, revoked, detail })}\n`)
  else if (found) await output.write(`Logged out of ${name}.\n`)
  if (revoked === 'failed')
    await errors.write(
      `toolwell: The server could not be told: ${detail}. The tokens are deleted here, and end there by themselves.\n`,
    )
  if (!found) await errors.write(`toolwell: There was no login to ${name}.\n`)
  return found ? 0 : 1
}
