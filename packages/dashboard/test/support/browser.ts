/** The dashboard of a real gateway in the Chromium of the system. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dashboardFolder } from '@toolwell/dashboard'
import type { GatewayOptions } from '@toolwell/gateway'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { type Started, startGateway } from '../../../gateway/test/support/gateway.js'
import type { launch } from './launch.js'

type Browser = Awaited<ReturnType<typeof launch>>

export interface Opened {
  readonly page: Page
  readonly started: Started
  /** Errors of scripts, refusals by the content security policy, and requests to other addresses. */
  readonly problems: string[]
  /** A new link. */
  link(): Promise<string>
  /** Shows another page, as a link on the page does. */
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
  // A busy machine may take long. Only a test that hangs fails.
  context.setDefaultTimeout(200_000)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${started.url}/`)) problems.push(`request to ${request.url()}`)
  })
  await page.goto(await link())
  await page.getByRole('heading', { level: 1 }).waitFor()
  return {
    page,
    started,
    problems,
    link,
    async go(path) {
      await page.evaluate(`new Promise((done) => {
        history.pushState(null, '', ${JSON.stringify(`/dashboard/${path}`)})
        dispatchEvent(new PopStateEvent('popstate'))
        requestAnimationFrame(() => requestAnimationFrame(done))
      })`)
    },
  }
}

/** The serious findings of axe. The program runs in the page through the browser, so the policy of the page does not stop it. */
export async function findBarriers(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) {
    const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    await page.evaluate(`${source};0`)
  }
  const found = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, impact, nodes }) => impact + ' ' + id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).slice(0, 3).join(' | ')))`,
  )
  return (found as string[]).filter((each) => /^(?:serious|critical)/.test(each))
}
