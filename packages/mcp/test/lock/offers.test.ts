/** Prompts, resources and templates of a locked server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import { connectServers, loadConfig, memoryCache, memoryFirstUse } from '@toolwell/mcp'
import { createLock, type LockableOffer, listLockableOffers, readLock, writeLock } from '@toolwell/mcp/lock'
import { expect, it, onTestFinished } from 'vitest'

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

it('shows what the lock holds, and hides what changed or is new until it is approved', async () => {
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
