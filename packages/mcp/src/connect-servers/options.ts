/** What a host can say about its servers, and what counts where it says nothing. */
import { assertKnownKeys, dropUndefined, invalid } from '@toolwell/core/internal'
import type { LoginStore } from '../auth/login-store.js'
import type { ServerConfig } from '../config/server-config.js'
import type { DefinitionCache } from '../definition/cache.js'
import type { FirstUseStore } from '../trust/lock/first-use.js'
import type { Reviewer } from '../trust/review.js'
import { assertRules, type RuleSettings } from '../trust/scan/rules.js'
import {
  assertCaller,
  type Caller,
  type CallerCapabilities,
  type CallerHandlers,
} from '../upstream/caller.js'
import type { ServerAuth } from '../upstream/open-client.js'
import type { ServerEvent } from '../upstream/server-state.js'

export interface ConnectOptions {
  /** Where definitions are kept. Default: files in the user's cache folder. */
  readonly cache?: DefinitionCache
  /** Where is remembered what servers were when first seen. Default: files in the user's folder for data. */
  readonly firstUse?: FirstUseStore
  /** The lock that counts for all servers; `false`: none. Default: `toolwell.lock` beside the config file of each. */
  readonly lock?: string | false
  /**
   * Whether definitions are scanned for poison, and which rules are switched off besides those of the config:
   * `{ rules: { 'steer-preference': 'off' } }`. Default true; tools with hard findings are held back.
   */
  readonly scan?: boolean | { readonly rules?: RuleSettings }
  /** Asked about every definition as well. It may hold back more, and releases nothing. */
  readonly review?: Reviewer
  /** Where logins are kept. Default: files that only the user can read. */
  readonly logins?: LoginStore
  /** Credentials of a remote server. Default: its login, if there is one. */
  readonly auth?: (server: ServerConfig) => ServerAuth | undefined
  /** The folder for what local servers write to standard error; `false`: it is not kept. Default: in the user's folder for state. */
  readonly logs?: string | false
  /** What servers may ask of the callers of this program's conversations. */
  readonly handlers?: CallerHandlers
  /** What can be done of what `handlers` are for; as `capabilities` of a caller. */
  readonly capabilities?: CallerCapabilities
  /** Names this program to servers with `share: client`. */
  readonly client?: string
  /**
   * More of who calls, for calls that a model makes: the folder of its project, say. Asked for every such call; what it gives
   * is used before `client` and `handlers`. Where it is given, definitions that name the folder of their server name
   * `${workspaceFolder}` instead: other callers read them too.
   */
  readonly caller?: (call: CallOrigin) => Caller
  /**
   * Wait in `settled` as long as it takes also for servers that could not be listed when an earlier program tried. Default: not
   * at all within ten minutes, then two seconds; they are listed in the background all the same.
   */
  readonly patient?: boolean
  /** How many unknown servers are listed at a time. Default 8. */
  readonly concurrency?: number
  /** Milliseconds to start, shake hands and list. Default 30,000. */
  readonly connectTimeout?: number
  readonly onEvent?: (event: ServerEvent) => void
  readonly now?: () => number
  readonly random?: () => number
}

/** Where a model's call comes from. */
export interface CallOrigin {
  readonly conversation: string | undefined
  /** Who the conversation acts for. */
  readonly principal: string | undefined
  readonly server: string
}

const KEYS = [
  'cache',
  'firstUse',
  'lock',
  'scan',
  'review',
  'logins',
  'auth',
  'logs',
  'handlers',
  'capabilities',
  'client',
  'caller',
  'patient',
  'concurrency',
  'connectTimeout',
  'onEvent',
  'now',
  'random',
] as const satisfies readonly (keyof ConnectOptions)[]

type WithDefault = 'client' | 'concurrency' | 'connectTimeout' | 'now' | 'random'

export type ConnectSettings = Omit<ConnectOptions, WithDefault | 'scan'> &
  Required<Pick<ConnectOptions, WithDefault>> & {
    readonly scan: boolean
    /** Rules of the scan that the host switches off. */
    readonly rules: RuleSettings
  }

/** Throws `invalid-option` for unknown keys and impossible values. */
export function readOptions(options: ConnectOptions): ConnectSettings {
  assertKnownKeys(options, KEYS, 'connectServers')
  const {
    scan = true,
    client = '',
    concurrency = 8,
    connectTimeout = 30_000,
    now = Date.now,
    random = Math.random,
    ...rest
  } = options
  const { handlers, capabilities } = rest
  assertCaller(dropUndefined({ handlers, capabilities }), 'connectServers')
  if (!(concurrency >= 1))
    throw invalid('concurrency', `concurrency must be at least 1, not ${String(concurrency)}.`)
  return {
    ...rest,
    scan: scan !== false,
    rules: typeof scan === 'boolean' ? {} : assertRules(scan, 'connectServers.scan'),
    client,
    concurrency,
    connectTimeout,
    now,
    random,
  }
}
