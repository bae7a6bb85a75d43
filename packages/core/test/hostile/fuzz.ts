/** `npm run fuzz -- [--steps N] [--cases N] [--seed N] [--only TEXT] [--save]`: the hostile tests for as long as one likes, from any seed. */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { textBoundaries } from './boundaries.js'
import { conversationProperty, shortest } from './machine.js'
import type { Setup, Step } from './steps.js'
import { storedBoundaries } from './stored.js'

const USAGE = `Usage: npm run fuzz -- [--steps N] [--cases N] [--seed N] [--only TEXT] [--save]

  --steps N    steps of random conversations against the reference model (default 1000000)
  --cases N    cases of each kind of text at the trust boundary (default 100000)
  --seed N     where to begin (default: by the clock)
  --only TEXT  only what has this in its name: conversations, names, schemas, ledger …
  --save       writes what was tried to bench/results/fuzz.json when nothing was found

It ends with 0 when nothing was found, with 1 and the shortest way to it when something was, and with 2 when it was not
understood. What is printed then repeats the failure as the first thing that is tried.
`
interface Task {
  readonly name: string
  readonly unit: string
  readonly all: number
  /** Runs from one seed; then the next seed follows. */
  readonly portion: number
  readonly property: fc.IAsyncProperty<unknown[]>
  /** Amount of work in a number of runs. */
  count(runs: number): number
  shorten?(counterexample: unknown[]): Promise<string>
}

function read() {
  const { values } = parseArgs({
    options: {
      steps: { type: 'string', default: '1000000' },
      cases: { type: 'string', default: '100000' },
      seed: { type: 'string', default: `${Date.now() % 2 ** 31}` },
      only: { type: 'string', default: '' },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const number = (name: 'steps' | 'cases' | 'seed') => {
    if (!/^\d+$/.test(values[name])) throw new Error(`--${name} takes a number, not ${values[name]}`)
    return Number(values[name])
  }
  return { ...values, steps: number('steps'), cases: number('cases'), seed: number('seed') }
}

function tasks({ steps, cases, only }: ReturnType<typeof read>): Task[] {
  let taken = 0
  const texts = [...textBoundaries, ...storedBoundaries].map(
    ({ name, property }): Task => ({
      name,
      unit: 'cases',
      all: cases,
      portion: 100,
      property,
      count: (runs) => runs,
    }),
  )
  const conversations: Task = {
    name: 'conversations',
    unit: 'steps',
    all: steps,
    portion: 20,
    property: conversationProperty(80, (more) => {
      taken += more
    }),
    count: () => {
      const sum = taken
      taken = 0
      return sum
    },
    shorten: async ([setup, story]) => {
      const found = await shortest(setup as Setup, story as Step[])
      return `${JSON.stringify(found.setup)}\n${found.steps.map((step) => `  ${JSON.stringify(step)}`).join('\n')}\n${found.error}`
    },
  }
  return [...texts, conversations].filter(({ name, all }) => all > 0 && name.includes(only))
}

const started = performance.now()
const seconds = () => Math.round((performance.now() - started) / 1000)
const { isTTY } = process.stdout
let shown = 0

/** Prints to a terminal twice a second, to a log once a minute. */
function progress({ name, unit, all }: Task, done: number): void {
  const now = performance.now()
  if (done < all && now - shown < (isTTY ? 500 : 60_000)) return
  shown = now
  const figures = `${Math.min(done, all).toLocaleString('en')} of ${all.toLocaleString('en')} ${unit}`
  const line = `${name}: ${figures}, ${seconds()} s`
  process.stdout.write(isTTY ? `\r\u001b[K${line}${done >= all ? '\n' : ''}` : `${line}\n`)
}

/** Runs one task in portions, each with a new seed, until enough is done. Returns the amount, or undefined if it found a failure. */
async function perform(task: Task, first: number): Promise<number | undefined> {
  let done = 0
  for (let seed = first; done < task.all; seed++) {
    // Conversations are made shorter here, step by step.
    const result = await fc.check(task.property, {
      seed,
      numRuns: task.portion,
      endOnFailure: task.shorten !== undefined,
    })
    if (result.failed) {
      const report = result.counterexample
        ? await (task.shorten?.(result.counterexample) ??
            `${fc.stringify(result.counterexample)}\n${String(result.errorInstance)}`)
        : fc.defaultReportMessage(result)
      process.stdout.write(
        `\n${task.name}: found something. Again with\n  npm run fuzz -- --only '${task.name}' --seed ${seed}\n\n${report}\n`,
      )
      return undefined
    }
    done += task.count(result.numRuns)
    progress(task, done)
  }
  return done
}

const RESULT = new URL('../../../../bench/results/fuzz.json', import.meta.url)

async function main(): Promise<number> {
  let options: ReturnType<typeof read>
  try {
    options = read()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    return 2
  }
  if (options.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const chosen = tasks(options)
  if (chosen.length === 0) {
    process.stderr.write(`Nothing has ${JSON.stringify(options.only)} in its name.\n\n${USAGE}`)
    return 2
  }
  process.stdout.write(`seed ${options.seed}\n`)
  const tried: Record<string, number> = {}
  for (const task of chosen) {
    const done = await perform(task, options.seed)
    if (done === undefined) return 1
    tried[task.name] = done
  }
  process.stdout.write(`nothing found in ${seconds()} s\n`)
  if (options.save) {
    const result = { bench: 'fuzz', seed: options.seed, seconds: seconds(), found: 0, tried }
    await writeFile(RESULT, `${JSON.stringify(result, null, 2)}\n`)
    process.stdout.write('Written to bench/results/fuzz.json\n')
  }
  return 0
}

process.exitCode = await main()
