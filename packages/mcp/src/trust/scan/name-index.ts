/** What a scan knows of all servers together: whose tool bears which name. Grows as servers become known. */

import { FOREIGN_LETTERS, isMixedScript, latinised, oddness, skeleton } from './fold.js'
import { createFinding, type Finding } from './rules.js'

export interface ScannedServer {
  readonly name: string
  readonly instructions?: string | undefined
  readonly tools: readonly unknown[]
  /**
   * Whether a tool of this name was used or approved `before` this listing, or is so `now`: what was known does not imitate
   * what joins. Asked only where the names of two servers look alike. Without it, all tools are new.
   */
  readonly known?: ((tool: string) => 'before' | 'now' | undefined) | undefined
}

/** A question that was put to the index: its kind, then the name. */
export type Ask = `${'foreign' | 'lookalike' | 'clone'}:${string}`

interface OwnedName {
  readonly server: string
  readonly name: string
}

export interface Twin extends OwnedName {
  /** The tool that looks like this one was known like this one: nobody is deceived who is not so already. */
  readonly isOld: boolean
}

export interface NameIndex {
  add(server: ScannedServer): void
  /** A tool of another server, and none of this one, has the name. */
  isForeign(server: string, name: string): boolean
  /** A tool of another server that this one imitates: its name looks like this one without being it, and it was there before or is spelled more plainly. */
  lookalike(server: string, name: string): Twin | undefined
  /** Another server that has a tool of this name with nearly this description. */
  cloneOf(server: string, name: string, description: string): string | undefined
  /** What the index says now; empty for no. */
  answer(server: string, ask: Ask): string
}

/** Share of words in common from which on two descriptions are one. */
const ALIKE = 0.6
const MOST_OWNERS = 50
/** Names of one server that look alike: it cannot fill the place of others. */
const MOST_OWN = 3

/** A name of several words: two servers do not choose it by chance and describe it alike. */
const isTelling = (name: string) => /[a-z0-9][_\-./ ][a-z]|[a-z][A-Z]/i.test(name)

const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')

/** What could be the name of another server's tool. A single or short word is more often a thing than a tool. */
export function toolNameIn(word: string): string | undefined {
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
    const bare = toolNameIn(name)
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

/** The same index, which writes down what it is asked. Words that could be no tool's name are not worth a line. */
export function recordQuestions(index: NameIndex, asked: Map<Ask, string>): NameIndex {
  const note = (server: string, ask: Ask) => asked.set(ask, index.answer(server, ask))
  return {
    ...index,
    isForeign(server, name) {
      if (toolNameIn(name) !== undefined) note(server, `foreign:${name}`)
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

// Names that are not what they look like.

/** Names of parameters have no server: they are not compared with other names. */
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

// Definitions that speak about a tool of another server, or copy one.

const IDENTIFIER = /[A-Za-z][\w.:/-]{6,80}/g
const MOST_NAMES = 200
/** Words by which a text says how the other tool is to be used, or that it is not. */
const ABOUT_USE =
  /\b(?:call(?:s|ed|ing)?|us(?:e|ed|ing)|invok\w+|instead|rather|never|before|after|when(?:ever)?|must|always|needs?|expects?|should|deprecated|broken|unlike|replace\w*|results? of|for|bug|off|in)\b/i

/** A description has no reason to name a tool that its own server does not have. */
export function findForeignTools(server: string, where: string, text: string, index: NameIndex): Finding[] {
  let count = 0
  for (const { 0: word, index: at } of text.matchAll(IDENTIFIER)) {
    if (!/[_-]|[a-z][A-Z]/.test(word)) continue
    if (++count > MOST_NAMES) break
    const name = word.replace(/[.:/-]+$/, '')
    if (!index.isForeign(server, name)) continue
    const around = text.slice(Math.max(0, at - 60), at + 100)
    if (!ABOUT_USE.test(text.slice(Math.max(0, at - 30), at + word.length + 30))) continue
    return [
      createFinding('shadowing', 'soft', where, around, `speaks about ${name}, a tool of another server`),
    ]
  }
  return []
}

/** A tool with the name and the description of a tool of another server. */
export function findClone(server: string, definition: unknown, index: NameIndex): Finding[] {
  const { name, description } = definition as { name?: unknown; description?: unknown }
  if (typeof name !== 'string' || typeof description !== 'string') return []
  const owner = index.cloneOf(server, name, description)
  if (owner === undefined) return []
  const why = `has the name and the description of a tool of ${JSON.stringify(owner.slice(0, 60))}`
  return [createFinding('shadowing', 'soft', 'name', name, why)]
}
