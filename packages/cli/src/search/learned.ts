/** Loads learned uses from `--usage`, a file that hosts read too, and from `--feedback`. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RankQuery, UsageExample } from '@toolwell/core'
import { createExamplesIndexes, type ExamplesIndex, explainBadJson, firstLine } from '@toolwell/core/internal'
import { fileUsage } from '@toolwell/core/usage'
import { createTruncatedList } from '../shared/layout.js'
import { Problem } from '../shared/problem.js'
import { readBytes, readLines } from '../shared/read-lines.js'
import type { Terminal } from '../shared/terminal.js'
import type { Catalogue } from './catalogue.js'

/** The principal of uses that everybody shares. */
const PRINCIPAL = ''

export interface LearnedUses {
  readonly learned: NonNullable<RankQuery['learned']>
  /** Counts of the uses added to the file. */
  readonly added: { readonly uses: number; readonly tools: number }
}

/**
 * Reads the usage file and all feedback before it writes, so that errors change nothing. Appends all uses with one write, so
 * that concurrent processes lose nothing.
 */
export async function learnUses(
  { feedback, usage }: { readonly feedback: string | undefined; readonly usage: string | undefined },
  catalogue: Catalogue,
  terminal: Terminal,
): Promise<LearnedUses> {
  if (feedback === undefined && usage === undefined) return { learned: [], added: { uses: 0, tools: 0 } }
  const examples = createExamplesIndexes()()
  const path = usage === undefined ? undefined : resolve(terminal.folder, usage)
  if (path !== undefined && feedback === undefined && !existsSync(path))
    throw new Problem(`File not found: ${usage}.`, 'Check the path after --usage.')
  const store = path === undefined ? undefined : fileUsage(path)
  // Without feedback nothing is written, so a broken usage file does not stop the search.
  const pass = async (error: unknown) => {
    await terminal.errors.write(`toolwell: ${messageOf(error)} Searching without it.\n`)
    return []
  }
  const kept = store ? await store.read().catch(feedback === undefined ? pass : refuse) : []
  const taught =
    feedback === undefined ? [] : await readFeedback(feedback, catalogue, examples.hashWords, terminal)
  if (store) await store.append(taught.flatMap((use) => createExample(use, catalogue) ?? [])).catch(refuse)
  const byTool = new Map<string, (readonly number[])[]>()
  for (const [key, words] of [...findUses(kept, catalogue), ...taught])
    byTool.set(key, [...(byTool.get(key) ?? []), words])
  examples.put(byTool)
  return {
    learned: examples.index.size > 0 ? [examples.index] : [],
    added: { uses: taught.length, tools: new Set(taught.map(([key]) => key)).size },
  }
}

/** Keeps only uses of the current definition of a tool. */
function findUses(kept: readonly UsageExample[], catalogue: Catalogue): Use[] {
  const keys = new Map<string, string>()
  for (const [key, { learnable }] of catalogue.entries())
    if (learnable) keys.set(usageKey(learnable.tool, learnable.fingerprint), key)
  return kept.flatMap(({ principal, tool, fingerprint, words }) => {
    const key = principal === PRINCIPAL ? keys.get(usageKey(tool, fingerprint)) : undefined
    return key === undefined ? [] : [[key, words] as const]
  })
}

function createExample([key, words]: Use, catalogue: Catalogue): UsageExample | undefined {
  const learnable = catalogue.get(key)?.learnable
  return learnable && { principal: PRINCIPAL, ...learnable, words }
}

function usageKey(tool: string, fingerprint: string): string {
  return `${fingerprint}\n${tool}`
}

function refuse(error: unknown): never {
  throw new Problem(messageOf(error), 'Check the file given with --usage.')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The key of a tool in the catalogue, and the word hashes of a query that it answered. */
type Use = readonly [key: string, words: readonly number[]]

/**
 * Reads lines like `{ "query": "…", "tools": ["…"] }`. Skips unknown tools and queries without significant words, with a remark.
 * A broken line rejects the whole file.
 */
async function readFeedback(
  path: string,
  catalogue: Catalogue,
  hashWords: ExamplesIndex['hashWords'],
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
    const words = hashWords(query)
    if (words.length === 0) empty.add(`${path}:${number}: ${firstLine(query, 60)}`)
    for (const name of tools) {
      const key = keys.get(name)
      if (key === undefined) unknown.add(`${path}:${number}: ${JSON.stringify(name)}`)
      else if (words.length > 0) uses.push([key, words])
    }
  }
  if (unknown.count > 0)
    await errors.write(`toolwell: Skipped tools that are not in the catalogue:\n${unknown.text()}\n`)
  if (empty.count > 0)
    await errors.write(`toolwell: Skipped queries without significant words:\n${empty.text()}\n`)
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
  if (typeof query !== 'string' || !isList)
    throw new Problem(`${place}: the query or the list of tools is missing.`, fix)
  return { query, tools }
}

/** Keys by id, by server/name, and by unique name. */
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
