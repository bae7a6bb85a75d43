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

/** Subscribes the resources of a `subscriptions/listen` request, until its stream ends. Resources that cannot be subscribed are skipped. */
export async function watchListened(
  body: unknown,
  signal: AbortSignal,
  view: View,
  callerFor: (envelope: Readonly<Record<string, unknown>>, source: string) => Caller,
  onUpdated: (uri: string) => void,
): Promise<void> {
  const uris = readListened(body).slice(0, MOST_SUBSCRIPTIONS)
  await Promise.all(
    uris.map(async (uri) => {
      const found = view.offers.findResource(uri)
      if (!found) return
      const publish = (changed: string) => onUpdated(changed === found.given ? uri : changed)
      const caller = callerFor(readEnvelope(body), found.source)
      const end = await subscribe(view, found, caller, publish).catch(() => undefined)
      if (signal.aborted) end?.()
      else if (end) signal.addEventListener('abort', end, { once: true })
    }),
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

function readEnvelope(body: unknown): Readonly<Record<string, unknown>> {
  const { params } = isRecord(body) ? body : {}
  return isRecord(params) && isRecord(params._meta) ? params._meta : {}
}
