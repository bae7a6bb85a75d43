/**
 * Option sets for the owners of existing systems, which keep the names of those systems, and small helpers named after their
 * APIs: `createToolwell({ ...caliban(), tools })`. A group of options replaces the preset's group of that name. See docs/guides/presets.md.
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
