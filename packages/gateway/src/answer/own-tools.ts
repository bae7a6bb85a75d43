/** Names of the gateway's tools, as they are listed and as each client shows them to its model. */
import type { Direct } from '@toolwell/core'

export const SEARCH_NAME = 'find_tools'
export const CALL_NAME = 'run_tool'
export const READ_NAME = 'run_read_only_tool'

const OWN_NAMES = [SEARCH_NAME, CALL_NAME, READ_NAME]

/**
 * The prefix that a client writes before tool names of the entry `toolwell`, by the start of its name in `clientInfo`.
 * Other clients show the bare name.
 */
const PREFIXES: readonly (readonly [client: string, prefix: string])[] = [
  ['claude-code', 'mcp__toolwell__'],
  ['codex', 'mcp__toolwell__'],
  ['qwen', 'mcp__toolwell__'],
  ['gemini-cli', 'mcp_toolwell_'],
  ['opencode', 'toolwell_'],
  ['kilo', 'toolwell_'],
  ['goose', 'toolwell__'],
]

/** The three tools as a client shows them, and the sentences that name them so. */
export interface OwnTools {
  readonly search: string
  readonly call: string
  readonly read: string
  readonly direct: Direct
}

/** By prefix, for each view. */
const known = new WeakMap<Direct, Map<string, OwnTools>>()

/** `client` is the name that the client sent. */
export function nameOwnTools(direct: Direct, client: string): OwnTools {
  const [, prefix = ''] = PREFIXES.find(([start]) => client.toLowerCase().startsWith(start)) ?? []
  const made = known.get(direct) ?? new Map<string, OwnTools>()
  known.set(direct, made)
  const search = prefix + SEARCH_NAME
  const call = prefix + CALL_NAME
  const tools = made.get(prefix) ?? {
    search,
    call,
    read: prefix + READ_NAME,
    direct: direct.withNames({ loader: search, bridge: call }),
  }
  made.set(prefix, tools)
  return tools
}

/** Any client's prefix, in case a model repeats one that its client has removed or never had. */
const ANY_PREFIX = /^(?:mcp_{1,2})?toolwell(?:_{1,2}|[./:])(?=.)/i

/** The name without a client's prefix, or undefined if it has none. */
export function removePrefix(name: string): string | undefined {
  const bare = name.replace(ANY_PREFIX, '')
  return bare === name ? undefined : bare
}

/** The gateway's own tool of this name, with or without a client's prefix. */
export function findOwnName(name: string): string | undefined {
  const bare = removePrefix(name) ?? name
  return OWN_NAMES.find((own) => own === bare)
}
