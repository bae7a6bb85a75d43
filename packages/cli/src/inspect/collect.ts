/** Collects servers, tools, tokens and findings, and measures the first request. */
import { type Catalogue, createToolwell, type Entry, loadTokenizer } from '@toolwell/core'
import { describeProblem, type ReviewFinding, type ServerReport, type ServerWarning } from '@toolwell/mcp'
import { scanServers } from '@toolwell/mcp/scan'
import { createTruncatedList } from '../shared/layout.js'
import { Problem } from '../shared/problem.js'
import { startProgress } from '../shared/progress.js'
import type { ListedTool } from '../shared/read-catalogue.js'
import { readCatalogue } from '../shared/read-catalogue.js'
import {
  measureSurface,
  measureTool,
  type SurfaceCost,
  type SurfaceSource,
  type ToolCost,
} from '../shared/servers/cost.js'
import type { UnusableView } from '../shared/servers/server-facts.js'
import {
  duplicateMessage,
  duplicatePairs,
  findDuplicates,
  isDuplicateFinding,
} from '../shared/servers/server-facts.js'
import type { OpenServers } from '../shared/servers/with-servers.js'
import type { Terminal } from '../shared/terminal.js'

export interface ToolView {
  readonly server: string
  readonly name: string
  readonly wireName: string
  readonly tokens: ToolCost
  readonly isQuarantined: boolean
}

export interface ServerView {
  readonly name: string
  /** `file`: read from a catalogue. `refused`: the entry of the config is unusable. */
  readonly state: ServerReport['state'] | 'file' | 'refused'
  readonly reason: string
  readonly endpoint: string
  readonly trusted: ServerReport['trusted'] | undefined
  readonly tools: number
  /** Tools that the config excludes. */
  readonly denied: readonly string[]
  /** Unusable entries of its list, with the reason. */
  readonly unusable: readonly UnusableView[]
  readonly quarantined: ReadonlyMap<string, string>
  readonly findings: readonly ReviewFinding[]
  readonly warnings: readonly ServerWarning[]
  readonly tokens: ToolCost
  readonly listedAt: number | undefined
}

export interface Inspected {
  readonly tokenizer: string
  readonly servers: readonly ServerView[]
  /** Largest first. */
  readonly tools: readonly ToolView[]
  readonly tokens: ToolCost
  /** The first request with mode "auto", and with mode "on". */
  readonly surface: SurfaceCost
  readonly deferred: SurfaceCost
  readonly problems: readonly string[]
  /** Number of servers with usable tools. */
  readonly usable: number
  /** Servers whose tools are unknown, so the figures do not include them. */
  readonly incomplete: readonly string[]
}

export async function inspectServers(open: OpenServers): Promise<Inspected> {
  const { config, refused, well, servers } = open
  const reports = servers.inspect()
  const duplicates = findDuplicates(open)
  const pairs = new Map(duplicatePairs(duplicates))
  const entries = new Map<string, Entry[]>()
  for (const entry of well.catalogue.entries())
    entries.set(entry.source, [...(entries.get(entry.source) ?? []), entry])
  const isReady = (name: string) => well.catalogue.sources.get(name)?.state === 'ready'
  const found = [
    ...reports.map((report) => ({
      view: {
        ...createView(report),
        findings: listFindings(report, duplicates.has(report.name), pairs.get(report.name)),
      },
      entries: entries.get(report.name) ?? [],
      isReady: isReady(report.name),
    })),
    ...refused.map((problem) => ({ view: refusedView(problem), entries: [], isReady: false })),
  ]
  found.sort((a, b) => (a.view.name < b.view.name ? -1 : 1))
  return measure(found, config.problems.map(describeProblem))
}

/** Inspects the tools of `--catalog`, and scans them like those of a server. */
export async function inspectCatalogue(
  path: string,
  skipBroken: boolean,
  terminal: Terminal,
): Promise<Inspected> {
  const { sources, remarks } = await readSources(path, skipBroken, terminal)
  for (const remark of remarks) await terminal.errors.write(`toolwell: ${remark}\n`)
  const { catalogue } = createToolwell()
  const scanned = scanServers(
    [...sources].map(([name, tools]) => ({ name, tools: tools.map(({ tool }) => tool) })),
  )
  for (const [name, tools] of sources)
    catalogue.setSource(name, {
      tools: tools.map(({ tool }) => ({ ...tool, source: name })),
      description: tools[0]?.serverDescription ?? '',
    })
  const found = scanned.map(({ server, tools }) => ({
    view: {
      name: server,
      state: 'file' as const,
      reason: '',
      endpoint: path,
      trusted: undefined,
      tools: catalogue.sources.get(server)?.ids.size ?? 0,
      denied: [],
      unusable: listUnusable(server, catalogue),
      quarantined: new Map<string, string>(),
      findings: tools.flatMap(({ tool, findings }) =>
        findings.map(({ rule, severity, where, why, excerpt, fix }) => ({
          tool,
          severity,
          rule,
          where,
          fix,
          detail: `${rule} in ${where || 'the definition'}: ${why}: ${excerpt}. ${fix}`,
        })),
      ),
      warnings: [],
      listedAt: undefined,
    },
    entries: [...catalogue.entries()].filter(({ source }) => source === server),
    isReady: true,
  }))
  return measure(
    found,
    catalogue.findings.map(({ source, tool, detail }) => `${source}/${tool}: ${detail}`),
  )
}

function listUnusable(server: string, { findings }: Catalogue): UnusableView[] {
  return findings
    .filter(({ source, kind }) => source === server && (kind === 'invalid-tool' || kind === 'duplicate-tool'))
    .map(({ tool, detail }) => ({
      name: tool,
      reason: detail.startsWith(`${tool} `) ? detail.slice(tool.length + 1) : detail,
    }))
}

function createView(report: ServerReport): Found['view'] {
  const { name, state, reason, endpoint, trusted, tools, denied, unusable } = report
  const { quarantined, findings, warnings, listedAt } = report
  return {
    name,
    state,
    reason,
    endpoint,
    trusted,
    tools: tools.length,
    denied,
    unusable,
    quarantined,
    findings,
    warnings,
    listedAt,
  }
}

/** Replaces the findings about duplicate tools by one finding per pair of servers, as the doctor does. */
function listFindings(
  { findings }: ServerReport,
  isTwin: boolean,
  other: string | undefined,
): ReviewFinding[] {
  const own = findings.filter((finding) => !isTwin || !isDuplicateFinding(finding))
  if (other === undefined) return own
  const { message, fix } = duplicateMessage(other)
  return [...own, { severity: 'soft', rule: 'same-server', detail: `${message} ${fix}`, fix }]
}

function refusedView(problem: OpenServers['refused'][number]): Found['view'] {
  return {
    name: problem.server,
    state: 'refused',
    reason: describeProblem(problem),
    endpoint: '',
    trusted: undefined,
    tools: 0,
    denied: [],
    unusable: [],
    quarantined: new Map(),
    findings: [],
    warnings: [],
    listedAt: undefined,
  }
}

interface Found {
  readonly view: Omit<ServerView, 'tokens'>
  readonly entries: readonly Entry[]
  readonly isReady: boolean
}

async function measure(found: readonly Found[], problems: readonly string[]): Promise<Inspected> {
  const tokenizer = await loadTokenizer()
  const tools: ToolView[] = []
  const views = found.map(({ view, entries }): ServerView => {
    const own = entries.map(
      (entry): ToolView => ({
        server: view.name,
        name: entry.tool.name,
        wireName: entry.wireName,
        tokens: measureTool(entry, tokenizer),
        isQuarantined: entry.quarantined || view.state === 'quarantined',
      }),
    )
    tools.push(...own)
    return { ...view, tokens: sum(own) }
  })
  const sources = found
    .filter(({ isReady }) => isReady)
    .map(
      ({ view, entries }): SurfaceSource => ({
        name: view.name,
        description: '',
        tools: entries.map(({ tool }) => tool),
        quarantined: entries.filter(({ quarantined }) => quarantined).map(({ tool }) => tool.name),
      }),
    )
  tools.sort((a, b) => b.tokens.full - a.tokens.full || (a.wireName < b.wireName ? -1 : 1))
  return {
    tokenizer: tokenizer.name,
    servers: views,
    tools,
    tokens: sum(tools),
    surface: await measureSurface(sources, 'auto', tokenizer),
    deferred: await measureSurface(sources, 'on', tokenizer),
    problems,
    usable: found.filter(({ view, isReady }) => isReady && view.state !== 'quarantined').length,
    // Disabled and quarantined servers are not sent, so nothing is missing.
    incomplete: found
      .filter(({ view, isReady }) => !isReady && view.state !== 'disabled' && view.state !== 'quarantined')
      .map(({ view }) => view.name),
  }
}

function sum(tools: readonly ToolView[]): ToolCost {
  const total = (part: keyof ToolCost) => tools.reduce((all, { tokens }) => all + tokens[part], 0)
  return { full: total('full'), card: total('card'), name: total('name') }
}

async function readSources(path: string, skipBroken: boolean, terminal: Terminal) {
  const sources = new Map<string, ListedTool[]>()
  const remarks: string[] = []
  const broken = createTruncatedList()
  const progress = startProgress('Reading tools', terminal)
  for await (const found of readCatalogue(path, terminal)) {
    if (found.kind === 'remark') remarks.push(found.text)
    else if (found.kind === 'broken') broken.add(`${found.place}: ${found.problem}`)
    else {
      const name = found.listed.server || 'catalogue'
      const list = sources.get(name)
      if (list) list.push(found.listed)
      else sources.set(name, [found.listed])
      await progress.tick()
    }
  }
  await progress.done()
  if (broken.count > 0 && !skipBroken)
    throw new Problem(
      `${path} has broken entries:\n${broken.text()}`,
      'Fix them, or inspect the rest with --skip-broken.',
    )
  if (broken.count > 0) remarks.push(`Skipped broken entries:\n${broken.text()}`)
  if (sources.size === 0)
    throw new Problem(
      `${path} contains no tools.`,
      'Give a file with one tool on each line, or a tools/list result.',
    )
  return { sources, remarks }
}
