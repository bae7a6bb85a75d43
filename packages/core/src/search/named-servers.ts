/** Servers that a query names: "add a row to airtable" asks for no row of Excel. */

import { trimServerName } from './fields.js'
import type { TermIndex } from './index/term-index.js'
import type { QueryTerm } from './query-terms.js'
import type { Vocabulary } from './words/vocabulary.js'
import { isOrdinaryWord, isProduct } from './words/word-lists.js'

/** What tools of other servers keep of their score. */
const otherServer = 0.6
/** A word is meant as a name where at least this share of the tools that hold it are of servers so called. */
const nameShare = 0.8
/** Less is enough behind a preposition ("in github"), more is asked of a word that says something else, too ("how long to drive"). */
const placeShare = 0.5
const ordinaryShare = 0.9
/** A request of more words tells a story, and names in passing. */
const wordLimit = 10

export interface NamedServers {
  /** Takes from the scores of all other tools, where these terms name servers. */
  apply(scores: Float32Array, terms: readonly QueryTerm[]): void
  /** Whether servers were named the last time; what a tool has kept then. */
  readonly hasNamedServers: boolean
  getShare(slot: number): number
}

/** In place of a server's number: of tools without one. */
const noServer = 0

/** The names of servers are read once for each change of the index. */
export function createNamedServers(index: TermIndex, vocabulary: () => Vocabulary): NamedServers {
  let revision = -1
  /** By slot. */
  let serverOf = new Uint32Array(0)
  /** By server. */
  let shares = new Float64Array(0)
  const byWord = new Map<number, Set<number>>()
  let isNaming = false

  function read(): void {
    if (revision === index.revision) return
    revision = index.revision
    serverOf = new Uint32Array(index.slots)
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
        serverOf[base + slot] = number
      }
    shares = new Float64Array(servers.size)
  }

  function readName(server: string, number: number): void {
    for (const { terms } of vocabulary().readWords(trimServerName(server)))
      for (const { hash, isStopWord: empty } of terms) {
        if (empty) continue
        const known = byWord.get(hash)
        if (known) known.add(number)
        else byWord.set(hash, new Set([number]))
      }
  }

  /** The servers with this word in their name, and what share they are of all who use it. Of living tools only. */
  function useOf(word: number, called: ReadonlySet<number>): { servers: Set<number>; share: number } {
    const servers = new Set<number>()
    let all = 0
    let own = 0
    index.forEachPosting(word, (slot) => {
      all += 1
      const server = serverOf[slot] as number
      if (!called.has(server)) return
      own += 1
      servers.add(server)
    })
    return { servers, share: own / Math.max(1, all) }
  }

  /** Of several servers, those that are named by the most words: "google calendar" is not "google drive". */
  function namedBy(terms: readonly QueryTerm[]): Set<number> {
    if (byWord.size === 0) return new Set()
    const words = terms.filter(({ kind }) => kind === 'word')
    if (words.length > wordLimit) return new Set()
    const uses = words.flatMap(({ text, hash, detail }) => {
      const called = byWord.get(hash)
      if (!called) return []
      const { servers, share } = useOf(hash, called)
      const isOrdinary = isOrdinaryWord(text) && !isProduct(text)
      return [{ servers, isName: share >= (isOrdinary ? ordinaryShare : detail ? placeShare : nameShare) }]
    })
    const meant = uses.flatMap(({ servers, isName }) => (isName ? [...servers] : []))
    const wordsFor = (server: number) => uses.filter(({ servers }) => servers.has(server)).length
    const most = meant.reduce((highest, server) => Math.max(highest, wordsFor(server)), 0)
    return new Set(meant.filter((server) => wordsFor(server) === most))
  }

  return {
    apply(scores, terms) {
      read()
      const named = namedBy(terms)
      isNaming = named.size > 0
      if (!isNaming) return
      shares.fill(otherServer)
      for (const server of named) shares[server] = 1
      const count = index.slots
      for (let slot = 0; slot < count; slot += 1)
        scores[slot] = (scores[slot] as number) * (shares[serverOf[slot] as number] as number)
    },
    get hasNamedServers() {
      return isNaming
    },
    getShare: (slot) => (isNaming ? (shares[serverOf[slot] as number] as number) : 1),
  }
}
