/** `toolwell inspect`: which servers and tools there are, what they cost, and what is odd about them. */
import { usageProblem } from '../problem.js'
import { serverFlags, timeoutOf, wholeNumber } from '../servers/flags.js'
import { count } from '../table.js'
import { painter } from '../terminal.js'
import { defineVerb } from '../verb.js'
import { inspectJson } from './json.js'
import { inspectText } from './text.js'

export const inspect = defineVerb({
  name: 'inspect',
  summary: 'See servers and their tools: states, tokens, the largest, and what was found in them.',
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
      description: 'End with 1 when Toolwell would send more tokens than this: a gate for CI.',
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
    1: 'More tokens than --max-tokens.',
    2: 'Wrong flags, no config, or no server that can be used. Single servers that fail are shown.',
  },
  async run(flags, terminal) {
    const { config, profile, catalog } = flags
    if (flags._.length > 0)
      throw usageProblem(`${JSON.stringify(flags._.join(' '))} belongs nowhere.`, 'inspect takes flags only.')
    if (config !== undefined && catalog !== undefined)
      throw usageProblem('--config and --catalog do not go together.', 'Leave one of them out.')
    if (profile !== undefined && catalog !== undefined)
      throw usageProblem('--profile and --catalog do not go together.', 'A profile belongs to a config.')
    const maxTokens = wholeNumber('--max-tokens', flags['max-tokens'])
    const timeout = timeoutOf(flags.timeout)
    const { output, errors, env } = terminal
    // What speaks to servers is loaded by the verbs that do: it takes longer than a search.
    const { inspectCatalogue, inspectServers } = await import('./collect.js')
    const { withServers } = await import('../servers/with-servers.js')
    const inspected =
      catalog === undefined
        ? await withServers(
            { config, profile, timeout, refresh: flags.refresh === true },
            terminal,
            inspectServers,
          )
        : await inspectCatalogue(catalog, flags['skip-broken'] === true, terminal)
    await output.write(
      flags.json ? inspectJson(inspected, maxTokens) : inspectText(inspected, painter(output, env)),
    )
    const { tokens, mode } = inspected.surface
    if (maxTokens === undefined || tokens <= maxTokens) return 0
    // What is held back is not sent: keeping it out would save nothing.
    const largest = inspected.tools.find(({ isHeldBack }) => !isHeldBack)
    await errors.write(
      `toolwell: A request would carry ${count(tokens)} tokens of tools and prompt section (surface.tokens), which is ${count(tokens - maxTokens)} above --max-tokens ${count(maxTokens)}. ${
        mode === 'off'
          ? `Every definition is sent. Keep tools out with "deny", beginning with ${largest ? `${largest.server}/${largest.name} (${count(largest.tokens.full)})` : 'the largest'}, or defer with mode: "on" (${count(inspected.deferred.tokens)} tokens).`
          : 'Keep tools out with "deny", or send fewer always ("alwaysLoad", "lazy").'
      }\n`,
    )
    return 1
  },
})
