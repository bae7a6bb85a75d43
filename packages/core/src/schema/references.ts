/** Resolves references within a schema. Fetches nothing, and never treats data as a schema. */
import { isRecord } from '../base/data.js'
import { isSchema, type Json, KEYWORDS, type KeywordRule } from './keyword-rules.js'

export const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef'])
export const ANCHORS: ReadonlySet<string> = new Set(['$anchor', '$dynamicAnchor'])

/** The references of one schema. */
export interface References {
  /** The problem of a reference in `schema`: its target does not exist, or it leads back to itself. */
  problem(schema: Json, keyword: string, reference: string): 'nowhere' | 'circle' | undefined
  /** The target of a reference, if it exists. */
  target(reference: string): Json | boolean | undefined
  /** True for the first anchor of this name. */
  claim(anchor: string): boolean
}

/**
 * Providers treat a schema as one document: references to a nested `$id` do not resolve, and anchors must be unique even
 * under different `$id`s.
 */
export function collectReferences(root: Json): References {
  let claimed: Set<string> | undefined
  let anchors: Map<string, Json> | undefined
  /** By schema: true if its `$ref` leads back to it. */
  let circles: Map<Json, boolean> | undefined

  const target = (reference: string): Json | boolean | undefined => {
    const base = typeof root.$id === 'string' ? root.$id.replace(/#$/, '') : ''
    const own = reference.startsWith(base) ? reference.slice(base.length) : reference
    if (own === '' || own === '#') return root
    if (own.startsWith('#/')) return followPointer(root, own.slice(2))
    if (!own.startsWith('#')) return undefined
    anchors ??= collectAnchors(root, new Map())
    return anchors.get(own.slice(1))
  }

  /** Follows each schema once. */
  const isCircle = (start: Json): boolean => {
    circles ??= new Map()
    const trail = new Set<Json>()
    let place: unknown = start
    while (isRecord(place) && !circles.has(place) && !trail.has(place)) {
      trail.add(place)
      place = typeof place.$ref === 'string' ? target(place.$ref) : undefined
    }
    let isBack = false
    for (const each of trail) {
      isBack ||= each === place
      circles.set(each, isBack)
    }
    return circles.get(start) === true
  }

  return {
    target,
    problem: (schema, keyword, reference) => {
      if (target(reference) === undefined) return 'nowhere'
      return keyword === '$ref' && isCircle(schema) ? 'circle' : undefined
    },
    claim: (anchor) => {
      claimed ??= new Set()
      return claimed.size < claimed.add(anchor).size
    },
  }
}

/** Finds the schema at a JSON pointer, if every step leads to a schema. */
function followPointer(root: Json, pointer: string): Json | boolean | undefined {
  let place: unknown = root
  /** The place contains schemas but is not a schema itself. */
  let isHolder = false
  for (const step of pointer.split('/')) {
    const key = decodeStep(step)
    if (key === undefined || typeof place !== 'object' || place === null || !Object.hasOwn(place, key))
      return undefined
    const value: unknown = (place as Json)[key]
    const inside: KeywordRule['inside'] = isHolder ? 'schema' : KEYWORDS.get(key)?.inside
    if (inside === undefined) return undefined
    // `items` of older drafts may be a list.
    isHolder = inside !== 'schema' || (!isHolder && Array.isArray(value))
    place = value
  }
  return !isHolder && isSchema(place) ? place : undefined
}

function decodeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

/** Collects the first schema of each anchor. */
function collectAnchors(schema: unknown, found: Map<string, Json>): Map<string, Json> {
  if (!isRecord(schema)) return found
  for (const [keyword, value] of Object.entries(schema)) {
    if (ANCHORS.has(keyword) && typeof value === 'string' && !found.has(value)) found.set(value, schema)
    const inside = KEYWORDS.get(keyword)?.inside
    if (inside === undefined || typeof value !== 'object' || value === null) continue
    if (inside === 'schema' && !Array.isArray(value)) collectAnchors(value, found)
    else for (const each of Object.values(value)) collectAnchors(each, found)
  }
  return found
}
