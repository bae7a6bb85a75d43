/** An approval as read-only is valid only for the definition that was approved. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fingerprint } from '@toolwell/mcp/internal'
import { expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually } from '../../mcp/test/support/processes.js'
import { setup } from '../../mcp/test/support/setup.js'
import { openClient } from './support/clients.js'
import { entry, startGateway, temporary } from './support/gateway.js'

it.each(['follow', 'full'])(
  'run_read_only_tool never runs a tool that has changed while its server was stopped (trust: %s)',
  async (trust) => {
    const folder = temporary()
    const [log, changesWhile] = [join(folder, 'log'), join(folder, 'changed')]
    const echo = describedTool('echo')
    const mcpServers = { odd: entry(oddServer('odd', { log, changesWhile, tools: [echo] }), { trust }) }
    const { servers } = await setup([oddServer('odd', { tools: [echo] })])
    const [listed] = servers.definition('odd')?.tools ?? []
    if (!listed) throw new Error('it lists a tool')
    const approved = { echo: fingerprint(listed) }
    const readOnly = { read: () => approved, write: () => undefined, stamp: () => 'one' }
    const started = await startGateway({ mcpServers }, { readOnly })
    const client = await openClient('v2 modern', `${started.url}/mcp`)
    const found = await client.text('find_tools', { query: 'select:odd__echo' })
    expect(found).toContain('Approved as read-only')
    // A server that was only listed is stopped again.
    await eventually(() => readFileSync(log, 'utf8').includes('end of input'), 'it is stopped')
    writeFileSync(changesWhile, '')
    for (let round = 0; round < 2; round++) {
      const refused = await client.call('run_read_only_tool', { name: 'odd__echo', arguments: {} })
      expect(refused.isError).toBe(true)
      expect(refused.content[0]?.text).toContain('odd__echo is not approved as read-only')
    }
    expect(readFileSync(log, 'utf8')).not.toContain('call echo')
    expect((await started.gateway.inspect()).counts).toMatchObject({ calls: 0, refused: 2 })
    expect(await client.text('run_tool', { name: 'odd__echo', arguments: {} })).toBe('{}')
  },
)
