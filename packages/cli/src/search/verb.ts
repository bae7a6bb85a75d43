/** `toolwell search`: which tools a query finds in a catalogue, in which order, and why. */
import { defaultCutOff } from '@toolwell/core/internal'
import { plural } from '../shared/layout.js'
import { usageProblem } from '../shared/problem.js'
import { readTimeout, serverFlags } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'
import { answerBatch, answerOne, answerWhy, createExplainer } from './answer.js'
import type { Limits } from './ask.js'
import { loadCatalogue } from './catalogue.js'
import { learnUses } from './learned.js'

const LIMIT = 10

export const search = defineVerb({
  name: 'search',
  summary: 'Find tools by what they do, and see why each ranks where it does.',
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
        'The tools of files instead: JSONL, a tools/list result, a folder of such files, or - for standard input.',
    },
    config: serverFlags.config,
    profile: serverFlags.profile,
    limit: { type: 'string', valueHint: 'N', description: `At most this many matches. Default ${LIMIT}.` },
    cutoff: {
      type: 'boolean',
      default: true,
      description: `Also matches that are hardly relevant (below ${defaultCutOff}).`,
    },
    explain: {
      type: 'boolean',
      description: 'Show what each word of the query adds to each match, by field.',
    },
    why: {
      type: 'string',
      valueHint: 'NAME',
      description: 'Say where this one tool ranks, or why it is not shown.',
    },
    batch: {
      type: 'string',
      valueHint: 'FILE',
      description: 'Answer the queries of a JSONL file, or - for standard input: a line of JSON for each.',
    },
    feedback: {
      type: 'string',
      valueHint: 'FILE',
      description:
        'Learn first from a JSONL file of {"query": …, "tools": […]}; for this run alone, unless --usage names a file.',
    },
    usage: {
      type: 'string',
      valueHint: 'FILE',
      description:
        'Rank with the uses in this file, as a host with fileUsage does. What --feedback teaches is added to it.',
    },
    json: { type: 'boolean', description: 'The answer as JSON.' },
    timeout: serverFlags.timeout,
    'skip-broken': { type: 'boolean', description: 'Leave out what cannot be read of the catalogue.' },
  },
  notes: [
    'A query is free text. select:a,b asks for tools by name; +word has to be in the name, server or domain;\nserver:, domain: and group: filter.',
  ],
  examples: [
    { line: 'toolwell search "create an issue" --catalog tools.jsonl', about: 'the best tools, best first' },
    {
      line: 'toolwell search "create an issue" --catalog servers/ --explain',
      about: 'a folder of tools/list results, with reasons',
    },
    {
      line: 'toolwell search "create an issue" --catalog tools.jsonl --why update_issue',
      about: 'why this tool is not among them',
    },
    {
      line: 'toolwell search "create an issue"',
      about: 'the tools of your servers, from the cache where they are known',
    },
    {
      line: 'toolwell search --batch queries.jsonl --catalog tools.jsonl --no-cutoff > ranked.jsonl',
      about: 'one JSON line for each {"query": …}',
    },
    {
      line: 'toolwell search --feedback asked.jsonl --usage usage.jsonl --catalog tools.jsonl',
      about: 'what hosts with that usage file know from the start',
    },
  ],
  exits: {
    0: 'Something was found; with --why, the tool; with --batch, for at least one query. Without a query: something was learned.',
    1: 'Nothing was found, or learned. Standard error says why.',
    2: 'Wrong flags or broken input. With --batch, lines that could be read are answered all the same.',
  },
  async run(flags, terminal) {
    const { catalog, config, profile } = flags
    const query = flags._.join(' ')
    const { batch, why, feedback, usage } = flags
    const teaches = feedback !== undefined && usage !== undefined
    const asks = batch !== undefined || query.trim() !== ''
    if (catalog !== undefined && config !== undefined)
      throw usageProblem('--catalog and --config do not go together.', 'Leave one of them out.')
    if (catalog !== undefined && profile !== undefined)
      throw usageProblem('--catalog and --profile do not go together.', 'A profile belongs to a config.')
    if (batch !== undefined && (flags._.length > 0 || why !== undefined))
      throw usageProblem(
        `--batch goes without ${why === undefined ? 'a query' : '--why'}.`,
        'Leave one of them out.',
      )
    if (!asks && (!teaches || why !== undefined))
      throw usageProblem(
        'No query is given.',
        'Say what the tool should do: toolwell search "create an issue" …',
      )
    if (batch === '-' && catalog === '-')
      throw usageProblem('--batch and --catalog cannot both read standard input.', 'Give one of them a file.')
    const limits: Limits = { limit: readLimit(flags.limit), cutOff: flags.cutoff ? defaultCutOff : 0 }
    const keep =
      flags.explain || why !== undefined ? 'documents' : batch === undefined ? 'descriptions' : 'names'
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
      const told = `Learned: ${plural(uses, 'use')} of ${plural(tools, 'tool')}, added to ${usage}.\n`
      if (asks) await terminal.errors.write(`toolwell: ${told}`)
      else {
        await terminal.output.write(flags.json ? `${JSON.stringify(added)}\n` : told)
        return uses > 0 ? 0 : 1
      }
    }
    const catalogue = { ...loaded, learned: [...loaded.learned, ...learned] }
    const explained = flags.explain ? createExplainer(catalogue) : () => () => undefined
    if (batch !== undefined) return answerBatch(batch, catalogue, limits, explained, terminal)
    if (why !== undefined) return answerWhy(why, query, catalogue, limits, flags.json === true, terminal)
    return answerOne(query, catalogue, limits, explained(query), flags.json === true, terminal)
  },
})

function readLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || !Number.isSafeInteger(limit))
    throw usageProblem(
      `--limit ${JSON.stringify(text)} is not a number of matches.`,
      'Give a whole number from 1.',
    )
  return limit
}
