/** Connects every agent that installs from npm, and runs it against a scripted model. `UPDATE_GOLDEN=1` saves the table. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { installed } from '../../../../test/setup/framework-folder.js'
import { LABELS } from '../../src/shared/clients/clients.js'
import { AGENTS, type Agent } from './agents.js'
import { clientsPage, type SavedRow } from './clients-page.js'
import { type Row, tryAgent } from './try-agent.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const results = join(root, 'bench/results/clients.json')

function install({ client, packages }: Agent): string | undefined {
  try {
    return join(installed(packages), 'node_modules')
  } catch (error) {
    console.error(`NOT TESTED: ${client} cannot be installed here. ${String(error).slice(0, 500)}`)
    return undefined
  }
}

/** Replaces the row of this agent, and writes the page. */
function save({ client, packages }: Agent, row: Row): void {
  const saved = JSON.parse(readFileSync(results, 'utf8')) as SavedRow[]
  const version = packages[0].replace(/^.*@/, '')
  const date = new Date().toISOString().slice(0, 10)
  const rows = AGENTS.flatMap((each) =>
    each.client === client
      ? [{ client, label: LABELS[client], version, date, ...row }]
      : saved.filter((other) => other.client === each.client),
  )
  writeFileSync(results, `${JSON.stringify(rows, null, 2)}\n`)
  writeFileSync(join(root, 'docs/compatibility/clients.md'), clientsPage(rows))
}

it.each(AGENTS)('$client finds and calls tools, and nothing is weaker than before', async (agent) => {
  const modules = install(agent)
  if (modules === undefined) return
  const { row, story } = await tryAgent(agent, modules)
  if (process.env.UPDATE_GOLDEN === '1') save(agent, row)
  const lost = Object.entries(row).filter(([, cell]) => cell === 'no')
  if (lost.length > 0) console.error(story)
  expect(lost).toEqual([])
})
