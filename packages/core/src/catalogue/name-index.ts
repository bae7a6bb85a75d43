/** Looks up tools by name: exact names first, then folded spellings. Reports ambiguity and never guesses. */

import { runInPieces } from '../base/async.js'
import { foldName, toolId } from '../base/names.js'
import { showInvisible } from '../base/text.js'
import type { Finding } from '../tool/source.js'
import type { Tool } from '../tool/tool.js'
import type { Entry } from './catalogue.js'

export type Resolution =
  | {
      readonly kind: 'found'
      readonly entry: Entry
      /** The asked name, if it is an alias or a deprecated name. */
      readonly alias?: string
      readonly deprecated: boolean
    }
  | { readonly kind: 'group'; readonly entries: readonly Entry[] }
  | { readonly kind: 'ambiguous'; readonly entries: readonly Entry[] }
  | { readonly kind: 'none' }

export interface NameIndex {
  put(entry: Entry): void
  /** Indexes new entries in pieces. A lookup indexes the rest at once. */
  prepare(): Promise<void>
  remove(entry: Entry): void
  /**
   * Sets the tools of a source and links all deprecated names again: the surviving tool may be in a source that was added
   * later, or removed.
   */
  setDeprecated(source: string, tools: ReadonlyMap<string, Tool>): void
  /** Deprecated names whose surviving tool does not exist. */
  readonly broken: readonly Finding[]
  listAliases(id: string): readonly string[]
  resolve(asked: string, usable: (entry: Entry) => boolean, groups: GroupLookup): Resolution
}

/** Members of the asked group: spelt exactly, or in any case and with any separators. */
interface GroupLookup {
  exact(): Entry[]
  folded(): Entry[]
}

/** The kind of a key, best first. */
type Tier = 'name' | 'short' | 'alias' | 'deprecated'
const TIERS: readonly Tier[] = ['name', 'short', 'alias', 'deprecated']

/** A tool with a folded name, and the best kind of key. `key`: a deprecated spelling that is not the tool's own. */
interface Holder {
  readonly id: string
  readonly tier: Tier
  readonly key?: string
}

/** By folded name. Most names have one holder, which saves a list. */
type Table = Map<string, Holder | Holder[]>

export function createNameIndex(get: (id: string) => Entry | undefined): NameIndex {
  const table: Table = new Map()
  const deprecated = new Map<string, ReadonlyMap<string, Tool>>()
  /** Not indexed yet: a program with thousands of tools may never look up a name. */
  const pending: Entry[] = []
  let links: { readonly name: string; readonly keys: readonly string[]; readonly target: string }[] = []
  let broken: Finding[] = []

  /** Order does not matter. Two callers may take entries in turns, because each entry is indexed at once. */
  function* takePending(): Generator<Entry> {
    for (let entry = pending.pop(); entry; entry = pending.pop()) yield entry
  }

  const settleOne = (entry: Entry) => {
    for (const [folded, tier] of listFoldedKeys(entry)) insert(table, folded, { id: entry.id, tier })
  }

  const settle = () => {
    for (const entry of takePending()) settleOne(entry)
  }

  const relink = () => {
    for (const { keys, target } of links)
      for (const key of keys)
        discard(table, foldKey(key), (holder) => holder.id === target && holder.key === key)
    links = []
    broken = []
    for (const [source, tools] of deprecated)
      for (const [name, tool] of tools) {
        if (!isDeprecated(tool)) continue
        const survivor = findSurvivor(tool, tools)
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
        for (const key of keys) insert(table, foldKey(key), { id: target, tier: 'deprecated', key })
        links.push({ name, keys, target })
      }
  }

  return {
    put(entry) {
      pending.push(entry)
    },

    prepare: () => runInPieces(takePending(), settleOne),

    remove(entry) {
      settle()
      for (const folded of listFoldedKeys(entry).keys())
        discard(table, folded, (holder) => holder.id === entry.id && holder.key === undefined)
    },

    setDeprecated(source, tools) {
      if ([...tools.values()].some(isDeprecated)) deprecated.set(source, tools)
      else deprecated.delete(source)
      relink()
    },

    get broken() {
      return broken
    },

    listAliases(id) {
      const own = get(id)?.tool.aliases ?? []
      const old = links.filter((link) => link.target === id).map((link) => link.name)
      return old.length === 0 ? own : [...new Set([...own, ...old])]
    },

    resolve(asked, usable, groups) {
      settle()
      const holders = listHolders(table.get(foldKey(asked)))
      const exact = () => holders.flatMap((holder) => matchExactly(holder, asked, get(holder.id)) ?? [])
      for (const [candidates, group] of [
        [exact, groups.exact],
        [() => (foldName(asked) === '' ? [] : holders), groups.folded],
      ] as const) {
        const found = pick(candidates(), get, usable)
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

/** Lists every name of a tool, without deprecated ones. */
export function listNames(entry: Entry): string[] {
  return listKeys(entry).map(([key]) => key)
}

/** True if the folded name names the group of the tool, with or without its source. */
export function isOfGroup({ source, tool }: Entry, folded: string): boolean {
  const own = foldName(tool.group ?? '')
  return own === folded || (own !== '' && foldName(source) + own === folded)
}

function listKeys(entry: Entry): [string, Tier][] {
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

/** Names that consist only of separators stay unfolded. */
function foldKey(key: string): string {
  return foldName(key) || `\u0000${key}`
}

/** Lists the folded names of a tool, each with its best tier. */
function listFoldedKeys(entry: Entry): Map<string, Tier> {
  const folds = new Map<string, Tier>()
  const add = (folded: string, tier: Tier) => {
    const held = folds.get(folded)
    if (held === undefined || TIERS.indexOf(tier) < TIERS.indexOf(held)) folds.set(folded, tier)
  }
  const { id, wireName, source, tool } = entry
  // A fast path: separators vanish, so most tools have three folded names. ASCII only: some letters fold differently before other letters.
  const isPlain = source !== '' && !tool.aliases?.length && /^[\x00-\x7f]*$/.test(source + tool.name)
  const own = isPlain ? foldName(tool.name) : ''
  const full = isPlain ? foldName(source) + own : ''
  if (own === '' || full === own) {
    for (const [key, tier] of listKeys(entry)) if (key !== '') add(foldKey(key), tier)
    return folds
  }
  if (id !== `${source}/${tool.name}`) add(foldKey(id), 'name')
  if (wireName !== `${source}__${tool.name}`) add(foldKey(wireName), 'name')
  const isNamed = id === `${source}/${tool.name}` || wireName === `${source}__${tool.name}`
  add(full, isNamed ? 'name' : 'short')
  add(own, 'short')
  add(`mcp${full}`, 'short')
  return folds
}

/** Finds the tier of this exact spelling, which may be lower than the folded one. Undefined if it is not a name of the tool. */
function matchExactly(holder: Holder, asked: string, entry: Entry | undefined): Holder | undefined {
  if (holder.key !== undefined) return holder.key === asked ? holder : undefined
  const tiers = entry ? listKeys(entry).flatMap(([key, tier]) => (key === asked ? [tier] : [])) : []
  const tier = TIERS.find((each) => tiers.includes(each))
  return tier && { id: holder.id, tier }
}

function pick(
  candidates: readonly Holder[],
  get: (id: string) => Entry | undefined,
  usable: (entry: Entry) => boolean,
): { kind: 'found'; entry: Entry; tier: Tier } | { kind: 'ambiguous'; entries: Entry[] } | undefined {
  for (const tier of TIERS) {
    const found = new Set<Entry>()
    for (const { id, tier: own } of candidates) {
      const entry = own === tier ? get(id) : undefined
      if (entry && usable(entry)) found.add(entry)
    }
    const entries = [...found]
    const [first] = entries
    if (first && entries.length === 1) return { kind: 'found', entry: first, tier }
    if (first) return { kind: 'ambiguous', entries: entries.sort((a, b) => (a.id < b.id ? -1 : 1)) }
  }
  return undefined
}

function isDeprecated({ name, canonicalName }: Tool): boolean {
  return canonicalName !== undefined && canonicalName !== name
}

/** Follows `canonicalName` to the surviving tool; undefined for a cycle. */
function findSurvivor(tool: Tool, tools: ReadonlyMap<string, Tool>): string | undefined {
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

function insert(table: Table, folded: string, holder: Holder) {
  const held = table.get(folded)
  if (Array.isArray(held)) held.push(holder)
  else table.set(folded, held === undefined ? holder : [held, holder])
}

function discard(table: Table, folded: string, leaves: (holder: Holder) => boolean) {
  const left = listHolders(table.get(folded)).filter((holder) => !leaves(holder))
  const [first] = left
  if (first === undefined) table.delete(folded)
  else table.set(folded, left.length === 1 ? first : left)
}

function listHolders(held: Holder | Holder[] | undefined): readonly Holder[] {
  return held === undefined ? [] : Array.isArray(held) ? held : [held]
}
