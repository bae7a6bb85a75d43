/** `defineTool`: types the arguments of a tool, from JSON Schema or from the schema of a validation library. */

import { isRecord } from '../base/data.js'
import { ToolwellError } from '../base/errors.js'
import { describeKind } from '../base/options.js'
import { safeJson } from '../base/text.js'
import { type ProviderWire, providers } from '../base/wires.js'
import type { ExecuteContext, JsonSchema, Tool, Validation } from './tool.js'

/** A tool whose `execute` knows its arguments. */
export type ToolDefinition<Schema, Input> = Omit<Tool, 'inputSchema' | 'execute'> & {
  readonly inputSchema: Schema
  readonly execute?: (input: Input, context: ExecuteContext) => unknown
}

/** The arguments of `execute`. One type for all schemas, so that a compiler error names the wrong field. */
type InputOf<S> = S extends StandardSchema ? OutputOf<S> : S extends JsonSchema ? ArgumentsOf<S> : never

/**
 * Returns a tool for `createToolwell`. A schema of zod 4, valibot (with its converter) or arktype becomes JSON Schema for the
 * model. The library's validator checks the arguments, and `execute` gets its output.
 */
export function defineTool<const S extends JsonSchema | ConvertibleSchema>(
  tool: ToolDefinition<S, InputOf<S>>,
): Tool {
  const schema: unknown = tool?.inputSchema
  const unusable = findConversionProblem(schema)
  if (unusable !== undefined) throw invalidTool(tool.name, unusable)
  // Other problems are reported when the tool is added to a catalogue, with the name of its source.
  if (!isStandardSchema(schema)) return tool as unknown as Tool
  const inputSchema = convertToJsonSchema(schema)
  if ('problem' in inputSchema) throw invalidTool(tool.name, String(inputSchema.problem))
  const { validate = (input: unknown) => schema['~standard'].validate(input), ...rest } = tool
  return { ...rest, inputSchema, validate } as unknown as Tool
}

function invalidTool(tool: string, problem: string): ToolwellError {
  return new ToolwellError('invalid-tool', `Tool ${JSON.stringify(tool)} ${problem}.`, { tool, problem })
}

/** The type of the arguments that a literal JSON Schema describes. Parts it cannot read are `unknown`. */
export type ArgumentsOf<S extends JsonSchema> = string extends keyof S
  ? Record<string, unknown>
  : S extends { readonly properties: infer P }
    ? ObjectOf<P, S>
    : Record<string, unknown>

type ValueOf<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'null' }
            ? null
            : S extends { readonly type: 'array'; readonly items: infer I }
              ? ValueOf<I>[]
              : S extends { readonly properties: infer P }
                ? ObjectOf<P, S>
                : S extends { readonly type: 'object' }
                  ? Record<string, unknown>
                  : unknown

type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? R : never

type ObjectOf<P, S> = Flat<
  { -readonly [K in keyof P as K extends RequiredOf<S> ? K : never]: ValueOf<P[K]> } & {
    -readonly [K in keyof P as K extends RequiredOf<S> ? never : K]?: ValueOf<P[K]>
  }
>

type Flat<T> = { [K in keyof T]: T[K] }

/** Returns the wire whose form a tool has. Undefined for tools of Toolwell or MCP, and for unknown forms. */
export function detectToolForm(tool: object): ProviderWire | undefined {
  const fields = tool as Readonly<Record<string, unknown>>
  if (fields.inputSchema !== undefined) return undefined
  return (Object.keys(providers) as ProviderWire[]).find((wire) => providers[wire].isTool(fields))
}

/** Completes a sentence that starts with the tool's name. */
export function describeToolForm(form: ProviderWire): string {
  return `is in ${providers[form].owner}'s shape; importTools of @toolwell/core/${form} reads a list of these`
}

export const TOOL_WITHOUT_NAME =
  'has no name; tools of the AI SDK have theirs as keys, and importTools of @toolwell/core/ai-sdk reads those'

export function isPromise(value: unknown): boolean {
  return isRecord(value) && typeof value.then === 'function'
}

/** Names a value that was given instead of a list of tools, and the fix. Ends a sentence. */
export function describeNotTools(given: unknown): string {
  if (isPromise(given)) return 'a promise: await it.'
  if (isRecord(given) && detectToolForm(given)) return 'one tool by itself: put it into a list.'
  return `${describeKind(given)}. Tools with their names as keys are those of the AI SDK: importTools of @toolwell/core/ai-sdk reads them.`
}

/** A schema of a validation library (zod, valibot, arktype) that follows Standard Schema or Standard JSON Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validation | Promise<Validation>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?:
      | {
          readonly input: (options: {
            readonly target: string
            readonly libraryOptions?: Record<string, unknown>
          }) => unknown
        }
      | undefined
  }
}

/** The output type of a schema. */
export type OutputOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

/** In some libraries, a schema is a function. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  const holds = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return holds && isRecord((value as Partial<StandardSchema>)['~standard'])
}

/** True for JSON Schema that zod generated: it carries the zod schema in a hidden property. */
export function isGeneratedJsonSchema(schema: object): boolean {
  return Object.getPrototypeOf(schema) === Object.prototype && !Object.keys(schema).includes('~standard')
}

/** A schema that can be converted to JSON Schema, by Standard JSON Schema or by a method of its library. */
export type ConvertibleSchema = StandardSchema &
  (
    | { readonly '~standard': { readonly jsonSchema: object } }
    | { toJSONSchema(options?: never): unknown }
    | { toJsonSchema(options?: never): unknown }
  )

type Converter = NonNullable<StandardSchema['~standard']['jsonSchema']>

/** Converts without the checks and transforms that JSON Schema cannot express. Valibot reports the first one and skips those it is given. */
function convertIgnoringActions(jsonSchema: Converter, ignoreActions: readonly string[] = []): unknown {
  const libraryOptions = ignoreActions.length > 0 ? { libraryOptions: { ignoreActions } } : {}
  try {
    return jsonSchema.input({ target: 'draft-2020-12', ...libraryOptions })
  } catch (error) {
    const [, action] = /^The "(\w+)" action cannot be converted/.exec(String((error as Error)?.message)) ?? []
    if (action === undefined || ignoreActions.includes(action)) throw error
    return convertIgnoringActions(jsonSchema, [...ignoreActions, action])
  }
}

function findConverter(schema: StandardSchema): (() => unknown) | undefined {
  const { jsonSchema } = schema['~standard']
  if (jsonSchema) return () => convertIgnoringActions(jsonSchema)
  const own = schema as { readonly toJSONSchema?: unknown; readonly toJsonSchema?: unknown }
  const { toJSONSchema, toJsonSchema } = own
  if (typeof toJSONSchema === 'function') return () => toJSONSchema.call(schema, { io: 'input' })
  return typeof toJsonSchema === 'function' ? () => toJsonSchema.call(schema) : undefined
}

/** Explains how to use a schema whose library cannot convert it to JSON Schema. Undefined for other schemas. */
export function findConversionProblem(schema: unknown): string | undefined {
  if (isStandardSchema(schema))
    return findConverter(schema) ? undefined : `has an inputSchema ${explainMissingConverter(schema)}`
  // Zod before 3.24 follows no standard.
  return isRecord(schema) && '_def' in schema ? `has an inputSchema ${ZOD_3}` : undefined
}

/** Converts the input side of a schema to JSON Schema with the library's converter. On failure, explains what to do. */
function convertToJsonSchema(schema: StandardSchema): JsonSchema | { readonly problem: string } {
  const { vendor } = schema['~standard']
  try {
    const made = findConverter(schema)?.()
    if (!isRecord(made)) return { problem: `has an inputSchema that ${vendor} made no JSON Schema of` }
    const { $schema, ...rest } = made
    return rest
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return {
      problem: `has an inputSchema that ${vendor} cannot write as JSON Schema: ${safeJson(why)}; describe what the model writes (text for a date${DATES[vendor] ?? ''}) and transform it, or give JSON Schema as inputSchema, and ${OWN_CHECK}`,
    }
  }
}

const ZOD_3 =
  'of zod 3, which has no converter to JSON Schema; use zod 4, or give the JSON Schema that zod-to-json-schema makes as inputSchema'
const DATES: Readonly<Record<string, string>> = {
  zod: ': z.iso.datetime()',
  valibot: ': v.pipe(v.string(), v.isoTimestamp())',
}
const OWN_CHECK = '"validate: (input) => schema["~standard"].validate(input)"'

function explainMissingConverter(schema: StandardSchema): string {
  const { vendor } = schema['~standard']
  if (vendor === 'zod' && !('_zod' in schema)) return `${ZOD_3}, and ${OWN_CHECK}`
  const which =
    'optional' in schema
      ? 'an early zod 4; update zod, or'
      : 'zod/mini, whose schemas do not convert themselves;'
  if (vendor === 'zod')
    return `of ${which} give z.toJSONSchema(schema, { io: "input" }) as inputSchema, and ${OWN_CHECK}`
  if (vendor === 'valibot')
    return 'of valibot, which converts with a package of its own; give toStandardJsonSchema(schema) from @valibot/to-json-schema to defineTool(…)'
  return `of ${vendor}, which offers no JSON Schema; give JSON Schema as inputSchema, and ${OWN_CHECK}`
}
