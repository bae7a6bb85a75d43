/** `toolwell inspect`: lists servers and tools with their tokens and findings. */
import { usageProblem } from '../shared/problem.js'
import { readTimeout, readTokenLimit, serverFlags } from '../shared/servers/flags.js'
import { painter } from '../shared/terminal.js'
import { defineVerb } from '../shared/verb.js'
import { inspectJson, inspectText, judge } from './report.js'

export const inspect = defineVerb({
  name: 'inspect',
  summary: 'Show servers and their tools: state, tokens, largest tools, findings.',
  usage: ['[--config FILE | --catalog PATH] [flags]'],
  flags: {
    config: serverFlags.config,
    profile: serverFlags.profile,
    catalog: {
      type: 'string',
      valueHint: 'PATH',
      description:
        'Read tools from files instead: JSONL, a tools/list result, a folder, or - for standard input.',
    },
    refresh: {
      type: 'boolean',
      description: 'List every server again. Default: only servers that are not cached.',
    },
    'max-tokens': {
      type: 'string',
      valueHint: 'N',
      description:
        'Exit with 1 if Toolwell would send more tokens than this, or if the number is unknown. For CI.',
    },
    json: { type: 'boolean', description: 'Print the result as JSON.' },
    timeout: serverFlags.timeout,
    'skip-broken': { type: 'boolean', description: 'Skip broken entries of the catalogue.' },
  },
  notes: [
    'Cached servers are not started. The tokens that Toolwell would send are those of the tools array and the prompt section\nof the first Chat Completions request, with mode "auto".',
  ],
  examples: [
    { line: 'toolwell inspect', about: 'your servers, and those of this folder' },
    {
      line: 'toolwell inspect --config .cursor/mcp.json --refresh',
      about: 'the servers of Cursor, listed again',
    },
    { line: 'toolwell inspect --catalog tools.jsonl --json', about: 'tools from a file, for a program' },
    { line: 'toolwell inspect --max-tokens 4000', about: 'fail if a request would carry more tokens' },
  ],
  exits: {
    0: 'The servers were inspected.',
    1: 'More tokens than --max-tokens, or a server is missing from the number.',
    2: 'Wrong flags, no config, or no usable server. Failed servers are shown too.',
  },
  async run(flags, terminal) {
    const { config, profile, catalog } = flags
    if (config !== undefined && catalog !== undefined)
      throw usageProblem('--config and --catalog cannot be combined.', 'Remove one of them.')
    if (profile !== undefined && catalog !== undefined)
      throw usageProblem('--profile and --catalog cannot be combined.', 'A profile belongs to a config.')
    const maxTokens = readTokenLimit('--max-tokens', flags['max-tokens'])
    const timeout = readTimeout(flags.timeout)
    const { output, errors, env } = terminal
    // Loaded here because the MCP client loads slowly, and other verbs do not need it.
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
