import { matchesGlob } from '@toolwell/core/internal'

/** One server as it will be used: every variable expanded, every default filled in. The noun of this package. */

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
  /** `auto`: Streamable HTTP, and SSE where that is not spoken. */
  readonly type: 'http' | 'sse' | 'auto'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** A server and the folder of a project. */
export interface ServerWorkspace {
  /**
   * The folder that its endpoint was made for, unless the config says that it depends on none. A caller that names none means this
   * one.
   */
  readonly folder: string
  /** `each` folder has a server of its own; `none`: known not to depend on a folder. */
  readonly need: 'each' | 'none'
  /** The config says so itself: then the server is not told of folders either. */
  readonly isStated: boolean
  /** Names what is written of it before the folder is filled in: the same for two that are the same in every folder. */
  readonly written: string
  /** Names how its entry says that it is reached, wherever its config is. Empty where it is written in code. */
  readonly entry: string
  /** How it is started for another folder. */
  readonly in: (folder: string) => InWorkspace
}

export interface InWorkspace extends Pick<ServerConfig, 'endpoint' | 'commands' | 'secrets'> {
  /** Why it cannot be started there: an `envFile` that is missing, say. */
  readonly problems: readonly string[]
}

/** What a login to a remote server needs beyond what the server says of itself. */
export interface OAuthSettings {
  /** A client that the authorization server knows; or the https address of a document that describes one. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** Instead of those that the server asks for. */
  readonly scopes?: readonly string[]
  /** The port of the address the browser comes back to, where it has been registered. */
  readonly callbackPort?: number
}

export interface ServerConfig {
  readonly name: string
  /** The file that its entry stands in; a lock beside it counts. Absent where the server is written in code. */
  readonly file?: string
  readonly endpoint: StdioEndpoint | HttpEndpoint
  readonly description: string
  readonly enabled: boolean
  readonly lazy: boolean
  /** Patterns of tool names. */
  readonly alwaysLoad: readonly string[]
  /** By the name of a tool: requests that it answers. */
  readonly examples: Readonly<Record<string, readonly string[]>>
  /** By the name of a tool: what it is to be used for instead of other means. */
  readonly insteadOf: Readonly<Record<string, string>>
  /** Whether marks of the server in `_meta` count. */
  readonly marks: boolean
  /** How many tokens of every request its tools may take that are always sent. */
  readonly surfaceTokens: number
  /** Undefined: every tool. */
  readonly allow: readonly string[] | undefined
  /** What a profile allows: a tool must pass this and `allow`. Undefined: every tool. */
  readonly within: readonly string[] | undefined
  readonly deny: readonly string[]
  /** Patterns of tools that a person holds to change nothing: the gateway runs them without being asked for more. */
  readonly readOnly: readonly string[]
  /** Milliseconds. */
  readonly timeout: number
  /** Milliseconds to start and list. Undefined: what the program says. */
  readonly startTimeout: number | undefined
  /** Milliseconds; infinite for never. */
  readonly idle: number
  readonly trust: Trust
  readonly share: Share
  readonly workspace: ServerWorkspace
  readonly oauth: OAuthSettings | undefined
  /**
   * What is done only once it is approved, because the entry is not in the user's own file: commands of `${cmd:…}` that are run,
   * each `${file:PATH}` outside of the entry's folder that is read, each `${env:NAME}` that is sent to an address.
   */
  readonly commands: readonly string[]
  /** Strings that must not be shown: values of variables, environment and headers. */
  readonly secrets: readonly string[]
}

export const DEFAULTS = { timeout: 60_000, startTimeout: 30_000, idle: 300_000, surfaceTokens: 1500 } as const

export type ServerOptions = Partial<Omit<ServerConfig, 'name' | 'endpoint' | 'workspace'>> & {
  /** Whether it depends on the folder of a project. Default: it does unless it has a `cwd` or `url`. */
  readonly workspace?: boolean
}

export type EndpointOptions =
  | (Partial<Omit<StdioEndpoint, 'type'>> & { readonly command: string })
  | (Partial<HttpEndpoint> & { readonly url: string })

/** A server written in code instead of a file. An endpoint that depends on the folder of a project is a function of it. */
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
    allow: undefined,
    within: undefined,
    deny: [],
    readOnly: [],
    timeout: DEFAULTS.timeout,
    startTimeout: undefined,
    idle: DEFAULTS.idle,
    trust: 'first-use',
    share: 'all',
    oauth: undefined,
    // Whoever wrote the program may run commands.
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

/** Credentials in the config are used instead of a login. */
export function hasOwnCredentials({ endpoint }: Pick<ServerConfig, 'endpoint'>): boolean {
  return (
    endpoint.type !== 'stdio' &&
    Object.keys(endpoint.headers).some((name) => name.toLowerCase() === 'authorization')
  )
}

// Whether a tool of a server may be used at all, as far as its config goes.

/** What the config lets through; deny wins. */
export function isOffered(
  name: string,
  { allow, within, deny }: Pick<ServerConfig, 'allow' | 'within' | 'deny'>,
): boolean {
  const isIn = (patterns: readonly string[]) => patterns.some((pattern) => matchesGlob(pattern, name))
  return !isIn(deny) && [allow, within].every((patterns) => patterns === undefined || isIn(patterns))
}
