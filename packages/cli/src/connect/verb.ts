/** `toolwell connect`: puts Toolwell in front of the servers of the clients on this machine, after showing what that means. */
import { CLIENTS } from '../shared/clients/clients.js'
import { defineVerb } from '../shared/verb.js'

export const connect = defineVerb({
  name: 'connect',
  summary: 'Put Toolwell in front of the servers of your clients.',
  usage: ['[CLIENT …] [--dry-run] [--yes]'],
  takesWords: true,
  flags: {
    profile: {
      type: 'string',
      valueHint: 'NAME',
      description: 'The clients see only the servers and tools of this profile.',
    },
    'dry-run': { type: 'boolean', description: 'Show what would be written, and write nothing.' },
    yes: { type: 'boolean', alias: 'y', description: 'Write without asking.' },
    json: { type: 'boolean', description: 'The answer as JSON. Nothing is asked.' },
  },
  notes: [
    `Clients: ${CLIENTS.slice(0, 8).join(', ')},\n${CLIENTS.slice(8).join(', ')}. Without a name: all that are found on this machine.`,
    'In the file of your own of each client, its servers are replaced by one entry that starts Toolwell. They go to your own\ntoolwell.json with all they need, and Toolwell starts them when they are used. Files of projects are not changed. What\ncannot be taken over stays where it is. Comments and all else in the files stay; a copy of each is kept. No server is\nstarted, and values of environment and headers are never shown.',
  ],
  examples: [
    { line: 'toolwell connect', about: 'shows what there is, and asks' },
    { line: 'toolwell connect cursor codex --yes', about: 'these two, without asking' },
    { line: 'toolwell connect --dry-run --json', about: 'what would be done, for a program' },
    { line: 'toolwell undo', about: 'everything as it was' },
  ],
  exits: {
    0: 'Connected, or there was nothing to do.',
    1: 'Not all is connected: the answer was not yes, or a file was left alone. The others are connected.',
    2: 'Wrong flags, no client found, or a file of ours that cannot be read or written. No client was changed.',
  },
  async run(flags, terminal) {
    const { runConnect } = await import('./run-connect.js')
    return runConnect(
      {
        clients: flags._,
        profile: flags.profile,
        isDryRun: flags['dry-run'] === true,
        isYes: flags.yes === true,
        isJson: flags.json === true,
      },
      terminal,
    )
  },
})
