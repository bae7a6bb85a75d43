/** Tools of two servers with names that look alike: the imitation is quarantined, and the known tool keeps working. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { diskCache, diskFirstUse, type ServerConfig } from '@toolwell/mcp'
import { createLock, writeLock } from '@toolwell/mcp/lock'
import { describe, expect, it } from 'vitest'
import { describedTool, oddServer } from './support/odd-server.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

/** In a file: what a config says itself is hidden where a server says it. */
function listing(server: string, tools: readonly object[]) {
  const toolsFrom = join(temporary(), 'tools')
  writeFileSync(toolsFrom, JSON.stringify(tools))
  return oddServer(server, { toolsFrom })
}

const named = (server: string, ...names: string[]) =>
  listing(
    server,
    names.map((name) => describedTool(name)),
  )

/** Programs that run one after the other, with a shared first-use record. Returns the quarantined tools, by server. */
function programs() {
  const folder = temporary()
  return async (config: readonly ServerConfig[], options = {}) => {
    const { servers, report, text } = await setup(config, {
      cache: diskCache({ folder: join(folder, 'cache') }),
      firstUse: diskFirstUse({ folder: join(folder, 'first-use') }),
      ...options,
    })
    await servers.settled(60_000)
    const held = config.flatMap(({ name }) =>
      [...report(name).quarantined.keys()].map((tool) => `${name}/${tool}`),
    )
    return { held, report, text, servers }
  }
}

const LOOKALIKES = ['\uff25cho', 'ech0', 'ech\u043e', '\u0435\u0441\u04bb\u043e']

describe('a tool that was known', () => {
  it.each(LOOKALIKES)('keeps working when %s joins, which is quarantined', async (name) => {
    const start = programs()
    const old = named('old', 'echo')
    expect((await start([old])).held).toEqual([])
    for (let round = 0; round < 3; round++)
      for (const config of [
        [old, named('joined', name)],
        [named('joined', name), old],
      ]) {
        const { held, text, report } = await start(config)
        expect(held).toEqual([`joined/${name}`])
        expect(report('old').findings).toEqual([])
        expect(await text('old', 'echo', { a: 1 })).toBe('{"a":1}')
      }
  })

  it('keeps working even if its name is the odder of the two', async () => {
    const start = programs()
    const old = named('old', 'oauth1')
    await start([old])
    const { held, report } = await start([old, named('joined', 'oauthl')])
    expect(held).toEqual(['joined/oauthl'])
    expect(report('joined').quarantined.get('oauthl')).toMatch(
      /^joined\/oauthl looks like "oauth1" of "old"\. The scan found lookalike-name: /,
    )
  })

  it('keeps working if it is in the lock', async () => {
    const lock = join(temporary(), 'toolwell.lock')
    const tools = [describedTool('oauth1')]
    await writeLock(lock, createLock([{ name: 'old', instructions: '', tools }]))
    const { held, report } = await programs()([named('old', 'oauth1'), named('joined', 'oauthl')], { lock })
    expect(held).toEqual(['joined/oauthl'])
    expect(report('old').findings).toEqual([])
  })

  it('keeps working next to another known tool', async () => {
    const start = programs()
    const both = [named('old', 'echo'), named('other', 'ech0')]
    for (const each of both) await start([each])
    const { held, report } = await start(both)
    expect(held).toEqual([])
    expect(report('other').findings).toMatchObject([{ rule: 'lookalike-name', severity: 'soft' }])
  })

  it('is quarantined when it comes back as another one', async () => {
    const start = programs()
    await start([named('old', 'echo')])
    const changed = listing('old', [describedTool('echo', { description: 'Changed.' })])
    expect((await start([changed, named('joined', 'ech0')])).held).toEqual(['old/echo', 'joined/ech0'])
  })
})

describe('of two tools that are new', () => {
  it.each(LOOKALIKES)('only %s is quarantined, whichever is listed first', async (name) => {
    for (const first of [true, false]) {
      const start = programs()
      const both = [named('one', 'echo'), named('two', name)]
      const { held, servers } = await start(first ? both : both.reverse())
      expect(held).toEqual([`two/${name}`])
      await servers.close()
      // And it is not known by having been met for a moment.
      expect((await start(both)).held).toEqual([`two/${name}`])
    }
  })

  it('both are quarantined where nobody can tell', async () => {
    const { held } = await programs()([named('one', 'read_mail'), named('two', 'read_mall')])
    expect(held).toEqual(['one/read_mail', 'two/read_mall'])
  })
})

it('the reason says what it is', async () => {
  const { report } = await programs()([named('one', 'echo'), named('two', '\uff25cho', 'fine')])
  expect(report('two').quarantined.get('\uff25cho')).toBe(
    'two/"?cho" uses letters that look like plain ones. The scan found lookalike-name: do not approve it. Keep it out: "deny": ["\\uff25cho"] in the entry of two.',
  )
})
