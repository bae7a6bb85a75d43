/** What a search knows from use before it answers: from `--usage`, a file that hosts read too, and from `--feedback`. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RankQuery, UsageExample } from '@toolwell/core'
import { createExamplesIndexes } from '@toolwell/core/internal'
import { fileUsage } from '@toolwell/core/usage'
import { Problem } from '../shared/problem.js'
import type { Terminal } from '../shared/terminal.js'
import type { Catalogue } from './catalogue.js'
import { readFeedback, type Use } from './feedback.js'

/** Nobody in particular, and where a host shares what is learned, everybody. */
const PRINCIPAL = ''

export interface LearnedUses {
  readonly learned: NonNullable<RankQuery['learned']>
  /** What was added to the file. */
  readonly added: { readonly uses: number; readonly tools: number }
}

/**
 * The file is read before it is added to, so one that is not to be touched stays as it is; and the feedback is read whole before
 * anything is written. All of it is added with one write at the end of the file: another process that adds there loses nothing.
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
    throw new Problem(`There is no file ${usage}.`, 'Check the path behind --usage.')
  const store = path === undefined ? undefined : fileUsage(path)
  // Nothing is to be written where only a query is asked: then the search goes on without.
  const pass = async (error: unknown) => {
    await terminal.errors.write(`toolwell: ${messageOf(error)} The search goes on without it.\n`)
    return []
  }
  const kept = store ? await store.read().catch(feedback === undefined ? pass : refuse) : []
  const taught =
    feedback === undefined ? [] : await readFeedback(feedback, catalogue, examples.wordsOf, terminal)
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

/** Those of the tools as they are now: under another definition a use does not count. */
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
  throw new Problem(messageOf(error), 'Check the file behind --usage.')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
