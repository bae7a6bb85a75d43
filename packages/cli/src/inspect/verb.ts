/** `toolwell inspect`: which servers and tools there are, what they cost, and what is odd about them. */
import { usageProblem } from '../shared/problem.js'
import { readTimeout, readTokenLimit, serverFlags } from '../shared/servers/flags.js'
import { painter } from '../shared/terminal.js'
import { defineVerb } from '../shared/verb.js'
import { inspectJson, inspectText, judge } from './report.js'

export const inspect = defineVerb({
  name: 'inspect',
  summary: 'Show servers and their tools: state, tokens, the largest tools, and findings of the scan.',
  usage: ['[--config FILE | --catalog PATH] [flags]'],
  flags: {
    config: serverFlags.config,
    profile: serverFlags.profile,
    catalog: {
      type: 'string',
      valueHint: 'PATH',
      description: 'Tools from files instead: JSONL, a tools/list result, a folder, or - for standard input.',
    },
    refresh: {
      type: 'boolean',
      description: 'List every server now. Default: only those that are not cached.',
    },
    'max-tokens': {
      type: 'string',
      valueHint: 'N',
      description:
        'Exit with 1 when Toolwell would send more tokens than this, or when the number is not known. For CI.',
    },
    json: { type: 'boolean', description: 'The answer as JSON.' },
    timeout: serverFlags.timeout,
    'skip-broken': { type: 'boolean', description: 'Leave out what cannot be read of the catalogue.' },
  },
  notes: [
    'Servers that are cached are not started. What Toolwell would send is the tools array and the prompt section of the\nfirst request on the Chat Completions wire, as the library decides by itself.',
  ],
  examples: [
    { line: 'toolwell inspect', about: 'the servers of toolwell.json here, and of your own' },
    {
      line: 'toolwell inspect --config .cursor/mcp.json --refresh',
      about: 'those of another client, listed now',
    },
    { line: 'toolwell inspect --catalog tools.jsonl --json', about: 'tools from a file, for a program' },
    { line: 'toolwell inspect --max-tokens 4000', about: 'fails when a request would carry more than that' },
  ],
  exits: {
    0: 'Inspected.',
    1: 'More tokens than --max-tokens, or a server is missing from the figure.',
    2: 'Wrong flags, no config, or no server that can be used. Servers that fail are shown all the same.',
  },
  async run(flags, terminal) {
    const { config, profile, catalog } = flags
    if (config !== undefined && catalog !== undefined)
      throw usageProblem('--config and --catalog do not go together.', 'Leave one of them out.')
    if (profile !== undefined && catalog !== undefined)
      throw usageProblem('--profile and --catalog do not go together.', 'A profile belongs to a config.')
    const maxTokens = readTokenLimit('--max-tokens', flags['max-tokens'])
    const timeout = readTimeout(flags.timeout)
    const { output, errors, env } = terminal
    // What speaks to servers is loaded by the verbs that do: it takes longer than a search.
    const { inspectCatalogue, inspectServers } = await import('./collect.js')
    const { withServers } = await import('../shared/servers/with-servers.js')
    const inspected =
      catalog === undefined
        ? await withServers(
            { config, profile, timeout, refresh: flags.refresh === true, showsRefused: true },
            terminal,
            inspectServers,
          )
        : await inspectCatalogue(catalog, flags['skip-broken'] === true, terminal)
    const verdict = judge(inspected, maxTokens, terminal.name)
    await output.write(
      flags.json
        ? inspectJson(inspected, { ...verdict, maxTokens })
        : inspectText(inspected, painter(output, env)),
    )
    for (const line of verdict.lines) await errors.write(`toolwell: ${line}\n`)
    return verdict.exit
  },
})
