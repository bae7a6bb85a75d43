/** What a keyword of JSON Schema is: a question to one place of the arguments. One whose own value has the wrong form asks for nothing. */
import type { Json } from '../rules.js'
import type { Place, Run, Seen, Verdict } from './run.js'

/** What a keyword works with. */
export interface At {
  readonly run: Run
  readonly place: Place
  /** The schema that the keyword stands in. */
  readonly schema: Json
  /** What has been looked at so far, where some schema asks for the rest. */
  readonly seen: Seen | undefined
  /** Every problem is asked for; otherwise the first one ends the check. */
  readonly collects: boolean
  /** Asks another schema of this place, or of one within it. Its problems are kept unless it is only tried. */
  ask(schema: unknown, place: Place, tried?: boolean): Verdict
  /** Asks another schema of this very place; what it looks at counts as looked at, where it fits. */
  join(schema: unknown, tried?: boolean): Verdict
  /** The same for what a reference leads to. */
  follow(reference: string): Verdict
  fail(rule: () => string): false
}

export type Keyword = (at: At, value: never) => Verdict

export type Plan = readonly { readonly check: Keyword; readonly value: never }[]

export const isNumber = (value: unknown): value is number => typeof value === 'number'

/** False where one is false, unknown where one is unknown, else true. */
export function all<Item>(items: Iterable<Item>, ask: (item: Item) => Verdict, { collects }: At): Verdict {
  let verdict: Verdict = true
  for (const item of items) {
    const each = ask(item)
    if (each === false && !collects) return false
    if (each === false) verdict = false
    else if (each === undefined && verdict) verdict = undefined
  }
  return verdict
}
