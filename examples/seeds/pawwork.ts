import { createToolwell } from '@toolwell/core'
import { pawwork } from '@toolwell/presets'
import type { SeedSystem } from './system.ts'

export const pawworkSystem: SeedSystem = {
  name: 'PawWork',
  loader: 'tool_info',
  open: (own, tracker) =>
    createToolwell({
      ...pawwork({ deferred: tracker.map(({ name }) => name) }),
      tools: [...own, ...tracker],
    }),
  ask: { name: 'close_issue' },
  target: 'close_issue',
  report: (conversation) => {
    const { loadedLazyTools, protectedToolNames } = conversation.inspect()
    return [
      `activated ${loadedLazyTools.join(', ')}`,
      `never pruned: results of ${protectedToolNames.join(', ')}`,
    ]
  },
}
