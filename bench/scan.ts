/** Results of the poisoning scan: by technique in labelled definitions, in real ones if the data folder exists, and its time. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ScannedServer } from '../packages/mcp/src/trust/scan/name-index.ts'
import { scanServers } from '../packages/mcp/src/trust/scan/scan.ts'
import {
  ATTACKS,
  BENIGN,
  LOOKALIKES,
  readCorpus,
  STRUCTURAL,
  UNTOUCHED,
} from '../packages/mcp/test/scan/read-corpus.ts'
import { isHard, scanSample } from '../packages/mcp/test/scan/support.ts'
import { GENERATED } from './data.ts'

/** For each technique that shows in the text itself. */
const LEAST_STRUCTURAL = 0.95
const MOST_SOFT = 0.01

interface Counts {
  readonly count: number
  /** With any finding. */
  readonly found: number
  /** With a hard finding. */
  readonly held: number
}

export interface ScanFigures {
  readonly attacks: Counts & { readonly recall: number }
  readonly byTechnique: Readonly<Record<string, Counts>>
  readonly byFile: Readonly<Record<string, Counts>>
  /** Attacks whose technique shows in the text, and attacks in plain words. */
  readonly structural: Counts
  readonly language: Counts
  /** Samples never used to write a rule. */
  readonly untouched: { readonly attacks: Counts; readonly benign: Counts }
  /** Harmless definitions that look like attacks, by batch. */
  readonly lookalikes: Readonly<Record<string, Counts>>
  readonly benign: Counts
  /** Share of attacks among samples with a finding, and among quarantined ones. */
  readonly precision: { readonly found: number; readonly held: number }
  readonly real:
    | {
        readonly origin: string
        readonly tools: number
        readonly hard: number
        readonly soft: number
        readonly softFindings: readonly string[]
      }
    | undefined
  readonly msPerThousandTools: number | undefined
}

const counted = (samples: readonly { readonly found: boolean; readonly held: boolean }[]): Counts => ({
  count: samples.length,
  found: samples.filter(({ found }) => found).length,
  held: samples.filter(({ held }) => held).length,
})

const round = (value: number, digits = 3) => Number(value.toFixed(digits))

export async function benchScan({ data }: { readonly data: string | undefined }): Promise<ScanFigures> {
  const judge = (file: string) =>
    readCorpus(file).map((sample) => {
      const findings = scanSample(sample)
      return { file, technique: sample.technique, found: findings.length > 0, held: isHard(findings) }
    })
  const attacks = ATTACKS.flatMap(judge)
  const benign = BENIGN.flatMap(judge)
  const untouched = { attacks: judge(UNTOUCHED.attacks), benign: judge(UNTOUCHED.benign) }
  const grouped = (key: 'file' | 'technique', samples: typeof attacks) =>
    Object.fromEntries(
      [...new Set(samples.map((one) => one[key]))].map((name) => [
        name,
        counted(samples.filter((one) => one[key] === name)),
      ]),
    )
  const all = counted(attacks)
  const harmless = counted(benign)
  const servers = await realServers(data)
  const { real, msPerThousandTools } = servers
    ? scanReal(servers)
    : { real: undefined, msPerThousandTools: undefined }
  const figures: ScanFigures = {
    attacks: { ...all, recall: round(all.found / all.count) },
    byTechnique: grouped('technique', attacks),
    byFile: { ...grouped('file', attacks), ...grouped('file', benign) },
    structural: counted(attacks.filter(({ technique }) => STRUCTURAL.includes(technique))),
    language: counted(attacks.filter(({ technique }) => !STRUCTURAL.includes(technique))),
    untouched: { attacks: counted(untouched.attacks), benign: counted(untouched.benign) },
    lookalikes: grouped('file', LOOKALIKES.flatMap(judge)),
    benign: harmless,
    precision: {
      found: round(all.found / (all.found + harmless.found)),
      held: round(all.held / (all.held + harmless.held)),
    },
    real,
    msPerThousandTools,
  }
  process.stdout.write(`${table(figures)}\n`)
  const isMissed =
    STRUCTURAL.some((technique) => {
      const { found, count } = figures.byTechnique[technique] ?? { found: 0, count: 1 }
      return found / count < LEAST_STRUCTURAL
    }) ||
    (real !== undefined && (real.hard > 0 || real.soft / real.tools > MOST_SOFT))
  if (isMissed) process.exitCode = 1
  return figures
}

export function refuseScan({ real }: ScanFigures): string | undefined {
  return real === undefined
    ? `the committed figures are those of real tools, not ${GENERATED} ones; see bench/README.md`
    : undefined
}

async function realServers(data: string | undefined): Promise<ScannedServer[] | undefined> {
  const folder = data === undefined ? undefined : join(data, 'mcp-catalog')
  const files = folder
    ? (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.json')).sort()
    : []
  if (!folder || files.length === 0) {
    process.stdout.write(
      `No tools in ${folder ?? 'the data folder'}; only the labelled definitions are scanned. See bench/README.md.\n`,
    )
    return undefined
  }
  return Promise.all(
    files.map(async (file) => {
      const { instructions, result } = JSON.parse(await readFile(join(folder, file), 'utf8')) as {
        instructions?: string
        result: { tools: unknown[] }
      }
      return { name: file.replace(/\.json$/, ''), instructions, tools: result.tools }
    }),
  )
}

function scanReal(servers: readonly ScannedServer[]): Pick<ScanFigures, 'real' | 'msPerThousandTools'> {
  // Processor time, so that other load does not count.
  const started = process.cpuUsage()
  const reports = scanServers(servers)
  const { user, system } = process.cpuUsage(started)
  const tools = reports.flatMap((report) => report.tools.map((tool) => ({ ...tool, server: report.server })))
  const soft = tools.filter(({ findings }) => findings.length > 0 && !isHard(findings))
  return {
    real: {
      origin: `mcp-catalog (${servers.length} servers)`,
      tools: tools.length,
      hard: [...tools, ...reports].filter(({ findings }) => isHard(findings)).length,
      soft: soft.length,
      softFindings: soft.flatMap(({ server, tool, findings }) =>
        findings.map(({ rule }) => `${server}/${tool}: ${rule}`),
      ),
    },
    msPerThousandTools: Math.round((user + system) / tools.length),
  }
}

function table({
  attacks,
  byTechnique,
  byFile,
  structural,
  language,
  untouched,
  lookalikes,
  benign,
  precision,
  real,
  msPerThousandTools,
}: ScanFigures): string {
  const line = (name: string, { count, found, held }: Counts) =>
    `${name.padEnd(24)} ${String(count).padStart(6)} ${String(found).padStart(6)} ${String(held).padStart(6)}  ${(found / count).toFixed(3)}`
  const heading = `${''.padEnd(24)} ${'count'.padStart(6)} ${'found'.padStart(6)} ${'held'.padStart(6)}  share found`
  return [
    heading,
    ...Object.entries(byTechnique).map(([name, counts]) => line(name, counts)),
    line('structural', structural),
    line('in plain words', language),
    line('all attacks', attacks),
    line('harmless', benign),
    '',
    ...Object.entries(byFile).map(([name, counts]) => line(name, counts)),
    line('untouched attacks', untouched.attacks),
    line('untouched harmless', untouched.benign),
    ...Object.entries(lookalikes).map(([name, counts]) => line(name, counts)),
    '',
    `precision: ${precision.found} of findings, ${precision.held} of quarantined samples`,
    ...(real
      ? [
          `real tools: ${real.tools}, hard ${real.hard}, soft ${real.soft} (${((100 * real.soft) / real.tools).toFixed(2)} %)`,
          ...real.softFindings.map((text) => `  ${text}`),
          `processor time for 1,000 tools: ${msPerThousandTools} ms`,
        ]
      : []),
  ].join('\n')
}
