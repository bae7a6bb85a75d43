/** Nothing is left behind: not after many lives of a server, and not when this very program is killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import { connectServers, memoryCache, memoryFirstUse } from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isLong } from '../../../test/setup/tier.ts'
import { oddServer } from './support/odd-server.js'
import { eventually, isAlive, openFiles, running } from './support/processes.js'
import { temporary } from './support/temporary.js'

/** A leak in every life shows after a few; an occasional leak needs many. */
const LIVES = isLong ? 200 : 12

it(`leaves no process, pipe or listener after ${LIVES} lives of a server`, async () => {
  const mark = `mark-${Math.random()}`
  const cache = memoryCache()
  const server = oddServer('odd', {}, {}, mark)
  const live = async (life: number) => {
    const well = createToolwell()
    const servers = connectServers(well.catalogue, [server], {
      cache,
      firstUse: memoryFirstUse(),
      logs: false,
    })
    await servers.settled(60_000)
    const { content } = await servers.call('odd', 'pid', {})
    const pid = Number(content[0]?.type === 'text' && content[0].text)
    expect(isAlive(pid)).toBe(true)
    // Killed, closed, or killed while it works.
    if (life % 3 === 0) process.kill(pid, 'SIGKILL')
    if (life % 3 === 1) {
      const call = servers.call('odd', 'wait', {}).catch((error: Error) => error.name)
      process.kill(pid, 'SIGKILL')
      expect(await call).toBe('McpFailure')
    }
    await servers.close()
  }
  await live(0)
  await live(1)
  await live(2)
  await eventually(() => running(mark).length === 0, 'the first lives are over')
  const before = {
    files: openFiles(),
    listeners: process.eventNames().flatMap((name) => process.listeners(name as 'exit')).length,
  }
  for (let life = 0; life < LIVES; life++) await live(life)
  await eventually(() => running(mark).length === 0, 'every process is gone')
  await eventually(() => openFiles() <= before.files, 'every pipe is closed')
  expect(process.eventNames().flatMap((name) => process.listeners(name as 'exit'))).toHaveLength(
    before.listeners,
  )
})

describe('a program that ends', () => {
  const host = fileURLToPath(new URL('support/host.mjs', import.meta.url))

  /** Runs a program that starts servers, helpers included, and waits for its word. */
  async function startHost(how: string) {
    const mark = `mark-${Math.random()}`
    const log = join(temporary(), 'log')
    const child = spawn(process.execPath, [host, mark, log, how], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    return { child, mark, helper: Number(line) }
  }

  it.each([
    ['is killed', 'SIGKILL'],
    ['is told to end', 'SIGTERM'],
  ] as const)(
    'because it %s leaves no server and no helper of a server',
    { timeout: 120_000 },
    async (_, signal) => {
      const { child, mark, helper } = await startHost('stay')
      // The program itself has the mark on its command line too.
      expect(running(mark).length).toBeGreaterThanOrEqual(4)
      expect(isAlive(helper)).toBe(true)
      child.kill(signal)
      await once(child, 'exit')
      await eventually(() => running(mark).length === 0, 'every server is gone')
      await eventually(() => !isAlive(helper), 'the helper is gone')
    },
  )

  it('without closing its servers leaves none either', { timeout: 120_000 }, async () => {
    const { child, mark, helper } = await startHost('exit')
    if (child.exitCode === null) await once(child, 'exit')
    await eventually(() => running(mark).length === 0 && !isAlive(helper), 'everything is gone')
  })
})
