/** Cases that were reported about other agents, by project and number. Each title begins with them. */
import { createToolwell, memoryStore, type Tool } from '@toolwell/core'
import { afterEach, describe, expect, it } from 'vitest'
import { openSession } from '../../../../examples/agent/session.ts'
import { active, closeWorlds, createWorld, select, wireName } from '../../../../examples/moving/world.ts'
import { bridge, play, search } from '../support/play.js'
import { mixed, server, tool } from '../support/tools.js'

afterEach(closeWorlds)

describe('what a host can key on', () => {
  it('hermes-45147: everything there is, besides what is in sight', async () => {
    const host = await play()
    await host.begin()
    const visible = host.conversation.inspect().visibleNames.map(({ name }) => name)
    const available = [...host.conversation.catalogue.entries()].map((entry) => entry.wireName)
    expect(visible).not.toContain('git__enter_worktree')
    expect(available).toContain('git__enter_worktree')
    expect(host.well.explain('git__enter_worktree')?.deferred).toBe(true)
  })

  it('strike-1181: names, not only a number, so that a model that knows the name needs no search', async () => {
    const host = await play()
    expect(await host.sent()).toContain('calendar__create_event')
    expect(await host.step({ name: 'calendar__create_event', arguments: { value: 'x' } })).toEqual([
      'create_event ran with {"value":"x"}',
    ])
    expect(host.conversation.inspect().searchHistory).toEqual([])
    expect(host.conversation.events).toContainEqual(
      expect.objectContaining({ kind: 'loaded', source: 'call' }),
    )
  })

  it('goclaw-993: the same bytes for the same tools, in whatever order they came', async () => {
    const sent = async (tools: readonly Tool[]) => {
      const host = await play({ tools, delivery: 'append' })
      await host.step(search('select:find_slot'))
      return host.sent()
    }
    expect(await sent(mixed().reverse())).toBe(await sent(mixed()))
  })
})

describe('servers that are slow or down', () => {
  it.each(['failed', 'connecting', 'disabled'] as const)(
    'OM: a tool that is known of a server that is %s is not loaded, and the answer says why',
    async (state) => {
      const host = await play()
      host.well.catalogue.setState('tracker', state)
      const [answer] = await host.step(search('select:create_issue'))
      expect(answer).toContain(`cannot be used now: ${state}`)
      expect(host.loaded()).toEqual([])
    },
  )

  it('OM: a server that is slow to come back keeps what was loaded of it', async () => {
    const store = memoryStore()
    const first = await play({ store, delivery: 'append' })
    await first.step(search('select:create_issue'))
    const well = createToolwell({ tools: mixed(), mode: 'on', delivery: 'append', store })
    well.catalogue.setState('tracker', 'connecting')
    const again = await play({}, await well.open({ id: 'x' }))
    again.messages.push(...first.messages.slice(1))
    await again.begin()
    well.catalogue.setState('tracker', 'ready')
    again.talk()
    expect(await again.names()).toContain('tracker__create_issue')
    expect(again.loaded()).toEqual(['tracker__create_issue'])
  })

  it('OM: another model or provider keeps what was loaded', async () => {
    const world = await createWorld()
    const session = await openSession(world.createHost('openai-chat'), 'main')
    world.queue.push(
      () => ({ calls: [select(0)] }),
      () => ({ text: 'ok' }),
    )
    await session.ask('go')
    await session.moveTo('google')
    world.queue.push(() => ({ text: 'ok' }))
    await session.ask('on')
    expect(active(session)).toEqual([wireName(0)])
    expect(world.refusals()).toEqual([])
  })

  it('OM: a list of own tools drops no server', async () => {
    const { catalogue } = createToolwell({ tools: [tool('read_file')] })
    catalogue.setSource('git', { tools: server('git', ['log']) })
    expect([...catalogue.entries()].map(({ id }) => id)).toEqual(['read_file', 'git/log'])
  })
})

describe('what is denied', () => {
  it('openclaw-97911: is listed nowhere, and its guidelines are not sent', async () => {
    const secret = tool('wire_money', {
      source: 'bank',
      guidelines: ['Never above 100.'],
      insteadOf: 'not cash',
    })
    const host = await play({ tools: [...mixed(), secret], policy: ({ name }) => name !== 'wire_money' })
    await host.step(search('wire money'), search('select:bank__wire_money'))
    await host.conversation.load(['bank/wire_money'])
    expect(await host.sent()).not.toMatch(/Does wire money|Never above 100|not cash/)
  })

  it('claude-80499: no answer says at once that it is loaded and that it cannot be used', async () => {
    const host = await play({
      policy: ({ action, name }) => action !== 'load' || name !== 'create_issue',
    })
    const [answer] = await host.step(search('select:create_issue,close_issue'))
    expect(answer).toMatch(/^toolwell\/1 .*tracker\/close_issue/)
    expect(answer?.split('\n')[0]).not.toContain('create_issue')
    expect(answer).toContain('1 tool loaded')
    expect(host.loaded()).toEqual(['tracker__close_issue'])
  })
})

describe('arguments over the bridge', () => {
  const strict = tool('label', {
    source: 'git',
    inputSchema: {
      type: 'object',
      properties: { labels: { type: 'array', items: { type: 'string', minLength: 2 } } },
      required: ['labels'],
    },
  })

  it('openclaw-111704: that do not fit are answered with the place, the rule and the schema', async () => {
    const host = await play({ tools: [strict], delivery: 'bridge' })
    const [answer] = await host.step(bridge('git__label', { labels: ['ok', 'x'] }))
    expect(answer).toContain('"labels/1"')
    expect(answer).toContain('"minLength":2')
  })

  it('hermes-100979, ironclaw-5149: that are wrong in the same way for the third time get one line, and nothing runs', async () => {
    const host = await play({ tools: [strict], delivery: 'bridge' })
    const wrong = () => host.step(bridge('git__label', { labels: [1] }))
    const [first, , third] = [await wrong(), await wrong(), await wrong()].map(([text]) => text ?? '')
    expect(first).toContain('"minLength"')
    expect(third?.split('\n')).toHaveLength(1)
    expect(third).not.toContain('"minLength"')
  })

  it('hermes-73175: are checked against nothing that would have to be fetched', async () => {
    const notices: string[] = []
    const remote = tool('remote', {
      source: 'x',
      inputSchema: { type: 'object', properties: { value: { $ref: 'https://example.org/schema.json' } } },
    })
    const host = await play({
      tools: [remote],
      delivery: 'bridge',
      onEvent: ({ kind }) => notices.push(kind),
    })
    expect(await host.step(bridge('x__remote', { value: 1 }))).toEqual([expect.stringContaining('ran with')])
    expect(notices).toContain('schema-unusable')
  })

  it('codewhale-1419: guessed at the first use do not count as a failure of the tool', async () => {
    const host = await play({ tools: [strict], delivery: 'bridge' })
    await host.step(bridge('git__label', {}))
    const { events } = host.conversation
    expect(events).toContainEqual(expect.objectContaining({ kind: 'call-failed', reason: 'schema-needed' }))
    expect(events).not.toContainEqual(expect.objectContaining({ reason: 'error' }))
    expect(events.map(({ kind }) => kind)).not.toContain('call-started')
  })
})

describe('reports about Claude Code', () => {
  it.each(['bridge', 'append'] as const)(
    'claude-42835: a loaded tool is there after a compaction, schema and all (%s)',
    async (delivery) => {
      const host = await play({ delivery })
      await host.step(search('select:create_issue'))
      await host.compact()
      host.talk()
      expect(await host.sent()).toContain('The value for create_issue')
    },
  )

  it('claude-90085: a sub-agent has a loader exactly when something is hidden from it', async () => {
    const parent = await play()
    const names = async (id: string, allow: readonly string[]) =>
      (await play({}, await parent.conversation.child({ id, allow }))).names()
    expect(await names('all', ['*'])).toContain('tool_search')
    // Nothing is hidden, so the host's own array is sent, with the names it has there.
    expect(await names('some', ['tracker__create_issue', 'read_file'])).toEqual(['read_file', 'create_issue'])
  })

  it.each(['append', 'bridge'] as const)(
    'claude-79970: a strict server accepts a history that mentions removed tools (%s)',
    async (delivery) => {
      const store = memoryStore()
      const first = await play({ delivery, store })
      await first.step(search('select:create_issue'))
      await first.step({ name: 'tracker__create_issue', arguments: { value: 'x' } })
      const well = createToolwell({ tools: [tool('read_file')], mode: 'on', delivery, store })
      const again = await play({}, await well.open({ id: 'x' }))
      again.messages.push(...first.messages.slice(1))
      // `begin` of this host asserts that no rule of the server is broken.
      await again.begin()
      again.talk()
      await again.begin()
    },
  )

  it('claude-56551: the mark of a tool to be always loaded holds for every source', async () => {
    const host = await play({ tools: mixed() })
    host.well.catalogue.setSource('plugin', { tools: server('plugin', ['hook'], { alwaysLoad: true }) })
    expect(await host.names()).toContain('plugin__hook')
  })

  it('claude-18370: defers exactly from the threshold on', async () => {
    const cost = async (threshold: number) => {
      const conversation = await createToolwell({ tools: mixed(), costs: { threshold } }).open({ id: 'x' })
      const { mode } = await conversation.begin({ requestId: 'r', anchor: 'r', wire: 'test' })
      return { mode, because: conversation.inspect().because ?? '' }
    }
    const tokens = Number(/^\d+/.exec((await cost(1)).because)?.[0])
    expect(tokens).toBeGreaterThan(0)
    expect([(await cost(tokens)).mode, (await cost(tokens + 1)).mode]).toEqual(['on', 'off'])
  })
})
