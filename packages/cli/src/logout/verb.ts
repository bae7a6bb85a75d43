/** `toolwell logout`. What it does is loaded when it is asked for: it brings the MCP client with it. */
import { serverFlags } from '../shared/servers/flags.js'
import { readServerName } from '../shared/servers/only-server.js'
import { defineVerb } from '../shared/verb.js'

export const logout = defineVerb({
  name: 'logout',
  summary: 'End the login to a remote MCP server, and delete its tokens.',
  usage: ['SERVER [flags]'],
  takesWords: true,
  flags: { config: serverFlags.config, json: { type: 'boolean', description: 'The outcome as JSON.' } },
  examples: [{ line: 'toolwell logout notes', about: 'the server that the config calls notes' }],
  exits: {
    0: 'You are logged out.',
    1: 'There was no login.',
    2: 'Wrong arguments, or no such server.',
  },
  async run(flags, terminal) {
    const name = readServerName(flags._, 'logout')
    const { runLogout } = await import('../logout/run-logout.js')
    return runLogout(name, flags, terminal)
  },
})
