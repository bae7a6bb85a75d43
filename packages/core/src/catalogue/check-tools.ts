/** Checks what a source gives to the catalogue: usable tools, skipped tools, findings, and mistakes in calls. */

import { ToolwellError } from '../base/errors.js'
import { foldName, toolId } from '../base/names.js'
import { nearest } from '../base/nearest.js'
import { assertKnownKeys, invalid } from '../base/options.js'
import { showInvisible } from '../base/text.js'
import { describeSchemaProblems } from '../schema/dialect.js'
import { findBareProperties } from '../schema/normalise.js'
import { describeNotTools, isPromise } from '../tool/define-tool.js'
import type { Finding, SourceState } from '../tool/source.js'
import { findToolProblem, isValidated, readToolName, type Tool } from '../tool/tool.js'
import type { SourceUpdate, StateDetails } from './entry.js'
import { createEntry, type Entry } from './entry.js'

/** Separates usable tools from skipped ones. `unusable`: tools that the owner of the source skipped. `isChecked`: all tools were checked before. */
export function sortUsableTools(
  source: string,
  listed: readonly Tool[],
  unusable: readonly UnusableTool[] = [],
  isChecked = false,
): {
  readonly tools: ReadonlyMap<string, Tool>
  readonly findings: Finding[]
  readonly skipped: readonly (UnusableTool & { readonly finding: Finding })[]
} {
  const tools = new Map<string, Tool>()
  const findings: Finding[] = []
  const skipped: (UnusableTool & { readonly finding: Finding })[] = []
  const find = (kind: Finding['kind'], name: string, problem: string) => {
    const finding = createFinding(kind, source, name, problem)
    findings.push(finding)
    return finding
  }
  const skip = (kind: Finding['kind'], tool: UnusableTool) =>
    skipped.push({ ...tool, finding: find(kind, tool.name, tool.problem) })
  for (const tool of listed) {
    const name = readToolName(tool)
    const problem = isChecked ? undefined : findToolProblem(tool)
    if (problem) skip('invalid-tool', { name, description: readDescription(tool), problem })
    else if (tools.has(name))
      skip('duplicate-tool', {
        name,
        description: readDescription(tool),
        problem: 'is listed twice; the first one is kept',
      })
    else {
      tools.set(name, tool)
      for (const odd of findOddFields(tool)) find('odd-field', name, odd)
    }
  }
  for (const each of unusable) skip('invalid-tool', each)
  return { tools, findings, skipped }
}

/** `problem` completes a sentence that starts with the tool's name. */
export function createFinding(kind: Finding['kind'], source: string, tool: string, problem: string): Finding {
  return { kind, source, tool, detail: showInvisible(`${tool} ${problem}`) }
}

/** Reads the description of a tool in any form. */
function readDescription(tool: unknown): string {
  const { description, function: inner } = (tool ?? {}) as { description?: unknown; function?: unknown }
  const own = description ?? (inner as { description?: unknown } | undefined)?.description
  return typeof own === 'string' ? own : ''
}

/** The source of the meta-tools, as policies see it. No other source can have this name. */
export const META = 'toolwell'

export function assertSource(name: string): void {
  if (name === META)
    throw new ToolwellError(
      'invalid-option',
      `A source cannot be named ${JSON.stringify(META)}: policies see the meta-tools under this name. Rename the source.`,
      { path: 'source' },
    )
}

export function assertUpdate(name: string, update: SourceUpdate): void {
  assertSource(name)
  if (isPromise(update))
    throw invalid(
      'update',
      `setSource(${JSON.stringify(name)}) takes { tools: […] }, not a promise: await it.`,
    )
  assertKnownKeys(
    update,
    [
      'tools',
      'description',
      'state',
      'reason',
      'advice',
      'locked',
      'quarantined',
      'unusable',
      'kept',
      'tentative',
      'wake',
    ],
    `setSource(${JSON.stringify(name)})`,
  )
  if (!Array.isArray(update.tools))
    throw new ToolwellError(
      'invalid-option',
      `setSource(${JSON.stringify(name)}) needs tools: a list, which may be empty, not ${describeNotTools(update.tools)}`,
      { path: 'tools' },
    )
  assertState(update.state ?? 'ready')
}

function assertState(state: SourceState, details: StateDetails = {}): void {
  assertKnownKeys(details, ['advice', 'tentative', 'reason'], 'setState')
  const known = ['ready', 'connecting', 'failed', 'disabled', 'needs-login']
  if (!known.includes(state))
    throw new ToolwellError(
      'invalid-option',
      `A source's state is one of ${known.join(', ')}, not ${JSON.stringify(state)}.`,
      { path: 'state' },
    )
}

/** `known`: every source that was ever set. A late change of a removed source is not a mistake. */
export function assertStateChange(
  name: string,
  state: SourceState,
  details: StateDetails,
  known: readonly string[],
): void {
  assertState(state, details)
  if (known.includes(name)) return
  const [near] = nearest(name, known, 1)
  const help = near === undefined ? 'Set it with setSource first.' : `Did you mean ${JSON.stringify(near)}?`
  throw invalid('setState', `No source is named ${JSON.stringify(name)}. ${help}`)
}

export function assertDistinct(source: string, tools: readonly Tool[]): void {
  const seen = new Set<string>()
  for (const { name } of tools) {
    if (seen.has(name))
      throw new ToolwellError(
        'duplicate-tool',
        `Two tools are named ${JSON.stringify(name)}${source ? ` in source ${JSON.stringify(source)}` : ''}. Rename one, or give them different sources.`,
        { name, tools: [toolId(source, name)] },
      )
    seen.add(name)
  }
}

const FIELDS: Readonly<Record<keyof Tool, true>> = {
  name: true,
  description: true,
  inputSchema: true,
  title: true,
  outputSchema: true,
  strict: true,
  inputExamples: true,
  callers: true,
  eagerInputStreaming: true,
  annotations: true,
  validate: true,
  execute: true,
  forwards: true,
  defer: true,
  alwaysLoad: true,
  role: true,
  dynamicDescription: true,
  domain: true,
  group: true,
  aliases: true,
  canonicalName: true,
  searchHint: true,
  card: true,
  promptSnippet: true,
  guidelines: true,
  examples: true,
  maxResultTokens: true,
  timeout: true,
  risk: true,
  insteadOf: true,
  source: true,
}

/** Names of the same fields in other libraries. */
const SYNONYMS: Readonly<Record<string, keyof Tool>> = {
  eager: 'alwaysLoad',
  lazy: 'defer',
  deferred: 'defer',
  defer_loading: 'defer',
  parameters: 'inputSchema',
  input_schema: 'inputSchema',
  hint: 'searchHint',
  keywords: 'searchHint',
  handler: 'execute',
  run: 'execute',
}

/** More fields of MCP tools. */
const MCP_FIELDS: ReadonlySet<string> = new Set(['_meta', 'icons', 'execution'])

/** Finds unknown fields that resemble known ones. Each completes a sentence that starts with the tool's name. */
function findOddFields(tool: Tool): string[] {
  return Object.keys(tool).flatMap((key) => {
    if (Object.hasOwn(FIELDS, key) || MCP_FIELDS.has(key)) return []
    const meant = Object.hasOwn(SYNONYMS, key) ? SYNONYMS[key] : nearest(key, Object.keys(FIELDS), 1)[0]
    return meant === undefined ? [] : [`has the unknown field ${JSON.stringify(key)}; did you mean ${meant}?`]
  })
}

/** Reports schema problems when the tool is added. Completes a sentence that starts with the tool's name. Does not read a schema from a file. */
export function findOddSchema(tool: Tool): string | undefined {
  if (isValidated(tool)) return undefined
  const bare = findBareProperties(tool.inputSchema)
  if (bare !== undefined) return bare
  const problems = describeSchemaProblems(tool.inputSchema)
  return problems === '' ? undefined : `has an inputSchema that needs repair: ${problems}`
}

/** A listed entry that cannot be used as a tool. */
export interface UnusableTool {
  readonly name: string
  readonly description?: string
  /** Completes a sentence that starts with the name: "has no inputSchema". The model reads it, so it must not contain text of a server. */
  readonly problem: string
}

/** A tool that is listed but not used. Searches find it, so that the model learns why it is missing. */
export interface Skipped {
  /** For search and policies. Its id differs from all ids of tools. */
  readonly entry: Entry
  readonly problem: string
  readonly finding: Finding
}

/** Part of the id of skipped tools only. */
const SKIPPED_MARK = '\u0000'

export function isSkippedId(id: string): boolean {
  return id.includes(SKIPPED_MARK)
}

export function createSkipped(
  source: string,
  wireName: string,
  { name, description = '', problem }: UnusableTool,
  finding: Finding,
  index: number,
): Skipped {
  const id = `${toolId(source, name)}${SKIPPED_MARK}${index}`
  const tool = { name, description, inputSchema: {} }
  return { entry: createEntry(id, wireName, source, tool, false), problem, finding }
}

/** True if the name means this skipped tool. */
export function hasSkippedName({ entry }: Skipped, asked: string): boolean {
  const { source, tool, wireName } = entry
  const folded = foldName(asked)
  return [tool.name, wireName, toolId(source, tool.name), `${source} ${tool.name}`].some(
    (each) => foldName(each) === folded,
  )
}
