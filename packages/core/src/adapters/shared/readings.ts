/** Remembers what was made of an object, so that the same message gives the same units on every request. */
import { sameItems } from './same-items.js'

/** Hosts change messages in place: `seen` is what was read of `source`, and where any of it is another thing, it is made anew. */
export type Readings<Made> = (source: object, seen: readonly unknown[], make: () => Made) => Made

export function createReadings<Made>(): Readings<Made> {
  const readings = new WeakMap<object, { readonly seen: readonly unknown[]; readonly made: Made }>()
  return (source, seen, make) => {
    const known = readings.get(source)
    if (known && sameItems(known.seen, seen)) return known.made
    const made = make()
    readings.set(source, { seen, made })
    return made
  }
}
