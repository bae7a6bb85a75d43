/** `toolwell logs`: prints what a local server wrote to its standard error. Loads the MCP package only when it runs. */
import { readFileSync } from 'node:fs'
import { readServerName, serverFlags } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'

/** Milliseconds between two reads of the file. */
const POLL_INTERVAL = 250

export const logs = defineVerb({
  name: 'logs',
  summary: 'Show what a local server wrote to its standard error.',
  usage: ['SERVER [--follow] [--config FILE]'],
  takesWords: true,
  flags: {
    follow: { type: 'boolean', alias: 'f', description: 'Keep printing new lines until you press Ctrl-C.' },
    config: serverFlags.config,
  },
  notes: [
    'The log collects the output of every Toolwell program that starts the server. Secrets from its config are masked. The log\nkeeps about one megabyte. No server is started.',
  ],
  examples: [
    { line: 'toolwell logs github', about: 'print the log' },
    { line: 'toolwell logs github --follow', about: 'print the log, then new lines as they arrive' },
  ],
  exits: {
    0: 'The log was printed.',
    1: 'The server has written nothing yet.',
    2: 'Wrong flags, or an unknown server.',
  },
  async run(flags, terminal) {
    const { output, errors, env } = terminal
    const name = readServerName(flags._, 'logs')
    const { findServer } = await import('../shared/servers/read-config.js')
    const server = await findServer(name, flags.config, terminal)
    const { defaultLogFolder, findLogFile } = await import('@toolwell/mcp/internal')
    const file = findLogFile(server, defaultLogFolder(env))
    const older = readText(`${file}.1`)
    let shown = readText(file)
    await output.write(older + shown)
    if (older + shown === '' && !flags.follow) {
      await errors.write(
        server.endpoint.type === 'stdio'
          ? `toolwell: ${server.name} has written nothing yet. Looked in ${file}\n`
          : `toolwell: ${server.name} is a remote server. Its log is on the machine that runs it.\n`,
      )
      return 1
    }
    while (flags.follow) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL))
      const text = readText(file)
      // If the file no longer starts with the printed text, the log was rotated.
      const more = text.startsWith(shown) ? text.slice(shown.length) : text
      if (more !== '') await output.write(more)
      shown = text
    }
    return 0
  },
})

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
