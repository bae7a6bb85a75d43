/** Runs the server scenarios of the official conformance suite in both protocol generations: our fixture directly, and through the gateway. `UPDATE_GOLDEN=1` saves the table. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { stringify } from '../../../bench/json.ts'
import { type Checks, type Conformance, conformancePage, type Places } from './support/conformance-page.js'
import { authorized, startGateway } from './support/gateway.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')

const TASKS = 'an extension that is not offered'
const THREE = 'the list holds three tools, and none of those that the scenario looks at'

/** A failing scenario: the number of failing checks and the reason. */
type Failing = Readonly<Record<string, readonly [checks: number, reason: string]>>

/** Remove a scenario from this list when it passes. */
const FAILING: Readonly<Record<string, Failing>> = {
  '2025-11-25': {},
  '2026-07-28': {
    'tasks-lifecycle': [8, TASKS],
    'tasks-capability-negotiation': [4, TASKS],
    'tasks-wire-fields': [3, TASKS],
    'tasks-request-state-removal': [1, TASKS],
    'tasks-mrtr-input': [3, TASKS],
    'tasks-request-headers': [3, TASKS],
    'tasks-dispatch-and-envelope': [6, TASKS],
    'tasks-required-task-error': [1, TASKS],
    'tasks-mrtr-composition': [1, TASKS],
  },
}

/** Fails only if tools are found by search. */
const FAILING_IN_DISPATCH: Readonly<Record<string, Failing>> = {
  '2025-11-25': { 'json-schema-2020-12': [1, THREE] },
  '2026-07-28': { 'json-schema-2020-12': [1, THREE], 'http-custom-header-server-validation': [5, THREE] },
}

interface Verdict {
  readonly scenario: string
  readonly passed: number
  readonly failed: number
}

/**
 * The suite sends no token and expects tool names without the server prefix. This proxy adds the token and removes the prefix in
 * lists; it changes nothing else.
 */
async function startProxy(port: number, path: string): Promise<string> {
  const door = createServer(async (asked, answer) => {
    const { method, url: path, headers } = asked
    const body = Buffer.concat(await asked.toArray())
    const isList = body.includes('"tools/list"')
    const onward = request(
      { host: '127.0.0.1', port, method, path, headers: { ...headers, ...authorized } },
      async (given) => {
        if (!isList) {
          answer.writeHead(given.statusCode ?? 500, given.headers)
          given.pipe(answer)
          return
        }
        const { 'content-length': _, ...rest } = given.headers
        const text = Buffer.concat(await given.toArray()).toString()
        answer.writeHead(given.statusCode ?? 500, rest).end(text.replaceAll('"name":"suite__', '"name":"'))
      },
    )
    onward.on('error', () => answer.destroy())
    answer.on('close', () => onward.destroy())
    onward.end(body)
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  onTestFinished(() => {
    door.closeAllConnections()
    door.close()
  })
  return `http://localhost:${(door.address() as AddressInfo).port}${path}`
}

async function verdicts(url: string, revision: string): Promise<Verdict[]> {
  const program = join(dirname(manifest), 'dist/index.js')
  const hook = new URL('../../mcp/test/support/conformance-on-node-20.mjs', import.meta.url).href
  const words = ['server', '--url', url, '--requirements', revision, '--timeout', '120000']
  const child = spawn(process.execPath, ['--import', hook, program, ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => (said += chunk))
  await once(child, 'close')
  return [...said.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)].map(
    ([, scenario = '', passed, failed]) => ({ scenario, passed: Number(passed), failed: Number(failed) }),
  )
}

const FIXTURE = here('support/conformance-server.mjs')

/** Checks of each scenario. */
async function judge(url: string, revision: string): Promise<Map<string, Checks>> {
  const found = await verdicts(url, revision)
  expect(found.length).toBeGreaterThan(30)
  return new Map(found.map(({ scenario, passed, failed }) => [scenario, [passed, failed]]))
}

const failingOf = (judged: ReadonlyMap<string, Checks>) =>
  Object.fromEntries(
    [...judged].flatMap(([scenario, [, failed]]) => (failed > 0 ? [[scenario, failed]] : [])),
  )

async function judgeThrough(revision: string, path: string) {
  const { port, listed } = await startGateway({
    mcpServers: { suite: { command: process.execPath, args: [FIXTURE], cwd: here('.') } },
  })
  await listed()
  return judge(await startProxy(port, path), revision)
}

async function judgeDirectly(revision: string) {
  const child = spawn(process.execPath, [FIXTURE, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const [port] = await once(child.stdout, 'data')
  return judge(`http://localhost:${String(port).trim()}/mcp`, revision)
}

const checksOf = (failing: Failing) =>
  Object.fromEntries(Object.entries(failing).map(([scenario, [checks]]) => [scenario, checks]))

/** Replaces the results of this revision, and writes the page. */
function save(revision: string, places: Places<ReadonlyMap<string, Checks>>): void {
  const results = `${root}bench/results/conformance.json`
  const saved = existsSync(results) ? (JSON.parse(readFileSync(results, 'utf8')) as Conformance) : undefined
  const checks = (place: keyof typeof places, scenario: string) => places[place].get(scenario) ?? [0, 0]
  const scenarios = [...places.direct.keys()].sort().map((name) => {
    const [direct, all, search] = [checks('direct', name), checks('all', name), checks('search', name)]
    return [name, { direct, all, search }]
  })
  const conformance: Conformance = {
    suite: JSON.parse(readFileSync(manifest, 'utf8')).version,
    date: new Date().toISOString().slice(0, 10),
    revisions: { ...saved?.revisions, [revision]: Object.fromEntries(scenarios) },
  }
  writeFileSync(results, stringify(conformance))
  writeFileSync(`${root}docs/compatibility/conformance.md`, conformancePage(conformance))
}

it.each(Object.entries(FAILING))(
  'every scenario of %s that passes directly passes through the gateway',
  async (revision, failing) => {
    const direct = await judgeDirectly(revision)
    const all = await judgeThrough(revision, '/mcp/all')
    const search = await judgeThrough(revision, '/mcp')
    expect([...all.keys()]).toEqual([...direct.keys()])
    expect([...search.keys()]).toEqual([...direct.keys()])
    expect(Object.keys(failingOf(direct)).sort()).toEqual(Object.keys(failing).sort())
    const lost = [...direct].filter(([name, [, failed]]) => failed === 0 && all.get(name)?.[1] !== 0)
    expect(lost).toEqual([])
    expect(failingOf(all)).toEqual(checksOf(failing))
    expect(failingOf(search)).toEqual(checksOf({ ...failing, ...FAILING_IN_DISPATCH[revision] }))
    if (process.env.UPDATE_GOLDEN === '1') save(revision, { direct, all, search })
  },
  1_800_000,
)
