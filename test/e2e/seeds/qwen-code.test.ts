/** Qwen Code in the agent: all scenarios, and tests for this system only. */
import { expect } from 'vitest'
import { own, playSeed } from './play.ts'

playSeed('qwen-code')

own(
  'qwen-code',
  'rare built-in tools are deferred and found by their hints; the todo list is not',
  async (world) => {
    const session = await (await world.open()).open('main')
    const words = [{ name: 'tool_search', arguments: { query: 'download url', max_results: 1 } }]
    await world.ask(session, 'Get it.', words)
    expect(world.sent[0]?.names).toContain('todo_write')
    expect(world.sent[0]?.names).not.toContain('web_fetch')
    expect(world.sent[1]?.names.at(-1)).toBe('web_fetch')
    expect(world.sent[1]?.raw).toContain('<functions>')
  },
)

own('qwen-code', 'with tool_search excluded every tool is declared', async (world) => {
  const agent = await world.open({ permissions: { deny: ['tool_search'] } })
  await world.ask(await agent.open('main'), 'Hello.')
  const { names = [] } = world.sent.at(-1) ?? {}
  expect(names).toEqual(expect.arrayContaining(['web_fetch', 'query_journal', 'mcp__memory__read_graph']))
  expect(names).not.toContain('tool_search')
})

own('qwen-code', 'a sub-agent with a list of tools has exactly those, one without has all', async (world) => {
  const session = await (await world.open()).open('main')
  const hand = (agent: string) => [{ name: 'delegate', arguments: { task: `Go, ${agent}.`, agent } }]
  await world.ask(session, 'Hand it on.', hand('heir'), { text: 'Yes.' }, hand('narrow'), { text: 'Yes.' })
  const of = (agent: string) => world.sent.find(({ raw }) => raw.includes(`You are the ${agent}.`))?.names
  expect(of('heir')).toEqual(expect.arrayContaining(['web_fetch', 'mcp__memory__read_graph']))
  expect(of('heir')).not.toContain('tool_search')
  expect(of('narrow')).toEqual(['read'])
})
