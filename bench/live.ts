/**
 * `npm run bench -- live`: plays 40 tasks with a real model, in turn with every tool sent, with the provider's own search, and with
 * each delivery of Toolwell. The definitions are real, the servers behind them are not. docs/reference/live-results.md describes it.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createToolwell, defineTool } from '@toolwell/core'
import { type Catalogue, loadCatalogue } from './live/servers.ts'
import { type Interval, meanInterval, shareInterval } from './live/statistics.ts'
import { Backend, loadTasks, type Task } from './live/tasks.ts'
import { type History, type LiveWire, type ProviderName, type TokenUse, WIRES } from './live/wires.ts'

/** Requests after which a run counts as failed. */
const MOST_REQUESTS = 15
const MOST_ATTEMPTS = 5
const REQUEST_LIMIT_MS = 600_000

export const USAGE = `Usage: npm run bench -- live --provider anthropic|openai|google|openai-compatible --model MODEL [flags]

  --tasks N                    play only the first N of 40 tasks
  --price INPUT,CACHED,OUTPUT  dollars for a million tokens, from the provider's price page
  --budget DOLLARS             stop before this is exceeded; needs --price
  --base-url URL               another server with the same protocol. An openai-compatible one needs no key
  --out FILE                   where the results are written, and read again to continue

The key is read from ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY.
`

/** A sentence for the user. The results so far are kept. */
class Stop extends Error {}

/** The provider refused this request, for example because it has too many tools. */
class Refusal extends Error {}

interface Price {
  readonly input: number
  readonly cached: number
  readonly output: number
}

interface Settings {
  readonly provider: ProviderName
  readonly wire: LiveWire
  readonly model: string
  readonly url: string
  readonly key: string
  readonly tasks: readonly Task[]
  readonly price: Price | undefined
  readonly budget: number
  readonly out: string
}

/** One task in one way. */
export interface Run extends TokenUse {
  readonly task: string
  readonly way: string
  readonly success: boolean
  /** Why it failed. */
  readonly reason?: string
  /** Called tools that do not belong to the task, or do not exist. */
  readonly wrong: readonly string[]
  readonly searches: number
  readonly requests: number
  readonly seconds: number
}

export interface LiveResults {
  readonly bench: 'live'
  readonly provider: ProviderName
  readonly model: string
  /** True if the requests went to another server than the provider's. */
  readonly ownServer: boolean
  /** Hash of definitions and tasks. Results with the same hash can be compared. */
  readonly fingerprint: string
  readonly tools: number
  readonly price?: Price
  readonly summary: Readonly<Record<string, Summary>>
  readonly runs: readonly Run[]
}

interface Summary extends Record<'searches' | 'wrong' | 'input' | 'cached' | 'output' | 'seconds', Interval> {
  readonly runs: number
  readonly success: Interval
  readonly dollars?: Interval
}

const dollars = ({ input, cached, written, output }: TokenUse, price: Price, writing: number): number =>
  ((input - cached - written) * price.input +
    cached * price.cached +
    written * price.input * writing +
    output * price.output) /
  1e6

export function readSettings(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings {
  const text = { type: 'string' } as const
  const options = {
    ...{ provider: text, model: text, tasks: text, price: text, budget: text },
    ...{ 'base-url': text, out: text },
  }
  let values: Partial<Record<keyof typeof options, string>>
  try {
    values = parseArgs({ args: [...words], options }).values
  } catch (error) {
    throw new Stop(`${(error as Error).message}\n\n${USAGE}`)
  }
  const { provider = '', model = '', 'base-url': baseUrl } = values
  if (!Object.hasOwn(WIRES, provider))
    throw new Stop(`--provider needs one of ${Object.keys(WIRES).join(', ')}.\n\n${USAGE}`)
  if (model === '') throw new Stop(`--model is missing.\n\n${USAGE}`)
  const wire: LiveWire = WIRES[provider as ProviderName]
  const url = baseUrl ?? wire.baseUrl
  if (url === '')
    throw new Stop(`--provider ${provider} needs --base-url, such as http://127.0.0.1:11434/v1.`)
  const isKeyless = provider === 'openai-compatible'
  const key = env[wire.key] ?? (isKeyless ? 'none' : '')
  if (key === '') throw new Stop(`${wire.key} is not set. Set it to your API key and run the command again.`)
  const number = (name: 'tasks' | 'budget', fallback: number) => {
    const value = Number(values[name] ?? fallback)
    if (!(value > 0)) throw new Stop(`--${name} needs a number above 0, not ${values[name]}.`)
    return value
  }
  const figures = values.price?.split(',').map(Number)
  const [input = 0, cached = 0, output = 0] = figures ?? []
  if (figures && (figures.length !== 3 || !figures.every((figure) => figure >= 0)))
    throw new Stop(
      '--price needs three prices for a million tokens, such as 1,0.1,5: input, cached input, output.',
    )
  if (values.budget !== undefined && !figures)
    throw new Stop('--budget needs --price INPUT,CACHED,OUTPUT to know what a request costs.')
  const name = `${provider}-${model}`.replace(/[^\w.-]+/g, '-')
  return {
    provider: provider as ProviderName,
    wire,
    model,
    url: url.replace(/\/+$/, ''),
    key,
    tasks: loadTasks().slice(0, number('tasks', Number.MAX_SAFE_INTEGER)),
    price: figures && { input, cached, output },
    budget: number('budget', Number.POSITIVE_INFINITY),
    out: values.out ?? `live-${name}.json`,
  }
}

/** Sends a request. Repeats it if the provider is busy. */
async function post({ wire, model, url, key }: Settings, body: object): Promise<Record<string, unknown>> {
  for (let attempt = 1; ; attempt++) {
    let problem: string
    let seconds = 2 ** attempt
    try {
      const response = await fetch(url + wire.path(model), {
        method: 'POST',
        headers: wire.headers(key),
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
      })
      const text = await response.text()
      if (response.ok) return JSON.parse(text) as Record<string, unknown>
      problem = `${response.status} ${text.slice(0, 300)}`
      const { status } = response
      if (status === 401 || status === 403 || status === 404)
        throw new Stop(`The provider answered ${problem}`)
      if (status < 500 && status !== 408 && status !== 429) throw new Refusal(problem)
      seconds = Number(response.headers.get('retry-after') ?? seconds)
    } catch (error) {
      if (error instanceof Stop || error instanceof Refusal) throw error
      problem = `${(error as Error).cause ?? error}`
    }
    if (attempt === MOST_ATTEMPTS)
      throw new Stop(
        `The provider failed ${attempt} times: ${problem}\nRun the same command again to continue.`,
      )
    await wait(seconds * 1000)
  }
}

/** What a way needs: the body for a history, and what to add after a reply. */
interface Loop {
  begin(history: History): Promise<{
    readonly parts: object
    answer(reply: Record<string, unknown>): Promise<{ readonly results: History; readonly unknown: number }>
  }>
  searches(): number
}

const nameOf = (wireName: string) => wireName.replace('__', '/')

function sources(catalogue: Catalogue, backend: Backend) {
  return Object.entries(catalogue).map(([server, tools]) => ({
    server,
    tools: tools.map(({ name, description = '', inputSchema, annotations }) =>
      defineTool({
        ...{ name, description, inputSchema, ...(annotations ? { annotations } : {}) },
        execute: (input: unknown) => backend.call(`${server}/${name}`, input),
      }),
    ),
  }))
}

async function toolwellLoop(
  { wire }: Settings,
  catalogue: Catalogue,
  backend: Backend,
  delivery: 'bridge' | 'append' | 'native' | 'eager',
): Promise<Loop> {
  const well = createToolwell(delivery === 'eager' ? { mode: 'off' } : { mode: 'on', delivery })
  for (const { server, tools } of sources(catalogue, backend)) well.catalogue.setSource(server, { tools })
  const conversation = await well.open({ id: 'live' })
  const adapter = wire.open(conversation)
  return {
    begin: async (history) => {
      const turn = await adapter.begin(history)
      return {
        parts: turn.parts,
        answer: async (reply) => {
          const { messages, answers } = await turn.run(reply)
          const unknown = answers.filter(({ outcome }) => outcome.kind === 'unknown').length
          return { results: [...messages], unknown }
        },
      }
    },
    searches: () => conversation.inspect().searchHistory.length,
  }
}

/** A loop without Toolwell. Its definitions are those that Toolwell sends with `mode: 'off'`, so that every way has the same. */
async function plainLoop(
  settings: Settings,
  catalogue: Catalogue,
  backend: Backend,
  way: string,
): Promise<Loop> {
  const { wire } = settings
  const off = await (await toolwellLoop(settings, catalogue, backend, 'eager')).begin([wire.user('Hello.')])
  // The marks of a cache belong to each way.
  const all = (off.parts as { tools: Record<string, unknown>[] }).tools.map(
    ({ cache_control: _, ...tool }) => tool,
  )
  const tools = way === 'provider search' ? (wire.providerSearch?.(all) ?? all) : all
  const known = new Set(
    Object.entries(catalogue).flatMap(([server, each]) => each.map(({ name }) => `${server}/${name}`)),
  )
  let searches = 0
  return {
    begin: async (history) => ({
      parts: wire.parts(history, tools),
      answer: async (reply) => {
        searches += wire.providerSearches(reply)
        const calls = wire.calls(reply)
        const results = calls.map((call) => {
          const name = nameOf(call.name)
          return {
            call,
            text: known.has(name) ? backend.call(name, call.input) : `There is no tool ${call.name}.`,
          }
        })
        const unknown = calls.filter(({ name }) => !known.has(nameOf(name))).length
        return { results: results.length > 0 ? wire.results(results) : [], unknown }
      },
    }),
    searches: () => searches,
  }
}

async function play(settings: Settings, catalogue: Catalogue, task: Task, way: string): Promise<Run> {
  const { wire, model } = settings
  const backend = new Backend(task)
  const delivery = wire.deliveries.find((each) => way === `toolwell ${each}`)
  const loop = delivery
    ? await toolwellLoop(settings, catalogue, backend, delivery)
    : await plainLoop(settings, catalogue, backend, way)
  const history: History = [wire.user(task.prompt)]
  const used = { input: 0, cached: 0, written: 0, output: 0 }
  const wrong: string[] = []
  const started = performance.now()
  let requests = 0
  let reason: string | undefined = `no answer after ${MOST_REQUESTS} requests`
  try {
    while (requests < MOST_REQUESTS) {
      const turn = await loop.begin(history)
      requests++
      const reply = await post(settings, wire.body(model, turn.parts as Record<string, unknown>))
      const usage = wire.usage(reply)
      for (const key of ['input', 'cached', 'written', 'output'] as const) used[key] += usage[key]
      const { results, unknown } = await turn.answer(reply)
      for (let count = 0; count < unknown; count++) wrong.push('unknown')
      history.push(...wire.entries(reply), ...results)
      if (results.length > 0 || wire.isPaused(reply)) continue
      reason = backend.judge(wire.text(reply))
      break
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    reason = `refused: ${error.message}`
  }
  return {
    ...{ task: task.id, way, success: reason === undefined, ...(reason === undefined ? {} : { reason }) },
    ...{ wrong: [...backend.wrong, ...wrong], searches: loop.searches(), requests, ...used },
    seconds: Math.round(performance.now() - started) / 1000,
  }
}

function summarise(runs: readonly Run[], price: Price | undefined, writing: number): Summary {
  const of = (figure: (run: Run) => number) => meanInterval(runs.map(figure))
  return {
    runs: runs.length,
    success: shareInterval(runs.filter(({ success }) => success).length, runs.length),
    wrong: of(({ wrong }) => wrong.length),
    searches: of(({ searches }) => searches),
    input: of(({ input }) => input),
    cached: of(({ cached }) => cached),
    output: of(({ output }) => output),
    seconds: of(({ seconds }) => seconds),
    ...(price ? { dollars: of((run) => dollars(run, price, writing)) } : {}),
  }
}

const short = (value: number) =>
  value >= 1000 ? `${(value / 1000).toFixed(1)}k` : value >= 100 ? value.toFixed(0) : value.toFixed(1)

function table(results: LiveResults): string {
  const range = ({ mean, low, high }: Interval, show: (value: number) => string) =>
    `${show(mean)} (${show(low)}–${show(high)})`
  const percent = (value: number) => `${Math.round(value * 100)} %`
  const head = [
    'way',
    'runs',
    'success',
    'wrong calls',
    'searches',
    'input tokens',
    'cached',
    'output',
    'seconds',
  ]
  const rows = Object.entries(results.summary).map(([way, each]) => [
    ...[way, String(each.runs), range(each.success, percent), range(each.wrong, short)],
    ...[each.searches, each.input, each.cached, each.output, each.seconds].map((value) =>
      range(value, short),
    ),
    ...(each.dollars ? [range(each.dollars, (value) => `$${value.toFixed(4)}`)] : []),
  ])
  const all = [[...head, ...(results.price ? ['price'] : [])], ...rows]
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? []
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function readEarlier(file: string, fresh: LiveResults): readonly Run[] {
  if (!existsSync(file)) return []
  const earlier = JSON.parse(readFileSync(file, 'utf8')) as LiveResults
  for (const key of ['provider', 'model', 'ownServer', 'fingerprint'] as const)
    if (earlier[key] !== fresh[key])
      throw new Stop(`${file} has results of another ${key}. Move it away, or name another file with --out.`)
  return earlier.runs
}

/** Returns the exit code. */
export async function runLive(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
  print: (text: string) => void = (text) => process.stdout.write(text),
  load: () => Promise<Catalogue> = loadCatalogue,
): Promise<number> {
  try {
    if (words.includes('--help')) {
      print(USAGE)
      return 0
    }
    const settings = readSettings(words, env)
    const { provider, model, wire, tasks, price, budget, out } = settings
    const catalogue = await load()
    const ways = [
      'every tool',
      ...(wire.providerSearch ? ['provider search'] : []),
      ...wire.deliveries.map((delivery) => `toolwell ${delivery}`),
    ]
    const fresh: LiveResults = {
      bench: 'live',
      provider,
      model,
      ownServer: settings.url !== wire.baseUrl,
      fingerprint: createHash('sha256')
        .update(JSON.stringify([catalogue, loadTasks()]))
        .digest('hex')
        .slice(0, 16),
      tools: Object.values(catalogue).reduce((sum, each) => sum + each.length, 0),
      ...(price ? { price } : {}),
      summary: {},
      runs: [],
    }
    const runs = [...readEarlier(out, fresh)]
    const results = (): LiveResults => {
      const summary = ways
        .map((way) => [way, runs.filter((run) => run.way === way)] as const)
        .filter(([, each]) => each.length > 0)
        .map(([way, each]) => [way, summarise(each, price, wire.writing)] as const)
      return { ...fresh, summary: Object.fromEntries(summary), runs }
    }
    print(
      `${fresh.tools} tools of ${Object.keys(catalogue).length} servers, ${tasks.length} tasks, ${ways.length} ways\n`,
    )
    let stopped: string | undefined
    // Task by task, so that an interrupted bench has compared all ways.
    for (const task of tasks)
      for (const way of ways) {
        if (stopped || runs.some((run) => run.task === task.id && run.way === way)) continue
        const costs = price ? runs.map((run) => dollars(run, price, wire.writing)) : []
        const spent = costs.reduce((sum, each) => sum + each, 0)
        if (spent + Math.max(0, ...costs) > budget) {
          stopped = `Stopped at the budget: $${spent.toFixed(2)} of $${budget} spent, and the next run may exceed it. To continue, run the same command with a larger --budget.`
          continue
        }
        const run = await play(settings, catalogue, task, way)
        runs.push(run)
        writeFileSync(`${out}.draft`, `${JSON.stringify(results(), null, 2)}\n`)
        renameSync(`${out}.draft`, out)
        print(`${run.success ? 'ok  ' : 'FAIL'} ${task.id}, ${way}${run.reason ? `: ${run.reason}` : ''}\n`)
      }
    print(`\nMeans for one task, with 95 % intervals:\n\n${table(results())}\n\n`)
    print(
      `${stopped ? `${stopped}\n` : ''}The results are in ${out}. The file has no key and no address; you can share it.\n`,
    )
    return 0
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  }
}
