/** `toolwell lock`: pins the definitions of servers, checks them, and approves changes. */
import { everyValue } from '../shared/flags.js'
import { usageProblem } from '../shared/problem.js'
import { despiteFindings, readTimeout, serverFlags } from '../shared/servers/flags.js'
import { requireTerminal } from '../shared/terminal.js'
import { defineVerb } from '../shared/verb.js'

export const lock = defineVerb({
  name: 'lock',
  summary: 'Pin the definitions of servers in toolwell.lock, check them, and approve changes.',
  usage: ['[--approve NAME …] [--approve-all] [--config FILE]', '--check [--config FILE]'],
  insteadOfWords: 'To approve a server or tool, write: toolwell approve SERVER/TOOL',
  flags: {
    config: serverFlags.config,
    check: {
      type: 'boolean',
      description: 'Change nothing. Print a diff and exit with 1 if servers differ from the lock.',
    },
    approve: {
      type: 'string',
      valueHint: 'SERVER[/TOOL]',
      description:
        'Approve the changes of a server or of one tool. Can be repeated; * matches any characters.',
    },
    'approve-all': { type: 'boolean', description: 'Show every change, ask once, and approve all.' },
    'despite-findings': despiteFindings,
    json: { type: 'boolean', description: 'Print the result as JSON.' },
    timeout: serverFlags.timeout,
  },
  notes: [
    'toolwell.lock is in the folder of the config file. Starts and lists every server. Adds new definitions to the lock, but\nkeeps pins of changed or removed ones until you approve the change. Without a terminal, it adds nothing that is\nquarantined, such as a new tool of a server that is already in the lock. With a lock, tools that it does not contain can be\nneither found nor called. Approving needs a terminal, so that a person decides.',
  ],
  examples: [
    { line: 'toolwell lock', about: 'create or extend toolwell.lock, and show changes' },
    { line: 'toolwell lock --check', about: 'in CI: fail with a diff if a server has changed' },
    { line: 'toolwell lock --approve github/create_issue', about: 'approve the change of one tool' },
    { line: "toolwell lock --approve 'github/list_*'", about: 'approve several changes' },
  ],
  exits: {
    0: 'The lock was written and no change waits. With --check: every existing lock matches.',
    1: 'A definition differs or was excluded, or a server could not be listed.',
    2: 'Wrong flags, no terminal for --approve, no config, or an unreadable or unwritable lock. Nothing was changed.',
  },
  async run(flags, terminal) {
    const { check, config } = flags
    const approve = everyValue(flags, 'approve')
    const approveAll = flags['approve-all'] === true
    if ((approve.length > 0 || approveAll) && check)
      throw usageProblem('--check and --approve cannot be combined.', 'Remove one of them.')
    const timeout = readTimeout(flags.timeout)
    if (approve.length > 0 || approveAll) requireTerminal(terminal)
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
