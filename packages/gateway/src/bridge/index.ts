/** Entry point for stdio clients and the command: find, start and reach the daemon. Does not load the SDK. */

export { runBridge } from './bridge.js'
export {
  type ClientRules,
  identifyProgram,
  LONGEST_RULE,
  type OwnServer,
  type Rule,
  type RuleAction,
  writeRules,
} from './client-rules.js'
export { approval, shellWord } from './commands.js'
export { askDaemon, findDaemon } from './find-daemon.js'
export {
  defaultGatewayFolder,
  FolderProblem,
  isTokenName,
  keepForOwner,
  newToken,
  preparePrivateFolder,
  readToken,
  replaceToken,
  tokenFileIn,
  tokenIn,
} from './folder.js'
export { endDaemon, isAlive, isDaemon } from './processes.js'
export {
  CALL_NAME,
  DASHBOARD_LINK_PATH,
  type DaemonFile,
  endpointPath,
  profileFault,
  SEARCH_NAME,
} from './protocol.js'
export { DAEMON_FLAGS, findOrStartDaemon, StartProblem } from './start-daemon.js'
