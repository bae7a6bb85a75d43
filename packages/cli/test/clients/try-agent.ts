/** Connects one agent in a new home, and runs it before and after: one row of the table. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRecord } from '@toolwell/core/internal'
import { eventually, running } from '../../../mcp/test/support/processes.js'
import { clientFiles } from '../../src/shared/clients/clients.js'
import { readToolwellEntry } from '../../src/shared/clients/toolwell-entry.js'
import { real } from '../support/home.js'
import { folderWith, script } from '../support/run.js'
import { type AgentProcess, killTree, type Model, type Step, startAgent, startModel } from './agent-run.js'
import { type Agent, onEntry, type Servers } from './agents.js'

/** `refused`: `connect` names the rules, and does not change the agent. */
export type Cell = 'yes' | 'no' | 'refused'

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
  /** Output and results of every run. They show the reason of a `no`. */
  readonly story: string
}

const pageServer = fileURLToPath(new URL('page-server.mjs', import.meta.url))
/** The gateway's tools. */
const [FIND, RUN, READ] = ['find_tools', 'run_tool', 'run_read_only_tool'] as const
const QUERY = { query: 'open a web page in the browser' }
const FIRST_SEARCH = { name: 'tool_search', arguments: QUERY }

/** `modules` is the node_modules folder with the packages of the agent. */
export async function tryAgent(agent: Agent, modules: string): Promise<Tried> {
  const model = await startModel(agent.wire)
  const home = setUp(agent, model, modules)
  try {
    const row = await measure(agent, home)
    return { row, story: home.story.join('\n') }
  } finally {
    await home.toolwell('stop', '--force')
    // Cline leaves a process that serves later runs.
    for (const pid of running(home.root)) killTree(pid)
    await model.close()
  }
}

type AgentHome = ReturnType<typeof setUp>

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
    ...agent.env?.(model.url),
  }
  const servers: Servers = {
    everything: [process.execPath, ...real('everything').args],
    files: [process.execPath, ...real('filesystem', folder).args],
    pages: [process.execPath, pageServer, log],
  }
  const read = (name: string) => (existsSync(join(home, name)) ? readFileSync(join(home, name), 'utf8') : '')
  const write = (name: string, content: unknown) => {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  }
  for (const [name, content] of Object.entries(agent.config(servers, model.url))) write(name, content)
  const story: string[] = []
  const readLog = (): string[] => readFileSync(log, 'utf8').match(/\w+$/gm) ?? []
  const toolwell = async (...words: string[]): Promise<string> => {
    const text = await startAgent([process.execPath, script, ...words], { folder, env }).ended
    if (words[0] !== 'status') story.push(`$ toolwell ${words.join(' ')}\n${text}`)
    return text
  }
  return {
    root,
    story,
    toolwell,
    readEntry: () =>
      clientFiles({ home, folder, platform: process.platform, env })
        .filter(({ client }) => client === agent.client)
        .map(readToolwellEntry)
        .find(isRecord),
    /** Writes deny rules for these tools of `pages`: in the agent's file, or in toolwell.json if `connect` moved them. */
    deny(...tools: string[]) {
      const { file, write: rules, isOnEntry } = agent.deny
      if (!isOnEntry || !this.readEntry()) return write(file, rules(read(file), tools))
      const moved = '.config/toolwell/toolwell.json'
      write(moved, onEntry(() => ({ deny: tools }))(read(moved), tools))
    },
    hasStarted: () => readLog().includes('started'),
    /** Names of the tools that the server `pages` ran. */
    ran: () => readLog().filter((word) => word !== 'started'),
    /** The model waits for `ready` before its first call. */
    start(run: string, ready: () => Promise<unknown>, steps: readonly Step[]): AgentProcess {
      const [first, ...others] = agent.isEarly ? [() => FIRST_SEARCH, ...steps] : steps
      const whenReady: Step = (seen) => ready().then(() => first?.(seen) ?? FIRST_SEARCH)
      model.script(run, [whenReady, ...others])
      const words = agent.args(`This is RUN-${run}. Do it.`)
      return startAgent([join(modules, agent.program), ...words], { folder, env })
    },
    /** Waits for the end of a run. Returns the results that the model saw. */
    async end(run: string, started: AgentProcess): Promise<readonly string[]> {
      const printed = await started.ended
      const { names, results } = model.last(run)
      const shown = results.map((result) => `  -> ${result.slice(0, 400)}`).join('\n')
      story.push(`RUN-${run}\n${printed.slice(-1500)}\n  tools: ${names.join(' ')}\n${shown}`)
      return results.slice(agent.isEarly ? 1 : 0)
    },
    /** Waits until the gateway has answered this many lists of tools, because some agents ask the model earlier. */
    async findDaemon(lists = 0): Promise<string | undefined> {
      for (let tries = 0; ; tries++) {
        const text = await toolwell('status', '--json')
        const isListed = Number(/"lists":(\d+)/.exec(text)?.[1] ?? 0) >= lists
        if (isListed || tries === 30) return /"pid":(\d+)/.exec(text)?.[1]
      }
    },
  }
}

async function measure(agent: Agent, home: AgentHome): Promise<Row> {
  // Before: the rule works without Toolwell.
  home.deny('erase_page')
  const started = () => eventually(home.hasStarted, 'the agent starts its server')
  const own = (tool: string, args = {}) => [() => ({ name: agent.shows('pages', tool), arguments: args })]
  const steps = [...own('open_page', { url: 'about:before' }), ...own('erase_page')]
  await home.end('before', home.start('before', started, steps))
  const isRule = home.ran().join() === 'open_page'

  const preview = await home.toolwell('connect', agent.client, '--yes')
  // A rule of the entry moves with it.
  const isNamed = agent.deny.isOnEntry || preview.includes('erase_page')
  const isRefused = home.readEntry() === undefined
  if (isRefused) {
    home.deny()
    await home.toolwell('connect', agent.client, '--yes')
  }
  const entry = home.readEntry()
  await home.toolwell('stop')

  // One run that ends by itself.
  let daemon: string | undefined
  const listed = (lists: number) => async () => {
    daemon = await home.findDaemon(lists)
  }
  const alone = home.start('alone', listed(1), [
    ({ names }) => find(agent, names),
    call(agent, 'open_page', { url: 'about:alone' }),
    ...(isRefused ? [] : attempts(agent, 'erase_page')),
  ])
  const [found = '', called = ''] = await home.end('alone', alone)
  const isLeft = daemon !== undefined && (await home.findDaemon()) === daemon

  // The user edits the rules. Two runs at once: the first starts the gateway, and is killed with all its processes.
  if (!isRefused) home.deny('erase_page', 'print_page')
  await home.toolwell('stop')
  const [first, firstOpened, secondOpened, firstIsIdle] = [signal(), signal(), signal(), signal()]
  const one = home.start('one', () => first.giveAnd(listed(1)()), [
    call(agent, 'open_page', { url: 'about:one' }),
    call(agent, 'read_page', {}, () => firstOpened.giveAnd(secondOpened.given)),
    ...(isRefused ? [] : attempts(agent, 'print_page', 'erase_page')),
    () => firstIsIdle.giveAnd(new Promise(() => undefined)),
  ])
  const orEnd = (event: { readonly given: Promise<void> }) => Promise.race([event.given, one.ended])
  await orEnd(first)
  const killFirst = async () => {
    secondOpened.give()
    await orEnd(firstIsIdle)
    killTree(one.pid)
    await one.ended
  }
  const two = home.start('two', () => orEnd(firstOpened).then(listed(2)), [
    call(agent, 'open_page', { url: 'about:two' }),
    call(agent, 'read_page', {}, killFirst),
  ])
  const [opened = '', pageTwo = ''] = await home.end('two', two)
  await killFirst()
  const [, pageOne = ''] = await home.end('one', one)
  const [processOne, processTwo, openedIn] = [pageOne, pageTwo, opened].map(
    (text) => /in process (\d+)/.exec(text)?.[1],
  )
  const isSame = processTwo === openedIn && (await home.findDaemon()) === daemon
  const isDenied =
    isRule && isNamed && !home.ran().some((tool) => tool === 'erase_page' || tool === 'print_page')
  home.story.push(
    `rule: ${isRule}, named: ${isNamed}, left: ${isLeft}, same: ${isSame}, pages ran: ${home.ran().join(' ')}`,
  )
  const cell = (isTrue: boolean) => (isTrue ? 'yes' : 'no')
  return {
    found: cell(found.includes('open_page')),
    called: cell(called.includes('Opened about:alone')),
    // Without a call that works, a refused one proves nothing.
    denied: isRefused && isDenied ? 'refused' : cell(isDenied && called.includes('Opened')),
    ownProcess: cell(
      /page is about:one/.test(pageOne) && /page is about:two/.test(pageTwo) && processOne !== processTwo,
    ),
    survives: cell(isLeft && isSame && /page is/.test(pageTwo)),
    limit: cell(entry?.[agent.limit[0]] === agent.limit[1]),
  }
}

/** Searches as the model would: with the gateway's tool if the agent shows it, otherwise with the agent's own search. */
function find(agent: Agent, names: readonly string[]) {
  const shown = [agent.shows('toolwell', FIND), 'ToolSearch', 'tool_search']
  return { name: shown.find((name) => names.includes(name)) ?? FIND, arguments: QUERY }
}

/** Calls a tool of `pages` as the model would, after `ready`. */
function call(agent: Agent, tool: string, args = {}, ready?: () => Promise<unknown>): Step {
  return async ({ names }) => {
    await ready?.()
    return names.includes(agent.shows('toolwell', RUN))
      ? through(agent, RUN, tool, args)
      : direct(agent, tool, args)
  }
}

const through = (agent: Agent, name: string, tool: string, args = {}) => ({
  name: agent.shows('toolwell', name),
  arguments: { name: `pages__${tool}`, arguments: args },
})

const direct = (agent: Agent, tool: string, args = {}) => ({
  name: agent.shows('toolwell', `pages__${tool}`),
  arguments: args,
})

/** Every way to these tools. Some agents end at the call of an unknown name, so direct calls are last. */
function attempts(agent: Agent, ...tools: string[]): Step[] {
  return [
    ...[RUN, READ].flatMap((name) => tools.map((tool) => () => through(agent, name, tool))),
    ...tools.map((tool) => () => direct(agent, tool)),
  ]
}

function signal() {
  let give: () => void = () => undefined
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return {
    give,
    given,
    giveAnd<Next>(next: Next): Next {
      give()
      return next
    },
  }
}
