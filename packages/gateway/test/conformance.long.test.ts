/** Runs the server scenarios of the official conformance suite through the gateway, in both protocol generations. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { authorized, startGateway } from './support/gateway.js'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')

const RESOURCES = 'resources are not passed on yet'
const PROMPTS = 'prompts are not passed on yet'
const QUESTIONS = 'questions of servers are not passed on yet'
const UNASKED = `${QUESTIONS}: the server behind has no tool that asks in this way`
const LOGS = 'log messages of servers are not passed on yet'
const TASKS = 'an extension that is not offered'
const THREE = 'the list holds three tools, and none of those that the scenario looks at'

/** A failing scenario: the number of failing checks and the reason. */
type Failing = Readonly<Record<string, readonly [checks: number, reason: string]>>

/** Remove a scenario from this list when it passes. */
const FAILING: Readonly<Record<string, Failing>> = {
  '2025-11-25': {
    'logging-set-level': [1, LOGS],
    'tools-call-with-logging': [1, LOGS],
    'completion-complete': [1, PROMPTS],
    ...each(
      'prompts-',
      ['list', 'get-simple', 'get-with-args', 'get-embedded-resource', 'get-with-image'],
      PROMPTS,
    ),
    ...each(
      'resources-',
      ['list', 'read-text', 'read-binary', 'templates-read', 'subscribe', 'unsubscribe'],
      RESOURCES,
    ),
    ...each('tools-call-', ['sampling', 'elicitation'], QUESTIONS),
    ...each('elicitation-', ['sep1034-defaults', 'sep1330-enums'], UNASKED),
  },
  '2026-07-28': {
    'completion-complete': [1, PROMPTS],
    ...each(
      'prompts-',
      ['list', 'get-simple', 'get-with-args', 'get-embedded-resource', 'get-with-image'],
      PROMPTS,
    ),
    ...each('resources-', ['list', 'read-text', 'read-binary', 'templates-read'], RESOURCES),
    // The rest is about tools and discovery, and passes.
    caching: [3, `${RESOURCES}, ${PROMPTS}`],
    ...each(
      'input-required-result-',
      [
        ...['basic-elicitation', 'basic-sampling', 'basic-list-roots', 'request-state', 'result-type'],
        ...['multiple-input-requests', 'multi-round', 'tampered-state', 'capability-check'],
      ],
      UNASKED,
    ),
    'input-required-result-non-tool-request': [1, PROMPTS],
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

/** Scenarios only about tools pass if every tool is listed. */
const ABOUT_TOOLS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [...toolScenarios(), 'json-schema-2020-12'],
  '2026-07-28': [
    ...toolScenarios(),
    ...['json-schema-2020-12', 'server-stateless', 'http-header-validation'],
    'http-custom-header-server-validation',
  ],
}

function toolScenarios(): string[] {
  const calls = ['simple-text', 'image', 'audio', 'embedded-resource', 'mixed-content', 'error']
  return ['tools-list', ...[...calls, 'with-progress'].map((name) => `tools-call-${name}`)]
}

function each(before: string, names: readonly string[], reason: string): Failing {
  return Object.fromEntries(names.map((name) => [before + name, [1, reason] as const]))
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

async function failed(revision: string, path: string) {
  const { port } = await startGateway({
    mcpServers: {
      suite: { command: process.execPath, args: [here('support/conformance-server.mjs')], cwd: here('.') },
    },
  })
  const found = await verdicts(await startProxy(port, path), revision)
  expect(found.length).toBeGreaterThan(30)
  return {
    ran: found.map(({ scenario }) => scenario),
    checks: Object.fromEntries(
      found.filter((one) => one.failed > 0).map((one) => [one.scenario, one.failed]),
    ),
  }
}

const checksOf = (failing: Failing) =>
  Object.fromEntries(Object.entries(failing).map(([scenario, [checks]]) => [scenario, checks]))

describe.each(Object.entries(FAILING))('of %s', (revision, failing) => {
  it('every scenario passes where all tools are listed, but for those on the list; all about tools among them', async () => {
    const { ran, checks } = await failed(revision, '/mcp/all')
    expect(checks).toEqual(checksOf(failing))
    for (const scenario of ABOUT_TOOLS[revision] ?? []) {
      expect(ran).toContain(scenario)
      expect(Object.keys(checks)).not.toContain(scenario)
    }
  })

  it('nothing else fails where tools are found by a search, but what looks at them in the list', async () => {
    const { checks } = await failed(revision, '/mcp')
    expect(checks).toEqual(checksOf({ ...failing, ...FAILING_IN_DISPATCH[revision] }))
  })
})
