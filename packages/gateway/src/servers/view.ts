/** A view: the tools that callers of one profile see and may call. */
import { homedir } from 'node:os'
import type { Direct, DirectDigest, Entry, Policy, PolicyRequest } from '@toolwell/core'
import { matchesGlob } from '@toolwell/core/internal'
import type { McpTool, ReviewedOffers, ServerConfig, ServerDefinition } from '@toolwell/mcp'
import { fingerprint, type ReadOnlyStore, type ReadOnlyTools } from '@toolwell/mcp/internal'
import type { ClientRules } from '../bridge/client-rules.js'
import type { Rights } from '../storage/storage.js'
import { OWN_SOURCE } from './broken-servers.js'
import { createJudge } from './client-rules.js'
import { Offers } from './offers.js'
import type { ServerSet } from './server-set.js'

export interface View extends Pick<ServerSet, 'catalogue' | 'call' | 'request' | 'settled' | 'reviewed'> {
  /** First-time listings are under way, so the list may grow at any moment. */
  readonly isSettling: boolean
  /** Waits for first-time listings if there is nothing useful to list yet. */
  waitBeforeListing(): Promise<void>
  readonly direct: Direct
  /** Returns the same object until the catalogue changes. */
  digest(): DirectDigest
  /** False if the tool does not exist for the caller: removed, denied, quarantined, or outside its rights. */
  isVisible(source: string, tool: string): boolean
  /** Approved as read-only by the config or by the user. The server's own annotations do not count. */
  isReadOnly(source: string, tool: string): boolean
  /** The server's start command or address contains the project folder. */
  namesFolder(source: string): boolean
  /** Some definitions contain `${workspaceFolder}`, which each caller reads as its own folder. */
  readonly hasFolderNames: boolean
  /** The tool as its server lists it. */
  listedTool(entry: Entry): McpTool | undefined
  /** The config of a server. */
  server(source: string): ServerConfig | undefined
  /** Prompts and resources of the servers that may be seen. */
  readonly offers: Offers
  /** Some visible server has these capabilities, or is not listed yet. */
  someHas(has: (capabilities: ServerDefinition['capabilities']) => unknown): boolean
  /** The newest protocol of a server. Undefined until it is listed. */
  era(source: string): ServerDefinition['era'] | undefined
  /** The server has a process for each folder or client, so it may know the folders of its client. */
  isSeparate(source: string): boolean
  /** The server announces the capability. */
  serverHas(source: string, name: keyof ServerDefinition['capabilities']): boolean
  /** The instructions of a server, reviewed like its tools. May be empty. */
  instructions(source: string): string
}

export interface ViewOptions {
  /** The tools of the profile. */
  readonly policy: Policy | undefined
  /** Permission rules of the client. */
  readonly rules: ClientRules | undefined
  /** Limits of the token. */
  readonly rights: Rights | undefined
  readonly isReadOnly: IsReadOnly
}

/** A tool that is denied or outside the rights does not exist for the client: `policy` decides about every list, search and call. */
export function openView(
  serverSet: ServerSet,
  open: (policy: Policy | undefined) => Direct,
  { policy, rules, rights, isReadOnly }: ViewOptions,
): View {
  const judge = rules && createJudge(rules, serverSet)
  const isApproved = (source: string, tool: string) => {
    const server = serverSet.known.get(source)
    return server !== undefined && isReadOnly(server, tool, listedAs(source, tool))
  }
  const allowed: Policy | undefined =
    judge || rights
      ? (asked) =>
          (policy?.(asked) ?? true) &&
          (asked.source === OWN_SOURCE ||
            (judge?.(asked.source, asked.name) !== 'deny' &&
              (!rights || isWithinRights(rights, asked.source, asked.name, isApproved))))
      : policy
  const direct = open(allowed)
  const { catalogue, call, request, settled, reviewed, servers } = serverSet
  /** Servers that may be seen, whatever their tools. A token for some tools opens nothing else. */
  const visible = (): string[] =>
    [...serverSet.known].flatMap(([source, { enabled }]) =>
      enabled && !rights?.tools && (allowed?.(asksForServer(source)) ?? true) ? [source] : [],
    )
  const offers = new Offers(() => {
    const found = new Map<string, ReviewedOffers>()
    for (const source of visible()) found.set(source, servers.offers(source))
    return found
  })
  const capabilities = (source: string) => servers.definition(source)?.capabilities
  const indexes = new WeakMap<ServerDefinition, ReadonlyMap<string, McpTool>>()
  let known: { readonly revision: number; readonly digest: DirectDigest } | undefined
  let folders: { readonly revision: number; readonly areNamed: boolean } | undefined
  const listedAs = (source: string, tool: string): McpTool | undefined => {
    const definition = serverSet.known.has(source) ? servers.definition(source) : undefined
    if (!definition) return undefined
    const index =
      indexes.get(definition) ?? new Map(definition.tools.map((each) => [each.name, each] as const))
    indexes.set(definition, index)
    return index.get(tool)
  }
  return {
    catalogue,
    call,
    request,
    settled,
    reviewed,
    get isSettling() {
      return serverSet.isSettling
    },
    waitBeforeListing: () => serverSet.waitBeforeListing(direct.tools().length === 0),
    direct,
    digest() {
      const { revision } = catalogue
      if (known?.revision !== revision) known = { revision, digest: direct.digest() }
      return known.digest
    },
    isVisible: (source, tool) =>
      direct.tools().some((entry) => entry.source === source && entry.tool.name === tool),
    isReadOnly(source, tool) {
      // The user wants to be asked before this tool runs, and clients run the read-only tool without a question.
      if (judge && judge(source, tool) !== 'allow') return false
      return isApproved(source, tool)
    },
    namesFolder(source) {
      const server = serverSet.known.get(source)
      return server !== undefined && server.workspace.need === 'each' && namesFolder(server)
    },
    get hasFolderNames() {
      const { revision } = catalogue
      // Cached: every call asks.
      if (folders?.revision !== revision) {
        const areNamed = [...serverSet.known.keys()].some((name) => servers.definition(name)?.namesFolder)
        folders = { revision, areNamed }
      }
      return folders.areNamed
    },
    listedTool: ({ source, tool }) => listedAs(source, tool.name),
    server: (source) => serverSet.known.get(source),
    offers,
    someHas: (has) =>
      visible().some((source) => {
        const own = capabilities(source)
        return own === undefined || Boolean(has(own))
      }),
    era: (source) => servers.definition(source)?.era,
    isSeparate(source) {
      const { workspace, share } = serverSet.known.get(source) ?? {}
      return workspace?.need === 'each' || (share !== undefined && share !== 'all')
    },
    serverHas: (source, name) => capabilities(source)?.[name] !== undefined,
    instructions: (source) => servers.definition(source)?.instructions ?? '',
  }
}

/** `tool` is `*` to ask about the whole server. */
function isWithinRights(
  { servers, tools, readOnly = false }: Rights,
  server: string,
  tool: string,
  isApproved: (server: string, tool: string) => boolean,
): boolean {
  if (servers && !servers.some((pattern) => matchesGlob(pattern, server))) return false
  const isNamed = (pattern: string) => {
    const slash = pattern.indexOf('/')
    const isOfServer = slash < 0 || matchesGlob(pattern.slice(0, slash), server)
    return isOfServer && (tool === '*' || matchesGlob(pattern.slice(slash + 1), tool))
  }
  if (tools && !tools.some(isNamed)) return false
  return tool === '*' || !readOnly || isApproved(server, tool)
}

/** Asks a policy about a server, whatever its tools. */
function asksForServer(source: string): PolicyRequest {
  const tool = { name: '*', description: '', inputSchema: {}, source }
  return { action: 'see', id: `${source}/*`, name: '*', source, tool }
}

/** A folder that no config contains. */
const NOWHERE = '/toolwell-without-a-workspace'

/** Cached per config: every call without a workspace asks. */
const naming = new WeakMap<ServerConfig, boolean>()

function namesFolder(server: ServerConfig): boolean {
  const known = naming.get(server) ?? startDependsOnFolder(server)
  naming.set(server, known)
  return known
}

/** Compares the endpoint in two folders. A working directory equal to the folder does not count. */
function startDependsOnFolder({ workspace }: ServerConfig): boolean {
  const reached = (folder: string) => {
    const { endpoint } = workspace.in(folder)
    if (endpoint.type !== 'stdio') return JSON.stringify(endpoint)
    const { cwd, ...rest } = endpoint
    return JSON.stringify([rest, cwd === folder ? '' : cwd])
  }
  return reached(NOWHERE) !== reached(homedir())
}

/** Checks the config and the current approvals. The server's own annotations do not count. */
type IsReadOnly = (server: ServerConfig, tool: string, listed: McpTool | undefined) => boolean

export function createReadOnlyCheck(store: ReadOnlyStore): IsReadOnly {
  const known = new Map<string, { readonly stamp: string; readonly tools: ReadOnlyTools }>()
  const prints = new WeakMap<McpTool, string>()
  const approvedOf = (server: ServerConfig): ReadOnlyTools => {
    const stamp = store.stamp(server)
    const last = known.get(server.name)
    if (last?.stamp === stamp) return last.tools
    const tools = store.read(server)
    known.set(server.name, { stamp, tools })
    return tools
  }
  const printOf = (tool: McpTool): string => {
    const print = prints.get(tool) ?? fingerprint(tool)
    prints.set(tool, print)
    return print
  }
  return (server, tool, listed) => {
    if (server.readOnly.some((pattern) => matchesGlob(pattern, tool))) return true
    const approved = approvedOf(server)
    return listed !== undefined && Object.hasOwn(approved, tool) && approved[tool] === printOf(listed)
  }
}
