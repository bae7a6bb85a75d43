/** Loads the tools of a catalogue into an index. */
import {
  createLexicalSearcher,
  type LexicalSearcher,
  type RankQuery,
  type SearchDocument,
  type Tool,
} from '@toolwell/core'
import {
  computeFingerprint,
  createDocument,
  createExamplesIndexes,
  dropUndefined,
  firstLine,
  toolId,
} from '@toolwell/core/internal'
import { createTruncatedList } from '../shared/layout.js'
import { Problem } from '../shared/problem.js'
import { startProgress } from '../shared/progress.js'
import { type Found, readCatalogue } from '../shared/read-catalogue.js'
import type { Terminal } from '../shared/terminal.js'
import type { AskAgent } from './agent.js'
import type { ExcludedTool } from './servers.js'

/** Tools per update of the index: a compromise between memory and speed. */
const CHUNK = 8192

export interface Entry {
  /** The id in the catalogue, or server/name. */
  readonly id: string | number
  readonly name: string
  readonly server: string
  readonly domain: string
  readonly group: string
  /** The first line; empty if `keep` is "names". */
  readonly description: string
  /** Only if `keep` is "documents". */
  readonly document?: SearchDocument
  /** Not if `keep` is "names". */
  readonly tool?: Tool
  /** Id and fingerprint for the usage file, if one is used. */
  readonly learnable?: { readonly tool: string; readonly fingerprint: string }
}

export interface Catalogue {
  readonly path: string
  readonly size: number
  readonly searcher: LexicalSearcher
  /** Uses learned before the first query. */
  readonly learned: NonNullable<RankQuery['learned']>
  /** Asks like an agent; only if definitions are kept. */
  readonly askAgent?: AskAgent
  /** Known tools that are not searched. */
  readonly excluded?: readonly ExcludedTool[]
  /** `key`: the id in the searcher. */
  get(key: string): Entry | undefined
  entries(): Iterable<readonly [key: string, entry: Entry]>
}

export interface CatalogueOptions {
  /** Name in messages, and the file to read if `found` is missing. */
  readonly path: string
  /** Tools from another source. */
  readonly found?: AsyncIterable<Found> | Iterable<Found>
  /** Skip broken entries instead of rejecting the catalogue. */
  readonly skipBroken: boolean
  /** Data kept for each tool. A batch of plain rankings needs only names. */
  readonly keep: 'names' | 'descriptions' | 'documents'
  /** A usage file is read or written. */
  readonly learnable: boolean
}

/**
 * Rejects a catalogue with broken entries, unless `skipBroken` is set: a search could otherwise miss an existing tool. Of tools
 * with the same id, the first one counts. Prints remarks to standard error.
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
        repeated.add(`${found.place}: the id ${JSON.stringify(id)} is already in use.`)
        continue
      }
      const document = createDocument({ id: key, tool: { ...tool, source: server }, serverDescription })
      entries.set(key, {
        id,
        name: tool.name,
        server,
        domain: document.domain,
        group: typeof tool.group === 'string' ? tool.group : '',
        description: keep === 'names' ? '' : firstLine(tool.description, 200),
        ...dropUndefined({
          document: keep === 'documents' ? document : undefined,
          tool: keep === 'names' ? undefined : tool,
        }),
        ...(learnable && {
          learnable: { tool: toolId(server, tool.name), fingerprint: computeFingerprint(tool) },
        }),
      })
      const written = Array.isArray(tool.examples)
        ? tool.examples.filter((each) => typeof each === 'string')
        : []
      if (written.length > 0) examples.set(key, written.map(authored.hashWords))
      if (waiting.push(document) === CHUNK) flush()
      await progress.tick()
    }
  }
  flush()
  authored.put(examples)
  await progress.done()
  if (broken.count > 0 && !skipBroken)
    throw new Problem(
      `${path} has broken entries:\n${broken.text()}`,
      'Fix them, or search the rest with --skip-broken.',
    )
  for (const remark of [
    ...remarks,
    ...(broken.count > 0 ? [`Skipped broken entries:\n${broken.text()}`] : []),
  ])
    await terminal.errors.write(`toolwell: ${remark}\n`)
  if (repeated.count > 0)
    await terminal.errors.write(`toolwell: Skipped tools with a repeated id:\n${repeated.text()}\n`)
  if (entries.size === 0)
    throw new Problem(
      `${path} contains no tools.`,
      options.found
        ? 'Check your servers with: toolwell inspect'
        : 'Give a file with one tool on each line, or a tools/list result.',
    )
  return {
    path,
    size: entries.size,
    searcher,
    // Example queries of tool authors count as uses, as in a conversation.
    learned: authored.index.size > 0 ? [authored.index] : [],
    get: (key) => entries.get(key),
    entries: () => entries,
  }
}
