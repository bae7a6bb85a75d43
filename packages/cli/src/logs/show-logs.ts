/** The files of one server's log, the older first; then, where wanted, what is added. */
import { readFileSync } from 'node:fs'
import type { ServerConfig } from '@toolwell/mcp'
import { defaultLogFolder, logFileOf } from '@toolwell/mcp/internal'
import type { Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'

/** Milliseconds between looks at the file. */
const LOOK_EVERY = 250

export async function showLogs(
  server: ServerConfig,
  isFollowing: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const { output, errors, env } = terminal
  const file = logFileOf(server, defaultLogFolder(env))
  const older = readText(`${file}.1`)
  let shown = readText(file)
  await output.write(older + shown)
  if (older + shown === '' && !isFollowing) {
    await errors.write(
      server.endpoint.type === 'stdio'
        ? `toolwell: ${server.name} has written nothing yet. Looked in ${file}\n`
        : `toolwell: ${server.name} is remote: its log is where it runs.\n`,
    )
    return 1
  }
  while (isFollowing) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY))
    const text = readText(file)
    // A shorter file is a new one.
    const more = text.startsWith(shown) ? text.slice(shown.length) : text
    if (more !== '') await output.write(more)
    shown = text
  }
  return 0
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
