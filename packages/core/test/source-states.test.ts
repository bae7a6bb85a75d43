/** A request describes a server by its definitions, whether or not it can be reached right now. */
import { createToolwell, memoryStore, type SourceState, type ToolwellOptions } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { describe, expect, it } from 'vitest'
import { WIRES } from './hostile/wires.js'
import { lastResult, startHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

const AWAY: readonly SourceState[] = ['connecting', 'failed', 'needs-login']
const NAME = 'tracker__create_issue'
const search = (query: string) => ({ calls: [{ name: 'tool_search', arguments: { query } }] })

describe.each(WIRES.map((wire, index) => ({ wire, label: `${wire.name} ${index}` })))(
  '$label',
  ({ wire }) => {
    const deliveries = ['append', 'bridge', 'eager', ...(wire.native ? ['native' as const] : [])] as const
    const options: ToolwellOptions[] = [
      ...deliveries.map((delivery): ToolwellOptions => ({ mode: 'on', delivery })),
      { mode: 'off' },
      { mode: 'on', limits: { cardBudget: 40 } },
      { mode: 'on', surface: { cards: 'live' } },
    ]

    it.each(options)(
      'sends the same first request whatever the state of a known server: %j',
      async (given) => {
        const bytes = async (state: SourceState) => {
          const well = createToolwell({
            tools: [...mixed(), tool('ping', { source: 'tracker', alwaysLoad: true })],
            ...given,
          })
          well.catalogue.setState('tracker', state)
          const line = wire.open(await well.open({ id: 'a' }))
          return JSON.stringify((await line.begin([wire.user('Go.')], {})).parts)
        }
        const ready = await bytes('ready')
        for (const state of AWAY) expect(await bytes(state)).toBe(ready)
        expect(await bytes('disabled')).not.toBe(ready)
      },
    )

    it.each(options)('writes nothing and changes no byte when a server comes and goes: %j', async (given) => {
      const well = createToolwell({ tools: mixed(), ...given })
      const conversation = await well.open({ id: 'a' })
      const line = wire.open(conversation)
      const messages = [wire.user('Go.')]
      let { parts } = await line.begin(messages, {})
      await conversation.load([NAME])
      let before: string | undefined
      for (const [index, state] of ['ready' as const, ...AWAY, 'ready' as const].entries()) {
        well.catalogue.setState('tracker', state)
        messages.push(
          wire.reply(parts, { text: `Said ${index}.` }, index).messages[0] as object,
          wire.user(`More ${index}.`),
        )
        parts = (await line.begin(messages, {})).parts
        expect(wire.violationOf(parts)).toBeUndefined()
        const tools = JSON.stringify(wire.toolsOf(parts))
        expect(tools).toBe(before ?? tools)
        before = tools
        expect(JSON.stringify(parts)).not.toMatch(/No longer available|Available again/)
      }
      const kinds = new Set(conversation.events.map(({ kind }) => kind))
      expect(kinds.has('suspended') || kinds.has('restored')).toBe(false)
    })
  },
)

describe('a server that is away', () => {
  it.each(AWAY)(
    'and %s: its loaded tool stays, and a call of it is answered with the state',
    async (state) => {
      const host = await startHost({ tools: mixed(), mode: 'on', delivery: 'append' }, [
        search(`select:${NAME}`),
        { text: 'Found.' },
        { calls: [{ name: NAME, arguments: { value: 'x' } }] },
        { text: 'Later.' },
        { calls: [{ name: NAME, arguments: { value: 'x' } }] },
        { text: 'Done.' },
      ])
      await host.ask('Find it.')
      host.well.catalogue.setState('tracker', state)
      await host.ask('Use it.')
      expect(host.names()).toContain(NAME)
      expect(lastResult(host)).toContain(`${NAME} cannot be used now: ${state}. Nothing was run.`)
      host.well.catalogue.setState('tracker', 'ready')
      await host.ask('Now use it.')
      expect(lastResult(host)).toContain('create_issue ran with')
    },
  )

  it('is named first by a search that it could have answered', async () => {
    const tools = ['alpha', 'beta'].flatMap((source) => server(source, ['open_door']))
    const host = await startHost({ tools, mode: 'on', delivery: 'append' }, [
      search('open a door'),
      { text: 'So it is.' },
    ])
    host.well.catalogue.setState('alpha', 'failed')
    await host.ask('Open one.')
    const [, first] = lastResult(host).split('\n')
    expect(first).toBe('alpha__open_door cannot be used now: failed.')
    expect(lastResult(host)).toContain('"loaded":["beta__open_door"]')
  })

  it('of which nothing is known yet is no reason to say that there are no more tools', async () => {
    const host = await startHost({ tools: [tool('read_file')], mode: 'on' }, [{ text: 'Hello.' }], {
      prepare: (well) => well.catalogue.setSource('late', { tools: [], state: 'connecting' }),
    })
    await host.ask('Hello?')
    expect(host.raw()).toContain('# More tools')
    expect(host.raw()).not.toContain('0 more tools')
  })
})

describe('two processes over one ledger', () => {
  const tools = (): ToolwellOptions['tools'] => [tool('read_file'), ...server('calendar', ['create_event'])]
  const tracker = () => server('tracker', ['create_issue', 'close_issue'])

  it.each([
    ['with the same list', tracker()],
    ['with no list at all', []],
    ['with an older list', [tool('close_issue', { description: 'As it was last year.' })]],
  ])('do not fight when a server is ready here and failed there, %s', async (_, there) => {
    const store = memoryStore()
    const processes = [0, 1].map(() =>
      createToolwell({ tools: tools() ?? [], mode: 'on', delivery: 'append', store }),
    )
    processes[0]?.catalogue.setSource('tracker', { tools: tracker() })
    processes[1]?.catalogue.setSource('tracker', { tools: there, state: 'failed' })
    const messages: ChatMessage[] = []
    for (let count = 0; count < 12; count++) {
      const well = processes[count % 2] as (typeof processes)[number]
      const conversation = await well.open({ id: 'shared' })
      messages.push({ role: 'user', content: `Ask ${count}.` })
      const turn = await openaiChat(conversation).begin(messages)
      if (count === 0) await conversation.load([NAME, 'tracker__close_issue'])
      else expect(turn.parts.tools?.map((each) => each.function.name)).toContain(NAME)
      expect(JSON.stringify(turn.parts.messages)).not.toContain('tool-update>\\nNo longer')
      messages.push({ role: 'assistant', content: `Said ${count}.` })
    }
    const events = await store.read('shared')
    const kinds = events.map(({ kind }) => kind)
    expect(kinds.filter((kind) => ['suspended', 'restored', 'redefined'].includes(kind))).toEqual([])
    // The reminder of what was loaded, once for each tool, and nothing else.
    const said = events.flatMap((event) =>
      event.kind === 'announced' ? event.about.map((id) => `${event.topic} ${id}`) : [],
    )
    expect(said.sort()).toEqual(['loaded tracker/close_issue', 'loaded tracker/create_issue'])
  })
})
