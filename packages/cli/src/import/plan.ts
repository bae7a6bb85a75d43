/** What an import would do: which servers are new, which are there already, which bear a name that is taken. */
import { canonicalJson, isRecord } from '@toolwell/core/internal'
import type { ClientFile } from './clients.js'
import type { ClientServers } from './read-client.js'

export interface Addition {
  readonly name: string
  readonly entry: Readonly<Record<string, unknown>>
  readonly from: readonly ClientFile[]
  /** What it is called there, where that name was taken. */
  readonly was?: string
  readonly left: readonly string[]
}

export interface Plan {
  readonly add: readonly Addition[]
  /** There already, and the same. */
  readonly same: readonly string[]
  /** There already, and another: it stays. */
  readonly kept: readonly { readonly name: string; readonly from: ClientFile }[]
}

type Existing = Readonly<Record<string, unknown>>

export function planOf(found: readonly ClientServers[], existing: Existing): Plan {
  const add: (Addition & { readonly from: ClientFile[] })[] = []
  const same = new Set<string>()
  const kept: Plan['kept'][number][] = []
  const isTaken = (name: string) => Object.hasOwn(existing, name) || add.some((each) => each.name === name)
  for (const { from, servers } of found)
    for (const [name, { entry, left }] of servers) {
      const isEqual = (other: unknown) => plainly(other) === plainly(entry)
      const known = add.find((each) => (each.was ?? each.name) === name && isEqual(each.entry))
      const first = add.find((each) => each.name === name)
      const there = placesOf(existing, name, from.client).find((place) => isEqual(existing[place]))
      if (known) known.from.push(from)
      else if (there !== undefined) same.add(there)
      else if (Object.hasOwn(existing, name)) kept.push({ name, from })
      else if (!first) add.push({ name, entry, from: [from], left })
      // One client with two files: the stronger one was read first.
      else if (!first.from.some(({ client }) => client === from.client))
        add.push({
          name: freeName(`${name}-${from.client}`, isTaken),
          entry,
          from: [from],
          was: name,
          left,
        })
    }
  return { add, same: [...same], kept }
}

/** Clients differ in how much they write out: what says no more than leaving it out counts as left out. */
function plainly(entry: unknown): string {
  if (!isRecord(entry)) return canonicalJson(entry)
  const isImplied = (key: string, value: unknown) =>
    key === 'type'
      ? value === 'stdio' || /^(?:streamable-?)?http$/i.test(String(value))
      : (key === 'enabled' && value === true) ||
        (typeof value === 'object' && value !== null && Object.keys(value).length === 0 && key !== 'allow')
  return canonicalJson(
    Object.fromEntries(Object.entries(entry).filter(([key, value]) => !isImplied(key, value))),
  )
}

/** Where a server may have been written by an import before. */
function placesOf(existing: Existing, name: string, client: string): string[] {
  return Object.keys(existing).filter((other) => other === name || other.startsWith(`${name}-${client}`))
}

function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let number = 2; isTaken(name); number++) name = `${wanted}-${number}`
  return name
}
