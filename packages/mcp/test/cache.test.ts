/** Definitions on disk: what was listed is there at the next start, and nothing that is wrong with a file is fatal. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  type DefinitionCache,
  defineServer,
  diskCache,
  loadConfig,
  memoryCache,
  memoryFirstUse,
  type ServerDefinition,
  type ServerWarning,
} from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { collectGarbage } from '../../../test/setup/collect-garbage.ts'
import { serverFingerprint } from '../src/definition/cache.js'
import { startModern } from './support/http-servers.js'
import { oddServer } from './support/odd-server.js'
import { play } from './support/play.js'
import { eventually } from './support/processes.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

const server = defineServer('one', { command: 'x', env: { TOKEN: 'very-secret' } })
const definition: ServerDefinition = {
  tools: [{ name: 'a', inputSchema: { type: 'object' } }],
  instructions: 'Use with care.',
  capabilities: { tools: {} },
  info: { name: 'x', version: '1' },
  era: 'legacy',
  ttlMs: undefined,
  cacheScope: 'private',
}

function open(folder = join(temporary(), 'cache')) {
  const warnings: ServerWarning[] = []
  const cache = diskCache({ folder, onWarning: (warning) => warnings.push(warning) })
  const files = () => (existsSync(folder) ? readdirSync(folder) : [])
  return { cache, warnings, folder, files, file: () => join(folder, files()[0] ?? '') }
}

describe('a cache', () => {
  it('gives back what was written, to nobody else, and holds no secret', () => {
    const { cache, file, files, folder } = open()
    expect(cache.read(server)).toBeUndefined()
    cache.write(server, definition, '', 1234)
    expect(cache.read(server)).toEqual({ definition: JSON.parse(JSON.stringify(definition)), savedAt: 1234 })
    expect(files()).toHaveLength(1)
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(readFileSync(file(), 'utf8')).not.toContain('very-secret')
    cache.forget(server)
    expect(cache.read(server)).toBeUndefined()
  })

  it('SF-5: belongs to one config: another argument, token or address is another server', () => {
    const prints = [
      defineServer('one', { command: 'x' }),
      defineServer('one', { command: 'y' }),
      defineServer('one', { command: 'x', args: ['z'] }),
      defineServer('one', { command: 'x', cwd: '/tmp' }),
      defineServer('one', { command: 'x', env: { TOKEN: 'a' } }),
      defineServer('one', { command: 'x', env: { TOKEN: 'b' } }),
      defineServer('one', { url: 'http://x' }),
      defineServer('one', { url: 'http://x', headers: { Authorization: 'a' } }),
      defineServer('two', { command: 'x' }),
    ].map((each) => serverFingerprint(each))
    expect(new Set(prints).size).toBe(prints.length)
    const same = defineServer('one', { command: 'x' }, { timeout: 5, deny: ['a'], lazy: false })
    expect(serverFingerprint(same)).toBe(prints[0])
  })

  it.each<[string, () => DefinitionCache]>([
    ['on disk', () => open().cache],
    ['in memory', memoryCache],
  ])(
    'answers in a new folder with what is known of the same entry in another, and of no other entry (%s)',
    (_, made) => {
      const base = temporary()
      const folders = ['one', 'two', 'same'].map((name) => join(base, name))
      for (const [at, folder] of folders.entries()) {
        mkdirSync(folder)
        writeFileSync(join(folder, '.env'), `TOKEN=${at === 1 ? 'second' : 'first'}\n`)
      }
      const [one = '', two = '', same = ''] = folders
      const read = (entry: object, workspaceFolder: string, file = join(base, 'toolwell.json')) => {
        const text = JSON.stringify({ mcpServers: { odd: { command: 'x', ...entry } } })
        const [found] = loadConfig({
          files: [{ path: file, text }],
          env: { KEY: 'a' },
          workspaceFolder,
        }).servers
        if (!found) throw new Error('it is a server')
        return found
      }
      const entries: object[] = [
        {},
        { args: ['--root', '${workspaceFolder}'] },
        { args: ['package@1'] },
        { args: ['package@2'] },
        { env: { WHERE: '${workspaceFolder}/notes' } },
        { env: { KEY: '${KEY}' } },
        { env: { KEY: 'b' } },
        { command: undefined, url: 'http://x/mcp', headers: { Where: '${workspaceFolder}' } },
        { envFile: '${workspaceFolder}/.env' },
      ]
      for (const written of entries) {
        const cache = made()
        cache.write(read(written, one), definition)
        const known = entries.filter((entry) => cache.read(read(entry, same)) !== undefined)
        expect(known).toEqual([written])
        // A token that is kept in the folder is not that of another one.
        expect(cache.read(read(written, two)) === undefined).toBe('envFile' in written)
        // The same words in the file of another project may be about another program.
        expect(cache.read(read(written, same, join(same, 'toolwell.json')))).toBeUndefined()
        // A listing made in its own folder counts.
        cache.write(read(written, same), { ...definition, instructions: 'Here it is another.' })
        expect(cache.read(read(written, one))?.definition.instructions).toBe('Use with care.')
        cache.forget(read(written, same))
        expect(cache.read(read(written, same))).toBeUndefined()
      }
    },
  )

  it('does not answer in one folder with what went wrong in another', () => {
    const base = temporary()
    const [one, two] = ['one', 'two'].map((name) => {
      const text = JSON.stringify({ mcpServers: { odd: { command: 'x' } } })
      const files = [{ path: join(base, 'toolwell.json'), text }]
      return loadConfig({ files, workspaceFolder: join(base, name) }).servers[0]
    })
    if (!one || !two) throw new Error('they are servers')
    const { cache } = open()
    cache.writeFailure?.(one, { at: 1, reason: 'it ended' })
    expect(cache.readFailure?.(one)).toEqual({ at: 1, reason: 'it ended' })
    expect(cache.readFailure?.(two)).toBeUndefined()
  })

  it.each([
    ['cut off', (text: string) => text.slice(0, -20), 'is damaged'],
    ['changed by hand', (text: string) => text.replace('with care', 'freely'), 'is damaged'],
    ['something else', () => '{"name":"other"}', 'was not written by Toolwell'],
    [
      'of another version',
      (text: string) => text.replace(/"toolwell":\d+/, '"toolwell":99'),
      'was written by another version',
    ],
    ['empty', () => '', 'is damaged'],
    ['binary', () => '\u0000\u0001', 'is damaged'],
  ])('sets a file aside that is %s', (_, damage, why) => {
    const { cache, warnings, file, files } = open()
    cache.write(server, definition)
    const path = file()
    writeFileSync(path, damage(readFileSync(path, 'utf8')))
    expect(cache.read(server)).toBeUndefined()
    expect(warnings).toEqual([
      {
        code: 'cache-damaged',
        text: `${path} ${why}; it was renamed to ${path}.unreadable, and the server will be asked again`,
      },
    ])
    expect(files()).toEqual([`${path.split('/').at(-1)}.unreadable`])
    cache.write(server, definition)
    expect(cache.read(server)?.definition.instructions).toBe('Use with care.')
  })

  it('SF-5: sets a file aside that belongs to another server', () => {
    const { cache, warnings, folder, file } = open()
    const other = defineServer('one', { command: 'other' })
    cache.write(other, definition)
    const text = readFileSync(file(), 'utf8')
    cache.forget(other)
    cache.write(server, definition)
    writeFileSync(file(), text)
    expect(cache.read(server)).toBeUndefined()
    expect(warnings[0]?.text).toMatch(/belongs to another server/)
    expect(existsSync(folder)).toBe(true)
  })

  it('that cannot be written causes one warning, and the work continues', async () => {
    const folder = temporary()
    writeFileSync(join(folder, 'file'), '')
    const { cache, warnings } = open(join(folder, 'file', 'cache'))
    const { text, report } = await setup([oddServer('odd')], { cache })
    expect(report('odd').state).toBe('cached')
    expect(await text('odd', 'echo', { a: 1 })).toBe('{"a":1}')
    expect(warnings).toEqual([
      {
        code: 'cache-unwritable',
        text: expect.stringContaining('definitions cannot be stored in '),
        fix: 'Make the folder writable, or choose another one',
      },
    ])
  })

  it('does not follow a link or folder in place of its files', () => {
    const folder = temporary()
    const { cache, warnings } = open(folder)
    cache.write(server, definition)
    const [name = ''] = readdirSync(folder)
    cache.forget(server)
    mkdirSync(join(folder, name))
    expect(cache.read(server)).toBeUndefined()
    expect(warnings[0]?.text).toMatch(/is a folder/)
    // A link is replaced by a new file, not written through.
    writeFileSync(join(folder, 'precious'), 'keep me')
    symlinkSync(join(folder, 'precious'), join(folder, name))
    cache.write(server, definition)
    expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('keep me')
    expect(cache.read(server)).toBeDefined()
    chmodSync(folder, 0o700)
  })
})

describe('how long a list holds', () => {
  it('a server that promised it is not listed again until then', async () => {
    let time = 1_000_000
    let lists = 0
    const { url } = await startModern({
      cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } },
      before: (request) => {
        if (request.headers['mcp-method'] === 'tools/list') lists++
        return false
      },
    })
    const { cache } = open()
    const config = [defineServer('modern', { url })]
    const start = async () => {
      const { text, servers } = await setup(config, { cache, now: () => time })
      expect(await text('modern', 'echo', { a: 1 })).toBe('{"a":1}')
      await servers.close()
      return lists
    }
    expect(await start()).toBe(1)
    time += 30_000
    expect(await start()).toBe(1)
    time += 60_000
    // Expired: one request renews the promise.
    expect(await start()).toBe(2)
  })

  it.each<[string, number, number]>([
    ['a day is the longest that a promise counts', 1e15, 86_400_000],
    ['no time is no promise', 0, 0],
  ])('%s', async (_, ttlMs, holds) => {
    let time = 1_000_000
    const log = join(temporary(), 'log')
    const lists = () => readFileSync(log, 'utf8').match(/list/g)?.length ?? 0
    const { url } = await listing({ ttlMs, log })
    const cache = memoryCache()
    const start = async (later: number) => {
      time += later
      const before = existsSync(log) ? lists() : 0
      const { text, servers } = await setup([defineServer('far', { url })], { cache, now: () => time })
      expect(await text('far', 'echo', {})).toBe('{}')
      await servers.close()
      return lists() - before
    }
    // Without one, the connection of the call is another one, and lists.
    expect(await start(0)).toBe(holds > 0 ? 1 : 2)
    if (holds > 0) expect(await start(holds - 1000)).toBe(0)
    expect(await start(2000)).toBe(1)
  })

  it.each(['local', 'remote'])('a promise hides no change (%s)', async (kind) => {
    let time = 1_000_000
    const folder = temporary()
    const changesWhile = join(folder, 'changed')
    const log = join(folder, 'log')
    const cache = memoryCache()
    const firstUse = memoryFirstUse()
    const manners = { ttlMs: 60_000, changesWhile, log }
    const server =
      kind === 'local'
        ? oddServer('odd', manners)
        : defineServer('odd', { url: (await listing(manners)).url })
    const start = () => setup([server], { cache, firstUse, now: () => time })
    const calls = () => readFileSync(log, 'utf8').match(/call echo/g)?.length ?? 0
    const first = await start()
    expect(await first.text('odd', 'echo', {})).toBe('{}')
    await first.servers.close()
    writeFileSync(changesWhile, '')
    const second = await start()
    if (kind === 'remote') {
      // It is the same server, and the model was shown what was approved.
      expect(await second.text('odd', 'echo', {})).toBe('{}')
      expect(second.servers.definition('odd')?.tools[0]?.description).toBe('Does echo.')
      time += 61_000
    }
    const last = kind === 'local' ? second : await start()
    // A process that is started now has promised nothing.
    const before = calls()
    await expect(last.servers.call('odd', 'echo', {})).rejects.toMatchObject({ kind: 'quarantined' })
    expect(calls()).toBe(before)
  })

  it('without a promise a local server is listed when it is started, and not before', async () => {
    const { cache } = open()
    const folder = temporary()
    const log = join(folder, 'log')
    const config = [oddServer('odd', { log })]
    await (await setup(config, { cache })).servers.close()
    expect(readFileSync(log, 'utf8').match(/start/g)).toHaveLength(1)
    const { well, text, events } = await setup(config, { cache })
    expect(well.catalogue.get('odd/echo')).toBeDefined()
    expect(readFileSync(log, 'utf8').match(/start/g)).toHaveLength(1)
    await text('odd', 'echo')
    expect(readFileSync(log, 'utf8').match(/start/g)).toHaveLength(2)
    expect(events.filter(({ kind }) => kind === 'server-listed')).toEqual([])
  })

  it('the first call updates an outdated cached list', async () => {
    const { cache } = open()
    const changesWhile = join(temporary(), 'changed')
    const config = [oddServer('odd', { changesWhile }, { trust: 'follow' })]
    await (await setup(config, { cache })).servers.close()
    writeFileSync(changesWhile, '')
    const { well, text, events } = await setup(config, { cache })
    expect(well.catalogue.get('odd/echo')?.tool.description).toBe('Does echo.')
    await text('odd', 'echo')
    await eventually(
      () => well.catalogue.get('odd/echo')?.tool.description === 'Changed.',
      'the change arrived',
    )
    expect(events).toContainEqual(expect.objectContaining({ kind: 'server-listed', changed: ['echo'] }))
  })
})

describe('what is made of a definition', () => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5)

  it('is stored next to it, per definition and use, and is deleted with it', () => {
    const { cache, folder, files } = open()
    cache.write(server, definition, '', 1)
    const index = cache.kept?.(server, definition, 'all')?.index
    expect(index?.read()).toBeUndefined()
    index?.write(bytes)
    cache.kept?.(server, definition, 'all')?.tokens.write(bytes)
    expect(
      files()
        .map((file) => file.split('.').at(-1))
        .sort(),
    ).toEqual(['index', 'jsonl', 'tokens'])
    for (const file of files()) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600)
    // Another process; and the same list, read from the server again at another time.
    const later = diskCache({ folder })
    later.write(server, structuredClone(definition), '', 2)
    const read = later.read(server)?.definition as ServerDefinition
    expect(Uint8Array.from(later.kept?.(server, read, 'all')?.index.read() ?? [])).toEqual(bytes)
    expect(later.kept?.(server, read, 'some')?.index.read()).toBeUndefined()
    const changed = { ...definition, instructions: 'Without care.' }
    later.write(server, changed)
    expect(later.kept?.(server, changed, 'all')?.index.read()).toBeUndefined()
    later.forget(server)
    expect(files()).toEqual([])
  })

  it('is not read where a byte of it is wrong', () => {
    const { cache, folder, files } = open()
    cache.write(server, definition)
    const index = cache.kept?.(server, definition, 'all')?.index
    index?.write(bytes)
    const file = join(folder, files().find((each) => each.endsWith('.index')) ?? '')
    const whole = readFileSync(file)
    for (const at of [0, 40, whole.length - 1]) {
      writeFileSync(file, Uint8Array.from(whole).with(at, (whole[at] ?? 0) ^ 1))
      expect(index?.read()).toBeUndefined()
    }
    for (const content of ['', 'x', whole.subarray(0, 64)]) {
      writeFileSync(file, content)
      expect(index?.read()).toBeUndefined()
    }
    writeFileSync(file, whole)
    expect(Uint8Array.from(index?.read() ?? [])).toEqual(bytes)
  })

  it('makes a second start answer the same search from it, with no server started', async () => {
    const { cache, files } = open()
    const config = [oddServer('one', {}), oddServer('two', { count: 50 }, { deny: ['tool_1*'] })]
    const search = async () => {
      const { well, servers } = await setup(config, { cache })
      const model = await play(well, 'a')
      const answers = [
        await model.search('echo'),
        await model.search('tool_27'),
        await model.search('tool_12'),
      ]
      const starts = servers.inspect().map((each) => each.starts)
      await servers.close()
      return { answers, starts }
    }
    const first = await search()
    for (const part of ['.index', '.tokens'])
      expect(files().filter((file) => file.endsWith(part))).toHaveLength(2)
    const second = await search()
    expect(second.answers).toEqual(first.answers)
    expect(second.answers.join()).toContain('two__tool_27')
    expect(second.answers.join()).not.toContain('two__tool_12')
    expect([first.starts, second.starts]).toEqual([
      [1, 1],
      [0, 0],
    ])
  })
})

describe('schemas in the file', () => {
  const odd = (tool: object) => ({ ...definition, tools: [tool] }) as unknown as ServerDefinition
  const readBack = (given: ServerDefinition) => {
    const { cache, folder, files } = open()
    cache.write(server, given)
    const read = diskCache({ folder }).read(server)?.definition
    return {
      read,
      lines: readFileSync(join(folder, files()[0] ?? ''), 'utf8')
        .trim()
        .split('\n'),
    }
  }

  it('stand behind the first line, one on each, and are read when they are wanted', () => {
    const inputSchema = { type: 'object', properties: { äöü: { const: 'x\n' } } }
    const outputSchema = { type: 'object', title: 'out' }
    const { read, lines } = readBack(odd({ name: 'a', outputSchema, inputSchema, title: 'A', new: [1] }))
    expect(lines).toHaveLength(3)
    expect(lines[0]).not.toContain('properties')
    const [tool] = read?.tools ?? []
    expect(Object.getOwnPropertyDescriptor(tool, 'inputSchema')?.get).toBeTypeOf('function')
    expect(tool?.inputSchema).toBe(tool?.inputSchema)
    expect(JSON.parse(JSON.stringify(tool))).toEqual({
      name: 'a',
      title: 'A',
      new: [1],
      inputSchema,
      outputSchema,
    })
  })

  it('are not held in memory when nobody holds them', async () => {
    const { read } = readBack(
      odd({ name: 'a', inputSchema: { type: 'object', title: 'in' }, outputSchema: {} }),
    )
    const [tool] = read?.tools ?? []
    const schemas = () => [tool?.inputSchema, tool?.outputSchema] as object[]
    const seen = schemas().map((schema) => new WeakRef(schema))
    await collectGarbage()
    expect(seen.map((schema) => schema.deref())).toEqual([undefined, undefined])
    expect(schemas()).toEqual([{ type: 'object', title: 'in' }, {}])
  })

  it.each([
    ['no schema', { name: 'a' }],
    ['a list', { name: 'a', inputSchema: [] }],
    ['text', { name: 'a', inputSchema: 'object', outputSchema: null }],
    ['another type', { name: 'a', inputSchema: { type: 'array' } }],
    ['no name', { name: ' ', inputSchema: { type: 'object' } }],
    [
      'fields like ours',
      { name: 'a', inputSchema: { type: 'object' }, spans: [0, 1], schemas: 7, __proto__x: 1 },
    ],
    ['an output that is none', { name: 'a', inputSchema: { type: 'object' }, outputSchema: null }],
  ])('give back what came, also %s', (_, tool) => {
    expect(JSON.parse(JSON.stringify(readBack(odd(tool)).read?.tools[0]))).toEqual(tool)
  })

  it('do not make a field the prototype of their tool', () => {
    const text = '{"name":"a","inputSchema":{"type":"object"},"__proto__":{"description":"x","_meta":{}}}'
    const [tool] = readBack(odd(JSON.parse(text))).read?.tools ?? []
    expect(tool?.description).toBeUndefined()
    expect(Object.getPrototypeOf(tool)).toBe(Object.prototype)
    expect(JSON.stringify(tool)).toBe(text)
  })

  it('are not believed where a byte of them is wrong', () => {
    const { cache, folder, files, warnings } = open()
    cache.write(server, definition)
    const file = join(folder, files()[0] ?? '')
    const whole = readFileSync(file)
    const at = whole.length - 4
    writeFileSync(file, Uint8Array.from(whole).with(at, (whole[at] ?? 0) ^ 1))
    expect(cache.read(server)).toBeUndefined()
    expect(warnings.map(({ text }) => text).join()).toMatch(/is damaged; it was renamed/)
  })

  it('are read by no start: only what is found is', async () => {
    const { cache, folder } = open()
    const config = [oddServer('two', { count: 50 })]
    const reads: string[] = []
    const counting = diskCache({ folder })
    const watched: typeof counting = {
      ...counting,
      read(asked, key) {
        const read = counting.read(asked, key)
        for (const tool of read?.definition.tools ?? []) {
          const { get } = Object.getOwnPropertyDescriptor(tool, 'inputSchema') ?? {}
          Object.defineProperty(tool, 'inputSchema', {
            enumerable: true,
            get() {
              reads.push(tool.name)
              return get?.call(tool)
            },
          })
        }
        return read
      },
    }
    const firstUse = memoryFirstUse()
    const search = async (kept: typeof counting) => {
      const { well, servers } = await setup(config, { cache: kept, firstUse })
      const answer = await (await play(well, 'a')).search('tool_27')
      await servers.close()
      return answer
    }
    const first = await search(cache)
    expect(await search(watched)).toEqual(first)
    expect(first).toContain('two__tool_27')
    expect(reads.length).toBeGreaterThan(0)
    expect(new Set(reads).size).toBeLessThan(10)
  })
})

it('skips entries of an older cache that are not tools', async () => {
  const cache = memoryCache()
  const bare = { name: 'bare' } as ServerDefinition['tools'][number]
  cache.write(server, { ...definition, tools: [bare, ...definition.tools] })
  const { report, events } = await setup([server], { cache })
  expect(report('one')).toMatchObject({ state: 'cached', starts: 0, tools: ['a'] })
  expect(report('one').unusable).toEqual([
    { entry: 1, name: 'bare', reason: expect.stringContaining('has no inputSchema') },
  ])
  expect(events).toContainEqual({
    kind: 'warning',
    server: 'one',
    code: 'entries-unusable',
    text: expect.stringMatching(/^1 of its entries cannot be used: entry 1 \(bare\) has no inputSchema/),
  })
})

it('examples in a config for tools that a server does not list are a warning', async () => {
  const cache = memoryCache()
  cache.write(server, definition)
  const { events } = await setup([{ ...server, examples: { a: ['do a'], nosuch: ['do b'] } }], { cache })
  expect(events).toContainEqual({
    kind: 'warning',
    server: 'one',
    code: 'tools-unknown',
    text: 'its config names tools that it does not list: "nosuch"',
    fix: 'Correct the names in `examples` and `insteadOf`.',
  })
})

/** A server over HTTP with given answers, also with promises that no library would make. */
async function listing({
  ttlMs,
  log,
  changesWhile = '',
}: {
  readonly ttlMs: unknown
  readonly log: string
  readonly changesWhile?: string
}) {
  const answer = (method: string) => {
    const description = existsSync(changesWhile) ? 'Changed.' : 'Does echo.'
    if (method === 'server/discover')
      return {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        serverInfo: { name: 'far', version: '1' },
        ttlMs: 0,
        cacheScope: 'private',
      }
    if (method === 'tools/list')
      return {
        resultType: 'complete',
        tools: [{ name: 'echo', description, inputSchema: { type: 'object' } }],
        ttlMs,
        cacheScope: 'private',
      }
    return { resultType: 'complete', content: [{ type: 'text', text: '{}' }] }
  }
  return startModern({
    before: (request, response) => {
      const method = String(request.headers['mcp-method'] ?? '')
      if (method === 'tools/list') appendFileSync(log, 'list\n')
      if (method === 'tools/call') appendFileSync(log, 'call echo\n')
      let body = ''
      request.on('data', (chunk) => {
        body += String(chunk)
      })
      request.on('end', () => {
        const { id, method: asked } = JSON.parse(body || '{}')
        response.setHeader('Content-Type', 'application/json')
        if (id === undefined) response.writeHead(202).end()
        else response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answer(asked) }))
      })
      return true
    },
  })
}
