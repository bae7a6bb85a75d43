/**
 * `npm run proof`: the example host does a real task with five real MCP servers over a real wire. The model is scripted.
 * Everything printed is read from the recorded requests, the ledger, the servers and the files they wrote.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadTokenizer, type ToolwellEvent } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import {
  type ChatRequestBody,
  chatProtocol,
  commonPrefix,
  type ScriptedReply,
  startScriptedChat,
} from '@toolwell/testing'
import { openSession, type Session } from './agent/session.ts'
import { HIDDEN, LATER, LEARNT, SHIPPED, scenes, task } from './proof/model.ts'
import { bar, bold, cyan, dim, green, heading, line, percent, red, row, thousands } from './proof/print.ts'
import { everyTool, forced, gone, readDelivery, tokensBySource, wait } from './proof/reading.ts'
import { DENIED, memoryOf, openProof, type Proof, projectOf, type Setup, seedProject } from './proof/setup.ts'

const delivery = readDelivery(process.argv.slice(2))

const tokenizer = await loadTokenizer()
const folder = await mkdtemp(join(tmpdir(), 'toolwell-proof-'))
const queue: ((request: ChatRequestBody) => ScriptedReply | Promise<ScriptedReply>)[] = []
const events: ToolwellEvent[] = []
const chat = await startScriptedChat({
  maxDescription: 1024,
  model: (request) => queue.shift()?.(request) ?? { status: 500, error: 'the script has no more steps' },
})
const checks: { readonly what: string; readonly holds: boolean }[] = []
const check = (what: string, holds: boolean) => checks.push({ what, holds })
const open: Proof[] = []
/** Ids of every server process that ran. */
const pids = new Set<number>()
const previous = new Map<string, string>()
let number = 0

try {
  await seedProject(folder)
  heading(
    'Toolwell',
    'the model is scripted; the loop, the wire, the ledger, the servers and the files are real',
  )
  await listServers()
  await prove()
} finally {
  for (const { servers } of open) await servers.close()
  await chat.close()
  await rm(folder, { recursive: true, force: true })
}
check('no process of a server is left', await gone(pids))
report()

function start(more: Partial<Setup> = {}): Proof {
  const proof = openProof({ folder, url: chat.url, tokenizer, ...forced(delivery), ...more })
  open.push(proof)
  return proof
}

/** Lists every server once, because nothing is cached: start, list tools, stop. */
async function listServers(): Promise<void> {
  heading(
    '1  The first start',
    'nothing is cached: every server of examples/proof/toolwell.json is listed once',
  )
  const first = start({
    onServer(event) {
      for (const { pids: running } of first.servers.inspect()) for (const pid of running) pids.add(pid)
      if (event.kind !== 'server-state' || event.state !== 'cached') return
      const { tools = [] } = first.servers.inspect().find(({ name }) => name === event.server) ?? {}
      const tokens = tokensBySource(first.well, tokenizer).get(event.server) ?? 0
      line(`  ${row([event.server, `${tools.length} tools`, `${thousands(tokens)} tokens`], [16, 9, 12])}`)
    },
  })
  const late = await first.servers.settled(120_000)
  const failed = first.servers.inspect().flatMap(({ name, reason }) => (reason ? [`${name}: ${reason}`] : []))
  if (late.length + failed.length > 0)
    throw new Error(`Not every server could be listed. ${[...late, ...failed].join('; ')}`)
  await first.servers.close()
}

async function prove(): Promise<void> {
  const proof = start({ onEvent: (event) => events.push(event), onRequest: showRequest })
  const { host, servers, well } = proof
  const started = () => servers.inspect().filter(({ starts }) => starts > 0)
  const everything = everyTool(well, tokenizer)
  heading('2  The second start', 'what is cached can be searched at once')
  line(
    `  ${servers.inspect().length} servers, ${well.catalogue.size - 1} tools, ${thousands(everything)} tokens of definitions as they are listed; ${started().length} processes`,
  )
  check(
    'every tool is known from the cache',
    servers.inspect().every(({ state }) => state === 'cached'),
  )
  const session = await openSession(host, 'main')
  const script = scenes(projectOf(folder))

  heading('3  A task', 'each row is one request')
  line(dim(`  ${row(['#', 'what the model did', 'tools array', 'prefix'], [2, 62, 12, 12])}`))
  const runningAtFirst: number[] = []
  const [find, ...rest] = script.task
  if (find) queue.push(find)
  queue.push((request) => {
    // After one search and before the first tool call.
    runningAtFirst.push(started().length)
    return rest[0]?.(request) ?? { text: '' }
  })
  queue.push(...rest.slice(1))
  await session.ask(task)
  told(session)
  const { mode, because } = session.conversation.inspect()
  if (delivery === undefined) {
    line(`  ${dim(`mode: auto → ${mode}: ${because}`)}`)
    check('the default settings defer this catalogue', mode === 'on')
  }
  check('no server was started before one of its tools was called', runningAtFirst.join() === '0')
  check(
    'only the servers that were used have been started',
    started()
      .map(({ name }) => name)
      .join() === 'filesystem,memory',
  )
  const code = await readFile(join(projectOf(folder), 'src', 'invoice.js'), 'utf8')
  check('the bug is fixed in the file', code.includes('i < items.length;'))
  const loadedByCall = events.some(
    (event) => event.kind === 'loaded' && event.source === 'call' && event.tool.wireName === HIDDEN,
  )
  check('a call of a hidden tool in the wrong case ran, and loaded it', loadedByCall)
  const [, denied = ''] = DENIED.split('/')
  check('what policy denies never left', !chat.requests.some(({ raw }) => raw.includes(denied)))

  heading('4  A busy server, and a sub-agent', 'the first attempt gets 503 and is repeated')
  queue.push(...script.busy)
  const busy = chat.requests.length
  const loaded = session.conversation.inspect().loadedLazyTools.join()
  await session.ask('Ask a helper what there is in the project.')
  check('the repeated request has the same bytes', chat.requests[busy]?.raw === chat.requests[busy + 1]?.raw)
  check(
    'the sub-agent left its parent as it was',
    session.conversation.inspect().loadedLazyTools.join() === loaded,
  )
  check(
    'the sub-agent got the one tool it may use, and no loader',
    names(chat.requests[busy + 2]?.body).join() === 'filesystem__list_directory',
  )

  heading(
    '5  Killed and resumed',
    'another process works on the session and is killed with a request on the way',
  )
  queue.push(...script.killed, ...script.resumed)
  await killWorkerAt(chat.requests.length + 2)
  const dead = chat.requests.length - 1
  const resumed = await openSession(host, 'main')
  await resumed.ask()
  check(
    'the resumed request has the same bytes as the one that died',
    chat.requests[dead]?.raw === chat.requests[dead + 1]?.raw,
  )
  check(
    'what the dead process had loaded is still loaded',
    resumed.conversation.inspect().loadedLazyTools.includes('memory__add_observations'),
  )
  check('what was learnt is remembered', (await readFile(memoryOf(folder), 'utf8')).includes(LEARNT))
  told(resumed)

  heading('6  A fork', 'from before the second search')
  queue.push(...script.fork)
  const point = resumed.messages.findIndex((message) => JSON.stringify(message).includes(LATER))
  const fork = await resumed.fork('fork', point)
  await fork.ask('What have you got so far?')
  told(fork)
  const firstSearch = events.find((event) => event.kind === 'searched')
  const loadedThen = firstSearch?.kind === 'searched' ? firstSearch.loaded : []
  check(
    'the fork knows what was loaded before it, and nothing later',
    loadedThen.length > 0 &&
      fork.conversation.inspect().loadedLazyTools.join() ===
        loadedThen.map((id) => well.catalogue.get(id)?.wireName).join(),
  )

  heading('7  A compaction', 'the history becomes a summary; loaded tools stay usable')
  queue.push(...script.compacted)
  await resumed.compact()
  previous.clear() // only here the prefix may change
  const searches = count(events, 'searched')
  await resumed.ask('Remember that 1.4.1 has been shipped.')
  check(
    'a tool loaded before the compaction was called without a new search',
    count(events, 'searched') === searches,
  )
  check('that is remembered, too', (await readFile(memoryOf(folder), 'utf8')).includes(SHIPPED))
  check(
    'the strict endpoint refused nothing',
    chat.requests.every(({ violation }) => violation === undefined),
  )
  for (const { pids: running } of servers.inspect()) for (const pid of running) pids.add(pid)
  totals(resumed)
  await smallSet()
}

function showRequest({
  conversation: { id: session },
  answer,
}: Parameters<NonNullable<Setup['onRequest']>>[0]): void {
  const body = JSON.parse((chat.requests.at(-1) as { raw: string }).raw) as ChatRequestBody
  const rendered = chatProtocol().renderOrder(body)
  const before = previous.get(session)
  const kept = before === undefined ? undefined : commonPrefix(before, rendered) / (before.length - 1)
  previous.set(session, rendered)
  const surface = tokenizer.count(JSON.stringify(body.tools ?? []))
  const cells = [
    String(++number),
    describe(answer.messages[0] as ChatMessage),
    `${thousands(surface)} tokens`,
    kept === undefined ? 'first' : `${percent(kept)} kept`,
  ]
  line(`  ${row(cells, [2, 62, 12, 12])}`)
  if (delivery !== 'append' && before !== undefined)
    check(`request ${number} keeps every earlier byte`, kept === undefined || kept >= 1)
}

function told({ conversation }: Session): void {
  const shortened = conversation.inspect().line.replace(/\((.*)\)/, (all, names: string) => {
    const [first, second, third, ...more] = names.split(', ')
    return more.length > 0 ? `(${first}, ${second}, ${third}, …)` : all
  })
  line(`  ${dim('→')} ${cyan(shortened)}`)
}

function totals({ conversation }: Session): void {
  const { accounting } = conversation.inspect()
  heading('What it cost', `${tokenizer.name}; the whole conversation, searches and extra rounds included`)
  compare('input tokens', accounting)
  compare('by cache prices', accounting.cost)
  line(`  ${dim(`${accounting.metaRequests} of ${accounting.requests} requests only searched`)}`)
  if (accounting.reread > 0)
    line(
      `  ${dim(`${thousands(accounting.reread)} message tokens read again because the tools array before them changed`)}`,
    )
}

type Sums = { readonly actual: number; readonly counterfactual: number; readonly saved: number }

function compare(unit: string, { actual, counterfactual, saved }: Sums): void {
  const widest = Math.max(actual, counterfactual)
  // Rounded, because names of temporary folders have different token counts on each machine.
  const share = `net ${saved < 0 ? 'loss' : 'saving'} ${Math.round(Math.abs(saved / counterfactual) * 100)} %`
  const rounded = (tokens: number) => (tokens < 10_000 ? thousands(tokens) : `${Math.round(tokens / 1000)}k`)
  line(`  every tool sent  ${bar(counterfactual / widest, 40)} ${rounded(counterfactual)} ${unit}`)
  line(`  as it was        ${bar(actual / widest, 40)} ${rounded(actual)}  ${bold(share)}`)
}

/** Two small servers: what the defaults do, and what deferring would cost. */
async function smallSet(): Promise<void> {
  heading('When is it not worth it?', 'the same task with filesystem and memory alone')
  const { well, servers } = openSmall({})
  const conversation = await well.open({ id: 'auto' })
  const { parts } = await openaiChat(conversation).begin([{ role: 'user', content: task }])
  const { mode, because } = conversation.inspect()
  const tools = well.catalogue.size
  line(
    `  ${tools - 1} tools, ${thousands(everyTool(well, tokenizer))} tokens. With its defaults Toolwell sends them all:`,
  )
  line(`  ${because}`)
  check('a small set is sent whole by the defaults', mode === 'off' && parts.tools?.length === tools)
  check(
    'asking for that started nothing',
    servers.inspect().every(({ starts }) => starts === 0),
  )

  await seedProject(folder)
  const small = openSmall({ mode: 'on' })
  queue.push(...scenes(projectOf(folder)).task)
  const session = await openSession(small.host, 'small')
  await session.ask(task)
  for (const { pids: running } of small.servers.inspect()) for (const pid of running) pids.add(pid)
  line('  Deferred all the same (mode: on):')
  compare('by cache prices', session.conversation.inspect().accounting.cost)
}

function openSmall(more: Partial<Setup>): Proof {
  const proof = openProof({ folder, url: chat.url, tokenizer, profile: 'small', ...more })
  open.push(proof)
  return proof
}

function report(): void {
  heading('Checks')
  const prefix = /^request \d/
  const kept = checks.filter(({ what }) => prefix.test(what))
  for (const { what, holds } of checks)
    if (!holds || !prefix.test(what)) line(`  ${holds ? green('✓') : red('✗')} ${what}`)
  if (kept.length > 0 && kept.every(({ holds }) => holds))
    line(`  ${green('✓')} each of ${kept.length} requests kept every byte of the one before`)
  const failed = checks.filter(({ holds }) => !holds).length
  line()
  const lines = checks.length - kept.length + Math.sign(kept.length)
  line(
    failed === 0 ? green(`All ${lines} checks hold.`) : red(`${failed} of ${checks.length} checks failed.`),
  )
  process.exitCode = failed === 0 ? 0 : 1
}

/** Starts the worker and kills it at the endpoint's n-th request. */
async function killWorkerAt(requests: number): Promise<void> {
  const script = fileURLToPath(new URL('./proof/worker.ts', import.meta.url))
  const worker = spawn(
    process.execPath,
    ['--import', 'tsx', script, folder, chat.url, 'Remember what was wrong with it.', delivery ?? ''],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  await Promise.race([wait(() => chat.requests.length >= requests), ended])
  worker.kill('SIGKILL')
  await ended
  line(`  ${dim(`process ${worker.pid} killed (${worker.signalCode ?? worker.exitCode})`)}`)
  check('the worker was killed, not finished', worker.signalCode === 'SIGKILL')
  const left = await readFile(join(folder, 'worker-pids'), 'utf8').catch(() => '')
  const orphans = left.split('\n').filter(Boolean).map(Number)
  check('the server it had started ended with it', orphans.length > 0 && (await gone(orphans)))
}

function describe(message: ChatMessage): string {
  const calls = message.tool_calls ?? []
  const text =
    calls.length === 0
      ? `“${String(message.content)}”`
      : calls.map(({ function: call }) => name(call.name, call.arguments)).join(' + ')
  return text.length > 62 ? `${text.slice(0, 61)}…` : text
}

function name(called: string, input: string): string {
  const parsed = JSON.parse(input) as { query?: string; name?: string }
  if (called === 'tool_search') return `search “${parsed.query}”`
  return called === 'tool_call' ? `${parsed.name}` : called
}

function names(body: ChatRequestBody | undefined): string[] {
  return (body?.tools ?? []).map((tool) => tool.function.name)
}

function count(list: readonly ToolwellEvent[], kind: string): number {
  return list.filter((event) => event.kind === kind).length
}
