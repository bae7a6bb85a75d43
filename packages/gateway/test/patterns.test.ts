/** `deny` and `allow`: the names that people see work, and a pattern without effect is reported. */
import { defineServer } from '@toolwell/mcp'
import { isOffered } from '@toolwell/mcp/internal'
import { describe, expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually } from '../../mcp/test/support/processes.js'
import { openClient } from './support/clients.js'
import { entry, type Started, startGateway } from './support/gateway.js'

const server = () => entry(oddServer('s', { tools: [describedTool('danger'), describedTool('fine')] }))
const listed = async ({ url }: Started, path = '/mcp/all') =>
  (await (await openClient('v2 modern', url + path)).list()).map(({ name }) => name)

const NAMES = ['danger', 's/danger', 's__danger', 'S__Danger', 'DANGER', 's/dan*', 's__dan*', '*/danger']

describe.each(NAMES)('%s', (pattern) => {
  it('denies on the server and on a profile', async () => {
    const own = await startGateway({ mcpServers: { s: { ...server(), deny: [pattern] } } })
    expect(await listed(own)).toEqual(['s__fine'])
    const profile = await startGateway({ mcpServers: { s: server() }, profiles: { p: { deny: [pattern] } } })
    expect(await listed(profile, '/mcp/p/all')).toEqual(['s__fine'])
    const client = await openClient('v2 modern', `${profile.url}/mcp/p`)
    expect((await client.call('run_tool', { name: 's__danger', arguments: {} })).isError).toBe(true)
  })

  it('allows on the server and on a profile', async () => {
    const own = await startGateway({ mcpServers: { s: { ...server(), allow: [pattern] } } })
    expect(await listed(own)).toEqual(['s__danger'])
    const profile = await startGateway({ mcpServers: { s: server() }, profiles: { p: { allow: [pattern] } } })
    expect(await listed(profile, '/mcp/p/all')).toEqual(['s__danger'])
  })
})

it('never takes the beginning of a server name for the beginning of a tool name', () => {
  const github = (options: object) => defineServer('github', { command: 'x' }, options)
  expect(isOffered('delete', github({ allow: ['g*'] }))).toBe(false)
  expect(isOffered('delete', github({ deny: ['g*', 'g*_'] }))).toBe(true)
  expect(isOffered('x/read', github({ allow: ['g*/read'] }))).toBe(false)
})

it('does not let a server pass for another one by the names of its tools', () => {
  const bad = defineServer('bad', { command: 'x' }, { allowedByProfile: ['good/read'] })
  expect(isOffered('good/read', bad)).toBe(false)
})

it('reports patterns that match nothing, in the report and once among the events', async () => {
  const started = await startGateway({
    mcpServers: { s: { ...server(), deny: ['dangr', 'danger'], allow: ['*'] } },
    profiles: { p: { allow: ['s/fine', 'other/*'], deny: ['s__dnager'] } },
  })
  await listed(started)
  const problems = async () =>
    (await started.gateway.inspect()).serverSets[0]?.problems.map(({ problem }) => problem) ?? []
  await eventually(() => started.of('config-problem').length >= 3, 'the events came')
  expect(await problems()).toEqual([
    expect.stringMatching(/^"deny" of the server "s" contains "dangr", which matches no tool\. /),
    expect.stringMatching(/^"allow" of the profile "p" contains "other\/\*", which matches no tool\. /),
    expect.stringMatching(/^"deny" of the profile "p" contains "s__dnager", which matches no tool\. /),
  ])
  expect(started.of('config-problem').map(({ problem }) => problem)).toEqual(await problems())
})
