/** Servers that say all the time that their list has changed: it is known all the same, and not read all the time. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryCache, memoryFirstUse } from '@toolwell/mcp'
import { expect, it } from 'vitest'
import { describedTool, oddServer } from './support/odd-server.js'
import { eventually } from './support/processes.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

const warnings = (events: readonly { readonly kind: string }[]) =>
  events.filter(({ kind }) => kind === 'warning')

it('the tools of a server that storms are known, also when it is stopped in the middle of it', async () => {
  const kept = { cache: memoryCache(), firstUse: memoryFirstUse() }
  for (let round = 0; round < 5; round++) {
    const { servers, report, events } = await setup([oddServer('odd', { storm: 1, stubborn: true })], kept)
    expect(report('odd')).toMatchObject({ state: 'cached', reason: '' })
    await servers.close()
    expect(report('odd').tools).toContain('echo')
    expect(warnings(events)).toMatchObject(round === 0 ? [{ code: 'first-use' }] : [])
  }
})

it('a server that storms is listed a few times and not without end, and calls do not wait for it', async () => {
  const log = join(temporary(), 'log')
  const { text, servers } = await setup([oddServer('odd', { storm: 1, log })])
  for (let call = 0; call < 300; call++) await text('odd', 'echo', { call })
  const lists = readFileSync(log, 'utf8').match(/^list$/gm) ?? []
  const calls = readFileSync(log, 'utf8').match(/^call echo/gm) ?? []
  expect(calls).toHaveLength(300)
  expect(lists.length).toBeLessThan(calls.length / 2)
  expect(servers.inspect()[0]).toMatchObject({ state: 'ready', starts: 2 })
})

it('what joins in a storm can be called', async () => {
  const { text } = await setup([oddServer('odd', { storm: 1 })])
  for (const name of ['one', 'two', 'three']) {
    expect(await text('odd', 'change', { name })).toBe('changed')
    expect(await text('odd', name, { a: 1 })).toBe('{"a":1}')
  }
})

it('a server that storms and never lists is failed, with the reason', async () => {
  const { report } = await setup([oddServer('odd', { storm: 1, muteList: true })], { connectTimeout: 500 })
  expect(report('odd')).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('was not ready within 500 ms'),
  })
})

it('the last of several changes is not missed', async () => {
  const toolsFrom = join(temporary(), 'tools')
  const list = (...names: string[]) =>
    writeFileSync(toolsFrom, JSON.stringify(names.map((name) => describedTool(name))))
  list('announce')
  const { text, report } = await setup([oddServer('odd', { toolsFrom })])
  for (const joined of ['one', 'two', 'three', 'four']) {
    list('announce', joined)
    expect(await text('odd', 'announce')).toBe('announced')
  }
  await eventually(() => report('odd').tools.includes('four'), 'it is listed')
  expect(report('odd').tools).toEqual(['announce', 'four'])
})
