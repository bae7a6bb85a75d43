/** Many servers, some of them dead, mute or flapping, and thousands of calls: each is answered once, and the healthy notice nothing. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { McpFailure } from '@toolwell/mcp'
import { expect, it } from 'vitest'
import { isLong, runs } from '../../../test/setup/tier.ts'
import { oddServer } from './support/odd-server.js'
import { eventually, running } from './support/processes.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

const HEALTHY = isLong ? 13 : 4
const CALLS = runs(150)

it('answers every call once, whatever some servers do', { timeout: 300_000 }, async () => {
  const folder = temporary()
  const mark = `mark-${Math.random()}`
  const log = (name: string) => join(folder, `${name}.log`)
  const healthy = Array.from({ length: HEALTHY }, (_, index) => `healthy${index}`)
  const flapping = ['flapping0', 'flapping1', 'flapping2']
  const dead = ['dead0', 'dead1']
  const mute = ['mute0', 'mute1']
  const { servers, text } = await setup(
    [
      ...healthy.map((name) => oddServer(name, { log: log(name) }, {}, mark)),
      ...flapping.map((name, index) => oddServer(name, { log: log(name), diesEvery: 7 + index }, {}, mark)),
      ...dead.map((name) => oddServer(name, { diesAtStart: 'no' }, {}, mark)),
      ...mute.map((name) => oddServer(name, { mute: true, ignoresProbe: true }, {}, mark)),
    ],
    { wait: false, connectTimeout: 20_000 },
  )

  const outcomes = new Map<string, string>()
  const settled = new Map<string, number>()
  let id = 0
  const call = async (server: string, tool: string) => {
    const key = `${server}-${++id}`
    const outcome = await text(server, tool, { key }).then(
      (answer) => {
        expect(JSON.parse(answer)).toEqual({ key })
        return 'answered'
      },
      (error: unknown) => {
        expect(McpFailure.is(error)).toBe(true)
        return (error as McpFailure).kind
      },
    )
    outcomes.set(key, outcome)
    settled.set(key, (settled.get(key) ?? 0) + 1)
  }
  /** So many calls, ten at a time. */
  const drive = async (server: string, count: number) => {
    let left = count
    const worker = async () => {
      while (left-- > 0) await call(server, left % 2 === 0 ? 'write' : 'echo')
    }
    await Promise.all(Array.from({ length: 10 }, worker))
  }
  // Nobody has listed them yet: the first calls start what the listing has not.
  const doomed = [...dead, ...mute].map((server) => drive(server, 20))
  const troubled = flapping.map((server) => drive(server, 60))
  await Promise.all(healthy.map((server) => drive(server, CALLS)))
  // All healthy calls are through, while calls of mute servers still wait.
  expect([...outcomes.keys()].filter((key) => key.startsWith('mute'))).toEqual([])
  await Promise.all(troubled)
  await servers.close()
  await Promise.all(doomed)

  const total = HEALTHY * CALLS + flapping.length * 60 + 4 * 20
  expect(outcomes.size).toBe(total)
  expect([...settled.values()].every((count) => count === 1)).toBe(true)
  const of = (prefix: string) => [...outcomes].filter(([key]) => key.startsWith(prefix))
  expect(of('healthy').every(([, outcome]) => outcome === 'answered')).toBe(true)
  expect(of('dead').some(([, outcome]) => outcome === 'answered')).toBe(false)
  expect(of('flapping').filter(([, outcome]) => outcome === 'answered').length).toBeGreaterThan(0)

  // The servers' own logs: an answered call ran once, an unanswered write at most once.
  for (const name of [...healthy, ...flapping]) {
    const lines = existsSync(log(name)) ? readFileSync(log(name), 'utf8').split('\n') : []
    const done = new Map<string, number>()
    for (const line of lines) {
      const [, key] = /^done .*"key":"([^"]+)"/.exec(line) ?? []
      if (key) done.set(key, (done.get(key) ?? 0) + 1)
    }
    const writes = new Set(lines.flatMap((line) => /^call write .*"key":"([^"]+)"/.exec(line)?.[1] ?? []))
    for (const [key, outcome] of of(`${name}-`)) {
      if (outcome === 'answered') expect([key, done.has(key)]).toEqual([key, true])
      if (writes.has(key) || name.startsWith('healthy')) expect(done.get(key) ?? 0).toBeLessThanOrEqual(1)
    }
  }
  await eventually(() => running(mark).length === 0, 'no process is left')
})
