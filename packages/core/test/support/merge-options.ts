import type { ToolwellOptions } from '@toolwell/core'

/** Merges options group by group; a plain spread would replace whole groups. */
export function mergeOptions(base: ToolwellOptions, more: ToolwellOptions): ToolwellOptions {
  return {
    ...base,
    ...more,
    search: { ...base.search, ...more.search },
    surface: { ...base.surface, ...more.surface },
    limits: { ...base.limits, ...more.limits },
    costs: { ...base.costs, ...more.costs },
  }
}
