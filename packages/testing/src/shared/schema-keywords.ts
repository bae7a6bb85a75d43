/** Checks that apply to JSON Schemas on every wire: the draft 2020-12 meta-schema, valid patterns, and references that resolve. */
import { isObject } from './guards.js'

/** Place of the first invalid keyword and what is expected there. */
export function keywordObjection(schema: unknown): string | undefined {
  return objection(schema, '', wholeOf(schema))
}

function objection(schema: unknown, at: string, whole: Whole): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return `${at || 'the schema'} is not of type 'object', 'boolean'`
  for (const [keyword, value] of Object.entries(schema)) {
    const found = keywordAt(keyword, value, `${at}/${escaped(keyword)}`, whole)
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
const ANCHOR = /^\$(?:dynamicA|a)nchor$/
const FLAG = /^(?:deprecated|readOnly|uniqueItems|writeOnly)$/
const COUNT = /^(?:max|min)(?:Contains|Items|Length|Properties)$/
const NUMBER = /^(?:exclusiveMaximum|exclusiveMinimum|maximum|minimum|multipleOf)$/

function keywordAt(keyword: string, value: unknown, at: string, whole: Whole): string | undefined {
  const is = (type: string, fits: boolean) => (fits ? undefined : `${at} is not of type '${type}'`)
  if (SCHEMA.test(keyword)) return objection(value, at, whole)
  if (SCHEMAS.test(keyword)) {
    if (!Array.isArray(value)) return is('array', false)
    if (value.length === 0) return `${at} should be non-empty`
    return firstOf(value.entries(), (each, index) => objection(each, `${at}/${index}`, whole))
  }
  if (MAP.test(keyword)) {
    if (!isObject(value)) return is('object', false)
    return firstOf(Object.entries(value), (each, name) =>
      keyword === 'patternProperties' && !isExpression(name)
        ? `${at} has a key that is not a 'regex'`
        : objection(each, `${at}/${escaped(name)}`, whole),
    )
  }
  if (keyword === 'dependencies') {
    if (!isObject(value)) return is('object', false)
    return firstOf(Object.entries(value), (each, name) =>
      Array.isArray(each)
        ? namesObjection(each, `${at}/${escaped(name)}`)
        : objection(each, `${at}/${escaped(name)}`, whole),
    )
  }
  if (keyword === 'dependentRequired') {
    if (!isObject(value)) return is('object', false)
    return firstOf(Object.entries(value), (each, name) => namesObjection(each, `${at}/${escaped(name)}`))
  }
  if (TEXT.test(keyword) && typeof value !== 'string') return is('string', false)
  if (/^\$(?:dynamicR|recursiveR|r)ef$/.test(keyword)) {
    if (target(value as string, whole) === undefined) return `${at} cannot be resolved: '${value}'`
    return keyword === '$ref' && isCircle(at, whole) ? `${at} leads only to itself` : undefined
  }
  if (keyword === '$id')
    return /^[^#]*#?$/.test(value as string) ? undefined : `${at} does not match '^[^#]*#?$'`
  if (ANCHOR.test(keyword)) {
    if (typeof value !== 'string' || !/^[A-Za-z_][-A-Za-z0-9._]*$/.test(value)) return is('anchor', false)
    return whole.repeated.has(value) ? `${at} is not unique: '${value}'` : undefined
  }
  if (keyword === '$vocabulary')
    return is('object of booleans', isObject(value) && Object.values(value).every(isBoolean))
  if (FLAG.test(keyword)) return is('boolean', isBoolean(value))
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

const isBoolean = (value: unknown) => typeof value === 'boolean'
const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** Nothing is fetched: a reference must lead to a schema within this schema. */
interface Whole {
  readonly base: string
  readonly schemas: Map<string, unknown>
  /** Places by anchor. */
  readonly anchors: Map<string, string>
  readonly repeated: Set<string>
}

function wholeOf(root: unknown): Whole {
  const base = isObject(root) && typeof root.$id === 'string' ? root.$id.replace(/#$/, '') : ''
  const whole: Whole = { base, schemas: new Map(), anchors: new Map(), repeated: new Set() }
  const enter = (schema: unknown, at: string) => {
    if (!isObject(schema) && !isBoolean(schema)) return
    whole.schemas.set(at, schema)
    if (!isObject(schema)) return
    for (const [keyword, value] of Object.entries(schema)) {
      const place = `${at}/${escaped(keyword)}`
      if (ANCHOR.test(keyword) && typeof value === 'string') {
        if (whole.anchors.has(value)) whole.repeated.add(value)
        else whole.anchors.set(value, at)
      }
      if (SCHEMA.test(keyword)) enter(value, place)
      else if ((SCHEMAS.test(keyword) || MAP.test(keyword) || keyword === 'dependencies') && value)
        for (const [key, each] of Object.entries(value)) enter(each, `${place}/${escaped(key)}`)
    }
  }
  enter(root, '')
  return whole
}

/** Place that a reference leads to. */
function target(reference: string, { base, schemas, anchors }: Whole): string | undefined {
  const own = reference.startsWith(base) ? reference.slice(base.length) : reference
  if (own === '' || own === '#') return ''
  if (!own.startsWith('#')) return undefined
  if (!own.startsWith('#/')) return anchors.get(own.slice(1))
  try {
    const keys = own.slice(1).split('/').map(decodeURIComponent)
    const place = keys.map((key) => escaped(key.replaceAll('~1', '/').replaceAll('~0', '~'))).join('/')
    return schemas.has(place) ? place : undefined
  } catch {
    return undefined
  }
}

/** Checks if following a `$ref` leads back to it. */
function isCircle(at: string, whole: Whole): boolean {
  const start = at.slice(0, at.lastIndexOf('/'))
  const passed = new Set<string>()
  let place: string | undefined = start
  while (place !== undefined && !passed.has(place)) {
    passed.add(place)
    const schema = whole.schemas.get(place)
    place = isObject(schema) && typeof schema.$ref === 'string' ? target(schema.$ref, whole) : undefined
  }
  return place === start
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
