/** `npm run bench -- <name> [--data DIR] [--save]`: one file per question; the table goes to the terminal and, with --save, the figures to bench/results. */
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { benchSurface } from './surface.ts'

export interface BenchOptions {
  /** The data folder, or undefined where there is none. */
  readonly data: string | undefined
}

const benches: Record<string, { readonly about: string; run(options: BenchOptions): Promise<object> }> = {
  surface: {
    about: 'what a request costs as the catalogue and the set of raised tools grow',
    run: benchSurface,
  },
}

const [name = '', ...flags] = process.argv.slice(2)
const bench = benches[name]
const dataFlag = flags.indexOf('--data')
const save = flags.includes('--save')
const unknown = flags.filter(
  (flag, index) => flag !== '--data' && flag !== '--save' && (dataFlag < 0 || index !== dataFlag + 1),
)
if (!bench || unknown.length > 0 || (dataFlag >= 0 && flags[dataFlag + 1] === undefined)) {
  const list = Object.entries(benches).map(([key, { about }]) => `  ${key.padEnd(10)} ${about}`)
  const problem =
    unknown.length > 0
      ? `Unknown: ${unknown.join(' ')}\n\n`
      : name && name !== '--help' && !bench
        ? `There is no bench named ${name}.\n\n`
        : ''
  process.stderr.write(
    `${problem}Usage: npm run bench -- <name> [--data DIR] [--save]\n\n${list.join('\n')}\n\nReal tools are read from --data, TOOLWELL_BENCH_DATA or bench/data; see bench/README.md. --save writes bench/results/<name>.json.\n`,
  )
  process.exit(name === '--help' ? 0 : 2)
}
const data =
  dataFlag >= 0
    ? flags[dataFlag + 1]
    : (process.env.TOOLWELL_BENCH_DATA ?? new URL('./data', import.meta.url).pathname)
const figures = await bench.run({ data: data === undefined ? undefined : resolve(data) })
if (save) {
  const folder = new URL('./results/', import.meta.url)
  await mkdir(folder, { recursive: true })
  const machine = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: cpus().length,
  }
  await writeFile(
    new URL(`${name}.json`, folder),
    `${JSON.stringify({ bench: name, machine, ...figures }, null, 2)}\n`,
  )
  process.stdout.write(`\nWritten to bench/results/${name}.json\n`)
}
