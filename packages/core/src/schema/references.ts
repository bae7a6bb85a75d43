/** Where the references of a schema lead. Nothing is ever fetched, and data is no schema, whatever it looks like. */
import { isRecord } from '../base/data.js'
import { isSchema, type Json, KEYWORDS, type KeywordRule } from './dialect.js'

export const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef'])
export const ANCHORS: ReadonlySet<string> = new Set(['$anchor', '$dynamicAnchor'])

/** For one look through a schema. */
export interface References {
  /** What is wrong with a reference of `schema`: there is no schema where it leads to, or it comes back to where it stands. */
  problem(schema: Json, keyword: string, reference: string): 'nowhere' | 'circle' | undefined
  /** The schema that a reference leads to, if there is one. */
  target(reference: string): Json | boolean | undefined
  /** Whether this is the first anchor of its name. */
  claim(anchor: string): boolean
}

/**
 * Providers take a schema as one whole: a reference to an `$id` further inside leads nowhere here, and anchors have one name
 * each, whatever `$id` they stand under.
 */
export function collectReferences(root: Json): References {
  let claimed: Set<string> | undefined
  let anchors: Map<string, Json> | undefined
  /** By the schemas that their `$ref` was followed from: whether it leads back to them. */
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

  /** Each is followed once, however many lead to it. */
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

/** What is at a pointer, if it leads from schema to schema all the way. */
function followPointer(root: Json, pointer: string): Json | boolean | undefined {
  let place: unknown = root
  /** Schemas are in the place, which is none itself. */
  let isHolder = false
  for (const step of pointer.split('/')) {
    const key = decodeStep(step)
    if (key === undefined || typeof place !== 'object' || place === null || !Object.hasOwn(place, key))
      return undefined
    const value: unknown = (place as Json)[key]
    const inside: KeywordRule['inside'] = isHolder ? 'schema' : KEYWORDS.get(key)?.inside
    if (inside === undefined) return undefined
    // As `items` of older drafts.
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

/** The first schema of each name. */
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
