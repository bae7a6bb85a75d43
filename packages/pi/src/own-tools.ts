/** Tools of pi and its other extensions that the config defers. Toolwell finds and loads them, pi runs them. */
import { defineTool, type Policy, type Tool } from '@toolwell/core'
import { matchesGlob } from '@toolwell/core/internal'
import type { Pi } from './pi.js'

/** Tools that a coding agent always needs. */
const ALWAYS_LOADED: ReadonlySet<string> = new Set(['read', 'bash', 'edit', 'write'])

export interface OwnTools {
  readonly tools: readonly Tool[]
  /** Settings that cannot be applied, as sentences. */
  readonly problems: readonly string[]
}

/** Reads pi's active tools. A pattern may cover an always-loaded tool; naming one is a problem. */
export function deferOwnTools(
  pi: Pick<Pi, 'getActiveTools' | 'getAllTools'>,
  defer: readonly string[],
): OwnTools {
  if (defer.length === 0) return { tools: [], problems: [] }
  const active = new Set(pi.getActiveTools())
  const isMeant = (name: string) => defer.some((pattern) => matchesGlob(pattern, name))
  const tools = pi
    .getAllTools()
    .filter(({ name }) => active.has(name) && !ALWAYS_LOADED.has(name) && isMeant(name))
    .map(({ name, description, parameters }) =>
      defineTool({
        name,
        description,
        inputSchema: JSON.parse(JSON.stringify(parameters)),
        defer: true,
      }),
    )
  const problems = defer
    .filter((name) => ALWAYS_LOADED.has(name))
    .map(
      (name) => `hostTools.defer: ${name} cannot be deferred, because pi needs it. Remove it from the list.`,
    )
  return { tools, problems }
}

/**
 * pi runs a call under the name that the model wrote, so pi's own tools cannot be called through the bridge. Without the bridge,
 * found tools are appended to the tools array.
 */
export const withoutBridge: Policy = ({ id }) => id !== 'toolwell/tool_call'
