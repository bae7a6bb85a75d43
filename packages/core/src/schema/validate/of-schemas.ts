/** Keywords that ask other schemas of the same place. */
import { all, type Keyword } from './keyword.js'
import type { Verdict } from './run.js'

export const NO_ALTERNATIVE = 'Must fit one of the alternatives.'

export const allOf: Keyword = (at, asked: unknown) =>
  Array.isArray(asked) ? all(asked, (each) => at.join(each), at) : true

/** Each is asked where what they look at counts; otherwise the first that fits is enough. */
export const anyOf: Keyword = (at, asked: unknown) => {
  if (!Array.isArray(asked)) return true
  let verdict: Verdict = false
  for (const each of asked) {
    const fits = at.join(each, true)
    if (fits === true) verdict = true
    else if (fits === undefined && verdict === false) verdict = undefined
    if (verdict === true && !at.seen) return true
  }
  if (verdict === false && at.collects) for (const each of asked) at.join(each)
  return verdict === false ? at.fail(() => NO_ALTERNATIVE) : verdict
}

export const oneOf: Keyword = (at, asked: unknown) => {
  if (!Array.isArray(asked)) return true
  let [surely, perhaps] = [0, 0]
  for (const each of asked) {
    const fits = at.join(each, true)
    if (fits === true) surely++
    if (fits === undefined) perhaps++
    if (surely > 1) return at.fail(() => 'Must fit only one of the alternatives, and fits several.')
  }
  if (surely + perhaps === 0 && at.collects) for (const each of asked) at.join(each)
  if (surely + perhaps === 0) return at.fail(() => NO_ALTERNATIVE)
  return perhaps === 0 || undefined
}

export const not: Keyword = (at, asked: unknown) => {
  const fits = at.ask(asked, at.place, true)
  if (fits === undefined) return undefined
  return !fits || at.fail(() => 'Must not be what the schema excludes.')
}

export const condition: Keyword = (at, asked: unknown) => {
  const met = at.join(asked, true)
  // Where it cannot be told which of the two applies, only what neither allows is wrong.
  if (met === undefined) {
    const either = [at.schema.then ?? true, at.schema.else ?? true].map((each) => at.join(each, true))
    return either.includes(true) || either.includes(undefined)
      ? undefined
      : at.fail(() => 'Must fit then or else.')
  }
  const next = met ? at.schema.then : at.schema.else
  return next === undefined ? true : at.join(next)
}

export const reference: Keyword = (at, asked: unknown) =>
  typeof asked === 'string' ? at.follow(asked) : true
