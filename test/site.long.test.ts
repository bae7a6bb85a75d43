/** `npm run docs -- --serve`: builds the site, which checks its links, and reads every page of it in Chromium. */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { launch } from '../packages/dashboard/test/support/launch.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

it('shows every page with nothing from elsewhere, finds pages by words, and has a dark mode', async () => {
  const words = ['--import', 'tsx', 'scripts/docs.ts', '--serve']
  const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill())
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)))
  await expect
    .poll(() => (child.exitCode === null ? output : `exit code ${child.exitCode}`), { timeout: 400_000 })
    .toMatch(/Read it at|exit code/)
  expect(output).toContain('Every link leads somewhere, and nothing is loaded from elsewhere.')
  const [url = ''] = /http:\/\/localhost:\d+/.exec(output) ?? []

  const browser = await launch()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) faults.push(request.url())
  })
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`)
  })
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  const pages = readdirSync(`${root}site`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html') && file !== '404.html')
    .map((file) => file.replaceAll('\\', '/').replace(/(?:^|(?<=\/))index\.html$|\.html$/, ''))
  expect(pages.length).toBeGreaterThan(100)
  for (const path of pages) {
    await page.goto(`${url}/${path}`, { waitUntil: 'load' })
    expect(await page.locator('h1').first().innerText(), path).not.toBe('404')
  }

  await page.goto(url)
  await page.locator('#local-search button, .VPNavBarSearchButton, .DocSearch-Button').first().click()
  await page.locator('.VPLocalSearchBox input').fill('compact a long history')
  await expect.poll(() => page.locator('.VPLocalSearchBox .result').allInnerTexts()).not.toEqual([])
  await page.keyboard.press('Escape')
  const isDark = () => page.locator('html').evaluate((element) => element.classList.contains('dark'))
  const before = await isDark()
  await page.locator('.VPSwitchAppearance').first().click()
  expect(await isDark()).toBe(!before)
  expect(faults).toEqual([])
}, 900_000)
