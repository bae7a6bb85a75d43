/** Index of the tool names of all servers, and the rules that compare names: look-alikes, references to foreign tools, clones. */

import { FOREIGN_LETTERS, isMixedScript, latinised, oddness, skeleton } from './fold.js'
import { createFinding, type Finding } from './rules.js'

export interface ScannedServer {
  readonly name: string
  readonly instructions?: string | undefined
  readonly tools: readonly unknown[]
  /**
   * Was a tool of this name used or approved `before` this listing, or only `now`? A known tool does not imitate a new one. Called
   * only if names of two servers look alike. Default: all tools are new.
   */
  readonly known?: ((tool: string) => 'before' | 'now' | undefined) | undefined
}

/** A question to the index: its kind and the name. */
export type Ask = `${'foreign' | 'lookalike' | 'clone'}:${string}`

interface OwnedName {
  readonly server: string
  readonly name: string
}

export interface Twin extends OwnedName {
  /** Both tools were known before. */
  readonly isOld: boolean
}

export interface NameIndex {
  add(server: ScannedServer): void
  /** Is this the name of a tool of another server, and not of this one? */
  isForeign(server: string, name: string): boolean
  /** A tool of another server that this one imitates: its name looks like this one, and it is older or spelled more plainly. */
  lookalike(server: string, name: string): Twin | undefined
  /** Another server that has a tool of this name with nearly this description. */
  cloneOf(server: string, name: string, description: string): string | undefined
  /** The current answer; empty for no. */
  answer(server: string, ask: Ask): string
}

/** Share of common words for equal descriptions. */
const ALIKE = 0.6
const MOST_OWNERS = 50
/** Limit of look-alike names per server, so that one server cannot displace others. */
const MOST_OWN = 3

/** A name of several words, which two servers hardly choose by chance. */
const isTelling = (name: string) => /[a-z0-9][_\-./ ][a-z]|[a-z][A-Z]/i.test(name)

const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')

/** Returns a possible tool name. Single or short words are rarely tools. */
export function extractToolName(word: string): string | undefined {
  const bare = word.replace(/\(\)$/, '').replace(/^(?:mcp__)?[\w-]+(?:__|[:/.])(?=\w)/, '')
  return plain(bare).length < 7 || !/[_-]|[a-z][A-Z]/.test(bare) ? undefined : bare
}

export function createNameIndex(servers: readonly ScannedServer[]): NameIndex {
  const owners = new Map<string, Set<string>>()
  const looks = new Map<string, OwnedName[]>()
  const texts = new Map<string, { readonly server: string; readonly description: string }[]>()
  const known = new Map<string, ScannedServer['known']>()
  const add = ({ name: server, tools, known: isKnown }: ScannedServer) => {
    known.set(server, isKnown)
    for (const tool of tools) {
      const { name, description } = (typeof tool === 'object' && tool !== null ? tool : {}) as {
        name?: unknown
        description?: unknown
      }
      if (typeof name !== 'string' || name.length > 200) continue
      owners.set(plain(name), (owners.get(plain(name)) ?? new Set()).add(server))
      const look = skeleton(name)
      if ((looks.get(look)?.filter((each) => each.server === server).length ?? 0) < MOST_OWN)
        push(looks, look, { server, name })
      if (typeof description === 'string' && isTelling(name))
        push(texts, plain(name), { server, description })
    }
  }
  for (const server of servers) add(server)

  const isForeign = (server: string, name: string) => {
    const bare = extractToolName(name)
    if (bare === undefined) return false
    const found = owners.get(plain(bare)) ?? owners.get(plain(name))
    return found !== undefined && !found.has(server)
  }
  const lookalike = (server: string, name: string): Twin | undefined => {
    const others = looks
      .get(skeleton(name))
      ?.filter((other) => other.server !== server && plain(other.name) !== plain(name))
    if (!others || others.length === 0) return undefined
    const own = known.get(server)?.(name)
    const twin = others.find((other) => {
      const isOlder = known.get(other.server)?.(other.name) === 'before'
      const isOdder = oddness(name) >= oddness(other.name)
      if (own === 'before') return isOlder && isOdder
      return isOdder || (isOlder && own !== 'now')
    })
    return twin && { ...twin, isOld: own === 'before' }
  }
  const cloneOf = (server: string, name: string, description: string) => {
    const known = texts.get(plain(name)) ?? []
    if (known.length < 2) return undefined
    const words = wordsOf(description)
    return known.find(
      (other) => other.server !== server && overlap(wordsOf(other.description), words) >= ALIKE,
    )?.server
  }
  const answer = (server: string, ask: Ask) => {
    const name = ask.slice(ask.indexOf(':') + 1)
    if (ask.startsWith('foreign:')) return isForeign(server, name) ? 'yes' : ''
    if (ask.startsWith('lookalike:')) {
      const twin = lookalike(server, name)
      return twin ? `${twin.server}/${twin.name}${twin.isOld ? ' old' : ''}` : ''
    }
    const own = texts.get(plain(name))?.find((text) => text.server === server)
    return (own && cloneOf(server, name, own.description)) ?? ''
  }
  return { add, isForeign, lookalike, cloneOf, answer }
}

/** Wraps an index and records the questions and answers. Skips words that cannot be tool names. */
export function recordQuestions(index: NameIndex, asked: Map<Ask, string>): NameIndex {
  const note = (server: string, ask: Ask) => asked.set(ask, index.answer(server, ask))
  return {
    ...index,
    isForeign(server, name) {
      if (extractToolName(name) !== undefined) note(server, `foreign:${name}`)
      return index.isForeign(server, name)
    },
    lookalike(server, name) {
      note(server, `lookalike:${name}`)
      return index.lookalike(server, name)
    },
    cloneOf(server, name, description) {
      note(server, `clone:${name}`)
      return index.cloneOf(server, name, description)
    },
  }
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key) ?? []
  if (list.length < MOST_OWNERS) list.push(item)
  lists.set(key, list)
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(
    text
      .slice(0, 2000)
      .toLowerCase()
      .match(/\p{L}{2,}/gu) ?? [],
  )
}

function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0
  for (const word of one) if (other.has(word)) common++
  return common / Math.max(1, one.size + other.size - common)
}

/** Finds names that imitate others. Parameter names have no server and are not compared with other names. */
export function findLookalikeNames(
  server: string | undefined,
  where: string,
  name: string,
  index: NameIndex,
): Finding[] {
  const words = name.split(/[\s_\-./:]+/)
  const isMixed =
    words.some(isMixedScript) ||
    (words.some((word) => /^[a-z]+$/i.test(word)) &&
      words.some((word) => FOREIGN_LETTERS.test(word) && latinised(word.toLowerCase()) !== undefined) &&
      !/\s/.test(name))
  if (isMixed)
    return [
      createFinding(
        'lookalike-name',
        'hard',
        where,
        name,
        'mixes letters of several scripts that look alike',
      ),
    ]
  if (/[^\u0020-\u007e]/.test(name) && name.normalize('NFKC') !== name.normalize('NFC'))
    return [createFinding('lookalike-name', 'hard', where, name, 'uses letters that look like plain ones')]
  const twin = server === undefined ? undefined : index.lookalike(server, name)
  if (!twin) return []
  const why = `looks like ${shown(twin.name)} of ${shown(twin.server)}`
  return [createFinding('lookalike-name', twin.isOld ? 'soft' : 'hard', where, name, why)]
}

const shown = (name: string) => JSON.stringify(name.slice(0, 60).replace(/[^\u0020-\u007e]/g, '?'))

const IDENTIFIER = /[A-Za-z][\w.:/-]{6,80}/g
const MOST_NAMES = 200
/** Words that say how another tool should be used or avoided. */
const ABOUT_USE =
  /\b(?:call(?:s|ed|ing)?|us(?:e|ed|ing)|invok\w+|instead|rather|never|before|after|when(?:ever)?|must|always|needs?|expects?|should|deprecated|broken|unlike|replace\w*|results? of|for|bug|off|in)\b/i

/** Finds names of other servers' tools. A description has no reason to mention them. */
export function findForeignTools(server: string, where: string, text: string, index: NameIndex): Finding[] {
  let count = 0
  for (const { 0: word, index: at } of text.matchAll(IDENTIFIER)) {
    if (!/[_-]|[a-z][A-Z]/.test(word)) continue
    if (++count > MOST_NAMES) break
    const name = word.replace(/[.:/-]+$/, '')
    if (!index.isForeign(server, name)) continue
    const around = text.slice(Math.max(0, at - 60), at + 100)
    if (!ABOUT_USE.test(text.slice(Math.max(0, at - 30), at + word.length + 30))) continue
    return [createFinding('shadowing', 'soft', where, around, `mentions ${name}, a tool of another server`)]
  }
  return []
}

/** Finds a tool with the name and the description of another server's tool. */
export function findClone(server: string, definition: unknown, index: NameIndex): Finding[] {
  const { name, description } = definition as { name?: unknown; description?: unknown }
  if (typeof name !== 'string' || typeof description !== 'string') return []
  const owner = index.cloneOf(server, name, description)
  if (owner === undefined) return []
  const why = `has the name and the description of a tool of ${JSON.stringify(owner.slice(0, 60))}`
  return [createFinding('shadowing', 'soft', 'name', name, why)]
}
