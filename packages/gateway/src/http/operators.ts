/** For operators: health, readiness, and metrics of this process in the text format of Prometheus. */
import type { ServerSet } from '../servers/server-set.js'
import type { ServerSets } from '../servers/server-sets.js'
import { DURATION_BOUNDS, memoryCallStats, type ToolStats } from '../storage/call-stats.js'
import type { GatewayReport } from './report.js'

export class Operators {
  /** Sums of this process: the stats of the storage may be older, and another gateway may write to them. */
  readonly stats = memoryCallStats()
  /** Tokens of all definitions that clients did not read. */
  tokensSaved = 0
  readonly #refused = new Map<string, number>()
  readonly #serverSets: ServerSets
  readonly #isCutOff: () => boolean | undefined
  readonly #inspect: () => Promise<GatewayReport>

  /** `isCutOff`: the database of a shared storage does not answer. Undefined without a database. */
  constructor(
    serverSets: ServerSets,
    isCutOff: () => boolean | undefined,
    inspect: () => Promise<GatewayReport>,
  ) {
    this.#serverSets = serverSets
    this.#isCutOff = isCutOff
    this.#inspect = inspect
  }

  countRefusal(reason: string | undefined): void {
    if (reason !== undefined) this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1)
  }

  /** Answers without a token, because the probes of orchestrators have none. The answers name no file and no server. */
  probe(path: string): { readonly isOk: boolean; readonly report: object } | undefined {
    if (path === '/healthz') return { isOk: true, report: { status: 'ok' } }
    if (path !== '/readyz') return undefined
    const checks = this.#checkReadiness()
    const isOk = Object.values(checks).every((state) => state === 'ok')
    return { isOk, report: { status: isOk ? 'ok' : 'not ready', checks } }
  }

  async metrics(): Promise<Response> {
    const report = await this.#inspect()
    const text = writeMetrics({
      report,
      tools: this.stats.tools(),
      refused: this.#refused,
      tokensSaved: this.tokensSaved - report.answerTokens,
    })
    return new Response(text, { headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' } })
  }

  /** Each check is `ok`, or the reason why clients should not connect yet. A project cannot fail the check of the others. */
  #checkReadiness(): Readonly<Record<string, string>> {
    const sets = this.#serverSets.all.map(({ serverSet }) => serverSet)
    const isEverywhere = (check: (serverSet: ServerSet) => boolean) => sets.length > 0 && sets.every(check)
    const isCutOff = this.#isCutOff()
    const isBroken = isEverywhere(({ known, problems }) => known.size === 0 && problems.length > 0)
    return {
      ...(isCutOff === undefined ? {} : { database: isCutOff ? 'does not answer' : 'ok' }),
      config: isBroken ? 'no server can be used: run toolwell doctor' : 'ok',
      servers: isEverywhere(({ isSettling }) => isSettling) ? 'are being listed for the first time' : 'ok',
    }
  }
}

export interface MetricsFacts {
  readonly report: GatewayReport
  /** Sums since the start of this process, in the order of the first calls. */
  readonly tools: readonly ToolStats[]
  /** Refused calls by reason, also of tools that no server has. */
  readonly refused: ReadonlyMap<string, number>
  /** Tokens that all lists saved, less the tokens of search answers and refusals. */
  readonly tokensSaved: number
}

/** Tools with their own labels. Later ones are summed as `others`, so that the number of series is bounded. */
const MOST_TOOLS = 200
const OTHERS = 'others'

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number, suffix?: string]

export function writeMetrics({ report, tools, refused, tokensSaved }: MetricsFacts): string {
  const { version, startedAt, counts, clients, lost, memory } = report
  const servers = report.serverSets.flatMap((set) => set.servers)
  const shown = [...tools.slice(0, MOST_TOOLS), ...sumOthers(tools.slice(MOST_TOOLS))]
  const perTool = (samples: (tool: ToolStats) => readonly Sample[]): Sample[] =>
    shown.flatMap((tool) =>
      samples(tool).map(
        ([labels, ...rest]) => [{ server: tool.server, tool: tool.tool, ...labels }, ...rest] as const,
      ),
    )
  return [
    metric('toolwell_info', 'gauge', 'The version of the gateway.', [[{ version }, 1]]),
    metric(
      'toolwell_calls_total',
      'counter',
      'Calls of tools, by how they ended.',
      perTool(({ calls, errors, refused: notRun }) => [
        [{ outcome: 'ok' }, calls - errors],
        [{ outcome: 'error' }, errors],
        [{ outcome: 'refused' }, notRun],
      ]),
    ),
    metric(
      'toolwell_call_duration_seconds',
      'histogram',
      'Durations of calls that ran.',
      perTool(writeHistogram),
    ),
    metric(
      'toolwell_call_tokens_total',
      'counter',
      'Estimated tokens of arguments (in) and results (out).',
      perTool(({ tokensIn, tokensOut }) => [
        [{ direction: 'in' }, tokensIn],
        [{ direction: 'out' }, tokensOut],
      ]),
    ),
    metric(
      'toolwell_refused_calls_total',
      'counter',
      'Calls that the gateway did not run, by reason.',
      [...refused].map(([reason, value]) => [{ reason }, value]),
    ),
    metric('toolwell_searches_total', 'counter', 'Searches for tools.', [[{}, counts.searches]]),
    metric('toolwell_lists_total', 'counter', 'Lists of tools that clients read.', [[{}, counts.lists]]),
    metric(
      'toolwell_tokens_saved',
      'gauge',
      'Estimated tokens of all definitions that clients did not read, less search answers and refusals.',
      [[{}, tokensSaved]],
    ),
    metric(
      'toolwell_servers',
      'gauge',
      'Servers by state, in every set of config files.',
      countBy(servers.map(({ state }) => state)).map(([state, value]) => [{ state }, value]),
    ),
    metric('toolwell_quarantined_tools', 'gauge', 'Tools that wait for approval.', [
      [{}, servers.reduce((sum, { quarantined }) => sum + Object.keys(quarantined).length, 0)],
    ]),
    metric('toolwell_clients', 'gauge', 'Connected clients.', [[{}, clients.length]]),
    metric('toolwell_lost_records_total', 'counter', 'Records that could not be written.', [
      [{ kind: 'call' }, lost.calls.count],
      [{ kind: 'result' }, lost.results.count],
    ]),
    metric('process_resident_memory_bytes', 'gauge', 'Memory of the gateway.', [[{}, memory.gateway]]),
    metric('process_start_time_seconds', 'gauge', 'Start of the gateway.', [[{}, startedAt / 1000]]),
  ].join('')
}

/** Prometheus counts each call in every bucket that is long enough for it. */
function writeHistogram({ durations, milliseconds, calls }: ToolStats): Sample[] {
  let sum = 0
  const buckets = DURATION_BOUNDS.map((bound, index): Sample => {
    sum += durations[index] ?? 0
    return [{ le: String(bound / 1000) }, sum, '_bucket']
  })
  return [
    ...buckets,
    [{ le: '+Inf' }, calls, '_bucket'],
    [{}, milliseconds / 1000, '_sum'],
    [{}, calls, '_count'],
  ]
}

function sumOthers(tools: readonly ToolStats[]): ToolStats[] {
  const [first] = tools
  if (!first) return []
  const sum = (key: 'calls' | 'errors' | 'refused' | 'tokensIn' | 'tokensOut' | 'milliseconds') =>
    tools.reduce((total, tool) => total + tool[key], 0)
  return [
    {
      ...first,
      server: OTHERS,
      tool: OTHERS,
      calls: sum('calls'),
      errors: sum('errors'),
      refused: sum('refused'),
      tokensIn: sum('tokensIn'),
      tokensOut: sum('tokensOut'),
      milliseconds: sum('milliseconds'),
      durations: first.durations.map((_, index) =>
        tools.reduce((total, { durations }) => total + (durations[index] ?? 0), 0),
      ),
    },
  ]
}

function countBy(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
}

function metric(
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  samples: readonly Sample[],
): string {
  const lines = samples.map(
    ([labels, value, suffix = '']) => `${name}${suffix}${writeLabels(labels)} ${value}`,
  )
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

function writeLabels(labels: Labels): string {
  const written = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return written.length > 0 ? `{${written.join(',')}}` : ''
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
