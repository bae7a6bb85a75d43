/** The tools of a catalogue, indexed: what is searched, and what is shown of each tool. */
import {
  createLexicalSearcher,
  type LexicalSearcher,
  type RankQuery,
  type SearchDocument,
} from '@toolwell/core'
import {
  createExamplesIndexes,
  defined,
  documentOf,
  fingerprintOf,
  firstLine,
  toolId,
} from '@toolwell/core/internal'
import { createTruncatedList } from '../shared/layout.js'
import { Problem } from '../shared/problem.js'
import { startProgress } from '../shared/progress.js'
import { type Found, readCatalogue } from '../shared/read-catalogue.js'
import type { Terminal } from '../shared/terminal.js'
import type { ExcludedTool } from './servers.js'

/** Tools that are handed to the index at once: few enough to be held, many enough that it is not rebuilt often. */
const CHUNK = 8192

export interface Entry {
  /** As the catalogue has it, else server and name. */
  readonly id: string | number
  readonly name: string
  readonly server: string
  readonly domain: string
  readonly group: string
  /** The first line; empty where answers are for programs. */
  readonly description: string
  /** Kept where answers are to be explained. */
  readonly document?: SearchDocument
  /** As a file of learned uses names it, and its definition; where such a file is read or written. */
  readonly learnable?: { readonly tool: string; readonly fingerprint: string }
}

export interface Catalogue {
  readonly path: string
  readonly size: number
  readonly searcher: LexicalSearcher
  /** What was learned before the first query. */
  readonly learned: NonNullable<RankQuery['learned']>
  /** What is known and not searched, where that can be said. */
  readonly excluded?: readonly ExcludedTool[]
  /** By the id that the searcher knows. */
  get(key: string): Entry | undefined
  entries(): Iterable<readonly [key: string, entry: Entry]>
}

export interface CatalogueOptions {
  /** What messages call it; a file where `found` is not given. */
  readonly path: string
  /** Tools that come from elsewhere. */
  readonly found?: AsyncIterable<Found> | Iterable<Found>
  /** Leave out what cannot be read instead of refusing the catalogue. */
  readonly skipBroken: boolean
  /** How much is kept of each tool. A large catalogue that answers programs needs names alone. */
  readonly keep: 'names' | 'descriptions' | 'documents'
  /** Whether what is learned of the tools is kept in a file, or comes from one. */
  readonly learnable: boolean
}

/**
 * A catalogue with a broken line is refused: a search in the rest would say "there is no such tool" of one that is there. Of tools with
 * one id the first counts, and a remark says so. Remarks go to standard error.
 */
export async function loadCatalogue(options: CatalogueOptions, terminal: Terminal): Promise<Catalogue> {
  const { path, skipBroken, keep, learnable } = options
  const searcher = createLexicalSearcher()
  const authored = createExamplesIndexes()()
  const examples = new Map<string, number[][]>()
  const entries = new Map<string, Entry>()
  const broken = createTruncatedList()
  const repeated = createTruncatedList()
  const remarks: string[] = []
  const progress = startProgress('Reading tools', terminal)
  let waiting: SearchDocument[] = []
  const flush = () => {
    searcher.update({ put: waiting })
    waiting = []
  }
  for await (const found of options.found ?? readCatalogue(path, terminal)) {
    if (found.kind === 'remark') remarks.push(found.text)
    else if (found.kind === 'broken') broken.add(`${found.place}: ${found.problem}`)
    else {
      const { tool, server, serverDescription } = found.listed
      const id = found.listed.id ?? (server === '' ? tool.name : `${server}/${tool.name}`)
      const key = String(id)
      if (entries.has(key)) {
        repeated.add(`${found.place}: the id ${JSON.stringify(id)} was there before.`)
        continue
      }
      const document = documentOf({ id: key, tool: { ...tool, source: server }, serverDescription })
      entries.set(key, {
        id,
        name: tool.name,
        server,
        domain: document.domain,
        group: typeof tool.group === 'string' ? tool.group : '',
        description: keep === 'names' ? '' : firstLine(tool.description, 200),
        ...defined({ document: keep === 'documents' ? document : undefined }),
        ...(learnable && {
          learnable: { tool: toolId(server, tool.name), fingerprint: fingerprintOf(tool) },
        }),
      })
      const written = Array.isArray(tool.examples)
        ? tool.examples.filter((each) => typeof each === 'string')
        : []
      if (written.length > 0) examples.set(key, written.map(authored.wordsOf))
      if (waiting.push(document) === CHUNK) flush()
      await progress.tick()
    }
  }
  flush()
  authored.put(examples)
  await progress.done()
  if (broken.count > 0 && !skipBroken)
    throw new Problem(
      `${path} is not used, because a part of it is broken:\n${broken.text()}`,
      'Fix this, or search in the rest with --skip-broken.',
    )
  for (const remark of [...remarks, ...(broken.count > 0 ? [`Left out as broken:\n${broken.text()}`] : [])])
    await terminal.errors.write(`toolwell: ${remark}\n`)
  if (repeated.count > 0)
    await terminal.errors.write(`toolwell: Of tools with one id the first counts:\n${repeated.text()}\n`)
  if (entries.size === 0)
    throw new Problem(
      `${path} holds no tools.`,
      options.found
        ? 'See what there is with: toolwell inspect'
        : 'Give a file with one tool on each line, or the answer of a server to tools/list.',
    )
  return {
    path,
    size: entries.size,
    searcher,
    // Queries that the owners of tools wrote count as uses, as they do in a conversation.
    learned: authored.index.size > 0 ? [authored.index] : [],
    get: (key) => entries.get(key),
    entries: () => entries,
  }
}
