/** `toolwell ledger`: the files of conversations. What it does to them is one file each. */
import { nearest } from '@toolwell/core/internal'
import { usageProblem } from '../shared/problem.js'
import { defineVerb } from '../shared/verb.js'

const TASKS = ['check', 'repair', 'unlock'] as const

export const ledger = defineVerb({
  name: 'ledger',
  summary: 'Check the files of conversations, cut off what is damaged, end a lock that was left behind.',
  usage: ['check PATH [--json]', 'repair FILE [--json]', 'unlock FILE [--json]'],
  flags: { json: { type: 'boolean', description: 'The outcome as JSON.' } },
  notes: [
    'PATH is a ledger (NAME.jsonl) or a folder of them. A ledger has further files (NAME.2.jsonl, …) where a writer did\nnot end in order; they belong together, and the first one names them all.',
    'repair removes no byte: it adds a file that says how far the others count.',
  ],
  examples: [
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
    0: 'Every ledger is whole; or it was repaired or unlocked.',
    1: 'check found damage; repair or unlock found nothing to do.',
    2: 'Wrong arguments, a file that cannot be read, or a lock whose owner is alive.',
  },
  async run(flags, terminal) {
    const [task = '', path, ...more] = flags._
    const known = TASKS.find((each) => each === task)
    if (!known) {
      const [meant] = nearest(task, TASKS, 1)
      throw usageProblem(
        task === '' ? 'What is to be done is missing.' : `There is no task ${JSON.stringify(task)}.`,
        meant && task !== '' ? `Did you mean ${meant}?` : `Known: ${TASKS.join(', ')}.`,
      )
    }
    if (path === undefined || more.length > 0)
      throw usageProblem(
        path === undefined
          ? 'The path is missing.'
          : `Unexpected argument ${JSON.stringify(more.join(' '))}.`,
        `Write: toolwell ledger ${known} PATH`,
      )
    const isJson = flags.json === true
    if (known === 'check') return (await import('./check.js')).checkLedgers(path, isJson, terminal)
    if (known === 'repair') return (await import('./repair.js')).repair(path, isJson, terminal)
    return (await import('./unlock.js')).unlock(path, isJson, terminal)
  },
})
