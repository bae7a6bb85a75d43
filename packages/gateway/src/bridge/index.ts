/** The thin door: what a stdio client and the command need to find, start and reach the daemon. Nothing here loads the SDK. */
export { askDaemon } from './ask-daemon.js'
export { type BridgeOptions, runBridge } from './bridge.js'
export { type Found, findDaemon } from './find-daemon.js'
export {
  defaultGatewayFolder,
  FolderProblem,
  logFileIn,
  preparePrivateFolder,
  readToken,
  replaceToken,
  tokenFileIn,
  tokenIn,
} from './folder.js'
export { endDaemon, isAlive, isDaemon } from './processes.js'
export { type DaemonFile, type Identity, PROTOCOL, WORKSPACE_HEADER } from './protocol.js'
export { shellWord } from './shell-word.js'
export { DAEMON_FLAGS, findOrStartDaemon, StartProblem } from './start-daemon.js'
