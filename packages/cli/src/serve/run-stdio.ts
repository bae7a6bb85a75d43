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
  profileFault,
  runBridge,
} from '@toolwell/gateway/bridge'

/** Returns false if there are other arguments. */
export async function runThin(words: readonly string[]): Promise<boolean> {
  const flags = new Map<string, string>()
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? ''
    const isValued = word === '--profile' || word === '--folder'
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
  })
  return true
}

const GONE = 'The working folder of this client no longer exists. Restart the client in an existing folder.'

/** Serves one client, and ends the process when the client disconnects. */
export async function runStdio({
  folder,
  profile,
  all,
}: {
  readonly folder: string
  readonly profile: string | undefined
  readonly all: boolean
}): Promise<0> {
  const [program = '', script = ''] = process.argv
  const workspace = currentFolder(process)
  const fault = profile === undefined ? undefined : profileFault(profile)
  await runBridge({
    folder,
    path: endpointPath({ profile, isAll: all }),
    workspace: workspace ?? '',
    refusal: workspace === undefined ? GONE : fault,
    command: [program, ...DAEMON_FLAGS, realpathSync(script), 'serve', '--by-bridge', '--folder', folder],
    input: process.stdin,
    output: process.stdout,
    onProblem: (message) => process.stderr.write(`toolwell: ${message}\n`),
  })
  process.exit(0)
}

/** Returns the current folder, or undefined if it was deleted. */
export function currentFolder({ cwd }: { readonly cwd: () => string }): string | undefined {
  try {
    return cwd()
  } catch {
    return undefined
  }
}
