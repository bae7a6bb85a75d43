/** The preset of super-agent: `shouldDefer` and `searchHint`, a `tool_search` by exact name, the deferred summary, the token split. */
import {
  type Conversation,
  estimate,
  type JsonSchema,
  type Tokenizer,
  type Tool,
  type ToolwellOptions,
} from '@toolwell/core'
import { closedSentences } from './sentences.js'

/** A tool as super-agent registers it. */
export interface SuperAgentTool extends Pick<Tool, 'name' | 'description' | 'execute'> {
  readonly parameters: JsonSchema
  readonly shouldDefer?: boolean
  readonly searchHint?: string
}

const SEARCH_TOOL = {
  name: 'tool_search',
  description:
    'Loads the full definition of deferred tools, by exact name. A loaded tool can be called from your next message on.',
  inputSchema: {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        description: 'The exact name of a deferred tool, or several with commas between them',
      },
    },
    required: ['query'],
    additionalProperties: false,
  },
}

export function superAgent(): ToolwellOptions {
  return {
    mode: 'on',
    delivery: 'append',
    search: {
      schemas: 'twice',
      tool: {
        name: SEARCH_TOOL.name,
        description: () => SEARCH_TOOL.description,
        inputSchema: () => SEARCH_TOOL.inputSchema,
        read({ query }) {
          const names = typeof query === 'string' ? query.trim() : ''
          return { query: names === '' || /^(?:select|unload):/i.test(names) ? names : `select:${names}` }
        },
        render: ({ matches, nextInstruction }, { remarks }) => [
          ...matches.map(({ canonicalName: name, description, schemaPreview: parameters }) => ({
            name,
            description,
            ...(parameters === undefined ? {} : { parameters }),
          })),
          ...[nextInstruction, ...remarks].filter((note) => note !== '').map((note) => ({ note })),
        ],
      },
    },
    surface: {
      wireName: (source, name) => `mcp__${source}__${name}`,
      cardPlace: 'section',
      prompts: {
        ...closedSentences,
        section: ({ loader, deferred, cards }) =>
          deferred === 0
            ? ''
            : `# Deferred tools\nThese tools can be used, and only their names are loaded. Call ${loader} with a tool's exact name to get its definition; call the tool in your next message.\n\n${cards}`,
        searchEmpty: () => 'The query is empty. Give the exact name of a deferred tool.',
      },
    },
    limits: {
      // Searches need exact names, so the list has room for some thousand of them.
      cardBudget: 10_000,
    },
  }
}

/** super-agent's registrations as Toolwell's tools. A deferred tool shows its hint, or else its description. */
export function superAgentTools(definitions: readonly SuperAgentTool[]): Tool[] {
  return definitions.map(({ parameters, shouldDefer = false, searchHint, ...tool }) => ({
    ...tool,
    inputSchema: parameters,
    defer: shouldDefer,
    ...(searchHint === undefined ? {} : { searchHint, card: searchHint }),
  }))
}

/** The tools of an MCP server, for `catalogue.setSource(server, …)`: all deferred, each with a hint made of server and description. */
export function superAgentMcpTools(server: string, definitions: readonly SuperAgentTool[]): Tool[] {
  const prefix = `mcp__${server}__`
  return superAgentTools(
    definitions.map(({ name, ...tool }) => ({
      ...tool,
      // `wireName` adds the prefix.
      name: name.startsWith(prefix) ? name.slice(prefix.length) : name,
      shouldDefer: true,
      searchHint: `${server}: ${tool.description}`,
    })),
  )
}

/** The section of the system prompt about deferred tools. Adapters add it to requests; it is empty before the first one. */
export function getDeferredToolSummary(conversation: Conversation): string {
  return conversation.inspect().section
}

export interface ToolRow {
  readonly name: string
  readonly shouldDefer: boolean
  /** Sent with the next request. */
  readonly active: boolean
  readonly tokens: number
}

/** One row for each tool that this conversation may use, and one for `tool_search` if tools are deferred. */
export function toolDashboard(conversation: Conversation, tokenizer: Tokenizer = estimate): ToolRow[] {
  const { visibleNames, deferredNames, loadedLazyTools } = conversation.inspect()
  const active = new Set(visibleNames.map(({ name }) => name))
  const deferred = new Set([...deferredNames, ...loadedLazyTools])
  const own = [...conversation.catalogue.entries()]
    .filter(({ wireName }) => active.has(wireName) || deferred.has(wireName))
    .map(({ wireName: name, tool: { description, inputSchema } }) => ({ name, description, inputSchema }))
  // The first request will declare it.
  if (deferred.size > 0) active.add(SEARCH_TOOL.name)
  return [...own, ...(active.has(SEARCH_TOOL.name) ? [SEARCH_TOOL] : [])].map((definition) => ({
    name: definition.name,
    shouldDefer: deferred.has(definition.name),
    active: active.has(definition.name),
    tokens: tokenizer.count(JSON.stringify(definition)),
  }))
}

/** Tokens of the definitions that are sent, and of those that are not. */
export function countTokenEstimate(
  conversation: Conversation,
  tokenizer: Tokenizer = estimate,
): { readonly active: number; readonly deferred: number; readonly total: number } {
  const rows = toolDashboard(conversation, tokenizer)
  const sum = (some: readonly ToolRow[]) => some.reduce((total, { tokens }) => total + tokens, 0)
  const active = sum(rows.filter((row) => row.active))
  const total = sum(rows)
  return { active, deferred: total - active, total }
}
