/** Cost of the dashboard: its size, the first paint, sorting and scrolling with many tools, and recording calls. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import type { Tool } from '@toolwell/core'
import { dashboardFolder } from '@toolwell/dashboard'
import { askDaemon, DASHBOARD_LINK_PATH, findDaemon } from '@toolwell/gateway/bridge'
import type { Page } from 'playwright-core'
import { launch } from '../packages/dashboard/test/support/launch.ts'
import { Recorder } from '../packages/gateway/dist/http/recorder.js'
import { callStatsFile } from '../packages/gateway/dist/storage/call-stats.js'
import { oddServer } from '../packages/mcp/test/support/odd-server.ts'
import { definitionOf } from './as-servers.ts'
import { atSize, loadCorpus } from './data.ts'
import { httpClient, quantile } from './gateway/measure.ts'
import { startGateway } from './gateway.ts'
import { atMost, print, printLines } from './lines.ts'
import type { BenchOptions } from './run.ts'

const CALLS = 100_000
const LOADS = 15

export async function benchDashboard({ data }: BenchOptions): Promise<object> {
  const { tools, origin } = await loadCorpus(data)
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-bench-dashboard-'))
  try {
    const kilobytes = sizeOf(dashboardFolder) / 1000
    print(`page, compressed: ${kilobytes.toFixed(1)} kB`)
    const recording = await benchRecording(folder)
    const usual = await benchPage(folder, atSize(tools, 2500), measurePaint)
    const many = await benchPage(folder, atSize(tools, 5000), measureUse)
    const lines = [
      atMost('kB of the page, compressed', kilobytes, 80),
      atMost('ms to the first paint with 2,500 tools, p10', usual.paint, 300),
      atMost('ms to the first rows of 2,500 tools, p10', usual.rows, 300),
      atMost('ms from a key or click to the next frame, 5,000 tools, slowest', many.slowest, 200),
      atMost('ms of a frame while scrolling 5,000 tools, median', many.frame, 20),
      atMost('ms to ask for 5,000 tools again, p10', many.reload, 200),
      atMost('µs of CPU to record a call', recording.microseconds, 30),
      atMost('MB of memory for 100,000 calls of 5,000 tools', recording.megabytes, 20),
    ]
    printLines(lines)
    return { tools: origin, kilobytes, recording, usual, many, lines }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function sizeOf(built: string): number {
  return readdirSync(built, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'licences.txt')
    .reduce((sum, { parentPath, name }) => sum + gzipSync(readFileSync(join(parentPath, name))).length, 0)
}

/** Calls of many clients in many projects over four days, each with its arguments and its result. */
async function benchRecording(folder: string) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const memory = () => {
    for (let round = 0; round < 4; round++) collect()
    const { heapUsed, external } = process.memoryUsage()
    return (heapUsed + external) / 1e6
  }
  let time = Date.UTC(2026, 0, 1)
  const result = 'a word of a result '.repeat(100)
  const callAt = (index: number) => {
    time += 3456
    const sender = { principal: 'owner', client: `agent-${index % 20}`, folder: `/project-${index % 7}` }
    const name = { server: `server_${index % 50}`, tool: `tool_${index % 5000}` }
    const text = `{"number":${index}}`
    const detail = {
      arguments: { text, characters: text.length },
      result: { text: Buffer.from(`${index} ${result}`).toString('latin1'), characters: result.length },
    }
    const sizes = { milliseconds: index % 900, tokensIn: 9, tokensOut: 475, bytesIn: 30, bytesOut: 1900 }
    return { sender, inner: { ...name, ...sizes }, detail }
  }
  const cpu = () => {
    const { user, system } = process.cpuUsage()
    return user + system
  }
  const before = cpu()
  let made = 0
  for (let index = 0; index < CALLS; index++) made += callAt(index).detail.result.text.length
  const making = cpu() - before
  const stats = callStatsFile(folder)
  const recorder = new Recorder([stats], undefined, () => time)
  const empty = memory()
  const started = cpu()
  for (let index = 0; index < CALLS; index++) {
    const { sender, inner, detail } = callAt(index)
    recorder.recordCall(sender, { kind: 'run', isError: false, characters: 0, inner, detail } as never)
    // The file is written while calls arrive.
    if (index % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await stats.flush()
  const microseconds = (cpu() - started - making) / CALLS
  const megabytes = memory() - empty
  const { length } = recorder.calls
  print(
    `recording ${made > 0 ? CALLS : 0} calls of ${stats.tools().length} tools: ${microseconds.toFixed(1)} µs of CPU each, ${megabytes.toFixed(1)} MB; the latest ${length} are kept`,
  )
  return { calls: CALLS, tools: stats.tools().length, microseconds, megabytes }
}

async function benchPage<T>(
  folder: string,
  tools: readonly Tool[],
  measure: (page: Page, url: URL) => Promise<T>,
) {
  const list = join(folder, `${tools.length}.json`)
  const names = new Set<string>()
  const listed = definitionOf(tools).tools.map((tool, index) => {
    const name = names.has(tool.name) ? `${tool.name}_${index}` : tool.name
    names.add(name)
    return { ...tool, name }
  })
  writeFileSync(list, JSON.stringify(listed))
  const { endpoint } = oddServer('many', { rawFrom: list })
  if (endpoint.type !== 'stdio') throw new Error('The server is a program.')
  const { command, args } = endpoint
  const gateway = await startGateway(folder, String(tools.length), {
    mcpServers: { many: { command, args } },
  })
  const browser = await launch()
  try {
    const client = await httpClient(`${gateway.url}/mcp`, true, gateway.headers)
    await client.callTool({ name: 'find_tools', arguments: { query: 'read a file' } })
    await client.close()
    const found = await findDaemon(gateway.state)
    if (found.kind !== 'running') throw new Error('The gateway does not answer.')
    const { url } = (await askDaemon(found, 'POST', DASHBOARD_LINK_PATH)) as { url: string }
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await page.goto(url)
    await page.getByRole('heading', { level: 1 }).waitFor()
    return await measure(page, new URL('/dashboard/', url))
  } finally {
    await browser.close()
    await gateway.stop()
  }
}

/** Scripts as text, because this file is checked without the types of a browser. */
const OBSERVE = `
  let shown
  window.rowsAt = new Promise((resolve) => { shown = resolve })
  new MutationObserver((_, observer) => {
    if (!document.querySelector('tbody tr[data-index]')) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => shown(performance.now())))
  }).observe(document, { childList: true, subtree: true })
  window.inputs = []
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) window.inputs.push([name, duration])
  }).observe({ type: 'event', durationThreshold: 16, buffered: true })`

async function measurePaint(page: Page, url: URL) {
  await page.addInitScript(OBSERVE)
  const paints: number[] = []
  const rows: number[] = []
  for (let load = 0; load < LOADS; load++) {
    await page.goto(new URL('tools', url).href)
    rows.push(Number(await page.evaluate('window.rowsAt')))
    paints.push(
      Number(await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`)),
    )
  }
  // On a busy machine the fastest loads say most about the page.
  const [paint, shown] = [quantile(paints, 0.1), quantile(rows, 0.1)]
  print(
    `2,500 tools: first paint after ${paint.toFixed(0)} ms, first rows after ${shown.toFixed(0)} ms (p10 of ${LOADS} loads)`,
  )
  return { paint, rows: shown }
}

async function measureUse(page: Page, url: URL) {
  await page.addInitScript(OBSERVE)
  await page.goto(new URL('tools', url).href)
  const grid = page.getByRole('grid', { name: 'Tools' })
  await grid.getByRole('row').nth(3).waitFor()
  const settle = () =>
    page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))))',
    )
  for (const title of ['Tool', 'Definition', 'State', 'Tool', 'Definition']) {
    await grid.getByRole('button', { name: title, exact: true }).click()
    await settle()
  }
  await page.keyboard.press('/')
  for (const key of 'create file') {
    await page.keyboard.press(key === ' ' ? 'Space' : key)
    await settle()
  }
  for (let index = 0; index < 11; index++) await page.keyboard.press('Backspace')
  await settle()
  await page.keyboard.press('Escape')
  await grid.getByRole('row').nth(1).focus()
  for (const key of ['End', 'Home', 'PageDown', 'PageDown', 'Control+a', 'Escape']) {
    await page.keyboard.press(key)
    await settle()
  }
  const inputs = (await page.evaluate('window.inputs')) as [string, number][]
  const slowest = Math.max(16, ...inputs.map(([, duration]) => duration))
  await grid.hover()
  await page.evaluate(`
    window.frames_ = []
    let last = performance.now()
    const next = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(next) }
    requestAnimationFrame(next)`)
  for (let step = 0; step < 120; step++) await page.mouse.wheel(0, 900)
  await settle()
  const frames = (await page.evaluate('window.frames_')) as number[]
  const [frame, slowFrame] = [quantile(frames, 0.5), quantile(frames, 0.95)]
  // While calls arrive, the page asks again every second.
  const reloads: number[] = []
  for (let load = 0; load < LOADS; load++)
    reloads.push(
      Number(
        await page.evaluate(`(async () => {
          const headers = { 'X-Toolwell-Csrf': localStorage.getItem('toolwell-csrf') }
          const start = performance.now()
          await (await fetch('/dashboard/api/tools?set=*', { headers })).json()
          return performance.now() - start
        })()`),
      ),
    )
  const reload = quantile(reloads, 0.1)
  print(
    `5,000 tools: slowest of ${inputs.length} events ${slowest} ms; frames while scrolling p50 ${frame.toFixed(1)} ms, p95 ${slowFrame.toFixed(1)} ms; asking again ${reload.toFixed(0)} ms`,
  )
  return { slowest, frame, slowFrame, reload }
}
