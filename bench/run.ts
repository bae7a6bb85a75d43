/** `npm run bench -- <name> [--data DIR] [--split NAME] [--save] [--json]`: one file per question; the table goes to the terminal and, with --save, the figures to bench/results. */
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { benchAgent, refuseAgent, saveAgent } from './agent.ts'
import { benchBundle, refuseBundle } from './bundle.ts'
import { benchCost, refuseCost, saveCost } from './cost.ts'
import { benchDurable } from './durable.ts'
import { benchGateway } from './gateway.ts'
import { benchHybrid, refuseHybrid } from './hybrid.ts'
import { stringify } from './json.ts'
import { benchMcp } from './mcp.ts'
import { benchRetrieval, refuseRetrieval, saveRetrieval } from './retrieval.ts'
import { benchScale, refuseScale, saveScale } from './scale.ts'
import { benchScan, refuseScan } from './scan.ts'
import { benchSurface } from './surface.ts'
import { benchTuning, refuseTuning } from './tuning.ts'

export interface BenchOptions {
  /** The data folder, or undefined where there is none. */
  readonly data: string | undefined
  /** Which queries of each dataset: reads queries.<split>.jsonl. Left out: queries.jsonl. */
  readonly split?: string | undefined
}

interface Bench<Figures extends object> {
  readonly about: string
  /** Its figures are times, so they are those of a machine. */
  readonly isTimed: boolean
  run(options: BenchOptions): Promise<Figures>
  /** Why these figures are not to replace the committed ones. */
  refusal?(figures: Figures): string | undefined
  /** Writes what else is made from the figures, and gives the names of the files. */
  save?(figures: Figures): Promise<string[]>
}

const defineBench = <Figures extends object>(bench: Bench<Figures>): Bench<object> => bench as Bench<object>

const benches: Readonly<Record<string, Bench<object>>> = {
  surface: defineBench({
    about: 'what a request costs as the catalogue and the set of loaded tools grow',
    isTimed: true,
    run: benchSurface,
  }),
  bundle: defineBench({
    about: 'what a bundle holds of the core and one wire, at the start and later',
    isTimed: false,
    run: benchBundle,
    refusal: refuseBundle,
  }),
  mcp: defineBench({
    about: 'what servers cost: until they can be searched, until they are listed, in memory, per call',
    isTimed: true,
    run: benchMcp,
  }),
  gateway: defineBench({
    about:
      'what the gateway costs: per call beside other proxies, at the start, in memory, with many clients',
    isTimed: true,
    run: benchGateway,
  }),
  agent: defineBench({
    about: 'what tools cost in a real agent: pi with this extension, with another, and beside other agents',
    isTimed: true,
    run: benchAgent,
    refusal: refuseAgent,
    save: saveAgent,
  }),
  cost: defineBench({
    about: 'what a conversation costs with each delivery, by the prices and cache rules of each provider',
    isTimed: false,
    run: benchCost,
    refusal: refuseCost,
    save: saveCost,
  }),
  retrieval: defineBench({
    about: 'whether a search finds the right tool, against other engines in the same run',
    isTimed: true,
    run: benchRetrieval,
    refusal: refuseRetrieval,
    save: saveRetrieval,
  }),
  scale: defineBench({
    about: 'building, re-indexing one server, searching and memory from 1k to 1M tools',
    isTimed: true,
    run: benchScale,
    refusal: refuseScale,
    save: saveScale,
  }),
  tuning: defineBench({
    about: 'whether the weights of the ranking carry to data they were not chosen on',
    isTimed: false,
    run: benchTuning,
    refusal: refuseTuning,
  }),
  hybrid: defineBench({
    about: 'what an embedder adds that needs no network (npm install --prefix examples/embeddings, once)',
    isTimed: false,
    run: benchHybrid,
    refusal: refuseHybrid,
  }),
  durable: defineBench({
    about:
      'what it costs that nothing is lost: appends, opening, long histories; and what holds a process up',
    isTimed: true,
    run: benchDurable,
  }),
  scan: defineBench({
    about: 'what the poisoning scan finds in labelled definitions and in real ones, and how long it takes',
    isTimed: true,
    run: benchScan,
    refusal: refuseScan,
  }),
}

const [name = '', ...flags] = process.argv.slice(2)
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
const withValue = ['--data', '--split']
const valueAfter = (flag: string): string | undefined =>
  flags.includes(flag) ? flags[flags.indexOf(flag) + 1] : undefined
const unknown = flags.filter(
  (flag, index) =>
    ![...withValue, '--save', '--json', '--help'].includes(flag) &&
    !withValue.includes(flags[index - 1] ?? ''),
)
const isIncomplete = withValue.some((flag) => flags.includes(flag) && valueAfter(flag) === undefined)
const isHelp = name === '--help' || flags.includes('--help')
if (!bench || isHelp || unknown.length > 0 || isIncomplete) {
  const list = Object.entries(benches).map(([key, { about }]) => `  ${key.padEnd(10)} ${about}`)
  const problem =
    unknown.length > 0
      ? `Unknown: ${unknown.join(' ')}\n\n`
      : name && name !== '--help' && !bench
        ? `There is no bench named ${name}.\n\n`
        : ''
  process.stderr.write(
    `${problem}Usage: npm run bench -- <name> [--data DIR] [--split NAME] [--save] [--json]

${list.join('\n')}

  --data DIR    where real tools are read from; else TOOLWELL_BENCH_DATA, else bench/data; see bench/README.md
  --split NAME  reads queries.NAME.jsonl instead of queries.jsonl (retrieval)
  --save        writes bench/results/<name>.json, and what the docs show of it
  --json        figures as JSON on standard output, the table on standard error: npm run -s bench -- cost --json
`,
  )
  process.exit(isHelp ? 0 : 2)
}
const data =
  valueAfter('--data') ?? process.env.TOOLWELL_BENCH_DATA ?? new URL('./data', import.meta.url).pathname
const isJson = flags.includes('--json')
const output = process.stdout.write.bind(process.stdout)
if (isJson) process.stdout.write = process.stderr.write.bind(process.stderr)
const figures = await bench.run({ data: resolve(data), split: valueAfter('--split') })
const machine = {
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cores: cpus().length,
}
const json = `${stringify({ bench: name, ...(bench.isTimed ? { machine } : {}), ...figures })}\n`
if (isJson) output(json)
const refusal = bench.refusal?.(figures)
if (flags.includes('--save') && refusal !== undefined) {
  process.stderr.write(`\nNot saved: ${refusal}\n`)
  process.exitCode = 1
} else if (flags.includes('--save')) {
  const folder = new URL('./results/', import.meta.url)
  await mkdir(folder, { recursive: true })
  await writeFile(new URL(`${name}.json`, folder), json)
  const others = (await bench.save?.(figures)) ?? []
  process.stdout.write(`\nWritten to ${[`bench/results/${name}.json`, ...others].join(', ')}\n`)
}
