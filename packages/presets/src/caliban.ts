/** Preset for Caliban: off by default, MCP tools only, `ToolSearch`, a cap on active schemas, servers that stay hot. */
import { type Conversation, searchFaces, type Toolwell, type ToolwellOptions } from '@toolwell/core'

/** Caliban's configuration keys: `tools` from its settings, `server` from its mcp.toml. */
export interface CalibanConfig {
  readonly tools?: { readonly lazy_mcp?: boolean; readonly max_active_schemas?: number }
  readonly server?: Readonly<Record<string, { readonly lazy?: boolean }>>
}

const MAX_ACTIVE = 24
const RESULTS = { usual: 10, most: 25 }

export function caliban({ tools = {}, server = {} }: CalibanConfig = {}): ToolwellOptions {
  const wireName = (source: string, name: string) => `mcp__${source}__${name}`
  if (tools.lazy_mcp !== true) return { mode: 'off', wireName }
  const hot = Object.entries(server).filter(([, { lazy }]) => lazy === false)
  return {
    mode: 'on',
    delivery: 'append',
    wireName,
    maxLoaded: tools.max_active_schemas ?? MAX_ACTIVE,
    // Shows only the current number of tools.
    cards: 'live',
    cardBudget: 0,
    // Every match is loaded, with its schema in the answer and in the tools of the next request.
    schemas: 'twice',
    loadLimit: RESULTS.most,
    largeTool: Number.POSITIVE_INFINITY,
    resultBudget: Number.POSITIVE_INFINITY,
    // Loads every match, up to `max_results`.
    autoLoad: 'all',
    rules: [{ source: '', defer: false }, ...hot.map(([name]) => ({ server: name, defer: false }))],
    face: {
      name: 'ToolSearch',
      limit: RESULTS,
      inputSchema: (prompts) => ({
        type: 'object',
        properties: {
          query: { type: 'string', description: prompts.loaderQuery() },
          max_results: {
            type: 'integer',
            minimum: 1,
            maximum: RESULTS.most,
            description: prompts.loaderLimit(),
          },
        },
        required: ['query'],
        additionalProperties: false,
      }),
      // Tools that are already sent are not listed as matches.
      read: (input) => ({ ...searchFaces.maxResults.read(input), includeLoaded: false }),
    },
    prompts: {
      loaderLimit: () => `Most matches to load (default ${RESULTS.usual}, at most ${RESULTS.most})`,
      searchMore: ({ more }) => `More tools fit: ${more}. Say more of what you need, or raise max_results.`,
      section: ({ loader, deferred }) =>
        deferred === 0
          ? ''
          : `# MCP tools\nThe tools of MCP servers are loaded on demand. Call ${loader} with what you need, or with select:name; the tools it finds can be called from your next message on. Not loaded now: ${deferred}.`,
    },
  }
}

/** The line that `/context` prints. */
export function mcpActive(conversation: Conversation, { tools = {} }: CalibanConfig = {}): string {
  const { mode, loadedLazyTools: names } = conversation.inspect()
  if (mode === 'off' || tools.lazy_mcp !== true) return 'MCP active: all (lazy_mcp is off)'
  const cap = tools.max_active_schemas ?? MAX_ACTIVE
  return `MCP active: ${names.length}/${cap}${names.length > 0 ? ` (${names.join(', ')})` : ''}`
}

/** The tool-related frontmatter of a sub-agent. */
export interface CalibanAgent {
  /** Ledger id of the child. */
  readonly id: string
  readonly tools?: readonly string[]
  /** Start with the tools the parent has active. Default: true. */
  readonly inherit_active_mcp?: boolean
}

export function calibanSubAgent(
  parent: Conversation,
  { id, tools, inherit_active_mcp: inherits = true }: CalibanAgent,
): Promise<Conversation> {
  return parent.child({
    id,
    inherit: inherits ? 'snapshot' : 'none',
    ...(tools === undefined ? {} : { allow: tools }),
  })
}

/** Configured servers that are not connected, for a warning at startup. */
export function unknownServers({ server = {} }: CalibanConfig, { catalogue }: Toolwell): string[] {
  return Object.keys(server).filter((name) => !catalogue.sources.has(name))
}
