/**
 * `npm run bench -- <name> [--data DIR] [--split NAME] [--save] [--json]`: one file per question. Prints a table; `--save` writes
 * the figures to bench/results.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchAgent, refuseAgent, saveAgent } from './agent.ts'
import { benchBundle, refuseBundle } from './bundle.ts'
import { benchCost, refuseCost, saveCost } from './cost.ts'
import { benchDashboard } from './dashboard.ts'
import { benchDurable } from './durable.ts'
import { benchGateway } from './gateway.ts'
import { benchHybrid, refuseHybrid } from './hybrid.ts'
import { stringify } from './json.ts'
import { runLive } from './live.ts'
import { benchMcp } from './mcp.ts'
import { benchPostgres } from './postgres.ts'
import { benchRetrieval, refuseRetrieval, saveRetrieval } from './retrieval.ts'
import { benchScale, refuseScale, saveScale } from './scale.ts'
import { benchScan, refuseScan } from './scan.ts'
import { benchSurface } from './surface.ts'

export interface BenchOptions {
  /** The data folder, if there is one. */
  readonly data: string | undefined
  /** Reads queries.<split>.jsonl of each dataset. Default: queries.jsonl. */
  readonly split?: string | undefined
}

interface Bench<Figures extends object> {
  readonly about: string
  /** The figures are times and depend on the machine. */
  readonly isTimed: boolean
  run(options: BenchOptions): Promise<Figures>
  /** Why these figures must not replace the committed ones. */
  refusal?(figures: Figures): string | undefined
  /** Writes other files made from the figures and returns their names. */
  save?(figures: Figures): Promise<string[]>
}

const defineBench = <Figures extends object>(bench: Bench<Figures>): Bench<object> => bench as Bench<object>

const benches: Readonly<Record<string, Bench<object>>> = {
  surface: defineBench({
    about: 'cost of a request as the catalogue and the set of loaded tools grow',
    isTimed: true,
    run: benchSurface,
  }),
  bundle: defineBench({
    about: 'size of core and one wire in a bundle, at the start and later',
    isTimed: false,
    run: benchBundle,
    refusal: refuseBundle,
  }),
  mcp: defineBench({
    about: 'cost of servers: time until searchable, time until listed, memory, time per call',
    isTimed: true,
    run: benchMcp,
  }),
  gateway: defineBench({
    about:
      'cost of the gateway: per call compared with other proxies, at the start, in memory, with many clients',
    isTimed: true,
    run: benchGateway,
  }),
  dashboard: defineBench({
    about:
      'the page of the gateway in a real browser: size, first paint, use of 5,000 tools; recording calls',
    isTimed: true,
    run: benchDashboard,
  }),
  agent: defineBench({
    about: 'cost of tools in a real agent: pi with this extension, pi with another one, and other agents',
    isTimed: true,
    run: benchAgent,
    refusal: refuseAgent,
    save: saveAgent,
  }),
  cost: defineBench({
    about: 'cost of a conversation with each delivery, by the prices and cache rules of each provider',
    isTimed: false,
    run: benchCost,
    refusal: refuseCost,
    save: saveCost,
  }),
  retrieval: defineBench({
    about: 'does a search find the right tool, compared with other engines',
    isTimed: true,
    run: benchRetrieval,
    refusal: refuseRetrieval,
    save: saveRetrieval,
  }),
  scale: defineBench({
    about: 'building, re-indexing one server, searching and memory from 1k to 100k tools',
    isTimed: true,
    run: benchScale,
    refusal: refuseScale,
    save: saveScale,
  }),
  hybrid: defineBench({
    about: 'gain of an offline embedder (first run npm install --prefix examples/embeddings)',
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
  postgres: defineBench({
    about: 'cost of the PostgreSQL store compared with bare statements',
    isTimed: true,
    run: benchPostgres,
  }),
  scan: defineBench({
    about: 'findings of the poisoning scan in labelled and real definitions, and its time',
    isTimed: true,
    run: benchScan,
    refusal: refuseScan,
  }),
}

const [name = '', ...flags] = process.argv.slice(2)
// Its flags and its file of results differ from all others.
if (name === 'live') process.exit(await runLive(flags))
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
        ? `Unknown bench: ${name}.\n\n`
        : ''
  process.stderr.write(
    `${problem}Usage: npm run bench -- <name> [--data DIR] [--split NAME] [--save] [--json]

${list.join('\n')}
  live       tasks with a real model and your key: npm run bench -- live --help

  --data DIR    folder of real tools (default: TOOLWELL_BENCH_DATA, then bench/data); see bench/README.md
  --split NAME  reads queries.NAME.jsonl instead of queries.jsonl (retrieval)
  --save        writes bench/results/<name>.json and the parts of the docs that show it
  --json        figures as JSON on standard output, the table on standard error: npm run -s bench -- cost --json
`,
  )
  process.exit(isHelp ? 0 : 2)
}
const data =
  valueAfter('--data') ?? process.env.TOOLWELL_BENCH_DATA ?? fileURLToPath(new URL('./data', import.meta.url))
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
