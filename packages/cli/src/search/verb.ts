/** `toolwell search`: finds tools by a query, and explains the ranking. */
import { defaultCutOff } from '@toolwell/core/internal'
import { CALL_NAME, SEARCH_NAME } from '@toolwell/gateway/bridge'
import { plural } from '../shared/layout.js'
import { usageProblem } from '../shared/problem.js'
import { readTimeout, serverFlags } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'
import { createAgent } from './agent.js'
import { answerBatch, answerOne, answerWhy, createExplainer } from './answer.js'
import type { Limits } from './ask.js'
import { loadCatalogue } from './catalogue.js'
import { learnUses } from './learned.js'

/** As many as an agent gets. */
const LIMIT = 5

export const search = defineVerb({
  name: 'search',
  summary: 'Find tools by what they do, and see why they rank as they do.',
  usage: [
    'QUERY [--config FILE] [flags]',
    'QUERY --catalog PATH [flags]',
    '--batch FILE [--config FILE | --catalog PATH] [flags]',
    '--feedback FILE --usage FILE [--config FILE | --catalog PATH] [flags]',
  ],
  takesWords: true,
  flags: {
    catalog: {
      type: 'string',
      valueHint: 'PATH',
      description:
        'Read tools from files instead: JSONL, a tools/list result, a folder of such files, or - for standard input.',
    },
    config: serverFlags.config,
    profile: serverFlags.profile,
    limit: { type: 'string', valueHint: 'N', description: `Show at most N matches. Default ${LIMIT}.` },
    cutoff: {
      type: 'boolean',
      default: true,
      description: `Also show matches with low relevance (below ${defaultCutOff}).`,
    },
    answer: {
      type: 'boolean',
      description: 'Print the answer exactly as an agent reads it.',
    },
    explain: {
      type: 'boolean',
      description: 'Show how much each word of the query adds to each match, by field.',
    },
    why: {
      type: 'string',
      valueHint: 'NAME',
      description: 'Show the rank of this tool, or why it is not found.',
    },
    batch: {
      type: 'string',
      valueHint: 'FILE',
      description:
        'Answer the queries of a JSONL file, or - for standard input. Prints one line of JSON per query.',
    },
    feedback: {
      type: 'string',
      valueHint: 'FILE',
      description:
        'First learn from a JSONL file of {"query": …, "tools": […]}. Applies to this run only, unless --usage names a file.',
    },
    usage: {
      type: 'string',
      valueHint: 'FILE',
      description:
        'Rank with the learned uses in this file, as a host with fileUsage does. --feedback adds to it.',
    },
    json: { type: 'boolean', description: 'Print the result as JSON.' },
    timeout: serverFlags.timeout,
    'skip-broken': { type: 'boolean', description: 'Skip broken entries of the catalogue.' },
  },
  notes: [
    'A query is free text. select:a,b finds tools by name. +word must be in the name, server or domain. server:, domain:\nand group: filter the tools.',
  ],
  examples: [
    { line: 'toolwell search "create an issue" --catalog tools.jsonl', about: 'search the tools of a file' },
    {
      line: 'toolwell search "create an issue" --catalog servers/ --explain',
      about: 'search a folder of tools/list results, and explain the scores',
    },
    {
      line: 'toolwell search "create an issue" --catalog tools.jsonl --why update_issue',
      about: 'explain why this tool is not found',
    },
    {
      line: 'toolwell search "create an issue"',
      about: 'search the tools of your servers; cached servers are not started',
    },
    {
      line: 'toolwell search --batch queries.jsonl --catalog tools.jsonl --no-cutoff > ranked.jsonl',
      about: 'answer each {"query": …} with one line of JSON',
    },
    {
      line: 'toolwell search --feedback asked.jsonl --usage usage.jsonl --catalog tools.jsonl',
      about: 'teach all hosts that use this usage file',
    },
  ],
  exits: {
    0: 'Tools were found (with --why: the tool; with --batch: for at least one query), or uses were learned.',
    1: 'Nothing was found or learned. Standard error has the reason.',
    2: 'Wrong flags or broken input. With --batch, the readable lines are still answered.',
  },
  async run(flags, terminal) {
    const { catalog, config, profile } = flags
    const query = flags._.join(' ')
    const { batch, why, feedback, usage } = flags
    const teaches = feedback !== undefined && usage !== undefined
    const asks = batch !== undefined || query.trim() !== ''
    if (catalog !== undefined && config !== undefined)
      throw usageProblem('--catalog and --config cannot be combined.', 'Remove one of them.')
    if (catalog !== undefined && profile !== undefined)
      throw usageProblem('--catalog and --profile cannot be combined.', 'A profile belongs to a config.')
    if (batch !== undefined && (flags._.length > 0 || why !== undefined))
      throw usageProblem(
        `--batch and ${why === undefined ? 'a query' : '--why'} cannot be combined.`,
        'Remove one of them.',
      )
    if (!asks && (!teaches || why !== undefined))
      throw usageProblem(
        'The query is missing.',
        'Say what the tool should do: toolwell search "create an issue" …',
      )
    if (batch === '-' && catalog === '-')
      throw usageProblem('--batch and --catalog cannot both read standard input.', 'Give one of them a file.')
    const limits: Limits = { limit: readLimit(flags.limit), cutOff: flags.cutoff ? defaultCutOff : 0 }
    const isPlainBatch = batch !== undefined && limits.cutOff === 0
    const keep = flags.explain || why !== undefined ? 'documents' : isPlainBatch ? 'names' : 'descriptions'
    const learnable = usage !== undefined
    const skipBroken = flags['skip-broken'] === true
    const timeout = readTimeout(flags.timeout)
    const loaded =
      catalog === undefined
        ? await (await import('./servers.js')).loadServers(
            { config, profile, timeout, keep, learnable },
            terminal,
          )
        : await loadCatalogue({ path: catalog, skipBroken, keep, learnable }, terminal)
    const { learned, added } = await learnUses({ feedback, usage }, loaded, terminal)
    if (teaches) {
      const { uses, tools } = added
      const line = `Learned: ${plural(uses, 'use')} of ${plural(tools, 'tool')}, added to ${usage}.\n`
      if (asks) await terminal.errors.write(`toolwell: ${line}`)
      else {
        await terminal.output.write(flags.json ? `${JSON.stringify(added)}\n` : line)
        return uses > 0 ? 0 : 1
      }
    }
    const own = { ...loaded, learned: [...loaded.learned, ...learned] }
    // The tools of a config are searched through the gateway, those of a file by a program.
    const names = catalog === undefined ? { loader: SEARCH_NAME, bridge: CALL_NAME } : undefined
    const catalogue = keep === 'names' ? own : { ...own, askAgent: createAgent(own, names) }
    const explained = flags.explain ? createExplainer(catalogue) : () => () => undefined
    if (batch !== undefined) return answerBatch(batch, catalogue, limits, explained, terminal)
    if (why !== undefined) return answerWhy(why, query, catalogue, limits, flags.json === true, terminal)
    const form = flags.json ? 'json' : flags.answer ? 'exact' : 'list'
    return answerOne(query, catalogue, limits, explained(query), form, terminal)
  },
})

function readLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || !Number.isSafeInteger(limit))
    throw usageProblem(
      `--limit ${JSON.stringify(text)} is not a valid number of matches.`,
      'Give a whole number of at least 1.',
    )
  return limit
}
