/** `npm run fuzz -- [--steps N] [--cases N] [--seed N]`: the hostile tests for as long as one likes, from any seed. */
import fc from 'fast-check'
import { textBoundaries } from './boundaries.js'
import { conversationProperty } from './machine.js'
import { storedBoundaries } from './stored.js'

const USAGE = `Usage: npm run fuzz -- [--steps N] [--cases N] [--seed N]

  --steps N  steps of random conversations against the reference model (default 1000000)
  --cases N  texts at the trust boundary, over all kinds of them (default 100000)
  --seed N   where to begin; the seed of a failure makes it the first thing that is tried
`
const flags = { '--steps': 1_000_000, '--cases': 100_000, '--seed': Date.now() % 2 ** 31 }
const given = process.argv.slice(2)
for (let index = 0; index < given.length; index += 2) {
  const flag = given[index] as keyof typeof flags
  const value = Number(given[index + 1])
  if (!Object.hasOwn(flags, flag) || !Number.isInteger(value) || value < 0) {
    process.stderr.write(
      flag === ('--help' as string) ? USAGE : `Not understood: ${given.slice(index).join(' ')}\n\n${USAGE}`,
    )
    process.exit(flag === ('--help' as string) ? 0 : 2)
  }
  flags[flag] = value
}

const started = performance.now()
let shown = 0
function progress(what: string, done: number, all: number): void {
  const isLast = done >= all
  const isTerminal = process.stdout.isTTY
  // A terminal is told twice a second, a log at every tenth.
  if (!isLast && (isTerminal ? performance.now() - shown < 500 : Math.floor((done * 10) / all) <= shown))
    return
  shown = isTerminal ? performance.now() : Math.floor((done * 10) / all)
  const seconds = Math.round((performance.now() - started) / 1000)
  const line = `${what}: ${Math.min(done, all).toLocaleString('en')} of ${all.toLocaleString('en')}, ${seconds} s`
  process.stdout.write(isTerminal ? `\r\u001b[K${line}${isLast ? '\n' : ''}` : `${line}\n`)
}

/** Runs a property in portions, each from a seed of its own, until enough was done. */
async function run(
  what: string,
  property: fc.IAsyncProperty<unknown[]>,
  all: number,
  portion: number,
  count: (runs: number) => number,
): Promise<void> {
  shown = process.stdout.isTTY ? 0 : -1
  let done = 0
  for (let seed = flags['--seed']; done < all; seed++) {
    const result = await fc.check(property, { seed, numRuns: portion })
    if (result.failed) {
      process.stdout.write(
        `\n${what} failed; again with: npm run fuzz -- --seed ${seed}\n\n${fc.defaultReportMessage(result)}\n${String(result.errorInstance)}\n`,
      )
      process.exit(1)
    }
    done += count(result.numRuns)
    progress(what, done, all)
  }
}

process.stdout.write(`seed ${flags['--seed']}\n`)
const boundaries = [...textBoundaries, ...storedBoundaries]
const share = Math.ceil(flags['--cases'] / boundaries.length)
for (const { name, property } of boundaries) await run(name, property, share, 100, (runs) => runs)
let steps = 0
const property = conversationProperty(80, (taken) => {
  steps += taken
})
await run('conversations, in steps', property, flags['--steps'], 20, () => {
  const taken = steps
  steps = 0
  return taken
})
process.stdout.write(`nothing found in ${Math.round((performance.now() - started) / 1000)} s\n`)
