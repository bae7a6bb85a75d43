/** What a host's bundle holds of Toolwell: the core and one wire, minified and compressed, by what is loaded at the start and what later. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

/** The line that is held: kilobytes, compressed, that a program loads before it does anything. */
const MOST_AT_START = 95

const root = fileURLToPath(new URL('..', import.meta.url))
const WIRES = {
  'openai-chat': 'openaiChat',
  'openai-responses': 'openaiResponses',
  anthropic: 'anthropic',
  google: 'google',
  'ai-sdk': 'aiSdk',
} as const

interface Row {
  readonly wire: string
  /** Kilobytes after gzip: what the entry and its imports are, what is loaded with the first search or call, and all of it in one file. */
  readonly start: number
  readonly later: number
  readonly oneFile: number
}

export interface BundleFigures {
  readonly most: number
  readonly rows: readonly Row[]
  /** Whether a bundle of everything that the root exports has the optional tokenizer in it. */
  readonly tokenizerInlined: boolean
}

const ENTRY = 'toolwell:entry'

/** The files that a bundler makes of a program. `codeSplitting: false`: one, for where a program has to be one. */
async function bundled(program: string, codeSplitting = true) {
  const bundle = await rolldown({
    input: ENTRY,
    cwd: root,
    platform: 'neutral',
    external: [/^node:/],
    plugins: [
      {
        name: 'entry',
        resolveId: async (id, importer) => {
          if (id === ENTRY) return ENTRY
          if (!id.startsWith('@toolwell/core')) return undefined
          return importer === ENTRY ? doorFile(id) : undefined
        },
        load: (id) => (id === ENTRY ? program : undefined),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting })
  await bundle.close()
  return output.flatMap((file) => (file.type === 'chunk' ? [file] : []))
}

async function doorFile(id: string): Promise<string> {
  const { exports } = JSON.parse(await readFile(`${root}packages/core/package.json`, 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly default: string }>>
  }
  return `${root}packages/core/${exports[id.replace('@toolwell/core', '.')]?.default}`
}

const kilobytes = (codes: readonly string[]) =>
  Math.round(codes.reduce((sum, code) => sum + gzipSync(code, { level: 9 }).length, 0) / 100) / 10

async function measure(wire: string, name: string): Promise<Row> {
  const program = `export { createToolwell, defineTool } from '@toolwell/core'\nexport { ${name} } from '@toolwell/core/${wire}'`
  const files = await bundled(program)
  const atStart = new Set<string>()
  const visit = (file: string) => {
    if (atStart.has(file)) return
    atStart.add(file)
    for (const next of files.find(({ fileName }) => fileName === file)?.imports ?? []) visit(next)
  }
  for (const { fileName, isEntry } of files) if (isEntry) visit(fileName)
  const codesOf = (isStart: boolean) =>
    files.filter(({ fileName }) => atStart.has(fileName) === isStart).map(({ code }) => code)
  const [start, later] = [kilobytes(codesOf(true)), kilobytes(codesOf(false))]
  const oneFile = kilobytes((await bundled(program, false)).map(({ code }) => code))
  return { wire, start, later, oneFile }
}

export async function benchBundle(): Promise<BundleFigures> {
  const rows: Row[] = []
  for (const [wire, name] of Object.entries(WIRES)) rows.push(await measure(wire, name))
  const everything = await bundled(`export * from '@toolwell/core'`)
  const tokenizerInlined = everything.some(({ moduleIds }) =>
    moduleIds.some((id) => id.includes('gpt-tokenizer')),
  )
  const columns = (cells: readonly string[]) => cells.map((each) => each.padStart(10)).join('')
  const lines = rows.map(
    ({ wire, start, later, oneFile }) =>
      wire.padEnd(18) + columns([start, later, oneFile].map((each) => each.toFixed(1))),
  )
  const head = 'core and'.padEnd(18) + columns(['start', 'later', 'one file'])
  process.stdout.write(
    `kB after gzip, by rolldown. start: what a program loads first (at most ${MOST_AT_START}); later: with the first search or call; one file: without parts\n\n${head}\n${lines.join('\n')}\n\nthe optional tokenizer is ${tokenizerInlined ? '' : 'not '}in a bundle of everything\n`,
  )
  const figures = { most: MOST_AT_START, rows, tokenizerInlined }
  if (refuseBundle(figures) !== undefined) process.exitCode = 1
  return figures
}

export function refuseBundle({ most, rows, tokenizerInlined }: BundleFigures): string | undefined {
  const heavy = rows.filter(({ start }) => start > most)
  if (heavy.length > 0)
    return `more than ${most} kB at the start: ${heavy.map(({ wire }) => wire).join(', ')}`
  return tokenizerInlined ? 'the optional tokenizer is in the bundle' : undefined
}
