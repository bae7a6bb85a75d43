/** The end of a login: the answer of the user becomes tokens, and these are kept. */
import { exchangeAuthorization, type StoredOAuthTokens } from '@modelcontextprotocol/client'
import { dropUndefined } from '@toolwell/core/internal'
import type { Draft } from './draft.js'
import type { LoginAttempt } from './login-attempt.js'
import { plain } from './login-failures.js'
import type { Login } from './login-store.js'
import { expiryOf } from './stored-auth.js'

/** The code that the user's consent gave. */
export function codeFrom(parameters: URLSearchParams, { name, failures }: LoginAttempt): string {
  const code = parameters.get('code')
  if (code && !parameters.has('error')) return code
  const why = plain(parameters.get('error_description') ?? parameters.get('error') ?? 'no code was given')
  const isDenial = parameters.get('error') === 'access_denied'
  throw failures.make(
    'denied',
    isDenial ? `The login to ${name} was denied: ${why}.` : `There was no login to ${name}: ${why}.`,
    'Run it again and agree, or ask whoever runs the server.',
  )
}

export type FreshLogin = Login & { readonly tokens: StoredOAuthTokens & { readonly issuer: string } }

/** Exchanges the code for tokens. */
export async function takeTokens(
  code: string,
  parameters: URLSearchParams,
  draft: Draft,
  redirectUrl: string,
  { fetch, failures }: LoginAttempt,
): Promise<FreshLogin> {
  const { client, discovery, resource } = draft.settled()
  const metadata = discovery.authorizationServerMetadata
  const now = Date.now()
  const tokens = await exchangeAuthorization(discovery.authorizationServerUrl, {
    ...dropUndefined({ metadata, resource, iss: parameters.get('iss') ?? undefined }),
    clientInformation: client,
    authorizationCode: code,
    codeVerifier: draft.provider.codeVerifier() as string,
    redirectUri: redirectUrl,
    fetchFn: fetch,
  }).catch((error: unknown) => {
    throw failures.ifCancelled(error) ?? failures.refused('gave no tokens', error)
  })
  const issuer = metadata?.issuer ?? discovery.authorizationServerUrl
  const scope = tokens.scope ?? draft.requestedScope()
  return {
    client,
    tokens: { ...tokens, issuer, ...dropUndefined({ scope: scope || undefined }) },
    ...expiryOf(tokens, now),
    discovery,
    ...dropUndefined({ resource }),
    redirectUrl,
  }
}

export async function keepLogin(login: Login, { server, store, failures }: LoginAttempt): Promise<void> {
  try {
    await store.exclusively(server, async () => store.write(server, login))
  } catch (error) {
    throw failures.notKept(error)
  }
}
