/** Fingerprints definitions, ignoring the order of keys and of lists that are sets. */
import { createHash } from 'node:crypto'
import { canonicalJson, isRecord } from '@toolwell/core/internal'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** SHA-256 in hex of the normalised value, with all known and unknown fields. */
export function fingerprint(value: unknown): string {
  return `sha256-${createHash('sha256')
    .update(canonicalJson(normalised(value)).toWellFormed())
    .digest('hex')}`
}

/** Sorts keys, and `required` and `type` of schemas, whose order has no meaning. */
export function normalised(value: unknown): JsonObject {
  const result = tidy(value, 'definition', 0)
  return isRecord(result) ? result : { value: result }
}

type Place = 'definition' | 'schema' | 'schemas' | 'data'

const MOST_DEPTH = 200
/** Values of these keys are data, not schemas: a list named `required` in them is an ordinary list. */
const DATA = new Set(['const', 'default', 'enum', 'examples', 'example'])
const SCHEMAS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

function tidy(value: unknown, place: Place, depth: number): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object') return null
  if (depth > MOST_DEPTH) return '… nested too deeply'
  if (Array.isArray(value)) return value.map((item) => tidy(item, place, depth + 1))
  const result = Object.create(null) as Record<string, Json>
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined || typeof member === 'function') continue
    const next = below(place, key)
    const tidied = tidy(member, next, depth + 1)
    const isSet = place === 'schema' && (key === 'required' || key === 'type') && Array.isArray(tidied)
    result[key] = isSet && tidied.every((item) => typeof item === 'string') ? [...tidied].sort() : tidied
  }
  return result
}

function below(place: Place, key: string): Place {
  if (place === 'definition') return key === 'inputSchema' || key === 'outputSchema' ? 'schema' : 'data'
  if (place === 'schemas') return 'schema'
  if (place === 'schema') return DATA.has(key) ? 'data' : SCHEMAS.has(key) ? 'schemas' : 'schema'
  return 'data'
}
