/** The dashboard of a real gateway in the Chromium of the system. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { dashboardFolder } from '@toolwell/dashboard'
import type { GatewayOptions } from '@toolwell/gateway'
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { type Started, startGateway } from '../../../gateway/test/support/gateway.js'

const PLACES = [
  process.env.TOOLWELL_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/microsoft-edge',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  join(process.env.PROGRAMFILES ?? '', 'Google/Chrome/Application/chrome.exe'),
  join(process.env['PROGRAMFILES(X86)'] ?? '', 'Microsoft/Edge/Application/msedge.exe'),
]

/** Undefined if there is no browser. Then these tests are skipped, but not in CI. */
export const executablePath = PLACES.find((place) => place !== undefined && existsSync(place))
if (executablePath === undefined) {
  const advice = 'Install Chromium, Chrome or Edge, or set TOOLWELL_CHROMIUM to the path of one.'
  if (process.env.CI === 'true') throw new Error(`The tests of the dashboard need a browser. ${advice}`)
  console.error(`\n!!! THE TESTS OF THE DASHBOARD ARE SKIPPED: there is no browser. ${advice}\n`)
}

export const launch = () =>
  chromium.launch({
    executablePath: executablePath ?? '',
    args: [
      // Chromium refuses to run as root with its sandbox.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

type Browser = Awaited<ReturnType<typeof launch>>

export interface Opened {
  readonly page: Page
  readonly started: Started
  /** Errors of scripts, refusals by the content security policy, and requests to other addresses. */
  readonly problems: string[]
  /** A new link. */
  link(): Promise<string>
  /** Opens a page of the dashboard. */
  go(path: string): Promise<void>
}

const KEY = 'the-key-of-this-gateway'

/** Starts a gateway with its dashboard. */
export async function startWithDashboard(config: object, options: Partial<GatewayOptions> = {}) {
  const started = await startGateway(config, { key: KEY, dashboard: dashboardFolder, ...options })
  const link = async () => {
    const headers = { Authorization: `Bearer ${KEY}` }
    const answer = await fetch(`${started.url}/dashboard/link`, { method: 'POST', headers })
    return ((await answer.json()) as { url: string }).url
  }
  return { started, link }
}

export async function openDashboard(
  browser: Browser,
  config: object,
  { gateway, ...shown }: BrowserContextOptions & { gateway?: Partial<GatewayOptions> } = {},
): Promise<Opened> {
  const { started, link } = await startWithDashboard(config, gateway)
  const context = await browser.newContext(shown)
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${started.url}/`)) problems.push(`request to ${request.url()}`)
  })
  await page.goto(await link())
  await page.getByRole('main').waitFor()
  return {
    page,
    started,
    problems,
    link,
    async go(path) {
      await page.goto(`${started.url}/dashboard/${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
    },
  }
}

/** The serious findings of axe. The program runs in the page through the browser, so the policy of the page does not stop it. */
export async function findBarriers(page: Page): Promise<string[]> {
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  await page.evaluate(`${source};0`)
  const found = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, impact, nodes }) => impact + ' ' + id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).slice(0, 3).join(' | ')))`,
  )
  return (found as string[]).filter((each) => /^(?:serious|critical)/.test(each))
}
