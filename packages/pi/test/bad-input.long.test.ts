/** Broken, foreign, endless or missing input: the real pi continues, reports it, and keeps its session file valid. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { piHome, realServers } from './support/pi-home.ts'
import { serverFile } from './support/server-file.ts'

const api = 'openai-responses'
const search = { calls: [{ name: 'tool_search', arguments: { query: 'read the whole knowledge graph' } }] }
const bridged = (name: string, input: object = {}) => ({
  calls: [{ name: 'tool_call', arguments: { name, arguments: input } }],
})
const GRAPH = 'memory__read_graph'
const ENTITIES = '\\"entities\\"'

type Home = Awaited<ReturnType<typeof piHome>>
type Entry = Record<string, unknown>

const lastBody = (pi: Home) => JSON.stringify(pi.endpoint.requests.at(-1)?.body)

function expectSound(pi: Home) {
  expect(pi.endpoint.requests.map(({ violation }) => violation?.message)).toEqual(
    pi.endpoint.requests.map(() => undefined),
  )
  // Every line parses, and every entry has its parent.
  for (const [header, ...entries] of pi.sessions()) {
    expect(header).toMatchObject({ type: 'session' })
    const ids = new Set(entries.map(({ id }) => id))
    for (const { parentId } of entries) if (parentId !== null) expect(ids).toContain(parentId)
  }
}

describe('a session whose Toolwell entries', () => {
  const isOurs = ({ customType }: Entry) => customType === 'toolwell'
  const change = (entries: readonly Entry[], data: (entry: Entry, index: number) => unknown) => {
    let index = 0
    return entries.map((entry) => (isOurs(entry) ? { ...entry, data: data(entry, index++) } : entry))
  }
  const cases: Readonly<Record<string, (entries: readonly Entry[]) => readonly Entry[]>> = {
    'are words': (entries) => change(entries, () => 'nonsense'),
    'hold events of nobody': (entries) =>
      change(entries, () => ({ v: 3, events: [{ id: 0, kind: 'gone' }] })),
    'lack one in the middle': (entries) =>
      change(entries, ({ data }, index) => (index === 0 ? { v: 3, events: [] } : data)),
    'come twice': (entries) => {
      let before: unknown
      return change(entries, ({ data }) => {
        const now = before ?? data
        before = data
        return now
      })
    },
    'name what no object has': (entries) =>
      change(entries, () => JSON.parse('{ "v": 3, "events": [{ "__proto__": { "kind": "loaded" } }] }')),
  }

  it.each(Object.keys(cases))('%s: starts again, says so, and can load again', async (name) => {
    const pi = await piHome(api, [search, { text: 'Found.' }, search, bridged(GRAPH), { text: 'Here.' }])
    await pi.run(['-p', 'Find the tool.'])
    const [header, ...entries] = pi.entries()
    const file = pi.sessionFiles().at(-1) ?? ''
    const broken = cases[name]?.(entries) ?? []
    writeFileSync(file, [header, ...broken].map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    const { code, output } = await pi.run(['-c', '-p', 'Are you there?'])
    expect(code).toBe(0)
    expect(output).toMatch(/Toolwell starts this session again.*Here\.$/s)
    expect(lastBody(pi)).toContain(ENTITIES)
    expectSound(pi)
  })

  it('come from a newer version: they stay, nothing is added to them, and tools can be used', async () => {
    const pi = await piHome(api, [search, { text: 'Found.' }, search, bridged(GRAPH), { text: 'Here.' }])
    await pi.run(['-p', 'Find the tool.'])
    const [header, ...entries] = pi.entries()
    const file = pi.sessionFiles().at(-1) ?? ''
    const newer = change(entries, () => ({ v: 99, steps: { odd: true } }))
    writeFileSync(file, [header, ...newer].map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    const { code, output } = await pi.run(['-c', '-p', 'Are you there?'])
    expect(code).toBe(0)
    expect(output).toMatch(/A newer version of Toolwell has written.*Here\.$/s)
    expect(lastBody(pi)).toContain(ENTITIES)
    expect(pi.entries().filter(isOurs)).toEqual(newer.filter(isOurs))
    expectSound(pi)
  })

  it('end in half a line, as after a crash: what was whole counts', async () => {
    const pi = await piHome(api, [search, { text: 'Found.' }, bridged(GRAPH), { text: 'Here.' }])
    await pi.run(['-p', 'Find the tool.'])
    const file = pi.sessionFiles().at(-1) ?? ''
    writeFileSync(
      file,
      `${readFileSync(file, 'utf8')}{"type":"custom","customType":"toolwell","data":{"v":3,"ev\n`,
    )
    expect(await pi.run(['-c', '-p', 'Are you there?'])).toEqual({ code: 0, output: 'Here.' })
    expect(lastBody(pi)).toContain(ENTITIES)
  })
})

it('a config that breaks while pi runs: the servers keep running, the line is named, and a repaired config is used', async () => {
  const greeter = serverFile([{ name: 'greet', description: 'Greets somebody by name' }])
  const pi = await piHome(api, [
    search,
    bridged(GRAPH),
    { text: 'First.' },
    bridged(GRAPH),
    { text: 'Second.' },
    bridged('greeter__greet'),
    { text: 'Third.' },
    { text: 'Fourth.' },
  ])
  const client = pi.rpc()
  expect(await client.prompt('Read the graph.')).toBe('First.')
  const whole = readFileSync(pi.config, 'utf8')
  writeFileSync(pi.config, whole.slice(0, 200))
  const since = client.all.length
  expect(await client.prompt('Again.')).toBe('Second.')
  const told = await client.next(({ method }) => method === 'notify', since)
  expect(told.message).toMatch(new RegExp(`^${pi.config}:\\d+`))
  expect(lastBody(pi).split(ENTITIES)).toHaveLength(3)

  const config = JSON.parse(whole)
  config.mcpServers.greeter = { command: process.execPath, args: [greeter] }
  writeFileSync(pi.config, JSON.stringify(config))
  expect(await client.prompt('Greet me.')).toBe('Third.')
  expect(lastBody(pi)).toContain('Hello.')

  // Servers removed from the config are not offered.
  delete config.mcpServers.everything
  writeFileSync(pi.config, JSON.stringify(config))
  expect(await client.prompt('Thank you.')).toBe('Fourth.')
  expect(pi.endpoint.requests.at(-1)?.body).toMatchObject({
    tools: ['read', 'bash', 'edit', 'write', 'tool_search', 'tool_call'].map((name) => ({ name })),
  })
  await client.end()
  expectSound(pi)
})

describe('a result', () => {
  const dump = [{ name: 'dump', description: 'Dumps everything there is' }]
  const withDump = (answer: string) => ({ servers: { ...realServers, own: [serverFile(dump, { answer })] } })
  const reader = (pi: Home) => /r_[0-9a-f]{12}/.exec(lastBody(pi))?.[0] ?? 'none'

  it.each(['openai-responses', 'anthropic-messages'] as const)(
    'of 50 MB: a head is sent, the whole is stored with the session, and read in parts, also from a clone: %s',
    async (wire) => {
      const answer = `const lines = Array.from({ length: 500_000 }, (_, index) => 'line ' + index + ' ' + 'x'.repeat(90))
        return { content: [{ type: 'text', text: lines.join('\\n') }] }`
      const call = (name: string, input: object) =>
        wire === 'anthropic-messages' ? { calls: [{ name, arguments: input }] } : bridged(name, input)
      let handle = ''
      const pi: Home = await piHome(
        wire,
        (_body: object, index: number) => {
          if (index === 0) return call('own__dump', {})
          if (index === 1) {
            handle = reader(pi)
            return call('read_result', { handle, lines: '300001-300002' })
          }
          return index === 3 ? call('read_result', { handle, lines: '400001-400002' }) : { text: 'Read.' }
        },
        withDump(answer),
      )
      const client = pi.rpc()
      expect(await client.prompt('Dump it.')).toBe('Read.')
      expect(handle).toMatch(/^r_/)
      expect(lastBody(pi)).toContain('line 300000 ')
      expect(lastBody(pi).length).toBeLessThan(200_000)
      const [file = ''] = pi.sessionFiles()
      expect(statSync(file).size).toBeLessThan(1_000_000)
      expect(readdirSync(join(file, '..', 'toolwell-results'))).toHaveLength(1)
      await client.command('clone')
      expect(await client.prompt('Read on here.')).toBe('Read.')
      expect(lastBody(pi)).toContain('line 400000 ')
      await client.end()
      expectSound(pi)
    },
  )

  it('of 100 MB: it is refused in words, nothing of it is kept, and the server answers the next call', async () => {
    const answer = `const text = args?.small ? 'little' : 'x'.repeat(100 * 1024 * 1024)
      return { content: [{ type: 'text', text }] }`
    const pi = await piHome(
      api,
      [bridged('own__dump'), bridged('own__dump', { small: true }), { text: 'Done.' }],
      withDump(answer),
    )
    expect(await pi.run(['-p', 'Dump it.'])).toEqual({ code: 0, output: 'Done.' })
    expect(lastBody(pi)).toContain('more than 64 MB')
    expect(lastBody(pi)).toContain('little')
    expect(lastBody(pi).length).toBeLessThan(50_000)
    const [file = ''] = pi.sessionFiles()
    expect(existsSync(join(file, '..', 'toolwell-results'))).toBe(false)
    expectSound(pi)
  })

  it('with invalid bytes and characters: pi continues, and every request is valid', async () => {
    const answer = `
      if (!args?.raw) return { content: [{ type: 'text', text: 'half \\ud83d of a pair, and \\u0000 nothing' }] }
      const reply = { jsonrpc: '2.0', id: requestId, result: { content: [{ type: 'text', text: 'bad <> bytes' }] } }
      const [head, tail] = JSON.stringify(reply).split('<>')
      process.stdout.write(Buffer.concat([Buffer.from(head), Buffer.from([0xff, 0xfe, 0xc3, 0x28]), Buffer.from(tail + '\\n')]))
      await new Promise(() => undefined)`
    const pi = await piHome(
      api,
      [bridged('own__dump'), bridged('own__dump', { raw: true }), { text: 'Done.' }],
      withDump(answer),
    )
    expect(await pi.run(['-p', 'Dump it.'])).toEqual({ code: 0, output: 'Done.' })
    const { raw = '' } = pi.endpoint.requests.at(-1) ?? {}
    expect(raw).toContain('of a pair')
    expect(raw).toContain('bytes')
    expect(raw).not.toMatch(/\\ud83d(?!\\ud)/i)
    expectSound(pi)
  })
})

it('an endless loop of calls that fail: each answer is short from the third on, and the session stays small', async () => {
  const turns = 40
  const wrong = bridged('memory__create_entities', { entities: 'none' })
  const pi = await piHome(api, [...Array.from({ length: turns }, () => wrong), { text: 'I give up.' }])
  expect(await pi.run(['-p', 'Create it.'])).toEqual({ code: 0, output: 'I give up.' })
  const sizes = pi.endpoint.requests.map(({ raw }) => raw.length)
  const growth = sizes.slice(1).map((size, index) => size - (sizes[index] ?? 0))
  expect(Math.max(...growth.slice(3))).toBeLessThan(Math.max(...growth.slice(0, 2)))
  expect(Math.max(...growth.slice(3))).toBeLessThan(800)
  expectSound(pi)
})

it('a folder that disappears while pi runs: the call says so, and the session continues', async () => {
  const pi = await piHome(api, [bridged(GRAPH), { text: 'First.' }, { text: 'Second.' }])
  const client = pi.rpc()
  await client.command('get_state')
  rmSync(pi.work, { recursive: true })
  expect(await client.prompt('Read the graph.')).toBe('First.')
  expect(lastBody(pi)).toContain(pi.work)
  expect(await client.prompt('And now?')).toBe('Second.')
  await client.end()
  expect(existsSync(pi.work)).toBe(false)
  expectSound(pi)
})

it('two processes on one session: each continues with its loaded tools, and the file has both as branches', async () => {
  const environment = {
    calls: [{ name: 'tool_search', arguments: { query: 'print environment variables' } }],
  }
  const pi = await piHome(api, [
    search,
    { text: 'Begun.' },
    environment,
    { text: 'One.' },
    bridged(GRAPH),
    { text: 'Two.' },
    bridged('everything__get-env'),
    { text: 'One again.' },
    bridged(GRAPH),
    { text: 'Third process.' },
  ])
  await pi.run(['-p', 'Find the tool.'])
  const [file = ''] = pi.sessionFiles()
  const one = pi.rpc({}, ['--session', file])
  const two = pi.rpc({}, ['--session', file])
  await Promise.all([one.command('get_state'), two.command('get_state')])
  expect(await one.prompt('Find the environment.')).toBe('One.')
  expect(await two.prompt('Read the graph.')).toBe('Two.')
  expect(await one.prompt('Show the environment.')).toBe('One again.')
  await Promise.all([one.end(), two.end()])
  expect(await pi.run(['--session', file, '-p', 'The graph.'])).toEqual({ code: 0, output: 'Third process.' })
  expect(lastBody(pi)).toContain('Show the environment.')
  expect(lastBody(pi)).not.toContain('Two.')
  expect(lastBody(pi)).toContain(ENTITIES)
  expect(pi.sessions()).toHaveLength(1)
  expectSound(pi)
})
