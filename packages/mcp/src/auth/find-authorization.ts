/** The first half of a login: whether the server wants one, and who gives it. */
import {
  type AuthProvider,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type OAuthDiscoveryState,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { dropUndefined } from '@toolwell/core/internal'
import { redactor } from '../config/redact.js'
import { openClient } from '../upstream/open-client.js'
import { VERSION } from '../upstream/version.js'
import { createWatchdog } from '../upstream/watchdog.js'
import { ANSWER_TIMEOUT, type LoginAttempt } from './login-attempt.js'

/** What a server answers to a stranger. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL
  readonly scope?: string
}

/** Reaches the server without credentials: its answer says what it wants. Undefined where it lets everybody in. */
export async function askForChallenge({
  server,
  stop,
  failures,
}: LoginAttempt): Promise<Challenge | undefined> {
  let challenge: Challenge | undefined
  const stranger: AuthProvider = {
    token: async () => undefined,
    async onUnauthorized({ response }) {
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
      challenge = dropUndefined({ resourceMetadataUrl, scope })
      throw new UnauthorizedError()
    },
  }
  const watchdog = createWatchdog()
  try {
    const { client } = await openClient({
      hide: redactor(server),
      server,
      version: VERSION,
      watchdog,
      capabilities: {},
      era: undefined,
      auth: stranger,
      timeout: ANSWER_TIMEOUT,
      signal: stop,
      onListChanged: () => undefined,
      prepare: () => undefined,
    })
    await client.close().catch(() => undefined)
    return undefined
  } catch (error) {
    if (challenge) return challenge
    throw failures.ifCancelled(error) ?? failures.unreachable(error)
  } finally {
    watchdog.close()
  }
}

/** Finds the authorization server. */
export async function discoverAuthorization(
  { name, url, known, fetch, failures }: LoginAttempt,
  challenge: Challenge | undefined,
): Promise<OAuthDiscoveryState> {
  const resourceMetadataUrl = challenge?.resourceMetadataUrl
  const found = await discoverOAuthServerInfo(new URL(url), {
    ...dropUndefined({ resourceMetadataUrl }),
    fetchFn: fetch,
  }).catch((error: unknown) => {
    throw (
      failures.ifCancelled(error) ?? failures.refused('says where to log in, but that cannot be used', error)
    )
  })
  // Some let everybody in and ask later, at the first call.
  if (!challenge && !known.wanted && !found.resourceMetadata && !found.authorizationServerMetadata)
    throw failures.make('not-needed', `${name} asks for no login.`, 'It can be used as it is.')
  return { ...found, ...dropUndefined({ resourceMetadataUrl: resourceMetadataUrl?.href }) }
}
