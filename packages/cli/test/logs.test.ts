/** Standard error of a server: stored, without secrets, bounded, followed while it grows. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { homeWith } from './support/home.js'
import { toolwell } from './support/run.js'

const saying = (script: string, env: object = {}) => ({
  command: process.execPath,
  args: ['-e', script],
  env,
})

it('shows what a server said, without its secrets, and without what steers a terminal', async () => {
  const { run } = homeWith({
    'toolwell.json': {
      mcpServers: {
        loud: saying("console.error('licence ' + process.env.KEY + ' is \\u001b[31mold'); process.exit(3)", {
          KEY: 's3cr3t-0f-mine',
        }),
        far: { url: 'https://127.0.0.1:1/mcp' },
      },
    },
  })
  expect((await run(['logs', 'loud'])).code).toBe(1)
  await run(['inspect'])
  const { code, output } = await run(['logs', 'loud'])
  expect(code).toBe(0)
  expect(output).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z licence \*\*\* is \[31mold$/m)
  expect((await run(['logs', 'far'])).errors).toContain('far is a remote server')
  expect((await run(['logs', 'lod'])).errors).toContain('Did you mean loud?')
})

it('keeps about a megabyte of a server that never stops talking', async () => {
  const { run, home } = homeWith({
    'toolwell.json': {
      mcpServers: {
        loud: saying(
          "for (let i = 0; i < 40000; i++) console.error('line ' + i + ' ' + 'x'.repeat(90)); process.exitCode = 3",
        ),
      },
    },
  })
  await run(['inspect'])
  const folder = join(home, '.local/state/toolwell/logs')
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1.2 * 1024 * 1024)
  expect((await run(['logs', 'loud'])).output).toContain('line 39999 ')
})

it('follows what is written until nobody reads it', async () => {
  const { run, folder, home } = homeWith({
    'toolwell.json': {
      mcpServers: { loud: saying("console.error('said ' + process.pid); process.exit(3)") },
    },
  })
  await run(['inspect'])
  let isOver = false
  const followed = toolwell(['logs', 'loud', '--follow'], {
    folder,
    env: { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), XDG_STATE_HOME: join(home, '.local/state') },
    closesAfter: 2,
  }).finally(() => {
    isOver = true
  })
  // It speaks until the reader has gone.
  while (!isOver) await run(['inspect', '--refresh'])
  const { code, output } = await followed
  expect(code).toBe(0)
  expect(output.match(/said \d+/g)?.length).toBeGreaterThan(1)
})
