/**
 * Runs `serve --stdio` with as few modules as possible, because one such process stays alive for every session of an agent.
 * Leaves arguments that it does not know to the full command.
 */
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  DAEMON_FLAGS,
  defaultGatewayFolder,
  endpointPath,
  isTokenName,
  profileFault,
  runBridge,
  writeRules,
} from '@toolwell/gateway/bridge'

/** Returns false if there are other arguments. */
export async function runThin(words: readonly string[]): Promise<boolean> {
  const flags = new Map<string, string>()
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? ''
    const isValued = ['--profile', '--folder', '--client', '--own', '--token'].includes(word)
    const value = isValued ? words[++at] : ''
    const isKnown = isValued || word === '--stdio' || word === '--all'
    if (!isKnown || value === undefined || (isValued && (value === '' || value.startsWith('-')))) return false
    flags.set(word, value)
  }
  const folder = flags.get('--folder')
  await runStdio({
    // Without a current folder, `runStdio` refuses to serve.
    folder: folder === undefined ? defaultGatewayFolder() : resolve(currentFolder(process) ?? '/', folder),
    profile: flags.get('--profile'),
    all: flags.has('--all'),
    client: flags.get('--client'),
    own: flags.get('--own'),
    token: flags.get('--token'),
  })
  return true
}

const GONE = 'The working folder of this client no longer exists. Restart the client in an existing folder.'

/** Serves one client, and ends the process when the client disconnects. */
export async function runStdio({
  folder,
  profile,
  all,
  client,
  own,
  token,
}: {
  readonly folder: string
  readonly profile: string | undefined
  readonly all: boolean
  readonly client: string | undefined
  readonly own: string | undefined
  readonly token: string | undefined
}): Promise<0> {
  const [program = '', script = ''] = process.argv
  const workspace = currentFolder(process)
  const fault = profile === undefined ? undefined : profileFault(profile)
  const rules = workspace === undefined ? {} : await findRules(client, own, workspace)
  await runBridge({
    folder,
    path: endpointPath({ profile, isAll: all }),
    workspace: workspace ?? '',
    refusal: workspace === undefined ? GONE : (fault ?? rules.refusal ?? checkTokenName(token)),
    rules: rules.header,
    client,
    token,
    command: [program, ...DAEMON_FLAGS, realpathSync(script), 'serve', '--by-bridge', '--folder', folder],
    input: process.stdin,
    output: process.stdout,
    onProblem: (message) => process.stderr.write(`toolwell: ${message}\n`),
  })
  process.exit(0)
}

/** The token itself must not be in the config of a client. */
function checkTokenName(token: string | undefined): string | undefined {
  return token === undefined || isTokenName(token)
    ? undefined
    : 'The value of --token must be the name of a token, not the token. List the names with: toolwell token list'
}

/** Reads the permission rules of the client, or the reason why it must not be served. */
async function findRules(
  client: string | undefined,
  own: string | undefined,
  folder: string,
): Promise<{ readonly header?: string; readonly refusal?: string }> {
  if (client === undefined) return {}
  const [{ readOwn, readPermissions }, { CLIENTS, findHome }] = await Promise.all([
    import('../shared/clients/client-rules.js'),
    import('../shared/clients/clients.js'),
  ])
  const { env, platform } = process
  if (!CLIENTS.some((name) => name === client))
    return {
      refusal: `Unknown client ${JSON.stringify(client)} after --client. Known: ${CLIENTS.join(', ')}.`,
    }
  try {
    const found = await readPermissions(client, { home: findHome(env), folder, platform, env })
    const { prefix, separator, layers } = found ?? { prefix: '', separator: '__', layers: [] }
    if (layers.length === 0 && own === undefined) return {}
    return { header: writeRules({ prefix, separator, layers, own: own === undefined ? {} : readOwn(own) }) }
  } catch (error) {
    return { refusal: (error as Error).message }
  }
}

/** Returns the current folder, or undefined if it was deleted. */
export function currentFolder({ cwd }: { readonly cwd: () => string }): string | undefined {
  try {
    return cwd()
  } catch {
    return undefined
  }
}
