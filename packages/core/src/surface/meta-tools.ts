/** The two tools Toolwell itself declares: the loader, whose whole face can be changed, and the bridge. */

import { toolId } from '../base/names.js'
import { type Entry, META } from '../catalogue/catalogue.js'
import type { SearchResult } from '../search/result.js'
import type { JsonSchema, Tool } from '../tool/tool.js'
import type { WireTool } from '../tool/wire-tool.js'
import type { Context } from './context.js'
import type { Prompts } from './prompts.js'

/** What the loader was asked, whatever its face. */
export interface SearchRequest {
  readonly query: string
  readonly domain?: string
  /** Show tools that are loaded already, too. Default true; they stand after the others. */
  readonly includeLoaded?: boolean
  readonly limit?: number
}

/** What the built-in rendering says besides the tools that were found. */
export interface SearchRemarks {
  /** Sentences on what the matches do not show: what was dropped, evicted, unloaded, not found. */
  readonly remarks: readonly string[]
  /** All of it as one text, with the matches whose schema is not shown. It may be empty. */
  readonly rest: string
}

/** The loader's face: its name, its input, and (optionally) how its answer reads. */
export interface SearchFace {
  readonly name: string
  inputSchema(prompts: Prompts): JsonSchema
  /** What the loader does, where `prompts.loader` does not fit its input. The list of what is hidden follows it. */
  description?(facts: { readonly bridge: string | undefined }): string
  /** Reads the model's input. Must not throw; a missing query is the empty string. */
  read(input: Readonly<Record<string, unknown>>): SearchRequest
  /**
   * Replaces the built-in rendering. The machine-readable first line is added in front of it. A value that is no text is
   * written as JSON in which no tag can open or close.
   */
  render?(result: SearchResult, said: SearchRemarks): string | object
  /** How many matches an answer holds where the model does not say, and at most. Default 5 and 20. */
  readonly limit?: { readonly usual: number; readonly most: number }
  /** How the loader is asked for one exact name, for hints. Default `select:name`. */
  select?(name: string): string
}

const text = (value: unknown) =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
const whole = (value: unknown) => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? { limit: Math.trunc(number) } : {}
}

/** The input forms in use: our own, and those of existing systems. Spread one and change what you like. */
export const searchFaces = {
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
    read: (input) => ({ query: text(input.query), ...whole(input.limit) }),
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
      query: text(input.query),
      ...(typeof input.domain === 'string' && input.domain !== 'all' ? { domain: input.domain } : {}),
      ...(typeof input.includeLoaded === 'boolean' ? { includeLoaded: input.includeLoaded } : {}),
      ...whole(input.limit),
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
    read: (input) => ({ query: text(input.query), ...whole(input.max_results) }),
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
      const name = text(input.name).trim()
      return { query: name === '' ? '' : `select:${JSON.stringify(name)}` }
    },
    select: (name) => JSON.stringify({ name }),
  },
} as const satisfies Record<string, SearchFace>

export const BRIDGE_NAME = 'tool_call'

/** The parameter that takes what is asked for: the first one a face requires. */
export function queryParameter(face: SearchFace, prompts: Prompts): string {
  const { required } = face.inputSchema(prompts)
  return Array.isArray(required) && typeof required[0] === 'string' ? required[0] : 'query'
}

/**
 * The loader with the list of what is hidden. Where a wire limits descriptions, a long list goes into the description of
 * the loader's first parameter, which no wire limits.
 */
export function loaderTool(
  face: SearchFace,
  prompts: Prompts,
  about: string,
  cards: string,
  limit: number,
): WireTool {
  const inputSchema = face.inputSchema(prompts)
  const whole = cards === '' ? about : `${about}\n\n${cards}`
  if (whole.length <= limit) return { name: face.name, description: whole, inputSchema }
  const first = queryParameter(face, prompts)
  const properties = (inputSchema.properties ?? {}) as Record<string, { readonly description?: string }>
  const parameter = properties[first]
  if (!parameter) return { name: face.name, description: whole, inputSchema }
  const described = { ...parameter, description: `${parameter.description ?? ''}\n\n${cards}`.trimStart() }
  return {
    name: face.name,
    description: about,
    inputSchema: { ...inputSchema, properties: { ...properties, [first]: described } },
  }
}

/** `findable`: a search may lead to something. */
export function bridgeTool(face: SearchFace, prompts: Prompts, findable: boolean): WireTool {
  return {
    name: BRIDGE_NAME,
    description: prompts.bridge({ loader: face.name, bridge: BRIDGE_NAME, findable }),
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

/** Reads what was too long to send. In the catalogue of a conversation from its first kept result on, deferred like any other. */
export function readerTool(prompts: Prompts): Tool {
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
      },
      required: ['handle'],
      additionalProperties: false,
    },
    risk: 'read',
    annotations: { readOnlyHint: true, idempotentHint: true },
    defer: true,
    // Run by the conversation itself, which knows what it may read.
    execute: () => undefined,
  }
}

/** A meta-tool as the policy sees it. Read-only: searching changes what is shown, never the world. */
export function metaEntry(name: string): Entry {
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

// Whether a search can lead to anything. Where it cannot, nothing should advise one.

/** A server may still bring what it has not listed, whatever its state; without any, only a deferred tool of the host's own is found. */
export function canFind({ catalogue, gate, exposure }: Context): boolean {
  for (const name of catalogue.sources.keys()) if (name !== '') return true
  for (const entry of catalogue.entries()) if (exposure(entry).deferred && gate.visible(entry)) return true
  return false
}
