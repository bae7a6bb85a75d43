/** Servers that fail and work again: nothing stays refused, nobody waits long for what failed before, and the model reads that it is back. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { diskCache, memoryCache, type Servers } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { oddServer } from './support/odd-server.js'
import { play } from './support/play.js'
import { eventually } from './support/processes.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

const stateOf = (servers: Servers) => servers.inspect()[0]?.state

function breakable() {
  const broken = join(temporary(), 'broken')
  return { broken, break: () => writeFileSync(broken, ''), repair: () => rmSync(broken) }
}

describe('a lazy server', () => {
  it('that died twice and rests can be called again when it has rested, by a model too', async () => {
    const switched = breakable()
    const { servers, well, states } = await setup([oddServer('odd', { diesWhile: switched.broken })])
    const model = await play(well, 'one')
    expect(await model.call('odd__pid', {})).toMatch(/^\d+$/)
    switched.break()
    await model.call('odd__die', {})
    // Each of these is a failed start; in between, nothing starts it.
    while (stateOf(servers) !== 'failed') await model.call('odd__pid', {})
    expect(await model.call('odd__pid', { again: true })).toMatch(/cannot be used now: failed/)
    switched.repair()
    // The state the model sees, a moment after the rest is over.
    await eventually(() => well.catalogue.sources.get('odd')?.state !== 'failed', 'it has rested')
    expect(well.catalogue.sources.get('odd')).toMatchObject({ state: 'ready', tentative: true })
    expect(await model.call('odd__pid', {})).toMatch(/^\d+$/)
    expect(well.catalogue.sources.get('odd')).toMatchObject({ state: 'ready', tentative: false })
    expect(states('odd')).toContain('failed')
    expect(stateOf(servers)).toBe('ready')
  })

  it('whose first start from the cache failed is started by the next call', async () => {
    const cache = memoryCache()
    const switched = breakable()
    const server = oddServer('odd', { diesWhile: switched.broken })
    await (await setup([server], { cache })).servers.close()
    switched.break()
    const { well, servers } = await setup([server], { cache })
    const model = await play(well, 'one')
    expect(await model.call('odd__pid', {})).toMatch(/exited with code 4/)
    switched.repair()
    expect(await model.call('odd__pid', { again: true })).toMatch(/^\d+$/)
    expect(servers.inspect()[0]).toMatchObject({ state: 'ready', reason: '' })
  })

  it('whose first listing failed is listed again by itself, once at a time', async () => {
    const switched = breakable()
    switched.break()
    const log = join(temporary(), 'log')
    const { well, servers, states } = await setup([oddServer('odd', { diesWhile: switched.broken, log })])
    expect(stateOf(servers)).toBe('failed')
    switched.repair()
    await eventually(() => well.catalogue.get('odd/pid') !== undefined, 'its tools have joined')
    expect(stateOf(servers)).toBe('cached')
    // Nobody waited for the listing that nobody asked for.
    expect(states('odd')).toEqual(['connecting', 'failed', 'cached'])
    expect(await (await play(well, 'one')).call('odd__pid', {})).toMatch(/^\d+$/)
  })

  it('whose first listing failed is tried again by a search, which waits for it', async () => {
    let time = 0
    const switched = breakable()
    switched.break()
    const { well } = await setup([oddServer('odd', { diesWhile: switched.broken })], { now: () => time })
    const model = await play(well, 'one')
    expect(await model.search('pid')).not.toContain('odd__pid')
    switched.repair()
    time += 1_000_000
    await eventually(() => well.catalogue.sources.get('odd')?.state !== 'connecting', 'the search is over')
    expect(await model.search('process pid of it')).toMatch(/odd__pid|connecting/)
    await eventually(() => well.catalogue.get('odd/pid') !== undefined, 'it is listed')
  })

  it('that is back is announced once to the model that was refused', async () => {
    const switched = breakable()
    const { servers, well, text } = await setup([oddServer('odd', { diesWhile: switched.broken })])
    const model = await play(well, 'one')
    await model.call('odd__pid', {})
    switched.break()
    await model.call('odd__die', {})
    while (stateOf(servers) !== 'failed') await model.call('odd__pid', {})
    expect(await model.call('odd__pid', { again: true })).toMatch(/cannot be used now: failed/)
    switched.repair()
    // Somebody else finds out that it works.
    await eventually(() => stateOf(servers) !== 'failed', 'it has rested')
    await text('odd', 'echo', { a: 1 })
    await model.search('anything')
    await model.search('anything else')
    expect(model.requests.join('\n').match(/Available again: odd__pid/g)?.length).toBeGreaterThan(0)
    expect(model.requests.at(-1)?.match(/Available again: odd__pid/g)).toHaveLength(1)
  })
})

describe('a server that could not be listed', () => {
  it('does not delay the next program, which says why, and keeps trying', async () => {
    const folder = temporary()
    const silent = join(temporary(), 'silent')
    writeFileSync(silent, '')
    const server = oddServer('odd', { muteWhile: silent })
    const start = (connectTimeout: number) =>
      setup([server], { cache: diskCache({ folder }), connectTimeout })
    const first = await start(500)
    expect(first.report('odd').state).toBe('failed')
    await first.servers.close()
    const [kept = ''] = readdirSync(folder)
    expect(JSON.parse(readFileSync(join(folder, kept), 'utf8'))).toMatchObject({
      reason: expect.stringContaining('was not ready within 500 ms'),
    })
    // It would take longer than any test to give it up.
    const second = await start(600_000)
    expect(second.report('odd')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('was not ready within 500 ms'),
    })
    await second.servers.close()
    // An hour later it is given a moment, and the next program need not wait again.
    const hour = () => Date.now() + 3_600_000
    const later = await setup([server], { cache: diskCache({ folder }), connectTimeout: 600_000, now: hour })
    expect(later.report('odd').state).toBe('failed')
    expect(JSON.parse(readFileSync(join(folder, kept), 'utf8')).at).toBeGreaterThan(Date.now() + 3_000_000)
    await later.servers.close()
    rmSync(silent)
    const third = await start(600_000)
    await eventually(() => third.report('odd').state === 'cached', 'it is listed')
    expect(third.report('odd').reason).toBe('')
    expect(readdirSync(folder).filter((name) => name.endsWith('.failed.json'))).toEqual([])
  })

  it('is waited for by a program that is patient', async () => {
    const folder = temporary()
    const switched = breakable()
    switched.break()
    const server = oddServer('odd', { diesWhile: switched.broken })
    const first = await setup([server], { cache: diskCache({ folder }) })
    await first.servers.close()
    switched.repair()
    const second = await setup([server], { cache: diskCache({ folder }), patient: true })
    expect(second.states('odd')).toEqual(['connecting', 'cached'])
  })
})

it('each server has its own time to start', async () => {
  const { servers, report } = await setup(
    [oddServer('slow', { mute: true, ignoresProbe: true }, { startTimeout: 300 }), oddServer('fine')],
    { connectTimeout: 600_000 },
  )
  expect(report('slow').reason).toMatch(/was not ready within 300 ms/)
  expect(report('fine').state).toBe('cached')
  await servers.close()
})
