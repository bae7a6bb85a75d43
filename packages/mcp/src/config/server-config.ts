import { createWireName, matchesGlob } from '@toolwell/core/internal'

/** One server as it will be used: all variables expanded, all defaults filled in. */

export type Trust = 'full' | 'first-use' | 'follow' | 'none'
export type Share = 'all' | 'workspace' | 'client' | 'conversation'

export interface StdioEndpoint {
  readonly type: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

export interface HttpEndpoint {
  /** `auto`: Streamable HTTP, or SSE if the server does not support it. */
  readonly type: 'http' | 'sse' | 'auto'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** How a server depends on the project folder. */
export interface ServerWorkspace {
  /** The folder that the endpoint was made for, unless the server depends on none. Default for callers that name no folder. */
  readonly folder: string
  /** `each`: one server per folder; `none`: the server does not depend on a folder. */
  readonly need: 'each' | 'none'
  /** Set explicitly in the config. Then the server gets no information about folders. */
  readonly isStated: boolean
  /** Hash of the entry and its folder, before `${workspaceFolder}` is replaced. Equal servers have equal hashes in every folder. */
  readonly written: string
  /** Hash of the keys that say how the server is reached, independent of the config folder. Empty for servers defined in code. */
  readonly entry: string
  /** Returns the endpoint for another folder. */
  readonly in: (folder: string) => InWorkspace
}

export interface InWorkspace extends Pick<ServerConfig, 'endpoint' | 'commands' | 'secrets'> {
  /** Why it cannot be started there, such as a missing `envFile`. */
  readonly problems: readonly string[]
}

/** Settings of a login that the server does not announce by itself. */
export interface OAuthSettings {
  /** A registered client, or the https address of its metadata document. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** Requested instead of the scopes that the server names. */
  readonly scopes?: readonly string[]
  /** Port of the registered redirect address. */
  readonly callbackPort?: number
}

export interface ServerConfig {
  readonly name: string
  /** The config file, whose folder may contain a lock. Missing for servers defined in code. */
  readonly file?: string
  readonly endpoint: StdioEndpoint | HttpEndpoint
  readonly description: string
  readonly enabled: boolean
  readonly lazy: boolean
  /** Patterns of tool names. */
  readonly alwaysLoad: readonly string[]
  /** By tool name: requests that the tool answers. */
  readonly examples: Readonly<Record<string, readonly string[]>>
  /** By tool name: when to use the tool instead of other means. */
  readonly insteadOf: Readonly<Record<string, string>>
  /** Use the server's marks in `_meta`. */
  readonly marks: boolean
  /** Tokens of each request that always-loaded tools may use. */
  readonly surfaceTokens: number
  /** Tokens of text in one result that the gateway passes on; 0 for no limit. Undefined: depends on the client. */
  readonly maxResultTokens: number | undefined
  /** Calls that one principal of the gateway may run at the same time; 0 for no limit. */
  readonly maxConcurrentCalls: number
  /** Calls that one principal of the gateway may make in a minute; 0 for no limit. */
  readonly maxCallsPerMinute: number
  /** Undefined: every tool. */
  readonly allow: readonly string[] | undefined
  /** Allowed by the profile: a tool must match this and `allow`. Undefined: every tool. */
  readonly allowedByProfile: readonly string[] | undefined
  readonly deny: readonly string[]
  /** Denied by the profile, in addition to `deny`. */
  readonly deniedByProfile: readonly string[]
  /** Patterns of tools that change nothing, in the user's judgement. The gateway runs them through `run_read_only_tool`. */
  readonly readOnly: readonly string[]
  /** Milliseconds. */
  readonly timeout: number
  /** Milliseconds to start and list. Undefined: the value of the program. */
  readonly startTimeout: number | undefined
  /** Milliseconds; `Infinity` for never. */
  readonly idle: number
  readonly trust: Trust
  readonly share: Share
  readonly workspace: ServerWorkspace
  readonly oauth: OAuthSettings | undefined
  /**
   * References that need approval, because the entry is not in the user's own file: commands of `${cmd:…}`, each `${file:PATH}`
   * outside of that folder, each `${env:NAME}` that is sent to an address.
   */
  readonly commands: readonly string[]
  /** Strings that must not be shown: values from variables, the environment and headers. */
  readonly secrets: readonly string[]
}

export const DEFAULTS = {
  timeout: 60_000,
  startTimeout: 30_000,
  idle: 300_000,
  surfaceTokens: 1500,
  maxConcurrentCalls: 100,
} as const

/** Milliseconds. A server of one client or conversation keeps its state, so it runs longer without use. */
export function chooseDefaultIdle(share: Share): number {
  return share === 'client' || share === 'conversation' ? 1_800_000 : DEFAULTS.idle
}

export type ServerOptions = Partial<Omit<ServerConfig, 'name' | 'endpoint' | 'workspace'>> & {
  /** Does the server depend on the project folder? Default: true, unless it has a `cwd` or `url`. */
  readonly workspace?: boolean
}

export type EndpointOptions =
  | (Partial<Omit<StdioEndpoint, 'type'>> & { readonly command: string })
  | (Partial<HttpEndpoint> & { readonly url: string })

/** Defines a server in code instead of a file. Pass a function if the endpoint depends on the project folder. */
export function defineServer(
  name: string,
  endpoint: EndpointOptions | ((workspaceFolder: string) => EndpointOptions),
  { workspace: needsFolder, ...options }: ServerOptions = {},
): ServerConfig {
  const folder = process.cwd()
  const written = (place: string) => (typeof endpoint === 'function' ? endpoint(place) : endpoint)
  const inFolder = (place: string): Pick<InWorkspace, 'endpoint' | 'secrets'> => {
    const whole = wholeEndpoint(written(place), place)
    const given = Object.values(whole.type === 'stdio' ? whole.env : whole.headers)
    return {
      endpoint: whole,
      secrets: [...(options.secrets ?? []), ...given, options.oauth?.clientSecret ?? []].flat(),
    }
  }
  const own = inFolder(folder)
  const isFixed =
    typeof endpoint !== 'function' && (own.endpoint.type !== 'stdio' || 'cwd' in written(folder))
  return {
    name,
    endpoint: own.endpoint,
    description: '',
    enabled: true,
    lazy: true,
    alwaysLoad: [],
    examples: {},
    insteadOf: {},
    marks: false,
    surfaceTokens: DEFAULTS.surfaceTokens,
    maxResultTokens: undefined,
    maxConcurrentCalls: DEFAULTS.maxConcurrentCalls,
    maxCallsPerMinute: 0,
    allow: undefined,
    allowedByProfile: undefined,
    deny: [],
    deniedByProfile: [],
    readOnly: [],
    timeout: DEFAULTS.timeout,
    startTimeout: undefined,
    idle: chooseDefaultIdle(options.share ?? 'all'),
    trust: 'first-use',
    share: 'all',
    oauth: undefined,
    // Code may run commands without approval.
    commands: [],
    ...options,
    workspace: {
      folder,
      need: (needsFolder ?? !isFixed) ? 'each' : 'none',
      isStated: needsFolder !== undefined,
      written: typeof endpoint === 'function' ? endpoint.toString() : '',
      entry: '',
      in: (place) => ({ ...inFolder(place), commands: options.commands ?? [], problems: [] }),
    },
    secrets: own.secrets,
  }
}

function wholeEndpoint(endpoint: EndpointOptions, folder: string): ServerConfig['endpoint'] {
  return 'command' in endpoint
    ? { args: [], env: {}, cwd: folder, ...endpoint, type: 'stdio' }
    : { type: 'auto', headers: {}, ...endpoint }
}

/** Has an Authorization header, which is used instead of a login. */
export function hasOwnCredentials({ endpoint }: Pick<ServerConfig, 'endpoint'>): boolean {
  return (
    endpoint.type !== 'stdio' &&
    Object.keys(endpoint.headers).some((name) => name.toLowerCase() === 'authorization')
  )
}

/** Does the config offer this tool? `deny` wins. */
export function isOffered(
  tool: string,
  { name, allow, allowedByProfile, deny, deniedByProfile }: ServerConfig,
): boolean {
  const isIn = (patterns: readonly string[]) => patterns.some((pattern) => matchesTool(pattern, name, tool))
  // In a profile, a slash always follows a server: another server could name its tool "good/read".
  const isInProfile = (pattern: string) =>
    pattern.includes('/') ? matchesFullName(pattern, name, tool) : matchesTool(pattern, name, tool)
  return (
    ![...deny, ...deniedByProfile].some((pattern) => matchesDenied(pattern, name, tool)) &&
    (allow === undefined || isIn(allow)) &&
    (allowedByProfile === undefined || allowedByProfile.some(isInProfile))
  )
}

/** Compares a pattern with the name of a tool, `server/tool` and `server__tool`, ignoring case. */
export function matchesTool(pattern: string, server: string, tool: string): boolean {
  return matchesIgnoringCase(pattern, tool) || matchesFullName(pattern, server, tool)
}

/** Also compares the names that clients show, such as `mcp__server__tool` and `mcp__toolwell__server__tool`. */
export function matchesDenied(pattern: string, server: string, tool: string): boolean {
  return (
    matchesTool(pattern, server, tool) ||
    matchesFullName(pattern.replace(/^mcp__(?:toolwell__)?/i, ''), server, tool)
  )
}

/** Server and tool are compared one by one: `g*` must not allow every tool of the server `github`. */
function matchesFullName(pattern: string, server: string, tool: string): boolean {
  for (const separator of ['/', '__'])
    for (let at = pattern.indexOf(separator); at > 0; at = pattern.indexOf(separator, at + 1))
      if (
        matchesIgnoringCase(pattern.slice(0, at), server) &&
        matchesIgnoringCase(pattern.slice(at + separator.length), tool)
      )
        return true
  // Names with other characters get a hash.
  return pattern.includes('__') && pattern.toLowerCase() === createWireName(server, tool).toLowerCase()
}

const matchesIgnoringCase = (pattern: string, name: string) =>
  matchesGlob(pattern.toLowerCase(), name.toLowerCase())
