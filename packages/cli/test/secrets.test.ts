/** Secrets in every place of a config, in every form that people have them in: none is in anything that is shown or kept. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { someOf } from '../../../test/setup/tier.ts'
import { type Home, homeWith } from './support/home.ts'

const telling = fileURLToPath(new URL('support/telling-server.mjs', import.meta.url))

/** Ways in which a secret is written. Each gets a number of its own, so that a leak names its place. */
const FORMS: Readonly<Record<string, (mark: string) => string>> = {
  prefixed: (mark) => `sk-live-${mark}Qz81kfW0`,
  classic: (mark) => `ghp_${mark}R2d9vXcB7nM4`,
  hex: (mark) => Buffer.from(`key${mark}`).toString('hex'),
  uuid: (mark) => `${mark.padStart(8, 'a')}-4c1e-4b7a-9f10-7d3e5c2b1a90`,
  base64: (mark) => `${Buffer.from(`pass+${mark}?/word`).toString('base64')}+/==`,
  jwt: (mark) =>
    `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(`{"sub":"${mark}"}`).toString('base64url')}.s${mark}Gn4t`,
  password: (mark) => `Tr0ub4dor&${mark}!`,
  words: (mark) => `correct horse ${mark}battery staple`,
  joined: (mark) => `tiger-lily-${mark}-moonshine`,
  quoted: (mark) => `pa"ss\\wo'rd${mark}x`,
  lower: (mark) => `hunterof${mark}gold`,
  long: (mark) => `${mark}L${'0a1B2c3D4e5F'.repeat(60)}${mark}`,
  lines: (mark) =>
    `-----BEGIN PRIVATE KEY-----\nMIIEv${mark}kZ0hQ\n${mark}wYh7Kp3Q==\n-----END PRIVATE KEY-----`,
  accented: (mark) => `geheimnis-${mark}-für-öl`,
}

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
}

/** Places that are only shown: the server is switched off. */
const SHOWN: Readonly<Record<string, (secret: string) => Entry>> = {
  ...Object.fromEntries(
    Object.entries(ARGUMENTS).map(([place, made]) => [place, (secret: string) => npx(...made(secret))]),
  ),
  'command line in command': (secret) => ({ command: `API_KEY=${secret} npx -y server` }),
  'command line with a flag': (secret) => ({ command: `npx -y server --key ${secret}` }),
  env: (secret) => ({ ...npx(), env: { API_KEY: secret, plain: secret } }),
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
  readonly secret: string
}

function createPlanter() {
  const planted: Planted[] = []
  return {
    planted,
    plant(place: string, form: string): string {
      const secret = FORMS[form]?.(`z${(planted.length + 1000).toString(36)}q`) ?? ''
      planted.push({ place, form, secret })
      return secret
    },
  }
}

/** Every eight characters of a secret in a row are a leak: cut off is not hidden. Words of the form itself are not. */
function leaksIn(text: string, planted: readonly Planted[]): string[] {
  return planted.flatMap(({ place, form, secret }) => {
    const mark = /z[0-9a-z]{2,3}q/.exec(secret)?.[0]
    const pieces =
      mark === undefined
        ? [secret.slice(0, 12)]
        : [secret.slice(Math.max(0, secret.indexOf(mark) - 3)).slice(0, 8)]
    return pieces
      .flatMap((piece) => [piece, encodeURIComponent(piece), JSON.stringify(piece).slice(1, -1)])
      .filter((piece) => piece.length > 5 && text.includes(piece))
      .slice(0, 1)
      .map(
        (piece) =>
          `${form} in ${place}: …${text.slice(Math.max(0, text.indexOf(piece) - 60), text.indexOf(piece) + 30)}…`,
      )
  })
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
  for (const words of calls) {
    const { output, errors } = await run(words)
    expect(output + errors).not.toBe('')
    found.push(...leaksIn(output + errors, planted).map((leak) => `${words.join(' ')}: ${leak}`))
  }
  for (const file of filesIn(folder))
    if (!configs.some((config) => file.endsWith(config)))
      found.push(
        ...leaksIn(readFileSync(file, 'utf8'), planted).map(
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
  ['search', 'tell', '--json'],
]

test('nothing that is switched off, or refused, shows a secret', async () => {
  const { planted, plant } = createPlanter()
  const servers = Object.fromEntries(
    Object.entries(SHOWN).flatMap(([place, made], at) =>
      someOf(Object.keys(FORMS), at).map((form) => [
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
})

test('no server that tells what it was started with, or dies of it, makes a secret known', async () => {
  const { planted, plant } = createPlanter()
  const forms = Object.keys(FORMS)
  const servers: Record<string, Entry> = {}
  for (const [at, [place, made]] of Object.entries(ARGUMENTS).entries()) {
    const form = (step: number) => forms[(at + step) % forms.length] ?? ''
    if (at % 3 === 0) servers[`lives${at}`] = program(...made(plant(place, form(0))))
    else servers[`dies${at}`] = program(...made(plant(`${place} of one that dies`, form(1))), '--dies')
  }
  const env = Object.fromEntries(forms.map((form, at) => [`VARIABLE_${at}`, plant('env', form)]))
  servers.env = { ...program(), env }
  servers.envdies = { ...program('--dies'), env }
  const home = homeWith({ 'toolwell.json': { mcpServers: servers } })
  expect(await leaksOf(home, VERBS, planted, ['toolwell.json'])).toEqual([])
})

test('no remote server that repeats what it is sent makes a secret known', async () => {
  const { planted, plant } = createPlanter()
  const server = createServer((request, response) => {
    const told = `${request.url} ${Object.values(request.headers).join(' ')}`
    response
      .writeHead(request.url?.includes('moved') ? 307 : 400, { location: `/elsewhere${request.url}` })
      .end(told)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const servers = Object.fromEntries(
    Object.keys(FORMS).flatMap((form) => {
      const ascii = (secret: string) => secret.replace(/[^\x20-\x7e]/g, '')
      return [
        [`path-${form}`, { url: `${base}/hooks/${plain(plant('path', form))}/mcp` }],
        [`moved-${form}`, { url: `${base}/moved/${plain(plant('moved path', form))}/mcp` }],
        [`query-${form}`, { url: `${base}/mcp?key=${plain(plant('query', form))}` }],
        [
          `header-${form}`,
          { url: `${base}/mcp`, headers: { Authorization: `Bearer ${ascii(plant('header', form))}` } },
        ],
      ]
    }),
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
