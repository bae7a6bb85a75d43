/** A tool as its owner writes it: definition, how to run it, and how it may be exposed. The first noun of the flow. */
import { ToolwellError } from '../base/errors.js'
import { nearest } from '../base/nearest.js'
import { describeToolForm, detectToolForm, isPromise, TOOL_WITHOUT_NAME } from './define-tool.js'
import type { SourceState } from './source.js'
import { findConversionProblem, isGeneratedJsonSchema, isStandardSchema } from './standard-schema.js'

export type JsonSchema = { readonly [keyword: string]: unknown }

/** What calling a tool can do. Taken from MCP annotations when not given. */
export type Risk = 'read' | 'write' | 'destructive' | 'external'

/** Why a tool may never be deferred: models stop using these when they become a search away. */
export type AlwaysLoadedRole = 'mode-exit' | 'clarification' | 'todo' | 'skill'

/** The MCP annotations that say something about risk. */
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
  /** The conversation the call is made in, and who it acts for: a tool may keep something for each. */
  readonly conversation?: string
  readonly principal?: string
  /** Takes signs of progress, where the host wants them. */
  readonly onProgress?: (progress: ToolProgress) => void
  /** The sources this conversation may know of, with the tools it may see and use; those that answer to a name. */
  readonly sources?: (named?: string) => readonly SeenSource[]
}

/** A source as one conversation may see it. */
export interface SeenSource {
  readonly name: string
  readonly description: string
  readonly state: SourceState
  /** In order of name. What is denied, held back or away is not among them. */
  readonly tools: readonly SeenTool[]
}

/** A tool with the very description and schema that a request would declare. */
export interface SeenTool {
  /** Its name at its source. */
  readonly name: string
  /** The name it is sent under. */
  readonly wireName: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

/** The call that a call stands for. */
export interface Forwarded {
  /** The source's name, as the model wrote it. */
  readonly source: string
  readonly tool: string
  readonly input: unknown
}

/** How far a running call has come. */
export interface ToolProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** What a tool's own validator says of arguments, in the form of Standard Schema. */
export type Validation =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] }

export interface ValidationIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly title?: string
  readonly outputSchema?: JsonSchema
  /** The provider holds the model to the schema, where it can (Anthropic, OpenAI). The schema has to meet its rules for that. */
  readonly strict?: boolean
  /** Arguments that the model is shown, where the provider takes them (Anthropic). */
  readonly inputExamples?: readonly { readonly [name: string]: unknown }[]
  readonly annotations?: ToolAnnotations
  /**
   * The tool's own check of its arguments. Where it is there, it decides, and its output reaches `execute`; otherwise
   * `inputSchema` does.
   */
  readonly validate?: (input: unknown) => Validation | PromiseLike<Validation>
  /** Runs the tool. Left out where the host runs tools itself (see `run` of an adapter). */
  readonly execute?: (input: Record<string, unknown>, context: ExecuteContext) => unknown
  /**
   * Milliseconds that a call may take. When they are over, its signal ends and the model is told that the outcome is unknown; it is
   * never called again by itself. Default: no limit.
   */
  readonly timeout?: number
  /**
   * A call of this tool is a call of another: that one is judged, checked, permitted, run and loaded in its place. Given
   * arguments that fit the schema. Never deferred.
   */
  readonly forwards?: (input: Record<string, unknown>) => Forwarded

  /** True: deferred. False: eager. Left out: decided by the rules (own tools eager, tools of a named source deferred). */
  readonly defer?: boolean
  /** Eager whatever the rules say. */
  readonly alwaysLoad?: boolean
  /** Marks a tool that can never be deferred. */
  readonly role?: AlwaysLoadedRole
  /** The description changes while the program runs (a list of skills, say); such a tool is never deferred. */
  readonly dynamicDescription?: boolean

  /** A subject area, for the `domain:` filter. */
  readonly domain?: string
  /** Tools of one group are loaded together, all or none. */
  readonly group?: string
  /** Other names the tool answers to. */
  readonly aliases?: readonly string[]
  /** Tokens of text in its result above which it is kept and not sent. Default: that of its source, or of all. */
  readonly maxResultTokens?: number | false
  /** Names the surviving tool: this entry is then only a deprecated alias of it. */
  readonly canonicalName?: string
  /** Extra words for the index. The model never sees them. */
  readonly searchHint?: string
  /** Requests that this tool answers, as users put them: each counts as one use. Only hashes of their words are kept; nobody sees them. */
  readonly examples?: readonly string[]
  /** The one line shown while the tool is deferred. Default: the first line of the description. */
  readonly card?: string
  /** One line for a host that writes its own list of available tools. */
  readonly promptSnippet?: string
  /** Rules of use. They reach the model together with the tool, never before. */
  readonly guidelines?: readonly string[]
  readonly risk?: Risk
  /** What the model should not do once it has this tool: "use this, not `git worktree` in bash". */
  readonly insteadOf?: string
  /** The source the tool came from: a server, a plugin, a manifest. Left out for the host's own code. */
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

const ROLES: readonly AlwaysLoadedRole[] = ['mode-exit', 'clarification', 'todo', 'skill']
const RISKS: readonly Risk[] = ['read', 'write', 'destructive', 'external']

const isString = (value: unknown) => typeof value === 'string'
const oneOf = (known: readonly string[]) => (value: unknown) =>
  isString(value) && known.includes(value as string)

/** Timers take no more. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

/** Fields that are read as what they are declared to be, wherever the tool came from. */
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
    ['defer', 'alwaysLoad', 'dynamicDescription', 'strict'],
    (value) => typeof value === 'boolean',
    'true or false',
  ],
  [
    ['maxResultTokens'],
    (value) => value === false || (typeof value === 'number' && value >= 100),
    'false or a number of at least 100',
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

/** Says that `problemOf` found nothing in this tool when it was first met: its schema, which may lie in a file, is not read for that again. */
export function markValidated<T extends object>(tool: T): T {
  validated.add(tool)
  return tool
}

export function isValidated(tool: object): boolean {
  return validated.has(tool)
}

/** The reason a value cannot be used as a tool, or undefined. Never throws, whatever it is given. */
export function findToolProblem(tool: unknown): string | undefined {
  return findShapeProblem(tool) ?? findSchemaProblem(tool as Tool)
}

/** As far as it can be told from its fields, whatever is inside of these. */
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

/** What is wrong inside of its schema. */
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

/** Only words of JSON Schema itself are repeated, and what is nearly one: the model may read this. */
function describeTopType(type: unknown): string {
  const rule = `the top level of a tool's input must be "object"`
  const word = typeof type === 'string' && /^[a-z]{1,10}$/i.test(type) ? type : ''
  const [meant] = nearest(word, ['object', 'string', 'number', 'integer', 'boolean', 'array', 'null'], 1)
  if (meant === undefined) return `another type; ${rule}`
  const isCase = meant !== word && meant === word.toLowerCase()
  const fix = isCase ? `, in small letters` : meant === word ? '' : `; is "${meant}" meant?`
  return `type "${word}"; ${rule}${fix}`
}

/** The fields of an object schema without the object around them, as some libraries take them. */
function isFieldMap(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false
  return Object.values(schema).some(isStandardSchema)
}

/** Tools as other libraries write them: each is told what to do. */
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

/** Lists and objects in each other. Half of what everything that goes through schemas takes on the stack of Node's default size. */
const MOST_LEVELS = 500

/** Told by count: how soon a stack is full depends on who asks. */
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

/** What JSON can surely hold. Quicker than writing it down, which only has to be done where this is not sure. */
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

/** What a value that should be a tool is called, in whichever library's shape it is. */
export function readToolName(tool: unknown): string {
  if (typeof tool !== 'object' || tool === null) return String(tool)
  const { name, function: inner } = tool as { readonly name?: unknown; readonly function?: unknown }
  const own = name ?? (inner as { readonly name?: unknown } | null | undefined)?.name
  return typeof own === 'string' ? own : '(no name)'
}

export function assertTool(tool: Tool): void {
  throwIfProblem(tool, findToolProblem(tool))
}

/** As far as it costs next to nothing. */
export function assertToolShape(tool: Tool): void {
  throwIfProblem(tool, findShapeProblem(tool))
}

/** `problem`: a sentence behind the tool's name. */
export function throwIfProblem(tool: Tool, problem: string | undefined): void {
  if (problem === undefined) return
  const name = readToolName(tool)
  throw new ToolwellError('invalid-tool', `Tool ${JSON.stringify(name)} ${problem}.`, { tool: name, problem })
}
