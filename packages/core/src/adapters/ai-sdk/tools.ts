/** Imports tools that a host wrote for the SDK, and keeps the fields that Toolwell does not use. */

import { dropUndefined, isRecord } from '../../base/data.js'
import { describeKind, invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import { describeToolForm, detectToolForm, isPromise } from '../../tool/define-tool.js'
import type { JsonSchema, Tool, Validation, ValidationIssue } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { readArguments } from '../shared/thread.js'
import { createImportError, type Described } from '../shared/tools.js'
import type { AiExecuteOptions, AiReplyCall } from './types.js'

/** The `asSchema` of your version of the SDK. */
export type AsSchema = (schema: never) => {
  readonly jsonSchema: unknown
  readonly validate?: ((value: unknown) => unknown) | undefined
}

/** The fields of an SDK tool that are read here. */
export interface HostTool {
  readonly type?: string
  readonly description?: unknown
  readonly inputSchema?: unknown
  readonly strict?: unknown
  readonly inputExamples?: unknown
  readonly needsApproval?: unknown
  readonly execute?: (input: unknown, options: AiExecuteOptions) => unknown
  readonly toModelOutput?: (result: unknown) => unknown
}

export interface Imported {
  readonly tool: HostTool
  /**
   * Converts the input with the tool's schema: fills in defaults and converts values. Returns a promise if the schema
   * does. Throws or rejects if the input is invalid.
   */
  check(input: unknown): unknown
}

/** Keyed by schema: a copied tool keeps the same schema object. */
const imports = new WeakMap<JsonSchema, Imported>()

export function findImported(tool: Pick<Tool, 'inputSchema'>): Imported | undefined {
  return imports.get(tool.inputSchema)
}

/**
 * Reads your existing tools. `describe` adds fields that the SDK does not have: `source`, `defer`, `aliases` …
 * Schemas, `execute`, `toModelOutput` and approvals keep working. Throws `invalid-tool` for a tool that a provider
 * defines, which has no schema: pass it as `providerTools` to `aiSdk`.
 */
export async function importTools<Tools extends Readonly<Record<string, object>>>(
  tools: Tools,
  asSchema: AsSchema,
  describe: (name: string, tool: Tools[string]) => Described = () => ({}),
): Promise<readonly Tool[]> {
  assertToolSet(tools, asSchema)
  const entries = Object.entries(tools) as [string, Tools[string] & HostTool][]
  return Promise.all(
    entries.map(async ([name, tool]) => {
      const { jsonSchema, validate: ofSdk } = asSchema(tool.inputSchema as never)
      const validate = ownValidate(tool.inputSchema) ?? ofSdk
      const json = await jsonSchema
      const inputSchema: JsonSchema = { ...(isRecord(json) ? json : { type: 'object' }) }
      imports.set(inputSchema, { tool, check: (input) => checked(name, input, validate) })
      const { description = '' } = tool
      const made: Tool = {
        name,
        description: typeof description === 'string' ? description : '',
        inputSchema,
        ...(validate ? { validate: (input: unknown) => validation(input, validate) } : {}),
        ...(typeof description === 'function' ? { dynamicDescription: true } : {}),
        ...(typeof tool.strict === 'boolean' ? { strict: tool.strict } : {}),
        ...examplesOf(tool),
        // The tool itself decides what the model reads of its output.
        ...(tool.toModelOutput ? { maxResultTokens: false as const } : {}),
        ...dropUndefined(describe(name, tool)),
      }
      return made
    }),
  )
}

/** The SDK wraps each example in an object. */
function examplesOf({ inputExamples }: HostTool): Pick<Tool, 'inputExamples'> {
  if (!Array.isArray(inputExamples)) return {}
  return {
    inputExamples: inputExamples.flatMap((example: unknown) =>
      isRecord(example) && isRecord(example.input) ? [example.input] : [],
    ),
  }
}

function assertToolSet(tools: unknown, asSchema: unknown): void {
  if (!isRecord(tools) || isPromise(tools))
    throw invalid(
      'tools',
      `importTools takes a ToolSet of the AI SDK, with the names of tools as keys, not ${isPromise(tools) ? 'a promise: await it' : describeKind(tools)}.`,
    )
  if (typeof asSchema !== 'function')
    throw invalid(
      'asSchema',
      "importTools takes asSchema of the AI SDK as its second argument: import { asSchema } from 'ai'.",
    )
  for (const [name, tool] of Object.entries(tools)) {
    const problem = findProblem(tool)
    if (problem !== undefined) throw createImportError({ name }, problem)
  }
}

function findProblem(tool: unknown): string | undefined {
  if (!isRecord(tool)) return 'is not an object'
  if (tool.type === 'provider')
    return 'has no schema, because a provider defines it. Remove it here, and pass it to aiSdk as "providerTools"'
  if (tool.inputSchema !== undefined) return undefined
  const form = detectToolForm(tool)
  return form ? describeToolForm(form) : 'has no inputSchema'
}

/** The schema's own validation if it is a Standard Schema: the SDK's is always asynchronous. */
function ownValidate(schema: unknown): ((value: unknown) => unknown) | undefined {
  const given = typeof schema === 'object' || typeof schema === 'function' ? schema : undefined
  const standard = (given as { readonly '~standard'?: unknown } | null | undefined)?.['~standard']
  if (!isRecord(standard) || typeof standard.validate !== 'function') return undefined
  const { validate } = standard as { validate(value: unknown): unknown }
  return (value) => validate(value)
}

/** Validates with the tool's schema, in the form of Standard Schema. Synchronous if the schema is. */
function validation(input: unknown, validate: (value: unknown) => unknown): Validation | Promise<Validation> {
  const result = validate(input)
  return result instanceof Promise
    ? result.then((verdict) => readVerdict(input, verdict))
    : readVerdict(input, result)
}

function readVerdict(input: unknown, result: unknown): Validation {
  if (!isRecord(result)) return { value: input }
  if (Array.isArray(result.issues)) return { issues: result.issues as readonly ValidationIssue[] }
  if (result.success === true || (!('success' in result) && 'value' in result)) return { value: result.value }
  const { error } = result
  const cause =
    isRecord(error) && Array.isArray(error.issues) ? error : isRecord(error) ? error.cause : undefined
  if (isRecord(cause) && Array.isArray(cause.issues))
    return { issues: cause.issues as readonly ValidationIssue[] }
  return { issues: [{ message: error instanceof Error ? error.message : String(error) }] }
}

/** The converted input. Throws if it is invalid. */
function checked(name: string, input: unknown, validate: ((value: unknown) => unknown) | undefined): unknown {
  const settled = (verdict: Validation) => {
    if (!verdict.issues) return verdict.value
    const issues = verdict.issues.map(({ message }) => message).join('; ')
    throw new Error(`Invalid input for ${quote(name)}: ${issues}`)
  }
  const verdict = validate ? validation(input, validate) : { value: input }
  return verdict instanceof Promise ? verdict.then(settled) : settled(verdict)
}

/** A schema that the SDK passes on unchanged, and that accepts every input. */
type Converted = { readonly value: unknown }

/** The form of a Standard Schema, which all versions of the SDK declare. */
export interface AiSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Converted | Promise<Converted>
  }
}

/** The SDK's mark of its own schemas. It changes others before it sends them. */
const SDK_SCHEMA = Symbol.for('vercel.ai.schema')

/**
 * `convert` applies the tool's own schema to the model's input. If it throws, the input stays unchanged: the
 * conversation answers it, not the SDK. The result is synchronous if `convert` is, because frameworks on top of the
 * SDK refuse asynchronous schemas.
 */
export function createOpenSchema(jsonSchema: JsonSchema, convert?: (input: unknown) => unknown): AiSchema {
  const validate = (value: unknown) => {
    const taken = (made: unknown) => ({ success: true, value: made }) as const
    const asWritten = () => taken(value)
    if (!convert) return asWritten()
    try {
      const made = convert(value)
      return made instanceof Promise ? made.then(taken, asWritten) : taken(made)
    } catch {
      return asWritten()
    }
  }
  const made = {
    [SDK_SCHEMA]: true,
    _type: undefined,
    jsonSchema,
    validate,
    '~standard': { version: 1, vendor: 'toolwell', validate },
  } as const
  return made
}

type Schema = Readonly<Record<string, unknown>>

/** Not `arguments`: a tool may have a parameter of that name. */
const FIELD = 'arguments_json'

/**
 * The schema with its free object as text, for Google's provider; undefined if the tool takes no free object.
 * Google's schema subset has no free object, and servers refuse an object without properties. `description`: shown to
 * the model.
 */
export function writeTextArguments(tool: WireTool | Tool, description: string): Schema | undefined {
  const { inputSchema: schema } = tool
  const text = { type: 'string', description: `${description} (JSON)` }
  if (tool.name === BRIDGE_NAME)
    return { ...schema, properties: { ...(schema.properties as Schema), arguments: text } }
  if (!isFree(schema)) return undefined
  return { type: 'object', properties: { [FIELD]: text } }
}

/** Whether a schema accepts any properties. Without properties and with none allowed, it is a call without arguments. */
function isFree({ type, properties, additionalProperties }: Schema): boolean {
  if (type !== 'object' || additionalProperties === undefined || additionalProperties === false) return false
  return !isRecord(properties) || Object.keys(properties).length === 0
}

/** Parses the arguments of a call out of their text. */
export function parseTextArguments(call: AiReplyCall): AiReplyCall {
  const given = readArguments(call.input)
  if (!('value' in given) || !isRecord(given.value)) return call
  const { [FIELD]: text, ...others } = given.value
  return typeof text === 'string' && Object.keys(others).length === 0 ? { ...call, input: text } : call
}
