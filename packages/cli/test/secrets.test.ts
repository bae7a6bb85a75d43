/** Secrets in every place of a config, in every form that people have them in: none is in anything that is shown or kept. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadConfig } from '@toolwell/mcp'
import { showEndpoint, startOf } from '@toolwell/mcp/internal'
import { expect, onTestFinished, test } from 'vitest'
import { isLong, someOf } from '../../../test/setup/tier.ts'
import { redactor } from '../../mcp/src/config/redact.ts'
import { type Home, homeWith } from './support/home.ts'

const telling = fileURLToPath(new URL('support/telling-server.mjs', import.meta.url))

/** Random texts that say which secret they are of, wherever a piece of them turns up. Always the same ones. */
function createRandom(seed: number) {
  let state = seed
  const pieces: string[] = []
  const below = (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const of = (letters: string) => (length: number) => {
    let text = ''
    while (text.length < length) text += letters[below(letters.length)]
    pieces.push(text)
    return text
  }
  const lower = 'abcdefghijklmnopqrstuvwxyz'
  const syllable = () => `${'bdfglmnprstv'[below(12)]}${'aeiou'[below(5)]}`
  return {
    pieces,
    mixed: of(`${lower}${lower.toUpperCase()}0123456789`),
    letters: of(`${lower}${lower.toUpperCase()}`),
    lower: of(lower),
    upper: of(lower.toUpperCase()),
    capitals: of(`${lower.toUpperCase()}234567`),
    digits: of('0123456789'),
    hex: of('0123456789abcdef'),
    base64: of(`${lower}${lower.toUpperCase()}0123456789+/`),
    url: of(`${lower}${lower.toUpperCase()}0123456789-_`),
    /** Can be spoken, and means nothing. */
    word() {
      const text = Array.from({ length: 5 }, syllable).join('')
      pieces.push(text)
      return text
    },
  }
}
type Random = ReturnType<typeof createRandom>

/** Ways in which a secret is written. */
const FORMS: Readonly<Record<string, (random: Random) => string>> = {
  'sk-proj': (r) => `sk-proj-${r.mixed(32)}`,
  'sk-ant': (r) => `sk-ant-api03-${r.url(24)}`,
  sk_live: (r) => `sk_live_${r.mixed(24)}`,
  ghp: (r) => `ghp_${r.mixed(36)}`,
  github_pat: (r) => `github_pat_${r.mixed(22)}_${r.mixed(20)}`,
  glpat: (r) => `glpat-${r.mixed(20)}`,
  xoxb: (r) => `xoxb-${r.digits(11)}-${r.digits(12)}-${r.mixed(24)}`,
  hook: (r) => `T0${r.capitals(8)}/B0${r.capitals(8)}/${r.mixed(24)}`,
  AKIA: (r) => `AKIA${r.capitals(16)}`,
  'aws secret': (r) => r.base64(40),
  AIza: (r) => `AIza${r.url(35)}`,
  npm: (r) => `npm_${r.mixed(36)}`,
  jwt: (r) => `eyJhbGciOiJIUzI1NiJ9.${r.url(30)}.${r.url(20)}`,
  hex: (r) => r.hex(32),
  HEX: (r) => r.hex(40).toUpperCase(),
  uuid: (r) => `${r.hex(8)}-4c1e-4b7a-9f10-${r.hex(12)}`,
  base64: (r) => `${r.base64(22)}==`,
  base64url: (r) => r.url(43),
  key: (r) => `-----BEGIN PRIVATE KEY-----\n${r.base64(40)}\n${r.base64(20)}==\n-----END PRIVATE KEY-----`,
  long: (r) => r.mixed(720),
  lower: (r) => r.lower(16),
  letters: (r) => r.letters(20),
  upper: (r) => r.upper(16),
  digits: (r) => r.digits(14),
  password: (r) => `Tr0ub4dor&${r.mixed(8)}!`,
  phrase: (r) => `${r.word()} ${r.word()} ${r.word()} ${r.word()}`,
  'two words': (r) => `${r.word()} ${r.word()}`,
  dashes: (r) => `${r.word()}-${r.word()}-${r.word()}`,
  underscores: (r) => `${r.word()}_${r.word()}`,
  word: (r) => r.word(),
  'word and year': (r) => `${r.word()}2024`,
  quotes: (r) => `pa"ss\\wo'rd${r.mixed(8)}x`,
  accents: (r) => `geheimnis-${r.mixed(9)}-für-öl`,
  'other script': (r) => `秘密${r.mixed(9)}の鍵`,
  dollars: (r) => `$ecr$${r.mixed(9)}$$`,
  braces: (r) => `[${r.mixed(9)}]{x}`,
  percent: (r) => `100%${r.mixed(9)}%zz`,
  assigned: (r) => `${r.mixed(9)}=${r.mixed(9)}==`,
  'user and password': (r) => `ada:${r.mixed(10)}`,
  'at and slash': (r) => `p@${r.mixed(9)}/${r.mixed(9)}`,
  markup: (r) => `<${r.mixed(9)}>&amp;`,
  six: (r) => `${r.mixed(4)}${r.digits(1)}${r.lower(1)}`.slice(0, 6),
}

/** May be names: they are shown in the path of an address. */
const LIKE_NAMES: readonly string[] = ['word', 'underscores']
/** May be a word of a sentence: where nothing says that it is a secret, a server may use it in its definitions. */
const LIKE_WORDS: readonly string[] = ['word']
const forms = Object.keys(FORMS)
const formsFor = (place: string) =>
  /path/.test(place) && !/missing/.test(place) ? forms.filter((form) => !LIKE_NAMES.includes(form)) : forms

type Entry = Readonly<Record<string, unknown>>
const program = (...args: string[]): Entry => ({ command: process.execPath, args: [telling, '{}', ...args] })
const npx = (...args: string[]): Entry => ({ command: 'npx', args: ['-y', '@scope/server@1.2.3', ...args] })
const url = (address: string): Entry => ({ url: address })
const plain = (secret: string) => encodeURIComponent(secret)

/** Places in a local server's entry that its program is really started with. */
const ARGUMENTS: Readonly<Record<string, (secret: string) => string[]>> = {
  positional: (secret) => [secret],
  'flag value': (secret) => ['--api-key', secret],
  'flag with =': (secret) => [`--token=${secret}`],
  'camelCase flag': (secret) => ['--apiKey', secret],
  'camelCase flag with =': (secret) => [`--accessToken=${secret}`],
  'unknown flag': (secret) => ['--workspace', secret],
  'unknown flag with =': (secret) => [`--workspace=${secret}`],
  'short flag': (secret) => ['-k', secret],
  'short flag, attached': (secret) => [`-p${secret}`],
  'one dash, long': (secret) => ['-token', secret],
  'system property': (secret) => [`-Dapi.key=${secret}`],
  'docker -e': (secret) => ['-e', `API_KEY=${secret}`],
  'docker --env=': (secret) => [`--env=API_KEY=${secret}`],
  'env word': (secret) => [`API_KEY=${secret}`],
  header: (secret) => ['--header', `Authorization: Bearer ${secret}`],
  'header, no space': (secret) => ['--header', `Authorization:${secret}`],
  'header with =': (secret) => [`--header=X-Key: ${secret}`],
  'shell text': (secret) => ['-c', `API_KEY=${secret} npx -y server --token ${secret}`],
  'shell export': (secret) => ['-c', `export TOKEN='${secret}' && exec node server.js`],
  json: (secret) => [JSON.stringify({ auth: { token: secret } })],
  'postgres address': (secret) => [`postgresql://ada:${plain(secret)}@localhost:5432/app`],
  'mongo address': (secret) => [`mongodb+srv://${plain(secret)}@cluster0.example.net/db`],
  'redis address, no user': (secret) => [`redis://:${plain(secret)}@127.0.0.1:6379`],
  'address with a query': (secret) => [`https://example.com/mcp?api_key=${plain(secret)}`],
  'address with a path': (secret) => ['mcp-remote', `https://example.com/hooks/${plain(secret)}/mcp`],
  'address with a fragment': (secret) => [`https://example.com/#${plain(secret)}`],
  'flag with an address': (secret) => [`--url=wss://user:${plain(secret)}@example.com/sse`],
  'connection string': (secret) => [`Server=db;User Id=sa;Password=${secret};`],
  'path that is missing': (secret) => [`/no/such/${plain(secret)}/file`],
  'after two dashes': (secret) => ['--', secret],
  'switch that a runner has too': (secret) => ['-t', secret],
  'another such switch': (secret) => ['-p', secret, '-i', secret, '--package', secret],
  'system property of a word': (secret) => [`-Dworkspace=${secret}`],
}

/** Places in its environment. */
const VARIABLES: Readonly<Record<string, (secret: string) => Record<string, string>>> = {
  variable: (secret) => ({ WORKSPACE: secret }),
  'named variable': (secret) => ({ API_KEY: secret }),
  'address in a variable': (secret) => ({
    DATABASE_URL: `postgres://ada:${plain(secret)}@db.example.com/app`,
  }),
  'JSON in a variable': (secret) => ({ SETTINGS: JSON.stringify({ auth: [{ token: secret }] }) }),
  'connection string in a variable': (secret) => ({ DSN: `Server=db;User Id=sa;Password="${secret}";` }),
  'user and password in a variable': (secret) => ({ LOGIN: `ada:${secret}` }),
}

/** Places that are only shown: the server is switched off. */
const SHOWN: Readonly<Record<string, (secret: string) => Entry>> = {
  ...Object.fromEntries(
    Object.entries(ARGUMENTS).map(([place, made]) => [place, (secret: string) => npx(...made(secret))]),
  ),
  'command line in command': (secret) => ({ command: `API_KEY=${secret} npx -y server` }),
  'command line with a flag': (secret) => ({ command: `npx -y server --key ${secret}` }),
  ...Object.fromEntries(
    Object.entries(VARIABLES).map(([place, made]) => [
      place,
      (secret: string) => ({ ...npx(), env: made(secret) }),
    ]),
  ),
  'arguments of a container': (secret) => ({
    command: 'docker',
    args: ['run', '-i', '--rm', '-p', '80:80', '-e', `KEY=${secret}`, 'image', secret, '-t', secret],
  }),
  'arguments behind cmd /c': (secret) => ({ command: 'cmd', args: ['/c', 'npx', '-y', 'server', secret] }),
  'arguments of a module': (secret) => ({ command: 'python3', args: ['-m', 'server', '-m', secret] }),
  'arguments of uvx': (secret) => ({
    command: 'uvx',
    args: ['--from', 'package', 'server', '--with', secret],
  }),
  'default of a variable': (secret) => npx('--key', `\${NOT_SET_HERE:-${secret.replace(/[{}]/g, '')}}`),
  header: (secret) => ({
    ...url('https://example.com/mcp'),
    headers: { Authorization: `Bearer ${secret}`, 'x-key': secret },
  }),
  query: (secret) => url(`https://example.com/mcp?key=${plain(secret)}&flag`),
  'query without a name': (secret) => url(`https://example.com/mcp?${plain(secret)}`),
  'path of an address': (secret) => url(`https://example.com/hooks/${plain(secret)}/mcp`),
  fragment: (secret) => url(`https://example.com/mcp#${plain(secret)}`),
  'user of an address': (secret) => url(`https://${plain(secret)}@example.com/mcp`),
  'password of an address': (secret) => url(`https://ada:${plain(secret)}@example.com/mcp`),
  'client secret': (secret) => ({
    ...url('https://example.com/mcp'),
    oauth: { clientId: 'me', clientSecret: secret },
  }),
  'wrong kind of args': (secret) => ({ command: 'npx', args: secret }),
  'wrong kind of env': (secret) => ({ command: 'npx', env: [secret] }),
  'wrong kind of timeout': (secret) => ({ command: 'npx', timeout: secret }),
  'wrong type': (secret) => ({ command: 'npx', type: secret }),
  'unknown key': (secret) => ({ command: 'npx', token: secret }),
  'folder that is missing': (secret) => ({ ...npx(), cwd: `/no/such/${plain(secret)}` }),
  'env file that is missing': (secret) => ({ ...npx(), envFile: `/no/such/${plain(secret)}` }),
  'not an address': (secret) => url(`example.com/${secret}`),
}

interface Planted {
  readonly place: string
  readonly form: string
  readonly pieces: readonly string[]
}

function createPlanter(first = 0) {
  const planted: Planted[] = []
  return {
    planted,
    plant(place: string, form: string): string {
      const random = createRandom(7919 * (first + planted.length + 1))
      const secret = FORMS[form]?.(random) ?? ''
      const { pieces } = random
      // A short one is looked for as a whole.
      planted.push({ place, form, pieces: pieces.some(({ length }) => length >= WINDOW) ? pieces : [secret] })
      return secret
    },
  }
}

/** So many characters of a secret in a row are a leak: cut off is not hidden. */
const WINDOW = 7

/** Every window of every secret, in the forms that outputs have, with whose it is. */
function windowsOf(planted: readonly Planted[]): Map<string, Planted> {
  const found = new Map<string, Planted>()
  for (const each of planted)
    for (const piece of each.pieces) {
      const text = piece.length < WINDOW ? piece.padEnd(WINDOW, ' ') : piece
      for (const form of [text, encodeURIComponent(text)])
        for (let at = 0; at + WINDOW <= form.length; at++) found.set(form.slice(at, at + WINDOW), each)
    }
  return found
}

function leaksIn(text: string, windows: ReadonlyMap<string, Planted>): string[] {
  const found = new Map<Planted, string>()
  for (let at = 0; at + WINDOW <= text.length; at++) {
    const owner = windows.get(text.slice(at, at + WINDOW))
    if (owner && !found.has(owner))
      found.set(owner, `${owner.form} in ${owner.place}: …${text.slice(Math.max(0, at - 60), at + 30)}…`)
  }
  return [...found.values()]
}

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesIn(path) : [path]
  })
}

/** Runs the verbs; gives what leaked into their output and into the files they left. */
async function leaksOf(
  { run, folder }: Home,
  calls: readonly string[][],
  planted: readonly Planted[],
  configs: readonly string[],
) {
  const found: string[] = []
  const windows = windowsOf(planted)
  for (const words of calls) {
    const { output, errors } = await run(words)
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
  ['approve', '*'],
  ['lock', '--approve', '*'],
  ['doctor', '--json'],
]

test('no form in any place is in what is shown of an entry, what is pinned of it, or what is left of a message', () => {
  const found: string[] = []
  const folder = tmpdir()
  let tried = 0
  for (const [place, made] of Object.entries(SHOWN))
    for (const form of formsFor(place)) {
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
        return [showEndpoint(endpoint, secrets), startOf(server), ...said.map(redactor(server))]
      })
      found.push(...leaksIn([JSON.stringify(problems), ...shown].join('\n'), windowsOf(planted)))
    }
  expect(tried).toBeGreaterThan(2000)
  expect(found).toEqual([])
})

/** Files of thousands of servers are no configs: in the long tier every form is in every place of one of these batches. */
const BATCHES = 8
const batches = isLong ? Array.from({ length: BATCHES }, (_, batch) => batch) : [0]
const WAIT = isLong ? 1_800_000 : 240_000

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

test('no server that tells what it was started with, or dies of it, makes a secret known', async () => {
  const { planted, plant } = createPlanter()
  const servers: Record<string, Entry> = {}
  for (const [at, [place, made]] of Object.entries(ARGUMENTS).entries()) {
    const usual = formsFor(place).filter((form) => !LIKE_WORDS.includes(form))
    const form = (step: number) => usual[(at + step) % usual.length] ?? ''
    if (at % 3 === 0) servers[`lives${at}`] = program(...made(plant(place, form(0))))
    else servers[`dies${at}`] = program(...made(plant(`${place} of one that dies`, form(1))), '--dies')
  }
  const env = Object.fromEntries(
    forms.map((form, at) => [
      `VARIABLE_${at}${LIKE_WORDS.includes(form) ? '_TOKEN' : ''}`,
      plant('env', form),
    ]),
  )
  servers.env = { ...program(), env }
  servers.envdies = { ...program('--dies'), env }
  const home = homeWith({ 'toolwell.json': { mcpServers: servers } })
  const logs = Object.keys(servers).map((name) => ['logs', name])
  expect(await leaksOf(home, [...VERBS, ...logs], planted, ['toolwell.json'])).toEqual([])
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
