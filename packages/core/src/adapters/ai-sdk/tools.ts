/** Tools that a host has written for the SDK, as Toolwell's; what Toolwell has no place for is kept beside them. */

import { defined, isRecord } from '../../base/guards.js'
import { invalid, kindOf } from '../../base/options.js'
import { quote } from '../../base/text.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import { formOf, inForm, isPromise } from '../../tool/foreign-form.js'
import type { JsonSchema, Tool, Validation, ValidationIssue } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { readArguments } from '../shared/thread.js'
import { type Described, unreadable } from '../shared/tools.js'
import type { AiExecuteOptions, AiReplyCall } from './types.js'

/** The SDK's own `asSchema`, of the version that you use. */
export type AsSchema = (schema: never) => {
  readonly jsonSchema: unknown
  readonly validate?: ((value: unknown) => unknown) | undefined
}

/** The fields of a tool of the SDK that are read here. */
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
   * The input as the tool's own schema makes it: defaults filled in, values converted; a promise where the schema gives
   * one. Throws, or rejects, where it does not fit.
   */
  check(input: unknown): unknown
}

/** By schema: that object stays the same when a host copies a tool to change something else about it. */
const imports = new WeakMap<JsonSchema, Imported>()

export function importedOf(tool: Pick<Tool, 'inputSchema'>): Imported | undefined {
  return imports.get(tool.inputSchema)
}

/**
 * Reads a host's existing tools. `describe` adds what the SDK has no place for: `source`, `defer`, `aliases` … Their
 * schemas, `execute`, `toModelOutput` and approvals go on working. Throws `invalid-tool` at a tool that a provider
 * defines: those have no schema, and go into `beside` of `aiSdk`.
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
        // It says itself what of its output the model reads.
        ...(tool.toModelOutput ? { maxResultTokens: false as const } : {}),
        ...defined(describe(name, tool)),
      }
      return made
    }),
  )
}

/** The SDK wraps each example, so that it can say more about it one day. */
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
      `importTools takes a ToolSet of the AI SDK, with the names of tools as keys, not ${isPromise(tools) ? 'a promise: await it' : kindOf(tools)}.`,
    )
  if (typeof asSchema !== 'function')
    throw invalid(
      'asSchema',
      "importTools takes asSchema of the AI SDK as its second argument: import { asSchema } from 'ai'.",
    )
  for (const [name, tool] of Object.entries(tools)) {
    const problem = problemOf(tool)
    if (problem !== undefined) throw unreadable({ name }, problem)
  }
}

function problemOf(tool: unknown): string | undefined {
  if (!isRecord(tool)) return 'is not an object'
  if (tool.type === 'provider')
    return 'has no schema, because a provider defines it. Leave it out here, and give it to aiSdk in "beside"'
  if (tool.inputSchema !== undefined) return undefined
  const form = formOf(tool)
  return form ? inForm(form) : 'has no inputSchema'
}

/** That of the schema itself where it is a Standard Schema: the SDK's makes everybody wait, also where the schema does not. */
function ownValidate(schema: unknown): ((value: unknown) => unknown) | undefined {
  const given = typeof schema === 'object' || typeof schema === 'function' ? schema : undefined
  const standard = (given as { readonly '~standard'?: unknown } | null | undefined)?.['~standard']
  if (!isRecord(standard) || typeof standard.validate !== 'function') return undefined
  const { validate } = standard as { validate(value: unknown): unknown }
  return (value) => validate(value)
}

/** What the tool's own schema says, in the words of Standard Schema: at once where the schema does not wait. */
function validation(input: unknown, validate: (value: unknown) => unknown): Validation | Promise<Validation> {
  const result = validate(input)
  return result instanceof Promise
    ? result.then((verdict) => verdictOf(input, verdict))
    : verdictOf(input, result)
}

function verdictOf(input: unknown, result: unknown): Validation {
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

/** The input as the schema makes it. Throws where it does not fit. */
function checked(name: string, input: unknown, validate: ((value: unknown) => unknown) | undefined): unknown {
  const settled = (verdict: Validation) => {
    if (!verdict.issues) return verdict.value
    const issues = verdict.issues.map(({ message }) => message).join('; ')
    throw new Error(`Invalid input for ${quote(name)}: ${issues}`)
  }
  const verdict = validate ? validation(input, validate) : { value: input }
  return verdict instanceof Promise ? verdict.then(settled) : settled(verdict)
}

/** A schema that the SDK takes as it is: it sends the JSON Schema unchanged, and refuses nothing by it. */
type Converted = { readonly value: unknown }

/** The form of a Standard Schema, which all versions of the SDK declare. */
export interface AiSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Converted | Promise<Converted>
  }
}

/** What the SDK marks its own schemas with. Others it changes before it sends them. */
const SDK_SCHEMA = Symbol.for('vercel.ai.schema')

/**
 * `convert` gives the input that a tool's own schema makes of what the model wrote. Where it throws, the input stays as it
 * is: the conversation answers it, not the SDK. The verdict comes at once where `convert` does: frameworks on top of the
 * SDK refuse schemas that make them wait.
 */
export function openSchema(jsonSchema: JsonSchema, convert?: (input: unknown) => unknown): AiSchema {
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

/**
 * Google's provider writes a schema in Google's own subset, which has no free object: servers refuse one without
 * properties. Where a tool takes any object, its arguments are JSON in a text there; a model may write them in either
 * form.
 */
type Schema = Readonly<Record<string, unknown>>

/** Not `arguments`: a tool may have a parameter of that name. */
const FIELD = 'arguments_json'

/** The schema with its free object as a text; undefined where it has none. `description`: what the model reads of it. */
export function withTextArguments(tool: WireTool | Tool, description: string): Schema | undefined {
  const { inputSchema: schema } = tool
  const text = { type: 'string', description: `${description} (JSON)` }
  if (tool.name === BRIDGE_NAME)
    return { ...schema, properties: { ...(schema.properties as Schema), arguments: text } }
  if (!isFree(schema)) return undefined
  return { type: 'object', properties: { [FIELD]: text } }
}

/** An object with whatever properties a caller likes. One that names none and allows no others is a call without arguments. */
function isFree({ type, properties, additionalProperties }: Schema): boolean {
  if (type !== 'object' || additionalProperties === undefined || additionalProperties === false) return false
  return !isRecord(properties) || Object.keys(properties).length === 0
}

/** A call with its arguments out of their text. */
export function withOwnArguments(call: AiReplyCall): AiReplyCall {
  const given = readArguments(call.input)
  if (!('value' in given) || !isRecord(given.value)) return call
  const { [FIELD]: text, ...others } = given.value
  return typeof text === 'string' && Object.keys(others).length === 0 ? { ...call, input: text } : call
}
