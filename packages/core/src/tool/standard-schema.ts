/** Schemas of a validation library (zod, valibot, arktype), as far as they follow Standard Schema and Standard JSON Schema. */
import { isRecord } from '../base/guards.js'
import { safeJson } from '../base/text.js'
import type { JsonSchema, Validation } from './tool.js'

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validation | Promise<Validation>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => unknown } | undefined
  }
}

/** What a schema gives for what it accepts. */
export type OutputOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

/** Some are functions that can be called to validate. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  const holds = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return holds && isRecord((value as Partial<StandardSchema>)['~standard'])
}

/** JSON Schema of what the schema accepts, by the library's own converter; or what to do where it has none. */
export function jsonSchemaOf(schema: StandardSchema): JsonSchema | { readonly problem: string } {
  const { vendor, jsonSchema } = schema['~standard']
  const own = schema as { readonly toJSONSchema?: unknown; readonly toJsonSchema?: unknown }
  try {
    const made = jsonSchema
      ? jsonSchema.input({ target: 'draft-2020-12' })
      : typeof own.toJSONSchema === 'function'
        ? own.toJSONSchema({ io: 'input' })
        : typeof own.toJsonSchema === 'function'
          ? own.toJsonSchema()
          : undefined
    if (made === undefined) return { problem: `has an inputSchema ${withoutConverter(schema)}` }
    if (!isRecord(made)) return { problem: `has an inputSchema that ${vendor} made no JSON Schema of` }
    const { $schema, ...rest } = made
    return rest
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return {
      problem: `has an inputSchema that ${vendor} cannot write as JSON Schema: ${safeJson(why)}; describe what the model writes (text for a date, z.iso.datetime() in zod) and transform it, or give JSON Schema as inputSchema, and ${OWN_CHECK}`,
    }
  }
}

const OWN_CHECK = '"validate: (input) => schema["~standard"].validate(input)"'

function withoutConverter(schema: StandardSchema): string {
  const { vendor } = schema['~standard']
  if (vendor === 'zod' && !('_zod' in schema))
    return `of zod 3, which has no converter to JSON Schema; use zod 4, or give the JSON Schema that zod-to-json-schema makes as inputSchema, and ${OWN_CHECK}`
  if (vendor === 'zod')
    return `of an early zod 4; update zod, or give z.toJSONSchema(schema, { io: "input" }) as inputSchema, and ${OWN_CHECK}`
  if (vendor === 'valibot')
    return 'of valibot, which converts with a package of its own; give toStandardJsonSchema(schema) from @valibot/to-json-schema'
  return `of ${vendor}, which offers no JSON Schema; give JSON Schema as inputSchema, and ${OWN_CHECK}`
}
