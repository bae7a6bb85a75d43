/** The part of docs/guides/pi.md that shows the figures. */
import type { AgentFigures } from '../agent.ts'

const BEGIN = '<!-- agent:begin -->'
const END = '<!-- agent:end -->'
const figure = (tokens: number) => tokens.toLocaleString('en')

export function fillDocs(page: string, { listed, agents, growth, published }: AgentFigures): string {
  const least = published.reduce((a, b) => (b.tokens < a.tokens ? b : a))
  const most = published.reduce((a, b) => (b.tokens > a.tokens ? b : a))
  const rows = agents.map(
    ({ agent, first, tenth, all }) =>
      `| ${agent} | ${figure(first.total)} | ${figure(tenth.total)} | ${figure(all)} |`,
  )
  const text = [
    `Six real servers with ${listed} tools in the config, ten turns, three of which search, load and call a tool; tokens by o200k, the model is scripted (\`npm run bench -- agent\`):`,
    '',
    '| | first request | last request of turn 10 | all requests |',
    '|---|---|---|---|',
    ...rows,
    '',
    `With ${growth.tools} tools the first request has ${figure(growth.tokens)} tokens, ${figure(growth.more)} more. Other agents, measured once with 95 tools, send ${figure(least.tokens)} (${least.agent}) to ${figure(most.tokens)} tokens (${most.agent}) in theirs.`,
    'On every wire each of these requests begins with the whole one before it. The same words are searched for with both extensions; the other one shows the parameters of everything that holds one of them.',
  ].join('\n')
  const start = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (start < 0 || end < start) throw new Error(`docs/guides/pi.md has no place for the figures: ${BEGIN} … ${END}`)
  return `${page.slice(0, start + BEGIN.length)}\n${text}\n${page.slice(end)}`
}
