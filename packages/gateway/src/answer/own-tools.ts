/** Names of the gateway's tools, as they are listed and as each client shows them to its model. */
import type { Direct } from '@toolwell/core'
import { READER_NAME } from '@toolwell/core/internal'
import { CALL_NAME, SEARCH_NAME } from '../bridge/protocol.js'

export const READ_NAME = 'run_read_only_tool'

const OWN_NAMES = [SEARCH_NAME, CALL_NAME, READ_NAME, READER_NAME]

/** The prefix that a client writes before tool names of the entry `toolwell`, and whether it moves long results to files. */
interface KnownClient {
  readonly prefix: string
  readonly shortens: boolean
}

/** By the start of the name in `clientInfo`. */
const CLIENTS: readonly (readonly [name: string, client: KnownClient])[] = [
  ['claude-code', { prefix: 'mcp__toolwell__', shortens: true }],
  ['codex', { prefix: 'mcp__toolwell__', shortens: false }],
  ['qwen', { prefix: 'mcp__toolwell__', shortens: true }],
  ['gemini-cli', { prefix: 'mcp_toolwell_', shortens: true }],
  ['opencode', { prefix: 'toolwell_', shortens: true }],
  ['kilo', { prefix: 'toolwell_', shortens: true }],
  ['goose', { prefix: 'toolwell__', shortens: true }],
]

/** Other clients show the bare name. */
const OTHER: KnownClient = { prefix: '', shortens: false }

function findClient(name: string): KnownClient {
  const [, client] = CLIENTS.find(([start]) => name.toLowerCase().startsWith(start)) ?? []
  return client ?? OTHER
}

/** Tokens of text in one result that a client receives, if the config sets no limit. */
export function chooseResultLimit(client: string): number {
  return findClient(client).shortens ? 20_000 : 8000
}

/** The gateway's tools as a client shows them, and the sentences that name them so. */
export interface OwnTools {
  readonly search: string
  readonly call: string
  readonly read: string
  readonly reader: string
  readonly direct: Direct
}

/** By prefix, for each view. */
const known = new WeakMap<Direct, Map<string, OwnTools>>()

/** `client` is the name that the client sent. */
export function nameOwnTools(direct: Direct, client: string): OwnTools {
  const { prefix } = findClient(client)
  const made = known.get(direct) ?? new Map<string, OwnTools>()
  known.set(direct, made)
  const search = prefix + SEARCH_NAME
  const call = prefix + CALL_NAME
  const tools = made.get(prefix) ?? {
    search,
    call,
    read: prefix + READ_NAME,
    reader: prefix + READER_NAME,
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
