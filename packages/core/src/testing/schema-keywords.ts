/**
 * What no server takes in a JSON Schema, whichever wire it speaks: what the meta-schema of draft 2020-12 refuses, patterns
 * that are no regular expressions, and references that lead nowhere.
 */
import { type Fields, isObject } from './guards.js'

/** The place of the first such keyword, and what should be there. */
export function keywordObjection(schema: unknown): string | undefined {
  return isObject(schema) ? objection(schema, '', schema) : objection(schema, '', {})
}

function objection(schema: unknown, at: string, root: Fields): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return `${at || 'the schema'} is not of type 'object', 'boolean'`
  for (const [keyword, value] of Object.entries(schema)) {
    const found = keywordAt(keyword, value, `${at}/${keyword}`, root)
    if (found !== undefined) return found
  }
  return undefined
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
const SCHEMA =
  /^(?:additionalItems|additionalProperties|contains|contentSchema|else|if|items|not|propertyNames|then|unevaluatedItems|unevaluatedProperties)$/
const SCHEMAS = /^(?:allOf|anyOf|oneOf|prefixItems)$/
const MAP = /^(?:\$defs|definitions|dependentSchemas|patternProperties|properties)$/
const TEXT =
  /^(?:\$comment|\$dynamicRef|\$id|\$recursiveRef|\$ref|\$schema|content(?:Encoding|MediaType)|description|format|title)$/
const FLAG = /^(?:deprecated|readOnly|uniqueItems|writeOnly)$/
const COUNT = /^(?:max|min)(?:Contains|Items|Length|Properties)$/
const NUMBER = /^(?:exclusiveMaximum|exclusiveMinimum|maximum|minimum|multipleOf)$/

function keywordAt(keyword: string, value: unknown, at: string, root: Fields): string | undefined {
  const is = (type: string, fits: boolean) => (fits ? undefined : `${at} is not of type '${type}'`)
  if (SCHEMA.test(keyword)) return objection(value, at, root)
  if (SCHEMAS.test(keyword)) {
    if (!Array.isArray(value)) return is('array', false)
    if (value.length === 0) return `${at} should be non-empty`
    return firstOf(value.entries(), (each, index) => objection(each, `${at}/${index}`, root))
  }
  if (MAP.test(keyword)) {
    if (!isObject(value)) return is('object', false)
    return firstOf(Object.entries(value), (each, name) =>
      keyword === 'patternProperties' && !isExpression(name)
        ? `${at} has a key that is not a 'regex'`
        : objection(each, `${at}/${name}`, root),
    )
  }
  if (keyword === 'dependencies') {
    if (!isObject(value)) return is('object', false)
    return firstOf(Object.entries(value), (each, name) =>
      Array.isArray(each) ? namesObjection(each, `${at}/${name}`) : objection(each, `${at}/${name}`, root),
    )
  }
  if (keyword === 'dependentRequired') {
    if (!isObject(value)) return is('object', false)
    return firstOf(Object.entries(value), (each, name) => namesObjection(each, `${at}/${name}`))
  }
  if (TEXT.test(keyword) && typeof value !== 'string') return is('string', false)
  if (keyword === '$ref' || keyword === '$dynamicRef')
    return leads(value as string, root) ? undefined : `${at} cannot be resolved: '${value}'`
  if (keyword === '$id')
    return /^[^#]*#?$/.test(value as string) ? undefined : `${at} does not match '^[^#]*#?$'`
  if (/^\$(?:dynamicA|a)nchor$/.test(keyword))
    return is('anchor', typeof value === 'string' && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value))
  if (keyword === '$vocabulary') return is('object', isObject(value))
  if (FLAG.test(keyword)) return is('boolean', typeof value === 'boolean')
  if (COUNT.test(keyword)) return is('nonNegativeInteger', Number.isInteger(value) && Number(value) >= 0)
  if (NUMBER.test(keyword))
    return is('number', typeof value === 'number' && (keyword !== 'multipleOf' || value > 0))
  if (keyword === 'pattern')
    return typeof value === 'string' && isExpression(value) ? undefined : `${at} is not a 'regex'`
  if (keyword === 'required') return namesObjection(value, at)
  if (keyword === 'examples') return is('array', Array.isArray(value))
  if (keyword === 'enum') {
    if (!Array.isArray(value)) return is('array', false)
    return value.length === 0 ? `${at} should be non-empty` : repetition(value, at)
  }
  return keyword === 'type' ? typeObjection(value, at) : undefined
}

function typeObjection(type: unknown, at: string): string | undefined {
  const list: unknown[] = Array.isArray(type) ? type : [type]
  if (list.length === 0) return `${at} should be non-empty`
  const odd = list.find((each) => !TYPES.includes(each as string))
  return odd === undefined ? repetition(list, at) : `${JSON.stringify(odd)} is not valid at ${at}`
}

function namesObjection(names: unknown, at: string): string | undefined {
  if (!Array.isArray(names)) return `${at} is not of type 'array'`
  if (names.some((name) => typeof name !== 'string')) return `${at} has an item that is not of type 'string'`
  return repetition(names, at)
}

function repetition(list: readonly unknown[], at: string): string | undefined {
  const isRepeated = new Set(list.map((item) => JSON.stringify(item))).size < list.length
  return isRepeated ? `${at} has non-unique elements` : undefined
}

function isExpression(text: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      return Boolean(new RegExp(text, flags))
    } catch {
      return false
    }
  })
}

/** Nothing is fetched: what a reference means has to be in the schema. */
function leads(reference: string, root: Fields): boolean {
  const base = typeof root.$id === 'string' ? root.$id.replace(/#$/, '') : ''
  const own = reference.startsWith(base) ? reference.slice(base.length) : reference
  if (own === '' || own === '#') return true
  if (!own.startsWith('#')) return false
  if (!own.startsWith('#/')) return JSON.stringify(root).includes(`nchor":${JSON.stringify(own.slice(1))}`)
  let place: unknown = root
  for (const step of own.slice(2).split('/')) {
    let key: string
    try {
      key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    } catch {
      return false
    }
    place =
      typeof place === 'object' && place !== null && Object.hasOwn(place, key) ? (place as Fields)[key] : null
  }
  return isObject(place) || typeof place === 'boolean'
}

function firstOf<Key>(
  entries: Iterable<[Key, unknown]>,
  check: (value: unknown, key: Key) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const found = check(value, key)
    if (found !== undefined) return found
  }
  return undefined
}
