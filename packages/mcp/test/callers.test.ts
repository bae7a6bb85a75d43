/** Facts about the caller that a server learns, and messages that return to that caller only. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import {
  type Caller,
  connectServers,
  defineServer,
  type LogMessage,
  memoryCache,
  memoryFirstUse,
} from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { oddServer } from './support/odd-server.js'
import { eventually } from './support/processes.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

const elicit = async () => ({ action: 'decline' as const })
const sample = async () => ({
  model: 'm',
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'x' },
})
const roots = () => [{ uri: 'file:///somewhere' }]

describe('capabilities a server receives', () => {
  const told = async (caller: Caller) => {
    const { text } = await setup([oddServer('odd', { more: true })])
    return JSON.parse(await text('odd', 'told', {}, { caller })).capabilities
  }

  it.each<[string, Caller, object]>([
    ['nothing without handlers', { client: 'a' }, {}],
    [
      'forms, plain completions and roots of handlers alone',
      { handlers: { elicit, sample, roots } },
      { elicitation: { form: {} }, sampling: {}, roots: {} },
    ],
    [
      'what is said of them',
      {
        handlers: { elicit, sample, roots },
        capabilities: { elicitation: { url: {} }, sampling: { tools: {} }, roots: { listChanged: true } },
      },
      { elicitation: { url: {} }, sampling: { tools: {} }, roots: { listChanged: true } },
    ],
    [
      'no more than what is said, whatever there are handlers for',
      { handlers: { elicit, sample }, capabilities: { elicitation: {} } },
      { elicitation: { form: {} } },
    ],
    ['nothing of a handler for logs', { handlers: { log: () => undefined } }, {}],
  ])('are %s', async (_, caller, announced) => {
    expect(await told(caller)).toEqual(announced)
  })

  it('do not mix: callers with different capabilities have separate servers', async () => {
    const { text } = await setup([oddServer('odd')])
    const pid = (caller: Caller) => text('odd', 'pid', {}, { caller })
    const form: Caller = { client: 'a', handlers: { elicit } }
    const url: Caller = { client: 'b', handlers: { elicit }, capabilities: { elicitation: { url: {} } } }
    const same: Caller = { client: 'c', handlers: { elicit }, capabilities: { elicitation: { form: {} } } }
    expect(await pid(form)).not.toBe(await pid(url))
    expect(await pid(form)).toBe(await pid(same))
  })

  it('of roots that change reach the server when they do', async () => {
    const log = join(temporary(), 'log')
    const { text, servers } = await setup([oddServer('odd', { log })])
    const fixed: Caller = { client: 'fixed', handlers: { roots } }
    const moving: Caller = {
      client: 'moving',
      handlers: { roots },
      capabilities: { roots: { listChanged: true } },
    }
    for (const caller of [fixed, moving]) {
      await text('odd', 'echo', {}, { caller })
      await servers.rootsChanged(caller)
    }
    await eventually(() => readFileSync(log, 'utf8').includes('roots changed'), 'the server was told')
    expect(readFileSync(log, 'utf8').match(/roots changed/g)).toHaveLength(1)
  })
})

describe('a caller that says something else than it means', () => {
  const refusal = async (caller: object) => {
    const { servers } = await setup([oddServer('odd')])
    return servers
      .call('odd', 'echo', {}, { caller: caller as Caller })
      .catch((error: Error) => error.message)
  }

  it.each([
    [{ handlers: { elicitation: elicit } }, /Unknown option "elicitation" in caller\.handlers/],
    [{ handlers: { elicit: true } }, /caller\.handlers\.elicit must be a function/],
    [{ workspce: '/a' }, /Unknown option "workspce" in caller\. Did you mean "workspace"\?/],
    [{ workspace: 'a' }, /must be the absolute path of a folder/],
    [{ era: '2025' }, /must be "modern" or "legacy"/],
    [{ logLevel: 'loud' }, /must be one of debug, info/],
    [{ capabilities: { sampling: {} } }, /needs caller\.handlers\.sample/],
    [{ capabilities: { tasks: {} } }, /Unknown option "tasks"/],
  ])('is refused: %j', async (caller, message) => {
    expect(await refusal(caller)).toMatch(message)
  })

  it('is refused at the start too', () => {
    const options = { cache: memoryCache(), firstUse: memoryFirstUse(), logs: false as const }
    const connect = (handlers: object) => () =>
      connectServers(createToolwell().catalogue, [], { ...options, handlers })
    expect(connect({ elicits: elicit })).toThrow(/Did you mean "elicit"\?/)
    expect(connect({ log: 'console' })).toThrow(/handlers\.log must be a function/)
    const well = createToolwell()
    const given = (catalogue: unknown, config: unknown) => () =>
      connectServers(catalogue as typeof well.catalogue, config as never, options)
    expect(given(well, [])).toThrow(
      'connectServers takes the catalogue: connectServers(well.catalogue, config).',
    )
    expect(given(well.catalogue, 'toolwell.json')).toThrow("loadConfig({ files: ['toolwell.json'] })")
  })
})

describe('tools that join while a server runs', () => {
  it('are known to all when the caller that sees them has no more capabilities than the lister', async () => {
    const { text, well } = await setup([oddServer('odd')], { handlers: { elicit, sample } })
    await text('odd', 'change', { name: 'fresh' }, { caller: { handlers: { elicit } } })
    expect(await text('odd', 'fresh', { a: 1 }, { caller: { handlers: { elicit } } })).toBe('{"a":1}')
    expect(well.catalogue.get('odd/fresh')).toBeDefined()
  })

  it('are not when it can do more: others may not be shown them', async () => {
    const { text, well, servers } = await setup([oddServer('odd')])
    await text('odd', 'change', { name: 'fresh' }, { caller: { handlers: { elicit } } })
    await expect(servers.call('odd', 'fresh', {})).rejects.toMatchObject({ kind: 'unknown-tool' })
    expect(well.catalogue.get('odd/fresh')).toBeUndefined()
  })
})

describe('what goes with a call', () => {
  it('is in _meta, but for what is ours to say', async () => {
    const { text } = await setup([oddServer('odd', { more: true })])
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    const meta = {
      ...trace,
      progressToken: 'theirs',
      'io.modelcontextprotocol/clientInfo': { name: 'other' },
    }
    expect(JSON.parse(await text('odd', 'told', {}, { meta })).meta).toEqual(trace)
    const seen: unknown[] = []
    const options = { meta, onProgress: (each: unknown) => seen.push(each) }
    expect(await text('odd', 'progress', {}, options)).toBe('done')
    expect(seen.at(-1)).toMatchObject({ progress: 3 })
  })
})

describe('an error of the protocol', () => {
  it('keeps its code and data, without secrets', async () => {
    const server = oddServer('odd', { more: true }, { secrets: ['s3cr3t-token-1'] })
    const { servers } = await setup([server])
    const data = { elicitations: [{ mode: 'url', url: 'https://example.com/s3cr3t-token-1' }], n: 1 }
    await expect(servers.call('odd', 'refuse', { code: -32050, data })).rejects.toMatchObject({
      kind: 'error',
      code: -32050,
      data: { elicitations: [{ mode: 'url', url: 'https://example.com/***' }], n: 1 },
      message: expect.stringContaining('Not like this'),
    })
    await expect(servers.call('odd', 'refuse', { code: -32602 })).rejects.toMatchObject({
      code: -32602,
      data: undefined,
    })
  })

  it('has none where the server said nothing', async () => {
    const { servers } = await setup([oddServer('odd')])
    const failure = await servers.call('odd', 'die', {}).catch((error: unknown) => error)
    expect(failure).toMatchObject({ kind: 'lost', code: undefined })
  })
})

describe('what a server logs', () => {
  const listener = (client: string, more: Omit<Caller, 'handlers'> = {}) => {
    const lines: LogMessage[] = []
    const caller: Caller = { client, ...more, handlers: { log: (line) => lines.push(line) } }
    return { caller, lines }
  }

  it('reaches the caller whose call it is, without secrets', async () => {
    const { text } = await setup([oddServer('odd', { more: true }, { secrets: ['s3cr3t-token-1'] })])
    const ada = listener('ada')
    const bob = listener('bob')
    await text('odd', 'log', { data: { with: 's3cr3t-token-1' } }, { caller: ada.caller })
    await text('odd', 'log', {}, { caller: bob.caller })
    await text('odd', 'log', {})
    expect(ada.lines).toEqual([
      { level: 'debug', logger: 'odd', data: { with: '***' } },
      { level: 'warning', logger: 'odd', data: { with: '***' } },
    ])
    expect(bob.lines.map(({ data }) => data)).toEqual(['debug', 'warning'])
  })

  it('comes from the level on that was asked for, and the server is asked for it once', async () => {
    const log = join(temporary(), 'log')
    const { text } = await setup([oddServer('odd', { more: true, log })])
    const ada = listener('ada', { logLevel: 'warning' })
    const bob = listener('bob', { logLevel: 'info' })
    for (const { caller } of [ada, ada, bob, ada]) await text('odd', 'log', {}, { caller })
    expect(ada.lines.map(({ level }) => level)).toEqual(['warning', 'warning', 'warning'])
    expect(readFileSync(log, 'utf8').match(/level \w+/g)).toEqual(['level warning', 'level info'])
  })

  it('is kept from callers that it may not be meant for, and a listener that throws harms nobody', async () => {
    const { text, servers } = await setup([oddServer('odd', { more: true })])
    const ada = listener('ada')
    const abort = new AbortController()
    await text('odd', 'echo')
    const other = servers.call('odd', 'wait', {}, { signal: abort.signal }).catch(() => undefined)
    await text('odd', 'log', {}, { caller: ada.caller })
    expect(ada.lines).toEqual([])
    abort.abort()
    await other
    const log = () => {
      throw new Error('no')
    }
    expect(await text('odd', 'log', {}, { caller: { handlers: { log } } })).toBe('logged')
  })
})

describe('the era of a caller', () => {
  const program = fileURLToPath(new URL('support/modern-server.mjs', import.meta.url))
  const both = () => defineServer('both', { command: process.execPath, args: [program, 'stdio'] })

  it('is that of its connection, where the server speaks both', async () => {
    const { servers, text, report } = await setup([both()])
    expect(report('both').era).toBe('modern')
    const asked: string[] = []
    const handlers: Caller['handlers'] = {
      elicit: async ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: { name: 'ada' } }
      },
    }
    for (const era of ['legacy', 'modern'] as const)
      expect(await text('both', 'ask', { question: era }, { caller: { era, handlers } })).toBe(
        '{"name":"ada"}',
      )
    expect(asked).toEqual(['legacy', 'modern'])
    const eras = report('both').running.map(({ era }) => era)
    expect(eras.sort()).toEqual(['legacy', 'modern'])
    // What it speaks when it is asked to is not the newest that it speaks.
    expect(report('both')).toMatchObject({ era: 'modern', quarantined: new Map() })
    await servers.refresh('both')
    expect(report('both').era).toBe('modern')
  })

  it('makes no difference to a server that speaks only the older one: both share it', async () => {
    const { text, report } = await setup([oddServer('odd')])
    const pid = (era: 'legacy' | 'modern') => text('odd', 'pid', {}, { caller: { era } })
    expect(await pid('legacy')).toBe(await pid('modern'))
    expect(report('odd').running).toMatchObject([{ era: 'legacy' }])
  })

  it('is followed by the first call too, before anything is known of the server', async () => {
    const { text, report } = await setup([both()], { wait: false })
    expect(await text('both', 'echo', { question: 'x' }, { caller: { era: 'legacy' } })).toBe(
      '{"question":"x"}',
    )
    expect(report('both').running).toMatchObject([{ era: 'legacy' }])
    expect(report('both').era).toBe('modern')
  })

  it('gives way to a server that speaks only the newer one', async () => {
    const only = defineServer('only', { command: process.execPath, args: [program, 'stdio-modern'] })
    const { text, report } = await setup([only])
    for (let round = 0; round < 2; round++)
      expect(await text('only', 'echo', { question: 'x' }, { caller: { era: 'legacy' } })).toBe(
        '{"question":"x"}',
      )
    expect(report('only').running.every(({ era }) => era === 'modern')).toBe(true)
  })
})
