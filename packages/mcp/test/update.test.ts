/** Another config while servers run: what is the same is not touched, what is under way is answered, a broken edit changes nothing. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadConfig, type Servers } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { oddServer } from './support/odd-server.js'
import { play } from './support/play.js'
import { eventually, isAlive, running } from './support/processes.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

const nameOf = (servers: Servers) => servers.inspect().map(({ name }) => name)

describe('a server that is the same in the new config', () => {
  it('keeps its process, its state and what it is doing', async () => {
    const { servers, text, well } = await setup([oddServer('a', { more: true }), oddServer('b')])
    const pid = await text('a', 'pid')
    expect(await text('a', 'count')).toBe('1')
    const { revision } = well.catalogue
    const report = servers.update([oddServer('b', {}, { deny: ['die'] }), oddServer('a', { more: true })])
    expect(report).toMatchObject({
      isApplied: true,
      added: [],
      changed: ['b'],
      removed: [],
      unchanged: ['a'],
      problems: [],
    })
    expect(await text('a', 'pid')).toBe(pid)
    expect(await text('a', 'count')).toBe('2')
    expect(nameOf(servers)).toEqual(['b', 'a'])
    expect([...well.catalogue.changesSince(revision)].filter((id) => id.startsWith('a/'))).toEqual([])
  })

  it('is found to be so in files that were read again', async () => {
    const file = join(temporary(), 'toolwell.json')
    const program = fileURLToPath(new URL('support/odd-server.mjs', import.meta.url))
    const entry = (more: object = {}) => ({
      command: process.execPath,
      args: [program, '{}', 'x'],
      idle: false,
      ...more,
    })
    const load = (mcpServers: object) => {
      writeFileSync(file, JSON.stringify({ mcpServers }))
      return loadConfig({ files: [file], workspaceFolder: '/' })
    }
    const { servers, text } = await setup(load({ a: entry(), b: entry() }).servers)
    const pid = await text('a', 'pid')
    expect(
      servers.update(load({ a: entry(), b: entry({ env: { NEW: 'value' } }), c: entry() })),
    ).toMatchObject({
      added: ['c'],
      changed: ['b'],
      unchanged: ['a'],
    })
    expect(await text('a', 'pid')).toBe(pid)
    // The same today, and another tomorrow: in another folder it would differ.
    expect(servers.update(load({ a: entry({ cwd: '${workspaceFolder}' }), b: entry() }))).toMatchObject({
      changed: ['a', 'b'],
      removed: ['c'],
    })
  })
})

describe('a server that is changed or removed', () => {
  it('answers what is under way, and takes nothing new', async () => {
    const mark = `mark-${Math.random()}`
    const log = join(temporary(), 'log')
    const { servers, text } = await setup([
      oddServer('gone', { delay: 300, log }, {}, mark),
      oddServer('other', { delay: 300 }, {}, mark),
    ])
    const old = Number(await text('other', 'pid'))
    const calls = [1, 2, 3].flatMap((key) => [
      text('gone', 'write', { key }),
      text('other', 'write', { key }),
    ])
    await eventually(() => readFileSync(log, 'utf8').match(/call write/g)?.length === 3, 'they are under way')
    servers.update([oddServer('other', {}, {}, `${mark}-new`)])
    await expect(text('gone', 'write')).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'there is no server "gone"; known: other',
    })
    const pid = Number(await text('other', 'pid'))
    expect(pid).not.toBe(old)
    expect(await Promise.all(calls)).toEqual(
      [1, 2, 3].flatMap((key) => [JSON.stringify({ key }), JSON.stringify({ key })]),
    )
    await eventually(() => !isAlive(old), 'the old one is gone')
    await eventually(() => running(mark).join() === String(pid), 'the removed one is gone too')
    await servers.close()
    expect(running(mark)).toEqual([])
  })

  it('also answers a call that has only begun to start it', async () => {
    const { servers, text } = await setup([oddServer('odd')])
    const call = text('odd', 'echo', { early: true })
    servers.update([])
    expect(await call).toBe('{"early":true}')
    expect(servers.inspect()).toEqual([])
  })

  it('is ended by close, whatever is still under way on it', async () => {
    const mark = `mark-${Math.random()}`
    const { servers, text } = await setup([oddServer('odd', {}, {}, mark)])
    await text('odd', 'pid')
    const call = servers.call('odd', 'wait', {}).catch((error: Error) => error.name)
    servers.update([])
    await servers.close()
    expect(await call).toBe('McpFailure')
    expect(running(mark)).toEqual([])
  })

  it('tells its stateful callers that what it kept is gone', async () => {
    const caller = { client: 'ada' }
    const config = (timeout: number) => [oddServer('odd', { more: true }, { share: 'client', timeout })]
    const { servers, text, events } = await setup(config(60_000))
    expect(await text('odd', 'count', {}, { caller })).toBe('1')
    servers.update(config(50_000))
    const { content, _meta } = await servers.call('odd', 'count', {}, { caller })
    expect(content).toMatchObject([
      { text: '1' },
      { text: expect.stringContaining('was changed in the config') },
    ])
    expect(_meta).toMatchObject({ 'toolwell/state-lost': 'changed' })
    expect(events).toContainEqual({ kind: 'server-updated', server: 'odd', change: 'changed' })
  })
})

describe('a conversation', () => {
  it('continues with the tools of a changed server, and loses those of a removed one', async () => {
    const { servers, well } = await setup([oddServer('a'), oddServer('b')])
    const model = await play(well, 'one')
    const before = await model.call('a__pid', {})
    // Another process, of which nothing is cached: its tools stay in sight meanwhile.
    servers.update([oddServer('a', { title: 'Another' })])
    expect(well.catalogue.get('a/pid')).toBeDefined()
    const after = await model.call('a__pid', {})
    expect(after).toMatch(/^\d+$/)
    expect(after).not.toBe(before)
    expect(await model.call('b__pid', {})).toMatch(/no longer available|no tool/)
    expect(well.catalogue.sources.has('b')).toBe(false)
  })

  it('cannot call what the new config keeps out, with the list that it had', async () => {
    const { servers, well, text } = await setup([oddServer('a')])
    const entry = well.catalogue.get('a/pid')
    servers.update([oddServer('a', {}, { deny: ['pid'] })])
    await expect(entry?.tool.execute?.({}, { callId: '1' })).rejects.toMatchObject({ kind: 'unknown-tool' })
    await expect(text('a', 'pid')).rejects.toMatchObject({ kind: 'unknown-tool' })
    expect(well.catalogue.get('a/pid')).toBeUndefined()
  })
})

describe('a broken edit', () => {
  const program = fileURLToPath(new URL('support/odd-server.mjs', import.meta.url))
  const entry = (more: object = {}) => ({ command: process.execPath, args: [program, '{}', 'x'], ...more })
  const load = (text: string) =>
    loadConfig({ files: [{ path: '/toolwell.json', text }], workspaceFolder: '/' })
  const good = JSON.stringify({ mcpServers: { a: entry(), b: entry() } })

  it('of the file keeps everything as it was, and says why', async () => {
    const { servers, text } = await setup(load(good).servers)
    const pid = await text('a', 'pid')
    const report = servers.update(load(good.slice(0, -3)))
    expect(report).toMatchObject({
      isApplied: false,
      added: [],
      changed: [],
      removed: [],
      unchanged: ['a', 'b'],
    })
    expect(report.problems[0]).toMatchObject({ file: '/toolwell.json', severity: 'error' })
    expect(await text('a', 'pid')).toBe(pid)
    expect(await text('b', 'echo', { x: 1 })).toBe('{"x":1}')
  })

  it('of one entry keeps that server as it was, and the rest of the edit counts', async () => {
    const { servers, text } = await setup(load(good).servers)
    const pid = await text('a', 'pid')
    const edit = { a: entry({ env: { KEY: '${NO_SUCH_VARIABLE_ANYWHERE}' } }), c: entry(), d: { url: 7 } }
    const report = servers.update(load(JSON.stringify({ mcpServers: edit })))
    expect(report).toMatchObject({ isApplied: true, added: ['c'], removed: ['b'], unchanged: ['a'] })
    expect(report.problems.map(({ server }) => server)).toEqual(expect.arrayContaining(['a', 'd']))
    expect(await text('a', 'pid')).toBe(pid)
    expect(await text('c', 'echo', { x: 1 })).toBe('{"x":1}')
  })

  it('in code is refused before anything has changed', async () => {
    const { servers } = await setup([oddServer('a')])
    expect(() => servers.update([oddServer('b'), oddServer('b')])).toThrow(/Two servers are named "b"/)
    expect(nameOf(servers)).toEqual(['a'])
  })

  it('after the end is refused', async () => {
    const { servers } = await setup([oddServer('a')])
    await servers.close()
    expect(() => servers.update([])).toThrow(/closed/)
  })
})

it('an edit a moment: every call of an untouched server is answered by one process, and nothing is left behind', async () => {
  const mark = `mark-${Math.random()}`
  const steady = oddServer('steady', { more: true }, {}, mark)
  const { servers, text } = await setup([steady])
  const pids = new Set<string>()
  for (let round = 0; round < 10; round++) {
    const calls = [text('steady', 'pid'), text('steady', 'pid')]
    servers.update([steady, oddServer('other', {}, { timeout: 1000 + round }, mark)])
    calls.push(
      text('steady', 'pid'),
      text('other', 'pid').then(() => text('steady', 'pid')),
    )
    for (const pid of await Promise.all(calls)) pids.add(pid)
  }
  expect(pids.size).toBe(1)
  await servers.close()
  await eventually(() => running(mark).length === 0, 'all are gone')
})
