/** Logs out: deletes the login here, and revokes the tokens if the authorization server supports it. */
import { assertSecureTokenEndpoint, selectClientAuthMethod } from '@modelcontextprotocol/client'
import type { ServerConfig } from '../config/server-config.js'
import { diskLogins, type Login, type LoginStore } from './login-store.js'
import { createBoundedFetch } from './stored-auth.js'

const REVOCATION_TIMEOUT = 15_000

export interface LogoutResult {
  readonly server: string
  /** There was a login. */
  readonly found: boolean
  /** `not-offered`: the server does not revoke tokens, they expire. `failed`: see `detail`; the tokens expire, too. */
  readonly revoked: 'revoked' | 'not-offered' | 'failed'
  readonly detail: string
}

export async function logout(
  server: ServerConfig,
  { store = diskLogins() }: { readonly store?: LoginStore } = {},
): Promise<LogoutResult> {
  const login = store.read(server)
  // Also delete a login that cannot be read.
  if (!login) {
    store.forget(server)
    return { server: server.name, found: false, revoked: 'not-offered', detail: '' }
  }
  return store.exclusively(server, async () => {
    const newest = store.read(server) ?? login
    // Delete the login first, whatever the server answers.
    store.forget(server)
    const outcome = await revoke(newest)
    return { server: server.name, found: newest.tokens !== undefined, ...outcome }
  })
}

async function revoke({
  tokens,
  client,
  discovery,
}: Login): Promise<Pick<LogoutResult, 'revoked' | 'detail'>> {
  const metadata = discovery?.authorizationServerMetadata as
    | { revocation_endpoint?: string; token_endpoint_auth_methods_supported?: string[] }
    | undefined
  if (!tokens || !client || !metadata?.revocation_endpoint) return { revoked: 'not-offered', detail: '' }
  try {
    const endpoint = assertSecureTokenEndpoint(metadata.revocation_endpoint)
    const both = [
      ['refresh_token', tokens.refresh_token],
      ['access_token', tokens.access_token],
    ] as const
    for (const [kind, token] of both) {
      if (token === undefined) continue
      const body = new URLSearchParams({ token, token_type_hint: kind })
      const headers = new Headers({ accept: 'application/json' })
      const method = selectClientAuthMethod(client, metadata.token_endpoint_auth_methods_supported ?? [])
      const { client_id: id, client_secret: secret } = client
      if (method === 'client_secret_basic')
        headers.set('authorization', `Basic ${btoa(`${id}:${secret ?? ''}`)}`)
      else {
        body.set('client_id', id)
        if (method === 'client_secret_post' && secret) body.set('client_secret', secret)
      }
      const response = await createBoundedFetch(REVOCATION_TIMEOUT)(endpoint, {
        method: 'POST',
        headers,
        body,
        redirect: 'error',
      })
      await response.text().catch(() => '')
      if (!response.ok) return { revoked: 'failed', detail: `it answered with ${response.status}` }
    }
    return { revoked: 'revoked', detail: '' }
  } catch (error) {
    const { cause, message } = error as Error
    return { revoked: 'failed', detail: cause instanceof Error ? cause.message : message }
  }
}
