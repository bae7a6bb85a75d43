/** Two configs of one folder share a lock: neither loses the pins of the other. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { homeWith, misbehaving } from './support/home.js'

const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }]

it('a lock keeps the pins of another config, and drops them on request', async () => {
  const { run, atTerminal, folder } = homeWith({
    'toolwell.json': { mcpServers: { one: misbehaving({ tools }) } },
    'other.json': { mcpServers: { two: misbehaving({ tools }) } },
    'dead.json': { mcpServers: { dead: { command: 'no-such-program-anywhere' } } },
  })
  const pinned = () => Object.keys(JSON.parse(readFileSync(join(folder, 'toolwell.lock'), 'utf8')).servers)
  expect(await run(['lock'])).toMatchObject({ code: 0 })
  const second = await atTerminal(['lock', '--config', 'other.json'])
  expect(second.code).toBe(0)
  expect(second.output).toContain('kept, although this config does not name it: one.')
  expect(second.output).not.toMatch(/^ +- one/m)
  expect(pinned()).toEqual(['one', 'two'])
  for (const config of ['toolwell.json', 'other.json'])
    expect(await run(['lock', '--check', '--config', config])).toMatchObject({
      code: 0,
      output: expect.stringMatching(/matches.*does not name it/s),
    })
  expect(await run(['lock', '--config', 'dead.json'])).toMatchObject({ code: 1 })
  expect(pinned()).toEqual(['one', 'two'])
  expect(await atTerminal(['lock', '--approve', 'two'])).toMatchObject({ code: 0 })
  expect(pinned()).toEqual(['one'])
})
