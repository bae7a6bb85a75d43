import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  isHere,
  type ProgramName,
  programs,
  readProgram,
  readVariants,
  runProgram,
} from '../examples/scripted.ts'
import { guardChildren } from './setup/guard-children.ts'
import { isLong } from './setup/tier.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const guard = guardChildren()
const runWith = (env: Record<string, string>, file: string, ...parameters: string[]) =>
  spawnSync(process.execPath, ['--import', 'tsx', file, ...parameters], {
    cwd: root,
    encoding: 'utf8',
    // All child processes may connect only to loopback, like the tests themselves.
    env: { ...process.env, NODE_OPTIONS: guard, ...env },
  })
const run = (file: string, ...parameters: string[]) => runWith({}, file, ...parameters)

const readme =
  /^```text\n(2 {2}The second start[\s\S]*?)^```/m.exec(readFileSync(`${root}README.md`, 'utf8'))?.[1] ?? ''

/** Separates lines from their numbers. Removes bars. */
function figures(lines: readonly string[]): { readonly shapes: string[]; readonly numbers: number[] } {
  const plain = lines.map((line) => line.replace(/#+\.*/, ''))
  return {
    shapes: plain.map((line) => line.replace(/\d+(?:\.\d+)?/g, '0')),
    numbers: plain.flatMap((line) => line.match(/\d+(?:\.\d+)?/g) ?? []).map(Number),
  }
}

/** Expects every line of the README in the output. Numbers may differ by 2 %, because paths of this machine are counted too. */
function expectFigures(stdout: string): void {
  const shown = readme.split('\n').filter((line) => /\d/.test(line))
  const { shapes, numbers } = figures(shown)
  const printed = figures(
    stdout.split('\n').filter((line) => shapes.includes(figures([line]).shapes[0] ?? '')),
  )
  expect(printed.shapes).toEqual(shapes)
  for (const [index, number] of numbers.entries())
    expect(Math.abs((printed.numbers[index] ?? 0) - number)).toBeLessThanOrEqual(
      Math.max(Number.isInteger(number) ? 1 : 0.2, number / 50),
    )
}

it.each([
  ['with the defaults', []],
  ...(isLong ? [['over append', ['--delivery', 'append']] as const] : []),
] as const)(
  'the proof of npm run proof holds %s, prints plain text and leaves nothing behind',
  (_, flags) => {
    const home = mkdtempSync(join(tmpdir(), 'toolwell-home-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    // A separate folder for temporary files, to see what the program leaves there.
    const temporary = mkdtempSync(join(tmpdir(), 'toolwell-temporary-'))
    onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
    const left = () => readdirSync(temporary).filter((name) => name.startsWith('toolwell-'))
    const { status, stdout, stderr } = runWith(
      { HOME: home, TMPDIR: temporary },
      'examples/proof.ts',
      '--once',
      ...flags,
    )
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('checks hold.')
    expect(stdout).toContain('the model is scripted')
    // First listed one by one, then read from the cache without a process.
    for (const name of ['everything', 'filesystem', 'memory', 'playwright', 'chrome-devtools'])
      expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\d+ tools +[\\d.]+k? tokens$`, 'm'))
    expect(stdout).toMatch(
      /^ {2}5 servers, \d+ tools, [\d.]+k tokens of definitions as they are listed; 0 processes$/m,
    )
    expect(stdout).toMatch(/ 1 +search “/)
    // The figures for small catalogues are measured, too.
    expect(stdout).toMatch(/net saving/)
    expect(stdout).toMatch(/With its defaults Toolwell sends them all:/)
    expect(stdout).toMatch(/Deferred all the same \(mode: on\):\n.*\n.*net loss \d/)
    expect(stdout).not.toMatch(/\u001b|✗|undefined/)
    if (flags.length === 0) expectFigures(stdout)
    expect(left()).toEqual([])
    // No server wrote into the user's home or looked for updates.
    expect(readdirSync(home)).toEqual([])
  },
)

it.runIf(isLong)('the proof of npm start holds, prints plain text and leaves nothing behind', () => {
  const home = mkdtempSync(join(tmpdir(), 'toolwell-home-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const temporary = mkdtempSync(join(tmpdir(), 'toolwell-temporary-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const { status, stdout, stderr } = runWith(
    { HOME: home, TMPDIR: temporary },
    'examples/gateway.ts',
    '--once',
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^All \d+ checks hold\.$/m)
  expect(stdout).toContain('the model is scripted')
  expect(stdout).not.toMatch(/\u001b|FAIL|undefined/)
  expect(readdirSync(temporary).filter((name) => name.startsWith('toolwell-'))).toEqual([])
  expect(readdirSync(home)).toEqual([])
})

/** Runs `npm start` with a separate folder for temporary files, and collects its output. Ends after the test. */
function startIn(temporary: string, ...parameters: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/gateway.ts', ...parameters], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: guard, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGTERM'))
  const printed = { text: '' }
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    printed.text += piece
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, printed, ended }
}

it('a second npm start leaves the first alone, and Ctrl-C ends it with a word', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'toolwell-temporary-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const folder = join(temporary, 'start')
  const flags = ['--stay', '--port', '0', '--folder', folder]
  const { child, printed, ended } = startIn(temporary, ...flags)
  await expect.poll(() => printed.text, { timeout: 120_000 }).toContain('Ctrl-C ends it.')
  expect(printed.text).toContain('~/.cursor/mcp.json')

  const second = run('examples/gateway.ts', ...flags)
  expect(second).toMatchObject({ status: 1, stdout: '' })
  expect(second.stderr).toContain('Press Ctrl-C in its terminal')
  expect(second.stderr).toContain(`stop --folder ${join(folder, 'gateway')}`)
  expect(existsSync(join(folder, 'project', 'package.json'))).toBe(true)
  expect(existsSync(join(folder, 'config', 'toolwell', 'toolwell.json'))).toBe(true)

  // The sample shows a failed server and a changed definition on the dashboard.
  await expect.poll(() => printed.text, { timeout: 60_000 }).toContain('tickets is quarantined: close_ticket')
  await expect.poll(() => printed.text).toContain('called filesystem__read_multiple_files')
  expect(printed.text).toContain('BILLING_URL is not set')
  expect(printed.text).not.toContain('the sample clients stopped')
  expect(printed.text).not.toContain('toolwell -- approve')

  // The suggested question can be answered.
  expect(printed.text).toMatch(
    /^Ask it {2}.* src\/invoice\.js\. What is wrong in it\?\n.*the example project/m,
  )
  const state = join(folder, 'gateway')
  // Without a link, the dashboard shows the command that prints one.
  const [, url] = /^ *URL +(\S+)\/mcp$/m.exec(printed.text) ?? []
  const refused = await fetch(`${url}/dashboard/`)
  expect([refused.status, await refused.text()]).toEqual([
    401,
    expect.stringContaining(`npm run -s toolwell -- dashboard --folder ${state}\n`),
  ])
  const asClient = (input: string) =>
    spawnSync(process.execPath, ['packages/cli/bin/toolwell.mjs', 'serve', '--stdio', '--folder', state], {
      cwd: root,
      encoding: 'utf8',
      input: `${input}\n`,
    })
  const call = { name: 'read_text_file', arguments: { path: 'src/invoice.js' } }
  const initialize = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'client', version: '1' },
  }
  const asked = asClient(
    [
      { jsonrpc: '2.0', id: 0, method: 'initialize', params: initialize },
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'run_read_only_tool', arguments: call },
      },
    ]
      .map((message) => JSON.stringify(message))
      .join('\n'),
  )
  expect(asked.stdout).toContain('items.length - 1')

  child.kill('SIGINT')
  expect(await ended).toBe(0)
  const [before, last] = printed.text.trimEnd().split('\n').slice(-2)
  expect(before).toBe('Stopped.')
  expect(last).toMatch(/^To disconnect a client: claude mcp remove /)
  expect(printed.text).not.toContain('the config has changed')
  expect(existsSync(join(folder, 'project'))).toBe(false)

  // The printed command for stdio clients does not start another gateway.
  const bridge = asClient('{"jsonrpc":"2.0","id":1,"method":"ping"}')
  const again = `cd ${root.replace(/\/$/, '')} && npm start -- --port 0 --folder ${folder}`
  expect(bridge.stderr).toContain(again)
  expect(existsSync(join(state, 'daemon.json'))).toBe(false)
})

it('npm start without a terminal says first what it does, and leaves nothing behind when it is interrupted', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'toolwell-temporary-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const { child, printed, ended } = startIn(temporary)
  await expect.poll(() => printed.text, { timeout: 120_000 }).toContain('The first start')
  expect(printed.text.split('\n')[0]).toMatch(/Without a terminal.*--once.*npm start -- --stay/)
  expect(readdirSync(temporary).some((name) => name.startsWith('toolwell-start-'))).toBe(true)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(readdirSync(temporary).filter((name) => name.startsWith('toolwell-'))).toEqual([])
})

/** Sends Ctrl-C to every process of the group, as a terminal does. Returns the rest of the folder of temporary files. */
async function interruptedAt(moment: (folder: string) => Promise<unknown>, ...parameters: string[]) {
  const temporary = mkdtempSync(join(tmpdir(), 'toolwell-temporary-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const flags = parameters.map((word) => word.replace('FOLDER', join(temporary, 'toolwell-start-own')))
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/gateway.ts', ...flags], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: guard, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error('The program did not start.')
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  const ended = new Promise<number | string | null>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  )
  await Promise.race([moment(temporary), ended])
  if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGINT')
  const code = await ended
  const left = readdirSync(temporary).filter((name) => /^toolwell-start-(?!own)/.test(name))
  const own = join(temporary, 'toolwell-start-own', 'project')
  return { code, text, left: [...left, ...(existsSync(own) ? ['project'] : [])] }
}

/** The gateway process has just started and cannot handle a signal yet. */
const isConfigured = (temporary: string) =>
  expect
    .poll(
      () =>
        readdirSync(temporary).some((name) =>
          existsSync(join(temporary, name, 'config', 'toolwell', 'toolwell.json')),
        ),
      { timeout: 120_000, interval: 5 },
    )
    .toBe(true)

it.each([['--once'], ['--stay', '--port', '0', '--folder', 'FOLDER']])(
  'Ctrl-C while the gateway of npm start is starting ends it with a word, and leaves nothing behind: %s',
  async (...flags) => {
    const { code, text, left } = await interruptedAt(isConfigured, ...flags)
    expect({ code, last: text.trimEnd().split('\n').at(-1), left }).toEqual({
      code: 130,
      last: 'Stopped.',
      left: [],
    })
  },
)

it.runIf(isLong).each([['--once'], ['--stay', '--port', '0', '--folder', 'FOLDER']])(
  'Ctrl-C ends npm start at whatever moment it comes, and leaves nothing behind: %s',
  async (...flags) => {
    for (let milliseconds = 200; milliseconds < 14_000; milliseconds += 400) {
      const moment = () => new Promise((resolve) => setTimeout(resolve, milliseconds))
      const { code, text, left } = await interruptedAt(moment, ...flags)
      const last = text.trimEnd().split('\n').at(-1) ?? ''
      // Before any work, the signal itself ends the process. With --once, it may have ended already.
      const isOver = code === 'SIGINT' || last === 'Stopped.' || last.endsWith('checks hold.')
      expect({ milliseconds, isOver, left }).toEqual({ milliseconds, isOver: true, left: [] })
    }
  },
  900_000,
)

it('npm start says in its own words that its port is taken', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const temporary = mkdtempSync(join(tmpdir(), 'toolwell-temporary-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const flags = ['--stay', '--port', String(port), '--folder', join(temporary, 'start')]
  expect(run('examples/gateway.ts', ...flags)).toMatchObject({
    ...{ status: 2, stdout: '' },
    stderr: `Port ${port} is used by another program. Give another, or 0 for any that is free:\n  npm start -- --port PORT\n`,
  })
  expect(readdirSync(temporary)).toEqual([])
})

it('npm start explains itself and refuses what it does not know', () => {
  expect(run('examples/gateway.ts', '--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Usage: npm start'),
  })
  expect(run('examples/gateway.ts', '--nonsense')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Unknown: --nonsense.\n'),
  })
  expect(run('examples/gateway.ts', '--onec').stderr).toContain('Unknown: --onec. Did you mean --once?')
})

it('npm run proof explains itself and refuses what it does not know', () => {
  expect(run('examples/proof.ts', '--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Examples'),
  })
  expect(run('examples/proof.ts', '--delivery', 'pigeon')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--delivery needs bridge or append, not pigeon'),
  })
})

it('the program of the README runs', () => {
  expect(run('examples/minimal.ts')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/\nInvoice 7 is on its way\.\n"thread-1": 3 requests, /),
  })
})

describe.each(Object.keys(programs) as ProgramName[])('examples/%s', (name) => {
  const text = readProgram(name)

  it('has at most 80 lines', () => {
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(80)
  })

  it('is what its guide shows', () => {
    const link = `](../../examples/${name}/main.ts)`
    const guides = readdirSync(join(root, 'docs/guides')).map((file) => join(root, 'docs/guides', file))
    const guide = guides.find((file) => readFileSync(file, 'utf8').includes(link)) ?? ''
    const page = readFileSync(guide, 'utf8')
    const [before = '', ...after] = page.split(link)
    const changed = after
      .join(link)
      .replace(/^```(\w+)\n(?:.*\n)*?```$/m, (_, language) => `\`\`\`${language}\n${text}\`\`\``)
    if (process.env.UPDATE_GOLDEN) writeFileSync(guide, before + link + changed)
    else expect(page).toBe(before + link + changed)
    for (const packages of readVariants(text).filter(({ length }) => length > 0))
      expect(page).toMatch(new RegExp(`^npm install ${packages.join(' ')}$`, 'm'))
  })

  const here = readVariants(text).filter(isHere)
  it.each(here.map((packages) => [packages]))('runs, and its requests are right: %j', async (packages) => {
    const env = { ...process.env, NODE_OPTIONS: guard }
    expect((await runProgram(name, packages, { env })).output).toContain('Invoice 7 is on its way.')
  })
})

it('the adapter for a wire of one’s own runs and checks itself', () => {
  expect(run('examples/own-wire.ts')).toMatchObject({
    status: 0,
    stderr: '',
    stdout: 'Invoice 7 is on its way.\n',
  })
})

const SEEDS = [
  ['SF', 'sf_tool_search', 'close_issue', 'LazyToolSessionState {"loadedLazyTools":["close_issue"]'],
  ['super-agent', 'tool_search', 'mcp__github__close_issue', 'countTokenEstimate {"active":'],
  ['Qwen Code', 'tool_search', 'mcp__github__close_issue', 'revealed mcp__github__close_issue; deferred 4'],
  ['Caliban', 'ToolSearch', 'mcp__github__close_issue', 'MCP active: 1/24 (mcp__github__close_issue)'],
  ['PawWork', 'tool_info', 'close_issue', 'never pruned: results of tool_info'],
] as const

it('the seeds do the same task side by side, each with its own names', () => {
  const { status, stdout, stderr } = run('examples/seeds.ts')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).not.toContain('\u001b')
  for (const [name, loader, target, own] of SEEDS) {
    expect(stdout).toMatch(new RegExp(`^${name} +${loader} .* ${target} +3 → 4 +\\d+ → \\d+$`, 'm'))
    const [, part = ''] = stdout.split(`\n${name}\n`)
    expect(part).toMatch(new RegExp(`before {2}bash, read, ${loader} \\(`))
    expect(part).toMatch(new RegExp(`after {3}bash, read, ${loader}, ${target} \\(`))
    expect(part).toContain(own)
  }
})

it('the seeds as JSON hold every request, and nothing else is printed', () => {
  const { status, stdout } = run('examples/run.ts', 'seeds', '--json')
  expect(status).toBe(0)
  const { task, systems } = JSON.parse(stdout)
  expect(task).toBe('Close issue 7.')
  expect(
    systems.map(({ system, loader, target, before, after, answer, report }: Record<string, never>) => {
      const { body: first, tools: hidden, tokens } = before as unknown as Sent
      const { body: second, tools: shown } = after as unknown as Sent
      expect(hidden).toEqual(first.tools.map((each) => each.function.name))
      expect(shown).toEqual(second.tools.map((each) => each.function.name))
      expect(tokens).toBeGreaterThan(0)
      expect(second.messages.map(({ content }) => content)).toContain(answer)
      expect(report).not.toEqual([])
      return [system, loader, target]
    }),
  ).toEqual(SEEDS.map(([system, loader, target]) => [system, loader, target]))
})

interface Sent {
  readonly tools: readonly string[]
  readonly tokens: number
  readonly body: {
    readonly tools: readonly { readonly function: { readonly name: string } }[]
    readonly messages: readonly { readonly content: unknown }[]
  }
}

it('npm run examples refuses what it does not know', () => {
  for (const words of [['nothing'], ['--xml'], ['minimal', '--json']])
    expect(run('examples/run.ts', ...words)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Names:'),
    })
  expect(run('examples/run.ts', 'nothing').stderr).toContain('No example is called "nothing".')
})

it('the agent stays readable in an afternoon, each of its files in one sitting', () => {
  const sources = readdirSync(`${root}examples/agent`).filter((name) => name.endsWith('.ts'))
  const lines = sources.map((name) => ({
    name,
    lines: readFileSync(`${root}examples/agent/${name}`, 'utf8').trimEnd().split('\n').length,
  }))
  expect(lines.filter((file) => file.lines > 250)).toEqual([])
  expect(lines.reduce((sum, file) => sum + file.lines, 0)).toBeLessThanOrEqual(1500)
})
