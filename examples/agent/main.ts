/** `npm run agent`: the agent as a command. Answers go to standard output, events to standard error. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import type { TargetCall } from '@toolwell/core'
import { type Agent, type AgentOptions, openAgent } from './agent.ts'
import { type AgentEvent, describeEvent } from './events.ts'
import { MODES } from './permissions.ts'
import type { Session } from './session.ts'
import { SURFACES } from './surfaces.ts'
import { transcriptFile } from './transcript.ts'
import { type Server, type WireName, wires } from './wires.ts'

const HELP = `A coding agent without a terminal UI, to read and to try Toolwell with.

Usage: npm run agent -- -p "what to do" [options]

  -p, --print TEXT     the task, or with --resume the next one
      --wire NAME      ${Object.keys(wires).join(', ')} (default: by the first key that is set)
      --model NAME     the model (default: one of the wire's, or AGENT_MODEL)
      --url URL        another server for the wire; it may need no key
      --workspace DIR  the folder to work on (default: this one)
      --servers FILE   a config of MCP servers; may be repeated (default: your toolwell.json and the workspace's)
      --surface NAME   ${SURFACES.join(', ')}
      --mode MODE      plan: change nothing · ask: ask about changes · auto: do not ask (default: ask)
      --allow PATTERN  runs without a question: bash, 'bash(git *)', 'memory/*'; may be repeated
      --deny PATTERN   hides tools from the model; may be repeated
      --session ID     the name of a new session (default: random)
      --resume ID      continues a session, in any process
      --fork ID        continues a copy of a session; --at N copies its first N messages
      --retry ID       continues after a crash or a failed request
      --compact        first replaces all but the last two turns with a summary
      --json           prints every event as a line of JSON

Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY. Sessions are in .agent/sessions of the workspace, sub-agents in
.agent/agents/*.md (name, description, tools, inherit_active_mcp), plugins in .agent/plugins/*.mjs.

Examples:
  npm run agent -- -p "What does this project do?"
  npm run agent -- -p "Plan a rewrite of src/index.ts" --mode plan --session rewrite
  npm run agent -- --resume rewrite -p "Go" --mode auto --deny 'bash(git push*)'
  npm run agent -- -p "Hello" --url http://127.0.0.1:11434/v1 --model qwen3
`

/** URL and key variable of each wire. */
const PROVIDERS: Readonly<Record<WireName, Server & { readonly key: string }>> = {
  anthropic: { url: 'https://api.anthropic.com', model: 'claude-sonnet-4-5', key: 'ANTHROPIC_API_KEY' },
  'openai-responses': { url: 'https://api.openai.com/v1', model: 'gpt-5.4', key: 'OPENAI_API_KEY' },
  'openai-chat': { url: 'https://api.openai.com/v1', model: 'gpt-5.4', key: 'OPENAI_API_KEY' },
  google: {
    url: 'https://generativelanguage.googleapis.com',
    model: 'gemini-2.5-pro',
    key: 'GEMINI_API_KEY',
  },
}
const WIRES = Object.keys(PROVIDERS) as WireName[]
const HERE = process.env.INIT_CWD ?? process.cwd()

/** A usage error, printed without a stack. */
class Usage extends Error {}

function readFlags() {
  const text = { type: 'string' } as const
  const texts = { type: 'string', multiple: true } as const
  const flag = { type: 'boolean', default: false } as const
  try {
    return parseArgs({
      options: {
        ...{ print: { ...text, short: 'p' }, help: { ...flag, short: 'h' }, json: flag, compact: flag },
        ...{ wire: text, model: text, url: text, workspace: { ...text, default: '.' }, servers: texts },
        ...{ surface: text, mode: text, allow: texts, deny: texts },
        ...{ session: text, resume: text, fork: text, at: text, retry: text },
      },
    }).values
  } catch (error) {
    throw new Usage((error as Error).message)
  }
}

type Flags = ReturnType<typeof readFlags>

function oneOf<Name extends string>(flag: string, given: string, known: readonly Name[]): Name {
  const found = known.find((name) => name === given)
  if (found) return found
  throw new Usage(`--${flag} ${given} is not known. Known: ${known.join(', ')}.`)
}

/** Every wire with a key or URL, and the one to start with. */
function readServers({ wire: named, url, model = process.env.AGENT_MODEL }: Flags) {
  const keyOf = (name: WireName) => process.env[PROVIDERS[name].key]
  const asked = named === undefined ? undefined : oneOf('wire', named, WIRES)
  const wire = asked ?? (url === undefined ? WIRES.find(keyOf) : 'openai-chat')
  if (wire === undefined || (url === undefined && !keyOf(wire))) {
    const keys = new Set((wire === undefined ? WIRES : [wire]).map((name) => PROVIDERS[name].key))
    throw new Usage(
      `No API key${wire === undefined ? '' : ` for ${wire}`}. Set ${[...keys].join(' or ')}, or choose a server without a key with --url (and --wire, unless it speaks Chat Completions).`,
    )
  }
  const servers: Partial<Record<WireName, Server>> = {}
  for (const name of WIRES) {
    const apiKey = keyOf(name)
    const given = name === wire ? { ...(url ? { url } : {}), ...(model ? { model } : {}) } : {}
    if (apiKey || 'url' in given)
      servers[name] = { ...PROVIDERS[name], ...given, ...(apiKey ? { apiKey } : {}) }
  }
  return { servers, wire }
}

function readOptions(flags: Flags): AgentOptions {
  const { servers, surface, mode, allow = [], deny = [] } = flags
  const workspace = resolve(HERE, flags.workspace)
  if (!existsSync(workspace)) throw new Usage(`The folder ${workspace} does not exist.`)
  return {
    ...readServers(flags),
    workspace,
    ...(servers ? { serverFiles: servers.map((file) => resolve(HERE, file)) } : {}),
    ...(surface === undefined ? {} : { surface: oneOf('surface', surface, SURFACES) }),
    ...(mode === undefined ? {} : { mode: oneOf('mode', mode, MODES) }),
    permissions: { allow, deny },
    ...(process.stdin.isTTY ? { ask: askPerson } : {}),
  }
}

async function askPerson({ id, input }: TargetCall): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const said = await terminal.question(`Run ${id} with ${JSON.stringify(input)}? [y/N] `)
  terminal.close()
  return /^y(?:es)?$/i.test(said.trim())
}

/** The session selected by the flags. */
async function openNamed(agent: Agent, { session, resume, fork, retry, at }: Flags): Promise<Session> {
  const [known, ...others] = [resume, fork, retry].filter((each) => each !== undefined)
  if (others.length > 0) throw new Usage('--resume, --fork and --retry exclude each other.')
  const fresh = session ?? randomUUID().slice(0, 8)
  if (known === undefined) return agent.open(fresh)
  if (!existsSync(transcriptFile(agent.folder, known)))
    throw new Usage(`Unknown session ${known}: not found in ${agent.folder}.`)
  const origin = await agent.open(known)
  if (fork === undefined) return origin
  const length = Number(at ?? origin.messages.length)
  if (!Number.isInteger(length) || length < 0) throw new Usage(`--at needs a number of messages, not ${at}.`)
  await origin.fork(fresh, length)
  return agent.open(fresh)
}

function show(event: AgentEvent, session: string): void {
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ session, ...event })}\n`)
  else if (event.kind === 'text') process.stdout.write(`${event.text}\n`)
  else process.stderr.write(`${describeEvent(event)}\n`)
}

async function main(): Promise<void> {
  const flags = readFlags()
  const { print, retry, compact } = flags
  if (flags.help) return void process.stdout.write(HELP)
  if (print === undefined && retry === undefined && !compact)
    throw new Usage('Say what to do with -p "…". See --help.')
  const options = readOptions(flags)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)))
  const agent = await openAgent({ ...options, signal: stop.signal, onEvent: show })
  try {
    const session = await openNamed(agent, flags)
    if (options.mode && options.mode !== session.mode) await session.setMode(options.mode)
    if (flags.wire && options.wire && options.wire !== session.wire) await session.moveTo(options.wire)
    if (compact) await session.compact()
    if (retry !== undefined && print === undefined && session.isAnswered)
      throw new Usage(`The last question of ${retry} was answered. Continue with --resume ${retry} -p "…".`)
    if (print !== undefined || retry !== undefined) await session.ask(print)
  } finally {
    await agent.close()
  }
}

await main().catch((error: unknown) => {
  show({ kind: 'error', text: error instanceof Error ? error.message : String(error) }, '')
  process.exitCode = error instanceof Usage ? 2 : 1
})
