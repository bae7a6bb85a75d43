/** `toolwell approve`: shows what waits, one diff after the other, and asks. */

import { usageProblem } from '../shared/problem.js'
import { despiteFindings, readTimeout, serverFlags } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'

export const approve = defineVerb({
  name: 'approve',
  summary: 'Look at what has changed in servers, and approve it.',
  usage: [
    '[SERVER[/TOOL] …] [--yes] [--config FILE]',
    '--read-only [SERVER[/TOOL] …] [--revoke] [--config FILE]',
  ],
  takesWords: true,
  flags: {
    config: serverFlags.config,
    'read-only': {
      type: 'boolean',
      description: 'Tools that change nothing: those named are approved for tool_read of the gateway.',
    },
    revoke: { type: 'boolean', description: 'Takes that back. Only with --read-only.' },
    yes: { type: 'boolean', description: 'Take what is named without asking, on a terminal too.' },
    'despite-findings': despiteFindings,
    json: { type: 'boolean', description: 'The answer as JSON. Nothing is asked.' },
    timeout: serverFlags.timeout,
  },
  notes: [
    'Every server is started and listed, and compared with toolwell.lock, or with what it was when first seen where there\nis no lock. On a terminal each change is shown, and asked about: y takes it, n leaves it, all takes it and the rest,\nquit stops. With names, only those are shown and asked about; * stands for any characters. Without a terminal, names\napprove. What has hard findings of the scan is left, unless --despite-findings is given. Programs that run notice\nwithin a second.',
    'With --read-only, nothing is compared: without names, every tool is shown with what its server says of it. A tool that\nis named in full is approved whatever its server says; a server or a pattern means those of its tools that the\nserver calls read-only. An approval holds for the tool as it is: one that changes has to be approved again.',
  ],
  examples: [
    { line: 'toolwell approve', about: 'one change after the other' },
    {
      line: 'toolwell approve github/create_issue',
      about: 'shows one tool, asks, and takes it as it is now',
    },
    { line: "toolwell approve --read-only 'files/read_*'", about: 'tool_read may call these' },
    { line: 'toolwell approve --json', about: 'what waits, for a program; nothing is approved' },
  ],
  exits: {
    0: 'Nothing waits any more, or what was named is approved.',
    1: 'Something still waits, or was left because of what the scan found.',
    2: 'Wrong flags or names, no config, or a file that cannot be read or written.',
  },
  async run(flags, terminal) {
    const timeout = readTimeout(flags.timeout)
    const isReadOnly = flags['read-only'] === true
    const isRevoking = flags.revoke === true
    const isJson = flags.json === true
    if (isRevoking && (!isReadOnly || flags._.length === 0))
      throw usageProblem(
        '--revoke takes back what was approved as read-only.',
        'Write: toolwell approve --read-only --revoke SERVER[/TOOL]',
      )
    const isSure = flags.yes === true
    const isDespiteFindings = flags['despite-findings'] === true
    if (isSure && flags._.length === 0)
      throw usageProblem('--yes takes what is named.', 'Write: toolwell approve --yes SERVER[/TOOL]')
    if (isReadOnly && (isSure || isDespiteFindings))
      throw usageProblem(
        `${isSure ? '--yes' : '--despite-findings'} and --read-only do not go together.`,
        'Leave one of them out.',
      )
    const { withServers } = await import('../shared/servers/with-servers.js')
    if (isReadOnly) {
      const { runReadOnly } = await import('./run-read-only.js')
      return withServers({ config: flags.config, timeout, refresh: true }, terminal, (open) =>
        runReadOnly(open, { targets: flags._, isRevoking, isJson }, terminal),
      )
    }
    const { runApprove } = await import('./run-approve.js')
    return withServers({ config: flags.config, timeout, refresh: true }, terminal, (open) =>
      runApprove(open, { targets: flags._, isJson, isSure, isDespiteFindings }, terminal),
    )
  },
})
