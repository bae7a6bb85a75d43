/** Resolves `${file:PATH}` and `${cmd:…}` at every start of a server, so that renewed secrets are used and none is stored. */

import { exec } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { dropUndefined } from '@toolwell/core/internal'
import type { RawEntry } from './check-entry.js'
import { describeReadError, readSmallFile } from './read-small-file.js'
import type { ServerConfig } from './server-config.js'

/** `${env:X}` is expanded when the config is read, because it cannot change while the program runs. */
const REFERENCE = /\$\{(file|cmd):([^{}]*)\}/g
/** A password manager may have to ask the user. */
const COMMAND_TIMEOUT = 60_000

export class ReferenceFailure extends Error {}

/** Makes the path of a reference absolute. `folder` is the folder of the config file. */
export function absoluteReference(kind: string, argument: string, folder: string): string {
  if (kind === 'cmd') return `\${cmd:${argument.trim()}}`
  return `\${file:${resolve(folder, argument.trim().replace(/^~(?=[\\/])/, homedir()))}}`
}

export function hasReference(text: string): boolean {
  return new RegExp(REFERENCE).test(text)
}

/**
 * Finds what the user must approve before this server starts: commands, files as `${file:PATH}`, and environment variables sent
 * to an address as `${env:NAME}`. Entries in the user's own file need no approval. Files in the folder of the entry need none
 * either, because they have the same author.
 */
export function findCommandsToApprove(
  endpoint: ServerConfig['endpoint'],
  sent: readonly string[],
  { isOwn, isPatched, folder }: Pick<RawEntry, 'isOwn' | 'isPatched' | 'folder'>,
): string[] {
  if (isOwn) return []
  const found = textsOf(endpoint).flatMap((text) => [...text.matchAll(REFERENCE)])
  const waiting = found.flatMap(([whole, kind, argument = '']) => {
    if (kind === 'cmd') return [argument]
    return !isPatched && isInside(argument, folder) ? [] : [whole]
  })
  return [...new Set([...waiting, ...sent.map((name) => `\${env:${name}}`)])]
}

/** Follows symbolic links. A missing file counts as outside, because it may become a link. */
function isInside(file: string, folder: string): boolean {
  try {
    const way = relative(realpathSync(folder), realpathSync(file))
    return way !== '' && way.split(sep)[0] !== '..' && !isAbsolute(way)
  } catch {
    return false
  }
}

function textsOf(endpoint: ServerConfig['endpoint']): string[] {
  return endpoint.type === 'stdio'
    ? [endpoint.command, endpoint.cwd, ...endpoint.args, ...Object.values(endpoint.env)]
    : [endpoint.url, ...Object.values(endpoint.headers)]
}

export interface ResolveOptions {
  /** Working folder of the commands. */
  readonly folder?: string
  readonly signal?: AbortSignal
}

/** Returns the server with all references replaced, and their values added to its secrets. */
export async function resolveReferences(
  server: ServerConfig,
  options: ResolveOptions = {},
): Promise<ServerConfig> {
  const { endpoint } = server
  if (!textsOf(endpoint).some(hasReference)) return server
  const values = new Map<string, string>()
  // Resolve each reference once: a command may ask for a fingerprint.
  for (const text of textsOf(endpoint))
    for (const [whole, kind, argument = ''] of text.matchAll(REFERENCE))
      if (!values.has(whole))
        values.set(whole, kind === 'file' ? readSecret(argument) : await runSecret(argument, options))
  // Values are not expanded again.
  const put = (text: string) => text.replace(REFERENCE, (whole) => values.get(whole) ?? '')
  const putAll = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, put(text)]))
  const whole: ServerConfig['endpoint'] =
    endpoint.type === 'stdio'
      ? {
          ...endpoint,
          command: put(endpoint.command),
          args: endpoint.args.map(put),
          env: putAll(endpoint.env),
          cwd: put(endpoint.cwd),
        }
      : { ...endpoint, url: put(endpoint.url), headers: putAll(endpoint.headers) }
  return {
    ...server,
    endpoint: whole,
    secrets: [...server.secrets, ...values.values()],
  }
}

function readSecret(file: string): string {
  try {
    return withoutEnd(readSmallFile(file).toString('utf8'))
  } catch (error) {
    const { reason } = describeReadError(error)
    throw new ReferenceFailure(
      `the file of a \${file:…} in its config cannot be used (${reason}); check its path`,
    )
  }
}

/** Errors contain no output of the command, because that may include the secret. */
function runSecret(command: string, { folder, signal }: ResolveOptions): Promise<string> {
  return new Promise((done, fail) => {
    exec(
      command,
      { timeout: COMMAND_TIMEOUT, windowsHide: true, ...dropUndefined({ signal, cwd: folder }) },
      (error, output) => {
        const value = withoutEnd(output)
        if (!error && value !== '') return done(value)
        const how = error ? `failed (${error.code ?? error.signal ?? 'unknown'})` : 'printed nothing'
        fail(
          new ReferenceFailure(
            `the command of a \${cmd:…} in its config ${how}; run it by hand to see why, and log in to your password manager`,
          ),
        )
      },
    ).stdin?.end()
  })
}

const withoutEnd = (text: string) => text.replace(/\r?\n$/, '')
