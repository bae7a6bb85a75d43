/** super-agent in the agent: all scenarios, and tests for this system only. */
import { countTokenEstimate, getDeferredToolSummary } from '@toolwell/presets'
import { expect } from 'vitest'
import { own, playSeed } from './play.ts'

playSeed('super-agent')

own(
  'super-agent',
  'the prompt names every deferred tool, and does not change after a load',
  async (world) => {
    const session = await (await world.open()).open('main')
    const name = world.seed.wireName('memory', 'read_graph')
    await world.ask(session, 'Look.', [world.seed.find(name)])
    const summary = getDeferredToolSummary(session.conversation)
    for (const tool of ['read_graph', 'create_entities', 'search_nodes'])
      expect(summary).toContain(world.seed.wireName('memory', tool))
    const line = JSON.stringify(summary).slice(1, -1).slice(0, 80)
    for (const { raw } of world.sent) expect(raw).toContain(line)
    expect(getDeferredToolSummary(session.conversation)).toBe(summary)
  },
)

own('super-agent', 'what is counted as deferred is really off the wire', async (world) => {
  const session = await (await world.open()).open('main')
  await world.ask(session, 'Hello.')
  const before = countTokenEstimate(session.conversation)
  const name = world.seed.wireName('memory', 'create_entities')
  await world.ask(session, 'Load it.', [world.seed.find(name)])
  const after = countTokenEstimate(session.conversation)
  expect(after.total).toBe(before.total)
  expect(after.deferred).toBeLessThan(before.deferred)
  const tools = (at: number) => JSON.stringify(world.sent.at(at)?.body.tools)
  expect(tools(0)).not.toContain('entityType')
  expect(tools(-1)).toContain('entityType')
})

own(
  'super-agent',
  'several exact names in one call, and a wrong one is answered with the nearest',
  async (world) => {
    const session = await (await world.open()).open('main')
    const [one, two] = ['read_graph', 'open_nodes'].map((tool) => world.seed.wireName('memory', tool))
    await world.ask(session, 'Load them.', [world.seed.find(`${one}, ${two}, mcp__memory__reed_graph`)])
    expect(session.conversation.inspect().loadedLazyTools).toEqual([one, two])
    expect(world.sent.at(-1)?.raw).toContain('mcp__memory__reed_graph')
  },
)
