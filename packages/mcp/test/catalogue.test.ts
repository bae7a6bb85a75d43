/** Servers in a conversation: deferred and found by search, late and waited for, away and said to be, gone and back. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolwell, estimate } from '@toolwell/core'
import { connectServers, memoryCache, memoryFirstUse } from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describedTool, oddServer } from './support/odd-server.js'
import { play } from './support/play.js'
import { eventually } from './support/processes.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

describe('the tools of a server', () => {
  it('are deferred, unless the config names them, or believes the marks of the server', async () => {
    const tools = [
      describedTool('plain'),
      describedTool('marked', { _meta: { 'anthropic/alwaysLoad': true } }),
      describedTool('read_one'),
    ]
    const { well } = await setup(
      [
        oddServer('plain', { tools }, { alwaysLoad: ['read_*'] }),
        oddServer('eager', { tools }, { lazy: false }),
        oddServer('believed', { tools }, { marks: true }),
        oddServer('doubted', { tools }, { trust: 'none' }),
      ],
      { review: () => ({ quarantined: new Map(), findings: [] }) },
    )
    const deferred = (server: string) =>
      Object.fromEntries(
        [...well.catalogue.entries()]
          .filter(({ source }) => source === server)
          .map(({ id, tool }) => [tool.name, well.explain(id)?.deferred]),
      )
    expect(deferred('plain')).toEqual({ plain: true, marked: true, read_one: false })
    expect(deferred('believed')).toEqual({ plain: true, marked: false, read_one: true })
    expect(deferred('eager')).toEqual({ plain: false, marked: false, read_one: false })
    expect(deferred('doubted')).toEqual({ plain: true, marked: true, read_one: true })
  })

  it('take no more of every request than the server may put there', async () => {
    const marked = { _meta: { 'anthropic/alwaysLoad': true }, description: 'Long. '.repeat(100) }
    const toolsFrom = join(temporary(), 'tools.json')
    const tools = Array.from({ length: 300 }, (_, at) => describedTool(`tool_${at + 100}`, marked))
    writeFileSync(toolsFrom, JSON.stringify(tools))
    const { well, report } = await setup([
      oddServer('greedy', { toolsFrom }, { marks: true }),
      oddServer('named', { toolsFrom }, { marks: true, alwaysLoad: ['tool_399'] }),
      oddServer('wide', { toolsFrom }, { alwaysLoad: ['*'], surfaceTokens: 1_000_000 }),
    ])
    const sent = (server: string) =>
      [...well.catalogue.entries()].filter(
        ({ id, source }) => source === server && !well.explain(id)?.deferred,
      )
    expect(sent('greedy').length).toBeGreaterThan(0)
    const text = JSON.stringify(sent('greedy').map(({ tool: { name, description } }) => [name, description]))
    expect(estimate.count(text)).toBeLessThan(1500)
    expect(report('greedy').beyondSurface).toHaveLength(300 - sent('greedy').length)
    // Tools named in the config come before tools the server marks.
    expect(sent('named').map(({ tool }) => tool.name)).toContain('tool_399')
    expect(sent('wide')).toHaveLength(300)
    expect(report('wide').beyondSurface).toEqual([])
  })

  it('are found by what the server calls itself, and by its own hint where that counts', async () => {
    const tools = [describedTool('go', { _meta: { 'anthropic/searchHint': 'teleport' } })]
    const { well } = await setup([oddServer('x7', { tools, title: 'Calendar events' }, { marks: true })])
    const unbelieved = await setup([oddServer('x7', { tools, title: 'Calendar events' })])
    expect(await (await play(unbelieved.well, 'a')).search('teleport')).not.toContain('x7__go')
    expect(await (await play(well, 'a')).search('teleport')).toContain('x7__go')
    expect(await (await play(well, 'b')).search('calendar')).toContain('x7__go')
  })

  it('run in a conversation, with errors as errors', async () => {
    const { well } = await setup([oddServer('odd')])
    const model = await play(well, 'a')
    expect(await model.search('select:odd__echo')).toContain('odd__echo')
    expect(await model.call('odd__echo', { word: 'héllo' })).toBe('{"word":"héllo"}')
    expect(await model.call('odd__fail', {})).toMatch(/it did not work/)
    expect(await model.call('odd__die', {})).toMatch(/The call may have taken effect/)
    expect(await model.call('odd__echo', { again: 1 })).toBe('{"again":1}')
  })

  it('that a review holds back are neither found nor run, and are when it lets them pass', async () => {
    let isPoisoned = true
    const { well, servers, report, events } = await setup([oddServer('odd')], {
      review: () => ({
        quarantined: new Map(isPoisoned ? [['echo', 'it gives orders']] : []),
        findings: isPoisoned ? [{ tool: 'echo', severity: 'hard', detail: 'it gives orders' }] : [],
      }),
    })
    const model = await play(well, 'a')
    expect(await model.search('does echo')).not.toContain('odd__echo')
    expect(await model.call('odd__echo', {})).toMatch(/quarantined/)
    expect(report('odd')).toMatchObject({ state: 'cached', findings: [{ tool: 'echo' }] })
    expect(events.map(({ kind }) => kind)).toContain('tools-quarantined')
    isPoisoned = false
    servers.reviewAgain('odd')
    expect(await model.call('odd__echo', { a: 1 })).toBe('{"a":1}')
  })

  it('of a server that a review refuses as a whole are not used, and its state says so', async () => {
    const { well, report, servers } = await setup([oddServer('odd', {}, { trust: 'none' })])
    expect(report('odd')).toMatchObject({
      state: 'quarantined',
      reason: expect.stringMatching(/trust of odd is "none"/),
    })
    await expect(servers.call('odd', 'echo', {})).rejects.toMatchObject({ kind: 'quarantined' })
    const model = await play(well, 'a')
    expect(await model.search('does echo')).not.toContain('odd__echo(')
    expect(await model.call('odd__echo', {})).toMatch(/quarantined/)
  })

  it('are quarantined by a review that throws', async () => {
    const { report } = await setup([oddServer('odd')], {
      review: () => {
        throw new Error('out of ideas')
      },
    })
    expect(report('odd')).toMatchObject({
      state: 'quarantined',
      reason: expect.stringMatching(/out of ideas/),
    })
  })
})

describe('a server that is not there yet', () => {
  const open = (...given: Parameters<typeof oddServer>[]) => {
    const well = createToolwell({ mode: 'on', delivery: 'bridge', search: { waitForSources: 60_000 } })
    const servers = connectServers(
      well.catalogue,
      given.map((each) => oddServer(...each)),
      { cache: memoryCache(), firstUse: memoryFirstUse(), logs: false },
    )
    onTestFinished(() => servers.close())
    return { well, servers }
  }

  it('is waited for by a search that finds nothing else', async () => {
    const { well } = open(['slow', { tools: [describedTool('launch_rocket')] }])
    expect(well.catalogue.size).toBe(0)
    expect(await (await play(well, 'a')).search('launch a rocket')).toContain('slow__launch_rocket')
  })

  it('does not delay a search that another server answers', async () => {
    const { well, servers } = open(
      ['quick', { tools: [describedTool('launch_rocket')] }],
      ['mute', { mute: true, ignoresProbe: true }],
    )
    await eventually(() => servers.inspect()[0]?.state === 'cached', 'the quick one has joined')
    expect(await (await play(well, 'a')).search('launch a rocket')).toContain('quick__launch_rocket')
    expect(servers.inspect().map(({ state }) => state)).toEqual(['cached', 'connecting'])
    expect(await servers.settled(0)).toEqual(['mute'])
  })

  it('is named when the time is up, and a server that failed too', async () => {
    const well = createToolwell({ mode: 'on', delivery: 'bridge', search: { waitForSources: 10 } })
    const servers = connectServers(
      well.catalogue,
      [oddServer('mute', { mute: true, ignoresProbe: true }), oddServer('broken', { diesAtStart: 'no' })],
      // The clock does not move, so a resting server never wakes.
      { cache: memoryCache(), firstUse: memoryFirstUse(), logs: false, now: () => 0 },
    )
    onTestFinished(() => servers.close())
    const hasFailed = () => well.catalogue.sources.get('broken')?.state === 'failed'
    await eventually(hasFailed, 'one has failed')
    const model = await play(well, 'a')
    // It is asked for, and tried again.
    expect(await model.search('launch a rocket')).toContain('"broken" cannot be used now: connecting.')
    await eventually(hasFailed, 'it has failed again')
    const answer = await model.search('launch one more rocket')
    expect(answer).toContain('"mute" cannot be used now: connecting.')
    expect(answer).toContain('"broken" cannot be used now: failed.')
  })

  it('is not named to a conversation that may not know it', async () => {
    const well = createToolwell({
      mode: 'on',
      delivery: 'bridge',
      search: { waitForSources: 10 },
      policy: ({ source }) => source !== 'mute',
    })
    const servers = connectServers(well.catalogue, [oddServer('mute', { mute: true, ignoresProbe: true })], {
      cache: memoryCache(),
      firstUse: memoryFirstUse(),
      logs: false,
    })
    onTestFinished(() => servers.close())
    expect(await (await play(well, 'a')).search('launch a rocket')).not.toContain('mute')
  })

  it('joins a conversation that has begun', async () => {
    const folder = temporary()
    const broken = join(folder, 'broken')
    writeFileSync(broken, '')
    let time = 0
    const { well, servers } = await setup([oddServer('late', { diesWhile: broken }), oddServer('odd')], {
      now: () => time,
    })
    const model = await play(well, 'a')
    expect(await model.search('select:late__echo')).toMatch(/late/)
    rmSync(broken)
    time += 100_000
    await servers.refresh('late')
    expect(await model.call('late__echo', { a: 1 })).toBe('{"a":1}')
  })
})

it('a closed set of servers is switched off in the catalogue', async () => {
  const { well, servers } = await setup([oddServer('odd')])
  const model = await play(well, 'a')
  await servers.close()
  await servers.close()
  expect(await model.call('odd__echo', {})).toMatch(/cannot be used now: disabled/)
})

it('options that do not exist are refused with the nearest one', () => {
  expect(() =>
    connectServers(createToolwell().catalogue, [], { reviewer: () => undefined } as never),
  ).toThrow(/Unknown option "reviewer" in connectServers. Did you mean "review"\?/)
  expect(() => connectServers(createToolwell().catalogue, [oddServer('a'), oddServer('a')])).toThrow(
    /Two servers are named "a"/,
  )
})
