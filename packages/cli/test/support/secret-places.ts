/** Every place of a config that a secret may be written in. */
import { fileURLToPath } from 'node:url'
import { formsFor } from './secret-forms.ts'

const telling = fileURLToPath(new URL('telling-server.mjs', import.meta.url))

export type Entry = Readonly<Record<string, unknown>>
export const program = (...args: string[]): Entry => ({
  command: process.execPath,
  args: [telling, '{}', ...args],
})
const npx = (...args: string[]): Entry => ({ command: 'npx', args: ['-y', '@scope/server@1.2.3', ...args] })
const url = (address: string): Entry => ({ url: address })
export const plain = (secret: string) => encodeURIComponent(secret)

/** Places in a local server's entry that its program is really started with. */
export const ARGUMENTS: Readonly<Record<string, (secret: string) => string[]>> = {
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
export const VARIABLES: Readonly<Record<string, (secret: string) => Record<string, string>>> = {
  variable: (secret) => ({ WORKSPACE: secret }),
  'named variable': (secret) => ({ API_KEY: secret }),
  'address in a variable': (secret) => ({
    DATABASE_URL: `postgres://ada:${plain(secret)}@db.example.com/app`,
  }),
  'JSON in a variable': (secret) => ({ SETTINGS: JSON.stringify({ auth: [{ token: secret }] }) }),
  'connection string in a variable': (secret) => ({ DSN: `Server=db;User Id=sa;Password="${secret}";` }),
  'user and password in a variable': (secret) => ({ LOGIN: `ada:${secret}` }),
}

/** Nothing marks these values as secret: a value that may be an ordinary word may appear in a definition. */
const UNNAMED: ReadonlySet<string> = new Set([
  'positional',
  'unknown flag',
  'unknown flag with =',
  'short flag',
  'short flag, attached',
  'after two dashes',
  'switch that a runner has too',
  'another such switch',
  'system property of a word',
  'address with a fragment',
  'path that is missing',
  'variable',
])

/** The forms that no server may tell of. */
export const toldFormsFor = (place: string) =>
  formsFor(place).filter((form) => form !== 'word' || !UNNAMED.has(place))

/** Places that are only shown: the server is switched off. */
export const SHOWN: Readonly<Record<string, (secret: string) => Entry>> = {
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
