/** Builds the text that `/toolwell` prints. */
import type { Accounting } from '@toolwell/core'
import type { Session } from './session.js'

export function describeSession({ conversation, servers, problems, project }: Session): string {
  const { line, loadedLazyTools, accounting } = conversation.inspect()
  const states = servers.inspect().map(({ name, state, tools, reason }) => {
    const why = reason === '' ? '' : `: ${reason}`
    return `  ${name}  ${state}, ${tools.length} tools${why}`
  })
  const unused = [...project.undecided, ...project.refused]
  return [
    line,
    'loaded',
    ...(loadedLazyTools.length === 0 ? ['  none yet'] : loadedLazyTools.map((name) => `  ${name}`)),
    'cost',
    ...describeCost(accounting),
    'servers',
    ...(states.length === 0 ? ['  none: add them to toolwell.json or .mcp.json in this folder'] : states),
    ...unused.map(({ path }) => `! ${path} is not used: nobody has trusted it. To use it: /toolwell trust`),
    ...problems.map((problem) => `! ${problem}`),
  ].join('\n')
}

function describeCost({ measured, actual, counterfactual, saved, cost }: Accounting): string[] {
  if (measured === 0) return ['  nothing measured yet']
  const percent = counterfactual === 0 ? 0 : Math.round((100 * saved) / counterfactual)
  const priced = cost.counterfactual === 0 ? 0 : Math.round((100 * cost.saved) / cost.counterfactual)
  return [
    `  ${figure(actual)} input tokens in ${measured} ${measured === 1 ? 'request' : 'requests'}; with every tool sent: ${figure(counterfactual)}`,
    saved < 0
      ? `  ${figure(-saved)} tokens more than sending every tool (+${-percent} %)`
      : `  saved ${figure(saved)} tokens (${percent} %)`,
    `  at cache prices: ${priced < 0 ? `${-priced} % more` : `${priced} % saved`}`,
  ]
}

const figure = (tokens: number) => Math.round(tokens).toLocaleString('en')
