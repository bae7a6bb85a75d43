/** What `/toolwell` prints. */
import type { Session } from './session.js'

export function describeSession({ conversation, servers, problems }: Session): string {
  const { line } = conversation.inspect()
  const states = servers.inspect().map(({ name, state, tools, reason }) => {
    const why = reason === '' ? '' : `: ${reason}`
    return `  ${name}  ${state}, ${tools.length} tools${why}`
  })
  return [
    line,
    'servers',
    ...(states.length === 0 ? ['  none: write them into toolwell.json or .mcp.json of this folder'] : states),
    ...problems.map((problem) => `! ${problem}`),
  ].join('\n')
}
