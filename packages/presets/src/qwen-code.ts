/**
 * Preset for Qwen Code: `tool_search { query, max_results }` with `select:`, keywords and `+must`; tools marked
 * `shouldDefer`, `alwaysLoad` and `searchHint`; declarations in a `<functions>` block; names of the form
 * `mcp__server__tool`.
 */
import {
  type ChildOptions,
  type Conversation,
  type ImportReport,
  type JsonSchema,
  type LoadReport,
  type Policy,
  type SearchFace,
  type SearchResult,
  searchFaces,
  type Tool,
  type ToolwellOptions,
} from '@toolwell/core'
import { safeJson } from '@toolwell/core/internal'

/** Use it as `createToolwell({ ...qwenCode(), tools })`. Options after the spread override it. */
export function qwenCode() {
  return {
    mode: 'on',
    delivery: 'append',
    schemas: 'twice',
    // `max_results` limits one search. Every match below it is loaded.
    loadLimit: 20,
    autoLoad: 'all',
    face: qwenFace,
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
  } satisfies ToolwellOptions
}

const qwenFace: SearchFace = {
  ...searchFaces.maxResults,
  // Keywords search hidden tools only; `select:` also shows loaded ones.
  read: (input) => ({ ...searchFaces.maxResults.read(input), includeLoaded: false }),
  render: (result, { rest }) => [...declarations(result), ...(rest === '' ? [] : [rest])].join('\n\n'),
}

/** Escapes descriptions and schemas so that they cannot close the block. */
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

/** Converts a registered tool. `also` adds other fields of a Toolwell tool, such as `execute` and `role`. */
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

/** Turns the list of excluded tools into a policy. Excluding `tool_search` turns deferral off. */
export function qwenExclude(names: readonly string[]): Policy {
  const excluded = new Set(names)
  return ({ id, name, source }) => ![id, name, `mcp__${source}__${name}`].some((each) => excluded.has(each))
}

/**
 * Loads the tools that a resumed history without a ledger has loaded or called. A conversation reopened under its id
 * does not need it. Call it again when a server joins, to load the tools that were missing.
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

/** A list gives a sub-agent exactly those tools; no list, or `*`, gives it all. Every schema is sent in both cases. */
export function qwenSubagent(tools?: readonly string[]): Pick<ChildOptions, 'inherit' | 'allow'> {
  const inherit = 'all' as const
  return tools === undefined || tools.includes('*') ? { inherit } : { inherit, allow: tools }
}
