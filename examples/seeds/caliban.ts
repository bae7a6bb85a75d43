import { createToolwell } from '@toolwell/core'
import { caliban, mcpActive } from '@toolwell/presets'
import type { SeedSystem } from './system.ts'

const config = { tools: { lazy_mcp: true }, server: { notes: { lazy: false } } }

export const calibanSystem: SeedSystem = {
  name: 'Caliban',
  loader: 'ToolSearch',
  open: (own, tracker) => {
    const well = createToolwell({ ...caliban(config), tools: own })
    well.catalogue.setSource('github', { tools: tracker })
    return well
  },
  ask: { query: 'select:mcp__github__close_issue' },
  target: 'mcp__github__close_issue',
  report: (conversation) => [mcpActive(conversation, config)],
}
