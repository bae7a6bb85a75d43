/** A server's life: started once on the first call, shared, stopped when idle, started again when it died, gone at the end. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolwell } from '@toolwell/core'
import { connectServers, memoryCache, memoryFirstUse, type Servers } from '@toolwell/mcp'
import { createLock, writeLock } from '@toolwell/mcp/lock'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { isLong } from '../../../test/setup/tier.ts'
import { describedTool, type Manners, oddServer } from './support/odd-server.js'
import { eventually, isAlive, running } from './support/processes.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

const odd = (manners: Manners = {}, options = {}) => oddServer('odd', manners, options)
const stateOf = (servers: Servers, name = 'odd') => servers.inspect().find((each) => each.name === name)

describe('a server', () => {
  it('is started once, however many first calls there are', async () => {
    const log = join(temporary(), 'log')
    const { text, servers } = await setup([odd({ log })])
    expect(readFileSync(log, 'utf8').match(/start/g)).toHaveLength(1)
    const pids = await Promise.all(Array.from({ length: 20 }, () => text('odd', 'pid')))
    expect(new Set(pids).size).toBe(1)
    expect(readFileSync(log, 'utf8').match(/start/g)).toHaveLength(2)
    expect(stateOf(servers)).toMatchObject({ state: 'ready', pids: [Number(pids[0])], starts: 2 })
  })

  it('that is being listed for the first time runs the calls that come meanwhile, and is not stopped under them', async () => {
    const log = join(temporary(), 'log')
    const { text } = await setup([odd({ log })], { wait: false })
    const keys = Array.from({ length: 10 }, (_, index) => ({ key: index }))
    expect(await Promise.all(keys.map((input) => text('odd', 'write', input)))).toEqual(
      keys.map((input) => JSON.stringify(input)),
    )
    expect(readFileSync(log, 'utf8').match(/start/g)).toHaveLength(1)
  })

  it('is stopped when nobody has used it for a while, and starts again for the next call', async () => {
    const { text, servers, states } = await setup([odd({}, { idle: 50 })])
    const first = Number(await text('odd', 'pid'))
    await eventually(() => stateOf(servers)?.state === 'idle', 'the server is idle')
    await eventually(() => !isAlive(first), 'its process is gone')
    const second = Number(await text('odd', 'pid'))
    expect(second).not.toBe(first)
    expect(states('odd')).toEqual([
      'connecting',
      'cached',
      'connecting',
      'ready',
      'idle',
      'connecting',
      'ready',
    ])
  })

  it('is not stopped while a call is under way', async () => {
    const { text, servers } = await setup([odd({ delay: 300 }, { idle: 1 })])
    const pids = await Promise.all([text('odd', 'pid'), text('odd', 'pid')])
    expect(new Set(pids).size).toBe(1)
    expect(stateOf(servers)?.starts).toBe(2)
  })

  it('that is not lazy runs from the start, and is started again by itself', async () => {
    const { servers } = await setup([odd({}, { lazy: false, idle: Number.POSITIVE_INFINITY })])
    const [pid = 0] = stateOf(servers)?.pids ?? []
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
    await eventually(() => (stateOf(servers)?.pids[0] ?? pid) !== pid, 'another one runs')
  })

  it('that is switched off is known, and never started', async () => {
    const log = join(temporary(), 'log')
    const { servers } = await setup([odd({ log }, { enabled: false })])
    expect(stateOf(servers)?.state).toBe('disabled')
    await expect(servers.call('odd', 'pid', {})).rejects.toMatchObject({ kind: 'disabled' })
    expect(existsSync(log)).toBe(false)
  })
})

describe('a server that died', () => {
  it('between two calls is started again for the second', async () => {
    const { text, servers } = await setup([odd()])
    const first = Number(await text('odd', 'pid'))
    process.kill(first, 'SIGKILL')
    await eventually(() => stateOf(servers)?.pids.length === 0, 'its end was noticed')
    expect(stateOf(servers)).toMatchObject({ state: 'idle', reason: 'the server was ended by SIGKILL' })
    expect(Number(await text('odd', 'pid'))).not.toBe(first)
  })

  it('while it ran a tool that only reads is asked once more', async () => {
    const file = join(temporary(), 'died-once')
    const { text } = await setup([odd()])
    expect(await text('odd', 'die_read', { unless: file })).toBe('survived')
  })

  it('while it ran a tool that writes does not get the call again, and the caller learns so', async () => {
    const log = join(temporary(), 'log')
    const { text } = await setup([odd({ log })])
    await expect(text('odd', 'die')).rejects.toMatchObject({
      kind: 'lost',
      message: expect.stringMatching(/exited with code 7.*The call may have taken effect/s),
    })
    expect(readFileSync(log, 'utf8').match(/call die/g)).toHaveLength(1)
  })

  it('while it ran a tool that only reads gets the call once more, and only once', async () => {
    const log = join(temporary(), 'log')
    const { text } = await setup([odd({ log })])
    await expect(text('odd', 'die_read')).rejects.toMatchObject({ kind: 'lost' })
    expect(readFileSync(log, 'utf8').match(/call die_read/g)).toHaveLength(2)
  })

  it('is not asked again on the word of annotations that are not believed', async () => {
    const log = join(temporary(), 'log')
    const { servers } = await setup([odd({ log })])
    const { tools = [], instructions = '' } = servers.definition('odd') ?? {}
    const lock = join(temporary(), 'toolwell.lock')
    await writeLock(lock, createLock([{ name: 'odd', instructions, tools }]))
    const { text } = await setup([odd({ log }, { trust: 'none' })], { lock })
    await expect(text('odd', 'die_read')).rejects.toMatchObject({ kind: 'lost' })
    expect(readFileSync(log, 'utf8').match(/call die_read/g)).toHaveLength(1)
  })
})

describe('a server that keeps failing', () => {
  it('is tried less and less often, and says why', async () => {
    let time = 0
    const log = join(temporary(), 'log')
    const { servers } = await setup([odd({ log, diesAtStart: 'no files in the folder' })], {
      now: () => time,
      random: () => 0.5,
    })
    expect(stateOf(servers)).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/exited with code 3: no files in the folder/),
    })
    const attempt = () => servers.call('odd', 'echo', {})
    for (let failures = 2; failures <= 5; failures++) {
      await expect(attempt()).rejects.toMatchObject({ kind: 'unavailable' })
      time += 100_000
    }
    // Each attempt is two starts: it might be an older server that ends when it is asked what it speaks.
    const started = () => (readFileSync(log, 'utf8').match(/start/g)?.length ?? 0) / 2
    expect(started()).toBe(5)
    await expect(attempt()).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(attempt()).rejects.toMatchObject({
      kind: 'resting',
      message: expect.stringMatching(/failed 6 times and is not tried again for 8 s.*no files in the folder/),
    })
    expect(started()).toBe(6)
    time += 8000
    await expect(attempt()).rejects.toMatchObject({ kind: 'unavailable' })
    expect(started()).toBe(7)
  })

  it('works again when the cause is gone', async () => {
    let time = 0
    const broken = join(temporary(), 'broken')
    writeFileSync(broken, '')
    const { servers, text, well } = await setup([odd({ diesWhile: broken })], { now: () => time })
    expect(stateOf(servers)?.state).toBe('failed')
    expect(well.catalogue.sources.get('odd')?.state).toBe('failed')
    time += 100_000
    rmSync(broken)
    expect(await text('odd', 'echo', { a: 1 })).toBe('{"a":1}')
    expect(well.catalogue.sources.get('odd')?.state).toBe('ready')
    expect(stateOf(servers)).toMatchObject({ state: 'ready', reason: '' })
  })

  it('does not keep another from being used', async () => {
    const { text, servers } = await setup(
      [
        odd(),
        oddServer('broken', { diesAtStart: 'no' }),
        oddServer('mute', { mute: true, ignoresProbe: true }),
      ],
      // The mute one is never given up here: nobody may wait for it.
      { connectTimeout: 600_000, wait: false },
    )
    expect(await text('odd', 'echo', { fine: true })).toBe('{"fine":true}')
    await eventually(() => stateOf(servers, 'broken')?.state === 'failed', 'the broken one is given up')
    expect(servers.inspect().map(({ name, state }) => [name, state])).toEqual([
      ['odd', 'ready'],
      ['broken', 'failed'],
      ['mute', 'connecting'],
    ])
  })

  it('is given up when it says nothing', async () => {
    const mute = oddServer('mute', { mute: true, ignoresProbe: true })
    const { servers } = await setup([mute], { connectTimeout: 500 })
    expect(stateOf(servers, 'mute')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('was not ready within 500 ms'),
    })
  })
})

describe('a call', () => {
  it('is cancelled at the server, and the connection stays open', async () => {
    const log = join(temporary(), 'log')
    const { text, servers } = await setup([odd({ log })])
    const pid = await text('odd', 'pid')
    const abort = new AbortController()
    const call = servers.call('odd', 'wait', {}, { signal: abort.signal })
    await eventually(() => readFileSync(log, 'utf8').includes('call wait'), 'the call arrived')
    abort.abort()
    await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
    expect(await text('odd', 'pid')).toBe(pid)
    await eventually(() => readFileSync(log, 'utf8').includes('cancelled'), 'the server was told')
  })

  it('that a server continues despite its cancellation is over for its caller, and its answer is dropped', async () => {
    const log = join(temporary(), 'log')
    const { text, servers } = await setup([odd({ log })])
    const pid = await text('odd', 'pid')
    for (let round = 1; round <= 3; round++) {
      const abort = new AbortController()
      const call = servers.call('odd', 'wait', { ignoresCancellation: true }, { signal: abort.signal })
      const seen = () => readFileSync(log, 'utf8')
      await eventually(() => seen().match(/call wait/g)?.length === round, 'the call arrived')
      abort.abort()
      await expect(call).rejects.toMatchObject({ kind: 'cancelled' })
      await eventually(() => seen().match(/done in spite/g)?.length === round, 'the server answered late')
      expect(await text('odd', 'echo', { round })).toBe(`{"round":${round}}`)
    }
    // The late answers did no harm: the same process, still in use.
    expect(await text('odd', 'pid')).toBe(pid)
    expect(stateOf(servers)?.state).toBe('ready')
  })

  it('that is cancelled before the server runs starts nothing for itself, and harms nobody who waits too', async () => {
    const { servers, text } = await setup([odd()])
    const abort = new AbortController()
    const given = servers.call('odd', 'echo', {}, { signal: abort.signal })
    const other = text('odd', 'echo', { other: 1 })
    abort.abort()
    await expect(given).rejects.toMatchObject({ kind: 'cancelled' })
    expect(await other).toBe('{"other":1}')
  })

  it('that is not answered ends with its timeout', async () => {
    const log = join(temporary(), 'log')
    const { servers } = await setup([odd({ log }, { timeout: 200 })])
    await expect(servers.call('odd', 'wait', {})).rejects.toMatchObject({
      kind: 'timeout',
      message: expect.stringMatching(/did not answer wait within 200 ms.*Increase "timeout"/),
    })
    await eventually(() => readFileSync(log, 'utf8').includes('cancelled'), 'the server was told')
  })

  it('shows its progress', async () => {
    const { text } = await setup([odd()])
    const seen: unknown[] = []
    expect(await text('odd', 'progress', {}, { onProgress: (each) => seen.push(each) })).toBe('done')
    const [first, ...last] = [1, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` }))
    expect([seen[0], seen.at(-1)]).toEqual([first, ...last])
  })

  it('passes on the first updates, then at most ten a second, and the last one', async () => {
    const { text } = await setup([odd()])
    const seen: number[] = []
    const began = performance.now()
    const onProgress = ({ progress }: { progress: number }) => void seen.push(progress)
    expect(await text('odd', 'progress', { steps: 500, every: 2 }, { onProgress })).toBe('done')
    expect(seen.length).toBeLessThanOrEqual(7 + ((performance.now() - began) / 1000) * 8)
    expect(seen[0]).toBe(1)
    expect(seen.at(-1)).toBe(500)
  })

  it('extends its time limit with progress, but not without end', async () => {
    const { text } = await setup([odd({}, { timeout: 500 })])
    const call = (steps: number) =>
      text('odd', 'progress', { steps, every: 50 }, { onProgress: () => undefined })
    expect(await call(15)).toBe('done')
    await expect(call(100)).rejects.toMatchObject({ kind: 'timeout' })
  })

  it('of a tool the config keeps out is refused', async () => {
    const { servers, well } = await setup([odd({}, { allow: ['e*', 'pid'], deny: ['pid'] })])
    await expect(servers.call('odd', 'pid', {})).rejects.toMatchObject({ kind: 'unknown-tool' })
    await expect(servers.call('odd', 'write', {})).rejects.toMatchObject({ kind: 'unknown-tool' })
    expect([...well.catalogue.entries()].map(({ id }) => id)).toEqual(['odd/echo'])
  })

  it('of a tool that a profile keeps out is refused: both lists count, whichever is narrower', async () => {
    const { servers, well } = await setup([
      odd({}, { allow: ['*c*', 'pid'], allowedByProfile: ['e*', 'p*s'] }),
    ])
    await expect(servers.call('odd', 'pid', {})).rejects.toMatchObject({ kind: 'unknown-tool' })
    expect([...well.catalogue.entries()].map(({ id }) => id)).toEqual(['odd/echo'])
  })
})

describe('a list that changes', () => {
  it('is read again before the next call, and updates the catalogue', async () => {
    const { text, well, events } = await setup([odd()])
    expect(well.catalogue.get('odd/fresh')).toBeUndefined()
    await text('odd', 'change')
    expect(await text('odd', 'fresh', { a: 1 })).toBe('{"a":1}')
    expect(well.catalogue.get('odd/fresh')).toBeDefined()
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'server-listed', added: ['fresh'], removed: [], changed: [] }),
    )
  })

  it('is the same list in another order', async () => {
    const { text, events, well } = await setup([odd({ shuffles: true })])
    const { revision } = well.catalogue
    await text('odd', 'pid')
    expect(events.filter(({ kind }) => kind === 'server-listed')).toHaveLength(1)
    expect(well.catalogue.revision).toBe(revision)
  })

  it('is reviewed before it can be used, between list and call too', async () => {
    const folder = temporary()
    const log = join(folder, 'log')
    const changesWhile = join(folder, 'changed')
    const { servers, text, well } = await setup([odd({ changesWhile, log }, { trust: 'follow' })], {
      review: ({ definition, previous }) => {
        const old = new Map(previous?.tools.map((tool) => [tool.name, tool.description]))
        const changed = definition.tools.filter(
          ({ name, description }) => previous && old.get(name) !== description,
        )
        return {
          quarantined: new Map(changed.map(({ name }) => [name, 'its description changed'])),
          findings: [],
        }
      },
    })
    writeFileSync(changesWhile, '')
    await expect(text('odd', 'echo')).rejects.toMatchObject({
      kind: 'quarantined',
      message: expect.stringContaining('echo of odd is quarantined: '),
    })
    expect(readFileSync(log, 'utf8')).not.toContain('call echo')
    expect(well.catalogue.get('odd/echo')?.quarantined).toBe(true)
    expect(stateOf(servers)?.quarantined.get('echo')).toBe('its description changed')
    expect(await text('odd', 'write', { other: true })).toBe('{"other":true}')
  })
})

describe('at the end', () => {
  it('no process is left, not even of servers that would not end or had helpers', async () => {
    const mark = `mark-${Math.random()}`
    const log = join(temporary(), 'log')
    const config = [
      oddServer('plain', {}, {}, mark),
      oddServer('stubborn', { stubborn: true }, {}, mark),
      oddServer('helped', { helper: true, log }, {}, mark),
    ]
    const { text, servers } = await setup(config)
    for (const { name } of config) await text(name, 'pid')
    await eventually(() => running(mark).length === 3, 'those that were only listed are gone')
    const helpers = () =>
      [...readFileSync(log, 'utf8').matchAll(/helper (\d+)/g)].map(([, pid]) => Number(pid))
    expect(helpers().some(isAlive)).toBe(true)
    await servers.close()
    expect(running(mark)).toEqual([])
    await eventually(() => !helpers().some(isAlive), 'the helpers are gone')
    await expect(servers.call('plain', 'pid', {})).rejects.toMatchObject({ kind: 'closed' })
  })

  it('what was starting is stopped', async () => {
    const mark = `mark-${Math.random()}`
    const well = createToolwell()
    const config = [oddServer('mute', { mute: true, ignoresProbe: true }, {}, mark)]
    const servers = connectServers(well.catalogue, config, {
      cache: memoryCache(),
      firstUse: memoryFirstUse(),
      logs: false,
    })
    await eventually(() => running(mark).length === 1, 'it was started')
    await servers.close()
    expect(running(mark)).toEqual([])
  })
})

describe('what a server lists', () => {
  const MANY = isLong ? 10_000 : 1000
  it(`may be ${MANY} tools, whole or in pages`, async () => {
    const { well } = await setup([
      oddServer('whole', { count: MANY }),
      oddServer('pages', { count: MANY, page: 97 }),
    ])
    expect(well.catalogue.sources.get('whole')?.ids.size).toBe(MANY)
    expect(well.catalogue.sources.get('pages')?.ids.size).toBe(MANY)
  })

  it('ends where its pages go round in a circle', async () => {
    const { servers } = await setup([odd({ page: 2, circle: true })])
    expect(stateOf(servers)?.state).toBe('cached')
  })

  it('is used as far as it can be: bad tools, twins and long names cost no other tool', async () => {
    const long = 'n'.repeat(200)
    const tools = [
      describedTool('good'),
      describedTool('good', { description: 'The second of this name.' }),
      describedTool('bad_schema', { inputSchema: 'none' }),
      describedTool('array_schema', { inputSchema: { type: 'array' } }),
      { description: 'Without a name.' },
      describedTool(''),
      describedTool(long),
      null,
      describedTool('odd annotations', { annotations: 7, title: 9, outputSchema: { type: 'nonsense' } }),
    ]
    const toolsFrom = join(temporary(), 'list.json')
    writeFileSync(toolsFrom, JSON.stringify(tools))
    const { well, servers, text } = await setup([odd({ toolsFrom })])
    const names = [...well.catalogue.entries()].map(({ tool, wireName }) => [tool.name, wireName])
    expect(names.map(([name]) => name).sort()).toEqual(['good', long, 'odd annotations'].sort())
    for (const [, wireName] of names) expect(wireName).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
    // Every entry is accounted for.
    expect(stateOf(servers)?.tools).toEqual(['good', long, 'odd annotations'].sort())
    expect(stateOf(servers)?.unusable.map(({ entry, name }) => [entry, name])).toEqual([
      [2, 'good'],
      [3, 'bad_schema'],
      [4, 'array_schema'],
      [5, undefined],
      [6, undefined],
      [8, undefined],
    ])
    expect(servers.definition('odd')?.tools.map(({ name }) => name)).not.toContain('bad_schema')
    expect(await text('odd', long, { a: 1 })).toBe('{"a":1}')
    expect(await text('odd', 'odd annotations', { a: 1 })).toBe('{"a":1}')
  })

  it('that is not a list makes the server fail, with the reason', async () => {
    const { servers } = await setup([odd({ noList: true })])
    expect(stateOf(servers)).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/without a list of tools/),
    })
  })

  it('that ends the server makes it fail, with what it said', async () => {
    const { servers } = await setup([odd({ toolsFrom: '/no/such/list' })])
    expect(stateOf(servers)).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/the server exited with code 1: .*no such file or directory/),
    })
  })

  it('that never comes is not waited for longer than allowed', async () => {
    const { servers } = await setup([odd({ muteList: true })], { connectTimeout: 500 })
    expect(stateOf(servers)?.reason).toMatch(/was not ready within 500 ms/)
  })
})

describe('a server that talks nonsense', () => {
  it('on standard output is understood all the same', async () => {
    const { text } = await setup([odd({ garbage: true })])
    expect(await text('odd', 'echo', { a: 1 })).toBe('{"a":1}')
  })

  it.each([
    ['with messages nobody asked for', { flood: true }, /unrequested messages|was not ready/],
    ['with a line that never ends', { endless: true }, /more than 64 MB|was not ready/],
  ])('%s is ended', async (_, manners, reason) => {
    const mark = `mark-${Math.random()}`
    const { servers, text } = await setup([oddServer('loud', manners, {}, mark), odd()], {
      connectTimeout: 20_000,
    })
    expect(await text('odd', 'echo', { a: 1 })).toBe('{"a":1}')
    const failure = await servers.call('loud', 'wait', {}).catch((error: Error) => error.message)
    expect(failure).toMatch(reason)
    await eventually(() => running(mark).length === 0, 'it is gone')
  })

  it('is distinguished from one with much progress for a caller that asked for it', async () => {
    const { text, servers } = await setup([odd()])
    const other = new AbortController()
    const waiting = text('odd', 'wait', {}, { signal: other.signal })
    let last = 0
    const steps = 25_000
    const onProgress = ({ progress }: { progress: number }) => {
      last = progress
    }
    expect(await text('odd', 'progress', { steps }, { onProgress })).toBe('done')
    expect(last).toBe(steps)
    expect(stateOf(servers)).toMatchObject({ state: 'ready', starts: 2 })
    other.abort()
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' })
  })

  it('is distinguished from one with many logs during its calls', async () => {
    const { text, servers } = await setup([odd({ more: true })])
    // With a frozen clock, they arrive at once.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    onTestFinished(() => clock.mockRestore())
    for (let call = 0; call < 3; call++) expect(await text('odd', 'log', { lines: 20_000 })).toBe('logged')
    expect(stateOf(servers)).toMatchObject({ state: 'ready', starts: 2 })
    await expect(text('odd', 'log', { lines: 20_000 })).rejects.toMatchObject({ kind: 'lost' })
  })

  it('about progress that nobody asked for is ended, too', async () => {
    const { text } = await setup([odd()])
    // On a busy machine, messages arrive too slowly for a flood. With a frozen clock they arrive at once.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    onTestFinished(() => clock.mockRestore())
    await expect(text('odd', 'progress', { steps: 60_000 })).rejects.toMatchObject({
      kind: 'lost',
      message: expect.stringContaining('more than 2000 unrequested messages per second'),
    })
  })

  it.each([{ diesOnProbe: true }, { ignoresProbe: true }])(
    'about the newer protocol counts as an older one: %j',
    async (manners) => {
      const { text } = await setup([odd(manners)])
      expect(await text('odd', 'echo', { a: 1 })).toBe('{"a":1}')
    },
  )
})
