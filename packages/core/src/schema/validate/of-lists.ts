/** Keywords that ask about the items of a list. */
import { isSchema } from '../rules.js'
import { type At, all, isNumber, type Keyword } from './keyword.js'
import { childOf, spend, type Verdict } from './run.js'

/** The list in front: `prefixItems`, or `items` of older drafts. */
function inFront({ schema }: At): readonly unknown[] {
  if (Array.isArray(schema.prefixItems)) return schema.prefixItems
  return Array.isArray(schema.items) ? schema.items : []
}

function itemsFrom(at: At, from: number, schemaOf: (index: number) => unknown, to?: number): Verdict {
  const { place, seen } = at
  if (!Array.isArray(place.value)) return true
  const end = Math.min(place.value.length, to ?? place.value.length)
  const verdict = all(range(from, end), (index) => at.ask(schemaOf(index), childOf(place, index)), at)
  if (seen && verdict !== false && seen.items !== 'all')
    for (const index of range(from, end)) seen.items.add(index)
  return verdict
}

function* range(from: number, end: number): Generator<number> {
  for (let index = from; index < end; index++) yield index
}

export const prefixItems: Keyword = (at) => {
  const list = inFront(at)
  return itemsFrom(at, 0, (index) => list[index], list.length)
}

export const items: Keyword = (at, asked: unknown) => {
  if (Array.isArray(asked))
    return Array.isArray(at.schema.prefixItems) ? true : prefixItems(at, asked as never)
  return isSchema(asked) ? itemsFrom(at, inFront(at).length, () => asked) : true
}

export const additionalItems: Keyword = (at, asked: unknown) =>
  Array.isArray(at.schema.items) && isSchema(asked)
    ? itemsFrom(at, at.schema.items.length, () => asked)
    : true

export const unevaluatedItems: Keyword = (at, asked: unknown) => {
  const { place, seen } = at
  if (!Array.isArray(place.value) || !seen || seen.items === 'all' || !isSchema(asked)) return true
  spend(at.run, place.value.length / 8)
  const left = [...range(0, place.value.length)].filter(
    (index) => seen.items !== 'all' && !seen.items.has(index),
  )
  const verdict = all(left, (index) => at.ask(asked, childOf(place, index)), at)
  if (verdict !== false) seen.items = 'all'
  return verdict
}

export const contains: Keyword = (at, asked: unknown) => {
  const { place, seen, schema } = at
  if (!Array.isArray(place.value) || !isSchema(asked)) return true
  const least = isNumber(schema.minContains) ? schema.minContains : 1
  const most = isNumber(schema.maxContains) ? schema.maxContains : Number.POSITIVE_INFINITY
  let [surely, perhaps] = [0, 0]
  for (const index of range(0, place.value.length)) {
    const verdict = at.ask(asked, childOf(place, index), true)
    if (verdict === true) surely++
    if (verdict === undefined) perhaps++
    if (verdict !== false && seen && seen.items !== 'all') seen.items.add(index)
  }
  if (surely + perhaps < least)
    return at.fail(() => `Must hold at least ${least} items of the kind asked for.`)
  if (surely > most) return at.fail(() => `Must hold at most ${most} items of the kind asked for.`)
  return (surely >= least && surely + perhaps <= most) || undefined
}
