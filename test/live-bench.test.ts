/** `npm run bench -- live`, end to end against the scripted endpoints, with a model that searches well, badly, or never. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonSchema } from '@toolwell/core'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  type Protocol,
  responsesProtocol,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Catalogue, loadCatalogue } from '../bench/live/servers.ts'
import { meanInterval, shareInterval } from '../bench/live/statistics.ts'
import { Backend, loadTasks, matches, toolsOf } from '../bench/live/tasks.ts'
import { type LiveResults, readSettings, runLive } from '../bench/live.ts'
import { isLong } from './setup/tier.ts'

const tasks = loadTasks()

/** The tools that the tasks name, with descriptions of ours. The long tier uses the real definitions. */
function ownCatalogue(): Catalogue {
  const names = new Set(tasks.flatMap(({ calls, also = [] }) => [...calls.flatMap(toolsOf), ...also]))
  const catalogue: Record<string, { name: string; description: string; inputSchema: JsonSchema }[]> = {}
  for (const each of names) {
    const [server = '', name = ''] = each.split('/')
    const description = `To ${name.replaceAll('_', ' ')}.`
    catalogue[server] ??= []
    catalogue[server].push({ name, description, inputSchema: { type: 'object', properties: {} } })
  }
  return catalogue
}

type Fields = Record<string, unknown>
const list = (value: unknown) => (Array.isArray(value) ? (value as Fields[]) : [])
const PROTOCOLS = {
  anthropic: () => withSearch(anthropicProtocol()),
  openai: () => withSearch(responsesProtocol()),
  google: googleProtocol,
  'openai-compatible': chatProtocol,
}

/** Adds what the provider's own search puts into a reply: before the first call, it finds the tool that the model calls. */
function withSearch<Body extends object>(protocol: Protocol<Body>): Protocol<Body> {
  return {
    ...protocol,
    answer: (scripted, body, context) => {
      const answered = protocol.answer(scripted, body, context)
      const tools = list((body as Fields).tools)
      const isOwn = ({ type, execution }: Fields) =>
        /^tool_search_tool_/.test(String(type)) || (type === 'tool_search' && execution !== 'client')
      const [name] = (scripted.calls ?? []).map((call) => call.name)
      if (name === undefined || !tools.some(isOwn)) return answered
      const reply = answered.object as Fields
      const id = `${name}_${context.index}`
      const content = [
        {
          type: 'server_tool_use',
          id: `srvtoolu_${id}`,
          name: 'tool_search_tool_bm25',
          input: { query: name },
        },
        {
          type: 'tool_search_tool_result',
          tool_use_id: `srvtoolu_${id}`,
          content: {
            type: 'tool_search_tool_search_result',
            tool_references: [{ type: 'tool_reference', tool_name: name }],
          },
        },
        ...list(reply.content),
      ]
      const found = tools.filter((tool) => tool.name === name)
      const search = { execution: 'server', call_id: null, status: 'completed' }
      const output = [
        { type: 'tool_search_call', id: `tsc_${id}`, ...search, arguments: { paths: [name] } },
        { type: 'tool_search_output', id: `tso_${id}`, ...search, tools: found },
        // A function that a search loads lives in a namespace with its name.
        ...list(reply.output).map((item) => ({ ...item, namespace: name })),
      ]
      return { ...answered, object: { ...reply, ...(reply.content ? { content } : { output }) } }
    },
  }
}

/** `~` marks a text that must be contained. A model sends the text itself. */
const sent = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'string' ? each.replace(/^~/, '') : each)))

const history = (body: Fields) => list(body.messages ?? body.input ?? body.contents)
const turns = (body: Fields) =>
  history(body).filter(
    ({ role, type }) =>
      role === 'assistant' || role === 'model' || type === 'function_call' || type === 'tool_search_call',
  ).length

function names(body: Fields): string[] {
  return list(body.tools).flatMap((tool) => [
    ...list(tool.functionDeclarations).map(({ name }) => String(name)),
    String(
      (tool.function as Fields | undefined)?.name ??
        tool.name ??
        (tool.execution === 'client' ? tool.type : ''),
    ),
  ])
}

/** A model that finds out what to do from the request alone, as a real one does. */
function model(kind: 'well' | 'badly' | 'never') {
  return (body: object): ScriptedReply => {
    const fields = body as Fields
    const text = JSON.stringify(history(fields))
    const task = tasks.find(({ prompt }) => text.includes(JSON.stringify(prompt).slice(1, -1)))
    if (!task) throw new Error('The request has no task.')
    const offered = names(fields)
    const searches = offered.includes('tool_search')
    const call = (tool: string, input: unknown): ScriptedReply => {
      const name = tool.replace('/', '__')
      return offered.includes('tool_call')
        ? { calls: [{ name: 'tool_call', arguments: { name, arguments: input } }] }
        : { calls: [{ name, arguments: input }] }
    }
    const search = (query: string): ScriptedReply => ({
      calls: [{ name: 'tool_search', arguments: { query } }],
    })
    const steps: ScriptedReply[] = []
    if (kind === 'well') {
      const wanted = task.calls.map((each) => toolsOf(each)[0] ?? '')
      if (searches) steps.push(search(`select:${wanted.map((each) => each.replace('/', '__')).join(',')}`))
      for (const [index, { input }] of task.calls.entries())
        steps.push(call(wanted[index] ?? '', sent(input)))
    }
    if (kind === 'badly') {
      if (searches) steps.push(search('the weather on mars'), search('select:maps__maps_elevation'))
      steps.push(call('maps/maps_elevation', { locations: [{ latitude: 0, longitude: 0 }] }))
    }
    return (
      steps[turns(fields)] ?? {
        text: kind === 'well' ? `Done. ${task.answer?.join(' ') ?? ''}` : 'I do not know.',
      }
    )
  }
}

interface Played {
  readonly code: number
  readonly printed: string
  readonly results: LiveResults
  readonly folder: string
}

async function play(
  provider: keyof typeof PROTOCOLS,
  kind: 'well' | 'badly' | 'never',
  words: readonly string[] = ['--tasks', '4'],
  load: () => Promise<Catalogue> = async () => ownCatalogue(),
): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-live-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const endpoint = await startScriptedEndpoint<object>(PROTOCOLS[provider]() as never, { model: model(kind) })
  onTestFinished(() => endpoint.close())
  const out = join(folder, 'results.json')
  const env = { ANTHROPIC_API_KEY: 'secret-key', OPENAI_API_KEY: 'secret-key', GEMINI_API_KEY: 'secret-key' }
  let printed = ''
  const all = ['--provider', provider, '--model', 'any', '--base-url', endpoint.url, '--out', out, ...words]
  const code = await runLive(
    all,
    provider === 'openai-compatible' ? {} : env,
    (text) => (printed += text),
    load,
  )
  expect(endpoint.requests.map(({ violation }) => violation).filter(Boolean)).toEqual([])
  const text = readFileSync(out, 'utf8')
  expect(text).not.toContain('secret-key')
  expect(text).not.toContain(endpoint.url)
  return { code, printed, results: JSON.parse(text) as LiveResults, folder }
}

const WAYS = {
  anthropic: ['every tool', 'provider search', 'toolwell bridge', 'toolwell append', 'toolwell native'],
  openai: ['every tool', 'provider search', 'toolwell bridge', 'toolwell append', 'toolwell native'],
  google: ['every tool', 'toolwell bridge', 'toolwell append'],
  'openai-compatible': ['every tool', 'toolwell bridge', 'toolwell append'],
} as const

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('on the wire of %s', (provider) => {
  it('a model that searches well does every task in every way', async () => {
    const { code, printed, results } = await play(provider, 'well')
    expect(code).toBe(0)
    expect(results.runs.filter(({ success }) => !success)).toEqual([])
    expect(Object.keys(results.summary)).toEqual(WAYS[provider])
    for (const [way, { runs, success, wrong, searches, input }] of Object.entries(results.summary)) {
      expect({ way, runs, success: success.mean, wrong: wrong.mean }).toEqual({
        way,
        runs: 4,
        success: 1,
        wrong: 0,
      })
      expect(searches.mean).toBe(way === 'every tool' ? 0 : 1)
      expect(input.mean).toBeGreaterThan(0)
      expect(printed).toContain(way)
    }
  })

  it('a model that searches badly fails, and its wrong calls and searches are counted', async () => {
    const { results } = await play(provider, 'badly')
    for (const [way, { success, wrong, searches }] of Object.entries(results.summary)) {
      expect({ way, success: success.mean, wrong: wrong.mean }).toEqual({ way, success: 0, wrong: 1 })
      expect(searches.mean).toBe(way === 'every tool' ? 0 : way === 'provider search' ? 1 : 2)
    }
    expect(results.runs[0]?.wrong).toEqual(['maps/maps_elevation'])
  })

  it('a model that never searches and never calls fails without a wrong call', async () => {
    const { results } = await play(provider, 'never')
    for (const { success, wrong, searches } of Object.values(results.summary))
      expect([success.mean, wrong.mean, searches.mean]).toEqual([0, 0, 0])
    expect(results.runs[0]?.reason).toBe('no call of files/read_text_file with the expected arguments')
  })
})

it.runIf(isLong)(
  'every task names real tools, and its arguments fit their schemas',
  { timeout: 900_000 },
  async () => {
    const catalogue = await loadCatalogue()
    const known = Object.entries(catalogue).flatMap(([server, tools]) =>
      tools.map(({ name }) => `${server}/${name}`),
    )
    expect(known.length).toBeLessThanOrEqual(126)
    expect(Object.keys(catalogue)).toHaveLength(12)
    const used = tasks.flatMap(({ calls, also = [] }) => [...calls.flatMap(toolsOf), ...also])
    expect(used.filter((name) => !known.includes(name))).toEqual([])
    // Every key that a task expects is a parameter of the tool.
    for (const { id, calls } of tasks)
      for (const call of calls) {
        const [server = '', name] = (toolsOf(call)[0] ?? '').split('/')
        const schema = catalogue[server]?.find((tool) => tool.name === name)?.inputSchema
        for (const key of Object.keys(call.input))
          expect([id, schema?.properties]).toEqual([
            id,
            expect.objectContaining({ [key]: expect.anything() }),
          ])
      }
  },
)

it.runIf(isLong).each(Object.keys(WAYS) as (keyof typeof WAYS)[])(
  'every way sends the real definitions on the wire of %s without breaking a rule',
  { timeout: 900_000 },
  async (provider) => {
    const { code, results } = await play(provider, 'never', ['--tasks', '2'], loadCatalogue)
    expect(code).toBe(0)
    expect(results.tools).toBeGreaterThan(100)
    expect(
      results.runs.map(({ reason }) => reason).filter((reason) => !reason?.startsWith('no call of')),
    ).toEqual([])
    const { 'every tool': all, 'toolwell bridge': bridge } = results.summary
    expect(all?.input.mean).toBeGreaterThan(3 * (bridge?.input.mean ?? 0))
  },
)

it('continues where it stopped at the budget, and refuses results of another model', async () => {
  const priced = ['--tasks', '4', '--price', '1,0.1,5']
  const { printed, results, folder } = await play('openai-compatible', 'well', [
    ...priced,
    '--budget',
    '0.005',
  ])
  expect(printed).toContain('Stopped at the budget')
  expect(results.runs.length).toBeGreaterThan(0)
  expect(results.runs.length).toBeLessThan(12)
  expect(results.summary['every tool']?.dollars?.mean).toBeGreaterThan(0)

  const out = join(folder, 'results.json')
  const again = async (name: string) => {
    const endpoint = await startScriptedEndpoint(chatProtocol(), { model: model('well') })
    onTestFinished(() => endpoint.close())
    const words = [
      '--provider',
      'openai-compatible',
      '--model',
      name,
      '--base-url',
      endpoint.url,
      '--out',
      out,
      ...priced,
    ]
    const code = await runLive(
      words,
      {},
      () => {},
      async () => ownCatalogue(),
    )
    return {
      code,
      requests: endpoint.requests.length,
      results: JSON.parse(readFileSync(out, 'utf8')) as LiveResults,
    }
  }
  const more = await again('any')
  expect(more.results.runs).toHaveLength(12)
  expect(more.results.runs.slice(0, results.runs.length)).toEqual(results.runs)
  const sum = more.results.runs.reduce((total, { requests }) => total + requests, 0)
  const before = results.runs.reduce((total, { requests }) => total + requests, 0)
  expect(more.requests).toBe(sum - before)
  expect(await again('any')).toMatchObject({ code: 0, requests: 0 })
  expect(await again('other')).toMatchObject({ code: 1, requests: 0 })
})

it('a refused way is recorded with the reason, and a refused key stops the bench', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-live-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [status, code] of [
    [400, 0],
    [401, 1],
  ] as const) {
    const endpoint = await startScriptedEndpoint(chatProtocol(), {
      model: () => ({ status, error: 'not today' }),
    })
    onTestFinished(() => endpoint.close())
    const out = join(folder, `${status}.json`)
    const words = [
      '--provider',
      'openai-compatible',
      '--model',
      'any',
      '--base-url',
      endpoint.url,
      '--out',
      out,
    ]
    expect(
      await runLive(
        [...words, '--tasks', '1'],
        {},
        () => {},
        async () => ownCatalogue(),
      ),
    ).toBe(code)
    if (status !== 400) continue
    const { runs } = JSON.parse(readFileSync(out, 'utf8')) as LiveResults
    expect(runs.map(({ reason }) => reason)).toEqual(
      runs.map(() => expect.stringMatching(/^refused: 400 .*not today/)),
    )
  }
})

it.each<[string, string[]]>([
  ['ANTHROPIC_API_KEY is not set', ['--provider', 'anthropic', '--model', 'any']],
  ['OPENAI_API_KEY is not set', ['--provider', 'openai', '--model', 'any']],
  ['GEMINI_API_KEY is not set', ['--provider', 'google', '--model', 'any']],
  ['needs --base-url', ['--provider', 'openai-compatible', '--model', 'any']],
  ['--provider needs one of', ['--provider', 'other']],
  ['--model is missing', ['--provider', 'google']],
  [
    '--budget needs --price',
    ['--provider', 'openai-compatible', '--model', 'a', '--base-url', 'http://127.0.0.1', '--budget', '2'],
  ],
])('says what is missing: %s', (sentence, words) => {
  expect(() => readSettings(words, {})).toThrow(sentence)
})

it('prints one sentence for a missing key, and exits with 1', () => {
  const { ANTHROPIC_API_KEY: _, ...env } = process.env
  const words = ['--import', 'tsx', 'bench/run.ts', 'live', '--provider', 'anthropic', '--model', 'any']
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env })
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'ANTHROPIC_API_KEY is not set. Set it to your API key and run the command again.\n',
  })
})

it('judges by the recorded calls and the answer', () => {
  const task = {
    id: 'demo',
    prompt: '',
    calls: [{ tool: ['a/read', 'a/open'], input: { path: '/x', tags: ['~red'] }, result: 'seven' }],
    also: ['a/list'],
    answer: ['seven'],
  }
  const backend = new Backend(task)
  expect(backend.call('a/list', {})).toBe('No results.')
  expect(backend.call('a/read', { path: '/y' })).toBe('No results.')
  expect(backend.judge('seven')).toContain('no call of a/read')
  expect(backend.call('a/open', { path: '/X/', tags: ['blue', 'dark red'], more: 1 })).toBe('seven')
  expect(backend.judge('six')).toBe('the answer lacks "seven"')
  expect(backend.judge('It is Seven.')).toBeUndefined()
  backend.call('b/delete', {})
  expect(backend.wrong).toEqual(['b/delete'])
  expect(matches({ n: 7 }, { n: '7' })).toBe(true)
})

it('gives intervals that hold the mean and narrow with more runs', () => {
  const few = shareInterval(9, 10)
  const many = shareInterval(90, 100)
  expect([few.low, few.high].map((value) => value.toFixed(3))).toEqual(['0.596', '0.982'])
  expect(many.high - many.low).toBeLessThan(few.high - few.low)
  const { mean, low, high } = meanInterval([1, 2, 3, 4, 5, 6])
  expect(mean).toBe(3.5)
  expect(low).toBeLessThan(mean)
  expect(high).toBeGreaterThan(mean)
})
