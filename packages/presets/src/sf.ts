/** The preset of the SF draft: `sf_tool_search` with its input and result, its lazy tools, its session state. */

import {
  type Conversation,
  defaultPrompts,
  type LoadReport,
  type Risk,
  type SearchResult,
  searchTools,
  type Tool,
  type ToolwellOptions,
} from '@toolwell/core'
import { applyManifest, type ManifestOptions, readManifest } from '@toolwell/core/manifest'
import { closedSentences } from './sentences.js'

const DOMAINS = ['planning', 'execution', 'memory', 'subagent', 'evidence', 'mcp', 'all'] as const

export interface SfToolSearchInput {
  query: string
  domain?: (typeof DOMAINS)[number]
  includeLoaded?: boolean
  limit?: number
}

export interface SfToolSearchResult {
  query: string
  loadedBefore: string[]
  matches: {
    name: string
    canonicalName: string
    status: 'loaded' | 'available_lazy' | 'deprecated_alias'
    title: string
    description: string
    domain: string
    aliases?: string[]
    risk?: Risk
    /** The whole JSON Schema, or a signature with every parameter if the next request declares the tool anyway. */
    schemaPreview: unknown
    loadToken: string
  }[]
  loadedAfter: string[]
  nextInstruction: string
}

export interface LazyToolSessionState {
  loadedLazyTools: string[]
  loadedAtTurn: Record<string, number>
  searchHistory: { turn: number; query: string; loaded: string[] }[]
}

/**
 * Loads every match, however many and however weak. To restore Toolwell's defaults, replace only these options of the group:
 * `search: { ...sf().search, cutOff: 0.35, autoLoad: {}, loadLimit: 5 }`.
 */
export function sf(): ToolwellOptions {
  return {
    mode: 'on',
    delivery: 'append',
    search: {
      cutOff: 0,
      autoLoad: 'all',
      loadLimit: Number.POSITIVE_INFINITY,
      tool: {
        ...searchTools.domains,
        name: 'sf_tool_search',
        limit: { usual: Number.POSITIVE_INFINITY, most: Number.POSITIVE_INFINITY },
        inputSchema: (prompts) => ({
          type: 'object',
          properties: {
            query: { type: 'string', description: prompts.loaderQuery() },
            domain: { type: 'string', enum: DOMAINS },
            includeLoaded: { type: 'boolean', description: 'Show tools that are loaded already, too' },
            limit: { type: 'integer', minimum: 1, description: prompts.loaderLimit() },
          },
          required: ['query'],
          additionalProperties: false,
        }),
        read(input) {
          const { domain, includeLoaded = false, ...request } = searchTools.domains.read(input)
          const known = DOMAINS.some((each) => each === domain) && domain !== undefined
          return { ...request, includeLoaded, ...(known ? { domain } : {}) }
        },
        render: (result, { remarks }) => sfToolSearchResult(result, remarks),
      },
    },
    limits: { largeTool: Number.POSITIVE_INFINITY },
    surface: {
      prompts: {
        ...closedSentences,
        loaderQuery: () => `${defaultPrompts.loaderQuery()}. Every match is loaded`,
        loaderLimit: () => 'Most matches to load (default: all)',
      },
    },
  }
}

/** A search as the draft's return type; `remarks` join the instruction. Takes the `result` of a `search` outcome, too. */
export function sfToolSearchResult(
  result: SearchResult,
  remarks: readonly string[] = [],
): SfToolSearchResult {
  return {
    query: result.query,
    loadedBefore: [...result.loadedBefore],
    matches: result.matches.map((match) => ({
      name: match.name,
      canonicalName: match.canonicalName,
      status: match.status,
      title: match.title,
      description: match.description,
      domain: match.domain,
      ...(match.aliases.length > 0 ? { aliases: [...match.aliases] } : {}),
      ...(match.risk === undefined ? {} : { risk: match.risk }),
      schemaPreview: match.schemaPreview ?? match.signature,
      loadToken: match.loadToken,
    })),
    loadedAfter: [...result.loadedAfter],
    nextInstruction: [result.nextInstruction, ...remarks].filter((text) => text !== '').join('\n'),
  }
}

/** Tools that the draft suggests to defer. */
const LAZY: ReadonlySet<string> = new Set([
  ...['await_subagent', 'cancel_subagent', 'read_subagent', 'write_subagent'],
  ...['memory_search', 'memory_graph', 'query_journal', 'search_evidence', 'sift_search', 'codebase_search'],
  ...['resume_agent', 'kill_agent', 'read_output'],
  ...['report_issue', 'resolve_issue', 'record_gate', 'chapter_open', 'chapter_close'],
  ...['context_board', 'manage_todos', 'audit_product'],
])

/** Marks the suggested tools as deferred, then applies a manifest (JSON text or a parsed value). The manifest wins. */
export function sfTools(tools: readonly Tool[], manifest?: unknown, options?: ManifestOptions): Tool[] {
  const marked = tools.map((tool) =>
    tool.defer === undefined && LAZY.has(tool.name) ? { ...tool, defer: true } : tool,
  )
  return manifest === undefined ? marked : applyManifest(marked, readManifest(manifest, options), options)
}

/**
 * The session's state as plain JSON. For a session that was restored from a copy, pass that copy as `restored`: its entries come
 * first, and turns continue its count.
 */
export function lazyToolSessionState(
  conversation: Conversation,
  restored: LazyToolSessionState = { loadedLazyTools: [], loadedAtTurn: {}, searchHistory: [] },
): LazyToolSessionState {
  const { loadedLazyTools, loadedAtTurn, searchHistory } = conversation.inspect()
  const earlier = new Map(Object.entries(restored.loadedAtTurn))
  const before = Math.max(0, ...earlier.values(), ...restored.searchHistory.map(({ turn }) => turn))
  // Tools of turn 0 were loaded by the restore.
  const turnOf = (name: string, turn: number) => (turn === 0 ? earlier.get(name) : undefined) ?? before + turn
  return {
    loadedLazyTools: [...loadedLazyTools],
    loadedAtTurn: Object.fromEntries(
      Object.entries(loadedAtTurn).map(([name, turn]) => [name, turnOf(name, turn)]),
    ),
    searchHistory: [
      ...restored.searchHistory.map((search) => ({ ...search, loaded: [...search.loaded] })),
      ...searchHistory.map(({ turn, query, loaded }) => ({
        turn: before + turn,
        query,
        loaded: [...loaded],
      })),
    ],
  }
}

/** Loads the tools of a copy, before the first request of a new session. The report names tools that could not be loaded. */
export function restoreLazyToolSessionState(
  conversation: Conversation,
  copy: LazyToolSessionState,
): Promise<LoadReport> {
  return conversation.load(copy.loadedLazyTools, 'pin')
}
