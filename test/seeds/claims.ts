/**
 * The claims of five systems, in our words and in their order, with the tests that check them. `npm run claims` runs these tests and writes
 * docs/compatibility/seeds.md. The beginning of its title identifies a test in the files of its seed.
 */

export interface SeedClaims {
  readonly name: string
  /** The files whose tests count, without `.test.ts`. */
  readonly files: readonly string[]
  readonly claims: readonly Claim[]
}

/** A claim with its tests, or with the reason why it does not hold here. */
export type Claim =
  | readonly [claim: string, ...tests: string[]]
  | { readonly claim: string; readonly not: string }

const FOUND = 'a tool is hidden, found, loaded'
const RESUMED = 'a session that is opened again'
const FORKED = 'a fork knows what was loaded'
const COMPACTED = 'a compaction between load and use'
const REPEATED = 'a request is repeated with the same bytes'
const INHERITED = 'a sub-agent starts with what its parent loaded'
const FORBIDDEN = 'a tool that is forbidden after it was loaded'
const KILLED = 'after a kill between the load and the next step'
const PROCESS = 'another process resumes the session'
const SERVERS = 'a dead server is restarted'
const MOVED = 'at another provider the tool is still loaded'

export const CLAIMS: readonly SeedClaims[] = [
  {
    name: 'The SF draft',
    files: ['test/seeds/sf', 'test/seeds/sf-mcp', 'test/e2e/seeds/sf'],
    claims: [
      ['a small discovery tool is always there, detailed schemas wait until asked for', FOUND],
      [
        'mcp_servers lists the configured servers',
        'list and discover what is known',
        'are declared as they are',
      ],
      [
        'mcp_discover connects lazily and makes tools known',
        'list and discover what is known',
        'SF-5: discover connects',
      ],
      [
        'mcp_call remains a way to call them',
        'mcp_discover shows a tool of a server',
        'show permissions the tool that will run',
      ],
      ['the tool is named sf_tool_search', 'declares sf_tool_search with the input'],
      ['it takes query, domain, includeLoaded and limit', 'declares sf_tool_search with the input'],
      [
        'domains are planning, execution, memory, subagent, evidence, mcp and all',
        'declares sf_tool_search with the input',
        'keeps to a domain',
      ],
      [
        'it returns query, loadedBefore, matches, loadedAfter, nextInstruction',
        'answers with the fields of the draft',
      ],
      [
        'a match has name, canonicalName, status, title, description, domain, aliases, risk, schemaPreview and loadToken',
        'answers with the fields of the draft',
        'shows the risk of a dangerous tool',
      ],
      [
        'a status is loaded, available_lazy or deprecated_alias',
        'shows what fits and has no room',
        'tells an old name as a deprecated alias',
      ],
      ['it is always loaded', 'has sf_tool_search in every request'],
      [
        'it searches names, aliases, descriptions, domains and prompt snippets',
        'finds a lazy tool by its',
        'the manifest decides',
      ],
      ['what matches is loaded for the session', 'SF-7: loads every match'],
      [
        'the next turn has the full schemas of what was loaded',
        'has the whole schema in the next request',
        FOUND,
      ],
      ['it executes nothing that it finds', 'executes nothing that it finds'],
      [
        'it shows the risk of dangerous tools and does not get around permissions',
        'shows the risk of a dangerous tool',
        FORBIDDEN,
      ],
      ['a flat list of strings in the manifest still works', 'accepts the current flat list'],
      ['strings and objects stand side by side', 'SF-6: takes strings and objects', 'the manifest decides'],
      [
        'an object has lazy, domain, aliases, canonicalName and promptSnippet',
        'SF-6: takes strings and objects',
        'tells an old name',
      ],
      ['eager tools are passed to the provider as they are', 'passes eager tools to the provider'],
      ['lazy tools are not in the tools array', 'passes eager tools to the provider', FOUND],
      ['lazy tools are not in the list of available tools', 'SF-4: gives a host its list'],
      [
        'sf_tool_search has a compact index of names, domains and descriptions, without schemas',
        'gives sf_tool_search an index',
      ],
      {
        claim: 'a loaded tool leaves that index',
        not: 'the index is frozen until the next compaction, which keeps the cache; `cards: "live"` does it',
      },
      ['guidelines of a tool come with its schema, not before', 'brings the guidelines of a tool'],
      [
        'the suggested baseline is eager, the suggested groups are lazy',
        'are what a host without a manifest gets',
        'SF-1: give way to the manifest',
      ],
      [
        'loaded state belongs to the session and not to the project',
        'the state of the session is stored with',
        'lives in memory by default',
      ],
      ['the state has loadedLazyTools, loadedAtTurn and searchHistory', 'has the shape of the draft'],
      ['a resumed session may keep it', 'survives a resume where the store does', RESUMED, PROCESS],
      [
        'it can be kept with the host’s own session state',
        'can be stored with a session',
        'comes back from such a copy',
      ],
      ['a session starts with the eager set and the loader', 'starts eager, finds'],
      [
        'the loader changes the active tools of the next call, from inside a call',
        'SF-6: a load from inside a call',
      ],
      [
        'loaded tools stay until the session ends, they are unloaded, or a compaction policy resets them',
        'keeps what is loaded until',
        'keeps what is loaded over a compaction',
        COMPACTED,
      ],
      ['a host can set active tools by name', 'lets a host set the active tools'],
      ['tools of extensions can come and go', 'takes tools of an extension', SERVERS],
      ['the visible list is built of the selected tools', 'SF-4: gives a host its list'],
      ['telemetry keeps the old, the canonical and the alias name', 'keeps the old name, the alias'],
      ['a new session hides the lazy tools again', 'SF-2: ends with its session'],
    ],
  },
  {
    name: 'super-agent',
    files: ['test/seeds/super-agent', 'test/e2e/seeds/super-agent'],
    claims: [
      [
        'schemas of MCP tools are loaded on demand, and really stay off the wire before',
        'JT-1: keeps the schemas',
        'what is counted as deferred',
      ],
      ['every tool stays accessible by tool_search', 'names every tool of a large server', FOUND],
      ['a definition has shouldDefer and searchHint', 'takes shouldDefer and searchHint'],
      ['all MCP tools are deferred', 'defers every tool of a server'],
      ['their hints are made of server and description', 'defers every tool of a server'],
      ['discovered tools are tracked', 'tracks what was discovered'],
      ['searchTools looks exact names up', 'looks up exact names', 'several exact names in one call'],
      ['a discovered tool joins the active set', 'tracks what was discovered', FOUND],
      [
        'getDeferredToolSummary is in the system prompt',
        'puts the names that can be had',
        'the prompt names every deferred tool',
      ],
      {
        claim: 'a discovered tool leaves the summary',
        not: 'the summary is frozen until the next compaction, which keeps the cache; `cards: "live"` does it',
      },
      [
        'countTokenEstimate splits tokens into active and deferred',
        'splits the tokens of all definitions',
        'what is counted as deferred',
      ],
      ['tool_search is a built-in tool', 'is a built-in tool with one parameter'],
      ['the dashboard has a column shouldDefer and tokens', 'has a table of all tools'],
      [
        'the next turn has the tool in the format of the AI SDK',
        'has a discovered tool in the AI SDK format',
      ],
      ['the agent then calls the real tool', 'goes from the prompt to the search', FOUND],
      ['MCP tools need no configuration each', 'defers every tool of a server'],
      ['tools that are not deferred behave as before', 'leaves tools that are not deferred'],
      ['names are mcp__server__tool', 'keeps the names that super-agent gives'],
      ['what was discovered survives a restart', 'JT-6: has what was discovered', RESUMED, KILLED],
      ['a failed request is repeated with what was discovered', REPEATED],
    ],
  },
  {
    name: 'Qwen Code',
    files: ['test/seeds/qwen-code', 'test/e2e/seeds/qwen-code'],
    claims: [
      [
        'marked built-in tools are not in the first list of declarations',
        'declares what is not marked',
        'rare built-in tools are deferred',
      ],
      [
        'the model finds them on demand by ToolSearch',
        'lets the model find a marked tool',
        'rare built-in tools are deferred',
      ],
      ['the first prompt is smaller', 'makes the first request smaller'],
      [
        'the todo tool stays eager, because the prompt orders it',
        'refuses to defer the todo tool',
        'calls the todo tool without a search',
      ],
      [
        'the skill tool stays eager, because its description is made while the program runs',
        'refuses to defer a tool whose description',
        'sends the list of skills',
      ],
      ['the summary of a deferred tool would have cut its rules', 'would have lost both'],
      ['Monitor, SendMessage, TaskStop and WebFetch stay deferred', 'keeps the four that nothing orders'],
      [
        'shouldDefer, alwaysLoad and searchHint mark a tool',
        'alwaysLoad beats shouldDefer',
        'searchHint is for the index',
      ],
      ['commas in select: do not break names', 'splits a list of names', 'takes a comma inside quotes'],
      ['names come back as they were quoted', 'gives back the name'],
      ['descriptions of servers cannot leave their frame', 'cannot close the block'],
      ['descriptions are cut in the list', 'is shown up to 160 characters'],
      ['changes of state can be observed', 'tells of the search, of what it revealed'],
      ['sub-agents get full schemas', 'have every schema and no loader', 'a sub-agent with a list of tools'],
      [
        'sub-agents with a list get exactly those',
        'with a list of tools have exactly those',
        'a sub-agent with a list of tools',
      ],
      [
        'a resumed history reveals what it called',
        'reveals the deferred tools that it called',
        'has what was revealed',
        RESUMED,
      ],
      ['tools of servers that join later are revealed then', 'reveals a tool of a server that joins later'],
      [
        'with tool_search excluded everything is declared',
        'declares every deferred tool',
        'with tool_search excluded',
      ],
      ['search hints match keywords', 'finds a tool by any word', 'rare built-in tools are deferred'],
      ['MCP tools, questions and plan exits are as before', 'defers tools of servers without a mark'],
      ['tool_search takes query and max_results', 'takes query and max_results'],
      ['it answers with the declarations that are sent next', 'answers with the declarations'],
      ['+word is required', 'holds every hit to a +word'],
      ['keywords look among what is hidden', 'QW-3: looks by keywords'],
      ['servers that come and go are announced', 'tells of servers that come and go', SERVERS],
    ],
  },
  {
    name: 'Caliban',
    files: ['test/seeds/caliban', 'test/e2e/seeds/caliban'],
    claims: [
      ['dormant schemas of MCP servers are not sent', 'sends no schema of three servers', FOUND],
      ['one ToolSearch call finds, shows schemas and activates', 'finds, shows the full schema'],
      ['activation needs no separate call', 'finds, shows the full schema'],
      [
        'activation state is separate from the registry, which does not change',
        'changes no tool and no other session',
      ],
      [
        'MCP tools are filtered, built-ins never',
        'sends built-in tools always',
        'built-in tools are never deferred',
      ],
      ['activations last for the session', 'keeps what is active'],
      ['max_active_schemas is 24 unless set', 'evicts at the twenty-fifth', 'shows the number, the cap'],
      [
        'beyond the cap the least recently used goes',
        'CB-1: keeps the tool in constant use',
        'beyond the cap the least recently used',
      ],
      ['the answer says what went', 'evicts at the twenty-fifth', 'beyond the cap the least recently used'],
      ['sub-agents inherit by default', 'start with what the parent has active', INHERITED],
      ['inherit_active_mcp false starts fresh', 'CB-7: start fresh', INHERITED],
      ['the allowlist still filters', 'keep to their allowlist', INHERITED],
      ['the child has its own snapshot', 'CB-5: search for themselves'],
      ['it is off unless lazy_mcp is true', 'CB-8: changes no byte'],
      ['off, the wire is byte for byte as before', 'CB-8: changes no byte', 'gives back the very array'],
      ['lazy = false pins a server', 'CB-12: keeps a server'],
      [
        'a paragraph in the prompt explains ToolSearch and counts what is deferred',
        'explains ToolSearch in the system prompt',
        'built-in tools are never deferred',
      ],
      ['the paragraph is there only if something is gated', 'is silent if nothing is gated'],
      ['the description of ToolSearch names the affordance', 'explains ToolSearch in the system prompt'],
      [
        '/context shows MCP active: N/cap (names)',
        'shows the number, the cap',
        'built-in tools are never deferred',
      ],
      ['/usage shows no dishonest counterfactual', 'has an honest counterfactual'],
      [
        'a call without a search runs and activates the tool',
        'runs and activates a tool',
        'a call without a search runs',
      ],
      [
        'each activation voids the cached tool list, and a better way is possible',
        'rewrites the tools on each activation',
      ],
      ['many searches do not make it worse', 'changes no byte before the messages'],
      ['built-ins can be made lazy later', 'defers built-in tools, too'],
      ['a model that ignores the paragraph is noticed', 'reports a model that ignores'],
      [
        'activations over a restart are asked for',
        'has what was active after a restart',
        RESUMED,
        KILLED,
        PROCESS,
      ],
      {
        claim: 'a tool WaitForMcpServers waits for servers',
        not: 'this tool does not exist here: a search waits a moment for connecting servers and names them',
      },
    ],
  },
  {
    name: 'PawWork',
    files: ['test/seeds/pawwork', 'test/e2e/seeds/pawwork'],
    claims: [
      ['full description and schema are withheld by default', 'withholds the full description', FOUND],
      ['a deferred tool is one line in tool_info', 'withholds the full description'],
      [
        'tool_info gives the full description and the schema of the real call',
        'answers tool_info with the whole',
        'shows the definition as plugins',
      ],
      ['it marks the tool as activated', 'answers tool_info with the whole'],
      ['deferred tools pass the same gate as any tool', 'asks about a deferred tool', FORBIDDEN],
      [
        'the list is that of each turn',
        'both cards are shown by default',
        'a card goes when its tool is loaded',
      ],
      [
        'a call of a tool that is not active is answered with a hint',
        'tells a model that calls a hidden tool',
        'a call of a hidden tool runs nothing',
      ],
      [
        'activation is derived from durable history',
        'counts a completed tool_info call',
        'reads the whole history',
      ],
      ['it holds over retry', 'keeps it callable', REPEATED],
      ['it holds over fork', 'keeps it callable', FORKED],
      ['it holds over compaction', 'keeps it callable', COMPACTED],
      ['the tool can be called on the next step', 'a tool that is loaded in the middle'],
      ['two tiny schemas save nothing, and that is said', 'says that two tiny schemas'],
      ['nothing of one provider alone is used', 'uses nothing that only one provider has', MOVED],
      ['tool_info refuses what is hidden this turn', 'refuses to load a tool that is hidden'],
      ['implementations are unchanged', 'leave the tools themselves alone'],
      ['tool_info is read-only for retry and incident safety', 'have tool_info classified'],
      [
        'an unavailable tool is refused, an available one is loaded',
        'an unknown name is refused',
        'refuses to load a tool that is hidden',
      ],
      [
        'cards are shown by default, and go after activation',
        'both cards are shown by default',
        'a card goes when its tool is loaded',
      ],
      [
        'disabled tools are hidden again, and the list says that there are none',
        'what is disabled goes from the list',
        'a card goes when its tool is loaded',
      ],
      ['a mis-cased name is resolved', 'loads the tool for the spelling'],
      ['a mis-cased name in the history counts', 'counts a completed tool_info call'],
      ['hints name the canonical id', 'a hint names the real one', 'a call of a hidden tool runs nothing'],
      ['a reminder in the next step says that the tool can be called', 'is at the end of the last result'],
      [
        'it has the text against falling back',
        'is at the end of the last result',
        'the reminder against falling back',
      ],
      ['tool_info results are protected from pruning', 'protects the results of tool_info'],
      [
        'plugins change what tool_info shows as they change the tool',
        'shows the definition as plugins',
        'tool_info shows the definition',
      ],
      [
        'tool_info output is never truncated',
        'protects the results of tool_info',
        'shows the definition as plugins',
      ],
      ['one entry is enough to defer a tool', 'has one place for each deferred tool'],
      ['no hint towards what cannot be loaded', 'gives no hint towards a tool'],
      ['only completed calls activate', 'does not count an answer that is'],
      ['activation is read from the whole history, not from the compacted view', 'reads the whole history'],
      ['it costs no full reading of the history', 'is in the ledger from then on'],
      ['failures stay the plain errors', 'the model reads the message that was thrown'],
      [
        'the reminder survives a compaction in between',
        'is written although the turn',
        'the reminder against falling back',
      ],
      ['the reminder is written once', 'is not written again for a tool', 'is at the end of the last result'],
      {
        claim: 'the reminder leaves with the step after',
        not: 'a sent reminder stays at its place, which keeps the cache',
      },
      ['reverted and forked histories have their own activations', 'is not active in a fork', FORKED],
    ],
  },
]
