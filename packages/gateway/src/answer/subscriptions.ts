/** Subscriptions of clients to resources, in both protocol generations. */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { isRecord, quote } from '@toolwell/core/internal'
import { type Caller, McpFailure } from '@toolwell/mcp'
import { prompts } from '../prompts.js'
import type { Found } from '../servers/offers.js'
import type { View } from '../servers/view.js'

/** Subscriptions of one client. */
const MOST_SUBSCRIPTIONS = 1000

type Unsubscribe = () => void

/** Subscribes at the server, which stays running until the returned function is called. */
async function subscribe(
  view: View,
  { source, given: uri }: Found,
  caller: Caller,
  onUpdated: (uri: string) => void,
): Promise<Unsubscribe> {
  const options = { caller, onUpdated }
  try {
    await view.request(source, { method: 'resources/subscribe', params: { uri } }, options)
  } catch (error) {
    throw toProtocolError(error)
  }
  return () =>
    void view
      .request(source, { method: 'resources/unsubscribe', params: { uri } }, options)
      .catch(() => undefined)
}

export function toProtocolError(error: unknown): unknown {
  if (!McpFailure.is(error)) return error
  return new ProtocolError(error.code ?? ProtocolErrorCode.InternalError, error.message, error.data)
}

export function createNotFound(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(uri, prompts.unknownResource({ uri: quote(uri, 300) }))
}

export interface SubscriptionOptions {
  readonly view: () => View
  readonly find: (uri: string) => Promise<Found | undefined>
  /** The caller of requests to a server. */
  readonly callerFor: (context: ServerContext, source: string) => Promise<Caller>
}

/** Answers `resources/subscribe` of the older protocol. Everything ends with the session. */
export function answerSubscriptions(server: Server, { view, find, callerFor }: SubscriptionOptions): void {
  const subscribed = new Map<string, Unsubscribe>()
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, context) => {
    if (subscribed.has(uri)) return {}
    if (subscribed.size >= MOST_SUBSCRIPTIONS)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The limit is ${MOST_SUBSCRIPTIONS} subscriptions. End some with resources/unsubscribe.`,
      )
    const found = await find(uri)
    if (!found) throw createNotFound(uri)
    const caller = await callerFor(context, found.source)
    const onUpdated = (changed: string) =>
      void server.sendResourceUpdated({ uri: changed === found.given ? uri : changed }).catch(() => undefined)
    const end = await subscribe(view(), found, caller, onUpdated)
    // Subscribed twice at the same time.
    subscribed.get(uri)?.()
    subscribed.set(uri, end)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.get(uri)?.()
    subscribed.delete(uri)
    return {}
  })
  const { onclose } = server
  server.onclose = () => {
    for (const end of subscribed.values()) end()
    subscribed.clear()
    onclose?.()
  }
}

/** Milliseconds after which a client is answered although a server has not answered. */
const PATIENCE = 5000

/** A `subscriptions/listen` request of the newer protocol. */
export interface Listening {
  readonly body: unknown
  /** Ends the subscriptions. */
  readonly signal: AbortSignal
  readonly onUpdated: (uri: string) => void
}

/**
 * Subscribes the resources of a request. Resolves with the request without resources that cannot be subscribed, because the answer
 * names what the client will hear of. A resource of a slow server stays in it, and is subscribed later.
 */
export async function watchListened(
  { body, signal, onUpdated }: Listening,
  { view, find }: Pick<SubscriptionOptions, 'view' | 'find'>,
  callerFor: (envelope: Readonly<Record<string, unknown>>, source: string) => Caller,
): Promise<unknown> {
  const uris = [...new Set(readListened(body))]
  const refused = new Set(uris.slice(MOST_SUBSCRIPTIONS))
  const watch = async (uri: string): Promise<Unsubscribe | undefined> => {
    const found = await find(uri)
    if (!found) return undefined
    const publish = (changed: string) => onUpdated(changed === found.given ? uri : changed)
    return subscribe(view(), found, callerFor(readEnvelope(body), found.source), publish)
  }
  const watching = uris.slice(0, MOST_SUBSCRIPTIONS).map(async (uri) => {
    const end = await watch(uri).catch(() => undefined)
    if (!end) refused.add(uri)
    else if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
  let patience: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    patience = setTimeout(resolve, PATIENCE)
  })
  await Promise.race([Promise.all(watching), late])
  clearTimeout(patience)
  return refused.size === 0
    ? body
    : setListened(
        body,
        uris.filter((uri) => !refused.has(uri)),
      )
}

export function isListening(body: unknown): boolean {
  return readListened(body).length > 0
}

function readListened(body: unknown): string[] {
  const { method, params } = isRecord(body) ? body : {}
  if (method !== 'subscriptions/listen' || !isRecord(params) || !isRecord(params.notifications)) return []
  const { resourceSubscriptions: uris } = params.notifications
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
}

function setListened(body: unknown, resourceSubscriptions: readonly string[]): unknown {
  const { params, ...request } = body as { readonly params: { readonly notifications: object } }
  const notifications = { ...params.notifications, resourceSubscriptions }
  return { ...request, params: { ...params, notifications } }
}

function readEnvelope(body: unknown): Readonly<Record<string, unknown>> {
  const { params } = isRecord(body) ? body : {}
  return isRecord(params) && isRecord(params._meta) ? params._meta : {}
}
