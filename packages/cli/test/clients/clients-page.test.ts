/** Checks docs/compatibility/clients.md: it is made of the saved rows, and every agent has one. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { AGENTS } from './agents.js'
import { clientsPage, type SavedRow } from './clients-page.js'

const read = (file: string) => readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8')

it('shows the saved rows', () => {
  const rows = JSON.parse(read('bench/results/clients.json')) as SavedRow[]
  expect(clientsPage(rows)).toBe(read('docs/compatibility/clients.md'))
  expect(rows.map(({ client }) => client)).toEqual(AGENTS.map(({ client }) => client))
})
