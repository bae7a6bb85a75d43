/** Options of `connectServers` and their defaults. */
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
  /** Storage of definitions. Default: files in the user's cache folder. */
  readonly cache?: DefinitionCache
  /** Storage of first-use records. Default: files in the user's data folder. */
  readonly firstUse?: FirstUseStore
  /** One lock for all servers; `false`: none. Default: `toolwell.lock` next to each config file. */
  readonly lock?: string | false
  /**
   * Scans definitions for signs of an attack. Tools with hard findings are quarantined. `{ rules: { 'steer-preference': 'off' } }` switches off
   * rules in addition to the config. Default: true.
   */
  readonly scan?: boolean | { readonly rules?: RuleSettings }
  /** Additional reviewer of every definition. It can quarantine more, but not release anything. */
  readonly review?: Reviewer
  /** Storage of logins. Default: files that only the user can read. */
  readonly logins?: LoginStore
  /** Credentials of a remote server. Default: its stored login. */
  readonly auth?: (server: ServerConfig) => ServerAuth | undefined
  /** Folder for standard error of local servers; `false`: no logs. Default: in the user's state folder. */
  readonly logs?: string | false
  /** Handlers of servers' questions to this program. */
  readonly handlers?: CallerHandlers
  /** Details of the capabilities that `handlers` announce, as in `capabilities` of a caller. */
  readonly capabilities?: CallerCapabilities
  /** Identifies this program for servers with `share: client`. */
  readonly client?: string
  /**
   * Details of the caller for each call of a model, such as the project folder. Its values override `client` and `handlers`. If set,
   * definitions contain `${workspaceFolder}` instead of the folder, because other callers read them, too.
   */
  readonly caller?: (call: CallOrigin) => Caller
  /**
   * Let `settled` wait without limit for servers that an earlier program could not list. Default: no wait within ten minutes after
   * the failure, later two seconds. They are still listed in the background.
   */
  readonly patient?: boolean
  /** Maximum number of servers that are listed at a time. Default 8. */
  readonly concurrency?: number
  /** Milliseconds to start, shake hands and list. Default 30,000. */
  readonly connectTimeout?: number
  readonly onEvent?: (event: ServerEvent) => void
  readonly now?: () => number
  readonly random?: () => number
}

/** Origin of a model's call. */
export interface CallOrigin {
  readonly conversation: string | undefined
  /** The user of the conversation. */
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
    /** Scan rules that the host switches off. */
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
