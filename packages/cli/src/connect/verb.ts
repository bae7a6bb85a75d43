/** `toolwell connect`: moves the servers of clients behind Toolwell, after a preview. */
import { CLIENTS } from '../shared/clients/clients.js'
import { usageProblem } from '../shared/problem.js'
import { defineVerb } from '../shared/verb.js'

export const connect = defineVerb({
  name: 'connect',
  summary: 'Move the servers of your clients behind Toolwell.',
  usage: ['[CLIENT …] [--mode search|all] [--dry-run] [--yes]'],
  takesWords: true,
  flags: {
    profile: {
      type: 'string',
      valueHint: 'NAME',
      description: 'Give the clients only the servers and tools of this profile.',
    },
    share: {
      type: 'boolean',
      description:
        'Let all clients share the processes of local servers. Default: each client has its own, as before.',
    },
    start: {
      type: 'boolean',
      default: true,
      description: 'Start no server. Default: list the tools of every server once.',
    },
    mode: {
      type: 'string',
      valueHint: 'search|all',
      description:
        'What the clients list: the four tools of Toolwell (search), or every tool (all). Default: every tool for clients that defer tools themselves.',
    },
    'accept-lost-rules': {
      type: 'boolean',
      description: 'Connect clients that lose deny rules, or hooks that may block tools.',
    },
    'dry-run': { type: 'boolean', description: 'Show the changes, and write nothing.' },
    yes: { type: 'boolean', alias: 'y', description: 'Write without asking.' },
    json: { type: 'boolean', description: 'Print the result as JSON. Asks nothing.' },
  },
  notes: [
    `Clients: ${CLIENTS.slice(0, 8).join(', ')},\n${CLIENTS.slice(8).join(', ')}. Default: every client found on this machine.`,
    'Replaces the servers in the user config of each client by one entry that starts Toolwell, and moves them to your own\ntoolwell.json. Toolwell starts a server when it is used. Servers that cannot be moved stay in the client. Project files,\ncomments and other settings do not change, and a copy of each file is saved. Then lists the tools of every server once, so\nthat the first client does not wait for them. Never shows values of environment variables and headers.',
  ],
  examples: [
    { line: 'toolwell connect', about: 'show a preview, and ask' },
    { line: 'toolwell connect cursor codex --yes', about: 'connect two clients without asking' },
    { line: 'toolwell connect --dry-run --json', about: 'show a preview for a program' },
    { line: 'toolwell undo', about: 'restore the clients' },
  ],
  exits: {
    0: 'The clients are connected.',
    1: 'Some clients are not connected: the answer was not yes, or a file was skipped.',
    2: 'Wrong flags, no client found, or an unreadable or unwritable file of Toolwell. No client was changed.',
  },
  async run(flags, terminal) {
    const { mode } = flags
    if (mode !== undefined && mode !== 'search' && mode !== 'all')
      throw usageProblem(`Unknown mode ${JSON.stringify(mode)}.`, 'Give --mode search or --mode all.')
    const { runConnect } = await import('./run-connect.js')
    return runConnect(
      {
        clients: flags._,
        profile: flags.profile,
        isShared: flags.share === true,
        startsServers: flags.start !== false,
        mode,
        acceptsLostRules: flags['accept-lost-rules'] === true,
        isDryRun: flags['dry-run'] === true,
        isYes: flags.yes === true,
        isJson: flags.json === true,
      },
      terminal,
    )
  },
})
