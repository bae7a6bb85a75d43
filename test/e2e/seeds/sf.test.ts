/** The SF draft in the agent: all scenarios, and tests for this draft only. */
import { lazyToolSessionState } from '@toolwell/presets'
import { expect } from 'vitest'
import { declarationOf, own, playSeed } from './play.ts'

playSeed('sf')

own(
  'sf',
  'the manifest decides: strings stay eager, lazy objects are found by snippet, domain and alias',
  async (world) => {
    const session = await (await world.open()).open('main')
    const search = (input: Record<string, unknown>) => [{ name: 'sf_tool_search', arguments: input }]
    await world.ask(
      session,
      'What was said?',
      search({ query: 'said earlier in this session', domain: 'evidence' }),
    )
    expect(world.sent[0]?.names).toEqual(
      expect.arrayContaining(['bash', 'write', 'mcp_call', 'sf_tool_search']),
    )
    expect(world.sent[0]?.names).not.toContain('query_journal')
    expect(world.sent[1]?.names.at(-1)).toBe('query_journal')
    const other = await (await world.open()).open('other')
    await world.ask(other, 'By its other name.', search({ query: 'select:search_transcript' }))
    expect(world.sent.at(-1)?.names.at(-1)).toBe('query_journal')
  },
)

own('sf', 'the index is frozen: a load changes no byte of it, a compaction rewrites it', async (world) => {
  const session = await (await world.open()).open('main')
  const name = world.seed.wireName('memory', 'read_graph')
  const loader = (at: number) =>
    JSON.stringify(declarationOf(world.sent.at(at)?.body.tools, 'sf_tool_search'))
  await world.ask(session, 'Look.', [world.seed.find(name)])
  expect(loader(0)).toContain(name)
  expect(loader(1)).toBe(loader(0))
  world.script({ text: 'They looked.' })
  await session.compact(0)
  await world.ask(session, 'Go on.')
  expect(loader(-1)).not.toContain(name)
})

own('sf', 'mcp_discover shows a tool of a server, mcp_call runs and loads it', async (world) => {
  const session = await (await world.open()).open('main')
  const server = 'memory'
  await world.ask(
    session,
    'Look.',
    [{ name: 'mcp_servers', arguments: {} }],
    [{ name: 'mcp_discover', arguments: { server, tool: 'read_graph' } }],
    [{ name: 'mcp_call', arguments: { server, tool: 'read_graph', args: {} } }],
  )
  expect(world.events).toContainEqual(
    expect.objectContaining({ kind: 'tool-call', tool: 'memory__read_graph' }),
  )
  expect(world.sent.at(-1)?.names).toContain('memory__read_graph')
  // The wrapper does not bypass plan mode.
  await session.setMode('plan')
  const args = { entities: [{ name: 'Acorn', entityType: 'project', observations: [] }] }
  await world.ask(session, 'Plan.', [
    { name: 'mcp_call', arguments: { server, tool: 'create_entities', args } },
  ])
  await expect(world.file('memory.jsonl')).rejects.toThrow('ENOENT')
})

own('sf', 'the state of the session is stored with the transcript, not in the project', async (world) => {
  const session = await (await world.open()).open('main')
  const name = world.seed.wireName('memory', 'read_graph')
  await world.ask(session, 'Look.', [world.seed.find(name)])
  const state = lazyToolSessionState(session.conversation)
  expect(state).toMatchObject({ loadedLazyTools: [name], loadedAtTurn: { [name]: 1 } })
  expect(await world.file('.agent/sessions/main.jsonl')).toContain(name)
  const again = await (await world.open()).open('main')
  expect(lazyToolSessionState(again.conversation)).toEqual(state)
})
