/**
 * `toolwell serve --stdio`: one client's way to the gateway. It loads as little as can be: a session of an agent has one of these,
 * and many are open at a time.
 */
import { realpathSync } from 'node:fs'
import { runBridge } from '@toolwell/gateway/bridge'

export async function runStdio({
  folder,
  profile,
  all,
}: {
  readonly folder: string
  readonly profile: string | undefined
  readonly all: boolean
}): Promise<0> {
  const words = [...(profile === undefined ? [] : [encodeURIComponent(profile)]), ...(all ? ['all'] : [])]
  await runBridge({
    folder,
    path: ['/mcp', ...words].join('/'),
    workspace: process.cwd(),
    command: [process.execPath, scriptOf(process.argv[1] ?? ''), 'serve', '--by-bridge', '--folder', folder],
    input: process.stdin,
    output: process.stdout,
    onProblem: (message) => process.stderr.write(`toolwell: ${message}\n`),
  })
  // The client is gone: nothing that is still open is worth waiting for.
  process.exit(0)
}

function scriptOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
