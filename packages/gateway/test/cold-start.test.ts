/** The first list of a gateway that knows no tools yet. */
import { expect, it } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually } from '../../mcp/test/support/processes.js'
import { openClient, ownNames } from './support/clients.js'
import { entry, startGateway } from './support/gateway.js'

it('has the tools of the gateway before a server that never answers is given up', async () => {
  const { url, events } = await startGateway(
    { mcpServers: { mute: entry(oddServer('mute', { mute: true })) } },
    { connect: { connectTimeout: 4000 } },
  )
  const client = await openClient('v2 legacy', `${url}/mcp`)
  expect(await client.list()).toHaveLength(3)
  const failure = () =>
    events.findIndex(
      (event) =>
        event.kind === 'server' && event.event.kind === 'server-state' && event.event.state === 'failed',
    )
  await eventually(() => failure() >= 0, 'the server is given up')
  const listed = events.findIndex(({ kind }) => kind === 'listed')
  expect(listed).toBeGreaterThanOrEqual(0)
  expect(listed).toBeLessThan(failure())
})

it('is followed by a notice when the servers are known, and a search waits for them', async () => {
  const { url } = await startGateway({
    mcpServers: { odd: entry(oddServer('odd'), { alwaysLoad: ['echo'] }) },
  })
  const client = await openClient('v2 legacy', `${url}/mcp`)
  let changes = 0
  await client.onListChanged(() => changes++)
  const first = client.list()
  expect(await client.text((await ownNames(client)).search, { query: 'echo' })).toContain('odd__echo')
  if ((await first).length === 3) await eventually(() => changes > 0, 'the client is notified')
  expect((await client.list()).map(({ name }) => name)).toContain('odd__echo')
})
