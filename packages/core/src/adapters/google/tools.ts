/** Converts definitions to and from Gemini's function declarations. */

import { dropUndefined, isRecord } from '../../base/data.js'
import type { JsonSchema, Tool } from '../../tool/tool.js'
import {
  assertImportable,
  createToolCodec,
  type Described,
  fitTool,
  type ImportForm,
  objectSchema,
} from '../shared/tools.js'
import { type GoogleFunction, type GoogleFunctionDeclaration, WIRE } from './types.js'

const FORM: ImportForm = {
  form: WIRE,
  shape: '{ functionDeclarations: [{ name, description, parameters }] }',
  nested: 'functionDeclarations',
}

const codec = createToolCodec<GoogleFunction>((given) => {
  const { name, description, ...tool } = fitTool(given, WIRE)
  // Not `parameters`: Google's subset has no `additionalProperties`, no `$ref` and no object without properties.
  return { name, description, parametersJsonSchema: objectSchema(tool) }
})

export const writeTools = codec.write

/**
 * Reads your existing `tools` (`[{ functionDeclarations }]`), or a list of declarations. `describe` adds fields that
 * the wire cannot hold: `execute`, `defer`, `aliases` … While deferral is off, `begin` returns these declarations.
 * Throws `invalid-tool` for tools of another wire, and for tools that the provider runs (`{ googleSearch }` …): add
 * those to `parts.tools` yourself.
 */
export function importTools<Native extends GoogleFunctionDeclaration>(
  wire: readonly (Native | { readonly functionDeclarations?: readonly Native[] | undefined })[],
  describe: (declaration: Native) => Described = () => ({}),
): readonly Tool[] {
  const listed = unpackDeclarations(wire) as readonly Native[]
  assertImportable(
    listed,
    FORM,
    (tool) => typeof tool.name === 'string' && FOREIGN.every((key) => tool[key] === undefined),
  )
  return codec.read(listed, (declaration) => {
    const {
      name = '',
      description = '',
      parameters,
      parametersJsonSchema,
    }: GoogleFunctionDeclaration = declaration
    const schema = parametersJsonSchema ?? fromOpenApi(parameters)
    const inputSchema = isRecord(schema) ? schema : { type: 'object', properties: {} }
    return { name, description, inputSchema, ...dropUndefined(describe(declaration as Native)) }
  })
}

/** Keys of tools of other wires, which a declaration does not have. */
const FOREIGN = ['type', 'input_schema', 'inputSchema']

/** Unpacks nested declarations. A tool with other keys stays packed, and is refused later. */
function unpackDeclarations(wire: unknown): unknown {
  if (!Array.isArray(wire)) return wire
  const inner = (tool: unknown) => {
    if (!isRecord(tool) || !Array.isArray(tool.functionDeclarations)) return undefined
    return Object.keys(dropUndefined(tool)).length === 1 ? tool.functionDeclarations : undefined
  }
  if (wire.length === 1) return inner(wire[0]) ?? wire
  return wire.some(inner) ? wire.flatMap((tool: unknown) => inner(tool) ?? [tool]) : wire
}

/**
 * Converts Google's subset of OpenAPI to JSON Schema: lowercase types, `nullable` as a type, 64-bit strings as
 * numbers.
 */
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
