/** `toolwell ledger`: shows, checks and repairs the files of conversations. */
import { nearest } from '@toolwell/core/internal'
import { usageProblem } from '../shared/problem.js'
import { defineVerb } from '../shared/verb.js'

const TASKS = ['check', 'repair'] as const

export const ledger = defineVerb({
  name: 'ledger',
  summary: 'Show a conversation turn by turn. Check the files of conversations and repair damage.',
  usage: ['FILE [--json]', 'check PATH [--json]', 'repair FILE [--json]'],
  takesWords: true,
  flags: { json: { type: 'boolean', description: 'Print the turns or the outcome as JSON.' } },
  notes: [
    'Each numbered line is one request: the tools it sent, their cost, and the usage that the reply reported. The lines above\nit are decisions for the request, the lines below it are what the reply did.',
    'PATH is a ledger (NAME.jsonl) or a folder of ledgers.',
    'repair keeps the events before the damage. It keeps the damaged file as NAME.jsonl.damaged-1.',
  ],
  examples: [
    { line: 'toolwell ledger ledgers/thread-1.jsonl', about: 'each request: tools, searches, loads, tokens' },
    { line: 'toolwell ledger check ledgers', about: 'every ledger in the folder: intact or damaged' },
    {
      line: 'toolwell ledger repair ledgers/thread-1.jsonl',
      about: 'continues after the events before the damage',
    },
  ],
  exits: {
    0: 'The ledger was shown or repaired, or every ledger is intact.',
    1: 'A ledger is damaged or another version wrote it; the events before that were shown. Or there was nothing to repair.',
    2: 'Wrong arguments, or a file that cannot be read.',
  },
  async run(flags, terminal) {
    const [task = '', path, ...more] = flags._
    const known = TASKS.find((each) => each === task)
    const isJson = flags.json === true
    if (!known) {
      if (task !== '' && path === undefined)
        return (await import('./show.js')).showLedger(task, isJson, terminal)
      const [meant] = nearest(task, TASKS, 1)
      throw usageProblem(
        task === '' ? 'The file is missing.' : `There is no task ${JSON.stringify(task)}.`,
        meant && task !== '' ? `Did you mean ${meant}?` : `Give a file, or one of: ${TASKS.join(', ')}.`,
      )
    }
    if (path === undefined || more.length > 0)
      throw usageProblem(
        path === undefined
          ? 'The path is missing.'
          : `Unexpected argument ${JSON.stringify(more.join(' '))}.`,
        `Write: toolwell ledger ${known} PATH`,
      )
    if (known === 'check') return (await import('./check.js')).checkLedgers(path, isJson, terminal)
    return (await import('./repair.js')).repair(path, isJson, terminal)
  },
})
