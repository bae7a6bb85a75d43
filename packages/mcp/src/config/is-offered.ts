/** Whether a tool of a server may be used at all, as far as its config goes. */
import { matchesGlob } from '@toolwell/core/internal'
import type { ServerConfig } from './server-config.js'

/** What the config lets through; deny wins. */
export function isOffered(
  name: string,
  { allow, within, deny }: Pick<ServerConfig, 'allow' | 'within' | 'deny'>,
): boolean {
  const isIn = (patterns: readonly string[]) => patterns.some((pattern) => matchesGlob(pattern, name))
  return !isIn(deny) && [allow, within].every((patterns) => patterns === undefined || isIn(patterns))
}
