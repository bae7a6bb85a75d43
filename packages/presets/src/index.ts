/**
 * Option sets for owners of existing systems, so that they can adopt Toolwell and keep their names, plus helpers named
 * after each system's API: `createToolwell({ ...caliban(), tools })`. See docs/presets.md.
 */
export {
  type CalibanAgent,
  type CalibanConfig,
  caliban,
  calibanSubAgent,
  mcpActive,
  unknownServers,
} from './caliban.js'
export * from './pawwork.js'
export * from './qwen-code.js'
export {
  type LazyToolSessionState,
  lazyToolSessionState,
  restoreLazyToolSessionState,
  type SfToolSearchInput,
  type SfToolSearchResult,
  sf,
  sfToolSearchResult,
  sfTools,
} from './sf.js'
export { type SfMcpOptions, sfMcpTools } from './sf-mcp.js'
export {
  countTokenEstimate,
  getDeferredToolSummary,
  type SuperAgentTool,
  superAgent,
  superAgentMcpTools,
  superAgentTools,
  type ToolRow,
  toolDashboard,
} from './super-agent.js'
