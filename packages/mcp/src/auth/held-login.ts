/** The login of one server as a running program holds it: from its file, or from memory where the file cannot be written. */
import type { ServerConfig } from '../config/server-config.js'
import type { WarningListener } from '../definition/warning.js'
import type { Login, LoginStore } from './login-store.js'

export interface HeldLogin {
  read(): Login | undefined
  keep(login: Login): void
  /** Does the work while no other process does its own on this login. */
  alone(work: () => Promise<void>): Promise<void>
  /** Whether the file is another one than when it was last looked at. */
  hasChanged(): boolean
  /** Takes every secret of the login out of a text, those of earlier tokens too. */
  hide(text: string): string
}

export function holdLogin(
  server: ServerConfig,
  store: LoginStore,
  onWarning: WarningListener | undefined,
): HeldLogin {
  /** What could not be written, as long as the file is the one it should have replaced. */
  let unwritten: { readonly login: Login; readonly stamp: string } | undefined
  let seen = ''
  /** What was read last, as long as the file is the same. */
  let known: { readonly login: Login | undefined; readonly stamp: string } | undefined
  const secrets = new Set<string>()
  const read = (): Login | undefined => {
    // Before it is read: what is written in between shows the next time.
    seen = store.stamp(server)
    if (unwritten?.stamp === seen) return unwritten.login
    if (known?.stamp !== seen) {
      known = { login: store.read(server), stamp: seen }
      for (const secret of secretsOf(known.login)) secrets.add(secret)
    }
    return known.login
  }
  return {
    read,
    keep(login) {
      try {
        store.write(server, login)
        unwritten = undefined
      } catch (error) {
        if (!unwritten)
          onWarning?.({
            code: 'login-not-kept',
            text: `the renewed login of ${server.name} could not be kept (${codeOf(error)}); it holds as long as this program runs`,
          })
        unwritten = { login, stamp: store.stamp(server) }
        for (const secret of secretsOf(login)) secrets.add(secret)
      }
      read()
    },
    async alone(work) {
      let entered = false
      try {
        await store.exclusively(server, () => {
          entered = true
          return work()
        })
      } catch (error) {
        // Where the folder cannot be locked, it cannot be written either: then no other process renews.
        if (entered || !['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))) throw error
        await work()
      }
    },
    hasChanged() {
      const stamp = store.stamp(server)
      if (stamp === seen) return false
      seen = stamp
      return true
    },
    hide: (text) => [...secrets].reduce((rest, secret) => rest.replaceAll(secret, '***'), text),
  }
}

function secretsOf({ tokens, client }: Login = {}): string[] {
  const all = [tokens?.access_token, tokens?.refresh_token, tokens?.id_token, client?.client_secret]
  return all.filter((secret): secret is string => secret !== undefined && secret !== '')
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? String(error)
}
