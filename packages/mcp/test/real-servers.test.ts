/** Real servers from npm over stdio: known from the cache, started on the first call, gone when it is over. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolwell } from '@toolwell/core'
import { connectServers, diskCache, memoryFirstUse } from '@toolwell/mcp'
import { expect, it, onTestFinished } from 'vitest'
import { play } from './support/play.js'
import { realServer } from './support/real-servers.js'
import { temporary } from './support/temporary.js'

it('lists four real servers, then finds and runs their tools from the cache', {
  timeout: 120_000,
}, async () => {
  const folder = temporary()
  writeFileSync(join(folder, 'note.txt'), 'hello from a file')
  const config = [
    realServer('everything'),
    realServer('filesystem', [folder]),
    realServer('memory', [], { env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } }),
    realServer('sequential-thinking'),
  ]
  const cache = diskCache({ folder: join(folder, 'cache') })
  const cold = createToolwell({ mode: 'on' })
  const firstUse = memoryFirstUse()
  const first = connectServers(cold.catalogue, config, { cache, firstUse, logs: false })
  expect(first.inspect().map(({ state }) => state)).toEqual(config.map(() => 'connecting'))
  expect(await first.settled(100_000)).toEqual([])
  expect(first.inspect().map(({ state, pids, reason }) => ({ state, pids, reason }))).toEqual(
    config.map(() => ({ state: 'cached', pids: [], reason: '' })),
  )
  await first.close()

  const well = createToolwell({ mode: 'on', delivery: 'bridge' })
  const servers = connectServers(well.catalogue, config, { cache, firstUse, logs: false })
  onTestFinished(() => servers.close())
  expect(servers.inspect().map(({ state, starts }) => ({ state, starts }))).toEqual(
    config.map(() => ({ state: 'cached', starts: 0 })),
  )
  expect(well.catalogue.size).toBe(cold.catalogue.size)
  expect(well.catalogue.size).toBeGreaterThan(30)
  // Its instructions begin with a heading.
  expect(well.catalogue.sources.get('everything')?.description).toMatch(/^Audience: /)
  const model = await play(well, 'a')
  expect(await model.search('read the contents of a text file')).toContain('filesystem__read_text_file')
  expect(servers.inspect().map(({ starts }) => starts)).toEqual([0, 0, 0, 0])
  expect(await model.call('filesystem__read_text_file', { path: join(folder, 'note.txt') })).toBe(
    'hello from a file',
  )
  expect(servers.inspect().map(({ name, state }) => [name, state])).toEqual([
    ['everything', 'cached'],
    ['filesystem', 'ready'],
    ['memory', 'cached'],
    ['sequential-thinking', 'cached'],
  ])
  expect(await model.call('filesystem__read_text_file', { path: join(folder, 'missing.txt') })).toMatch(
    /ENOENT/,
  )
  const added = await model.call('memory__create_entities', {
    entities: [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }],
  })
  expect(added).toContain('Ada')
  expect(await model.call('memory__read_graph', {})).toContain('writes programs')
})
