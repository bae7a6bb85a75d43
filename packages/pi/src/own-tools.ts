/** Tools of pi and of its other extensions that the config defers. They are found and loaded here, and run by pi. */
import { defineTool, type Policy, type Tool } from '@toolwell/core'
import { matchesGlob } from '@toolwell/core/internal'
import type { Pi } from './pi.js'

/** The floor: what a coding agent cannot do without is never deferred. */
const FLOOR: ReadonlySet<string> = new Set(['read', 'bash', 'edit', 'write'])

export interface OwnTools {
  readonly tools: readonly Tool[]
  /** Wishes that cannot be met, in words. */
  readonly problems: readonly string[]
}

/** Those that pi offers now. A pattern that covers the floor is no wish to defer it; its name is. */
export function ownTools(pi: Pick<Pi, 'getActiveTools' | 'getAllTools'>, defer: readonly string[]): OwnTools {
  if (defer.length === 0) return { tools: [], problems: [] }
  const active = new Set(pi.getActiveTools())
  const isMeant = (name: string) => defer.some((pattern) => matchesGlob(pattern, name))
  const tools = pi
    .getAllTools()
    .filter(({ name }) => active.has(name) && !FLOOR.has(name) && isMeant(name))
    .map(({ name, description, parameters }) =>
      defineTool({
        name,
        description,
        inputSchema: JSON.parse(JSON.stringify(parameters)),
        defer: true,
      }),
    )
  const problems = defer
    .filter((name) => FLOOR.has(name))
    .map((name) => `hostTools.defer: ${name} is never deferred, pi cannot work without it. Remove it there.`)
  return { tools, problems }
}

/**
 * pi runs a call by the name that the model wrote, so a call of pi's own tool cannot come over the bridge. Without it, what is
 * found joins the end of the tools array.
 */
export const withoutBridge: Policy = ({ id }) => id !== 'toolwell/tool_call'
