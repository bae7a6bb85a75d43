/** `toolwell ledger`: the files of conversations, shown turn by turn. What else it does to them is one file each. */
import { nearest } from '@toolwell/core/internal'
import { usageProblem } from '../shared/problem.js'
import { defineVerb } from '../shared/verb.js'

const TASKS = ['check', 'repair', 'unlock'] as const

export const ledger = defineVerb({
  name: 'ledger',
  summary: 'Show a conversation turn by turn. Check the files of conversations, cut off damage, end a lock.',
  usage: ['FILE [--json]', 'check PATH [--json]', 'repair FILE [--json]', 'unlock FILE [--json]'],
  takesWords: true,
  flags: { json: { type: 'boolean', description: 'The turns, or the outcome, as JSON.' } },
  notes: [
    'A numbered line is one request: the tools it sent, what they cost, and the usage where the reply told it. Above it stands\nwhat was decided for it, below it what its reply did.',
    'PATH is a ledger (NAME.jsonl) or a folder of them. A ledger has further files (NAME.2.jsonl, …) where a writer did\nnot end in order; they belong together, and the first one names them all.',
    'repair removes no byte: it adds a file that says how far the others count.',
  ],
  examples: [
    { line: 'toolwell ledger ledgers/thread-1.jsonl', about: 'each request: tools, searches, loads, tokens' },
    { line: 'toolwell ledger check ledgers', about: 'every ledger in the folder: whole, damaged, or locked' },
    {
      line: 'toolwell ledger repair ledgers/thread-1.jsonl',
      about: 'goes on from the events before the damage',
    },
    {
      line: 'toolwell ledger unlock ledgers/thread-1.jsonl',
      about: 'its owner was on a machine that is gone',
    },
  ],
  exits: {
    0: 'It was shown; every ledger is whole; or it was repaired or unlocked.',
    1: 'There is damage, or what a newer version wrote; what is before it was shown. Repair or unlock found nothing to do.',
    2: 'Wrong arguments, a file that cannot be read, or a lock whose owner is alive.',
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
    if (known === 'repair') return (await import('./repair.js')).repair(path, isJson, terminal)
    return (await import('./unlock.js')).unlock(path, isJson, terminal)
  },
})
