/** `--why NAME`: what became of one tool in a search. */

import type { SearchMiss } from '@toolwell/core'
import { defined } from '@toolwell/core/internal'
import { painter, type Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { ask, type Limits, readQuery } from './ask.js'
import type { Catalogue } from './catalogue.js'
import { excludedNamed } from './excluded.js'
import { whyJson, withCatalogueIds } from './json.js'
import { excludedText, explanationLines, toolLabel, whyText } from './text.js'

export async function answerWhy(
  name: string,
  query: string,
  catalogue: Catalogue,
  limits: Limits,
  isJson: boolean,
  { output, errors, env }: Terminal,
): Promise<ExitCode> {
  const { text, must, accept } = readQuery(query, catalogue)
  const { matches, remarks } = ask(catalogue, query, limits)
  const told = catalogue.searcher.why(name, { text, must, ...limits, ...defined({ accept }) })
  const key = 'id' in told ? told.id : undefined
  const entry = key === undefined ? undefined : catalogue.get(key)
  const at = matches.findIndex((match) => match.key === key)
  const shown = matches[at]
  // What is shown is found, whatever else was kept out before it.
  const why: SearchMiss = shown
    ? { outcome: 'found', id: shown.key, rank: at + 1, relevance: shown.relevance }
    : told
  const isFiltered = key !== undefined && accept?.(key) === false
  const hasRank = !isFiltered && (why.outcome === 'found' || 'rank' in why)
  const explanation =
    hasRank && entry?.document
      ? catalogue.searcher.explain(text, entry.document, catalogue.learned)
      : undefined
  for (const remark of remarks) await errors.write(`toolwell: ${remark}\n`)
  const excluded = why.outcome === 'unknown-name' ? excludedNamed(name, catalogue.excluded ?? []) : []
  if (excluded.length > 0) {
    await output.write(
      isJson
        ? whyJson(query, name, { outcome: 'not-searched', excluded }, undefined)
        : excluded.map((each) => `${excludedText(each)}\n`).join(''),
    )
  } else if (isJson) {
    const facts = isFiltered ? { outcome: 'filtered-out', id: entry?.id } : withCatalogueIds(why, catalogue)
    await output.write(whyJson(query, name, facts, explanation))
  } else {
    const line =
      isFiltered && entry
        ? `${toolLabel(entry)} is excluded by the filters of the query.`
        : whyText(why, name, catalogue)
    const lines = [line, ...(explanation ? explanationLines(explanation, painter(output, env)) : [])]
    await output.write(`${lines.join('\n')}\n`)
  }
  return shown ? 0 : 1
}
