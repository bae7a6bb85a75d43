/** The type `Tool` and its checks. */
import { ToolwellError } from '../base/errors.js'
import { nearest } from '../base/nearest.js'
import type { Span } from '../base/telemetry.js'
import {
  describeToolForm,
  detectToolForm,
  findConversionProblem,
  isGeneratedJsonSchema,
  isPromise,
  isStandardSchema,
  TOOL_WITHOUT_NAME,
} from './define-tool.js'
import type { SourceState } from './source.js'

export type JsonSchema = { readonly [keyword: string]: unknown }

/** The risk of a call. Default: taken from MCP annotations. */
export type Risk = 'read' | 'write' | 'destructive' | 'external'

/** Roles of tools that are never deferred: models stop using such tools if they have to search for them first. */
export type AlwaysLoadedRole = 'mode-exit' | 'clarification' | 'todo' | 'skill'

/** The MCP annotations about risk. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

export interface ExecuteContext {
  /** The provider's id of this call. */
  readonly callId: string
  readonly signal?: AbortSignal
  /** The conversation of the call. A tool may keep state for each conversation or principal. */
  readonly conversation?: string
  /** The user or agent for whom the conversation acts. */
  readonly principal?: string
  /** Reports progress, if the host wants it. */
  readonly onProgress?: (progress: ToolProgress) => void
  /** The span of this call, if `telemetry` is set. It is active while the tool runs. */
  readonly span?: Span
  /** Lists the sources and tools that this conversation may see and use; with `named`, only sources of that name. */
  readonly sources?: (named?: string) => readonly SeenSource[]
}

/** A source as one conversation sees it. */
export interface SeenSource {
  readonly name: string
  readonly description: string
  readonly state: SourceState
  /** In order of name, without denied, quarantined and unreachable tools. */
  readonly tools: readonly SeenTool[]
}

/** A tool with the description and schema that a request would declare. */
export interface SeenTool {
  /** The name that its source uses. */
  readonly name: string
  /** The name it is sent under. */
  readonly wireName: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

/** The call that a tool with `forwards` makes. */
export interface Forwarded {
  /** The source's name, as the model wrote it. */
  readonly source: string
  readonly tool: string
  readonly input: unknown
}

/** The progress of a running call. */
export interface ToolProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** The result of a tool's validator, as in Standard Schema. */
export type Validation =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] }

export interface ValidationIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type ToolCaller = 'direct' | 'code'

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly title?: string
  readonly outputSchema?: JsonSchema
  /** Asks the provider to enforce the schema (Anthropic, OpenAI). The schema has to follow the provider's rules for that. */
  readonly strict?: boolean
  /** Example arguments for the model, if the provider supports them (Anthropic). */
  readonly inputExamples?: readonly { readonly [name: string]: unknown }[]
  /**
   * Who may call the tool: the model (`direct`), or code that the model writes and the provider runs (`code`: Anthropic's
   * code execution, OpenAI's programmatic tool calling). Default: the model. Without `direct`, the tool is never deferred, and
   * providers without such code do not get it.
   */
  readonly callers?: readonly ToolCaller[]
  /** Asks Anthropic to stream the arguments without checking them first. */
  readonly eagerInputStreaming?: boolean
  readonly annotations?: ToolAnnotations
  /**
   * Checks the arguments in place of `inputSchema`. Its output reaches `execute`.
   */
  readonly validate?: (input: unknown) => Validation | PromiseLike<Validation>
  /** Runs the tool. Omit it if the host runs tools itself (see `run` of an adapter). */
  readonly execute?: (input: Record<string, unknown>, context: ExecuteContext) => unknown
  /**
   * Time limit of a call, in milliseconds. After it, the signal aborts and the model reads that the outcome is unknown. The call is
   * never repeated automatically. Default: no limit.
   */
  readonly timeout?: number
  /**
   * Makes a call of this tool a call of another tool, which is checked, permitted, run and loaded instead. Gets arguments that
   * match the schema. A tool with `forwards` is never deferred.
   */
  readonly forwards?: (input: Record<string, unknown>) => Forwarded

  /** True: deferred. False: eager. Default: the rules decide (host tools are eager, tools of a named source deferred). */
  readonly defer?: boolean
  /** Makes the tool eager, even if a rule defers it. */
  readonly alwaysLoad?: boolean
  /** Makes the tool always-loaded: it can never be deferred. */
  readonly role?: AlwaysLoadedRole
  /** The description changes while the program runs (a list of skills, for example). Such a tool is never deferred. */
  readonly dynamicDescription?: boolean

  /** A subject area, for the `domain:` filter. `domain:mcp` finds the tools of every source, too. */
  readonly domain?: string
  /** Tools of one group are loaded together, all or none. */
  readonly group?: string
  /** Other names the tool answers to. */
  readonly aliases?: readonly string[]
  /** A result with more tokens of text is stored, and the model gets its beginning. Default: the limit of the source, or the option. */
  readonly maxResultTokens?: number | false
  /** The name of the tool that replaces this one. This entry is then only a deprecated alias. */
  readonly canonicalName?: string
  /** Extra words for the index. The model never sees them. */
  readonly searchHint?: string
  /** User requests that this tool answers. Each counts as one use for search. Only hashes of their words are stored. */
  readonly examples?: readonly string[]
  /** The one line shown while the tool is deferred. Default: the first line of the description. */
  readonly card?: string
  /** One line for hosts that write their own list of tools. */
  readonly promptSnippet?: string
  /** Rules of use. They reach the model together with the tool, never before. */
  readonly guidelines?: readonly string[]
  readonly risk?: Risk
  /** The habit that this tool replaces: "use this, not `git worktree` in bash". */
  readonly insteadOf?: string
  /** The source of the tool: a server, a plugin, a manifest. Omit it for tools of the host. */
  readonly source?: string
}

export function inferRisk(tool: Pick<Tool, 'risk' | 'annotations'>): Risk | undefined {
  if (tool.risk) return tool.risk
  const hints = tool.annotations
  if (!hints) return undefined
  if (hints.readOnlyHint === true) return 'read'
  if (hints.destructiveHint === true) return 'destructive'
  if (hints.openWorldHint === true) return 'external'
  if (hints.readOnlyHint === false) return 'write'
  return undefined
}

const CALLERS: readonly ToolCaller[] = ['direct', 'code']
const ROLES: readonly AlwaysLoadedRole[] = ['mode-exit', 'clarification', 'todo', 'skill']
const RISKS: readonly Risk[] = ['read', 'write', 'destructive', 'external']

const isString = (value: unknown) => typeof value === 'string'
const oneOf = (known: readonly string[]) => (value: unknown) =>
  isString(value) && known.includes(value as string)

/** The longest delay of a timer. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

/** The type of each optional field, checked for tools of every origin. */
const FIELD_KINDS: readonly [readonly (keyof Tool)[], (value: unknown) => boolean, string][] = [
  [
    [
      'title',
      'domain',
      'group',
      'canonicalName',
      'searchHint',
      'card',
      'promptSnippet',
      'insteadOf',
      'source',
    ],
    isString,
    'a string',
  ],
  [
    ['defer', 'alwaysLoad', 'dynamicDescription', 'strict', 'eagerInputStreaming'],
    (value) => typeof value === 'boolean',
    'true or false',
  ],
  [
    ['maxResultTokens'],
    (value) => value === false || (typeof value === 'number' && value >= 100),
    'false or a number of at least 100',
  ],
  [
    ['callers'],
    (value) => Array.isArray(value) && value.length > 0 && value.every(oneOf(CALLERS)),
    `a list of ${CALLERS.join(', ')}`,
  ],
  [['role'], oneOf(ROLES), `one of ${ROLES.join(', ')}`],
  [['risk'], oneOf(RISKS), `one of ${RISKS.join(', ')}`],
  [
    ['aliases', 'guidelines', 'examples'],
    (value) => Array.isArray(value) && value.every(isString),
    'a list of strings',
  ],
  [
    ['inputExamples'],
    (value) => Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null),
    'a list of objects',
  ],
  [
    ['timeout'],
    (value) => typeof value === 'number' && value > 0 && value <= LONGEST_TIMEOUT,
    `a number of milliseconds above 0, up to ${LONGEST_TIMEOUT}`,
  ],
  [['annotations'], (value) => typeof value === 'object' && value !== null, 'an object'],
  [['execute', 'forwards', 'validate'], (value) => typeof value === 'function', 'a function'],
]

const validated = new WeakSet<object>()

/** Marks a tool in which `findToolProblem` found nothing. Its schema, which may be in a file, is not read for this check again. */
export function markValidated<T extends object>(tool: T): T {
  validated.add(tool)
  return tool
}

export function isValidated(tool: object): boolean {
  return validated.has(tool)
}

/** Explains why a value cannot be used as a tool; undefined if it can. Never throws. */
export function findToolProblem(tool: unknown): string | undefined {
  return findShapeProblem(tool) ?? findSchemaProblem(tool as Tool)
}

/** Checks the fields without looking into the schema. */
function findShapeProblem(tool: unknown): string | undefined {
  if (typeof tool !== 'object' || tool === null) return 'is not an object'
  if (validated.has(tool)) return undefined
  if (isPromise(tool)) return 'is a promise; await it'
  if (Array.isArray(tool)) return 'is a list; give its tools one by one: [...list]'
  const { name, description, inputSchema } = tool as Partial<Tool>
  const form = name === undefined ? detectToolForm(tool) : undefined
  if (form) return describeToolForm(form)
  if (name === undefined && inputSchema !== undefined) return TOOL_WITHOUT_NAME
  if (typeof name !== 'string' || name.trim() === '') return 'has no name'
  if (description !== undefined && typeof description !== 'string')
    return 'has a description that is not a string'
  for (const [keys, fits, kind] of FIELD_KINDS)
    for (const key of keys) {
      const value: unknown = (tool as Partial<Tool>)[key]
      if (value !== undefined && !fits(value))
        return `has ${/^[aeiou]/.test(key) ? 'an' : 'a'} ${key} that is not ${kind}`
    }
  const schema: unknown = inputSchema
  const shape = findForeignShape(tool)
  if (shape !== undefined) return shape
  if (schema === undefined) return 'has no inputSchema; give { "type": "object", "properties": { … } }'
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return 'has an inputSchema that is not an object; give { "type": "object", "properties": { … } }'
  const type = (schema as { type?: unknown }).type
  if (type !== undefined && type !== 'object') return `has an inputSchema of ${describeTopType(type)}`
  return undefined
}

/** Checks that the schema can be written as JSON. */
function findSchemaProblem(tool: Tool): string | undefined {
  if (validated.has(tool)) return undefined
  const { inputSchema } = tool
  try {
    if (isPlainJson(inputSchema)) return undefined
    const found = findNestingProblem(inputSchema, new Set())
    if (found === undefined) JSON.stringify(inputSchema)
    return found
  } catch {
    return 'has an inputSchema that cannot be written as JSON; give plain objects, lists, strings, numbers and booleans'
  }
}

/** Quotes only types of JSON Schema and near misspellings, because the model may read this. */
function describeTopType(type: unknown): string {
  const rule = `the top level of a tool's input must be "object"`
  const word = typeof type === 'string' && /^[a-z]{1,10}$/i.test(type) ? type : ''
  const [meant] = nearest(word, ['object', 'string', 'number', 'integer', 'boolean', 'array', 'null'], 1)
  if (meant === undefined) return `another type; ${rule}`
  const isCase = meant !== word && meant === word.toLowerCase()
  const fix = isCase ? `, in small letters` : meant === word ? '' : `; is "${meant}" meant?`
  return `type "${word}"; ${rule}${fix}`
}

/** True for the fields of an object schema without the object itself, a form that some libraries accept. */
function isFieldMap(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false
  return Object.values(schema).some(isStandardSchema)
}

/** Recognises tools in the form of other libraries, and explains what to do. */
function findForeignShape(tool: object): string | undefined {
  const { inputSchema } = tool as { readonly inputSchema?: unknown }
  const unusable = findConversionProblem(inputSchema)
  if (unusable !== undefined) return unusable
  if (isStandardSchema(inputSchema) && !isGeneratedJsonSchema(inputSchema))
    return `has an inputSchema that is a schema of ${inputSchema['~standard'].vendor}; wrap the tool in defineTool(…), which converts it`
  if (isFieldMap(inputSchema))
    return 'has an inputSchema whose fields are schemas of a library; make one schema of them: z.object({ … }) in zod'
  if (inputSchema !== undefined) return undefined
  if ('schema' in tool)
    return 'has a schema and no inputSchema; give its schema as inputSchema to defineTool(…)'
  const form = detectToolForm(tool)
  if (form) return describeToolForm(form)
  if ('parameters' in tool) return 'has parameters and no inputSchema; give its parameters as inputSchema'
  return undefined
}

/** Levels of nesting. Half of what recursive code can handle with Node's default stack. */
const MOST_LEVELS = 500

/** Counts levels instead of catching a stack overflow, which depends on the caller. */
function findNestingProblem(value: unknown, around: Set<object>): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (around.has(value))
    return 'has an inputSchema that contains itself as a JavaScript object; use a "$ref" for recursion'
  if (around.size === MOST_LEVELS)
    return `has an inputSchema that is nested more than ${MOST_LEVELS} levels deep; use fewer levels, or a "$ref" for recursion`
  around.add(value)
  for (const each of Object.values(value)) {
    const found = findNestingProblem(each, around)
    if (found !== undefined) return found
  }
  around.delete(value)
  return undefined
}

/** True if the value is certainly JSON. Faster than stringifying, which is needed only if this is false. */
function isPlainJson(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint'
  if (depth > 40 || typeof (value as { toJSON?: unknown }).toJSON === 'function') return false
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlainJson(item, depth + 1)) return false
    return true
  }
  for (const key in value) if (!isPlainJson((value as Record<string, unknown>)[key], depth + 1)) return false
  return true
}

/** Reads the name of a tool in the form of any library. */
export function readToolName(tool: unknown): string {
  if (typeof tool !== 'object' || tool === null) return String(tool)
  const { name, function: inner } = tool as { readonly name?: unknown; readonly function?: unknown }
  const own = name ?? (inner as { readonly name?: unknown } | null | undefined)?.name
  return typeof own === 'string' ? own : '(no name)'
}

export function assertTool(tool: Tool): void {
  throwIfProblem(tool, findToolProblem(tool))
}

/** Checks only the fields, which is cheap. */
export function assertToolShape(tool: Tool): void {
  throwIfProblem(tool, findShapeProblem(tool))
}

/** Throws `invalid-tool`. `problem` completes a sentence that starts with the tool's name. */
export function throwIfProblem(tool: Tool, problem: string | undefined): void {
  if (problem === undefined) return
  const name = readToolName(tool)
  throw new ToolwellError('invalid-tool', `Tool ${JSON.stringify(name)} ${problem}.`, { tool: name, problem })
}
