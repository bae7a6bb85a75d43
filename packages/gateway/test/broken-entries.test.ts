/** Config entries that cannot be used appear with their reason in the report, in events, and in answers to a model. */
import { describe, expect, it } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually } from '../../mcp/test/support/processes.js'
import { openClient } from './support/clients.js'
import { authorized, entry, type Started, startGateway } from './support/gateway.js'

const odd = () => ({ odd: entry(oddServer('odd')) })
const BROKEN = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a variable of the config
  github: { command: 'node', env: { TOKEN: '${NOT_SET_ANYWHERE}' } },
  five: 5,
  number: { command: 5 },
  address: { url: 'nowhere' },
  typo: { comand: 'node' },
}

const problemsIn = async ({ gateway }: Started) => (await gateway.inspect()).serverSets[0]?.problems ?? []
const search = async ({ url }: Started, query: string, path = '/mcp') =>
  (await openClient('v2 modern', `${url}${path}`, authorized)).text('find_tools', { query })

describe('an entry that cannot be used', () => {
  it('is named with its place and its fix, in the report and once among the events', async () => {
    const started = await startGateway({ mcpServers: { ...odd(), ...BROKEN } })
    started.gateway.prepare()
    const problems = await problemsIn(started)
    expect(new Set(problems.map(({ server }) => server))).toEqual(new Set(Object.keys(BROKEN)))
    for (const { server, problem, stillUsed } of problems) {
      expect(problem).toMatch(new RegExp(`toolwell\\.json:1 mcpServers\\.${server}.*: .*[.?] .*\\.$`))
      expect(stillUsed).toBe(false)
    }
    expect(problems.find(({ server }) => server === 'github')?.problem).toContain('NOT_SET_ANYWHERE')
    expect(started.of('config-problem').map(({ kind: _, ...each }) => each)).toEqual(problems)
  })

  it('is not said to be missing by a search, but why it cannot be used', async () => {
    const started = await startGateway({
      mcpServers: { ...odd(), ...BROKEN },
      profiles: { few: { servers: ['odd', 'git*'] }, odds: { servers: ['odd'] } },
    })
    for (const path of ['/mcp', '/mcp/few'])
      for (const query of ['server:github issues', 'create an issue on github']) {
        const answer = await search(started, query, path)
        expect(answer).toMatch(/"github" cannot be used now: .*NOT_SET_ANYWHERE/)
        expect(answer).not.toContain('no server is called')
        expect(answer).not.toContain('does not exist')
      }
    expect(await search(started, 'server:github issues', '/mcp/odds')).not.toContain('NOT_SET')
    const client = await openClient('v2 modern', `${started.url}/mcp`)
    expect(await client.text('run_tool', { name: 'github__issues', arguments: {} })).toMatch(
      /"github" cannot be used now: .*NOT_SET_ANYWHERE/,
    )
  })

  it('changes no byte of the list of tools', async () => {
    const [good, both] = [
      await startGateway({ mcpServers: odd() }),
      await startGateway({ mcpServers: { ...odd(), ...BROKEN } }),
    ]
    const list = async ({ url }: Started) =>
      JSON.stringify(await (await openClient('v2 modern', `${url}/mcp`)).list())
    // The first listing of a server may take longer than a list waits.
    for (const started of [good, both]) await expect.poll(() => list(started)).toContain('odd__echo')
    expect(await list(both)).toBe(await list(good))
  })

  it('keeps its earlier version if that worked, and is reported; once fixed, it is no longer reported', async () => {
    const started = await startGateway({ mcpServers: odd() })
    const client = await openClient('v2 modern', `${started.url}/mcp`)
    const echo = () => client.text('run_tool', { name: 'odd__echo', arguments: {} })
    expect(await echo()).toBe('{}')
    started.write({ mcpServers: { odd: 5, typo: BROKEN.typo } })
    await eventually(() => started.of('config-problem').length > 1, 'it is told of')
    expect(await echo()).toBe('{}')
    expect((await problemsIn(started)).map(({ server, stillUsed }) => [server, stillUsed])).toEqual(
      expect.arrayContaining([
        ['odd', true],
        ['typo', false],
      ]),
    )
    started.write({ mcpServers: { ...odd(), typo: entry(oddServer('typo')) } })
    await eventually(() => started.of('config-read').some(({ servers }) => servers === 2), 'it is read')
    expect(await problemsIn(started)).toEqual([])
    expect(await client.text('run_tool', { name: 'typo__echo', arguments: {} })).toBe('{}')
    started.write({ mcpServers: { ...odd(), gone: 5 } })
    await eventually(() => started.of('config-problem').some(({ server }) => server === 'gone'), 'it is told')
    started.write({ mcpServers: odd() })
    await expect.poll(() => search(started, 'server:gone x')).toContain('no server is called gone')
  })

  it('of the whole file is reported too', async () => {
    const started = await startGateway({ mcpServers: odd(), mcpServer: {} })
    started.gateway.prepare()
    expect(await problemsIn(started)).toEqual([
      { problem: expect.stringContaining('unknown key "mcpServer"'), stillUsed: false },
    ])
  })
})

describe('a profile that is first asked for', () => {
  const profiles = { odds: { servers: ['odd'], deny: ['odd/write'] } }
  const names = async ({ url }: Started) => {
    const client = await openClient('v2 modern', `${url}/mcp/odds/all`)
    return (await client.list()).map(({ name }) => name)
  }

  it('while the file cannot be read shows what is in use, and also when it is repaired', async () => {
    const config = { mcpServers: odd(), profiles }
    const started = await startGateway(config)
    started.gateway.prepare()
    started.write(JSON.stringify(config).slice(0, -5))
    await eventually(() => started.of('config-refused').length > 0, 'the file is looked at')
    const shown = await names(started)
    expect(shown).toContain('odd__echo')
    expect(shown).not.toContain('odd__write')
    started.write(config)
    const problem = async () => (await started.gateway.inspect()).serverSets[0]?.problem
    await expect.poll(problem, { timeout: 60_000 }).toBeUndefined()
    expect(await names(started)).toEqual(shown)
  })

  it('while its entry is wrong shows its server, which keeps running', async () => {
    const started = await startGateway({ mcpServers: odd(), profiles })
    started.gateway.prepare()
    started.write({ mcpServers: { odd: { ...odd().odd, oops: 1 } }, profiles })
    await eventually(() => started.of('config-problem').length > 0, 'the file is read')
    expect(await names(started)).toContain('odd__echo')
  })
})
