/** The real pi, headless, with real MCP servers and the strict endpoints of every wire. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commonPrefix } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { type Api, extensionFile, piHome, wires } from './support/pi-home.ts'

const search = { calls: [{ name: 'tool_search', arguments: { query: 'read the whole knowledge graph' } }] }
const readGraph = (api: Api) =>
  api === 'anthropic-messages'
    ? { calls: [{ name: 'memory__read_graph', arguments: {} }] }
    : { calls: [{ name: 'tool_call', arguments: { name: 'memory__read_graph', arguments: {} } }] }
const apis = Object.keys(wires) as Api[]
const GRAPH = '\\"entities\\"'

interface Body {
  readonly tools?: readonly unknown[]
  readonly [key: string]: unknown
}

describe.each(apis)('%s', (api) => {
  const { history } = wires[api]
  const said = (body: Body | undefined) => JSON.stringify(body?.[history])

  it('finds, loads and calls a tool, and resumes in a new process with the tool still loaded', async () => {
    const model = [search, readGraph(api), { text: 'First.' }, readGraph(api), { text: 'Second.' }]
    const pi = await piHome(api, model)
    expect(await pi.run(['-p', 'Read the graph.'])).toEqual({ code: 0, output: 'First.' })
    expect(await pi.run(['-c', '-p', 'And again.'])).toEqual({ code: 0, output: 'Second.' })

    const bodies = pi.endpoint.requests.map(({ body }) => body as Body)
    expect(pi.endpoint.requests.map(({ violation }) => violation)).toEqual(bodies.map(() => undefined))
    expect(bodies).toHaveLength(5)
    // Only pi's four tools and the search tools until something is loaded.
    expect(JSON.stringify(bodies[0]?.tools)).not.toContain('"name":"memory__')
    expect(said(bodies[2])).toContain(GRAPH)
    expect(said(bodies[4])?.split(GRAPH)).toHaveLength(3)
    expect(said(bodies[4])).not.toContain('not found')
    // Each request contains the last one, except for cache marks that pi moves.
    const plain = bodies.map((body) =>
      said(body)?.replaceAll(/,?"cache_control":\{"type":"ephemeral"\}/g, ''),
    )
    for (const [index, text = ''] of plain.slice(1).entries()) {
      const before = plain[index]?.slice(0, -1) ?? ''
      expect(commonPrefix(before, text)).toBe(before.length)
    }
  })
})

it('keeps what was loaded when the process is killed between the load and the next step', async () => {
  const api = 'openai-responses'
  const pi = await piHome(api, [search, readGraph(api), { text: 'Never.' }])
  const killer = extensionFile(
    pi.folder,
    `export default (pi) => pi.on('tool_execution_end', () => { setImmediate(() => process.kill(process.pid, 'SIGKILL')) })`,
  )
  const killed = await pi.run(['-p', 'Read the graph.'], { extensions: [killer] })
  expect(killed.code).toBeNull()
  expect(await pi.run(['-c', '-p', 'Go on.'])).toEqual({ code: 0, output: 'Never.' })
  const last = JSON.stringify(pi.endpoint.requests.at(-1)?.body)
  expect(last).toContain(GRAPH)
  expect(pi.endpoint.requests.map(({ violation }) => violation?.message)).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

it('forks with what was loaded, and the origin does not change', async () => {
  const api = 'anthropic-messages'
  const pi = await piHome(api, [search, { text: 'Found.' }, readGraph(api), { text: 'In the fork.' }])
  await pi.run(['-p', 'Find the tool.'])
  const origin = JSON.stringify(pi.entries())
  const id = String(pi.entries()[0]?.id)
  expect(await pi.run(['--fork', id, '-p', 'Use it.'])).toEqual({ code: 0, output: 'In the fork.' })
  expect(JSON.stringify(pi.endpoint.requests.at(-1)?.body)).toContain(GRAPH)
  expect(pi.endpoint.requests.some(({ violation }) => violation)).toBe(false)
  expect(origin).not.toContain('Use it.')
})

it('moves to another provider and back, and the tool stays loaded', async () => {
  const pi = await piHome('openai-responses', [
    search,
    { text: 'Found.' },
    readGraph('openai-responses'),
    { text: 'Back.' },
  ])
  const other = await pi.addProvider('other', 'anthropic-messages', [
    readGraph('anthropic-messages'),
    { text: 'Moved.' },
  ])
  await pi.run(['-p', 'Find the tool.'])
  const moved = await pi.run(['-c', '-p', 'Use it.'], { provider: 'other', of: 'anthropic-messages' })
  expect(moved).toEqual({ code: 0, output: 'Moved.' })
  expect(await pi.run(['-c', '-p', 'Use it here.'])).toEqual({ code: 0, output: 'Back.' })
  for (const { requests } of [pi.endpoint, other]) {
    expect(requests.map(({ violation }) => violation?.message)).toEqual(requests.map(() => undefined))
    expect(JSON.stringify(requests.at(-1)?.body)).toContain(GRAPH)
  }
})

it('shows the inner tool to an extension that asks before a call runs', async () => {
  const api = 'openai-completions'
  const pi = await piHome(api, [readGraph(api), { text: 'Blocked.' }])
  const gate = extensionFile(
    pi.folder,
    `export default (pi) => pi.on('tool_call', ({ toolName, input }) =>
      toolName === 'memory__read_graph' ? { block: true, reason: 'No graphs: ' + JSON.stringify(input) } : undefined)`,
  )
  expect(await pi.run(['-p', 'Read the graph.'], { extensions: [gate] })).toEqual({
    code: 0,
    output: 'Blocked.',
  })
  expect(JSON.stringify(pi.endpoint.requests.at(-1)?.body)).toContain('No graphs: {}')
})

it('leaves no server behind when pi ends', async () => {
  const api = 'openai-completions'
  const pi = await piHome(api, [readGraph(api), { text: 'Done.' }])
  const spy = extensionFile(
    pi.folder,
    `import { writeFileSync } from 'node:fs'
     import { execSync } from 'node:child_process'
     export default (pi) => pi.on('agent_end', () => writeFileSync(${JSON.stringify(join(pi.folder, 'pids'))},
       execSync('pgrep -P ' + process.pid, { encoding: 'utf8' })))`,
  )
  await pi.run(['-p', 'Read the graph.'], { extensions: [spy] })
  const pids = readFileSync(join(pi.folder, 'pids'), 'utf8').trim().split('\n').map(Number)
  expect(pids.length).toBeGreaterThan(0)
  const isAlive = (pid: number) => {
    try {
      process.kill(pid, 0)
      return true
    } catch {
      return false
    }
  }
  await expect.poll(() => pids.filter(isAlive), { timeout: 60_000 }).toEqual([])
})

it('continues a session whose Toolwell entries are broken', async () => {
  const api = 'openai-responses'
  const pi = await piHome(api, [search, { text: 'Found.' }, { text: 'Still here.' }])
  await pi.run(['-p', 'Find the tool.'])
  const [header, ...entries] = pi.entries()
  const broken = entries.map((entry) =>
    entry.customType === 'toolwell' ? { ...entry, data: ['nonsense'] } : entry,
  )
  const file = join(pi.agent, 'sessions', 'broken.jsonl')
  writeFileSync(file, [header, ...broken].map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  const { code, output } = await pi.run(['--session', file, '-p', 'Are you there?'])
  expect(code).toBe(0)
  expect(output).toMatch(/Toolwell starts this session again with nothing loaded\..*Still here\.$/s)
  expect(pi.entries().length).toBeGreaterThan(0)
})
