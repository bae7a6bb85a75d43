/**
 * The shortest way to `serve --stdio`, from the process itself: a session of an agent keeps one of these for as long as it lives, so
 * nothing is loaded that it does not need. Words that it does not know are left to the command.
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

/** False where the words are not these alone. */
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
    // Without a current one nothing is served, and none is looked into.
    folder: folder === undefined ? defaultGatewayFolder() : resolve(currentFolder(process) ?? '/', folder),
    profile: flags.get('--profile'),
    all: flags.has('--all'),
  })
  return true
}

const GONE = 'The folder that this client works in is gone. Start the client again in one that is there.'

/** Ends the process when the client is gone: nothing that is still open is worth waiting for. */
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

// The folder that the command runs in, which may have been removed since. Thin: nothing is loaded.

/** Undefined where it is gone: then the system has no name for it. */
export function currentFolder({ cwd }: { readonly cwd: () => string }): string | undefined {
  try {
    return cwd()
  } catch {
    return undefined
  }
}
