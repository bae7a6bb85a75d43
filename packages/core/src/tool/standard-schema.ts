/** Schemas of validation libraries (zod, valibot, arktype) that follow Standard Schema and Standard JSON Schema. */
import { isRecord } from '../base/data.js'
import { safeJson } from '../base/text.js'
import type { JsonSchema, Validation } from './tool.js'

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
export function convertToJsonSchema(schema: StandardSchema): JsonSchema | { readonly problem: string } {
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
