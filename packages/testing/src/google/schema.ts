/** Rules about schemas on the Gemini wire: Google's subset of OpenAPI 3.0, and free JSON Schema as the alternative. */
import { type Fields, type Found, firstOf, isObject } from '../shared/guards.js'
import { keywordObjection } from '../shared/schema-keywords.js'
import {
  anything,
  count,
  fieldsOf,
  flag,
  invalid,
  isPresent,
  join,
  listOf,
  number,
  object,
  PROTO,
  type Table,
  text,
  wrongType,
} from './refusals.js'

const PARAMETER_NAME = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/
const TYPES = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']

/** Without `additionalProperties`, `$ref`, `$schema`, `const` and other keywords that the official type lacks. */
const SCHEMA: Table = {
  anyOf: (value, at) => listOf(schemaViolation)(value, at),
  default: anything,
  description: text,
  enum: listOf(text),
  example: anything,
  format: text,
  items: (value, at) => schemaViolation(value, at),
  maxItems: count,
  maxLength: count,
  maxProperties: count,
  maximum: number,
  minItems: count,
  minLength: count,
  minProperties: count,
  minimum: number,
  nullable: flag,
  pattern: text,
  properties: (value, at) =>
    object(value, at) ??
    firstOf(Object.entries(value as Fields), ([name, entry]) => schemaViolation(entry, `${at}[${name}]`)),
  propertyOrdering: listOf(text),
  required: listOf(text),
  title: text,
  type: typeViolation,
}

/** Only top-level parameter names are restricted. */
export function parametersViolation(schema: unknown, at: string): Found {
  const found = schemaViolation(schema, at)
  if (found) return found
  const { type, properties } = schema as Fields
  if (String(type).toUpperCase() !== 'OBJECT') {
    return invalid(at, 'parameters schema should be of type OBJECT.', 'invalid_schema')
  }
  return firstOf(Object.keys(properties as Fields), (name) => {
    if (PARAMETER_NAME.test(name)) return undefined
    const reason =
      'Invalid parameter name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or underscores, ' +
      'with a maximum length of 64.'
    return invalid(`${at}.properties[${name}]`, reason, 'invalid_schema')
  })
}

/** Free JSON Schema of an object. A schema without a type, such as a lone `$ref`, is accepted. */
export function jsonSchemaViolation(schema: unknown, at: string): Found {
  const shape = object(schema, at)
  const ill = shape ? undefined : keywordObjection(schema)
  if (ill !== undefined) return invalid(at, `the schema is invalid: ${ill}.`, 'invalid_schema')
  if (shape || [undefined, 'object'].includes((schema as { type?: string }).type)) return shape
  return invalid(at, 'the schema must describe an object.', 'invalid_schema')
}

/** Rules for every schema of the OpenAPI subset, including nested ones. */
export function schemaViolation(schema: unknown, at: string): Found {
  const inFields = fieldsOf(SCHEMA)(schema, at)
  if (inFields) return inFields
  const { type, anyOf, properties, items, required, format, enum: values } = schema as Fields
  const refuse = (field: string, reason: string) => invalid(join(at, field), reason, 'invalid_schema')
  if (isPresent(type) && isPresent(anyOf)) return refuse('anyOf', 'type and any_of cannot be both populated.')
  if (!isPresent(type) && !isPresent(anyOf)) {
    return refuse('type', 'must be specified when not using one_of, any_of or all_of fields')
  }
  const kind = isPresent(type) ? String(type).toUpperCase() : ''
  const names = isObject(properties) ? Object.keys(properties) : []
  if (kind === 'OBJECT' && names.length === 0)
    return refuse('properties', 'should be non-empty for OBJECT type')
  if (kind === 'ARRAY' && !isPresent(items)) return refuse('items', 'missing field.')
  return (
    firstOf(((required ?? []) as string[]).entries(), ([index, name]) =>
      names.includes(name) ? undefined : refuse(`required[${index}]`, 'property is not defined'),
    ) ??
    firstOf(((values ?? []) as string[]).entries(), ([index, value]) => {
      // The official example marks numbers written as strings with this format.
      const allowed = kind === 'STRING' || (kind === 'INTEGER' && format === 'enum')
      if (!allowed) return refuse('enum', 'only allowed for STRING type')
      return value === '' ? refuse(`enum[${index}]`, 'cannot be empty') : undefined
    })
  )
}

/** Servers accept `string` and `STRING`. */
function typeViolation(type: unknown, at: string): Found {
  if (typeof type === 'string' && TYPES.includes(type.toUpperCase())) return undefined
  return wrongType(at, `${PROTO}.Type`, type)
}
