/** Collects all texts of a definition that a model can read, including keys, with their JSON paths. */

export type FieldKind =
  | 'name'
  | 'title'
  | 'description'
  | 'instructions'
  | 'key'
  | 'parameter'
  | 'value'
  | 'schema-text'
  | 'meta'

export interface Field {
  /** JSON path: `inputSchema.properties.path.description`. */
  readonly where: string
  readonly kind: FieldKind
  readonly text: string
  /** The parameter to which the text belongs, if any. */
  readonly parameter?: string
}

export interface Fields {
  readonly fields: readonly Field[]
  /** Skipped parts, with the reason. */
  readonly unread: readonly { readonly where: string; readonly why: string }[]
}

const MOST_FIELDS = 20_000
const MOST_DEPTH = 100
/** Real definitions have up to 85,000 characters. */
export const MOST_CHARACTERS = 1_000_000

const VALUE_KEYS = new Set(['default', 'const', 'enum', 'examples', 'example'])
const PROPERTY_KEYS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

export function collectFields(definition: unknown): Fields {
  const fields: Field[] = []
  const unread: { where: string; why: string }[] = []
  let characters = 0
  let isFull = false

  const add = (where: string, kind: FieldKind, text: string, parameter?: string) => {
    if (isFull || text === '') return
    if (fields.length >= MOST_FIELDS || characters + text.length > MOST_CHARACTERS) {
      isFull = true
      unread.push({
        where,
        why: `more than ${MOST_FIELDS} texts or ${MOST_CHARACTERS} characters in one definition`,
      })
      return
    }
    characters += text.length
    fields.push({ where, kind, text, ...(parameter === undefined ? {} : { parameter }) })
  }

  const walk = (value: unknown, where: string, place: Place, depth: number): void => {
    if (isFull) return
    if (typeof value === 'string') {
      add(where, place.kind, value, place.parameter)
      return
    }
    if (typeof value !== 'object' || value === null) return
    if (depth > MOST_DEPTH) {
      unread.push({ where, why: `nested deeper than ${MOST_DEPTH} levels` })
      isFull = true
      return
    }
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) walk(item, `${where}[${index}]`, place, depth + 1)
      return
    }
    for (const [key, item] of Object.entries(value)) {
      const next = join(where, key)
      if (place.holdsProperties) add(next, 'parameter', key, key)
      else if (!isPlainKey(key)) add(next, 'key', key, place.parameter)
      walk(item, next, below(place, key), depth + 1)
    }
  }

  if (typeof definition !== 'object' || definition === null || Array.isArray(definition))
    return { fields: [], unread: [{ where: '', why: 'the definition is not an object' }] }
  for (const [key, value] of Object.entries(definition)) {
    if (!isPlainKey(key)) add(join('', key), 'key', key)
    walk(value, join('', key), ROOTS[key] ?? { kind: 'meta', holdsProperties: false }, 1)
  }
  return { fields, unread }
}

interface Place {
  readonly kind: FieldKind
  readonly holdsProperties: boolean
  readonly parameter?: string
}

const ROOTS: Readonly<Record<string, Place>> = Object.assign(Object.create(null) as Record<string, Place>, {
  name: { kind: 'name', holdsProperties: false },
  title: { kind: 'title', holdsProperties: false },
  description: { kind: 'description', holdsProperties: false },
  instructions: { kind: 'instructions', holdsProperties: false },
  inputSchema: { kind: 'schema-text', holdsProperties: false },
  outputSchema: { kind: 'schema-text', holdsProperties: false },
})

/** A schema below `properties` belongs to that parameter, unless a deeper parameter contains it. */
function below(place: Place, key: string): Place {
  if (place.kind === 'meta' || place.kind === 'value') return place
  if (place.holdsProperties) return { kind: 'schema-text', holdsProperties: false, parameter: key }
  const holdsProperties = PROPERTY_KEYS.has(key)
  const kind = !holdsProperties && VALUE_KEYS.has(key) ? 'value' : 'schema-text'
  return kind === place.kind && !holdsProperties ? place : { ...place, kind, holdsProperties }
}

/** Keys such as `inputSchema` or `x-order` carry no message; long keys, or keys with a space, may. */
function isPlainKey(key: string): boolean {
  return key.length <= 40 && /^[\w$./:-]*$/.test(key)
}

function join(where: string, key: string): string {
  const shown = key.length > 80 ? `${key.slice(0, 79)}…` : key
  if (/^[A-Za-z_$][\w$-]*$/.test(shown)) return where === '' ? shown : `${where}.${shown}`
  return `${where}[${JSON.stringify(shown)}]`
}
