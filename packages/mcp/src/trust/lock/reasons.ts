/** Why something is held back, in words for whoever has to decide: the cause, and the command or the entry that settles it. */
import type { Finding } from '../scan/finding.js'
import type { Decision, HoldReason } from './create-review.js'

export function hold(
  kind: HoldReason,
  server: string,
  tool: string | undefined,
  why: string,
  findings: readonly Finding[],
): Decision {
  const hard = [...new Set(findings.filter(({ severity }) => severity === 'hard').map(({ rule }) => rule))]
  const advice =
    hard.length > 0
      ? `The scan found ${hard.join(', ')}: do not approve it. ${keepOut(server, tool)}`
      : kind === 'duplicate'
        ? `Ask the author to fix it. ${keepOut(server, tool)}`
        : `See what differs, and approve it, with: ${approveCommand(server, tool)}`
  return { allowed: false, kind, reason: `${why}. ${advice}`, findings }
}

/** What to do about a tool, or a server, that should not be used. */
export function keepOut(server: string, tool?: string): string {
  const entry = `in the entry of ${visibleName(server)}`
  if (tool === undefined) return `Keep it out: "enabled": false ${entry}.`
  // The whole name, with what cannot be seen as escapes: a star would keep out innocent tools too.
  const pattern = JSON.stringify(tool.length > 300 ? `${tool.slice(0, 300)}*` : tool).replace(
    /[^\u0020-\u007e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `Keep it out: "deny": [${pattern}] ${entry}.`
}

/** Names come from servers: shown so that they can neither hide nor run anything. */
export const visibleName = (name: string) =>
  /^[\w.@/-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80).replace(/[^\u0020-\u007e]/g, '?'))

export const show = (server: string, tool: string) => `${visibleName(server)}/${visibleName(tool)}`

/** What is not plain is left to a star, which the command takes for any characters. */
export function approveCommand(server: string, tool?: string): string {
  const target = tool === undefined ? server : `${server}/${tool}`
  return `toolwell approve ${/^[\w.@/-]+$/.test(target) ? target : `'${target.replaceAll("'", "'\\''").replace(/[^\u0020-\u007e]+/g, '*')}'`}`
}
