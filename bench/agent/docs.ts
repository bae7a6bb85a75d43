/** Writes the figures into docs/guides/pi.md. */
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
    `Tokens (o200k) of ten turns with six real servers and ${listed} tools. Three turns search, load and call a tool. The model is scripted. Run it with \`npm run bench -- agent\`.`,
    '',
    '| | first request | last request of turn 10 | all requests |',
    '|---|---|---|---|',
    ...rows,
    '',
    `With ${growth.tools} tools the first request has ${figure(growth.tokens)} tokens, ${figure(growth.more)} more. The first requests of other agents, measured once with 95 tools, have ${figure(least.tokens)} (${least.agent}) to ${figure(most.tokens)} tokens (${most.agent}).`,
    'On every wire, each request begins with the bytes of the request before it. Both extensions search for the same words; pi-mcp-adapter shows the parameters of every tool that contains one of them.',
  ].join('\n')
  const start = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (start < 0 || end < start)
    throw new Error(`docs/guides/pi.md has no place for the figures: ${BEGIN} … ${END}`)
  return `${page.slice(0, start + BEGIN.length)}\n${text}\n${page.slice(end)}`
}
