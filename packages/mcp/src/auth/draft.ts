/** What the SDK asks and tells during one login. Nothing is written down before the end. */

import { randomBytes } from 'node:crypto'
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client'
import { dropUndefined } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import type { Login } from './login-store.js'

export interface Draft {
  readonly provider: OAuthClientProvider
  readonly state: string
  /** The client was registered for an earlier login, and may have been forgotten since. */
  readonly isReused: boolean
  address(): URL | undefined
  requestedScope(): string | undefined
  settled(): { client: StoredOAuthClientInformation; discovery: OAuthDiscoveryState; resource?: string }
}

export function createDraft(
  { oauth }: ServerConfig,
  redirectUrl: string,
  known: Login,
  found: OAuthDiscoveryState,
): Draft {
  const state = randomBytes(32).toString('base64url')
  const issuer = found.authorizationServerMetadata?.issuer ?? found.authorizationServerUrl
  const isDocument = oauth?.clientId !== undefined && /^https:\/\/[^/]+\/./.test(oauth.clientId)
  const configured: StoredOAuthClientInformation | undefined =
    oauth?.clientId === undefined || (isDocument && oauth.clientSecret === undefined)
      ? undefined
      : { client_id: oauth.clientId, ...dropUndefined({ client_secret: oauth.clientSecret }), issuer }
  const registered = known.redirectUrl === redirectUrl && known.client?.issuer === issuer
  const isReused = configured === undefined && registered
  let client = configured ?? (registered ? known.client : undefined)
  let discovery = found
  let resource: string | undefined
  let verifier = ''
  let address: URL | undefined
  const methods = found.authorizationServerMetadata?.token_endpoint_auth_methods_supported
  const provider: OAuthClientProvider = {
    redirectUrl,
    ...dropUndefined({ clientMetadataUrl: isDocument ? oauth.clientId : undefined }),
    clientMetadata: {
      client_name: 'Toolwell',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // A program on a user's machine has no secret of its own, but some servers insist on giving it one.
      token_endpoint_auth_method: !methods || methods.includes('none') ? 'none' : (methods[0] ?? 'none'),
    },
    state: () => state,
    clientInformation: () => client,
    saveClientInformation: (made) => {
      client = made
    },
    // Asked for anew, whatever there was.
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: (to) => {
      address = to
    },
    saveCodeVerifier: (made) => {
      verifier = made
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: (made) => {
      discovery = made
    },
    saveResourceUrl: (made) => {
      resource = made
    },
  }
  return {
    provider,
    state,
    isReused,
    address: () => address,
    requestedScope: () => address?.searchParams.get('scope') ?? undefined,
    settled() {
      if (!client) throw new Error('there is no client')
      return { client, discovery, ...dropUndefined({ resource }) }
    },
  }
}
