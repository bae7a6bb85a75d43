/** Answers as JSON. The docs list the keys: keys may be added, but never change their meaning. */
import type { Explanation, SearchMiss } from '@toolwell/core'
import { dropUndefined } from '@toolwell/core/internal'
import type { Answer, Match, Miss } from './ask.js'
import type { Catalogue } from './catalogue.js'

/** One line of `--batch`. */
export function batchLine(answer: Answer, explained: (match: Match) => Explanation | undefined): string {
  const matches = answer.matches.map((match) => ({
    ...brief(match, answer.byScore),
    ...explanationOf(explained(match)),
  }))
  const { query, unclear, byScore } = answer
  return `${JSON.stringify({ query, ...(byScore ? {} : { unclear }), matches })}\n`
}

/** The answer to a broken line of `--batch`, so that input and output lines still match. */
export function brokenLine(line: number, error: string): string {
  return `${JSON.stringify({ query: null, matches: [], line, error })}\n`
}

export function answerJson(
  answer: Answer,
  catalogue: Catalogue,
  miss: Miss | undefined,
  explained: (match: Match) => Explanation | undefined,
): string {
  const { query, matches, byScore, unclear, below, remarks, others, answer: text } = answer
  return pretty({
    query,
    tools: catalogue.size,
    unclear,
    matches: matches.map((match) => ({
      ...brief(match, byScore),
      relevance: rounded(match.relevance),
      ...dropUndefined({ loaded: match.loaded }),
      server: match.entry.server,
      description: match.entry.description,
      ...explanationOf(explained(match)),
    })),
    ...(miss
      ? {
          missed: {
            ...miss,
            belowCutOff: below.map((match) => ({
              ...brief(match, true),
              relevance: rounded(match.relevance),
            })),
          },
        }
      : {}),
    ...dropUndefined({ others, answer: text }),
    remarks,
  })
}

export function whyJson(
  query: string,
  name: string,
  why: Readonly<Record<string, unknown>>,
  explanation: Explanation | undefined,
): string {
  return pretty({ query, name, ...why, ...explanationOf(explanation) })
}

/** Replaces the keys of the searcher by the ids of the catalogue. */
export function withCatalogueIds(why: SearchMiss, catalogue: Catalogue): Record<string, unknown> {
  const own = (key: string) => catalogue.get(key)?.id ?? key
  return {
    ...why,
    ...('id' in why ? { id: own(why.id) } : {}),
    ...('ids' in why ? { ids: why.ids.map(own) } : {}),
    ...('last' in why ? { last: own(why.last) } : {}),
  }
}

function brief({ entry: { id, name }, score, certainty }: Match, byScore: boolean | undefined) {
  return { id, name, ...(byScore ? { score: rounded(score) } : {}), certainty: rounded(certainty) }
}

function explanationOf(explanation: Explanation | undefined): object {
  if (!explanation) return {}
  const { name, terms, words, use, effect, server, fit, score } = explanation
  return {
    explanation: {
      ...dropUndefined({ name }),
      words: rounded(words),
      ...(use === undefined ? {} : { use: rounded(use) }),
      ...dropUndefined({ effect, server }),
      fit: rounded(fit),
      score: rounded(score),
      terms: terms.map((term) => ({
        ...term,
        weight: rounded(term.weight),
        score: rounded(term.score),
        fields: Object.fromEntries(
          Object.entries(term.fields).map(([field, part]) => [field, rounded(part)]),
        ),
      })),
    },
  }
}

function pretty(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** Six digits are finer than the differences that the ranker makes. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
