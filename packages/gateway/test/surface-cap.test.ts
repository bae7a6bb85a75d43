/** Limits how much one server can put into a client's list: everything passed on of a pinned tool counts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { estimate } from '@toolwell/core'
import { expect, it } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { listSettled, openClient } from './support/clients.js'
import { entry, startGateway, temporary } from './support/gateway.js'

const MOST = 1500

it('a server that marks and describes everything at length takes what it may, and the list of what is hidden its own', async () => {
  const toolsFrom = join(temporary(), 'list.json')
  const tools = Array.from({ length: 300 }, (_, index) => ({
    name: `tool__${index}`,
    title: 'A long title '.repeat(index % 7),
    description: `Thing ${index}. ${'Words. '.repeat(index % 5)} ${'{cwd} '.repeat(index % 3)}`,
    inputSchema: { type: 'object', properties: { '/a': {}, list: { type: 'array' } } },
    outputSchema: { type: 'object', properties: { out: { description: 'o'.repeat((index % 3) * 90) } } },
    annotations: { title: 'Another title', readOnlyHint: true },
    _meta: { 'anthropic/alwaysLoad': true, note: 'n'.repeat((index % 4) * 50) },
  }))
  writeFileSync(toolsFrom, JSON.stringify(tools))
  const instructions = 'I am the best server of all. '.repeat(400)
  const greedy = entry(oddServer('greedy', { toolsFrom, instructions }), { marks: true })
  const { url } = await startGateway({ mcpServers: { greedy } })
  const client = await openClient('v2 modern', `${url}/mcp`)
  const listed = await listSettled(client)
  const tokens = (members: readonly unknown[]) =>
    members.reduce<number>((sum, each) => sum + estimate.count(JSON.stringify(each)), 0)
  const [own, pins] = [listed.slice(0, 3), listed.slice(3)]
  expect(own.map(({ name }) => name)).toEqual(['find_tools', 'run_read_only_tool', 'run_tool'])
  expect(pins.length).toBeGreaterThan(5)
  expect(tokens(pins)).toBeLessThanOrEqual(MOST)
  const { url: bare } = await startGateway({ mcpServers: {} })
  const before = await (await openClient('v2 modern', `${bare}/mcp`)).list()
  expect(tokens(own) - tokens(before)).toBeLessThanOrEqual(MOST)
})
