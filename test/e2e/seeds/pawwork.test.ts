/** PawWork in the agent: all scenarios, and tests for this system only. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { declarationOf, own, playSeed } from './play.ts'

playSeed('pawwork')

own('pawwork', 'a card goes when its tool is loaded, and all go when all are forbidden', async (world) => {
  const session = await (await world.open()).open('main')
  const cards = (at: number) => JSON.stringify(declarationOf(world.sent.at(at)?.body.tools, 'tool_info'))
  await world.ask(session, 'Look.', [world.seed.find('query_journal')])
  expect(cards(0)).toContain('query_journal')
  expect(cards(1)).not.toContain('query_journal')
  const strict = await world.open({ permissions: { deny: ['memory/*', 'web_fetch', 'query_journal'] } })
  await world.ask(await strict.open('other'), 'Hello.')
  expect(cards(-1)).not.toContain('web_fetch')
})

own(
  'pawwork',
  'tool_info shows the definition as a plugin leaves it, and the next request declares that very one',
  async (world) => {
    await mkdir(join(world.workspace, '.agent/plugins'), { recursive: true })
    await writeFile(
      join(world.workspace, '.agent/plugins/louder.mjs'),
      `export const plugin = { 'tool.definition': ({ toolID }, output) => {
      if (toolID === 'web_fetch') output.description += '\\nSay which one.'
    } }`,
    )
    const session = await (await world.open()).open('main')
    await world.ask(session, 'Get it.', [world.seed.find('web_fetch')])
    const [first, second] = world.sent
    expect(first?.raw).not.toContain('Say which one.')
    expect(JSON.stringify(declarationOf(second?.body.tools, 'web_fetch'))).toContain('Say which one.')
    expect(second?.raw.split('Say which one.').length).toBe(3)
  },
)

own('pawwork', 'a call of a hidden tool runs nothing and names the one to load', async (world) => {
  const session = await (await world.open()).open('main')
  await world.ask(session, 'Look.', [{ name: 'Memory__Read_Graph', arguments: {} }])
  expect(world.events.some(({ kind }) => kind === 'tool-call')).toBe(false)
  expect(world.sent.at(-1)?.raw).toContain('memory__read_graph')
  expect(world.sent.at(-1)?.names).not.toContain('memory__read_graph')
})

own(
  'pawwork',
  'the reminder against falling back is written although a compaction took the turn that loaded the tool',
  async (world) => {
    const session = await (await world.open()).open('main')
    await world.ask(session, 'Hello.')
    world.script([world.seed.find('web_fetch')], { status: 400, error: 'no' })
    await expect(session.ask('Get it.')).rejects.toThrow('400')
    world.script({ text: 'They wanted a page.' })
    await session.compact(0)
    await world.ask(session, 'Go on.')
    expect(world.sent.at(-1)?.names).toContain('web_fetch')
    expect(world.sent.at(-1)?.raw).toContain('not curl in bash')
  },
)
