/** `toolwell approve`: shows changes of servers, one diff after the other, and asks. */
import { databaseFlag, withDatabase } from '../shared/database.js'
import { usageProblem } from '../shared/problem.js'
import { despiteFindings, readTimeout, serverFlags } from '../shared/servers/flags.js'
import { requireTerminal } from '../shared/terminal.js'
import { defineVerb } from '../shared/verb.js'

export const approve = defineVerb({
  name: 'approve',
  summary: 'Review changes of servers, and approve them.',
  usage: [
    '[SERVER[/TOOL] …] [--yes] [--config FILE]',
    '--read-only [SERVER[/TOOL] …] [--revoke] [--config FILE]',
  ],
  takesWords: true,
  flags: {
    config: serverFlags.config,
    database: databaseFlag,
    'read-only': {
      type: 'boolean',
      description: 'Approve the named tools as read-only, for run_read_only_tool of the gateway.',
    },
    revoke: { type: 'boolean', description: 'Revoke the approval. Only with --read-only.' },
    yes: { type: 'boolean', description: 'Approve the named changes without asking.' },
    'despite-findings': despiteFindings,
    json: { type: 'boolean', description: 'Print the result as JSON. Asks nothing.' },
    timeout: serverFlags.timeout,
  },
  notes: [
    'Starts and lists every server, and compares it with toolwell.lock. Without a lock, it compares with the first definitions\nit saw. On a terminal it shows each change and asks: y approves it, n skips it, all approves it and the rest, quit stops.\nGive names to see only those changes; * matches any characters. Definitions with hard findings need --despite-findings.\nRunning programs notice an approval within a second.',
    'Approving needs a terminal, so that a person decides; automation commits toolwell.lock instead. Without a terminal, only\n--json without names (a list) and --revoke work.',
    'With --read-only and no names, it lists every tool and whether its server calls it read-only. A full name approves that\ntool. A server or a pattern approves only tools that their server calls read-only. If a tool changes, approve it again.',
  ],
  examples: [
    { line: 'toolwell approve', about: 'review one change after the other' },
    {
      line: 'toolwell approve github/create_issue',
      about: 'review one tool',
    },
    { line: "toolwell approve --read-only 'files/read_*'", about: 'let run_read_only_tool call these tools' },
    { line: 'toolwell approve --json', about: 'list the changes for a program, and approve nothing' },
  ],
  exits: {
    0: 'No change waits for approval, or the named ones were approved.',
    1: 'A change still waits, or was not approved because of findings.',
    2: 'Wrong flags or names, no terminal, no config, or an unreadable or unwritable file.',
  },
  async run(flags, terminal) {
    const timeout = readTimeout(flags.timeout)
    const isReadOnly = flags['read-only'] === true
    const isRevoking = flags.revoke === true
    const isJson = flags.json === true
    if (isRevoking && (!isReadOnly || flags._.length === 0))
      throw usageProblem(
        '--revoke needs --read-only and a name.',
        'Write: toolwell approve --read-only --revoke SERVER[/TOOL]',
      )
    const isSure = flags.yes === true
    const isDespiteFindings = flags['despite-findings'] === true
    if (isSure && flags._.length === 0)
      throw usageProblem('--yes needs a name.', 'Write: toolwell approve --yes SERVER[/TOOL]')
    if (isReadOnly && (isSure || isDespiteFindings))
      throw usageProblem(
        `${isSure ? '--yes' : '--despite-findings'} and --read-only cannot be combined.`,
        'Remove one of them.',
      )
    // A list approves nothing, and revoking is always safe.
    if (!(isJson && flags._.length === 0) && !isRevoking) requireTerminal(terminal)
    const { withServers } = await import('../shared/servers/with-servers.js')
    if (isReadOnly) {
      const { runReadOnly } = await import('./run-read-only.js')
      return withDatabase(flags.database, terminal, (shared) =>
        withServers({ config: flags.config, timeout, refresh: true, shared }, terminal, (open) =>
          runReadOnly(open, shared?.readOnly, { targets: flags._, isRevoking, isJson }, terminal),
        ),
      )
    }
    const { runApprove } = await import('./run-approve.js')
    return withDatabase(flags.database, terminal, (shared) =>
      withServers({ config: flags.config, timeout, refresh: true, shared }, terminal, (open) =>
        runApprove(open, { targets: flags._, isJson, isSure, isDespiteFindings }, terminal),
      ),
    )
  },
})
