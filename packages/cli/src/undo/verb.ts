/** `toolwell undo`: restores the files of clients to their state before `connect`. */
import { defineVerb } from '../shared/verb.js'

export const undo = defineVerb({
  name: 'undo',
  summary: 'Restore your clients to their state before connect.',
  usage: ['[CLIENT …] [--dry-run] [--yes]'],
  takesWords: true,
  flags: {
    overwrite: {
      type: 'boolean',
      description: 'Restore a file even if later changes are lost. A copy is saved.',
    },
    'dry-run': { type: 'boolean', description: 'Show the changes, and write nothing.' },
    yes: { type: 'boolean', alias: 'y', description: 'Write without asking.' },
    json: { type: 'boolean', description: 'Print the result as JSON. Asks nothing.' },
  },
  notes: [
    'Restores each file byte for byte if its content has not changed since. Otherwise it removes the Toolwell entry, adds the\nservers again and keeps your changes. If that is not possible, it skips the file and prints the reason. Servers that no\nconnected client needs are removed from your own toolwell.json, unless you changed them there.',
  ],
  examples: [
    { line: 'toolwell undo', about: 'show a preview, and ask' },
    { line: 'toolwell undo cursor --yes', about: 'restore one client without asking' },
    { line: 'toolwell undo --dry-run', about: 'show a preview only' },
  ],
  exits: {
    0: 'The files were restored, or nothing is connected.',
    1: 'Some files were not restored: the answer was not yes, or a file was skipped.',
    2: 'Wrong flags, or an unreadable or unwritable file of Toolwell.',
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
