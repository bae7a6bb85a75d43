/** Prompts, resources and templates, with a lock and without one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import {
  connectServers,
  diskCache,
  diskFirstUse,
  loadConfig,
  memoryCache,
  memoryFirstUse,
  type ServerDefinition,
} from '@toolwell/mcp'
import { approvePending, findPending, groupByLock } from '@toolwell/mcp/internal'
import { createLock, type LockableOffer, listLockableOffers, readLock, writeLock } from '@toolwell/mcp/lock'
import { expect, it, onTestFinished } from 'vitest'
import { judgeOffers } from '../../src/trust/lock/judge-offers.js'
import { describedTool, oddServer } from '../support/odd-server.js'

const FIXTURE = fileURLToPath(
  new URL('../../../gateway/test/support/conformance-server.mjs', import.meta.url),
)

async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-offers-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'toolwell.json')
  const cwd = fileURLToPath(new URL('../../../gateway/test', import.meta.url))
  const suite = { command: process.execPath, args: [FIXTURE], cwd }
  writeFileSync(config, JSON.stringify({ mcpServers: { suite } }))
  const servers = connectServers(
    createToolwell().catalogue,
    loadConfig({ files: [{ path: config }], env: process.env, workspaceFolder: folder }),
    { cache: memoryCache(), firstUse: memoryFirstUse(), logs: false },
  )
  onTestFinished(() => servers.close())
  await servers.settled(120_000)
  const definition = servers.definition('suite')
  if (!definition) throw new Error('The server is not listed.')
  const lock = join(folder, 'toolwell.lock')
  const offers = listLockableOffers(definition)
  const write = async (kept: readonly LockableOffer[]) => {
    rmSync(lock, { force: true })
    await writeLock(lock, createLock([{ name: 'suite', tools: [...definition.tools, ...kept] }]))
  }
  const names = () => {
    const { prompts, resources, templates } = servers.offers('suite')
    return [
      ...prompts.map(({ name }) => name),
      ...resources.map(({ uri }) => uri),
      ...templates.map(({ uriTemplate }) => uriTemplate),
    ]
  }
  return { offers, lock, write, names }
}

it('shows prompts and resources in the lock, and hides new and changed ones until they are approved', async () => {
  const { offers, lock, write, names } = await start()
  const all = names()
  expect(all).toContain('test_simple_prompt')
  expect(all).toContain('test://static-text')
  expect(all).toContain('test://template/{id}/data')
  await write(offers)
  expect(Object.keys(readLock(lock)?.servers.suite?.tools ?? {})).toContain('prompt:test_simple_prompt')
  expect(names()).toEqual(all)
  await write(
    offers
      .filter(({ name }) => name !== 'resource:test://static-text')
      .map((each) =>
        each.name === 'prompt:test_simple_prompt' ? { ...each, description: 'Approved before.' } : each,
      ),
  )
  const missing = ['test_simple_prompt', 'test://static-text']
  expect(names()).toEqual(all.filter((name) => !missing.includes(name)))
  writeFileSync(lock, 'damaged')
  expect(names()).toEqual([])
  rmSync(lock)
  expect(names()).toEqual(all)
})

const PLAN = { name: 'plan', description: 'Plans a day.' }
const NOTE = { uri: 'odd://note', name: 'Monday' }
const DAY = { uriTemplate: 'odd://day/{date}', name: 'day', description: 'A day.' }
const RENAMED = { ...NOTE, name: 'Tuesday' }

/** A server without a lock, whose prompts and resources can be changed. */
function startChanging(trust = 'first-use') {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-offers-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const offersFrom = join(folder, 'offers.json')
  const write = (prompts: readonly object[], resources: readonly object[], templates: readonly object[]) =>
    writeFileSync(offersFrom, JSON.stringify({ prompts, resources, templates }))
  write([PLAN], [NOTE], [DAY])
  const file = join(folder, 'toolwell.json')
  const { endpoint } = oddServer('odd', { offersFrom, tools: [describedTool('echo')] })
  if (endpoint.type !== 'stdio') throw new Error('The odd server runs on stdio.')
  const { command, args } = endpoint
  writeFileSync(file, JSON.stringify({ mcpServers: { odd: { command, args, trust } } }))
  const config = loadConfig({ files: [{ path: file }], env: process.env, workspaceFolder: folder })
  const firstUse = diskFirstUse({ folder: join(folder, 'first-use') })
  const cache = diskCache({ folder: join(folder, 'cache') })
  /** Each is a separate program with the same records. */
  const connect = async (isListed = true) => {
    const servers = connectServers(createToolwell().catalogue, config, { cache, firstUse, logs: false })
    onTestFinished(() => servers.close())
    await (isListed ? servers.refresh('odd') : servers.reviewed())
    return {
      servers,
      shown() {
        const { prompts, resources, templates } = servers.offers('odd')
        return [...prompts, ...resources, ...templates].map(({ name }) => name)
      },
      quarantined: () => servers.inspect()[0]?.quarantined ?? new Map<string, string>(),
      async approve() {
        const groups = groupByLock({ config, servers, firstUse })
        const pending = groups.groups.flatMap((group) => findPending(group))
        await approvePending(groups, pending)
        servers.reviewAgain('odd')
        return pending.map(({ change }) => `${change.kind} ${change.tool ?? 'server'}`)
      },
    }
  }
  return { write, connect }
}

it('hides prompts and templates that have changed since they were first seen, until they are approved', async () => {
  const { write, connect } = startChanging()
  const first = await connect()
  expect(first.shown()).toEqual(['plan', 'Monday', 'day'])
  expect(await first.approve()).toEqual([])
  // Resources are data of the user, and their names change with it.
  write(
    [{ ...PLAN, description: 'Plans a night.' }, { name: 'new' }],
    [RENAMED],
    [{ ...DAY, description: '' }],
  )
  await first.servers.refresh('odd')
  expect(first.shown()).toEqual(['new', 'Tuesday'])
  const reason = /prompt:plan" has changed since it was first seen\. .*toolwell approve 'odd\/prompt:plan'/
  expect(first.quarantined().get('prompt:plan')).toMatch(reason)
  const second = await connect()
  expect(second.shown()).toEqual(['new', 'Tuesday'])
  expect([...second.quarantined().keys()]).toEqual(['prompt:plan', 'template:odd://day/{date}'])
  expect(await second.approve()).toEqual(['changed prompt:plan', 'changed template:odd://day/{date}'])
  expect(second.shown()).toEqual(['plan', 'new', 'Tuesday', 'day'])
  expect(second.quarantined().size).toBe(0)
  // A prompt that is gone needs no approval, and is compared if it comes back.
  write([{ name: 'new' }], [RENAMED], [])
  await second.servers.refresh('odd')
  expect(await second.approve()).toEqual([])
  write([PLAN], [RENAMED], [])
  await second.servers.refresh('odd')
  expect(second.shown()).toEqual(['Tuesday'])
})

it('shows cached prompts and resources without starting their server', async () => {
  const { connect } = startChanging()
  await (await connect()).servers.close()
  const { servers, shown } = await connect(false)
  expect(shown()).toEqual(['plan', 'Monday', 'day'])
  expect(servers.inspect()).toMatchObject([{ state: 'cached', starts: 0 }])
})

it('shows nothing of a server without trust before it is approved', async () => {
  const { write, connect } = startChanging('none')
  const { servers, shown, approve } = await connect()
  expect(shown()).toEqual([])
  expect(await approve()).toEqual([
    'added server',
    'added echo',
    'added prompt:plan',
    'added resource:odd://note',
    'added template:odd://day/{date}',
  ])
  expect(shown()).toEqual(['plan', 'Monday', 'day'])
  write([PLAN], [RENAMED], [DAY])
  await servers.refresh('odd')
  expect(shown()).toEqual(['plan', 'day'])
})

it('remembers at most 50,000 definitions of a server, and quarantines what is new after that', () => {
  const tools = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, at) => [`t${at}`, { fingerprint: '', definition: {} }]),
  )
  const definition = { prompts: [PLAN], resources: [NOTE], templates: [DAY] } as unknown as ServerDefinition
  const { offers, quarantined, fresh } = judgeOffers({
    server: oddServer('odd'),
    definition,
    lock: undefined,
    remembered: { start: 'odd', instructions: '', tools },
    findingsOf: () => [],
  })
  expect(offers.resources).toEqual([NOTE])
  expect([...quarantined.keys()]).toEqual(['prompt:plan', 'template:odd://day/{date}'])
  expect(quarantined.get('prompt:plan')).toContain('has listed more than 50000 definitions')
  expect(fresh).toEqual([])
})
