/**
 * `@toolwell/core/framework`: for frameworks that keep the loop and speak a known wire. Their requests pass through that
 * wire's adapter, so that histories are repaired as in a loop of your own; calls that they start are run here.
 */

import { readEvents } from '../adapters/shared/sse.js'
import { dropUndefined } from '../base/data.js'
import { ToolwellError } from '../base/errors.js'
import { assertKnownKeys, assertOneOf, invalid } from '../base/options.js'
import { adapterPort, type Conversation } from '../conversation.js'
import { BRIDGE_NAME, READER_NAME } from '../surface/meta-tools.js'
import type { JsonSchema } from '../tool/tool.js'
import type { CallAnswer, Execute, RunOptions } from '../turn/run.js'
import { type Body, bodyKinds, historyIn, wireOf } from './bodies.js'
import { type Exchange, type FrameworkAnswer, type FrameworkCall, openExchange } from './exchange.js'

export type { FrameworkAnswer, FrameworkCall } from './exchange.js'

export interface FrameworkOptions {
  /** What the framework's client speaks. */
  readonly wire: keyof typeof bodyKinds
  /** Runs a tool. Default: its own `execute`. */
  readonly execute?: Execute
  /**
   * Whether tools may be revealed by the provider's own means, on Anthropic's wire. Default false: a framework that writes the
   * answer of a search as text loses the references in it. True: `messages` of an answer stand in its place in every request.
   */
  readonly native?: boolean
}

/** What a framework has to know of a tool to run it. What the model sees of it is decided request by request. */
export interface FrameworkTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

export interface Framework {
  /** The loader, the bridge, the reader of kept results and every tool of the catalogue as it is now: give them all to the framework. */
  tools(): readonly FrameworkTool[]
  /**
   * Give this to the framework's client. A request that does not offer the loader goes out as it is; one in the form of another
   * wire is not sent, and answered with what is wrong.
   */
  readonly fetch: typeof globalThis.fetch
  /**
   * The body to send instead of this one, for a framework that shows its requests and keeps its client. Undefined where the
   * request does not offer the loader.
   */
  request(body: object): Promise<Readonly<Record<string, unknown>> | undefined>
  /** The reply to the last request in the form of the wire, where the framework does not send by `fetch`. */
  replied(reply: unknown): void
  /** The next request comes with a shortened history: what it no longer shows is shown again. */
  compacted(): void
  /** Answers a call by any name, also one that nobody has: `text` of the answer is the result. */
  run(call: FrameworkCall, options?: Pick<RunOptions, 'signal' | 'onProgress'>): Promise<FrameworkAnswer>
}

/** So many requests are remembered: only the last has calls that are still to be started, but requests may overlap. */
const REMEMBERED = 8

export function framework(conversation: Conversation, options: FrameworkOptions): Framework {
  const port = adapterPort(conversation)
  assertKnownKeys(options, ['wire', 'execute', 'native'], 'framework')
  assertOneOf('wire', options.wire, Object.keys(bodyKinds))
  const { execute, native = false } = options
  const kind = bodyKinds[options.wire]
  const { catalogue, loader } = conversation
  const exchanges: Exchange[] = []
  let isCompacted = false
  const tools = (): readonly FrameworkTool[] => {
    const own = new Set(catalogue.hostTools)
    const entries = [...catalogue.entries()]
    // While deferral is off, a host's own tools go by the names it gave them.
    const named = [
      ...entries.map(({ wireName, tool }) => [wireName, tool] as const),
      ...entries.flatMap(({ tool }) => (own.has(tool) ? [[tool.name, tool] as const] : [])),
    ]
    const made = named.map(([name, { description = '', inputSchema }]) => ({
      name,
      description,
      inputSchema,
    }))
    const open = (name: string) => ({ name, description: '', inputSchema: OPEN })
    // The reader joins the catalogue with the first result that is kept: too late for a framework that asks once.
    const all = [open(READER_NAME), ...made, open(loader), open(BRIDGE_NAME)]
    return [...new Map(all.map((tool) => [tool.name, tool])).values()]
  }

  const open = async (body: object) => {
    const spoken = wireOf(body as Body, loader)
    if (spoken !== undefined && spoken !== options.wire)
      throw invalid(
        'wire',
        `Toolwell: this request is in the form of ${spoken}, and framework was given the wire ${options.wire}. Use framework(conversation, { wire: '${spoken}' }), or a client that speaks ${options.wire}.`,
      )
    const names = new Set(tools().map(({ name }) => name))
    const isOurs = (name: string) => names.has(name)
    const exchange = await openExchange(conversation, kind, body as Body, {
      isOurs,
      execute,
      isCompacted,
      native,
    })
    if (exchange) {
      isCompacted = false
      exchanges.push(exchange)
    } else if (exchanges.length === 0 && historyIn(body as Body, kind))
      port.warn(
        'request-unseen',
        `requests went out as they came, because they do not offer ${loader}: give the agent every tool of tools() of framework(…)`,
      )
    if (exchanges.length > REMEMBERED) exchanges.shift()
    return exchange
  }

  return {
    tools,

    async fetch(input, init) {
      const exchange = await open(parsed(init?.body)).catch(refusal)
      if (exchange instanceof Response) return exchange
      if (!exchange) return globalThis.fetch(input, init)
      const headers = new Headers(init?.headers)
      headers.delete('content-length')
      const body = JSON.stringify(exchange.body)
      const response = await globalThis.fetch(input, { ...init, headers, body })
      if (response.ok) exchange.replied(replyIn(response.clone(), kind.assemble))
      return response
    },

    request: async (body) => (await open(body))?.body,

    replied: (reply) => exchanges.at(-1)?.replied(reply),

    compacted() {
      isCompacted = true
    },

    async run(call, options = {}) {
      assertKnownKeys(options, ['signal', 'onProgress'], 'run')
      for (const exchange of exchanges.toReversed()) {
        const written = await exchange.find(call)
        if (written) return exchange.run(written, options)
      }
      const { id, name, input } = call
      const made = { id, name, input: { value: input } }
      const last = exchanges.at(-1)
      if (last) return last.run(made, options)
      // From an earlier process: no request of this one has led to it.
      const [answer] = await conversation.run([{ ...made, callId: id, anchor: `call:${id}` }], {
        ...dropUndefined({ execute }),
        ...options,
      })
      return { ...(answer as CallAnswer), messages: [] }
    },
  }
}

/** A mistake of the host's, as the answer to a request: what a `fetch` throws, clients take for the network's and try again. */
function refusal(error: unknown): Response {
  if (!ToolwellError.is(error) || error.code !== 'invalid-option') throw error
  const { message } = error
  return Response.json({ type: 'error', error: { type: 'invalid_request_error', message } }, { status: 400 })
}

/** The conversation checks arguments; a framework that did so first would refuse what can be repaired. */
const OPEN: JsonSchema = { type: 'object', properties: {}, additionalProperties: true }

function parsed(body: unknown): object {
  try {
    const value: unknown = typeof body === 'string' ? JSON.parse(body) : undefined
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

async function replyIn(
  response: Response,
  assemble: (events: AsyncIterable<unknown>) => Promise<unknown>,
): Promise<unknown> {
  const isStream = response.headers.get('content-type')?.includes('event-stream') && response.body
  return isStream ? assemble(readEvents(response.body as AsyncIterable<Uint8Array>)) : response.json()
}
