/**
 * Qwen Code's surface on Toolwell: `tool_search { query, max_results }` with `select:`, keywords and `+must`, tools
 * marked `shouldDefer`, `alwaysLoad` and `searchHint`, declarations in a `<functions>` block, names of the form
 * `mcp__server__tool`.
 */
import {
  type ChildOptions,
  type Conversation,
  type ImportReport,
  type JsonSchema,
  type LoadReport,
  type Policy,
  type SearchResult,
  type SearchTool,
  searchTools,
  type Tool,
  type ToolwellOptions,
} from '@toolwell/core'
import { safeJson } from '@toolwell/core/internal'

/**
 * `createToolwell({ ...qwenCode(), tools })`. Options after the spread win. A group replaces the preset's whole group:
 * `search: { ...qwenCode().search, loadLimit: 5 }`.
 */
export function qwenCode() {
  return {
    mode: 'on',
    delivery: 'append',
    search: {
      schemas: 'twice',
      // `max_results` is the only limit of one search.
      loadLimit: 20,
      autoLoad: 'all',
      tool: qwenSearchTool,
    },
    surface: {
      wireName: (source, name) => `mcp__${source}__${name}`,
      cardPlace: 'section',
      prompts: {
        section: ({ loader, deferred, cards }) =>
          [
            `# Deferred tools\n${deferred} of your tools ${deferred === 1 ? 'is' : 'are'} not declared yet. When a task needs one, call ${loader} with select:name, or with keywords; call it by name once ${loader} has answered. What you know of its parameters before that is a guess.`,
            ...(cards === '' ? [] : [cards]),
          ].join('\n\n'),
        searchNotFound: ({ asked, nearest }) =>
          `Not found: ${asked}${nearest.length > 0 ? `. Nearest: ${nearest.join(', ')}` : ''}`,
        searchUnavailable: ({ asked, state }) => `Unavailable: ${asked} (${state})`,
        searchMore: ({ more }) => `Cut off by max_results: ${more} more. Ask for them in another call.`,
        frame: ({ body }) => `<system-reminder>\n${body}\n</system-reminder>`,
      },
    },
  } satisfies ToolwellOptions
}

const qwenSearchTool: SearchTool = {
  ...searchTools.maxResults,
  // Keywords find hidden tools only; `select:` also shows loaded ones.
  read: (input) => ({ ...searchTools.maxResults.read(input), includeLoaded: false }),
  render: (result, { rest }) => [...declarations(result), ...(rest === '' ? [] : [rest])].join('\n\n'),
}

/** Escapes the text of tool owners, so that it cannot close the block. */
function declarations({ matches }: SearchResult): string[] {
  const shown = matches.flatMap(({ canonicalName: name, description, schemaPreview }) =>
    schemaPreview === undefined
      ? []
      : [`<function>${safeJson({ name, description, parametersJsonSchema: schemaPreview })}</function>`],
  )
  return shown.length === 0 ? [] : [['<functions>', ...shown, '</functions>'].join('\n')]
}

/** A tool as Qwen Code registers it. */
export interface QwenTool {
  readonly name: string
  readonly displayName?: string
  readonly description: string
  readonly parameterSchema: JsonSchema
  readonly shouldDefer?: boolean
  readonly alwaysLoad?: boolean
  readonly searchHint?: string
}

/** `also`: `execute`, `role` and any other field of a Toolwell tool. */
export function qwenTool(registered: QwenTool, also: Partial<Tool> = {}): Tool {
  const { name, displayName, description, parameterSchema, shouldDefer, alwaysLoad, searchHint } = registered
  return {
    name,
    description,
    inputSchema: parameterSchema,
    ...(displayName === undefined ? {} : { title: displayName }),
    ...(shouldDefer === undefined ? {} : { defer: shouldDefer }),
    ...(alwaysLoad === undefined ? {} : { alwaysLoad }),
    ...(searchHint === undefined ? {} : { searchHint }),
    ...also,
  }
}

/** The list of excluded tools as a policy. If it contains `tool_search`, nothing is deferred. */
export function qwenExclude(names: readonly string[]): Policy {
  const excluded = new Set(names)
  return ({ id, name, source }) => ![id, name, `mcp__${source}__${name}`].some((each) => excluded.has(each))
}

/**
 * Loads the tools that a resumed history loaded or called. Use it for a history without a ledger; a conversation that is opened
 * again under its id needs no call. Call it again when a server has joined, to load that server's tools, too.
 */
export async function qwenReveal<Message>(
  conversation: Conversation,
  adapter: { importHistory(messages: readonly Message[]): Promise<ImportReport> },
  messages: readonly Message[],
): Promise<LoadReport> {
  const { recovered, unrecovered } = await adapter.importHistory(messages)
  const called = unrecovered.map(({ tool }) => tool).filter((tool) => tool !== '')
  const report = await conversation.load(called, 'pin')
  return { ...report, loaded: [...recovered, ...report.loaded] }
}

/** Gives a sub-agent exactly the listed tools, or all of them without a list or with `*`. Every schema is sent. */
export function qwenSubagent(tools?: readonly string[]): Pick<ChildOptions, 'inherit' | 'allow'> {
  const inherit = 'all' as const
  return tools === undefined || tools.includes('*') ? { inherit } : { inherit, allow: tools }
}
