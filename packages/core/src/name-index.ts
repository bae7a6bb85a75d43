/** The lookup inside the catalogue: exact names first, folded spellings second, ambiguity reported and never guessed. */
import type { Entry } from './catalogue.js'
import { foldName, toolId } from './names.js'
import type { Finding } from './source.js'
import { showInvisible } from './text.js'
import type { Tool } from './tool.js'

export type Resolution =
  | {
      readonly kind: 'found'
      readonly entry: Entry
      /** The alias or deprecated name that was asked for, where it was one. */
      readonly alias?: string
      readonly deprecated: boolean
    }
  | { readonly kind: 'group'; readonly entries: readonly Entry[] }
  | { readonly kind: 'ambiguous'; readonly entries: readonly Entry[] }
  | { readonly kind: 'none' }

export interface NameIndex {
  put(entry: Entry): void
  remove(entry: Entry): void
  /**
   * Takes the tools of a source, deprecated ones among them, and links every deprecated name anew: the tool that
   * survives may be in a source that came later, or has gone.
   */
  setDeprecated(source: string, tools: ReadonlyMap<string, Tool>): void
  /** Deprecated names that lead nowhere, as of now. */
  readonly broken: readonly Finding[]
  aliasesOf(id: string): readonly string[]
  resolve(asked: string, usable: (entry: Entry) => boolean, groups: GroupLookup): Resolution
}

/** The members of the group that was asked for, spelt as it is, or in any case and with any separators. */
interface GroupLookup {
  exact(): Entry[]
  folded(): Entry[]
}

/** How a key came to stand for a tool, best first. */
type Tier = 'name' | 'short' | 'alias' | 'deprecated'
const TIERS: readonly Tier[] = ['name', 'short', 'alias', 'deprecated']

type Table = Map<string, Map<string, Tier>>

export function createNameIndex(get: (id: string) => Entry | undefined): NameIndex {
  const exact: Table = new Map()
  const folded: Table = new Map()
  const deprecated = new Map<string, ReadonlyMap<string, Tool>>()
  let links: { readonly name: string; readonly keys: readonly string[]; readonly target: string }[] = []
  let broken: Finding[] = []

  const add = (key: string, id: string, tier: Tier) => {
    insert(exact, key, id, tier)
    insert(folded, foldName(key), id, tier)
  }
  const drop = (key: string, id: string, tier: Tier) => {
    discard(exact, key, id, tier)
    discard(folded, foldName(key), id, tier)
  }

  const relink = () => {
    for (const { keys, target } of links) for (const key of keys) drop(key, target, 'deprecated')
    links = []
    broken = []
    for (const [source, tools] of deprecated)
      for (const [name, tool] of tools) {
        if (!isDeprecated(tool)) continue
        const survivor = survivorOf(tool, tools)
        const ids = survivor === undefined ? [] : [toolId(source, survivor), survivor]
        const target = ids.find((id) => get(id))
        if (target === undefined) {
          const detail =
            survivor === undefined
              ? `${name} is a deprecated alias in a cycle of canonicalName; let one of them name a real tool`
              : `${name} is a deprecated alias of ${JSON.stringify(survivor)}, which does not exist`
          broken.push({ kind: 'broken-alias', source, tool: name, detail: showInvisible(detail) })
          continue
        }
        const keys = [...new Set([toolId(source, name), name])]
        for (const key of keys) add(key, target, 'deprecated')
        links.push({ name, keys, target })
      }
  }

  return {
    put(entry) {
      for (const [key, tier] of keysOf(entry)) add(key, entry.id, tier)
    },

    remove(entry) {
      for (const [key, tier] of keysOf(entry)) drop(key, entry.id, tier)
    },

    setDeprecated(source, tools) {
      if ([...tools.values()].some(isDeprecated)) deprecated.set(source, tools)
      else deprecated.delete(source)
      relink()
    },

    get broken() {
      return broken
    },

    aliasesOf(id) {
      const own = get(id)?.tool.aliases ?? []
      const old = links.filter((link) => link.target === id).map((link) => link.name)
      return old.length === 0 ? own : [...new Set([...own, ...old])]
    },

    resolve(asked, usable, groups) {
      for (const [table, key, group] of [
        [exact, asked, groups.exact],
        [folded, foldName(asked), groups.folded],
      ] as const) {
        const found = pick(table.get(key), get, usable)
        if (found?.kind === 'found' && (found.tier === 'alias' || found.tier === 'deprecated'))
          return { kind: 'found', entry: found.entry, alias: asked, deprecated: found.tier === 'deprecated' }
        if (found?.kind === 'found') return { kind: 'found', entry: found.entry, deprecated: false }
        if (found) return found
        const members = group().filter(usable)
        const alike = new Set(members.map((member) => `${member.source}\n${member.tool.group}`))
        if (alike.size > 1) return { kind: 'ambiguous', entries: members }
        if (members.length > 0) return { kind: 'group', entries: members }
      }
      return { kind: 'none' }
    },
  }
}

/** Every name that a tool answers to by itself. */
export function namesOf(entry: Entry): string[] {
  return keysOf(entry).map(([key]) => key)
}

function keysOf(entry: Entry): [string, Tier][] {
  const keys: [string, Tier][] = [
    [entry.id, 'name'],
    [entry.wireName, 'name'],
  ]
  if (entry.source === '') keys.push([entry.tool.name, 'name'])
  else {
    keys.push([entry.tool.name, 'short'], [`mcp__${entry.source}__${entry.tool.name}`, 'short'])
    for (const joint of ['/', '.', ':', '__'])
      keys.push([`${entry.source}${joint}${entry.tool.name}`, 'short'])
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

function isDeprecated({ name, canonicalName }: Tool): boolean {
  return canonicalName !== undefined && canonicalName !== name
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

function discard(table: Table, key: string, id: string, tier: Tier) {
  const ids = table.get(key)
  if (ids?.get(id) === tier) ids.delete(id)
  if (ids?.size === 0) table.delete(key)
}
