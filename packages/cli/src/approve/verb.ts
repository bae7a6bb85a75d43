/** `toolwell approve`: shows what waits, one diff after the other, and asks. */
import { serverFlags, timeoutOf } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'

export const approve = defineVerb({
  name: 'approve',
  summary: 'Look at what has changed in servers, and approve it.',
  usage: ['[SERVER[/TOOL] …] [--config FILE]'],
  flags: {
    config: serverFlags.config,
    json: { type: 'boolean', description: 'The answer as JSON. Nothing is asked.' },
    timeout: serverFlags.timeout,
  },
  notes: [
    'Every server is started and listed, and compared with toolwell.lock, or with what it was when first seen where there\nis no lock. On a terminal each change is shown, and asked about: y takes it, n leaves it, all takes it and the rest,\nquit stops. Names approve without asking; * stands for any characters. Programs that run notice within a second.',
  ],
  examples: [
    { line: 'toolwell approve', about: 'one change after the other' },
    { line: 'toolwell approve github/create_issue', about: 'takes one tool as it is now' },
    { line: 'toolwell approve --json', about: 'what waits, for a program; nothing is approved' },
  ],
  exits: {
    0: 'Nothing waits any more, or what was named is approved.',
    1: 'Something still waits.',
    2: 'Wrong flags or names, no config, or a file that cannot be read or written.',
  },
  async run(flags, terminal) {
    const timeout = timeoutOf(flags.timeout)
    const { withServers } = await import('../shared/servers/with-servers.js')
    const { runApprove } = await import('./run-approve.js')
    return withServers({ config: flags.config, timeout, refresh: true }, terminal, (open) =>
      runApprove(open, { targets: flags._, isJson: flags.json === true }, terminal),
    )
  },
})
