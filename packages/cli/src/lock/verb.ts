/** `toolwell lock`: pins the definitions of servers, checks them, approves what changed. */
import { usageProblem } from '../shared/problem.js'
import { serverFlags, timeoutOf } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'

export const lock = defineVerb({
  name: 'lock',
  summary: 'Pin the definitions of servers in toolwell.lock, check them, and approve what changed.',
  usage: ['[--config FILE] [flags]', '--check [--config FILE]', '--approve SERVER[/TOOL] [--config FILE]'],
  flags: {
    config: serverFlags.config,
    check: {
      type: 'boolean',
      description: 'Change nothing: exit with 1 and a diff where servers differ from the lock.',
    },
    approve: {
      type: 'string',
      valueHint: 'SERVER[/TOOL]',
      description: 'Take a server with all its tools, or one tool, into the lock as it is now.',
    },
    json: { type: 'boolean', description: 'The answer as JSON.' },
    timeout: serverFlags.timeout,
  },
  notes: [
    'The lock is beside the config file that names the server. Every server is started and listed. Where there is a\nlock, what it does not hold can be neither found nor called.',
  ],
  examples: [
    { line: 'toolwell lock', about: 'writes toolwell.lock for the servers as they are' },
    { line: 'toolwell lock --check', about: 'in CI: fails with a diff when a server has changed' },
    { line: 'toolwell lock --approve github/create_issue', about: 'takes one tool as it is now' },
  ],
  exits: {
    0: 'Written or approved; with --check, every lock there is fits. It names servers that none holds.',
    1: 'With --check, something differs or could not be listed; without, something was left out. It says what.',
    2: 'Wrong flags, no config, or a lock that cannot be read or written. Nothing was changed.',
  },
  async run(flags, terminal) {
    const { approve, check, config } = flags
    if (flags._.length > 0)
      throw usageProblem(
        `Unexpected argument ${JSON.stringify(flags._.join(' '))}.`,
        'To approve a server or tool, write: toolwell lock --approve SERVER/TOOL',
      )
    if (approve !== undefined && check)
      throw usageProblem('--check and --approve do not go together.', 'Leave one of them out.')
    const timeout = timeoutOf(flags.timeout)
    const isJson = flags.json === true
    const { withServers } = await import('../shared/servers/with-servers.js')
    const { groupsOf } = await import('./groups.js')
    return withServers({ config, timeout, refresh: true }, terminal, async (open) => {
      const groups = groupsOf(open)
      if (approve !== undefined)
        return (await import('./approve.js')).approveTarget(groups, approve, isJson, terminal)
      if (check) return (await import('./check.js')).checkLocks(groups, isJson, terminal)
      return (await import('./write.js')).writeLocks(groups, isJson, terminal)
    })
  },
})
