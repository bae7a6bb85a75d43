/** Ranks the replacement of a deprecated tool before it, if the description names one. */

import { toolId } from '../base/names.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { Ranked } from './searcher.js'

type FindTool = (id: string) => Entry | undefined

/** Number of hits that are checked. Later ones are rarely shown. */
const HIT_LIMIT = 20
/** Characters of a description in which a deprecation is looked for. */
const HEAD = 300
/** A tool calls itself deprecated at the start, in brackets, in capitals or with "this". "The deprecated flags" are something else. */
const deprecated = [
  /^\W*(?:deprecated|superseded|replaced|obsolete)\b|[([]\s*(?:deprecated|superseded|obsolete)\b/i,
  /\b(?:tool|endpoint|method|function|command|this|it) (?:is|was|has been) (?:now )?(?:deprecated|superseded|replaced|obsolete)\b|已废弃/i,
  /\bDEPRECATED\b/,
]
/** "use X", "in favour of X", "superseded by X", "renamed to X". */
const named =
  /\b(?:use|using|prefer|try|see|favou?r of|(?:superseded|replaced|succeeded) by|(?:moved|renamed|switch|migrate) to)\s+(?:the\s+)?(?:new\s+)?[^\p{L}\p{N}\s]*([\p{L}\p{N}_.-]*[\p{L}\p{N}])/giu

/**
 * Moves each replacement directly before the deprecated tool, with the better figures of the two. A tool that the query names keeps
 * its place. `findTool` returns the tools that may be found.
 */
export function rankReplacementsFirst(ranked: readonly Ranked[], findTool: FindTool): readonly Ranked[] {
  let order: Ranked[] | undefined
  for (const hit of ranked.slice(0, HIT_LIMIT)) {
    const id = hit.relevance < 1 ? findReplacement(hit.id, findTool) : undefined
    if (id === undefined) continue
    order ??= [...ranked]
    const at = order.findIndex((other) => other.id === id)
    const place = order.indexOf(hit)
    if (at >= 0 && at < place) order.splice(at + 1, 0, ...order.splice(place, 1))
    else {
      const [own] = at < 0 ? [] : order.splice(at, 1)
      order.splice(place, 0, mergeHits(hit, own, id))
    }
  }
  return order ?? ranked
}

/** Follows the chain of replacements to its end. */
function findReplacement(first: string, findTool: FindTool): string | undefined {
  const seen = new Set([first])
  for (let id = first; ; ) {
    const entry = findTool(id)
    const next = entry && findNamedReplacement(entry, findTool)
    if (next === undefined) return id === first ? undefined : id
    // The tools name each other.
    if (seen.has(next)) return undefined
    seen.add(next)
    id = next
  }
}

function findNamedReplacement(entry: Entry, findTool: FindTool): string | undefined {
  const { description } = entry.tool
  // Hosts without types may omit the description.
  const head = typeof description === 'string' ? description.slice(0, HEAD) : ''
  if (!deprecated.some((words) => words.test(head))) return undefined
  const ids = [...head.matchAll(named)].map(([, name = '']) => toolId(entry.source, name))
  return ids.find((id) => id !== entry.id && findTool(id))
}

function mergeHits(hit: Ranked, own: Ranked | undefined, id: string): Ranked {
  if (!own) return { ...hit, id }
  const most = (figure: (each: Ranked) => number | undefined, less: number) =>
    Math.max(figure(hit) ?? less, figure(own) ?? less)
  return {
    id,
    score: Math.max(hit.score, own.score),
    relevance: Math.max(hit.relevance, own.relevance),
    certainty: most((each) => each.certainty ?? each.relevance, 0),
    coverage: most((each) => each.coverage, 1),
    ownRelevance: most((each) => each.ownRelevance ?? each.relevance, 0),
    ownScore: most((each) => each.ownScore ?? each.score, 0),
  }
}
