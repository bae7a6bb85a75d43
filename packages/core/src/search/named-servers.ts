/** Lowers the score of tools of other servers if a query names a server: "add a row to airtable" does not ask for Excel. */

import { trimServerName } from './index/spelling.js'
import type { TermIndex } from './index/term-index.js'
import type { QueryTerm } from './query-terms.js'
import { namedServerWordLimit, nameShare, ordinaryShare, otherServer, placeShare } from './tuning.js'
import type { Vocabulary } from './words/vocabulary.js'
import { isOrdinaryWord, isProduct } from './words/word-lists.js'

export interface NamedServers {
  /** Lowers the scores of all other tools if the terms name servers. */
  apply(scores: Float32Array, terms: readonly QueryTerm[]): void
  /** Whether the last query named servers, and the share that a tool kept in it. */
  readonly hasNamedServers: boolean
  getShare(slot: number): number
  /** Whether the last query named the server of a tool, or a product in its name that other tools mention as often ("slack"). */
  isNamed(slot: number): boolean
}

/** Server number of tools without a server. */
const noServer = 0

/** Reads the server names again after each change of the index. */
export function createNamedServers(index: TermIndex, vocabulary: () => Vocabulary): NamedServers {
  let revision = -1
  let serverBySlot = new Uint32Array(0)
  /** By server. */
  let shares = new Float64Array(0)
  const byWord = new Map<number, Set<number>>()
  let hasNamedServers = false
  let products = new Set<number>()

  function read(): void {
    if (revision === index.revision) return
    revision = index.revision
    serverBySlot = new Uint32Array(index.slots)
    byWord.clear()
    const servers = new Map([['', noServer]])
    for (const { base, identities } of index.segments)
      for (const [slot, { server }] of identities.entries()) {
        let number = servers.get(server)
        if (number === undefined) {
          number = servers.size
          servers.set(server, number)
          readName(server, number)
        }
        serverBySlot[base + slot] = number
      }
    shares = new Float64Array(servers.size)
  }

  function readName(server: string, number: number): void {
    for (const { terms } of vocabulary().readWords(trimServerName(server)))
      for (const { hash, isStopWord } of terms) {
        if (isStopWord) continue
        const known = byWord.get(hash)
        if (known) known.add(number)
        else byWord.set(hash, new Set([number]))
      }
  }

  /** Finds the servers with this word in their name, and the share of all tools with the word that belong to them. Skips dead tools. */
  function measureUse(
    word: number,
    candidates: ReadonlySet<number>,
  ): { servers: Set<number>; share: number } {
    const servers = new Set<number>()
    let all = 0
    let own = 0
    index.forEachPosting(word, (slot) => {
      all += 1
      const server = serverBySlot[slot] as number
      if (!candidates.has(server)) return
      own += 1
      servers.add(server)
    })
    return { servers, share: own / Math.max(1, all) }
  }

  /** Finds the named servers. If there are several, keeps those with the most words: "google calendar" is not "google drive". */
  function findNamed(terms: readonly QueryTerm[]): Set<number> {
    if (byWord.size === 0) return new Set()
    const words = terms.filter(({ kind }) => kind === 'word')
    if (words.length > namedServerWordLimit) return new Set()
    const uses = words.flatMap(({ text, hash, detail }) => {
      const candidates = byWord.get(hash)
      if (!candidates) return []
      const { servers, share } = measureUse(hash, candidates)
      const isOrdinary = isOrdinaryWord(text) && !isProduct(text)
      return [{ servers, isName: share >= (isOrdinary ? ordinaryShare : detail ? placeShare : nameShare) }]
    })
    const meant = uses.flatMap(({ servers, isName }) => (isName ? [...servers] : []))
    const countWords = (server: number) => uses.filter(({ servers }) => servers.has(server)).length
    const most = meant.reduce((highest, server) => Math.max(highest, countWords(server)), 0)
    return new Set(meant.filter((server) => countWords(server) === most))
  }

  /** Finds the servers with a product of the query in their name. */
  function findProducts(terms: readonly QueryTerm[]): Set<number> {
    const words = terms.filter(({ kind }) => kind === 'word')
    if (words.length > namedServerWordLimit) return new Set()
    return new Set(words.flatMap(({ text, hash }) => (isProduct(text) ? [...(byWord.get(hash) ?? [])] : [])))
  }

  return {
    apply(scores, terms) {
      read()
      products = findProducts(terms)
      const named = findNamed(terms)
      hasNamedServers = named.size > 0
      if (!hasNamedServers) return
      shares.fill(otherServer)
      for (const server of named) shares[server] = 1
      const count = index.slots
      for (let slot = 0; slot < count; slot += 1)
        scores[slot] = (scores[slot] as number) * (shares[serverBySlot[slot] as number] as number)
    },
    get hasNamedServers() {
      return hasNamedServers
    },
    isNamed(slot) {
      const server = serverBySlot[slot] as number
      return (hasNamedServers && shares[server] === 1) || products.has(server)
    },
    getShare: (slot) => (hasNamedServers ? (shares[serverBySlot[slot] as number] as number) : 1),
  }
}
