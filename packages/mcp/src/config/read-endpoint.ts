/** Reads how a server is started or reached. */

import { resolve } from 'node:path'
import type { EntryReader } from './entry-reader.js'
import { readEnvFile } from './entry-reader.js'
import { describeReadError, readSmallFile } from './read-small-file.js'
import { hasReference } from './references.js'
import type { HttpEndpoint, ServerConfig, StdioEndpoint } from './server-config.js'
import { showLine, showPath } from './show-word.js'
import { isRelativeCommand } from './translate-entry.js'

/** `refused`: keys that were wrong and are already reported. Undefined if the kind of endpoint is not clear. */
export function readEndpoint(
  reader: EntryReader,
  refused: ReadonlySet<string>,
): ServerConfig['endpoint'] | undefined {
  const { fields, report, texts } = reader
  const { command, url, type } = fields
  if (command === undefined && url === undefined) {
    if (!refused.has('command') && !refused.has('url'))
      report(
        [],
        'the server has neither a command nor a url',
        'Give "command" for a local server, "url" for a remote one',
      )
    // Read only to report their problems.
    texts('env')
    texts('headers')
    return undefined
  }
  if (command !== undefined && url !== undefined) {
    report([], 'the server has both a command and a url', 'Remove one of the two')
    readLocal(reader)
    readRemote(reader)
    return undefined
  }
  if (command !== undefined) {
    if (type !== undefined && type !== 'stdio')
      report(['type'], `a server with a command is of type stdio, not ${String(type)}`, 'Remove "type"')
    return readLocal(reader)
  }
  if (type === 'stdio') report(['type'], 'a server with a url is not of type stdio', 'Write "http" or "sse"')
  return readRemote(reader)
}

function readLocal(reader: EntryReader): StdioEndpoint {
  const { raw, fields, scope, report, text, texts, path } = reader
  const program = path('command')
  const args = ((fields.args ?? []) as unknown[]).map((value, index) => text(value, 'args', index))
  if (/^\S+\s+\S/.test(program) && args.length === 0 && !isRelativeCommand(program)) {
    const [first = '', ...rest] = program.split(/\s+/)
    report(
      ['command'],
      'the command contains spaces, but no shell will split it',
      `Split it: "command": ${JSON.stringify(showLine(first, [], scope.workspaceFolder).text)}, "args": ${JSON.stringify(rest.map(() => '…'))}`,
      'warning',
    )
  }
  if (fields.cwd === undefined && hasReference(scope.workspaceFolder))
    report([], 'the name of the workspace folder contains a reference', 'Rename the folder')
  return {
    type: 'stdio',
    command: isRelativeCommand(program) ? resolve(raw.folder, program) : program,
    args,
    env: { ...envFileOf(reader), ...texts('env') },
    cwd: fields.cwd === undefined ? scope.workspaceFolder : resolve(raw.folder, path('cwd')),
  }
}

function envFileOf({ raw, fields, scope, report, path }: EntryReader): Record<string, string> {
  if (fields.envFile === undefined) return {}
  const file = resolve(raw.folder, path('envFile'))
  try {
    const values = readEnvFile(readSmallFile(file).toString('utf8'))
    // The author of that file must not decide what is run or read.
    const [name] = Object.entries(values).find(([, value]) => hasReference(value)) ?? []
    if (name === undefined) return values
    report(['envFile'], `the value of ${name} in it contains a reference`, 'Write the reference into "env"')
    return {}
  } catch (error) {
    report(
      ['envFile'],
      `${showPath(file, scope.workspaceFolder).text} cannot be used: ${describeReadError(error).reason}`,
      'Check the path, or remove "envFile"',
    )
    return {}
  }
}

function readRemote({ fields, problems, report, text, texts }: EntryReader): HttpEndpoint {
  const { url, type } = fields
  const before = problems.length
  const address = text(url, 'url')
  // Do not judge an address with a missing variable.
  const isWhole = problems.length === before
  if (isWhole && !isHttp(address))
    report(['url'], 'the url is not an http or https address', 'Write it in full: "https://example.com/mcp"')
  else if (isWhole && hasCredentials(address))
    report(
      ['url'],
      'the url contains a user name or password',
      'Remove them from the url and write "headers": { "Authorization": "Basic ${NAME_OF_A_VARIABLE}" }',
    )
  return {
    type: type === 'sse' ? 'sse' : type === undefined ? 'auto' : 'http',
    url: address,
    headers: texts('headers'),
  }
}

function hasCredentials(address: string): boolean {
  const { username, password } = new URL(address)
  return username !== '' || password !== ''
}

function isHttp(address: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(address).protocol)
  } catch {
    return false
  }
}
