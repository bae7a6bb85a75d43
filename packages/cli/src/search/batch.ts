/** Many queries: one line in, one line out, nothing held in between. */
import { resolve } from 'node:path'
import { explainBadJson } from '@toolwell/core/internal'
import { startProgress } from '../shared/progress.js'
import { readBytes, readLines } from '../shared/read-lines.js'
import type { Terminal } from '../shared/terminal.js'
import { createTruncatedList } from '../shared/truncated-list.js'
import type { ExitCode } from '../shared/verb.js'
import { ask, type Limits, type Match } from './ask.js'
import type { Catalogue } from './catalogue.js'
import { batchLine, brokenLine } from './json.js'

/**
 * Each query is answered by itself, so a line that cannot be read does no harm to the others: it is answered with an error, and the
 * exit code tells of it at the end.
 */
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
  // Answers on the same screen show well enough how far it is.
  const progress = output.isTerminal ? undefined : startProgress('Answering queries', terminal)
  let queries = 0
  let found = 0
  for await (const { number, text } of readLines(bytes, place)) {
    if (text.trim() === '') continue
    queries += 1
    const query = readQueryLine(text)
    if (typeof query === 'string') {
      const answer = ask(catalogue, query, limits)
      if (answer.matches.length > 0) found += 1
      await output.write(batchLine(answer, explained(query)))
    } else {
      broken.add(`${place}:${number}${query.column}: ${query.problem}`)
      await output.write(brokenLine(number, query.problem))
    }
    await progress?.tick()
  }
  await progress?.done()
  if (queries === 0) await errors.write(`toolwell: ${place} holds no query.\n`)
  if (broken.count > 0)
    await errors.write(`toolwell: Not answered, because these lines could not be read:\n${broken.text()}\n`)
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
  return typeof query === 'string' ? query : { column: '', problem: 'no query. Write { "query": "…" }.' }
}
