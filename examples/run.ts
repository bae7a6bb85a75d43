/**
 * `npm run examples`: runs every example whose packages are in the clone. Examples named on the command line show their output, and
 * those for other frameworks install their packages into a folder for temporary files first. `--json` prints nothing else.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isHere, type ProgramName, programs, readProgram, readVariants, runProgram } from './scripted.ts'

interface Example {
  readonly name: string
  readonly title: string
  readonly isHere: boolean
  /** Returns the output. Throws if the example fails. */
  run(): string | Promise<string>
}

/** An example that starts its own endpoint and checks itself. */
const runFile = (title: string, name: string, ...parameters: string[]): Example => ({
  name,
  title,
  isHere: true,
  run: () => {
    const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
    const words = ['--import', 'tsx', script, ...parameters, ...flags]
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
    if (status !== 0) throw new Error(stdout + stderr)
    return stdout
  },
})

const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const flags = process.argv.slice(2).filter((word) => word.startsWith('--'))
const json = flags.includes('--json')

const examples: Example[] = [
  runFile('the gateway', 'gateway', '--once'),
  runFile('proof with the defaults', 'proof', '--once'),
  runFile('proof over append', 'proof', '--once', '--delivery', 'append'),
  runFile('the README program', 'minimal'),
  ...(Object.keys(programs) as ProgramName[]).flatMap((name) =>
    readVariants(readProgram(name)).map((packages) => ({
      name,
      title: [name, ...packages.slice(0, 1)].join(' with '),
      isHere: isHere(packages),
      run: async () => (await runProgram(name, packages)).output,
    })),
  ),
  runFile('a wire of your own', 'own-wire'),
  runFile('the seeds, side by side', 'seeds'),
]

const chosen = examples.filter(({ name, isHere }) => (wanted.length === 0 ? isHere : wanted.includes(name)))
const known = [...new Set(examples.map(({ name }) => name))]
const others = new Set(examples.filter(({ isHere }) => !isHere).map(({ name }) => name))
const unknown = wanted.find((name) => !known.includes(name))
if (unknown !== undefined || flags.some((flag) => flag !== '--json') || (json && wanted.join() !== 'seeds')) {
  const lines = [
    ...(unknown === undefined ? [] : [`No example is called "${unknown}".`, '']),
    'Usage: npm run examples [-- NAME …]',
    '       npm run -s examples -- seeds --json',
    '',
    'Each example checks itself against an endpoint on this machine and needs no key. Without a name, those that need no other',
    'packages run.',
    '',
    `Names: ${known.join(', ')}`,
    `These install packages first: ${[...others].join(', ')}`,
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(flags.includes('--help') ? 0 : 2)
}

let failed = 0
for (const { title, run, isHere } of chosen) {
  if (!isHere) process.stderr.write(`Installing the packages of ${title}, unless they are installed …\n`)
  try {
    const output = await run()
    if (!json) process.stdout.write(`ok   ${title}\n`)
    if (wanted.length > 0) process.stdout.write(json ? output : `${output}\n`)
  } catch (error) {
    failed++
    process.stdout.write(`FAIL ${title}\n${error}\n`)
  }
}
if (wanted.length === 0)
  process.stdout.write(
    `Not run, because they install packages: npm run examples -- ${[...others].join(' ')}\n`,
  )
process.exitCode = failed === 0 ? 0 : 1
