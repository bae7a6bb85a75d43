/** Looks at servers as they are now, and at everything that is known of their tools. */
import { type Entry, lintAmbient, loadTokenizer, type Toolwell } from '@toolwell/core'
import { canonicalJson, defined, firstLine, schemaProblems } from '@toolwell/core/shared'
import type { ServerReport } from '@toolwell/mcp'
import { keepOut, lockFileOf } from '@toolwell/mcp/lock'
import { changesIn } from '../shared/servers/changes.js'
import { costOf } from '../shared/servers/cost.js'
import { unusableLine } from '../shared/servers/unusable.js'
import type { OpenServers } from '../shared/servers/with-servers.js'
import { count } from '../shared/table.js'
import { type Diagnosis, type Level, RULES, type RuleName } from './diagnosis.js'
import { checkPortability } from './portability.js'

export interface DoctorOptions {
  /** The host's system prompt, where there is one to look at. */
  readonly system: string
  /** Milliseconds from which on a server is slow. */
  readonly slow: number
}

/** Tokens from which on one definition is worth a word. */
const LARGE = 2000

/** In the order of the rules; within one, errors first. */
export async function diagnose(open: OpenServers, options: DoctorOptions): Promise<Diagnosis[]> {
  const { config, servers, well } = open
  const reports = servers.inspect()
  const entries = [...well.catalogue.entries()]
  // Nobody is told how to get more out of what is held back.
  const usable = entries.filter(({ quarantined }) => !quarantined)
  const found = [
    ...config.problems.map(
      ({ severity, server, message, fix, file, line, path }): Diagnosis => ({
        rule: 'config',
        level: severity,
        ...defined({ server, line }),
        message: sentence(`${path === '' ? '' : `${path}: `}${message}`),
        fix: sentence(fix),
        file,
      }),
    ),
    ...reports.flatMap((report) => ofServer(report, open, options)),
    ...twins(open),
    ...firstMet(open),
    ...names(well, entries, twinsOf(open)),
    ...unsound(entries),
    ...checkPortability(entries),
    ...floor(well, usable),
    ...ambient(well, options.system),
    ...(await sizes(usable)),
  ]
  const files = new Map(config.servers.map(({ name, file }) => [name, file]))
  const rules = Object.keys(RULES)
  const levels: readonly Level[] = ['error', 'warning', 'note']
  return found
    .map((each) => {
      const file = each.file ?? files.get(each.server ?? '')
      return file === undefined ? each : { ...each, file }
    })
    .sort(
      (a, b) =>
        rules.indexOf(a.rule) - rules.indexOf(b.rule) || levels.indexOf(a.level) - levels.indexOf(b.level),
    )
}

function ofServer(report: ServerReport, open: OpenServers, { slow }: DoctorOptions): Diagnosis[] {
  const { took } = open
  const { name, state, reason, findings, warnings, quarantined, trusted } = report
  const about = (rule: RuleName, level: Level, message: string, fix: string, tool?: string): Diagnosis => ({
    rule,
    level,
    server: name,
    ...defined({ tool }),
    message: firstLine(message, 600),
    fix: firstLine(fix, 400),
  })
  const diagnoses: Diagnosis[] = []
  if (state === 'failed' || state === 'connecting')
    diagnoses.push(
      about(
        'dead-server',
        'error',
        reason || 'It could not be listed.',
        'Mend its entry, or set "enabled": false.',
      ),
    )
  if (state === 'needs-login')
    diagnoses.push(about('dead-server', 'error', 'It wants a login.', `Log in with: toolwell login ${name}`))
  const time = took.get(name)
  if (time !== undefined && time > slow)
    diagnoses.push(
      about(
        'slow-server',
        'warning',
        `It took ${(time / 1000).toFixed(1)} s to be listed.`,
        'The first call of it waits as long. Install it instead of fetching it at each start, or keep it running with "lazy": false.',
      ),
    )
  const hard = new Set(findings.filter(({ severity }) => severity === 'hard').map(({ tool }) => tool))
  const wayOut = (tool?: string) =>
    hard.has(tool)
      ? `Do not approve it. ${keepOut(name, tool)}`
      : trusted === 'lock'
        ? 'See what differs with: toolwell lock --check'
        : 'The reason says what to do.'
  if (state === 'quarantined')
    diagnoses.push(about('held-back', 'error', `It is held back: ${reason}`, wayOut()))
  for (const [tool, why] of state === 'quarantined' ? [] : quarantined)
    diagnoses.push(about('held-back', 'error', `It is held back: ${why}`, wayOut(tool), tool))
  for (const each of report.unusable) {
    // Another tool of that name is there: whether it can be used is said of that one.
    const isRepeated = each.name !== undefined && report.tools.includes(each.name)
    const keep = each.name === undefined || isRepeated ? '' : `, or keep it out with "deny"`
    diagnoses.push(
      about(
        'bad-schema',
        isRepeated ? 'warning' : 'error',
        `It cannot be used: ${unusableLine(each)}.`,
        `Ask the author to mend it${keep}.`,
        each.name,
      ),
    )
  }
  const twin = twinsOf(open).get(name)
  for (const { tool, severity, detail, fix, rule, where } of findings) {
    // Of a server that is there twice, that is said once.
    if (twin !== undefined && rule === 'shadowing' && severity === 'soft' && where === 'name') continue
    diagnoses.push(
      about(
        'poisoned',
        severity === 'hard' ? 'error' : 'warning',
        fix !== undefined && detail.endsWith(fix) ? detail.slice(0, -fix.length) : detail,
        fix ?? 'Look at the definition before you approve it.',
        tool,
      ),
    )
  }
  for (const { text } of changesIn(warnings))
    diagnoses.push(
      about(
        'changed',
        'warning',
        `${text}.`,
        'Only fingerprints are kept without a lock, so what it was cannot be shown. Look at it as it is now, and pin it with: toolwell lock',
      ),
    )
  return diagnoses
}

/** What no lock holds, in one line: a lock is written for all of them at once. */
function firstMet({ config, servers }: OpenServers): Diagnosis[] {
  const named = new Map(config.servers.map((server) => [server.name, server]))
  const met = servers
    .inspect()
    .filter(({ name, trusted }) => trusted === 'first-use' && lockFileOf(named.get(name) ?? {}) !== undefined)
    .map(({ name }) => firstLine(name, 40))
  return met.length === 0
    ? []
    : [
        {
          rule: 'lock',
          level: 'note',
          message: `Trusted as first met, because no lock holds them: ${met.join(', ')}.`,
          fix: 'Pin their definitions with: toolwell lock',
        },
      ]
}

/** Servers with the same command or address as another one, and its name. */
function twinsOf({ config }: OpenServers): Map<string, string> {
  const groups = new Map<string, string[]>()
  for (const { name, endpoint, enabled } of config.servers) {
    // How an address is spoken to does not make it another one.
    const key = canonicalJson(endpoint.type === 'stdio' ? endpoint : { ...endpoint, type: 'remote' })
    if (enabled) groups.set(key, [...(groups.get(key) ?? []), name])
  }
  const twins = new Map<string, string>()
  for (const [first = '', ...others] of groups.values()) {
    for (const other of others) twins.set(other, first)
    if (others[0] !== undefined) twins.set(first, others[0])
  }
  return twins
}

function twins(open: OpenServers): Diagnosis[] {
  const known = new Set<string>()
  return [...twinsOf(open)].flatMap(([name, other]): Diagnosis[] => {
    if (known.has(other)) return []
    known.add(name)
    return [
      {
        rule: 'same-server',
        level: 'warning',
        server: name,
        message: `It is the same server as ${firstLine(other, 80)}: every tool is there twice.`,
        fix: 'Remove one of the two entries.',
      },
    ]
  })
}

/** As one, with its end. */
function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}

function names(well: Toolwell, entries: readonly Entry[], twin: ReadonlyMap<string, string>): Diagnosis[] {
  const odd = well.catalogue.findings.map(
    ({ kind, source, tool, detail }): Diagnosis => ({
      rule: kind === 'invalid-tool' || kind === 'broken-alias' ? 'bad-schema' : 'collision',
      level: kind === 'look-alike' || kind === 'case-twin' ? 'note' : 'warning',
      server: source,
      ...defined({ tool: tool || undefined }),
      message: firstLine(`${kind}: ${detail}`, 400),
      fix:
        kind === 'invalid-tool'
          ? 'It cannot be used. Ask the author to fix it, or exclude it with "deny".'
          : 'Rename the server, or keep one of the tools out with "deny".',
    }),
  )
  const long = entries.flatMap(({ source, tool, wireName }): Diagnosis[] => {
    const plain = `${source}__${tool.name}`
    return plain.length <= 64
      ? []
      : [
          {
            rule: 'long-name',
            level: 'warning',
            server: source,
            tool: tool.name,
            message: `Its name has ${plain.length} characters with that of its server; it is sent as ${wireName}.`,
            fix:
              tool.name.length > 60
                ? 'Ask the author for a shorter name.'
                : `Give the server a name of at most ${62 - tool.name.length} characters.`,
          },
        ]
  })
  const owners = new Map<string, string[]>()
  for (const { source, tool } of entries) owners.set(tool.name, [...(owners.get(tool.name) ?? []), source])
  const shared = [...owners].flatMap(([name, sources]): Diagnosis[] =>
    sources.length < 2 || sources.every((source) => twin.has(source))
      ? []
      : [
          {
            rule: 'shared-name',
            level: 'note',
            tool: name,
            message: `These servers have a tool called ${firstLine(name, 80)}: ${sources.map((source) => firstLine(source, 40)).join(', ')}.`,
            fix: 'Toolwell tells them apart by their server. Clients that do not need one of them denied.',
          },
        ],
  )
  return [...odd, ...long, ...shared]
}

/** Places in one schema that are named one by one. */
const MOST_PLACES = 5

/** What providers would refuse of a schema whoever they are. Toolwell sends what is sound of it. */
function unsound(entries: readonly Entry[]): Diagnosis[] {
  return entries.flatMap(({ source, tool }): Diagnosis[] => {
    const problems = schemaProblems(tool.inputSchema)
    const more = problems.length - MOST_PLACES
    return problems.slice(0, MOST_PLACES).map(
      ({ path, problem }, index): Diagnosis => ({
        rule: 'bad-schema',
        level: 'warning',
        server: source,
        tool: tool.name,
        message: firstLine(
          `inputSchema.${path} ${problem}${index === MOST_PLACES - 1 && more > 0 ? `; and ${more} more` : ''}.`,
          400,
        ),
        fix: 'Toolwell sends the schema without it and tells it in words. Ask the author to mend it: without Toolwell, a provider refuses every request with this tool.',
      }),
    )
  })
}

/** Names of tools that a model has to see, or it does without them. */
const MUST_BE_SEEN =
  /^(?:(?:exit|leave|enter)_?(?:plan|\w+_?mode)\w*|ask_?(?:user|human|followup|question)\w*|clarif\w+|todo_?(?:write|read|list|update)?|update_?todos?|skill|attempt_?completion)$/i

function floor(well: Toolwell, entries: readonly Entry[]): Diagnosis[] {
  return entries.flatMap(({ id, source, tool }): Diagnosis[] => {
    const name = tool.name.replaceAll('-', '_')
    if (!MUST_BE_SEEN.test(name) || well.explain(id)?.deferred !== true) return []
    return [
      {
        rule: 'floor',
        level: 'warning',
        server: source,
        tool: tool.name,
        message:
          'By its name it is a mode exit, a question to the user, a list of tasks or a skill, and it is deferred: models do without such a tool when they do not see it.',
        fix: `Send it always: "alwaysLoad": [${JSON.stringify(firstLine(tool.name, 80))}] in the entry of ${firstLine(source, 80)}.`,
      },
    ]
  })
}

function ambient(well: Toolwell, system: string): Diagnosis[] {
  return lintAmbient(well, { system }).flatMap(
    ({ tools, named, where, excerpt, fix, times }): Diagnosis[] => {
      const entry = well.catalogue.get(tools[0] ?? '')
      if (entry?.quarantined) return []
      return [
        {
          rule: 'ambient',
          level: 'warning',
          ...defined({ server: entry?.source, tool: entry?.tool.name }),
          message: `${where.kind === 'system' ? 'The system prompt' : `The description of ${where.tool}, which is always sent,`} names ${firstLine(named, 80)} ${times === 1 ? 'once' : `${times} times`}, and it is deferred: «${excerpt}»`,
          fix,
        },
      ]
    },
  )
}

async function sizes(entries: readonly Entry[]): Promise<Diagnosis[]> {
  const tokenizer = await loadTokenizer()
  return entries.flatMap((entry): Diagnosis[] => {
    const { full } = costOf(entry, tokenizer)
    return full < LARGE
      ? []
      : [
          {
            rule: 'large-tool',
            level: 'note',
            server: entry.source,
            tool: entry.tool.name,
            message: `Its definition takes ${count(full)} tokens.`,
            fix: 'Leave it deferred; keep it out with "deny" where nobody needs it.',
          },
        ]
  })
}
