/** Definitions to and from the shape of Gemini's function declarations. */

import { isRecord } from '../../base/guards.js'
import type { JsonSchema, Tool } from '../../tool/tool.js'
import { createToolCodec, fitted, objectSchema } from '../shared/tools.js'
import { type GoogleFunction, type GoogleFunctionDeclaration, WIRE } from './types.js'

const codec = createToolCodec<GoogleFunction>((given) => {
  const { name, description, ...tool } = fitted(given, WIRE)
  // Not `parameters`: Google's own subset knows neither `additionalProperties` nor `$ref` nor an object without properties.
  return { name, description, parametersJsonSchema: objectSchema(tool) }
})

export const declarations = codec.write

/**
 * Reads a host's existing `functionDeclarations`. `describe` adds what the wire cannot hold: `execute`, `defer`,
 * `aliases` … While deferral is off, the very array given here is what `begin` returns.
 */
export function importTools<Native extends GoogleFunctionDeclaration>(
  wire: readonly Native[],
  describe: (declaration: Native) => Partial<Tool> = () => ({}),
): readonly Tool[] {
  return codec.read(wire, (declaration) => {
    const {
      name = '',
      description = '',
      parameters,
      parametersJsonSchema,
    }: GoogleFunctionDeclaration = declaration
    const schema = parametersJsonSchema ?? fromOpenApi(parameters)
    const inputSchema = isRecord(schema) ? schema : { type: 'object', properties: {} }
    return { name, description, inputSchema, ...describe(declaration as Native) }
  })
}

/** Google's subset of OpenAPI as JSON Schema: types in small letters, `nullable` as a type, 64-bit text as numbers. */
function fromOpenApi(schema: unknown): JsonSchema | undefined {
  if (!isRecord(schema)) return undefined
  const made: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'nullable') continue
    if (keyword === 'type') made.type = String(value).toLowerCase()
    else if (/^(min|max)[A-Z]/.test(keyword)) made[keyword] = Number(value)
    else if (keyword === 'items') made.items = fromOpenApi(value) ?? value
    else if (keyword === 'anyOf' && Array.isArray(value)) made.anyOf = value.map(fromOpenApi)
    else if (keyword === 'properties' && isRecord(value))
      made.properties = Object.fromEntries(
        Object.entries(value).map(([name, property]) => [name, fromOpenApi(property) ?? property]),
      )
    else made[keyword] = value
  }
  if (schema.nullable !== true) return made
  if (Array.isArray(made.enum)) made.enum = [...made.enum, null]
  if (made.type === undefined) return { anyOf: [made, { type: 'null' }] }
  return { ...made, type: [made.type, 'null'] }
}
