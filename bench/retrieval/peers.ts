/** Search libraries with the options from their documentation, and the points scoring of coding agents. */
import { createRequire } from 'node:module'
import { create, insertMultiple, search as oramaSearch } from '@orama/orama'
import { Document } from 'flexsearch'
import Database from 'libsql'
import MiniSearch from 'minisearch'
import type { BenchTool } from './datasets.ts'
import { type Engine, peerStopWords, plainDocument } from './engine.ts'

const require = createRequire(import.meta.url)
const fields = ['name', 'server', 'description']

export const fts5: Engine = {
  name: 'sqlite-fts5',
  about: 'libsql, in memory, porter tokenizer, stop words removed from the query, words joined by OR',
  build(tools) {
    const database = new Database(':memory:')
    database.exec(
      "create virtual table tools using fts5(id unindexed, name, server, description, tokenize = 'porter unicode61')",
    )
    const insert = database.prepare('insert into tools values (?, ?, ?, ?)')
    const add = (added: readonly BenchTool[]): void => {
      database.exec('begin')
      for (const tool of added) {
        const { id, name, server, description } = plainDocument(tool)
        insert.run(id, name, server, description)
      }
      database.exec('commit')
    }
    add(tools)
    const rowOf = new Map(tools.map((tool, index) => [tool.id, index + 1]))
    const select = database.prepare('select id from tools where tools match ? order by rank limit ?')
    const remove = database.prepare('delete from tools where rowid = ?')
    return {
      search(query, limit) {
        const words = wordsOf(query).filter((word) => !peerStopWords.has(word))
        if (words.length === 0) return []
        const match = [...new Set(words)].map((word) => `"${word}"`).join(' OR ')
        return (select.all(match, limit) as { id: string }[]).map(({ id }) => id)
      },
      replace(changed) {
        for (const tool of changed) remove.run(rowOf.get(tool.id) ?? -1)
        add(changed)
      },
      close: () => database.close(),
    }
  },
}

function miniSearch(name: string, about: string, options: object): Engine {
  return {
    name,
    about,
    build(tools) {
      const index = new MiniSearch({ fields, ...options })
      index.addAll(unique(tools).map(plainDocument))
      return {
        search: (query, limit) =>
          index
            .search(query)
            .slice(0, limit)
            .map(({ id }) => id as string),
        replace(changed) {
          for (const tool of changed) index.replace(plainDocument(tool))
        },
      }
    },
  }
}

export const miniSearchDefault = miniSearch('minisearch', 'defaults', {})

export const miniSearchTuned = miniSearch(
  'minisearch-tuned',
  'stop words, prefix, fuzzy 0.2, name boosted twofold',
  {
    processTerm: (term: string) => (peerStopWords.has(term.toLowerCase()) ? null : term.toLowerCase()),
    searchOptions: { prefix: true, fuzzy: 0.2, boost: { name: 2 } },
  },
)

export const orama: Engine = {
  name: 'orama',
  about: 'defaults, threshold 1 (any word)',
  async build(tools) {
    const index = create({
      schema: { id: 'string', name: 'string', server: 'string', description: 'string' },
    })
    await insertMultiple(index, unique(tools).map(plainDocument))
    return {
      async search(query, limit) {
        const { hits } = await oramaSearch(index, { term: query, limit, threshold: 1 })
        return hits.map(({ document }) => document.id as string)
      },
    }
  },
}

export const flexSearch: Engine = {
  name: 'flexsearch',
  about: 'Document index, forward tokenizer, suggestions on',
  build(tools) {
    const index = new Document({ document: { id: 'id', index: fields }, tokenize: 'forward' })
    for (const tool of tools) index.add({ ...plainDocument(tool) })
    return {
      search(query, limit) {
        const found = index.search(query, { limit, suggest: true, merge: true }) as unknown as {
          id: string
        }[]
        return found.map(({ id }) => id)
      },
    }
  },
}

interface Lunr {
  (
    define: (this: { field(name: string): void; add(document: object): void }) => void,
  ): {
    query(build: (query: { term(word: string, options: object): void }) => void): { ref: string }[]
  }
  tokenizer(text: string): { toString(): string }[]
}

export const lunrEngine: Engine = {
  name: 'lunr',
  about: 'defaults (English stemmer and stop words)',
  build(tools) {
    const lunr = require('lunr') as Lunr
    const index = lunr(function () {
      for (const field of fields) this.field(field)
      for (const tool of tools) this.add(plainDocument(tool))
    })
    return {
      search: (query, limit) =>
        index
          .query((builder) => {
            for (const token of lunr.tokenizer(query)) builder.term(token.toString(), {})
          })
          .slice(0, limit)
          .map(({ ref }) => ref),
    }
  },
}

interface WinkEngine {
  defineConfig(config: object): void
  definePrepTasks(tasks: readonly unknown[]): void
  addDoc(document: object, id: string): void
  consolidate(): void
  search(query: string, limit: number): [string, number][]
}

export const winkBm25: Engine = {
  name: 'wink-bm25',
  about: 'field weights 3, 1, 1; its own tokenizer, stop words, negation and stemmer',
  build(tools) {
    const engine = require('wink-bm25-text-search')() as WinkEngine
    const { string, tokens } = require('wink-nlp-utils')
    engine.defineConfig({ fldWeights: { name: 3, server: 1, description: 1 } })
    engine.definePrepTasks([
      string.lowerCase,
      string.removeExtraSpaces,
      string.tokenize0,
      tokens.removeWords,
      tokens.stem,
      tokens.propagateNegations,
    ])
    const known = unique(tools)
    for (const [index, tool] of known.entries()) engine.addDoc(plainDocument(tool), String(index))
    // This engine refuses fewer than three documents.
    for (let extra = known.length; extra < 4; extra += 1)
      engine.addDoc({ name: 'x', server: 'x', description: 'x' }, String(extra))
    engine.consolidate()
    return {
      search: (query, limit) =>
        engine.search(query, limit).flatMap(([index]) => known[Number(index)]?.id ?? []),
    }
  },
}

/** Coding agents add points for every word of the query: most for a part of the name, then for a substring, then for the description. */
function points(name: string, about: string, ignored: ReadonlySet<string>): Engine {
  return {
    name,
    about,
    build(tools) {
      const known = tools.map((tool) => {
        const document = plainDocument(tool)
        const parts = new Set(wordsOf(`${document.name} ${document.server}`))
        return {
          id: tool.id,
          parts,
          name: document.name.toLowerCase(),
          words: new Set(wordsOf(document.description)),
        }
      })
      return {
        search(query, limit) {
          const words = wordsOf(query).filter((word) => !ignored.has(word))
          const scored = known.map((tool) => {
            let score = 0
            for (const word of words) {
              if (tool.parts.has(word)) score += 10
              else if (tool.name.includes(word)) score += 5
              if (tool.words.has(word)) score += 2
            }
            return { id: tool.id, score }
          })
          return scored
            .filter(({ score }) => score > 0)
            .sort((first, second) => second.score - first.score)
            .slice(0, limit)
            .map(({ id }) => id)
        },
      }
    },
  }
}

export const pointsScoring = points(
  'points',
  'points per word: part of the name 10, piece of it 5, description 2',
  new Set(),
)
export const pointsWithoutStopWords = points('points-stop', 'points without stop words', peerStopWords)

export const peers: readonly Engine[] = [
  fts5,
  winkBm25,
  lunrEngine,
  miniSearchTuned,
  pointsWithoutStopWords,
  miniSearchDefault,
  orama,
  pointsScoring,
  flexSearch,
]

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function unique(tools: readonly BenchTool[]): BenchTool[] {
  return [...new Map(tools.map((tool) => [tool.id, tool])).values()]
}
