/** The lookup inside the catalogue: exact names first, folded spellings second, ambiguity reported and never guessed. */
import type { Entry, Finding } from './catalogue.js'
import { foldName, toolId } from './names.js'
import type { Tool } from './tool.js'

export type Resolution =
  | {
      readonly kind: 'found'
      readonly entry: Entry
      /** The alias or deprecated name that was asked for, where it was one. */
      readonly alias?: string
      readonly deprecated: boolean
    }
  | { readonly kind: 'group'; readonly group: string; readonly entries: readonly Entry[] }
  | { readonly kind: 'ambiguous'; readonly entries: readonly Entry[] }
  | { readonly kind: 'none' }

export interface NameIndex {
  put(entry: Entry): void
  remove(entry: Entry): void
  /** Reads the deprecated entries of a source anew; cycles and dead ends become findings. */
  setDeprecated(source: string, tools: ReadonlyMap<string, Tool>, findings: Finding[]): void
  aliasesOf(id: string): readonly string[]
  resolve(asked: string, usable: (entry: Entry) => boolean, members: (group: string) => Entry[]): Resolution
}

/** How a key came to stand for a tool, best first. */
type Tier = 'name' | 'short' | 'alias' | 'deprecated'
const TIERS: readonly Tier[] = ['name', 'short', 'alias', 'deprecated']

type Table = Map<string, Map<string, Tier>>

export function createNameIndex(get: (id: string) => Entry | undefined): NameIndex {
  const exact: Table = new Map()
  const folded: Table = new Map()
  const deprecated = new Map<string, { readonly alias: string; readonly target: string }[]>()

  const add = (key: string, id: string, tier: Tier) => {
    insert(exact, key, id, tier)
    insert(folded, foldName(key), id, tier)
  }
  const drop = (key: string, id: string) => {
    discard(exact, key, id)
    discard(folded, foldName(key), id)
  }

  return {
    put(entry) {
      for (const [key, tier] of keysOf(entry)) add(key, entry.id, tier)
    },

    remove(entry) {
      for (const [key] of keysOf(entry)) drop(key, entry.id)
    },

    setDeprecated(source, tools, findings) {
      for (const { alias, target } of deprecated.get(source) ?? []) drop(alias, target)
      const pairs: { alias: string; target: string }[] = []
      for (const [name, tool] of tools) {
        if (tool.canonicalName === undefined || tool.canonicalName === name) continue
        const target = survivorOf(tool, tools)
        const id =
          target === undefined
            ? undefined
            : [toolId(source, target), target].find((candidate) => get(candidate))
        if (id === undefined) {
          const detail =
            target === undefined
              ? `${name} is a deprecated alias in a cycle of canonicalName; let one of them name a real tool`
              : `${name} is a deprecated alias of ${JSON.stringify(target)}, which does not exist`
          findings.push({ kind: 'broken-alias', source, tool: name, detail })
          continue
        }
        for (const alias of [toolId(source, name), name]) {
          pairs.push({ alias, target: id })
          add(alias, id, 'deprecated')
        }
      }
      deprecated.set(source, pairs)
    },

    aliasesOf(id) {
      const own = get(id)?.tool.aliases ?? []
      const old = [...deprecated.values()]
        .flat()
        .filter((pair) => pair.target === id && !pair.alias.includes('/'))
      return old.length === 0 ? own : [...own, ...old.map((pair) => pair.alias)]
    },

    resolve(asked, usable, members) {
      for (const [table, key] of [
        [exact, asked],
        [folded, foldName(asked)],
      ] as const) {
        const found = pick(table.get(key), get, usable)
        if (found?.kind === 'found' && (found.tier === 'alias' || found.tier === 'deprecated'))
          return { kind: 'found', entry: found.entry, alias: asked, deprecated: found.tier === 'deprecated' }
        if (found?.kind === 'found') return { kind: 'found', entry: found.entry, deprecated: false }
        if (found) return found
        const group = members(asked).filter(usable)
        if (group.length > 0) return { kind: 'group', group: asked, entries: group }
      }
      return { kind: 'none' }
    },
  }
}

function keysOf(entry: Entry): [string, Tier][] {
  const keys: [string, Tier][] = [
    [entry.id, 'name'],
    [entry.wireName, 'name'],
  ]
  if (entry.source !== '') {
    keys.push([entry.tool.name, 'short'], [`mcp__${entry.source}__${entry.tool.name}`, 'short'])
    keys.push(
      [`${entry.source}.${entry.tool.name}`, 'short'],
      [`${entry.source}:${entry.tool.name}`, 'short'],
    )
  }
  for (const alias of entry.tool.aliases ?? []) {
    keys.push([alias, 'alias'])
    if (entry.source !== '') keys.push([toolId(entry.source, alias), 'alias'])
  }
  return keys
}

function pick(
  candidates: Map<string, Tier> | undefined,
  get: (id: string) => Entry | undefined,
  usable: (entry: Entry) => boolean,
): { kind: 'found'; entry: Entry; tier: Tier } | { kind: 'ambiguous'; entries: Entry[] } | undefined {
  if (!candidates) return undefined
  for (const tier of TIERS) {
    const entries: Entry[] = []
    for (const [id, own] of candidates) {
      const entry = own === tier ? get(id) : undefined
      if (entry && usable(entry)) entries.push(entry)
    }
    const [first] = entries
    if (first && entries.length === 1) return { kind: 'found', entry: first, tier }
    if (first) return { kind: 'ambiguous', entries: entries.sort((a, b) => (a.id < b.id ? -1 : 1)) }
  }
  return undefined
}

/** Follows canonicalName to the tool that survives; undefined for a cycle. */
function survivorOf(tool: Tool, tools: ReadonlyMap<string, Tool>): string | undefined {
  const seen = new Set<string>([tool.name])
  let name = tool.canonicalName ?? tool.name
  for (;;) {
    const next = tools.get(name)?.canonicalName
    if (next === undefined || next === name) return name
    if (seen.has(name)) return undefined
    seen.add(name)
    name = next
  }
}

function insert(table: Table, key: string, id: string, tier: Tier) {
  if (key === '') return
  const ids = table.get(key) ?? new Map<string, Tier>()
  const held = ids.get(id)
  if (held === undefined || TIERS.indexOf(tier) < TIERS.indexOf(held)) ids.set(id, tier)
  table.set(key, ids)
}

function discard(table: Table, key: string, id: string) {
  const ids = table.get(key)
  ids?.delete(id)
  if (ids?.size === 0) table.delete(key)
}
