/** Public API: the gateway and its daemon. */
export type { Called } from './answer/call-tool.js'
export {
  type Daemon,
  type DaemonOptions,
  type DaemonStart,
  DEFAULT_PORT,
  PortInUse,
  runDaemon,
  type TrustedProjects,
  trustedProjects,
} from './daemon/run-daemon.js'
export type { ClientReport } from './http/clients.js'
export { createGateway, type Gateway, type GatewayEvent, type GatewayOptions } from './http/gateway.js'
export type { GatewayReport, Lost, ServerSetReport, ServerStatus } from './http/report.js'
export { createRulesJudge } from './servers/client-rules.js'
