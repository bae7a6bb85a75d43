import { createToolwell } from '@toolwell/core'
import { qwenCode, qwenTool } from '@toolwell/presets'
import type { SeedSystem } from './system.ts'

export const qwenCodeSystem: SeedSystem = {
  name: 'Qwen Code',
  loader: 'tool_search',
  open: (own, tracker) => {
    const registered = own.map(({ name, description, inputSchema: parameterSchema, ...also }) =>
      qwenTool({ name, description, parameterSchema, alwaysLoad: true }, also),
    )
    const well = createToolwell({ ...qwenCode(), tools: registered })
    well.catalogue.setSource('github', { tools: tracker })
    return well
  },
  ask: { query: '+close issue', max_results: 1 },
  target: 'mcp__github__close_issue',
  report: (conversation) => {
    const { loadedLazyTools, deferredNames } = conversation.inspect()
    return [`revealed ${loadedLazyTools.join(', ')}; deferred ${deferredNames.length}`]
  },
}
