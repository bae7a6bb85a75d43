/** `--feedback FILE`: queries with the tools that answered them, learned before anything is asked. */
import { resolve } from 'node:path'
import { type ExamplesIndex, explainBadJson, firstLine } from '@toolwell/core/internal'
import { Problem } from '../shared/problem.js'
import { readBytes, readLines } from '../shared/read-lines.js'
import type { Terminal } from '../shared/terminal.js'
import { createTruncatedList } from '../shared/truncated-list.js'
import type { Catalogue } from './catalogue.js'

/** A tool, by its key in the catalogue, and the hashes of a query that it answered. */
export type Use = readonly [key: string, words: readonly number[]]

/**
 * Each line is `{ "query": "…", "tools": ["…"] }`. A tool that the catalogue does not have is passed over, as is a query without a word
 * that counts, and a remark says so. A line that is none refuses the file, before anything is learned from it.
 */
export async function readFeedback(
  path: string,
  catalogue: Catalogue,
  wordsOf: ExamplesIndex['wordsOf'],
  { folder, errors }: Terminal,
): Promise<Use[]> {
  const uses: Use[] = []
  const keys = keysByName(catalogue)
  const unknown = createTruncatedList()
  const empty = createTruncatedList()
  for await (const { number, text } of readLines(
    readBytes(resolve(folder, path), path, '--feedback'),
    path,
  )) {
    if (text.trim() === '') continue
    const { query, tools } = readFeedbackLine(text, `${path}:${number}`)
    const words = wordsOf(query)
    if (words.length === 0) empty.add(`${path}:${number}: ${firstLine(query, 60)}`)
    for (const name of tools) {
      const key = keys.get(name)
      if (key === undefined) unknown.add(`${path}:${number}: ${JSON.stringify(name)}`)
      else if (words.length > 0) uses.push([key, words])
    }
  }
  if (unknown.count > 0)
    await errors.write(`toolwell: Not learned, because the catalogue has no such tools:\n${unknown.text()}\n`)
  if (empty.count > 0)
    await errors.write(`toolwell: Not learned, because no word of the query counts:\n${empty.text()}\n`)
  return uses
}

function readFeedbackLine(
  text: string,
  place: string,
): { readonly query: string; readonly tools: readonly string[] } {
  const fix = 'Write { "query": "…", "tools": ["…"] } on each line.'
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const { column, message } = explainBadJson(text)
    throw new Problem(`${place}:${column}: ${message}.`, fix)
  }
  const { query, tools } = (value ?? {}) as { query?: unknown; tools?: unknown }
  const isList = Array.isArray(tools) && tools.every((tool) => typeof tool === 'string')
  if (typeof query !== 'string' || !isList) throw new Problem(`${place}: no query with a list of tools.`, fix)
  return { query, tools }
}

/** By id, by server/name, and by name where only one tool has it. */
function keysByName(catalogue: Catalogue): Map<string, string> {
  const keys = new Map<string, string>()
  const shared = new Set<string>()
  for (const [key, { name }] of catalogue.entries()) {
    if (keys.has(name)) shared.add(name)
    keys.set(name, key)
  }
  for (const name of shared) keys.delete(name)
  for (const [key, { name, server }] of catalogue.entries()) {
    keys.set(key, key)
    if (server !== '') keys.set(`${server}/${name}`, key)
  }
  return keys
}
