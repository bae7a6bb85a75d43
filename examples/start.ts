/**
 * `npm start`: the proof. The example host does a real task on 63 tools over a real wire; the model is scripted, and
 * everything printed is read from the recorded requests, the ledger, and the files in the workspace.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DeliveryName, loadTokenizer, type ToolwellEvent } from '@toolwell/core'
import type { ChatMessage } from '@toolwell/core/openai-chat'
import {
  type ChatRequestBody,
  chatProtocol,
  commonPrefix,
  type ScriptedReply,
  startScriptedChat,
} from '@toolwell/core/testing'
import { openSession, type Session } from './host.ts'
import { steps, task } from './proof/model.ts'
import { bar, bold, cyan, dim, green, heading, line, percent, red, row, thousands } from './proof/print.ts'
import { createProofHost, seedWorkspace } from './proof/setup.ts'

const USAGE = `Usage: npm start [-- --delivery bridge|append] [-- --once]

Runs the proof: one task, a busy server, a killed process, a fork and a compaction, on a scripted model behind a real
Chat Completions wire. Needs no key and no network. Exits 0 when every check holds.

Examples
  npm start
  npm start -- --delivery append     found tools join the tools array instead of being called through tool_call
  npm start -- --once                exit when the proof is done (it always does, so far)`

const flags = process.argv.slice(2)
if (flags.includes('--help')) {
  line(USAGE)
  process.exit(0)
}
const delivery = readDelivery(flags)

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

try {
  await prove()
} finally {
  await chat.close()
  await rm(folder, { recursive: true, force: true })
}
report()

async function prove(): Promise<void> {
  await seedWorkspace(folder)
  const previous = new Map<string, string>()
  let number = 0
  const host = createProofHost({
    folder,
    url: chat.url,
    delivery,
    tokenizer,
    onEvent: (event) => events.push(event),
    onRequest({ session, answer }) {
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
      if (delivery === 'bridge' && before !== undefined)
        check(`request ${number} keeps every earlier byte`, kept === undefined || kept >= 1)
    },
  })
  const everything = host.well.catalogue
  heading('Toolwell', 'the model is scripted; the loop, the wire, the ledger and the tools are real')
  const session = await openSession(host, 'main')

  heading(
    '1  A task',
    `${everything.size} tools from ${everything.sources.size - 1} servers and the host; each row is one request`,
  )
  line(dim(`  ${row(['#', 'what the model did', 'tools array', 'prefix'], [2, 62, 12, 12])}`))
  queue.push(...steps.task)
  await session.ask(task)
  told(session)
  const code = await readFile(join(folder, 'workspace', 'src', 'invoice.js'), 'utf8')
  check('the bug is fixed in the file', code.includes('i < items.length;'))
  check(
    'a call of a hidden tool in the wrong case ran, and raised it',
    session.conversation.inspect().loadedLazyTools.includes('repository__create_commit'),
  )
  check('what policy denies never left', !chat.requests.some(({ raw }) => raw.includes('publish_release')))

  heading('2  A busy server, and a sub-agent', 'the first attempt gets 503 and is repeated')
  queue.push(...steps.busy)
  const busy = chat.requests.length
  const raised = session.conversation.inspect().loadedLazyTools.join()
  await session.ask('Ask a helper which issues are open.')
  check('the repeated request has the same bytes', chat.requests[busy]?.raw === chat.requests[busy + 1]?.raw)
  check(
    'the sub-agent left its parent as it was',
    session.conversation.inspect().loadedLazyTools.join() === raised,
  )
  check(
    'the sub-agent got the one tool it may use, and no loader',
    names(chat.requests[busy + 2]?.body).join() === 'tracker__list_issues',
  )

  heading(
    '3  Killed and resumed',
    'another process works on the session and is killed with a request on the way',
  )
  queue.push(...steps.killed, ...steps.resumed)
  await killWorkerAt(chat.requests.length + 2)
  const dead = chat.requests.length - 1
  const resumed = await openSession(host, 'main')
  await resumed.ask()
  check(
    'the resumed request has the same bytes as the one that died',
    chat.requests[dead]?.raw === chat.requests[dead + 1]?.raw,
  )
  check(
    'what the dead process had raised is still raised',
    resumed.conversation.inspect().loadedLazyTools.includes('mail__create_draft'),
  )
  told(resumed)

  heading('4  A fork', 'from before the second search')
  queue.push(...steps.fork)
  const point = resumed.messages.findIndex((message) =>
    JSON.stringify(message).includes('bump the package version'),
  )
  const fork = await resumed.fork('fork', point)
  await fork.ask('What have you got so far?')
  told(fork)
  check(
    'the fork knows what was raised before it, and nothing later',
    fork.conversation.inspect().loadedLazyTools.every((name) => name.startsWith('tracker__')),
  )

  heading('5  A compaction', 'the history becomes a summary; raised tools stay usable')
  queue.push(...steps.compacted)
  await resumed.compact()
  previous.clear() // the one moment at which the prefix is meant to change
  const searches = count(events, 'searched')
  await resumed.ask('Close the bug.')
  check(
    'a tool raised before the compaction was called without a new search',
    count(events, 'searched') === searches,
  )
  check(
    'the issue is closed',
    (
      await readFile(join(folder, 'workspace', '.tracker', 'issues.json'), 'utf8').catch(() => allFiles())
    ).includes('closed'),
  )
  check(
    'the strict endpoint refused nothing',
    chat.requests.every(({ violation }) => violation === undefined),
  )
  totals(resumed)
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
  const widest = Math.max(accounting.actual, accounting.counterfactual)
  line(
    `  every tool eager  ${bar(accounting.counterfactual / widest, 40)} ${thousands(accounting.counterfactual)} input tokens`,
  )
  line(
    `  as it was         ${bar(accounting.actual / widest, 40)} ${thousands(accounting.actual)} input tokens`,
  )
  const share = accounting.saved / accounting.counterfactual
  const rounds = `${accounting.metaRequests} of ${accounting.requests} requests only searched`
  line(`  net ${accounting.saved < 0 ? 'loss' : 'saving'} ${bold(percent(Math.abs(share)))}  ${dim(rounds)}`)
  if (accounting.reread > 0)
    line(
      `  ${dim(`${thousands(accounting.reread)} message tokens read again because the tools array before them changed`)}`,
    )
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

/** Starts the worker and kills it when the endpoint has received its n-th request. */
async function killWorkerAt(requests: number): Promise<void> {
  const script = new URL('./proof/worker.ts', import.meta.url).pathname
  const worker = spawn(
    process.execPath,
    ['--import', 'tsx', script, folder, chat.url, delivery, 'Write to Ada that it is fixed.'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const poll = setInterval(() => {
    if (chat.requests.length >= requests) worker.kill('SIGKILL')
  }, 5)
  await ended
  clearInterval(poll)
  line(`  ${dim(`process ${worker.pid} killed (${worker.signalCode ?? worker.exitCode})`)}`)
  check('the worker was killed, not finished', worker.signalCode === 'SIGKILL')
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

async function allFiles(): Promise<string> {
  const { readdir } = await import('node:fs/promises')
  const root = join(folder, 'workspace', '.tracker')
  const files = await readdir(root, { recursive: true })
  return (await Promise.all(files.map((file) => readFile(join(root, file), 'utf8').catch(() => '')))).join(
    '\n',
  )
}

function readDelivery(given: readonly string[]): DeliveryName {
  const at = given.indexOf('--delivery')
  const value = at < 0 ? 'bridge' : given[at + 1]
  const unknown = given.filter(
    (flag, index) => flag !== '--once' && flag !== '--delivery' && (at < 0 || index !== at + 1),
  )
  if (unknown.length === 0 && (value === 'bridge' || value === 'append')) return value
  const problem =
    unknown.length > 0
      ? `Unknown: ${unknown.join(' ')}. Flags of npm start go behind a --.`
      : `--delivery needs bridge or append${value === undefined ? '' : `, not ${value}`}.`
  process.stderr.write(`${problem}

${USAGE}
`)
  process.exit(2)
}
