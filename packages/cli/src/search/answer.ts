/** Answers one query, explains the place of one tool (`--why`), or answers a file of queries (`--batch`). */
import { resolve } from 'node:path'
import type { Explanation, SearchMiss } from '@toolwell/core'
import { dropUndefined, explainBadJson } from '@toolwell/core/internal'
import { createTruncatedList } from '../shared/layout.js'
import { startProgress } from '../shared/progress.js'
import { readBytes, readLines } from '../shared/read-lines.js'
import { painter, type Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { ask, explainMiss, type Limits, type Match, readQuery } from './ask.js'
import type { Catalogue } from './catalogue.js'
import { answerJson, batchLine, brokenLine, whyJson, withCatalogueIds } from './json.js'
import type { ExcludedTool } from './servers.js'
import { answerText, excludedText, explanationLines, missText, toolLabel, whyText } from './text.js'

export async function answerOne(
  query: string,
  catalogue: Catalogue,
  limits: Limits,
  explained: (match: Match) => Explanation | undefined,
  form: 'json' | 'exact' | 'list',
  { output, errors, env }: Terminal,
): Promise<ExitCode> {
  const answer = await ask(catalogue, query, limits)
  const miss = answer.matches.length === 0 ? explainMiss(catalogue, answer) : undefined
  for (const remark of answer.remarks) await errors.write(`toolwell: ${remark}\n`)
  if (form === 'json') await output.write(answerJson(answer, catalogue, miss, explained))
  else if (form === 'exact' && answer.answer !== undefined) await output.write(`${answer.answer}\n`)
  else if (miss) await errors.write(missText(answer, miss, catalogue, limits.cutOff))
  else await output.write(answerText(answer, output, painter(output, env), explained))
  return miss ? 1 : 0
}

export function createExplainer(catalogue: Catalogue) {
  return (query: string) =>
    ({ entry }: Match): Explanation | undefined =>
      entry.document &&
      catalogue.searcher.explain(readQuery(query, catalogue).text, entry.document, catalogue.learned)
}

/** Answers each line of a file. A broken line is answered with an error, and the exit code is 2 at the end. */
export async function answerBatch(
  path: string,
  catalogue: Catalogue,
  limits: Limits,
  explained: (query: string) => (match: Match) => ReturnType<Catalogue['searcher']['explain']> | undefined,
  terminal: Terminal,
): Promise<ExitCode> {
  const { input, output, errors, folder } = terminal
  const place = path === '-' ? 'standard input' : path
  const bytes = path === '-' ? input : readBytes(resolve(folder, path), place, '--batch')
  const broken = createTruncatedList()
  // Answers on the terminal already show the progress.
  const progress = output.isTerminal ? undefined : startProgress('Answering queries', terminal)
  let queries = 0
  let found = 0
  for await (const { number, text } of readLines(bytes, place)) {
    if (text.trim() === '') continue
    queries += 1
    const query = readQueryLine(text)
    if (typeof query === 'string') {
      const answer = await ask(catalogue, query, limits)
      if (answer.matches.length > 0) found += 1
      await output.write(batchLine(answer, explained(query)))
    } else {
      broken.add(`${place}:${number}${query.column}: ${query.problem}`)
      await output.write(brokenLine(number, query.problem))
    }
    await progress?.tick()
  }
  await progress?.done()
  if (queries === 0) await errors.write(`toolwell: ${place} contains no query.\n`)
  if (broken.count > 0)
    await errors.write(`toolwell: These lines are broken and were not answered:\n${broken.text()}\n`)
  return broken.count > 0 ? 2 : found > 0 ? 0 : 1
}

function readQueryLine(text: string): string | { readonly column: string; readonly problem: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const { column, message, fix } = explainBadJson(text)
    return { column: `:${column}`, problem: `${message}. ${fix}.` }
  }
  const { query } = (value ?? {}) as { query?: unknown }
  return typeof query === 'string'
    ? query
    : { column: '', problem: 'The query is missing. Write { "query": "…" }.' }
}

/** Explains the rank of one tool, or why it is not found. */
export async function answerWhy(
  name: string,
  query: string,
  catalogue: Catalogue,
  limits: Limits,
  isJson: boolean,
  { output, errors, env }: Terminal,
): Promise<ExitCode> {
  const { text, must, accept } = readQuery(query, catalogue)
  const { matches, remarks } = await ask(catalogue, query, limits)
  const miss = catalogue.searcher.explainMiss(name, { text, must, ...limits, ...dropUndefined({ accept }) })
  const key = 'id' in miss ? miss.id : undefined
  const entry = key === undefined ? undefined : catalogue.get(key)
  const at = matches.findIndex((match) => match.key === key)
  const shown = matches[at]
  // The answer decides: the searcher does not know what was filtered before this tool.
  const why: SearchMiss = shown
    ? { outcome: 'found', id: shown.key, rank: at + 1, relevance: shown.relevance }
    : miss
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
        ? `${toolLabel(entry)} does not pass the filters of the query.`
        : whyText(why, name, catalogue)
    const lines = [line, ...(explanation ? explanationLines(explanation, painter(output, env)) : [])]
    await output.write(`${lines.join('\n')}\n`)
  }
  return shown ? 0 : 1
}

/** Finds excluded tools by name, server/name or wire name. */
function excludedNamed(name: string, excluded: readonly ExcludedTool[]): ExcludedTool[] {
  return excluded.filter((each) =>
    [each.name, `${each.server}/${each.name}`, `${each.server}__${each.name}`].includes(name),
  )
}
