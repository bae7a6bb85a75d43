/** The page in a real browser, with a real gateway, servers and clients behind it. */
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { dashboardFolder } from '@toolwell/dashboard'
import { diskLogins } from '@toolwell/mcp'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { someOf } from '../../../test/setup/tier.js'
import { openClient } from '../../gateway/test/support/clients.js'
import { authorized, entry, temporary } from '../../gateway/test/support/gateway.js'
import { startProtected } from '../../mcp/test/support/auth-server.js'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { findBarriers, openDashboard } from './support/browser.js'
import { executablePath, launch } from './support/launch.js'

const PAGES = ['', 'work', 'tools', 'servers', 'search', 'savings']
const TITLES = ['Now', 'Work', 'Tools', 'Servers', 'Search lab', 'Savings']

/** A busy machine may take long. Only a test that hangs fails. */
const PATIENCE = 200_000
const eventually = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: PATIENCE })

/** Pixels of the chart in the colour of losses. */
const COUNT_RED = `(() => {
  const canvas = document.querySelector('canvas')
  if (!canvas) return 0
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  let red = 0
  for (let at = 0; at < data.length; at += 4) if (data[at] === 224 && data[at + 1] === 45 && data[at + 2] === 45) red++
  return red
})()`

/** The width of the table without that of its columns. */
const MEASURE_GAP = `(() => {
  const table = document.querySelector('table')
  return table.offsetWidth - [...table.tHead.rows[0].cells].reduce((sum, { offsetWidth }) => sum + offsetWidth, 0)
})()`

/** The tables that have columns out of view. */
const MEASURE_HIDDEN = `[...document.querySelectorAll('.table-box')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((box) => box.querySelector('table').ariaLabel)`

const servers = (...names: string[]) => ({
  mcpServers: Object.fromEntries(names.map((name) => [name, entry(oddServer(name))])),
})

it('has at most 80 kB, compressed', () => {
  const files = readdirSync(dashboardFolder, { recursive: true, withFileTypes: true }).filter(
    (file) => file.isFile() && file.name !== 'licences.txt',
  )
  const sizes = files.map(({ parentPath, name }) => gzipSync(readFileSync(join(parentPath, name))).length)
  expect(sizes.length).toBeGreaterThan(3)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(80_000)
})

describe.skipIf(executablePath === undefined)('the dashboard', () => {
  let browser: Awaited<ReturnType<typeof launch>>
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  it('has no serious barrier on any page, in light and dark', async () => {
    const { page, started, problems, go } = await openDashboard(browser, servers('one', 'two'), {
      reducedMotion: 'reduce',
    })
    const client = await openClient('v2 modern', `${started.url}/mcp`)
    await client.list()
    await client.text('find_tools', { query: 'echo a text' })
    await client.text('run_tool', { name: 'one__echo', arguments: { text: 'hello' } })
    await client.text('run_tool', { name: 'one__fail', arguments: {} })
    const backgrounds = new Set<unknown>()
    for (const [at, path] of [
      '',
      'work',
      'tools',
      'servers?server=one',
      'search?query=echo',
      'savings',
    ].entries()) {
      await go(path)
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(TITLES[at])
      await eventually(() => page.locator('.loading').count()).toBe(0)
      if (path === 'savings') {
        // The definitions of two small servers cost less than a search.
        await page.locator('.hero .bad').getByText('more than sending every tool').waitFor()
        await eventually(() => page.evaluate(COUNT_RED)).toBeGreaterThan(100)
      }
      for (const colorScheme of someOf(['light', 'dark'] as const, at)) {
        await page.emulateMedia({ colorScheme })
        backgrounds.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
        expect(await findBarriers(page), `${path} ${colorScheme}`).toEqual([])
      }
    }
    expect([...backgrounds]).toEqual(['rgb(255, 255, 255)', 'rgb(15, 15, 17)'])
    expect(problems).toEqual([])
  })

  it('says on each page what it will show if nothing is configured', async () => {
    const { page, problems, go } = await openDashboard(browser, { mcpServers: {} })
    for (const path of PAGES) {
      await go(path)
      await page.locator('.empty p').first().waitFor()
    }
    expect(problems).toEqual([])
  })

  it('shows a call when it happens, with its arguments and result', async () => {
    const { page, started, problems } = await openDashboard(browser, servers('one'))
    await page.getByText('No calls yet').waitFor()
    const client = await openClient('v2 modern', `${started.url}/mcp`, undefined, 'caller')
    await client.text('run_tool', { name: 'one__echo', arguments: { text: 'first words' } })
    const row = page.getByRole('grid', { name: 'Live calls' }).getByRole('row').nth(1)
    await row.getByText('echo').waitFor()
    expect(await row.textContent()).toContain('caller')
    await row.focus()
    await page.keyboard.press('Enter')
    await eventually(() => page.locator('.figures').textContent()).toMatch(/call1.*searches0/)
    await page.getByRole('region', { name: 'Arguments' }).getByText('first words').waitFor()
    await page.getByRole('region', { name: 'Result' }).getByText('first words').waitFor()
    await page.keyboard.press('Escape')
    await eventually(() => page.getByRole('dialog').count()).toBe(0)
    await page.keyboard.press('2')
    await page.getByRole('combobox', { name: 'Client' }).selectOption('caller')
    await page.getByRole('grid', { name: 'Calls', exact: true }).getByText('echo').waitFor()
    await page.getByRole('grid', { name: 'Projects and clients' }).getByText('caller').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('1')
    await page.getByRole('button', { name: 'Pause' }).click()
    await client.text('run_tool', { name: 'one__fail', arguments: {} })
    await page.getByRole('button', { name: 'Continue (1 new)' }).click()
    await page.getByRole('grid', { name: 'Live calls' }).getByText('failed').waitFor()
    expect(problems).toEqual([])
  })

  it('says why a server failed when it is restarted', async () => {
    const config = { mcpServers: { broken: { command: process.execPath, args: ['-e', 'process.exit(3)'] } } }
    const { page, go } = await openDashboard(browser, config)
    await go('servers?server=broken')
    await page.getByRole('button', { name: 'Restart' }).click()
    await eventually(() => page.locator('.toasts[role=alert]').textContent()).toContain(
      'broken was restarted and failed',
    )
  })

  it('approves and rejects a changed definition', async () => {
    const list = join(temporary(), 'list.json')
    const put = (description: string) =>
      writeFileSync(
        list,
        JSON.stringify([describedTool('read', { description }), describedTool('write', { description })]),
      )
    put('Reads the whole file and closes it.')
    const config = { mcpServers: { files: entry(oddServer('files', { toolsFrom: list })) } }
    const { page, started, problems, go } = await openDashboard(browser, config)
    const client = await openClient('v2 modern', `${started.url}/mcp`)
    const run = (tool: string) => client.text('run_tool', { name: `files__${tool}`, arguments: {} })
    expect(await run('read')).not.toContain('quarantined')
    put('Reads half of the file, waits and closes it.')
    await go('servers?server=files')
    await page.getByRole('button', { name: 'Restart' }).click()
    await page.getByRole('link', { name: 'Now' }).click()
    await page.getByText('2 definitions of files wait for approval').waitFor()
    expect(await run('read')).toContain('quarantined')
    await page.getByRole('link', { name: 'Review files' }).focus()
    await page.keyboard.press('Enter')
    // The keyboard starts at the server, not at the list of all servers.
    const focused = () => page.evaluate('document.activeElement?.textContent')
    await eventually(focused).toBe('files')
    const change = page.locator('.change').filter({ hasText: 'read' }).first()
    await eventually(() => change.locator('del').allTextContents()).toEqual(['the whole'])
    expect(await change.locator('ins').allTextContents()).toEqual(['half of the', ', waits'])
    await page.getByRole('button', { name: 'Approve read' }).click()
    await page.getByText('1 change to approve').waitFor()
    expect(await focused()).toBe('files')
    expect(await run('read')).not.toContain('quarantined')
    await page.getByRole('button', { name: 'Reject write' }).click()
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    expect(readFileSync(started.config, 'utf8')).toMatch(/"deny":\s*\[\s*"write"/)
    expect(problems).toEqual([])
  })

  it('pins many tools, shows the lines it writes, and undoes it', async () => {
    const { page, started, problems, go } = await openDashboard(browser, servers('one', 'two'))
    const before = readFileSync(started.config, 'utf8')
    await go('tools?text=echo')
    const grid = page.getByRole('grid', { name: 'Tools' })
    await grid.getByRole('row').nth(2).waitFor()
    await grid.getByRole('row').nth(1).focus()
    await page.keyboard.press('Control+a')
    await page.getByRole('toolbar').getByRole('button', { name: 'Pin' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('.added').first().waitFor()
    await dialog.getByText('Agents get them in every request.').waitFor()
    expect(readFileSync(started.config, 'utf8')).toBe(before)
    const shown = await dialog.locator('.added code').allTextContents()
    await dialog.getByRole('button', { name: /^Write/ }).click()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    const after = readFileSync(started.config, 'utf8')
    expect(after).toContain('"alwaysLoad"')
    for (const line of shown) expect(after.split('\n')).toContain(line)
    await eventually(() => grid.getByText('pinned').count()).toBe(2)
    await undo.click()
    await page.getByText('Undone.').waitFor()
    expect(readFileSync(started.config, 'utf8')).toBe(before)
    await eventually(() => grid.getByText('pinned').count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('defers, denies, allows and marks many tools, and undoes each', async () => {
    const tools = [describedTool('read'), describedTool('write')]
    const both = ['read', 'write']
    const config = {
      mcpServers: {
        one: entry(oddServer('one', { tools }), { alwaysLoad: both }),
        two: entry(oddServer('two', { tools })),
        three: entry(oddServer('three', { tools }), { deny: both, readOnly: both }),
      },
    }
    const { page, started, problems, go } = await openDashboard(browser, config)
    const before = JSON.stringify(config, null, 2)
    started.write(before)
    const grid = page.getByRole('grid', { name: 'Tools' })
    for (const [action, server, shown, title] of [
      ['Defer', 'one', 'deferred', 'Deferred 2 tools'],
      ['Deny', 'two', 'denied', 'Denied 2 tools'],
      ['Mark read-only', 'two', 'read-only', 'Marked 2 tools as read-only'],
      ['Allow', 'three', 'deferred', 'Allowed 2 tools'],
      ['Unmark read-only', 'three', 'unknown', 'Unmarked 2 tools as read-only'],
    ] as const) {
      const rows = () => grid.getByText(shown, { exact: true }).count()
      await go(`tools?server=${server}`)
      await eventually(() => grid.getAttribute('aria-rowcount')).toBe('3')
      await eventually(rows).toBe(0)
      await grid.getByRole('row').nth(1).focus()
      await page.keyboard.press('Control+a')
      await page.getByRole('toolbar').getByRole('button', { name: action, exact: true }).click()
      const dialog = page.getByRole('dialog')
      const lines = dialog.locator(/Mark|Deny/.test(action) ? '.added' : '.removed')
      await lines.getByText('"write"').first().waitFor()
      expect(readFileSync(started.config, 'utf8')).toBe(before)
      await dialog.getByRole('button', { name: 'Write this change' }).click()
      await page.getByText(title, { exact: true }).waitFor()
      await eventually(rows).toBe(2)
      expect(readFileSync(started.config, 'utf8')).not.toBe(before)
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Undone.').waitFor()
      expect(readFileSync(started.config, 'utf8')).toBe(before)
      await eventually(rows).toBe(0)
    }
    await page.getByRole('button', { name: 'Changes' }).click()
    await page.getByRole('heading', { name: 'Deferred 2 tools (undone)' }).waitFor()
    expect(problems).toEqual([])
  })

  it('separates the changed places of a file', async () => {
    const { page, started, go } = await openDashboard(browser, servers('one', 'two', 'three'))
    started.write(JSON.stringify(servers('one', 'two', 'three'), null, 2))
    await go('tools?text=echo')
    const grid = page.getByRole('grid', { name: 'Tools' })
    await eventually(() => grid.getAttribute('aria-rowcount')).toBe('4')
    await grid.getByRole('checkbox', { name: 'Select row 1' }).click()
    await grid.getByRole('checkbox', { name: 'Select row 3' }).click()
    await page.getByRole('toolbar').getByRole('button', { name: 'Pin' }).click()
    await eventually(() => page.getByRole('dialog').locator('.gap').count()).toBe(1)
  })

  it('fits the window: no page scrolls sideways, and the list of tools scrolls inside alone', async () => {
    const { page, started, problems, go } = await openDashboard(browser, servers('one', 'two'))
    const client = await openClient('v2 modern', `${started.url}/mcp`, undefined, 'c'.repeat(80))
    await client.text('find_tools', { query: 'w'.repeat(5000) })
    await client.text('run_tool', { name: 'one__echo', arguments: { text: 'w'.repeat(5000) } })
    const excess = () =>
      page.evaluate(`(({ scrollWidth, scrollHeight }) => [scrollWidth - innerWidth, scrollHeight - innerHeight])
        (document.documentElement)`) as Promise<[number, number]>
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      for (const path of [
        ...PAGES,
        'servers?server=one',
        'search?query=echo',
        `search?query=${'w'.repeat(5000)}`,
      ]) {
        await go(path)
        await eventually(() => page.locator('.loading').count()).toBe(0)
        const [sideways, down] = await excess()
        expect(sideways, `${path.slice(0, 30)} at ${width}`).toBeLessThanOrEqual(0)
        if (path === 'tools' && width === 1280) expect(down).toBeLessThanOrEqual(0)
        if (path === 'tools')
          expect(await page.evaluate('document.querySelector("tbody td + td").offsetWidth')).toBeGreaterThan(
            150,
          )
        // Outcomes and savings are in view on a small screen, and every column on a usual one.
        if (width === 1280 || ['', 'savings'].includes(path))
          expect(await page.evaluate(MEASURE_HIDDEN), `${path.slice(0, 30)} at ${width}`).toEqual([])
      }
    }
    expect(problems).toEqual([])
  })

  it('shows on the first page what the last 30 days saved', async () => {
    const { page, started } = await openDashboard(browser, servers('one', 'two'))
    const client = await openClient('v2 modern', `${started.url}/mcp`)
    await client.list()
    await client.text('find_tools', { query: 'echo a text' })
    const figure = page.getByRole('link', { name: /tokens$/ })
    const saved = await figure.textContent()
    await figure.click()
    await page.getByRole('heading', { level: 1, name: 'Savings' }).waitFor()
    expect(saved).toBe(`${await page.locator('.hero strong').first().textContent()} tokens`)
  })

  it('says once that the gateway stopped', async () => {
    const { page, started, go } = await openDashboard(browser, servers('one'))
    await go('tools')
    await page.getByRole('grid', { name: 'Tools' }).waitFor()
    await started.gateway.close()
    await page.getByText('The gateway does not answer.').waitFor()
    await page.getByRole('link', { name: 'Servers' }).click()
    await page.getByRole('heading', { level: 1, name: 'Servers' }).waitFor()
    await page.getByRole('link', { name: 'Tools' }).click()
    await page.waitForEvent('requestfailed')
    expect(await page.getByRole('alert').allTextContents()).toHaveLength(1)
  })

  it('finds in the search lab what an agent finds, byte for byte', async () => {
    const { page, started, problems, go } = await openDashboard(browser, servers('one', 'two'))
    const client = await openClient('v2 modern', `${started.url}/mcp`)
    for (const query of ['echo a text', 'server:two echo', 'zzzz']) {
      const agent = await client.text('find_tools', { query })
      await go('search')
      await page.getByRole('searchbox', { name: 'Query' }).fill(query)
      await page.keyboard.press('Enter')
      await eventually(() => page.locator('[data-answer]').textContent()).toBe(agent)
      const ranked = await page.locator('.found section:first-child > .ranking .tool-name').allTextContents()
      const listed = ranked.map((name) => agent.indexOf(name.replace('/', '__')))
      expect(listed).toEqual([...listed].sort((one, other) => one - other))
      if (query === 'zzzz') expect(ranked).toEqual([])
      else expect(ranked.length).toBeGreaterThan(0)
    }
    await page.getByRole('grid', { name: 'Searches of models' }).getByText('zzzz').waitFor()
    expect(problems).toEqual([])
  })

  it('says in the search lab which words are not in the query', async () => {
    const list = join(temporary(), 'list.json')
    writeFileSync(list, JSON.stringify([describedTool('read_file', { description: 'Reads a text file.' })]))
    const config = { mcpServers: { files: entry(oddServer('files', { toolsFrom: list })) } }
    const { page, started, go } = await openDashboard(browser, config)
    const client = await openClient('v2 modern', `${started.url}/mcp`)
    await client.text('find_tools', { query: 'read a file' })
    await go('search?query=read a file')
    const reasons = (await page.locator('.reasons').first().textContent()) ?? ''
    expect(reasons).toContain('read in name')
    expect(reasons).toContain(' (concept) in name')
  })

  it('shows markup of servers and clients as text, in every field', async () => {
    const markup = (field: string) =>
      `<img src=x onerror="hacked('${field}')"><script>hacked('${field}')</script>`
    const list = join(temporary(), 'list.json')
    const put = (word: string) =>
      writeFileSync(
        list,
        JSON.stringify([
          describedTool('evil', { description: word + markup('description'), title: markup('title') }),
        ]),
      )
    put('one ')
    // Not on the command line, because the gateway hides texts of the config in what servers say.
    const from = join(temporary(), 'manners.json')
    writeFileSync(
      from,
      JSON.stringify({ title: markup('server'), instructions: `Use it. <b>hacked('instructions')</b>` }),
    )
    const dying = join(temporary(), 'dying.json')
    writeFileSync(dying, JSON.stringify({ diesAtStart: markup('log') }))
    const config = {
      mcpServers: {
        evil: entry(oddServer('evil', { toolsFrom: list })),
        echo: entry(oddServer('echo')),
        told: entry(oddServer('told', { from })),
        [markup('name')]: entry(oddServer('named')),
        dead: entry(oddServer('dead', { from: dying })),
      },
    }
    const logs = temporary()
    const { page, started, problems, go } = await openDashboard(browser, config, {
      gateway: { connect: { logs } },
    })
    const client = await openClient('v2 modern', `${started.url}/mcp`, undefined, markup('client'))
    await client.text('find_tools', { query: markup('query') })
    await client.text('run_tool', { name: 'echo__echo', arguments: { text: markup('argument') } })
    await client.text('run_tool', { name: markup('tool'), arguments: {} })
    await client.text('run_tool', { name: 'evil__evil', arguments: {} }).catch(() => undefined)
    put('two ')
    await go('servers?server=evil')
    await page.getByRole('button', { name: 'Restart' }).click()
    await page.getByText('1 change to approve').waitFor()
    const seen: string[] = []
    const look = async () => {
      await eventually(() => page.locator('.loading').count()).toBe(0)
      seen.push(await page.locator('body').innerText())
      expect(
        await page.locator('img:not([src="/dashboard/icon.svg"]), body script, iframe, object').count(),
      ).toBe(0)
    }
    const named = new URLSearchParams({ server: markup('name') })
    for (const path of [
      ...PAGES,
      'servers?server=evil',
      'servers?server=dead',
      'servers?server=told',
      `servers?${named}`,
      `search?${new URLSearchParams({ query: markup('asked') })}`,
      `tools?${new URLSearchParams({ text: markup('filter') })}`,
    ]) {
      await go(path)
      await page.locator('table, .facts, .empty, .found').first().waitFor()
      await look()
    }
    await go('work')
    await page.getByRole('grid', { name: 'Calls', exact: true }).getByText('echo').last().click()
    await page.getByRole('region', { name: 'Result' }).getByText("hacked('argument')").first().waitFor()
    await look()
    for (const field of ['description', 'instructions', 'name', 'log', 'client', 'query', 'argument'])
      expect(seen.join('\n'), field).toContain(`hacked('${field}')`)
    expect(problems).toEqual([])
  })

  it('refuses used and expired links and every path without the cookie, and says how to get a new link', async () => {
    let now = Date.now()
    const { page, started, link, go } = await openDashboard(
      browser,
      { mcpServers: {} },
      { gateway: { now: () => now, linkCommand: 'npx toolwell dashboard --folder here' } },
    )
    const [used, expired] = [await link(), await link()]
    const first = await fetch(used, { redirect: 'manual' })
    expect(first.status).toBe(303)
    expect(first.headers.get('set-cookie')).toMatch(/; Path=\/dashboard; HttpOnly; SameSite=Strict$/)
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.context().clearCookies()
    await go('savings')
    await page.getByText('This browser no longer has access').waitFor()
    expect(await page.getByRole('main').textContent()).toContain('npx toolwell dashboard --folder here')
    now += 120_000
    for (const address of [used, expired]) {
      expect((await page.goto(address))?.status()).toBe(401)
      const text = await page.locator('body').textContent()
      expect(text).toContain('This link was used before, or is older than two minutes.')
      expect(text).toContain('npx toolwell dashboard --folder here')
    }
    for (const path of ['', 'tools', 'assets/page.js', 'api/session', 'api/events'])
      expect((await page.goto(`${started.url}/dashboard/${path}`))?.status(), path).toBe(401)
  })

  it('lets no other page of this computer read or write with the cookie', async () => {
    const { page, started } = await openDashboard(browser, servers('one'))
    expect(page.url()).toBe(`${started.url}/dashboard/`)
    const before = readFileSync(started.config, 'utf8')
    let cookie = ''
    const evil = createServer((request, response) => {
      cookie ||= request.headers.cookie ?? ''
      response.setHeader('Content-Type', 'text/html').end('<p>evil')
    })
    await once(evil.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void evil.close())
    // The browser sends the cookie, because another port is the same site.
    const own = `http://127.0.0.1:${(evil.address() as AddressInfo).port}/`
    await page.goto(own)
    const read = `fetch('${started.url}/dashboard/api/session', { credentials: 'include' })`
    expect(await page.evaluate(`${read}.then(() => 'read', () => 'blocked')`)).toBe('blocked')
    for (const route of ['changes', 'servers/restart']) {
      const answer = page.waitForResponse(`**/dashboard/api/${route}`)
      await page.evaluate(`(() => {
        const form = document.createElement('form')
        Object.assign(form, { method: 'post', enctype: 'text/plain', action: '${started.url}/dashboard/api/${route}' })
        document.body.append(form)
        form.submit()
      })()`)
      expect((await answer).status()).toBe(403)
      await page.waitForURL(`${started.url}/**`)
      await page.goto(own)
    }
    // The program at the other port gets the cookie, which is not enough.
    await page.goto(`${own}dashboard/`)
    expect(cookie).toContain(`toolwell_${new URL(started.url).port}=`)
    for (const route of ['session', 'calls', 'events'])
      expect((await fetch(`${started.url}/dashboard/api/${route}`, { headers: { cookie } })).status).toBe(401)
    // The page itself cannot write without its CSRF token either.
    await page.goto(`${started.url}/dashboard/`)
    const change = JSON.stringify({
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    })
    for (const route of ['changes', 'approvals', 'servers/restart'])
      expect(
        await page.evaluate(`fetch('/dashboard/api/${route}', ${change}).then(({ status }) => status)`),
      ).toBe(401)
    expect(readFileSync(started.config, 'utf8')).toBe(before)
  })

  it('signs in to a server with one button', async () => {
    const remote = await startProtected()
    const logins = diskLogins({ folder: temporary() })
    const { page, go } = await openDashboard(
      browser,
      { mcpServers: { notes: { url: remote.url } } },
      { gateway: { connect: { logins } } },
    )
    const opened = page.context().waitForEvent('page')
    await page.getByRole('button', { name: 'Sign in to notes' }).click()
    await (await opened).getByText('Logged in').waitFor()
    // Browsers may block the page that a script opens.
    const again = await page.getByRole('link', { name: 'Open it again' }).getAttribute('href')
    expect(again).toContain(remote.issuer)
    await eventually(() => page.getByText('Needs you').count()).toBe(0)
    await go('servers?server=notes')
    await page.getByRole('heading', { name: /^[1-9]\d* definitions?$/ }).waitFor()
  })

  it('shows a config that nobody trusted, and copies the command that trusts it', async () => {
    const folder = temporary()
    const file = join(folder, '.mcp.json')
    const { page, started } = await openDashboard(
      browser,
      { mcpServers: {} },
      { permissions: ['clipboard-read', 'clipboard-write'], gateway: { untrusted: () => file } },
    )
    const client = await openClient('v2 modern', `${started.url}/mcp`, {
      ...authorized,
      'X-Toolwell-Workspace': encodeURI(folder),
    })
    await client.list()
    await page.reload()
    const need = page
      .getByRole('listitem')
      .filter({ hasText: 'has its own config, which you have not trusted' })
    await need.getByText(file).waitFor()
    await need.getByRole('button', { name: 'Copy command' }).click()
    await eventually(() => page.evaluate('navigator.clipboard.readText()')).toBe(
      `toolwell serve --trust ${folder}`,
    )
  })

  it('works with the keyboard alone', async () => {
    const { page, problems } = await openDashboard(browser, servers('one', 'two'))
    const focused = () => page.evaluate('document.activeElement?.textContent ?? ""')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    for (const [index, title] of TITLES.entries()) {
      await page.keyboard.press(String(index + 1))
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
    }
    await page.keyboard.press('3')
    const grid = page.getByRole('grid', { name: 'Tools' })
    await grid.getByRole('row').nth(3).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('echo')
    await eventually(() => grid.getAttribute('aria-rowcount')).toBe('3')
    await page.keyboard.press('Escape')
    for (
      let presses = 0;
      presses < 40 && !(await page.evaluate('document.activeElement?.matches("tbody tr")'));
      presses++
    )
      await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press(' ')
    await page.getByText('1 tool selected').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('Definition').waitFor()
    await page.keyboard.press('Escape')
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await background()
    await page.keyboard.press('t')
    await page.keyboard.press('t')
    await eventually(background).not.toBe(light)
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await background()).not.toBe(light)
    expect(problems).toEqual([])
  })

  it('sorts, filters and scrolls 5,000 tools, and renders only the rows in view', async () => {
    const total = 5000
    const list = join(temporary(), 'list.json')
    writeFileSync(
      list,
      JSON.stringify(
        Array.from({ length: total }, (_, index) =>
          describedTool(`tool_${index}`, index === 17 ? { description: 'word '.repeat(400) } : {}),
        ),
      ),
    )
    const config = { mcpServers: { many: entry(oddServer('many', { rawFrom: list })) } }
    const { page, started, problems, go } = await openDashboard(browser, config)
    const client = await openClient('v2 modern', `${started.url}/mcp`)
    await client.text('find_tools', { query: 'tool_17' })
    await go('tools')
    const grid = page.getByRole('grid', { name: 'Tools' })
    const rows = grid.locator('tbody [data-index]')
    const count = () => grid.getAttribute('aria-rowcount')
    await eventually(count).toBe(String(total + 1))
    const isFirst = (tool: string) =>
      eventually(() => rows.first().textContent()).toMatch(new RegExp(`^${tool}many`))
    await isFirst('tool_0')
    await rows.first().focus()
    await page.keyboard.press('End')
    await grid.getByRole('row', { name: `tool_${total - 1}` }).waitFor()
    expect(await page.evaluate('document.activeElement?.getAttribute("aria-rowindex")')).toBe(
      String(total + 1),
    )
    expect(await rows.count()).toBeLessThan(100)
    await page.keyboard.press('Home')
    await isFirst('tool_0')
    await grid.hover()
    await page.mouse.wheel(0, 60_000)
    await eventually(async () => Number(await rows.first().getAttribute('data-index'))).toBeGreaterThan(1000)
    expect(await page.evaluate(MEASURE_GAP), 'hidden columns take no room').toBeLessThan(2)
    expect(await rows.count()).toBeLessThan(100)
    await grid.getByRole('button', { name: 'Definition' }).click()
    expect(await page.locator('th[aria-sort=descending]').textContent()).toContain('Definition')
    await page.keyboard.press('/')
    await page.keyboard.type('tool_17')
    await eventually(count).toBe('112')
    await isFirst('tool_17')
    await grid.getByRole('button', { name: 'Tool', exact: true }).click()
    await grid.getByRole('button', { name: 'Tool', exact: true }).click()
    await isFirst('tool_1799')
    expect(problems).toEqual([])
  })
})
