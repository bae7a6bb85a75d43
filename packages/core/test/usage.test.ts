/** Learning from use: what is learned, from what, for whom, and what goes wrong without a search noticing. Through conversations. */
import { execFile } from 'node:child_process'
import { lstat, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createToolwell, type Tool, type ToolwellOptions, type UsageStore } from '@toolwell/core'
import { fileUsage } from '@toolwell/core/usage'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { tool } from './support/tools.js'

const tools: Tool[] = [
  tool('alpha', { source: 'lab', description: 'Arranges widgets on the bench.' }),
  tool('beta', { source: 'lab', description: 'Arranges widgets on the shelf.' }),
  tool('gamma', { source: 'lab', description: 'Paints widgets.' }),
]
const events: { kind: string; detail?: string }[] = []
const wellOf = (options: ToolwellOptions = {}) =>
  createToolwell({
    tools,
    mode: 'on',
    delivery: 'bridge',
    onEvent: (event) => events.push(event),
    ...options,
  })
type Well = ReturnType<typeof wellOf>

let opened = 0
/** One turn: a search, and calls of what it found. Gives what it showed. */
async function turn(
  well: Well,
  query: string,
  called: readonly string[] = [],
  principal = 'ann',
  fail = false,
) {
  opened += 1
  const conversation = await well.open({ id: `c${opened}`, principal })
  await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'none' })
  const run = (name: string, value: object, at: string) =>
    conversation.run([{ callId: at, anchor: at, name, input: { value } }], {
      execute: () => {
        if (fail) throw new Error('no')
        return 'done'
      },
    })
  const [answer] = await run(conversation.loader, { query }, 's')
  for (const [at, name] of called.entries()) await run('tool_call', { name, arguments: {} }, `k${at}`)
  if (answer?.outcome.kind !== 'search') throw new Error(answer?.text)
  return answer.outcome.result.matches
}
const first = async (well: Well, query: string, principal?: string) =>
  (await turn(well, query, [], principal))[0]?.canonicalName
const query = 'arrange widgets'

describe('what a search learns', () => {
  it('puts first what was called with success after the same words', async () => {
    const well = wellOf()
    expect(await first(well, query)).toBe('lab__alpha')
    await turn(well, query, ['lab__beta'])
    expect(await first(well, 'please arrange widgets')).toBe('lab__beta')
    expect(await well.usage.status()).toEqual({
      tools: 1,
      examples: 1,
      byTool: [{ tool: 'lab/beta', examples: 1 }],
    })
  })

  it.each<[string, () => Promise<unknown>, Well]>(
    (() => {
      const [failed, unseen, named] = [wellOf(), wellOf(), wellOf()]
      return [
        ['what failed', () => turn(failed, query, ['lab__beta'], 'ann', true), failed],
        ['what was not shown', () => turn(unseen, 'paints', ['lab__beta']), unseen],
        ['what was asked for by name', () => turn(named, 'select:lab__beta', ['lab__beta']), named],
      ]
    })(),
  )('learns nothing from %s', async (_, play, well) => {
    await play()
    expect((await well.usage.status()).examples).toBe(0)
  })

  it('learns nothing from a later turn', async () => {
    const well = wellOf()
    const conversation = await well.open({ id: 'turns' })
    const call = (name: string, value: object, at: string) =>
      conversation.run([{ callId: at, anchor: at, name, input: { value } }])
    await conversation.begin({ requestId: '1', anchor: 'a', wire: 'none' })
    await call(conversation.loader, { query }, 'search')
    await conversation.begin({ requestId: '2', anchor: 'search', wire: 'none' })
    // The reply to request 2 calls nothing: the user speaks.
    await conversation.begin({ requestId: '3', anchor: 'b', wire: 'none' })
    await call('tool_call', { name: 'lab__beta', arguments: {} }, 'later')
    expect((await well.usage.status()).examples).toBe(0)
  })

  it('is apart for each principal, unless the host shares it', async () => {
    const apart = wellOf()
    await turn(apart, query, ['lab__beta'], 'ann')
    expect(await first(apart, query, 'bob')).toBe('lab__alpha')
    const shared = wellOf({ search: { usage: { shared: true } } })
    await turn(shared, query, ['lab__beta'], 'ann')
    expect(await first(shared, query, 'bob')).toBe('lab__beta')
  })

  it('is dropped when the definition changes', async () => {
    const well = wellOf({ tools: [] })
    const publish = (description: string) =>
      well.catalogue.setSource('lab', {
        tools: tools.map(({ source: _, ...each }) =>
          each.name === 'beta' ? { ...each, description } : each,
        ),
      })
    publish('Arranges widgets on the shelf.')
    await turn(well, query, ['lab__beta'])
    expect(await first(well, query)).toBe('lab__beta')
    publish('Arranges widgets on the floor.')
    expect(await first(well, query)).toBe('lab__alpha')
  })

  it('shows a tool that matches only by use, and does not load it', async () => {
    const well = wellOf()
    await turn(well, 'widgets zither', ['lab__gamma'])
    for (let at = 0; at < 5; at += 1) await turn(well, 'zither widgets', ['lab__gamma'])
    const gamma = (await turn(well, 'zither')).find(({ canonicalName }) => canonicalName === 'lab__gamma')
    expect(gamma).toMatchObject({ fresh: false, status: 'available_lazy' })
  })

  it('is forgotten when asked to', async () => {
    const well = wellOf()
    await turn(well, query, ['lab__beta'])
    await well.usage.forget({ tool: 'lab/beta' })
    expect(await first(well, query)).toBe('lab__alpha')
    expect((await well.usage.status()).examples).toBe(0)
  })

  it('is not forgotten by a filter that means something else', async () => {
    const well = wellOf()
    await turn(well, query, ['lab__beta'])
    await expect(well.usage.forget({ tools: 'lab/beta' } as never)).rejects.toThrow('Did you mean "tool"?')
    const shared = wellOf({ search: { usage: { shared: true } } })
    await expect(shared.usage.forget({ principal: 'ann' })).rejects.toThrow('shared')
    // `user?.id` of nobody is not everybody.
    for (const filter of [{ principal: undefined }, { tool: undefined }, { tool: 5 }])
      await expect(well.usage.forget(filter as never)).rejects.toThrow('must be a string. Omit it')
    expect((await well.usage.status()).examples).toBe(1)
  })

  it('is the words of a query, and not its grammar', async () => {
    const well = wellOf()
    await turn(well, 'server:lab', ['lab__gamma'])
    await turn(well, 'server:lab +alpha', ['lab__alpha'])
    const words = (await well.usage.export()).map((example) => [example.tool, example.words.length])
    expect(words).toEqual([['lab/alpha', 1]])
  })

  it('of one principal is forgotten without the others', async () => {
    const well = wellOf()
    for (const principal of ['ann', 'bob']) await turn(well, query, ['lab__beta'], principal)
    await well.usage.forget({ principal: 'ann' })
    expect([await first(well, query, 'ann'), await first(well, query, 'bob')]).toEqual([
      'lab__alpha',
      'lab__beta',
    ])
    expect(await well.usage.export()).toEqual([
      expect.objectContaining({ tool: 'lab/beta', principal: expect.not.stringContaining('bob') }),
    ])
  })

  it('is the last eight examples of a tool', async () => {
    const well = wellOf()
    for (let at = 0; at < 20; at += 1) await turn(well, `arrange widgets number${at}`, ['lab__beta'])
    expect((await well.usage.status()).examples).toBe(8)
  })

  it('is nothing where the host says so', async () => {
    const well = wellOf({ search: { usage: false } })
    await turn(well, query, ['lab__beta'])
    expect(await first(well, query)).toBe('lab__alpha')
  })

  it('a replayed ledger has the same bytes, though the ranking has changed since', async () => {
    const well = wellOf()
    const conversation = await well.open({ id: 'kept', principal: 'ann' })
    await conversation.begin({ requestId: '1', anchor: 'a', wire: 'none' })
    const input = { value: { query } }
    await conversation.run([{ callId: 's', anchor: 's', name: conversation.loader, input }])
    const before = await conversation.begin({ requestId: '2', anchor: 's', wire: 'none' })
    await turn(well, query, ['lab__beta'])
    const again = await well.open({ id: 'kept', principal: 'ann' })
    expect(await again.begin({ requestId: '2', anchor: 's', wire: 'none' })).toEqual(before)
  })
})

describe('examples that the owner of a tool writes', () => {
  const withExamples = (examples: readonly string[]) =>
    tools.map((each) => (each.name === 'beta' ? { ...each, examples } : each))

  it('count as uses, and nobody sees them', async () => {
    const secret = 'tidy up widgets with key hunter2'
    const well = wellOf({ tools: withExamples([secret]) })
    const matches = await turn(well, 'tidy up widgets')
    expect(matches[0]?.canonicalName).toBe('lab__beta')
    expect(JSON.stringify([matches, await well.usage.export()])).not.toContain('hunter2')
  })

  it('take nothing from what the words find: it is loaded as before', async () => {
    const room = [
      tool('set_thermostat', { source: 'home', description: 'Sets the temperature of a room.' }),
      tool('set_light', { source: 'home', description: 'Switches a lamp in a room.' }),
    ]
    const asked = 'set the temperature of the living room'
    const loaded = async (examples: readonly string[]) => {
      const helpers = ['helper', 'aide'].map((name) =>
        tool(name, { source: 'bland', description: 'Helps.', examples }),
      )
      const matches = await turn(wellOf({ tools: [...room, ...helpers] }), asked)
      return matches.filter(({ fresh }) => fresh).map(({ canonicalName }) => canonicalName)
    }
    const cold = await loaded([])
    expect(cold).toEqual(['home__set_thermostat', 'home__set_light'])
    expect(await loaded([asked, asked, asked])).toEqual(cold)
  })

  it('count even if learning is off', async () => {
    const well = wellOf({ tools: withExamples(['tidy up widgets']), search: { usage: false } })
    expect(await first(well, 'tidy up widgets')).toBe('lab__beta')
  })

  it.each([
    ['of a hundred thousand characters', ['x '.repeat(50_000)]],
    ['in other scripts', ['ウィジェットを並べる', 'расставить виджеты', '']],
    ['of which there are thousands', Array.from({ length: 5000 }, (_, at) => `example ${at}`)],
  ])('may be %s', async (_, examples) => {
    expect(await first(wellOf({ tools: withExamples(examples) }), query)).toBe('lab__alpha')
  })

  it('have to be strings', () => {
    expect(() => wellOf({ tools: withExamples([5 as unknown as string]) })).toThrow(/examples/)
  })
})

describe('a file of what was learned', () => {
  const folders: string[] = []
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
  })
  const newFile = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'usage-'))
    folders.push(folder)
    return join(folder, 'deep', 'usage.jsonl')
  }
  const teach = async (path: string) => {
    const well = wellOf({ search: { usage: { store: fileUsage(path) } } })
    await turn(well, query, ['lab__beta'])
    await well.usage.flush()
  }

  it('outlives the process, and holds no word of a query', async () => {
    const path = await newFile()
    await teach(path)
    expect(await first(wellOf({ search: { usage: { store: fileUsage(path) } } }), query)).toBe('lab__beta')
    expect(await readFile(path, 'utf8')).not.toMatch(/arrange|widget|ann"/i)
  })

  it('behind a link is the file itself, and anything but a file stays unchanged', async () => {
    const path = await newFile()
    await teach(path)
    const link = `${path}.link`
    await symlink(path, link)
    await wellOf({ search: { usage: { store: fileUsage(link) } } }).usage.forget()
    expect(await readFile(path, 'utf8')).toBe('{"toolwell-usage":1}\n')
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    await expect(fileUsage(dirname(path)).forget({})).rejects.toThrow('is not a file. Use another path.')
  })

  it('is skipped line by line if broken', async () => {
    const path = await newFile()
    await teach(path)
    const text = await readFile(path, 'utf8')
    await writeFile(
      path,
      `{"toolwell-usage":1}\n{broken\n[]\n{"tool":5}\n\u0000\u0001\n${text.split('\n')[1]}\n{"principal":"", "to`,
    )
    expect(await first(wellOf({ search: { usage: { store: fileUsage(path) } } }), query)).toBe('lab__beta')
  })

  it('of a newer version is neither read nor changed, and a notice says so', async () => {
    const path = await newFile()
    await teach(path)
    const newer = '{"toolwell-usage":99}\nsomething else\n'
    await writeFile(path, newer)
    events.length = 0
    await teach(path)
    expect(await readFile(path, 'utf8')).toBe(newer)
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'usage-failed', detail: expect.stringContaining('newer') }),
    )
  })

  it.each([
    ['a newer version, however large', `{"toolwell-usage":99}\n${'x'.repeat(17 * 1024 * 1024)}\n`, 'newer'],
    ['another program', '{"name":"my-package","version":"1.0.0"}\n', 'not a usage file'],
    ['noise', '\u0000\u0001\u0002'.repeat(1000), 'not a usage file'],
  ])('of %s is not touched, not even to forget', async (_, text, words) => {
    const path = await newFile()
    await teach(path)
    await writeFile(path, text)
    const store = fileUsage(path)
    const example = { principal: '', tool: 't', fingerprint: 'f', words: [1] }
    await expect(store.append([example])).rejects.toThrow(words)
    await expect(store.read()).rejects.toThrow(words)
    const well = wellOf({ search: { usage: { store } } })
    await expect(well.usage.forget()).rejects.toThrow(words)
    expect(await first(well, query)).toBe('lab__alpha')
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  it('with a torn first line can be continued', async () => {
    const path = await newFile()
    await teach(path)
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.slice(5))
    await teach(path)
    expect(await fileUsage(path).read()).toHaveLength(2)
  })

  it('that is huge is read from its end, and becomes small', async () => {
    const path = await newFile()
    await teach(path)
    const [, line = ''] = (await readFile(path, 'utf8')).split('\n')
    await writeFile(
      path,
      `{"toolwell-usage":1}\n${`${line}\n`.repeat(Math.ceil((17 * 1024 * 1024) / line.length))}`,
    )
    const well = wellOf({ search: { usage: { store: fileUsage(path) } } })
    expect((await well.usage.status()).examples).toBe(8)
    expect(await first(well, query)).toBe('lab__beta')
    expect((await readFile(path, 'utf8')).split('\n').length).toBeLessThan(20)
  })

  it('of another catalogue counts for nothing', async () => {
    const path = await newFile()
    await teach(path)
    const other = tools.map((each) => ({ ...each, description: `${each.description} Indeed.` }))
    expect(await first(wellOf({ tools: other, search: { usage: { store: fileUsage(path) } } }), query)).toBe(
      'lab__alpha',
    )
  })

  it('takes what processes write at the same time', async () => {
    const path = await newFile()
    const program = `
      import { fileUsage } from '@toolwell/core/usage'
      const store = fileUsage(process.argv[1])
      for (let at = 0; at < 40; at += 1)
        await store.append([{ principal: '', tool: process.argv[2] + at, fingerprint: 'f', words: [at] }])`
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, path, name], {
          cwd: fileURLToPath(new URL('..', import.meta.url)),
        }),
      ),
    )
    expect(new Set((await fileUsage(path).read()).map((each) => each.tool)).size).toBe(120)
  })

  it('takes what two stores write', async () => {
    const path = await newFile()
    const stores = [fileUsage(path), fileUsage(path)]
    const example = (at: number) => ({ principal: '', tool: `t${at}`, fingerprint: 'f', words: [at] })
    await stores[0]?.append([example(0)])
    await Promise.all(Array.from({ length: 50 }, (_, at) => stores[at % 2]?.append([example(at + 1)])))
    expect(new Set((await fileUsage(path).read()).map((each) => each.tool)).size).toBe(51)
    await stores[1]?.forget({ tool: 't7' })
    expect((await fileUsage(path).read()).some((each) => each.tool === 't7')).toBe(false)
  })
})

describe('a store that fails', () => {
  const failing: UsageStore = {
    read: () => Promise.reject(new Error('gone')),
    append: () => Promise.reject(new Error('full')),
    forget: () => Promise.reject(new Error('locked')),
  }

  it('is reported, and no search fails', async () => {
    events.length = 0
    const well = wellOf({ search: { usage: { store: failing } } })
    await turn(well, query, ['lab__beta'])
    await well.usage.flush()
    expect(await first(well, query)).toBe('lab__beta')
    expect(events.filter(({ kind }) => kind === 'usage-failed').map(({ detail }) => detail)).toEqual([
      'could not be read: Error: gone',
      'could not be written: Error: full',
    ])
    await expect(well.usage.forget()).rejects.toThrow('locked')
  })

  describe('to answer', () => {
    const never = () => new Promise<never>(() => undefined)
    const silent: UsageStore = { read: never, append: never, forget: never }
    const late = 'The usage store did not answer within 5000 ms.'
    const told = () => events.filter(({ kind }) => kind === 'usage-failed').map(({ detail }) => detail)
    afterEach(() => vi.useRealTimers())
    const soon = async <T>(work: Promise<T>): Promise<PromiseSettledResult<T> | undefined> => {
      const settled = Promise.allSettled([work])
      await vi.advanceTimersByTimeAsync(5000)
      return (await settled)[0]
    }

    it('delays only one search, and is reported', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      events.length = 0
      const well = wellOf({ search: { usage: { store: silent } } })
      expect(await soon(first(well, query))).toMatchObject({ value: 'lab__alpha' })
      // No timer moves any more.
      expect(await first(well, query)).toBe('lab__alpha')
      expect(told()).toEqual(['was not read within 200 ms: searches continue without it until then'])
    })

    it('does not block status, export or forget without end', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const { usage } = wellOf({ search: { usage: { store: silent } } })
      for (const ask of [usage.status, usage.export, usage.forget])
        expect(await soon<unknown>(ask())).toMatchObject({ reason: { message: late } })
    })

    it('does not block a write or a forget without end', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      events.length = 0
      const well = wellOf({ search: { usage: { store: { ...silent, read: async () => [] } } } })
      await turn(well, query, ['lab__beta'])
      expect(await soon(well.usage.flush())).toMatchObject({ status: 'fulfilled' })
      expect(told()).toEqual([`could not be written: Error: ${late}`])
      expect(await soon(well.usage.forget())).toMatchObject({ reason: { message: late } })
    })

    it('does not end a program in the middle of its search', async () => {
      const program = `
        import { createToolwell } from '@toolwell/core'
        const never = () => new Promise(() => {})
        const tools = [{ name: 'lamp', description: 'Switches a lamp.', inputSchema: { type: 'object' } }]
        const well = createToolwell({ tools, mode: 'on', search: { usage: { store: { read: never, append: never, forget: never } } } })
        console.log((await well.direct().search({ query: 'switch the lamp' })).text)`
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
        cwd: fileURLToPath(new URL('..', import.meta.url)),
      })
      expect(stdout).toContain('lamp')
    })
  })

  it('in one entry keeps the others', async () => {
    const kept = wellOf()
    await turn(kept, query, ['lab__beta'])
    const [example] = await kept.usage.export()
    const entries = [null, { tool: 5 }, example]
    const store = { read: async () => entries, append: async () => undefined, forget: async () => undefined }
    const well = wellOf({ search: { usage: { store: store as unknown as UsageStore } } })
    expect(await first(well, query)).toBe('lab__beta')
  })

  it('that is none is refused', () => {
    expect(() => wellOf({ search: { usage: { store: {} as UsageStore } } })).toThrow(/usage\.store/)
    expect(() => wellOf({ search: { usage: { sharde: true } as never } })).toThrow(/shared/)
    expect(() => wellOf({ search: { usage: { shared: 'yes' as never } } })).toThrow(
      /usage\.shared must be true or false/,
    )
  })
})
