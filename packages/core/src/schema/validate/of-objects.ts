/** Keywords that ask about the properties of an object. */
import { isRecord } from '../../base/guards.js'
import { isNames, isSchema } from '../rules.js'
import { type At, all, type Keyword } from './keyword.js'
import { matches } from './of-values.js'
import { childOf, keysIn, spend, type Verdict } from './run.js'

function look({ seen }: At, key: string): void {
  if (seen && seen.properties !== 'all') seen.properties.add(key)
}

export const properties: Keyword = (at, asked: unknown) => {
  const { run, place } = at
  if (!isRecord(place.value) || !isRecord(asked)) return true
  const keys = keysIn(place)
  spend(run, keys.length / 2)
  return all(
    keys.filter((key) => Object.hasOwn(asked, key)),
    (key) => {
      look(at, key)
      return at.ask(asked[key], childOf(place, key))
    },
    at,
  )
}

export const patternProperties: Keyword = (at, asked: unknown) => {
  const { value } = at.place
  if (!isRecord(value) || !isRecord(asked)) return true
  const keys = keysIn(at.place)
  return all(
    Object.entries(asked),
    ([pattern, schema]) =>
      all(
        keys,
        (key) => {
          const verdict = matches(at, pattern, key)
          if (verdict === false) return true
          look(at, key)
          const fits = at.ask(schema, childOf(at.place, key), verdict === undefined)
          return verdict === undefined && fits === false ? undefined : fits
        },
        at,
      ),
    at,
  )
}

/** Undefined where a pattern that is not tried could be about it. */
function isAdditional(at: At, key: string): Verdict {
  const { properties: named, patternProperties: patterned } = at.schema
  if (isRecord(named) && Object.hasOwn(named, key)) return false
  if (!isRecord(patterned)) return true
  let verdict: Verdict = true
  for (const pattern of Object.keys(patterned)) {
    const matched = matches(at, pattern, key)
    if (matched) return false
    if (matched === undefined) verdict = undefined
  }
  return verdict
}

function restOf(at: At, keys: readonly string[], isRest: (key: string) => Verdict, asked: unknown): Verdict {
  return all(
    keys,
    (key) => {
      const rest = isRest(key)
      if (rest === false) return true
      look(at, key)
      const verdict = at.ask(asked, childOf(at.place, key), rest === undefined)
      return rest === undefined && verdict === false ? undefined : verdict
    },
    at,
  )
}

export const additionalProperties: Keyword = (at, asked: unknown) => {
  const { value } = at.place
  if (!isRecord(value) || !isSchema(asked)) return true
  const keys = keysIn(at.place)
  spend(at.run, keys.length / 2)
  return restOf(at, keys, (key) => isAdditional(at, key), asked)
}

export const unevaluatedProperties: Keyword = (at, asked: unknown) => {
  const { place, seen } = at
  if (!isRecord(place.value) || !seen || seen.properties === 'all' || !isSchema(asked)) return true
  const looked = seen.properties
  const present = keysIn(place)
  spend(at.run, present.length / 2)
  const keys = present.filter((key) => !looked.has(key))
  return restOf(at, keys, () => true, asked)
}

export const propertyNames: Keyword = (at, asked: unknown) => {
  const { value } = at.place
  if (!isRecord(value) || !isSchema(asked)) return true
  const within = at.place
  return all(keysIn(within), (key) => at.ask(asked, { value: key, within, key }), at)
}

export const required: Keyword = (at, asked: unknown) => {
  const { run, place } = at
  const { value } = place
  if (!isRecord(value) || !isNames(asked)) return true
  spend(run, asked.length / 8)
  const missing = asked.filter((name) => !Object.hasOwn(value, name))
  for (const name of missing) at.fail(() => `The required property ${JSON.stringify(name)} is missing.`)
  return missing.length === 0
}

/** A list of names, or a schema: `dependencies` of older drafts has both. */
export const dependent: Keyword = (at, asked: unknown) => {
  const { value } = at.place
  if (!isRecord(value) || !isRecord(asked)) return true
  const present = Object.keys(asked).filter((key) => Object.hasOwn(value, key))
  spend(at.run, Object.keys(asked).length / 8)
  return all(
    present,
    (key) => (isNames(asked[key]) ? required(at, asked[key] as never) : at.join(asked[key])),
    at,
  )
}
