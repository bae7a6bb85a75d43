/** Secrets in every place of a config, in every form that people have them in: none is in anything that is shown or kept. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, type ServerConfig } from '@toolwell/mcp'
import { describeStart, showEndpoint } from '@toolwell/mcp/internal'
import { expect, onTestFinished, test } from 'vitest'
import { isLong, someOf } from '../../../test/setup/tier.ts'
import { createDefinitionRedactor, createRedactor } from '../../mcp/src/config/redact.ts'
import { removeSecrets } from '../../mcp/src/definition/clean-definition.ts'
import type { ServerDefinition } from '../../mcp/src/definition/server-definition.ts'
import { type Home, homeWith } from './support/home.ts'
import { createPlanter, forms, formsFor, leaksIn, type Planted, windowsOf } from './support/secret-forms.ts'
import {
  ARGUMENTS,
  type Entry,
  plain,
  program,
  SHOWN,
  toldFormsFor,
  VARIABLES,
} from './support/secret-places.ts'
import { tell } from './support/told.mjs'

const WAIT = isLong ? 1_800_000 : 240_000

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesIn(path) : [path]
  })
}

/** Runs the verbs; gives what leaked into their output and into the files they left. */
async function leaksOf(
  { run, atTerminal, folder }: Home,
  calls: readonly string[][],
  planted: readonly Planted[],
  configs: readonly string[],
) {
  const found: string[] = []
  const windows = windowsOf(planted)
  for (const words of calls) {
    const isApproving = words[0] === 'approve' || words.includes('--approve')
    const { output, errors } = await (isApproving ? atTerminal : run)(words)
    expect(output + errors).not.toBe('')
    found.push(...leaksIn(output + errors, windows).map((leak) => `${words.join(' ')}: ${leak}`))
  }
  for (const file of filesIn(folder))
    if (!configs.some((config) => file.endsWith(config)))
      found.push(
        ...leaksIn(readFileSync(file, 'utf8'), windows).map(
          (leak) => `${file.slice(folder.length)}: ${leak}`,
        ),
      )
  return found
}

const VERBS = [
  ['inspect'],
  ['inspect', '--json'],
  ['doctor'],
  ['doctor', '--json'],
  ['doctor', '--sarif', 'out.sarif'],
  ['approve'],
  ['approve', '--json'],
  ['lock'],
  ['lock', '--json'],
  ['lock', '--check'],
  ['lock', '--check', '--json'],
  ['search', 'tell'],
  ['search', 'tell', '--json'],
  ['search', 'started with', '--why', 'tell'],
  ['learn', 'status'],
  ['approve', '--yes', '*'],
  ['lock', '--approve', '*'],
  ['doctor', '--json'],
]

/** Enough where many servers are started by each. */
const TALKATIVE = [
  ['inspect'],
  ['inspect', '--json'],
  ['doctor', '--sarif', 'out.sarif'],
  ['lock'],
  ['lock', '--check', '--json'],
  ['search', 'tell', '--json'],
  ['approve', '--yes', '*'],
  ['doctor', '--json'],
]

/** In `npm test` a third of the forms at each place, others at the next. */
function aThird(usual: readonly string[], at: number): readonly string[] {
  return usual.filter((_, form) => isLong || (form + at) % 3 === 0)
}

test('no form in any place is in what is shown of an entry, what is pinned of it, or what is left of a message', () => {
  const found: string[] = []
  const folder = tmpdir()
  let tried = 0
  for (const [at, [place, made]] of Object.entries(SHOWN).entries())
    for (const form of aThird(formsFor(place), at)) {
      const { planted, plant } = createPlanter(tried++)
      const text = JSON.stringify({ mcpServers: { s: made(plant(place, form)) } })
      const { servers, problems } = loadConfig({
        files: [{ path: join(folder, 'toolwell.json'), text }],
        env: {},
        workspaceFolder: folder,
      })
      const shown = servers.flatMap((server) => {
        const { endpoint, secrets } = server
        const values =
          endpoint.type === 'stdio'
            ? [endpoint.command, ...endpoint.args, ...Object.values(endpoint.env)]
            : [endpoint.url, ...Object.values(endpoint.headers)]
        const said = [values.join(' '), JSON.stringify(values), ...values].map(
          (value) => `cannot use ${value}`,
        )
        return [showEndpoint(endpoint, secrets), describeStart(server), ...said.map(createRedactor(server))]
      })
      found.push(...leaksIn([JSON.stringify(problems), ...shown].join('\n'), windowsOf(planted)))
    }
  expect(tried).toBeGreaterThan(isLong ? 2000 : 650)
  expect(found).toEqual([])
})

/** The rest of a server's output about its config after redaction: in its log, line by line, and in its definition. */
function leftOf(server: ServerConfig): string {
  const { endpoint } = server
  if (endpoint.type !== 'stdio') throw new Error('not a local server')
  const { command, args, env, cwd } = endpoint
  const { log, ...definition } = tell({
    args: args.slice(2),
    argv: [command, ...args],
    env: Object.values(env),
    cwd,
  })
  const listed = { ...definition, protocol: '', isComplete: true } as unknown as ServerDefinition
  const clean = removeSecrets(listed, createDefinitionRedactor(server))
  return [...log.split('\n').map(createRedactor(server)), JSON.stringify(clean)].join('\n')
}

function loaded(entry: Entry): ServerConfig {
  const text = JSON.stringify({ mcpServers: { s: entry } })
  const [server] = loadConfig({
    files: [{ path: join(tmpdir(), 'toolwell.json'), text }],
    env: {},
    workspaceFolder: tmpdir(),
  }).servers
  if (!server) throw new Error(`cannot be used: ${text}`)
  return server
}

test('no form in any place is left of what a server tells of it, in a message or in its definition', {
  timeout: WAIT,
}, () => {
  const found: string[] = []
  let tried = 0
  const places = [
    ...Object.entries(ARGUMENTS).map(
      ([place, made]) => [place, (secret: string) => program(...made(secret))] as const,
    ),
    ...Object.entries(VARIABLES).map(
      ([place, made]) => [place, (secret: string) => ({ ...program(), env: made(secret) })] as const,
    ),
  ]
  // Random letters are a word now and then: the long tier tries four of each.
  for (let round = 0; round < (isLong ? 4 : 1); round++)
    for (const [at, [place, made]] of places.entries())
      for (const form of aThird(toldFormsFor(place), at)) {
        const { planted, plant } = createPlanter(tried++)
        found.push(...leaksIn(leftOf(loaded(made(plant(place, form)))), windowsOf(planted)))
      }
  expect(tried).toBeGreaterThan(isLong ? 6000 : 500)
  expect(found).toEqual([])
})

/** Real configs do not have thousands of servers: in the long tier every form is in every place of one of these batches. */
const BATCHES = 8
const batches = isLong ? Array.from({ length: BATCHES }, (_, batch) => batch) : [0]

/** The forms that a batch tries at a place. */
function inBatch(usual: readonly string[], at: number, batch: number): readonly string[] {
  return isLong ? usual.filter((_, form) => (form + at) % BATCHES === batch) : someOf(usual, at)
}

test('every form is in every place of some batch', () => {
  for (const [at, place] of Object.keys(SHOWN).entries()) {
    const tried = batches.flatMap((batch) => inBatch(formsFor(place), at, batch))
    expect(tried.length).toBe(isLong ? formsFor(place).length : 1)
    expect(new Set(tried).size).toBe(tried.length)
  }
})

test.each(batches)(
  'nothing that is switched off, or refused, shows a secret (batch %i)',
  { timeout: WAIT },
  async (batch) => {
    const { planted, plant } = createPlanter(batch * 1000)
    const servers = Object.fromEntries(
      Object.entries(SHOWN).flatMap(([place, made], at) =>
        inBatch(formsFor(place), at, batch).map((form) => [
          `s${planted.length}`,
          { enabled: false, ...made(plant(place, form)) },
        ]),
      ),
    )
    expect(planted.length).toBeGreaterThanOrEqual(40)
    const home = homeWith({
      'toolwell.json': { mcpServers: { ...servers, ok: program() } },
      '.mcp.json': { mcpServers: servers },
      'home/.cursor/mcp.json': { mcpServers: servers },
    })
    const imports = [
      ['import', '--to', 'other.json'],
      ['import', '--json', '--to', 'other.json'],
      ['import', '--to', 'other.json', '--yes'],
    ]
    const connections = [
      ['connect', '--dry-run'],
      ['connect', '--json'],
      ['connect', '--yes'],
      ['connect'],
      ['undo', '--json'],
      ['undo', '--yes'],
    ]
    const leaks = await leaksOf(home, [...VERBS, ...imports, ...connections], planted, [
      'toolwell.json',
      'mcp.json',
      'other.json',
    ])
    expect(leaks).toEqual([])
  },
)

test('no server that tells what it was started with, or dies of it, makes a secret known', {
  timeout: WAIT,
}, async () => {
  const { planted, plant } = createPlanter()
  const servers: Record<string, Entry> = {}
  // A process for each pair would take hours: one server has a form in all places, as each is tried alone above.
  const tried = forms.filter((_, at) => isLong || at % 14 === 0)
  for (const [at, form] of tried.entries())
    for (const end of at % 3 === 0 ? [[], ['--dies']] : [[]]) {
      const isTried = ([place]: [string, unknown]) => toldFormsFor(place).includes(form)
      const args = Object.entries(ARGUMENTS).filter(isTried)
      const variables = Object.entries(VARIABLES).filter(isTried)
      servers[`s${at}${end.length > 0 ? 'dies' : ''}`] = {
        ...program(...args.flatMap(([place, made]) => made(plant(place, form))), ...end),
        env: Object.assign({}, ...variables.map(([place, made]) => made(plant(place, form)))),
      }
    }
  const home = homeWith({
    'toolwell.json': { mcpServers: servers },
    'home/.cursor/mcp.json': { mcpServers: servers },
  })
  const logs = Object.keys(servers).map((name) => ['logs', name])
  const connections = [
    ['connect', '--start', '--yes'],
    ['undo', '--yes'],
  ]
  const leaks = await leaksOf(home, [...TALKATIVE, ...logs, ...connections], planted, [
    'toolwell.json',
    'mcp.json',
  ])
  expect(leaks).toEqual([])
})

test('no remote server that repeats what it is sent makes a secret known', async () => {
  const { planted, plant } = createPlanter()
  const server = createServer((request, response) => {
    const told = `${request.url} ${Object.values(request.headers).join(' ')} ${Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64')}`
    response
      .writeHead(request.url?.includes('moved') ? 307 : 400, { location: `/elsewhere${request.url}` })
      .end(told)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // Only these can be sent in a header.
  const ascii = (secret: string) => secret.replace(/[^\x20-\x7e]/g, '')
  const places: Readonly<Record<string, (secret: string) => Entry>> = {
    path: (secret) => ({ url: `${base}/hooks/${plain(secret)}/mcp` }),
    'moved path': (secret) => ({ url: `${base}/moved/${plain(secret)}/mcp` }),
    query: (secret) => ({ url: `${base}/mcp?key=${plain(secret)}` }),
    header: (secret) => ({ url: `${base}/mcp`, headers: { Authorization: `Bearer ${ascii(secret)}` } }),
    basic: (secret) => ({
      url: `${base}/mcp`,
      headers: { Authorization: `Basic ${Buffer.from(`ada:${secret}`).toString('base64')}` },
    }),
  }
  const servers = Object.fromEntries(
    forms.flatMap((form, at) =>
      someOf(Object.keys(places), at)
        .filter((place) => formsFor(place).includes(form))
        .map((place) => [`s${planted.length}`, places[place]?.(plant(place, form)) ?? {}]),
    ),
  )
  const home = homeWith({ 'toolwell.json': { mcpServers: servers } })
  const logins = Object.keys(servers)
    .filter((_, at) => at % 7 === 0)
    .map((name) => ['login', name, '--timeout', '5'])
  expect(
    await leaksOf(home, [['inspect'], ['inspect', '--json'], ['doctor'], ['lock'], ...logins], planted, [
      'toolwell.json',
    ]),
  ).toEqual([])
})
