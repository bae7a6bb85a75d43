/** Runs all checks of the doctor. */
import { type Entry, loadTokenizer, type Toolwell } from '@toolwell/core'
import { dropUndefined, findSchemaProblems, firstLine } from '@toolwell/core/internal'
import { lintPrompt } from '@toolwell/core/lint'
import { findUnmatchedPatterns } from '@toolwell/mcp/internal'
import { createGatewayCheck } from '../shared/clients/toolwell-entry.js'
import { count, sentence } from '../shared/layout.js'
import { measureTool } from '../shared/servers/cost.js'
import { findDuplicates } from '../shared/servers/server-facts.js'
import type { OpenServers } from '../shared/servers/with-servers.js'
import type { Terminal } from '../shared/terminal.js'
import { withCommandName } from '../shared/this-command.js'
import { checkClients, checkGatewayEntries } from './check-clients.js'
import { checkRules } from './check-rules.js'
import { checkDuplicates, checkLocks, checkServer } from './check-servers.js'
import { checkNames, checkPortability } from './check-tools.js'
import { type Diagnosis, type Level, RULES } from './report.js'

export interface DoctorOptions {
  /** The system prompt of the host, or an empty string. */
  readonly system: string
  /** Limit in milliseconds. */
  readonly slow: number
  /** The profile that selected the servers. */
  readonly profile?: string | undefined
}

/** Tokens from which a definition is reported as large. */
const LARGE = 2000

/** Returns diagnoses in the order of the rules, errors first. */
export async function diagnose(
  open: OpenServers,
  options: DoctorOptions,
  terminal: Pick<Terminal, 'env' | 'folder' | 'program' | 'name'>,
): Promise<Diagnosis[]> {
  const { config, servers, well } = open
  const times = await confirmedTimes(open, options.slow)
  const reports = servers.inspect()
  const isGateway = await createGatewayCheck(terminal)
  const entries = [...well.catalogue.entries()]
  // Quarantined tools get no advice.
  const usable = entries.filter(({ quarantined }) => !quarantined)
  const found = [
    ...config.problems.map(
      ({ severity, server, message, fix, file, line, path }): Diagnosis => ({
        rule: 'config',
        level: severity,
        ...dropUndefined({ server, line }),
        message: sentence(`${path === '' ? '' : `${path}: `}${message}`),
        fix: sentence(fix),
        file,
      }),
    ),
    ...findUnmatchedPatterns(config.servers, selectProfiles(config, options.profile), reports).map(
      ({ server, message, fix }): Diagnosis => ({
        rule: 'config',
        level: 'warning',
        ...dropUndefined({ server }),
        message: firstLine(sentence(message), 600),
        fix: sentence(fix),
      }),
    ),
    ...checkGatewayEntries(config, isGateway),
    ...checkClients(terminal),
    ...(await checkRules(open, isGateway, terminal)),
    ...reports.flatMap((report) => checkServer(report, open, { ...options, times })),
    ...checkDuplicates(open),
    ...checkLocks(open),
    ...checkNames(well, entries, findDuplicates(open)),
    ...checkSchemas(entries),
    ...checkPortability(entries),
    ...checkAlwaysLoaded(well, usable),
    ...checkAmbient(well, options.system),
    ...(await checkSizes(usable)),
  ]
  const files = new Map(config.servers.map(({ name, file }) => [name, file]))
  const rules = Object.keys(RULES)
  const levels: readonly Level[] = ['error', 'warning', 'note']
  return found
    .map((each) => {
      const file = each.file ?? files.get(each.server ?? '')
      return { ...each, fix: withCommandName(each.fix, terminal.name), ...dropUndefined({ file }) }
    })
    .sort(
      (a, b) =>
        rules.indexOf(a.rule) - rules.indexOf(b.rule) || levels.indexOf(a.level) - levels.indexOf(b.level),
    )
}

/** The servers of other profiles are not open. */
function selectProfiles({ profiles }: OpenServers['config'], name: string | undefined) {
  const selected = name === undefined ? undefined : profiles[name]
  return name === undefined || !selected ? profiles : { [name]: selected }
}

/** Lists slow servers again one by one, because servers that start together slow each other down. */
async function confirmedTimes({ servers, took }: OpenServers, slow: number): Promise<Map<string, number>> {
  const times = new Map(took)
  for (const [name, time] of took) {
    if (time <= slow) continue
    const begun = performance.now()
    await servers.refresh(name).catch(() => undefined)
    times.set(name, Math.min(time, performance.now() - begun))
  }
  return times
}

/** Problems shown for one schema. */
const MOST_PLACES = 5

/** Finds parts of schemas that every provider refuses. */
function checkSchemas(entries: readonly Entry[]): Diagnosis[] {
  return entries.flatMap(({ source, tool }): Diagnosis[] => {
    const problems = findSchemaProblems(tool.inputSchema)
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
        fix: 'Toolwell removes this part from the schema and describes it in text. Ask the author to fix it: without Toolwell, providers refuse every request with this tool.',
      }),
    )
  })
}

/** Names of tools that a model uses only if it sees them. */
const MUST_BE_SEEN =
  /^(?:(?:exit|leave|enter)_?(?:plan|\w+_?mode)\w*|ask_?(?:user|human|followup|question)\w*|clarif\w+|todo_?(?:write|read|list|update)?|update_?todos?|skill|attempt_?completion)$/i

function checkAlwaysLoaded(well: Toolwell, entries: readonly Entry[]): Diagnosis[] {
  return entries.flatMap(({ id, source, tool }): Diagnosis[] => {
    const name = tool.name.replaceAll('-', '_')
    if (!MUST_BE_SEEN.test(name) || well.explain(id)?.deferred !== true) return []
    return [
      {
        rule: 'always-loaded',
        level: 'warning',
        server: source,
        tool: tool.name,
        message:
          'Its name suggests a mode exit, a question to the user, a task list or a skill. Models do not use such a tool if they do not see it, and it is deferred.',
        fix: `Always load it: "alwaysLoad": [${JSON.stringify(firstLine(tool.name, 80))}] in the entry of ${firstLine(source, 80)}.`,
      },
    ]
  })
}

function checkAmbient(well: Toolwell, system: string): Diagnosis[] {
  return lintPrompt(well, { system }).flatMap(({ tools, named, where, excerpt, fix, times }): Diagnosis[] => {
    const entry = well.catalogue.get(tools[0] ?? '')
    if (entry?.quarantined) return []
    return [
      {
        rule: 'ambient',
        level: 'warning',
        ...dropUndefined({ server: entry?.source, tool: entry?.tool.name }),
        message: `${where.kind === 'system' ? 'The system prompt' : `The description of ${where.tool}, which is always sent,`} names the deferred tool ${firstLine(named, 80)} ${times === 1 ? 'once' : `${times} times`}: «${excerpt}»`,
        fix,
      },
    ]
  })
}

async function checkSizes(entries: readonly Entry[]): Promise<Diagnosis[]> {
  const tokenizer = await loadTokenizer()
  return entries.flatMap((entry): Diagnosis[] => {
    const { full } = measureTool(entry, tokenizer)
    return full < LARGE
      ? []
      : [
          {
            rule: 'large-tool',
            level: 'note',
            server: entry.source,
            tool: entry.tool.name,
            message: `Its definition has ${count(full)} tokens.`,
            fix: 'Keep it deferred, or exclude it with "deny" if you do not need it.',
          },
        ]
  })
}
