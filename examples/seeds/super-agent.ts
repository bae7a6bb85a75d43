import { createToolwell } from '@toolwell/core'
import {
  countTokenEstimate,
  superAgent,
  superAgentMcpTools,
  superAgentTools,
  toolDashboard,
} from '@toolwell/presets'
import type { SeedSystem } from './system.ts'

export const superAgentSystem: SeedSystem = {
  name: 'super-agent',
  loader: 'tool_search',
  open: (own, tracker) => {
    const definitions = (tools: typeof own) =>
      tools.map(({ inputSchema, ...tool }) => ({ ...tool, parameters: inputSchema }))
    const well = createToolwell({ ...superAgent(), tools: superAgentTools(definitions(own)) })
    well.catalogue.setSource('github', { tools: superAgentMcpTools('github', definitions(tracker)) })
    return well
  },
  ask: { query: 'mcp__github__close_issue' },
  target: 'mcp__github__close_issue',
  report: (conversation) => {
    const deferred = toolDashboard(conversation).filter((row) => row.shouldDefer && !row.active)
    return [
      `countTokenEstimate ${JSON.stringify(countTokenEstimate(conversation))}`,
      `shouldDefer, not discovered: ${deferred.map(({ name }) => name).join(', ')}`,
    ]
  },
}
