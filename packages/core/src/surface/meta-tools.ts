/** The tools that Toolwell itself declares: the search tool, which hosts can change, the bridge, and the reader of kept results. */

import { toolId } from '../base/names.js'
import { type Entry, META } from '../catalogue/catalogue.js'
import type { SearchResult } from '../search/result.js'
import type { JsonSchema, Tool } from '../tool/tool.js'
import type { WireTool } from '../tool/wire-tool.js'
import type { Context } from './context.js'
import type { Prompts } from './prompts.js'

/** A search request, as `read` of the search tool returns it. */
export interface SearchRequest {
  readonly query: string
  readonly domain?: string
  /** Show loaded tools, too. Default true; they come last. */
  readonly includeLoaded?: boolean
  readonly limit?: number
}

/** The text of the built-in rendering besides the found tools. */
export interface SearchRemarks {
  /** Sentences about tools that were dropped, evicted, unloaded or not found. */
  readonly remarks: readonly string[]
  /** The remarks as one text, with the matches whose schema is not shown. It may be empty. */
  readonly rest: string
}

/** The search tool: its name, its input and, optionally, the text of its answers. */
export interface SearchTool {
  readonly name: string
  inputSchema(prompts: Prompts): JsonSchema
  /** The description, if `prompts.loader` does not fit the input. The list of hidden tools follows it. */
  description?(facts: { readonly bridge: string | undefined }): string
  /** Reads the model's input. Must not throw; a missing query is the empty string. */
  read(input: Readonly<Record<string, unknown>>): SearchRequest
  /**
   * Replaces the built-in rendering. The machine-readable first line is added in front of it. An object is written as JSON
   * in which no tag can open or close.
   */
  render?(result: SearchResult, said: SearchRemarks): string | object
  /** Matches in one answer: `usual` if the model gives no limit, and `most`. Default 5 and 20. */
  readonly limit?: { readonly usual: number; readonly most: number }
  /** The query for one exact name, for hints. Default `select:name`. */
  select?(name: string): string
}

const readText = (value: unknown) =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
const readLimit = (value: unknown) => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? { limit: Math.trunc(number) } : {}
}

/** Ready-made search tools: our own, and those of existing systems. Spread one and change what you like. */
export const searchTools = {
  /** `tool_search { query, limit? }` */
  standard: {
    name: 'tool_search',
    inputSchema: (prompts) => ({
      type: 'object',
      properties: {
        query: { type: 'string', description: prompts.loaderQuery() },
        limit: { type: 'integer', minimum: 1, maximum: 20, description: prompts.loaderLimit() },
      },
      required: ['query'],
      additionalProperties: false,
    }),
    read: (input) => ({ query: readText(input.query), ...readLimit(input.limit) }),
  },
  /** `{ query, domain?, includeLoaded?, limit? }` */
  domains: {
    name: 'tool_search',
    inputSchema: (prompts) => ({
      type: 'object',
      properties: {
        query: { type: 'string', description: prompts.loaderQuery() },
        domain: { type: 'string' },
        includeLoaded: { type: 'boolean' },
        limit: { type: 'integer', minimum: 1, maximum: 20, description: prompts.loaderLimit() },
      },
      required: ['query'],
      additionalProperties: false,
    }),
    read: (input) => ({
      query: readText(input.query),
      ...(typeof input.domain === 'string' && input.domain !== 'all' ? { domain: input.domain } : {}),
      ...(typeof input.includeLoaded === 'boolean' ? { includeLoaded: input.includeLoaded } : {}),
      ...readLimit(input.limit),
    }),
  },
  /** `{ query, max_results? }` */
  maxResults: {
    name: 'tool_search',
    inputSchema: (prompts) => ({
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, description: prompts.loaderQuery() },
        max_results: { type: 'integer', minimum: 1, maximum: 20, description: prompts.loaderLimit() },
      },
      required: ['query'],
      additionalProperties: false,
    }),
    read: (input) => ({ query: readText(input.query), ...readLimit(input.max_results) }),
  },
  /** `{ name }`: one exact name. */
  byName: {
    name: 'tool_info',
    description: ({ bridge }) =>
      `Loads one tool that is available but not loaded, by its exact name. ${bridge ? `The answer holds its schema; call it with ${bridge}.` : 'It can be called by its own name from your next message on.'}`,
    inputSchema: (prompts) => ({
      type: 'object',
      properties: { name: { type: 'string', description: prompts.bridgeName() } },
      required: ['name'],
      additionalProperties: false,
    }),
    read: (input) => {
      const name = readText(input.name).trim()
      return { query: name === '' ? '' : `select:${JSON.stringify(name)}` }
    },
    select: (name) => JSON.stringify({ name }),
  },
} as const satisfies Record<string, SearchTool>

export const BRIDGE_NAME = 'tool_call'

/** The parameter that takes the query: the first required one. */
export function findQueryParameter(searchTool: SearchTool, prompts: Prompts): string {
  const { required } = searchTool.inputSchema(prompts)
  return Array.isArray(required) && typeof required[0] === 'string' ? required[0] : 'query'
}

/**
 * The search tool with the list of deferred tools. If a wire limits descriptions, a long list moves to the description
 * of the first parameter, which no wire limits.
 */
export function createLoaderTool(
  searchTool: SearchTool,
  prompts: Prompts,
  about: string,
  cards: string,
  limit: number,
): WireTool {
  const inputSchema = searchTool.inputSchema(prompts)
  const whole = cards === '' ? about : `${about}\n\n${cards}`
  if (whole.length <= limit) return { name: searchTool.name, description: whole, inputSchema }
  const first = findQueryParameter(searchTool, prompts)
  const properties = (inputSchema.properties ?? {}) as Record<string, { readonly description?: string }>
  const parameter = properties[first]
  if (!parameter) return { name: searchTool.name, description: whole, inputSchema }
  const described = { ...parameter, description: `${parameter.description ?? ''}\n\n${cards}`.trimStart() }
  return {
    name: searchTool.name,
    description: about,
    inputSchema: { ...inputSchema, properties: { ...properties, [first]: described } },
  }
}

/** `findable`: true if a search can find something. */
export function createBridgeTool(searchTool: SearchTool, prompts: Prompts, findable: boolean): WireTool {
  return {
    name: BRIDGE_NAME,
    description: prompts.bridge({ loader: searchTool.name, bridge: BRIDGE_NAME, findable }),
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: prompts.bridgeName() },
        arguments: { type: 'object', description: prompts.bridgeArguments(), additionalProperties: true },
        load: { type: 'string', description: prompts.bridgeLoad() },
      },
      required: ['name', 'arguments'],
      additionalProperties: false,
    },
  }
}

export const READER_NAME = 'read_result'
export const READER_ID = toolId(META, READER_NAME)

/**
 * Reads results that were too long to send. Joins the catalogue of a conversation with its first kept result, deferred
 * like any other tool.
 */
export function createReaderTool(prompts: Prompts): Tool {
  return {
    name: READER_NAME,
    description: prompts.reader(),
    inputSchema: {
      type: 'object',
      properties: {
        handle: { type: 'string', description: prompts.readerHandle() },
        lines: { type: 'string', description: prompts.readerLines() },
        characters: { type: 'string', description: prompts.readerCharacters() },
        find: { type: 'string', description: prompts.readerFind() },
        path: { type: 'string', description: prompts.readerPath() },
      },
      required: ['handle'],
      additionalProperties: false,
    },
    risk: 'read',
    annotations: { readOnlyHint: true, idempotentHint: true },
    defer: true,
    // The conversation runs it, because it knows which results may be read.
    execute: () => undefined,
  }
}

/** A meta-tool as the policy sees it. Read-only: a search changes what is shown, never the outside world. */
export function createMetaEntry(name: string): Entry {
  const tool = {
    name,
    description: '',
    inputSchema: { type: 'object' },
    risk: 'read',
    annotations: { readOnlyHint: true, idempotentHint: true },
  } as const
  return {
    id: toolId(META, name),
    wireName: name,
    source: META,
    tool,
    quarantined: false,
    fingerprint: '',
  }
}

/**
 * True if a search can find something. A server may still add tools, whatever its state; without servers, only a
 * deferred host tool can be found.
 */
export function canFind({ catalogue, gate, exposure }: Context): boolean {
  for (const name of catalogue.sources.keys()) if (name !== '') return true
  for (const entry of catalogue.entries()) if (exposure(entry).deferred && gate.visible(entry)) return true
  return false
}
