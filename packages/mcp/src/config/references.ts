/**
 * Secrets that are named in a config instead of written into it: `${file:PATH}` and `${cmd:…}`. They are read at every
 * start of the server, so that a renewed secret counts, and are in no file of ours.
 */
import { execFile } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { defined } from '@toolwell/core/internal'
import type { RawEntry } from './check-entry.js'
import type { ServerConfig } from './server-config.js'

/** `${env:X}` is read with the config: it cannot change while the program runs. */
const REFERENCE = /\$\{(file|cmd):([^{}]*)\}/g
/** A password manager may ask its user first. */
const COMMAND_TIMEOUT = 60_000

export class ReferenceFailure extends Error {}

/** A reference with the path made absolute; `folder` is that of the config file. */
export function absoluteReference(kind: string, argument: string, folder: string): string {
  if (kind === 'cmd') return `\${cmd:${argument.trim()}}`
  return `\${file:${resolve(folder, argument.trim().replace(/^~(?=[\\/])/, homedir()))}}`
}

export function hasReference(text: string): boolean {
  return new RegExp(REFERENCE).test(text)
}

/**
 * What a start of this server does only once it is approved: commands, files as `${file:PATH}`, and variables of the environment
 * that go to an address as `${env:NAME}`. Nothing of an entry that is the user's own; a file of the entry's folder is as much its
 * author's as the entry is.
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

/** Where its links lead. One that is not there yet may become a link. */
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
  /** The folder that commands run in: paths in them start from it, as those of `${file:…}` do. */
  readonly folder?: string
  readonly signal?: AbortSignal
}

/** The server as it is started: every reference replaced, and what came out of it among its secrets. */
export async function resolveReferences(
  server: ServerConfig,
  options: ResolveOptions = {},
): Promise<ServerConfig> {
  const { endpoint } = server
  if (!textsOf(endpoint).some(hasReference)) return server
  const values = new Map<string, string>()
  // Each once: a command may ask its user for a finger.
  for (const text of textsOf(endpoint))
    for (const [whole, kind, argument = ''] of text.matchAll(REFERENCE))
      if (!values.has(whole))
        values.set(whole, kind === 'file' ? await readSecret(argument) : await runSecret(argument, options))
  // Not expanded again: what comes out of a file or a command is a value.
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

async function readSecret(file: string): Promise<string> {
  try {
    return withoutEnd(await readFile(file, 'utf8'))
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new ReferenceFailure(
      `the file of a \${file:…} in its config cannot be read (${code}); check its path`,
    )
  }
}

/** Neither what it prints nor what it says when it fails is told: both may hold the secret. */
function runSecret(command: string, { folder, signal }: ResolveOptions): Promise<string> {
  const [shell, flag] = process.platform === 'win32' ? ['cmd.exe', '/c'] : ['/bin/sh', '-c']
  return new Promise((done, fail) => {
    execFile(
      shell,
      [flag, command],
      { timeout: COMMAND_TIMEOUT, windowsHide: true, ...defined({ signal, cwd: folder }) },
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
