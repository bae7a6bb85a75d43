/** Resources of one connection whose changes somebody wants to know. Each is subscribed once, until the last listener leaves. */
import type { Client, Result } from '@modelcontextprotocol/client'
import type { ServerRequest } from './connection.js'

type Listener = (uri: string) => void

interface Options {
  readonly timeout: number
}

export class Subscriptions {
  readonly #client: Client
  readonly #era: 'modern' | 'legacy'
  readonly #listeners = new Map<string, Set<Listener>>()
  /** Streams of the newer protocol, by URI. */
  readonly #streams = new Map<string, { close(): Promise<void> }>()

  constructor(client: Client, era: 'modern' | 'legacy') {
    this.#client = client
    this.#era = era
    client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => {
      // A change inside a resource counts as a change of it.
      for (const [subscribed, listeners] of this.#listeners)
        if (uri.startsWith(subscribed)) for (const listener of listeners) listener(uri)
    })
  }

  /** Adds or removes a listener, by the method of the request. */
  async change({ method, params }: ServerRequest, listener: Listener, { timeout }: Options): Promise<Result> {
    const uri = String(params.uri)
    const listeners = this.#listeners.get(uri) ?? new Set()
    if (method === 'resources/subscribe') {
      // Known before the server can answer with an update.
      this.#listeners.set(uri, listeners.add(listener))
      try {
        if (listeners.size === 1) await this.#subscribe(uri, { timeout })
      } catch (error) {
        this.#remove(uri, listener)
        throw error
      }
    } else if (this.#remove(uri, listener)) await this.#unsubscribe(uri, { timeout })
    return {}
  }

  /** True if it was the last listener. */
  #remove(uri: string, listener: Listener): boolean {
    const listeners = this.#listeners.get(uri)
    if (!listeners?.delete(listener) || listeners.size > 0) return false
    return this.#listeners.delete(uri)
  }

  async #subscribe(uri: string, options: Options): Promise<void> {
    if (this.#era === 'legacy') await this.#client.subscribeResource({ uri }, options)
    else this.#streams.set(uri, await this.#client.listen({ resourceSubscriptions: [uri] }, options))
  }

  async #unsubscribe(uri: string, options: Options): Promise<void> {
    if (this.#era === 'legacy') await this.#client.unsubscribeResource({ uri }, options)
    await this.#streams.get(uri)?.close()
    this.#streams.delete(uri)
  }
}
