/** `--feedback FILE`: queries with the tools that answered them, learned before anything is asked. Nothing of it is kept. */
import { resolve } from 'node:path'
import type { RankQuery } from '@toolwell/core'
import { createExamplesIndexes, explainBadJson } from '@toolwell/core/internal'
import { Problem } from '../shared/problem.js'
import { readBytes, readLines } from '../shared/read-lines.js'
import type { Terminal } from '../shared/terminal.js'
import { createTruncatedList } from '../shared/truncated-list.js'
import type { Catalogue } from './catalogue.js'

/** Each line is `{ "query": "…", "tools": ["…"] }`. A tool that the catalogue does not have is passed over, and a remark says so. */
export async function learnFeedback(
  path: string,
  catalogue: Catalogue,
  { folder, errors }: Terminal,
): Promise<NonNullable<RankQuery['learned']>> {
  const examples = createExamplesIndexes()()
  const byTool = new Map<string, number[][]>()
  const keys = keysByName(catalogue)
  const unknown = createTruncatedList()
  for await (const { number, text } of readLines(
    readBytes(resolve(folder, path), path, '--feedback'),
    path,
  )) {
    if (text.trim() === '') continue
    const { query, tools } = lineOf(text, `${path}:${number}`)
    const words = examples.wordsOf(query)
    for (const name of tools) {
      const key = keys.get(name)
      if (key === undefined) unknown.add(`${path}:${number}: ${JSON.stringify(name)}`)
      else if (words.length > 0) byTool.set(key, [...(byTool.get(key) ?? []), words])
    }
  }
  examples.put(byTool)
  if (unknown.count > 0)
    await errors.write(`toolwell: Not learned, because the catalogue has no such tools:\n${unknown.text()}\n`)
  return [examples.index]
}

function lineOf(text: string, place: string): { readonly query: string; readonly tools: readonly string[] } {
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
