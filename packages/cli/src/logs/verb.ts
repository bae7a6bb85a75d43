/** `toolwell logs`: what a local server wrote to its standard error. */

import { serverFlags } from '../shared/servers/flags.js'
import { readServerName } from '../shared/servers/only-server.js'
import { defineVerb } from '../shared/verb.js'

export const logs = defineVerb({
  name: 'logs',
  summary: 'Show what a local server wrote to its standard error.',
  usage: ['SERVER [--follow] [--config FILE]'],
  takesWords: true,
  flags: {
    follow: { type: 'boolean', alias: 'f', description: 'Go on showing what is written, until interrupted.' },
    config: serverFlags.config,
  },
  notes: [
    'Every program of yours that starts the server writes there. Secrets of its config are hidden. About a megabyte is\nkept. No server is started.',
  ],
  examples: [
    { line: 'toolwell logs github', about: 'what there is' },
    { line: 'toolwell logs github --follow', about: 'and what comes' },
  ],
  exits: {
    0: 'Shown.',
    1: 'It has written nothing yet.',
    2: 'Wrong flags or an unknown server.',
  },
  async run(flags, terminal) {
    const name = readServerName(flags._, 'logs')
    const { findServer } = await import('../shared/servers/find-server.js')
    const server = await findServer(name, flags.config, terminal)
    const { showLogs } = await import('./show-logs.js')
    return showLogs(server, flags.follow === true, terminal)
  },
})
