/** Turns listed tools into tools of the catalogue, and chooses which of them are always loaded. */

import type { CallToolResult } from '@modelcontextprotocol/client'
import { type ExecuteContext, estimate, type Tool, type ToolAnnotations } from '@toolwell/core'
import {
  createWireName,
  findPurposeLine,
  fitWire,
  isRecord,
  matchesGlob,
  providers,
} from '@toolwell/core/internal'
import { mcpResult, type ToolResult, toolResult } from '@toolwell/core/result'
import { isOffered, type ServerConfig } from '../config/server-config.js'
import { insertFolderInDefinition } from '../definition/clean-definition.js'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'
import { copyValidation } from '../definition/stored-definition.js'

export type RunTool = (
  tool: string,
  input: Record<string, unknown>,
  context: ExecuteContext,
) => Promise<CallToolResult>

/** Sorted by name, so that the order of the list does not matter. */
export function toTools(server: ServerConfig, definition: ServerDefinition, run: RunTool): Tool[] {
  const { info } = definition
  const { names: sent } = chooseAlwaysLoaded(server, definition)
  const words = [server.name, info?.title, info?.name]
  return definition.tools
    .filter(({ name }) => isOffered(name, server))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map((tool) => toTool(server, words, tool, sent.has(tool.name), run))
}

/** Description of a server for a model: from the config, or from the instructions, which are scanned and locked. */
export function describeServer(server: ServerConfig, { instructions }: ServerDefinition): string {
  return server.description || findPurposeLine(instructions, 200)
}

function toTool(
  server: ServerConfig,
  words: readonly unknown[],
  tool: McpTool,
  isSent: boolean,
  run: RunTool,
): Tool {
  const { name, title, description, annotations } = tool
  // Annotations are only claims of the server.
  const believed = server.trust !== 'none'
  const examples = Object.hasOwn(server.examples, name) ? server.examples[name] : undefined
  const insteadOf = Object.hasOwn(server.insteadOf, name) ? server.insteadOf[name] : undefined
  return copyValidation(
    new SourceTool(tool, {
      name,
      description: typeof description === 'string' ? description : '',
      source: server.name,
      searchHint: searchHint(words, server.marks ? tool : undefined),
      // No copying helper here: a start creates thousands of tools.
      ...(typeof title === 'string' && { title }),
      ...(believed && isRecord(annotations) && { annotations: annotations as ToolAnnotations }),
      ...(isSent && (server.lazy ? { alwaysLoad: true } : { defer: false })),
      ...(examples && { examples }),
      ...(insteadOf && { insteadOf }),
      execute: async (input, context) => resultOf(await run(name, input, context), name),
    }) as unknown as Tool,
    tool,
  )
}

/** A tool that reads its schemas from the listed tool on demand, because they may not be parsed yet. */
class SourceTool {
  readonly #listed: McpTool

  constructor(listed: McpTool, fields: Omit<Tool, 'inputSchema'>) {
    this.#listed = listed
    Object.assign(this, fields)
    Object.defineProperty(this, 'inputSchema', SourceTool.#inputSchema)
    if ('outputSchema' in listed) Object.defineProperty(this, 'outputSchema', SourceTool.#outputSchema)
  }

  static readonly #inputSchema: PropertyDescriptor & ThisType<SourceTool> = {
    enumerable: true,
    configurable: true,
    get() {
      return this.#listed.inputSchema
    },
  }

  static readonly #outputSchema: PropertyDescriptor & ThisType<SourceTool> = {
    enumerable: true,
    configurable: true,
    get() {
      return this.#listed.outputSchema
    },
  }
}

/** Words for the index that are not in the tool: the names of the server, and its search hint if the config uses marks. */
function searchHint(words: readonly unknown[], marked: McpTool | undefined): string {
  const all = [...words, marked?._meta?.['anthropic/searchHint']]
  return [...new Set(all.filter((word) => typeof word === 'string' && word !== ''))].join(' ').slice(0, 400)
}

/** Adds a text to an error result without content. */
function resultOf(result: CallToolResult, name: string): ToolResult {
  const read = mcpResult(result)
  if (!read.isError || read.parts.length > 0) return read
  return toolResult([{ type: 'text', text: `${name} failed without an error message` }], { isError: true })
}

export interface AlwaysLoaded {
  readonly names: ReadonlySet<string>
  /** Deferred, because they exceed the token limit of the server. */
  readonly beyond: readonly string[]
}

/** Placeholder for the caller's folder, whose length differs between callers. */
const LONG_FOLDER = `/${'folder/'.repeat(20)}`

const NONE: AlwaysLoaded = { names: new Set(), beyond: [] }

/**
 * Chooses always-loaded tools within the token limit: first those named in the config, then those marked by the server. Sorted by
 * name, so that the order of the list does not matter.
 */
export function chooseAlwaysLoaded(server: ServerConfig, definition: ServerDefinition): AlwaysLoaded {
  const { tools } = insertFolderInDefinition(definition, LONG_FOLDER)
  const isNamed = ({ name }: McpTool) =>
    !server.lazy || server.alwaysLoad.some((pattern) => matchesGlob(pattern, name))
  const isMarked = ({ _meta: meta }: McpTool) => server.marks && meta?.['anthropic/alwaysLoad'] === true
  const wanted = tools.filter((tool) => isOffered(tool.name, server) && (isNamed(tool) || isMarked(tool)))
  if (wanted.length === 0) return NONE
  const inOrder = wanted.sort(
    (a, b) => Number(isNamed(b)) - Number(isNamed(a)) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  )
  const names = new Set<string>()
  const beyond: string[] = []
  let left = server.surfaceTokens
  for (const tool of inOrder) {
    // Fast path: most tools that are too large are so in any form.
    const cost = sizeOf(tool) > left ? Number.POSITIVE_INFINITY : costOf(server.name, tool)
    if (cost > left) beyond.push(tool.name)
    else {
      left -= cost
      names.add(tool.name)
    }
  }
  return { names, beyond }
}

const sizeOf = (value: unknown) => estimate.count(JSON.stringify(value))

/** Tokens of the longest form that a model may read: normalised for any wire, or forwarded by a gateway. */
function costOf(server: string, listed: McpTool): number {
  const { inputSchema, _meta: meta } = listed
  const description = typeof listed.description === 'string' ? listed.description : ''
  const name = createWireName(server, listed.name)
  const tool = { name, description, inputSchema: inputSchema as Record<string, unknown> }
  const sent = Object.keys(providers).map((wire) => {
    const { tool: fit } = fitWire(tool, wire)
    const inner = { name, description: fit.description, parameters: fit.inputSchema, strict: false }
    return sizeOf({ type: 'function', function: inner })
  })
  // A gateway marks the tool for clients that defer tools themselves.
  return Math.max(...sent, sizeOf({ ...listed, name, _meta: { ...meta, 'anthropic/alwaysLoad': true } }))
}
