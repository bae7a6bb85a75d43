/** Connects one agent in a new home, and runs it before and after: one row of the table. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRecord } from '@toolwell/core/internal'
import { clientFiles } from '../../src/shared/clients/clients.js'
import { readToolwellEntry } from '../../src/shared/clients/toolwell-entry.js'
import { folderWith, script } from '../support/run.js'
import {
  type AgentProcess,
  killTree,
  type Model,
  type Seen,
  type Step,
  startAgent,
  startModel,
} from './agent-run.js'
import { type Agent, onEntry, type Servers } from './agents.js'

/** `none`: the agent has no such setting. `refused`: `connect` leaves the agent as it is and gives the reason. */
export type Cell = 'yes' | 'no' | 'none' | 'refused'

export interface Row {
  readonly found: Cell
  readonly called: Cell
  readonly denied: Cell
  readonly ownProcess: Cell
  readonly survives: Cell
  readonly limit: Cell
}

export interface Tried {
  readonly row: Row
  /** What happened, for a person who looks for the reason of a `no`. */
  readonly story: string
}

const require = createRequire(import.meta.url)
const pageServer = fileURLToPath(new URL('page-server.mjs', import.meta.url))
/** The gateway's tools. */
const [FIND, RUN, READ] = ['tool_search', 'tool_call', 'tool_read'] as const
const QUERY = 'open a web page in the browser'

function realServer(name: string, ...args: string[]): [string, ...string[]] {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`)
  return [process.execPath, join(dirname(manifest), 'dist', 'index.js'), ...args]
}

/** `modules` is the node_modules folder with the packages of the agent. */
export async function tryAgent(agent: Agent, modules: string): Promise<Tried> {
  const model = await startModel(agent.wire)
  const setup = setUp(agent, model, modules)
  try {
    return await measure(agent, model, setup)
  } finally {
    await setup.toolwell('stop', '--force')
    await model.close()
  }
}

type Setup = ReturnType<typeof setUp>

function setUp(agent: Agent, model: Model, modules: string) {
  const root = folderWith({ 'calls.log': '', 'work/note.txt': 'A note.\n' })
  const [home, folder, log] = [join(root, 'home'), join(root, 'work'), join(root, 'calls.log')]
  const env: NodeJS.ProcessEnv = {
    // `connect` finds the version of the agent here.
    PATH: [join(modules, '.bin'), process.env.PATH].join(delimiter),
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    ...agent.env(model.url),
  }
  const servers: Servers = {
    everything: realServer('everything'),
    files: realServer('filesystem', folder),
    pages: [process.execPath, pageServer, log],
  }
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  const read = (name: string) => (existsSync(join(home, name)) ? readFileSync(join(home, name), 'utf8') : '')
  for (const [name, content] of Object.entries(agent.config(servers, model.url)))
    write(name, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  const story: string[] = []
  const places = { home, folder, platform: process.platform, env }
  return {
    story,
    /** Writes deny rules for these tools of `pages`: in the agent's file, or for a rule of the entry in toolwell.json. */
    deny(...tools: string[]) {
      const { file, write: rules, isOnEntry } = agent.deny
      if (!isOnEntry || this.entry() === undefined) return write(file, rules(read(file), tools))
      const moved = '.config/toolwell/toolwell.json'
      write(moved, onEntry('mcpServers', () => ({ deny: tools }))(read(moved), tools))
    },
    /** Names of the tools that the server `pages` ran. */
    ran: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' ')[1] ?? ''),
    entry: () =>
      clientFiles(places)
        .filter(({ client }) => client === agent.client)
        .map(readToolwellEntry)
        .find((entry) => entry !== undefined),
    start(run: string, steps: readonly Step[]): AgentProcess {
      model.script(run, steps)
      const words = agent.args(`This is RUN-${run}. Do it.`)
      return startAgent([join(modules, agent.program), ...words], { folder, env })
    },
    async toolwell(...words: string[]): Promise<string> {
      const text = await startAgent([process.execPath, script, ...words], { folder, env }).ended
      story.push(`$ toolwell ${words.join(' ')}\n${text}`)
      return text
    },
  }
}

async function daemonPid(setup: Setup): Promise<number> {
  const text = await setup.toolwell('status', '--json')
  setup.story.pop()
  return Number(/"pid":(\d+)/.exec(text)?.[1] ?? 0)
}

async function measure(agent: Agent, model: Model, setup: Setup): Promise<Tried> {
  const { story } = setup
  const tell = (run: string, text: string) => {
    const { names, results } = model.last(run)
    const told = results.map((result) => `  -> ${result.slice(0, 400)}`).join('\n')
    story.push(`RUN-${run}\n${text.slice(-1500)}\n  tools: ${names.join(' ')}\n${told}`)
  }

  // Before: the rule works without Toolwell.
  setup.deny('erase_page')
  const direct =
    (tool: string, args = {}): Step =>
    () => ({ name: agent.shows('pages', tool), arguments: args })
  const before = setup.start('before', [direct('open_page', { url: 'about:before' }), direct('erase_page')])
  tell('before', await before.ended)
  const isRuleReal = setup.ran().join() === 'open_page'
  if (!isRuleReal)
    story.push(`The rule of ${agent.client} does not work without Toolwell: ${setup.ran().join()}`)

  await setup.toolwell('connect', agent.client, '--yes')
  const isRefused = setup.entry() === undefined
  if (isRefused) {
    setup.deny()
    await setup.toolwell('connect', agent.client, '--yes')
  }
  const entry = setup.entry()
  story.push(`entry: ${JSON.stringify(entry)}`)
  const [key = '', value = 0] = agent.limit ?? []
  const limit = !agent.limit ? 'none' : isRecord(entry) && entry[key] === value ? 'yes' : 'no'
  await setup.toolwell('stop')

  // One run that ends by itself.
  let daemon = 0
  const alone = setup.start('alone', [
    async (seen) => {
      daemon = await daemonPid(setup)
      return find(agent, seen)
    },
    call(agent, 'open_page', { url: 'about:alone' }),
    ...(isRefused ? [] : attempts(agent, 'erase_page')),
  ])
  tell('alone', await alone.ended)
  const { names, results } = model.last('alone')
  const found =
    results[0]?.includes('open_page') || names.includes(agent.shows('toolwell', 'pages__open_page'))
  const called = results[1]?.includes('Opened about:alone')
  const isLeftAlone = daemon > 0 && (await daemonPid(setup)) === daemon

  // The user edits the rules. Two runs at once: the first starts the daemon, and is killed with all its processes.
  if (!isRefused) setup.deny('erase_page', 'print_page')
  await setup.toolwell('stop')
  const [first, opened, reopened, atEnd] = [signal(), signal(), signal(), signal()]
  const one = setup.start('one', [
    (seen) => {
      first.give()
      return call(agent, 'open_page', { url: 'about:one' })(seen)
    },
    async (seen) => {
      opened.give()
      await reopened.given
      return call(agent, 'read_page')(seen)
    },
    ...(isRefused ? [] : attempts(agent, 'print_page', 'erase_page')),
    () => {
      atEnd.give()
      return new Promise(() => undefined)
    },
  ])
  await Promise.race([first.given, one.ended])
  const two = setup.start('two', [
    async (seen) => {
      await Promise.race([opened.given, one.ended])
      daemon = await daemonPid(setup)
      return call(agent, 'open_page', { url: 'about:two' })(seen)
    },
    async (seen) => {
      reopened.give()
      await Promise.race([atEnd.given, one.ended])
      killTree(one.pid)
      await one.ended
      return call(agent, 'read_page')(seen)
    },
  ])
  tell('two', await two.ended)
  reopened.give()
  killTree(one.pid)
  tell('one', await one.ended)
  const [pageOne, pageTwo] = [model.last('one').results[1] ?? '', model.last('two').results[1] ?? '']
  const processes = [pageOne, pageTwo].map((text) => /in process (\d+)/.exec(text)?.[1])
  const isOwn =
    pageOne.includes('about:one') && pageTwo.includes('about:two') && new Set(processes).size === 2
  const isSame = model.last('two').results[0]?.includes(`in process ${processes[1]}`)
  const isKept =
    isLeftAlone && isSame && pageTwo.includes('The page is') && (await daemonPid(setup)) === daemon
  const isDenied =
    isRuleReal &&
    called === true &&
    !setup.ran().some((tool) => tool === 'erase_page' || tool === 'print_page')
  story.push(`pages ran: ${setup.ran().join(' ')}; daemon left alone: ${isLeftAlone}`)
  const cell = (isTrue: boolean | undefined): Cell => (isTrue ? 'yes' : 'no')
  return {
    row: {
      found: cell(found),
      called: cell(called),
      denied: isRefused && isDenied ? 'refused' : cell(isDenied),
      ownProcess: cell(isOwn),
      survives: cell(isKept),
      limit,
    },
    story: story.join('\n'),
  }
}

/** Searches as the model would: with the gateway's tool if the agent shows it, otherwise with the agent's own search. */
function find(agent: Agent, { names }: Seen) {
  const shown = [agent.shows('toolwell', FIND), 'ToolSearch', 'tool_search']
  return { name: shown.find((name) => names.includes(name)) ?? FIND, arguments: { query: QUERY } }
}

function call(agent: Agent, tool: string, args = {}): Step {
  return ({ names }) =>
    names.includes(agent.shows('toolwell', RUN))
      ? { name: agent.shows('toolwell', RUN), arguments: { name: `pages__${tool}`, arguments: args } }
      : { name: agent.shows('toolwell', `pages__${tool}`), arguments: args }
}

/** Every way to these tools. Some agents end at the call of an unknown name, so direct calls are last. */
function attempts(agent: Agent, ...tools: string[]): Step[] {
  const through =
    (name: string, tool: string): Step =>
    () => ({
      name: agent.shows('toolwell', name),
      arguments: { name: `pages__${tool}`, arguments: {} },
    })
  return [
    ...[RUN, READ].flatMap((name) => tools.map((tool) => through(name, tool))),
    ...tools.map(
      (tool): Step =>
        () => ({ name: agent.shows('toolwell', `pages__${tool}`), arguments: {} }),
    ),
  ]
}

function signal() {
  let give: () => void = () => undefined
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { give, given }
}
