import { it } from 'vitest'
import { AGENTS } from './agents.js'
import { tryAgent } from './try-agent.js'

const only = process.env.ONLY ?? ''
const bins: Record<string, string> = { 'claude-code': 'claude', 'copilot-cli': 'copilot' }
it.each(AGENTS.filter((a) => !only || only.split(',').includes(a.client)))('$client', async (agent) => {
  const s = Date.now()
  const { row, story } = await tryAgent(
    agent,
    `/tmp/agents/${bins[agent.client] ?? agent.client}/node_modules`,
    '/tmp/agents/node22/node_modules/.bin/node',
  )
  console.log(
    process.env.STORY ? story : '',
    JSON.stringify({ client: agent.client, ...row }),
    Date.now() - s,
  )
})
