/** `toolwell dashboard`, against a running gateway. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dashboardFolder } from '@toolwell/dashboard'
import { runDaemon } from '@toolwell/gateway'
import { memoryCache, memoryFirstUse } from '@toolwell/mcp'
import { expect, it, onTestFinished } from 'vitest'
import { toolwell } from './support/run.js'

async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-dashboard-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'toolwell.json')
  writeFileSync(path, '{"mcpServers":{}}')
  const started = await runDaemon({
    folder: join(folder, 'gateway'),
    startedBy: 'person',
    port: 0,
    version: '0.0.0',
    files: () => [{ path }],
    env: {},
    connect: { cache: memoryCache(), firstUse: memoryFirstUse(), logs: false },
    dashboard: dashboardFolder,
  })
  if (started.kind !== 'serving') throw new Error('another gateway runs in a new folder')
  onTestFinished(() => started.daemon.close())
  return { folder: join(folder, 'gateway'), daemon: started.daemon }
}

it('prints a link on a terminal that opens the page once', async () => {
  const { folder, daemon } = await start()
  const { code, output } = await toolwell(['dashboard', '--folder', folder], { screen: { output: 100 } })
  expect(code).toBe(0)
  const link = output.trim()
  expect(link).toMatch(new RegExp(`^${daemon.url}/dashboard/\\?code=[\\w-]{32}$`))
  const opened = await fetch(link, { redirect: 'manual' })
  expect(opened.status).toBe(303)
  const [cookie = ''] = (opened.headers.get('set-cookie') ?? '').split(';')
  const page = await fetch(`${daemon.url}/dashboard/`, { headers: { Cookie: cookie } })
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await page.text()).toContain('<script')
  expect((await fetch(link, { redirect: 'manual' })).status).toBe(401)
})

it.each([{ output: 100, input: false }, { errors: 100, input: true }, {}])(
  'gives no link without a terminal: %j',
  async (screen) => {
    const { folder } = await start()
    for (const words of [['dashboard'], ['dashboard', '--open']]) {
      const { code, output, errors } = await toolwell([...words, '--folder', folder], {
        screen,
        input: 'y\n',
      })
      expect(code).toBe(2)
      expect(output).toBe('')
      expect(errors).toContain('Opening the dashboard needs a terminal')
    }
  },
)
