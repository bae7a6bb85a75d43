/** Keeps a searcher up to date with the catalogue, and falls back to the built-in one if the host's searcher fails. */

import { yieldToEventLoop } from '../base/async.js'
import type { Catalogue, Entry } from '../catalogue/catalogue.js'
import type { Notice } from '../tool/notice.js'
import type { IndexPart } from './document.js'
import { createDocument } from './document.js'
import { segmentCapacity } from './index/segment.js'
import { noAliases } from './index/term-index.js'
import { createLexicalSearcher, type LexicalSearcher } from './lexical.js'
import { rankReplacementsFirst } from './rank-replacements.js'
import type { Ranked, RankQuery, SearchDocument, Searcher } from './searcher.js'

export type Ranking = (query: RankQuery, notify: (notice: Notice) => void) => Promise<readonly Ranked[]>

/** Indexes everything with the first search, and after that only changes. */
export function createRanking(catalogue: Catalogue, custom: Searcher | undefined): Ranking {
  const own = createLexicalSearcher()
  const lexical = keepUpdated(catalogue, own, () => loadAll(catalogue, own))
  const chosen = custom ? keepUpdated(catalogue, custom) : lexical
  return async (query, notify) => {
    const findTool = (id: string) => (query.hidden?.(id) ? undefined : catalogue.get(id))
    try {
      const ranked = await (await chosen()).rank(query)
      if (Array.isArray(ranked) && ranked.every(isRanked)) return rankReplacementsFirst(ranked, findTool)
      throw new Error('its answer is not a list of { id, score, relevance }')
    } catch (error) {
      notify({ kind: 'searcher-failed', query: query.text, detail: String(error) })
      return rankReplacementsFirst(await (await lexical()).rank(query), findTool)
    }
  }
}

/** Updates the searcher to the current catalogue before each search. Concurrent searches wait for the same update. */
function keepUpdated(
  catalogue: Catalogue,
  searcher: Searcher,
  first?: () => Promise<void>,
): () => Promise<Searcher> {
  let revision = -1
  let making: Promise<void> | undefined
  const make = async () => {
    // Changes during the update are newer than `started`, so the next round indexes them.
    const started = catalogue.revision
    if (revision < 0 && first) await first()
    else {
      const ids =
        revision < 0
          ? [...catalogue.entries(), ...listSkipped(catalogue)].map((entry) => entry.id)
          : [...catalogue.changesSince(revision)]
      const put = []
      const remove = []
      for (const id of ids) {
        const entry = catalogue.get(id) ?? catalogue.skippedTools.get(id)?.entry
        if (entry) put.push(toDocument(entry, catalogue))
        else remove.push(id)
      }
      searcher.update({ put, remove })
    }
    revision = started
  }
  return async () => {
    while (revision !== catalogue.revision) {
      making ??= make().finally(() => {
        making = undefined
      })
      await making
    }
    return searcher
  }
}

const MANY_TOOLS = 500

/** Fills the index: loads the parts that sources have stored and builds the rest, without blocking the event loop. */
async function loadAll(catalogue: Catalogue, searcher: LexicalSearcher): Promise<void> {
  // The steps before and after this function also take long for many tools.
  const isLarge = catalogue.size >= MANY_TOOLS
  if (isLarge) await yieldToEventLoop()
  const parts: IndexPart[] = []
  const made: Entry[] = []
  for (const { name: server, ids, kept } of catalogue.sources.values()) {
    const entries = [...ids].flatMap((id) => catalogue.get(id) ?? [])
    // An alias may come from another source, which the stored index does not know.
    const isKept =
      kept && ids.size <= segmentCapacity && entries.every(({ id }) => catalogue.listAliases(id).length === 0)
    if (!isKept) {
      made.push(...entries)
      continue
    }
    parts.push({
      stored: kept.index,
      identities: entries.map(({ id, tool }) => ({ id, name: tool.name, server, aliases: noAliases })),
      documents: () => entries.map((entry) => toDocument(entry, catalogue)),
    })
  }
  // Unusable tools are ranked too, so that a search can say why they are missing.
  made.push(...listSkipped(catalogue))
  // Toolwell's own tools have no source.
  for (const entry of catalogue.entries()) if (!catalogue.sources.has(entry.source)) made.push(entry)
  await searcher.fill(createDocuments(made, catalogue))
  await searcher.load(parts)
  if (isLarge) await yieldToEventLoop()
}

function listSkipped(catalogue: Catalogue): Entry[] {
  return [...catalogue.skippedTools.values()].map(({ entry }) => entry)
}

function* createDocuments(entries: readonly Entry[], catalogue: Catalogue): Generator<SearchDocument> {
  for (const entry of entries) yield toDocument(entry, catalogue)
}

function toDocument({ id, source, tool }: Entry, catalogue: Catalogue): SearchDocument {
  const serverDescription = catalogue.sources.get(source)?.description ?? ''
  return createDocument({
    id,
    tool: { ...tool, source, aliases: catalogue.listAliases(id) },
    serverDescription,
  })
}

function isRanked(value: unknown): value is Ranked {
  const { id, score, relevance } = (value ?? {}) as Partial<Ranked>
  return typeof id === 'string' && Number.isFinite(score) && Number.isFinite(relevance)
}
