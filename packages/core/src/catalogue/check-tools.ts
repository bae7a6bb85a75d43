/** What a source lists, sorted: the tools that can be used by their names, and what is odd about the others. */

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

/** `unusable`: what its owner has sorted out before. `isChecked`: nothing is wrong with any of the tools. */
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
  const leave = (kind: Finding['kind'], tool: UnusableTool) =>
    skipped.push({ ...tool, finding: find(kind, tool.name, tool.problem) })
  for (const tool of listed) {
    const name = readToolName(tool)
    const problem = isChecked ? undefined : findToolProblem(tool)
    if (problem) leave('invalid-tool', { name, description: readDescription(tool), problem })
    else if (tools.has(name))
      leave('duplicate-tool', {
        name,
        description: readDescription(tool),
        problem: 'is listed twice; the first one is kept',
      })
    else {
      tools.set(name, tool)
      for (const odd of findOddFields(tool)) find('odd-field', name, odd)
    }
  }
  for (const each of unusable) leave('invalid-tool', each)
  return { tools, findings, skipped }
}

/** `problem`: a sentence behind the tool's name. */
export function createFinding(kind: Finding['kind'], source: string, tool: string, problem: string): Finding {
  return { kind, source, tool, detail: showInvisible(`${tool} ${problem}`) }
}

/** Of whatever it is. */
function readDescription(tool: unknown): string {
  const { description, function: inner } = (tool ?? {}) as { description?: unknown; function?: unknown }
  const own = description ?? (inner as { description?: unknown } | undefined)?.description
  return typeof own === 'string' ? own : ''
}

// A source as it is given to the catalogue, checked: a mistake there is told where it is made.

/** The source that policies see for the meta-tools; no other source can have its name. */
export const META = 'toolwell'

export function assertSource(name: string): void {
  if (name === META)
    throw new ToolwellError(
      'invalid-option',
      `A source cannot be named ${JSON.stringify(META)}: policies know the meta-tools by it. Rename the source.`,
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
      `setSource(${JSON.stringify(name)}) needs tools: a list, empty where there are none, not ${describeNotTools(update.tools)}`,
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

/** `known`: every source that was ever set. News of one that was removed meanwhile is late, and no mistake. */
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

// Fields of a tool that nobody reads, where another was probably meant: a typing error must not be silent.

const FIELDS: Readonly<Record<keyof Tool, true>> = {
  name: true,
  description: true,
  inputSchema: true,
  title: true,
  outputSchema: true,
  strict: true,
  inputExamples: true,
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

/** What other libraries call it. */
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
}

/** What a tool of an MCP server has besides. */
const MCP_FIELDS: ReadonlySet<string> = new Set(['_meta', 'icons', 'execution'])

/** Each as a sentence behind the tool's name. Fields that are like none of ours are the owner's business. */
function findOddFields(tool: Tool): string[] {
  return Object.keys(tool).flatMap((key) => {
    if (Object.hasOwn(FIELDS, key) || MCP_FIELDS.has(key)) return []
    const meant = Object.hasOwn(SYNONYMS, key) ? SYNONYMS[key] : nearest(key, Object.keys(FIELDS), 1)[0]
    return meant === undefined
      ? []
      : [`has a field ${JSON.stringify(key)} that means nothing here; is ${meant} meant?`]
  })
}

// What cannot be used of a tool's schema, told where the tool is given: not with its first call.

/** As a sentence behind the tool's name. A schema that may lie in a file is not read for it. */
export function findOddSchema(tool: Tool): string | undefined {
  if (isValidated(tool)) return undefined
  const bare = findBareProperties(tool.inputSchema)
  if (bare !== undefined) return bare
  const problems = describeSchemaProblems(tool.inputSchema)
  return problems === '' ? undefined : `has an inputSchema that cannot be used as it stands: ${problems}`
}

// What a source lists and cannot be used. It is no tool, but it is known: nobody should look for it in vain.

/** An entry of a list that whoever made the source could not read as a tool. */
export interface UnusableTool {
  readonly name: string
  readonly description?: string
  /** What is wrong, as a sentence behind its name: "has no inputSchema". The model reads it, so it must not hold what a server says. */
  readonly problem: string
}

export interface Skipped {
  /** As a search ranks it and a policy is asked about it. Its id is that of no tool. */
  readonly entry: Entry
  readonly problem: string
  readonly finding: Finding
}

/** No tool has an id with this character in it. */
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

/** Whether somebody who asks for this name means it. */
export function hasSkippedName({ entry }: Skipped, asked: string): boolean {
  const { source, tool, wireName } = entry
  const folded = foldName(asked)
  return [tool.name, wireName, toolId(source, tool.name), `${source} ${tool.name}`].some(
    (each) => foldName(each) === folded,
  )
}
