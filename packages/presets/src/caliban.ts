/** The preset of Caliban: off by default, MCP only, `ToolSearch`, a cap of schemas, servers that are always loaded. */
import { type Conversation, searchTools, type Toolwell, type ToolwellOptions } from '@toolwell/core'

/** Caliban's own keys: `tools` of its settings, `server` of its mcp.toml. */
export interface CalibanConfig {
  readonly tools?: { readonly lazy_mcp?: boolean; readonly max_active_schemas?: number }
  readonly server?: Readonly<Record<string, { readonly lazy?: boolean }>>
}

const MAX_ACTIVE = 24
const RESULTS = { usual: 10, most: 25 }

/** A group that follows the spread replaces the preset's whole group: `limits: { ...caliban(config).limits, maxLoaded: 8 }`. */
export function caliban({ tools = {}, server = {} }: CalibanConfig = {}): ToolwellOptions {
  const wireName = (source: string, name: string) => `mcp__${source}__${name}`
  if (tools.lazy_mcp !== true) return { mode: 'off', surface: { wireName } }
  const hot = Object.entries(server).filter(([, { lazy }]) => lazy === false)
  return {
    mode: 'on',
    delivery: 'append',
    surface: {
      wireName,
      // The prompt shows only the current number of hidden tools.
      cards: 'live',
      prompts: {
        loaderLimit: () => `Most matches to load (default ${RESULTS.usual}, at most ${RESULTS.most})`,
        searchMore: ({ more }) => `More tools fit: ${more}. Say more of what you need, or raise max_results.`,
        section: ({ loader, deferred }) =>
          deferred === 0
            ? ''
            : `# MCP tools\nThe tools of MCP servers are loaded on demand. Call ${loader} with what you need, or with select:name; the tools it finds can be called from your next message on. Not loaded now: ${deferred}.`,
      },
    },
    limits: {
      maxLoaded: tools.max_active_schemas ?? MAX_ACTIVE,
      cardBudget: 0,
      largeTool: Number.POSITIVE_INFINITY,
      resultBudget: Number.POSITIVE_INFINITY,
    },
    search: {
      // The schema of each match is in the answer and in the tools of the next request.
      schemas: 'twice',
      loadLimit: RESULTS.most,
      // Every found tool is loaded, up to `max_results`.
      autoLoad: 'all',
      tool: {
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
        // Tools that every request carries are not found.
        read: (input) => ({ ...searchTools.maxResults.read(input), includeLoaded: false }),
      },
    },
    rules: [{ source: '', defer: false }, ...hot.map(([name]) => ({ server: name, defer: false }))],
  }
}

/** The line of `/context`. */
export function mcpActive(conversation: Conversation, { tools = {} }: CalibanConfig = {}): string {
  const { mode, loadedLazyTools: names } = conversation.inspect()
  if (mode === 'off' || tools.lazy_mcp !== true) return 'MCP active: all (lazy_mcp is off)'
  const cap = tools.max_active_schemas ?? MAX_ACTIVE
  return `MCP active: ${names.length}/${cap}${names.length > 0 ? ` (${names.join(', ')})` : ''}`
}

/** The frontmatter of a sub-agent, as far as tools go. */
export interface CalibanAgent {
  /** Names the child's ledger. */
  readonly id: string
  readonly tools?: readonly string[]
  /** Default true: the child starts with its parent's loaded tools. */
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

/** Servers in the configuration that are not connected, for a warning at the start. */
export function unknownServers({ server = {} }: CalibanConfig, { catalogue }: Toolwell): string[] {
  return Object.keys(server).filter((name) => !catalogue.sources.has(name))
}
