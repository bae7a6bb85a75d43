import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { running } from '../../mcp/test/support/processes.js'
import { homeWith, misbehaving, poisoned, real } from './support/home.js'
import { folderWith, issueTools, toolwell } from './support/run.js'

interface ServerJson {
  readonly name: string
  readonly state: string
  readonly reason: string
  readonly tools: number
  readonly trusted: string
  readonly findings: readonly { readonly tool: string; readonly rule: string; readonly severity: string }[]
  readonly quarantined: Record<string, string>
  readonly tokens: Record<string, number>
}
const serversOf = (output: string) =>
  Object.fromEntries((JSON.parse(output).servers as ServerJson[]).map((server) => [server.name, server]))

describe('inspect of servers', () => {
  it('tells once that a server is there twice, and not of each of its tools', async () => {
    const memory = real('memory')
    const { run } = homeWith({ 'toolwell.json': { mcpServers: { memory, again: memory } } })
    const { again, memory: first } = serversOf((await run(['inspect', '--json'])).output)
    expect([...(again?.findings ?? []), ...(first?.findings ?? [])]).toEqual([
      expect.objectContaining({ rule: 'same-server', severity: 'soft' }),
    ])
    const { output } = await run(['inspect'])
    expect(output.match(/same server as (?:memory|again)/g)).toHaveLength(1)
    expect(output).not.toContain('shadowing')
  })

  it('shows real and broken ones with states, tokens and findings, and starts none that is cached', async () => {
    const mcpServers = {
      everything: real('everything'),
      filesystem: { ...real('filesystem', '.'), deny: ['write_*'] },
      memory: { ...real('memory'), env: { MEMORY_TOKEN: 'very-secret-value' } },
      bad: misbehaving({ tools: [poisoned], log: 'LOG', garbage: true }),
      dead: { command: 'no-such-program-anywhere' },
      off: { command: 'whatever', env: { KEY: '${NEVER_SET_ANYWHERE}' }, enabled: false },
    }
    const { run, start, folder } = homeWith({ 'toolwell.json': { mcpServers } })
    const write = (servers: object) =>
      writeFileSync(join(folder, 'toolwell.json'), JSON.stringify({ mcpServers: servers }))
    // However long they take to start; from then on only the mute one is waited for, and not long.
    await start(['inspect', '--timeout', '120'])
    write({ ...mcpServers, mute: misbehaving({ mute: true }) })
    const text = await run(['inspect', '--timeout', '0.5'])
    expect(text.code).toBe(0)
    expect(text.output).toMatch(/^7 servers, \d+ tools/)
    expect(text.output).toMatch(/^everything +cached +first use +\d+ /m)
    expect(text.output).toMatch(/^dead +failed/m)
    expect(text.output).toMatch(/^mute +failed/m)
    expect(text.output).toMatch(/^off +disabled/m)
    expect(text.output).toContain('no-such-program-anywhere')
    expect(text.output).toMatch(/hard {2}bad\/add {2}secrecy in description/)
    expect(text.output).toContain('filesystem: 1 tool excluded by the config')
    expect(text.output).toContain('Largest tools')
    expect(text.output + text.errors).not.toContain('very-secret-value')
    expect(text.output).not.toContain('\u001b')

    const json = await start(['inspect', '--json', '--timeout', '0.5'])
    const servers = serversOf(json.output)
    expect(Object.fromEntries(Object.entries(servers).map(([name, { state }]) => [name, state]))).toEqual({
      bad: 'cached',
      dead: 'failed',
      everything: 'cached',
      filesystem: 'cached',
      memory: 'cached',
      mute: 'failed',
      off: 'disabled',
    })
    expect(servers.bad).toMatchObject({
      trusted: 'first-use',
      findings: [{ tool: 'add', rule: 'secrecy', severity: 'hard' }],
      quarantined: { add: expect.stringContaining('"deny": ["add"] in the entry of bad') },
    })
    const { tokens, tools, surface, deferred } = JSON.parse(json.output)
    const sum = (part: string) =>
      Object.values(servers).reduce((all, server) => all + (server.tokens[part] ?? 0), 0)
    expect(tokens).toMatchObject({ definitions: sum('definitions'), surface: surface.tokens })
    expect(tokens.definitions).toBeGreaterThan(tokens.cards)
    expect(tokens.cards).toBeGreaterThan(tokens.names)
    expect(tools[0].tokens.definitions).toBeGreaterThanOrEqual(tools[1].tokens.definitions)
    // A quarantined tool is sent to nobody.
    const held = tools.find(({ name }: { name: string }) => name === 'add')
    expect(held).toMatchObject({ isQuarantined: true })
    expect(surface).toMatchObject({ mode: 'off', tokens: tokens.definitions - held.tokens.definitions })
    expect(deferred.mode).toBe('on')
    expect(json.output).not.toContain('very-secret-value')
    // Cached servers were started by the first run alone.
    expect(readFileSync(join(folder, 'LOG'), 'utf8').match(/start/g)).toHaveLength(1)
    write(mcpServers)
    await run(['inspect', '--refresh', '--timeout', '120'])
    expect(readFileSync(join(folder, 'LOG'), 'utf8').match(/start/g)).toHaveLength(2)
  })

  it('calls a tool locked only if the lock contains its current form', async () => {
    const tool = (name: string) => ({ name, description: 'Does it.', inputSchema: { type: 'object' } })
    const { run, folder } = homeWith({
      'toolwell.json': {
        mcpServers: {
          whole: misbehaving({ tools: [tool('a')] }),
          part: misbehaving({ tools: [tool('a')] }),
        },
      },
    })
    expect(await run(['lock'])).toMatchObject({ code: 0 })
    writeFileSync(
      join(folder, 'toolwell.json'),
      JSON.stringify({
        mcpServers: {
          whole: misbehaving({ tools: [tool('a')] }),
          part: misbehaving({ tools: [tool('a'), tool('b')] }),
          late: misbehaving({ tools: [tool('a')] }),
        },
      }),
    )
    const { output } = await run(['inspect'])
    expect(output).toMatch(/^whole +cached +locked +1 /m)
    expect(output).toMatch(/^part +cached +partly locked +2 +1 /m)
    expect(output).toMatch(/^late +quarantined +blocked by lock +1 +1 /m)
  })

  it('says what is wrong in a config, and shows the servers that can be used', async () => {
    const { run } = homeWith({
      'toolwell.json': '{ "mcpServers": { "good": GOOD, "bad": { "comand": "x" } } }'.replace(
        'GOOD',
        JSON.stringify(misbehaving({})),
      ),
    })
    const { code, output, errors } = await run(['inspect', '--json'])
    expect(code).toBe(0)
    const { bad, good } = serversOf(output)
    expect(good?.tools).toBe(12)
    expect(bad).toMatchObject({ state: 'refused', tools: 0, reason: expect.stringContaining('comand') })
    expect(errors).toMatch(/toolwell\.json.*comand.*Write "command"/)
    expect(JSON.parse(output).problems.join()).toContain('comand')
    const text = await run(['inspect'])
    expect(text.output).toMatch(/^2 servers, 12 tools/)
    expect(text.output).toMatch(/^bad +refused +- +0 /m)
    expect(text.output).toMatch(/^bad: .*toolwell\.json:1 .*comand.*Write "command"/m)
  })

  it('shows a refused server only where the profile has it', async () => {
    const { run } = homeWith({
      'toolwell.json': {
        mcpServers: { good: misbehaving({}), bad: { comand: 'x' } },
        profiles: { some: { servers: ['g*'] }, bad: { servers: ['b*'] } },
      },
    })
    const some = await run(['inspect', '--json', '--profile', 'some', '--max-tokens', '100000'])
    expect(some.code).toBe(0)
    expect(Object.keys(serversOf(some.output))).toEqual(['good'])
    const bad = await run(['inspect', '--profile', 'bad'])
    expect(bad.code).toBe(2)
    expect(bad.output).toMatch(/^bad +refused/m)
    expect((await run(['inspect', '--profile', 'none'])).output).toBe('')
  })

  it('ends with 2 where no server can be used, and shows them all the same', async () => {
    const { run } = homeWith({
      'toolwell.json': {
        mcpServers: {
          dead: { command: 'no-such-program-anywhere' },
          off: { command: 'x', enabled: false },
          wrong: { comand: 'x' },
        },
      },
    })
    const text = await run(['inspect'])
    expect(text.code).toBe(2)
    for (const state of ['dead +failed', 'off +disabled', 'wrong +refused'])
      expect(text.output).toMatch(new RegExp(`^${state}`, 'm'))
    const message = 'No server is usable: dead (failed), off (disabled), wrong (refused).'
    expect(text.errors).toContain(`toolwell: ${message}`)
    const json = await run(['inspect', '--json', '--max-tokens', '100000'])
    expect(json.code).toBe(2)
    expect(JSON.parse(json.output)).toMatchObject({
      reason: 'no-servers',
      message,
      isWithin: false,
      incomplete: ['dead', 'wrong'],
    })
  })

  it.each([
    ['no config anywhere', [], /No config found\. Looked for .*toolwell import/],
    ['a file that is not there', ['--config', 'no.json'], /no\.json: there is no such file/],
    ['a folder', ['--config', '.'], /this is a folder/],
    ['broken JSON', ['--config', 'broken.json'], /broken\.json:1/],
    ['no servers', ['--config', 'empty.json'], /empty\.json has no servers/],
  ])('ends with 2 for %s', async (_, words, message) => {
    const { run } = homeWith({ 'broken.json': '{ "mcpServers": ', 'empty.json': '{}' })
    const { code, output, errors } = await run(['inspect', ...words])
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(errors).toMatch(message)
  })

  it('continues if nothing can be cached', async () => {
    const { run, folder } = homeWith({ 'toolwell.json': { mcpServers: { odd: misbehaving({}) } } })
    writeFileSync(join(folder, 'file'), '')
    const { code, output, errors } = await run(['inspect', '--json'], {
      env: { XDG_CACHE_HOME: join(folder, 'file') },
    })
    expect(code).toBe(0)
    expect(serversOf(output).odd?.tools).toBe(12)
    expect(errors).toMatch(/definitions cannot be stored in .*Make the folder writable/)
  })

  it('shows on a screen what it waits for', async () => {
    const mark = `mark-${Math.random()}`
    const slow = misbehaving({ mute: true, mark })
    const folder = folderWith({ 'toolwell.json': { mcpServers: { slow } } })
    let time = 0
    const { errors, code } = await toolwell(['inspect'], {
      folder,
      env: {
        XDG_CACHE_HOME: join(folder, 'cache'),
        XDG_CONFIG_HOME: join(folder, 'config'),
        XDG_DATA_HOME: join(folder, 'data'),
        XDG_STATE_HOME: join(folder, 'state'),
      },
      screen: { errors: 80 },
      now: () => (time += 600),
      // It is waited for until it has been shown that it is.
      onErrors() {
        for (const pid of running(mark)) process.kill(pid, 'SIGKILL')
      },
    })
    expect(code).toBe(2)
    expect(errors).toContain('Listing servers … 0 of 1, waiting for slow')
    expect(errors).toContain('\r\u001b[Ktoolwell: No server is usable: slow (failed).')
    // That it failed is kept, so that the next program need not wait for it, and nothing else.
    const kept = readdirSync(join(folder, 'cache', 'toolwell', 'servers'))
    expect(kept).toEqual([expect.stringMatching(/^slow-.*\.failed\.json$/)])
  })
})

describe('inspect of a catalogue', () => {
  it('counts and scans what is in files', async () => {
    const folder = folderWith({
      'tools.jsonl': [...issueTools, { ...poisoned, server: 'bad' }],
    })
    const { code, output } = await toolwell(['inspect', '--catalog', 'tools.jsonl', '--json'], { folder })
    expect(code).toBe(0)
    const servers = serversOf(output)
    expect(Object.keys(servers).sort()).toEqual(['bad', 'catalogue', 'forge', 'sky'])
    expect(servers.bad?.findings).toMatchObject([{ rule: 'secrecy', tool: 'add' }])
    expect(JSON.parse(output).tools).toHaveLength(5)
  })

  it('rejects a broken catalogue, and skips the broken part with --skip-broken', async () => {
    const folder = folderWith({ 'tools.jsonl': `{"name":"a"}\nbroken\n` })
    const refused = await toolwell(['inspect', '--catalog', 'tools.jsonl'], { folder })
    expect(refused).toMatchObject({ code: 2, output: '' })
    expect(refused.errors).toContain('tools.jsonl:2')
    const taken = await toolwell(['inspect', '--catalog', 'tools.jsonl', '--skip-broken'], { folder })
    expect(taken.code).toBe(0)
    expect(taken.errors).toContain('Skipped broken entries')
  })
})

describe('--max-tokens', () => {
  it('does not pass a figure that a server is missing from', async () => {
    const { run, folder } = homeWith({
      'toolwell.json': {
        mcpServers: {
          good: misbehaving({}),
          dead: { command: 'no-such-program-anywhere' },
          off: { command: 'x', enabled: false },
          wrong: { comand: 'x' },
        },
      },
    })
    const words = ['inspect', '--json', '--max-tokens']
    const { code, output, errors } = await run([...words, '100000'])
    expect(code).toBe(1)
    expect(JSON.parse(output)).toMatchObject({ isWithin: false, incomplete: ['dead', 'wrong'] })
    expect(errors).toContain('is incomplete: the tools of dead (failed), wrong (refused) are unknown.')
    expect(errors).not.toContain('above --max-tokens')
    const above = await run([...words, '1'])
    expect(above.code).toBe(1)
    expect(above.errors).toMatch(/more than --max-tokens 1\..*\n.*is incomplete/)
    // It is the gate alone that minds.
    expect((await run(['inspect'])).code).toBe(0)
    writeFileSync(join(folder, 'toolwell.json'), JSON.stringify({ mcpServers: { good: misbehaving({}) } }))
    const whole = await run([...words, '100000'])
    expect(whole.code).toBe(0)
    expect(JSON.parse(whole.output)).toMatchObject({ isWithin: true, incomplete: [] })
  })

  it('is a gate on what would be sent, and says which figure it is', async () => {
    const folder = folderWith({ 'tools.jsonl': issueTools })
    const words = ['inspect', '--catalog', 'tools.jsonl', '--json']
    const { surface } = JSON.parse((await toolwell(words, { folder })).output)
    const fits = await toolwell([...words, '--max-tokens', String(surface.tokens)], { folder })
    expect(fits).toMatchObject({ code: 0, errors: '' })
    expect(JSON.parse(fits.output)).toMatchObject({ maxTokens: surface.tokens, isWithin: true })
    const above = await toolwell([...words, '--max-tokens', String(surface.tokens - 1)], { folder })
    expect(above.code).toBe(1)
    expect(JSON.parse(above.output)).toMatchObject({ isWithin: false })
    expect(above.errors).toContain(
      `A request would carry ${surface.tokens} tokens of tools and prompt section (surface.tokens), 1 more than`,
    )
  })
})

it.each([
  [['inspect', 'x'], 'Unexpected argument "x".'],
  [['inspect', '--config', 'a', '--catalog', 'b'], '--config and --catalog cannot be combined.'],
  [['inspect', '--max-tokens', '0'], '--max-tokens "0" is not a valid number of tokens.'],
  [['inspect', '--max-tokens', '1e3'], '--max-tokens "1e3" is not a valid number of tokens.'],
  [['inspect', '--max-tokens=-4'], '--max-tokens "-4" is not a valid number of tokens.'],
  [['inspect', '--timeout', 'soon'], '--timeout "soon" is not a valid number of seconds.'],
  [['inspect', '--timeout', '0'], '--timeout "0" is not a valid number of seconds.'],
  [['inspect', '--conifg', 'a'], 'Did you mean --config?'],
])('%j is refused: %s', async (words, message) => {
  const { code, output, errors } = await toolwell(words)
  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(errors).toContain(message)
  expect(errors).toMatch(/See: toolwell inspect --help\n$/)
})
