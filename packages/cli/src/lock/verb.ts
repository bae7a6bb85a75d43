/** `toolwell lock`: pins the definitions of servers, checks them, approves what changed. */
import { everyValue } from '../shared/flags.js'
import { usageProblem } from '../shared/problem.js'
import { despiteFindings, readTimeout, serverFlags } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'

export const lock = defineVerb({
  name: 'lock',
  summary: 'Pin the definitions of servers in toolwell.lock, check them, and approve what changed.',
  usage: ['[--approve NAME …] [--approve-all] [--config FILE]', '--check [--config FILE]'],
  insteadOfWords: 'To approve a server or tool, write: toolwell lock --approve SERVER/TOOL',
  flags: {
    config: serverFlags.config,
    check: {
      type: 'boolean',
      description: 'Change nothing: exit with 1 and a diff where servers differ from the lock.',
    },
    approve: {
      type: 'string',
      valueHint: 'SERVER[/TOOL]',
      description:
        'Take this change too: of a server with all its tools, or of one tool. May be repeated; * stands for any characters.',
    },
    'approve-all': { type: 'boolean', description: 'Show every change, ask once, and take them all.' },
    'despite-findings': despiteFindings,
    json: { type: 'boolean', description: 'The answer as JSON.' },
    timeout: serverFlags.timeout,
  },
  notes: [
    'The lock is beside the config file that names the server. Every server is started and listed. What is new is added; a\npin of something that has changed, or is gone, stays until you approve the change. Where there is a lock, what it does\nnot hold can be neither found nor called.',
  ],
  examples: [
    { line: 'toolwell lock', about: 'writes toolwell.lock, or adds what is new, and shows what has changed' },
    { line: 'toolwell lock --check', about: 'in CI: fails with a diff when a server has changed' },
    { line: 'toolwell lock --approve github/create_issue', about: 'takes one changed tool as it is now' },
    { line: "toolwell lock --approve 'github/list_*'", about: 'takes several' },
  ],
  exits: {
    0: 'Written, and nothing waits; with --check, every lock there is fits. It names servers that none holds.',
    1: 'Something differs, was left out or could not be listed. It says what.',
    2: 'Wrong flags, no config, or a lock that cannot be read or written. Nothing was changed.',
  },
  async run(flags, terminal) {
    const { check, config } = flags
    const approve = everyValue(flags, 'approve')
    const approveAll = flags['approve-all'] === true
    if ((approve.length > 0 || approveAll) && check)
      throw usageProblem('--check and --approve do not go together.', 'Leave one of them out.')
    const timeout = readTimeout(flags.timeout)
    const isJson = flags.json === true
    const isDespiteFindings = flags['despite-findings'] === true
    const { withServers } = await import('../shared/servers/with-servers.js')
    const { groupServers } = await import('./groups.js')
    return withServers({ config, timeout, refresh: true }, terminal, async (open) => {
      const groups = groupServers(open)
      if (check) return (await import('./check.js')).checkLocks(groups, isJson, terminal)
      return (await import('./write.js')).writeLocks(
        groups,
        { isJson, approve, approveAll, isDespiteFindings },
        terminal,
      )
    })
  },
})
