/**
 * Takes the screenshots of the docs: starts the gateway of `npm start` with its sample clients and writes docs/images/dashboard-*.png.
 * With a folder, it writes them there.
 */
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { GatewayReport } from '@toolwell/gateway'
import { askDaemon, DASHBOARD_LINK_PATH, findDaemon } from '@toolwell/gateway/bridge'
import type { Page } from 'playwright-core'
import { placeIn, preparePlace, startServe } from '../examples/gateway/place.ts'
import { playSample, sampleServers, TICKETS } from '../examples/gateway/sample.ts'
import { launch } from '../packages/dashboard/test/support/launch.ts'

const [folder = fileURLToPath(new URL('../docs/images/', import.meta.url)), widths = '1280'] =
  process.argv.slice(2)
const out = resolve(folder)
mkdirSync(out, { recursive: true })
const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'toolwell-screenshots-')))
// In the picture, the command of this server does not name the folder of the clone.
const tickets = join(temporary, 'tickets-server.mjs')
copyFileSync(TICKETS, tickets)
const place = await preparePlace(placeIn(temporary), sampleServers(tickets))

const child = startServe(place, '--port', '0', '--json')
child.stdout.resume()
const ended = new Promise((done) => child.once('exit', done))
const browser = await launch()
try {
  const daemon = await findRunning()
  const report = async () => (await askDaemon(daemon, 'GET', '/status')) as GatewayReport
  while (
    (await report()).serverSets.some(({ servers }) => servers.some(({ state }) => state === 'connecting'))
  )
    await wait(200)
  await playSample(place, daemon.file.port)
  const { url } = (await askDaemon(daemon, 'POST', DASHBOARD_LINK_PATH)) as { url: string }
  const page = await browser.newPage()
  await page.goto(url)
  await page.goto(new URL('servers?server=tickets', url).href)
  await page.getByText('1 change to approve').waitFor()
  for (const width of widths.split(',').map(Number)) await shoot(page, url, width)
} finally {
  await browser.close()
  child.kill('SIGTERM')
  await ended
  rmSync(temporary, { recursive: true, force: true })
}

async function findRunning() {
  for (;;) {
    const found = await findDaemon(place.state)
    if (found.kind === 'running') return found
    if (child.exitCode !== null) throw new Error('The gateway did not start.')
    await wait(50)
  }
}

async function shoot(page: Page, url: string, width: number): Promise<void> {
  await page.setViewportSize({ width, height: width > 2000 ? 1440 : 760 })
  const pages = {
    now: '',
    work: 'work',
    tools: 'tools?view=largest',
    servers: 'servers?server=tickets',
    search: `search?${new URLSearchParams({ query: 'read a text file' })}`,
    savings: 'savings',
  }
  const suffix = widths === '1280' ? '' : `-${width}`
  for (const [name, path] of Object.entries(pages))
    for (const colorScheme of ['light', 'dark'] as const) {
      // Those in the docs. With other widths, all of them.
      const isShown = name === 'now' || name === 'savings' || (name === 'servers' && colorScheme === 'light')
      if (suffix === '' && !isShown) continue
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.goto(new URL(path, url).href)
      await page.getByRole('heading', { level: 1 }).waitFor()
      while ((await page.locator('.loading').count()) > 0) await wait(50)
      if (name === 'work' || name === 'savings') await page.locator('canvas').waitFor()
      await page.mouse.move(0, 0)
      const path_ = join(out, `dashboard-${name}${suffix}-${colorScheme}.png`)
      await page.screenshot({ path: path_ })
      console.log(path_)
    }
}
