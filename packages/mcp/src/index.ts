/** Public API: reads config files, and connects servers as sources of a catalogue. */
export { type LoginOptions, type LoginResult, login } from './auth/login.js'
export { LoginError, type LoginErrorCode } from './auth/login-error.js'
export {
  diskLogins,
  type Login,
  type LoginStore,
  type LoginStoreOptions,
} from './auth/login-store.js'
export { type LogoutResult, logout } from './auth/logout.js'
export { type ConfigProblem, describeProblem } from './config/document.js'
export type { Profile } from './config/file-settings.js'
export {
  type Config,
  type ConfigFile,
  defaultConfigFiles,
  type LoadOptions,
  loadConfig,
} from './config/load-config.js'
export {
  defineServer,
  type EndpointOptions,
  type HttpEndpoint,
  type InWorkspace,
  type OAuthSettings,
  type ServerConfig,
  type ServerOptions,
  type ServerWorkspace,
  type Share,
  type StdioEndpoint,
  type Trust,
} from './config/server-config.js'
export { connectServers, type Servers } from './connect-servers/connect-servers.js'
export type { CallOrigin, ConnectOptions } from './connect-servers/options.js'
export type { RunningServer, ServerReport } from './connect-servers/report.js'
export type { UpdatedConfig, UpdateReport } from './connect-servers/update.js'
export { type CachedDefinition, type DefinitionCache, memoryCache } from './definition/cache.js'
export { type CacheOptions, diskCache } from './definition/disk-cache.js'
export type {
  McpTool,
  ServerDefinition,
  ServerOffers,
  UnusableEntry,
} from './definition/server-definition.js'
export type { ServerWarning, WarningCode, WarningListener } from './definition/warning.js'
export { diskFirstUse, type FirstUseOptions } from './trust/lock/disk-first-use.js'
export { type FirstUse, type FirstUseStore, memoryFirstUse, type SeenTool } from './trust/lock/first-use.js'
export type { ReviewedOffers } from './trust/lock/judge-offers.js'
export type { Review, Reviewer, ReviewFinding, ReviewRequest } from './trust/review.js'
export type { Rule, RuleSettings } from './trust/scan/rules.js'
export type { Caller, CallerCapabilities, CallerHandlers, LogMessage } from './upstream/caller.js'
export type { CallOptions, Progress, QuestionRelay, ServerRequest } from './upstream/connection.js'
export { type FailureKind, McpFailure } from './upstream/failures.js'
export type { ServerAuth } from './upstream/open-client.js'
export type { LossReason, ServerEvent, ServerState } from './upstream/server-state.js'
