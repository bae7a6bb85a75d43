/** Logs in to a server: shows the address, opens the browser and waits for the answer. */
import { spawn } from 'node:child_process'
import { platform } from 'node:os'
import { KEY_VARIABLE } from '@toolwell/gateway/postgres'
import { diskFirstUse, LoginError, type LoginResult, login } from '@toolwell/mcp'
import { defaultFirstUseFolder, readDuration, waitingCommands } from '@toolwell/mcp/internal'
import { approveCommand } from '@toolwell/mcp/lock'
import { findDatabase, withDatabase } from '../shared/database.js'
import { Problem, usageProblem } from '../shared/problem.js'
import { findServer } from '../shared/servers/read-config.js'
import { withLogins } from '../shared/servers/with-servers.js'
import { painter, type Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'

export interface LoginFlags {
  readonly config?: string | undefined
  readonly database?: string | undefined
  readonly browser?: boolean | undefined
  readonly timeout?: string | undefined
  readonly json?: boolean | undefined
}

const DEFAULT_TIMEOUT = '5m'
/** Codes of a login that was tried and failed. */
const DENIED: readonly string[] = ['denied', 'timeout', 'wrong-state']

export async function runLogin(name: string, flags: LoginFlags, terminal: Terminal): Promise<ExitCode> {
  const { output, errors, env } = terminal
  const wait = flags.timeout ?? DEFAULT_TIMEOUT
  // A bare number means seconds, as in the other verbs.
  const timeout = readDuration(/^[\d.]+$/.test(wait) ? `${wait}s` : wait)
  if (timeout === undefined)
    throw usageProblem(
      `--timeout ${JSON.stringify(flags.timeout)} is not a valid duration.`,
      'Write 90, 90s or 10m.',
    )
  const server = await findServer(name, flags.config, terminal)
  const url = findDatabase(flags.database, terminal)
  if (url !== undefined && !env[KEY_VARIABLE])
    throw new Problem(
      `The login cannot be stored in the database without a key.`,
      `Set ${KEY_VARIABLE} to the same random text on every replica, for example the output of: openssl rand -base64 32`,
      { reason: 'no-key', details: { server: name, loggedIn: false } },
    )
  // A login would send the variable that waits for approval.
  const seen = await withDatabase(flags.database, terminal, async (shared) =>
    (shared?.firstUse ?? diskFirstUse({ folder: defaultFirstUseFolder(env) })).read(server),
  )
  if (waitingCommands(server, seen).length > 0)
    throw new Problem(
      `The entry of ${name} sends an environment variable, and it is not in your own config file.`,
      `Review and approve it with: ${approveCommand(name)}`,
      { reason: 'not-approved', details: { server: name, loggedIn: false } },
    )
  const paint = painter(errors, env)
  try {
    const result = await withLogins(flags.database, terminal, (store) =>
      login(server, {
        store,
        timeout,
        async onAddress({ href }) {
          const isOpened = flags.browser !== false && errors.isTerminal && openBrowser(href, env)
          const what = isOpened ? 'Your browser should open' : 'Open'
          await errors.write(`${what} this address to log in to ${name}:\n\n  ${paint(href, 'name')}\n\n`)
          await errors.write(`Waiting up to ${flags.timeout ?? DEFAULT_TIMEOUT} for the login …\n`)
        },
        onStray() {
          const words = 'Ignored an answer that belongs to another login. Still waiting for this one.'
          void errors.write(`toolwell: ${words}\n`).catch(() => undefined)
        },
      }),
    )
    await output.write(flags.json ? loginJson(result) : `Logged in to ${name}.\n`)
    return 0
  } catch (error) {
    if (!LoginError.is(error)) throw error
    const { code, message, fix } = error
    const details = { server: name, loggedIn: false }
    if (code !== 'not-needed')
      throw new Problem(message, fix, {
        reason: code,
        exit: DENIED.includes(code) ? 1 : 2,
        details,
        cause: error,
      })
    if (flags.json) await output.write(`${JSON.stringify({ ...details, reason: code, message, fix })}\n`)
    await errors.write(`${paint('toolwell:', 'dim')} ${message} ${fix}\n`)
    return 0
  }
}

function loginJson({ server, issuer, scopes, expiresAt, renewable }: LoginResult): string {
  const until = expiresAt === undefined ? null : new Date(expiresAt).toISOString()
  return `${JSON.stringify({ server, loggedIn: true, issuer, scopes, expiresAt: until, renewable })}\n`
}

/** Opens an address in the user's browser, without a shell. Returns false if no browser is known. */
export function openBrowser(address: string, env: Terminal['env']): boolean {
  const [program, ...words] = findBrowser(env)
  if (program === undefined) return false
  const child = spawn(program, [...words, address], {
    env: { ...env },
    stdio: 'ignore',
    detached: true,
  })
  // The address is printed as well.
  child.on('error', () => undefined)
  child.unref()
  return true
}

function findBrowser(env: Terminal['env']): string[] {
  const own = (env.BROWSER ?? '').split(/\s+/).filter((word) => word !== '' && word !== '%s')
  if (own.length > 0) return own
  if (platform() === 'darwin') return ['open']
  if (platform() === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  // Without a display, xdg-open would start a text browser in this terminal.
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : []
}
