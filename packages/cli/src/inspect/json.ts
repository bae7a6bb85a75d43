/** What was inspected, for programs. The keys are documented in docs/reference/cli.md; new ones may be added, none changes its meaning. */
import { dropUndefined } from '@toolwell/core/internal'
import type { ToolCost } from '../shared/servers/cost.js'
import type { Inspected } from './collect.js'
import type { Verdict } from './judge.js'

export function inspectJson(
  inspected: Inspected,
  { maxTokens, isWithin, failure }: Verdict & { readonly maxTokens: number | undefined },
): string {
  const { tokenizer, servers, tools, tokens, surface, deferred, problems, incomplete } = inspected
  const value = {
    tokenizer,
    tokens: { ...costs(tokens), surface: surface.tokens, deferred: deferred.tokens },
    surface,
    deferred,
    servers: servers.map(({ quarantined, listedAt, tokens: own, ...server }) => ({
      ...server,
      ...dropUndefined({ listedAt: listedAt === undefined ? undefined : new Date(listedAt).toISOString() }),
      quarantined: Object.fromEntries(quarantined),
      tokens: costs(own),
    })),
    tools: tools.map(({ tokens: own, ...tool }) => ({ ...tool, tokens: costs(own) })),
    problems,
    incomplete,
    ...(maxTokens === undefined ? {} : { maxTokens, isWithin }),
    ...failure,
  }
  return `${JSON.stringify(value, null, 2)}\n`
}

const costs = ({ full, card, name }: ToolCost) => ({ definitions: full, cards: card, names: name })
