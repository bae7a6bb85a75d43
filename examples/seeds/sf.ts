import { createToolwell } from '@toolwell/core'
import { lazyToolSessionState, sf, sfTools } from '@toolwell/presets'
import type { SeedSystem } from './system.ts'

export const sfSystem: SeedSystem = {
  name: 'SF',
  loader: 'sf_tool_search',
  open: (own, tracker) => {
    const lazy = tracker.map(({ name }) => ({ name, lazy: true, domain: 'planning' }))
    const manifest = { provides: { tools: [...own.map(({ name }) => name), ...lazy] } }
    return createToolwell({ ...sf(), tools: sfTools([...own, ...tracker], manifest) })
  },
  ask: { query: 'close_issue', domain: 'planning' },
  target: 'close_issue',
  report: (conversation) => [`LazyToolSessionState ${JSON.stringify(lazyToolSessionState(conversation))}`],
}
