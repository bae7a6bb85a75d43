/** `toolwell undo`: gives the clients their files back as they were before `connect`. */
import { defineVerb } from '../shared/verb.js'

export const undo = defineVerb({
  name: 'undo',
  summary: 'Give your clients their servers back, as before connect.',
  usage: ['[CLIENT …] [--dry-run] [--yes]'],
  takesWords: true,
  flags: {
    overwrite: {
      type: 'boolean',
      description: 'Also where that loses what was changed since; a copy of it is kept.',
    },
    'dry-run': { type: 'boolean', description: 'Show what would be written, and write nothing.' },
    yes: { type: 'boolean', alias: 'y', description: 'Write without asking.' },
    json: { type: 'boolean', description: 'The answer as JSON. Nothing is asked.' },
  },
  notes: [
    'A file is put back to the byte, also where its client has only written it anew. Where more was changed since, the entry\nof Toolwell is taken out, the servers are put back, and the changes stay. Where both cannot be, the file is left alone\nand the reason is given. Servers that no connected client needs any more are taken out of your own toolwell.json, except\nthose that you have changed there.',
  ],
  examples: [
    { line: 'toolwell undo', about: 'shows what would be put back, and asks' },
    { line: 'toolwell undo cursor --yes', about: 'one client, without asking' },
    { line: 'toolwell undo --dry-run', about: 'only shows it' },
  ],
  exits: {
    0: 'Put back, or nothing is connected.',
    1: 'Not all is put back: the answer was not yes, or a file was left alone. The others are put back.',
    2: 'Wrong flags, or a file of ours that cannot be read or written.',
  },
  async run(flags, terminal) {
    const { runUndo } = await import('./run-undo.js')
    return runUndo(
      {
        clients: flags._,
        isOverwriting: flags.overwrite === true,
        isDryRun: flags['dry-run'] === true,
        isYes: flags.yes === true,
        isJson: flags.json === true,
      },
      terminal,
    )
  },
})
