/** Caliban in the agent: the table, and what only this system asks for. */
import { caliban, mcpActive } from '@toolwell/presets'
import { expect } from 'vitest'
import { own, playSeed } from './play.ts'

playSeed('caliban')

const config = { tools: { lazy_mcp: true } }

own('caliban', 'built-in tools are never deferred, and the prompt counts what is', async (world) => {
  const session = await (await world.open()).open('main')
  const name = world.seed.wireName('memory', 'read_graph')
  await world.ask(session, 'Look.', [world.seed.find(name)])
  expect(world.sent[0]?.names).toEqual(expect.arrayContaining(['web_fetch', 'query_journal', 'todo_write']))
  const counted = (at: number) => /Not loaded now: (\d+)/.exec(world.sent[at]?.raw ?? '')?.[1]
  expect(Number(counted(0)) - Number(counted(1))).toBe(1)
  expect(mcpActive(session.conversation, config)).toBe(`MCP active: 1/24 (${name})`)
})

own(
  'caliban',
  'beyond the cap the least recently used makes room, and the answer says which',
  async (world) => {
    const { limits } = caliban(config)
    const session = await (await world.open({ toolwell: { limits: { ...limits, maxLoaded: 2 } } })).open(
      'main',
    )
    const [one, two, three] = ['read_graph', 'open_nodes', 'search_nodes'].map((tool) =>
      world.seed.wireName('memory', tool),
    ) as [string, string, string]
    const read = [{ name: one, arguments: {} }]
    await world.ask(session, 'Go.', [world.seed.find(one)], [world.seed.find(two)], read, [
      world.seed.find(three),
    ])
    expect(session.conversation.inspect().loadedLazyTools).toEqual([one, three])
    expect(world.events).toContainEqual(expect.objectContaining({ kind: 'unload', because: 'evicted' }))
    expect(world.sent.at(-1)?.raw).toContain(two)
  },
)

own('caliban', 'a call without a search runs, and activates the tool', async (world) => {
  const session = await (await world.open()).open('main')
  const name = world.seed.wireName('memory', 'read_graph')
  await world.ask(session, 'Look.', [{ name, arguments: {} }])
  expect(world.events).toContainEqual(expect.objectContaining({ kind: 'tool-result', outcome: 'result' }))
  expect(world.events).toContainEqual(expect.objectContaining({ kind: 'load', tool: name, because: 'call' }))
  expect(world.sent.at(-1)?.names).toContain(name)
})
