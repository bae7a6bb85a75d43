/**
 * `@toolwell/core/framework`: for frameworks that own the loop and use a known wire. The adapter of that wire repairs
 * their requests, and Toolwell runs their calls.
 */

import { readEvents } from '../adapters/shared/stream.js'
import { dropUndefined } from '../base/data.js'
import { ToolwellError } from '../base/errors.js'
import { assertKnownKeys, assertOneOf, invalid } from '../base/options.js'
import { type ProviderWire, providers } from '../base/wires.js'
import { adapterPort, type Conversation } from '../conversation.js'
import { BRIDGE_NAME, READER_NAME } from '../surface/meta-tools.js'
import type { JsonSchema } from '../tool/tool.js'
import type { CallAnswer, Execute, RunOptions } from '../turn/run.js'
import { type Body, detectWire, getBodyKind, readHistory } from './bodies.js'
import { type Exchange, type FrameworkAnswer, type FrameworkCall, openExchange } from './exchange.js'

export type { ProviderWire } from '../base/wires.js'
export type { FrameworkAnswer, FrameworkCall } from './exchange.js'

export interface FrameworkOptions {
  /** The wire that the client of the framework uses. */
  readonly wire: ProviderWire
  /** Runs a tool. Default: the tool's `execute`. */
  readonly execute?: Execute
  /**
   * Whether Anthropic may reveal tools itself. Default false: a framework that writes the answer of a search as text
   * loses its references. If true, put the `messages` of an answer into every request instead.
   */
  readonly native?: boolean
}

/** A tool as a framework needs it. Each request decides what the model sees of it. */
export interface FrameworkTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

export interface Framework {
  /** `tool_search`, `tool_call`, `read_result` and every tool of the catalogue. Give them all to the framework. */
  tools(): readonly FrameworkTool[]
  /**
   * Pass this to the framework's client. A request without `tool_search` passes unchanged. A request in
   * the form of another wire is not sent: the response describes the mistake.
   */
  readonly fetch: typeof globalThis.fetch
  /**
   * Returns the body to send instead, for a framework whose client takes no `fetch`. Undefined if the request has no `tool_search`.
   */
  request(body: object): Promise<Readonly<Record<string, unknown>> | undefined>
  /** Records the reply to the last `request`, in the form of the wire. */
  replied(reply: unknown): void
  /** Call this before a request with a shortened history. The request shows lost schemas and notices again. */
  compacted(): void
  /** Runs a call to any name, even an unknown one. The `text` of the answer is the result. */
  run(call: FrameworkCall, options?: Pick<RunOptions, 'signal' | 'onProgress'>): Promise<FrameworkAnswer>
}

/** The number of requests to remember. Only the last has calls to start, but requests may overlap. */
const REMEMBERED = 8

export function framework(conversation: Conversation, options: FrameworkOptions): Framework {
  const port = adapterPort(conversation)
  assertKnownKeys(options, ['wire', 'execute', 'native'], 'framework')
  assertOneOf('wire', options.wire, Object.keys(providers))
  const { execute, native = false } = options
  const kind = getBodyKind(options.wire)
  const { catalogue, loader } = conversation
  const exchanges: Exchange[] = []
  let isCompacted = false
  const tools = (): readonly FrameworkTool[] => {
    const own = new Set(catalogue.hostTools)
    const entries = [...catalogue.entries()]
    // While deferral is off, the host's tools keep their own names.
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
    // The reader joins the catalogue with the first kept result: too late for a framework that asks once.
    const all = [open(READER_NAME), ...made, open(loader), open(BRIDGE_NAME)]
    return [...new Map(all.map((tool) => [tool.name, tool])).values()]
  }

  const open = async (body: object) => {
    const spoken = detectWire(body as Body, loader)
    if (spoken !== undefined && spoken !== options.wire)
      throw invalid(
        'wire',
        `Toolwell: this request is in the form of ${spoken}, but framework was given the wire ${options.wire}. Use framework(conversation, { wire: '${spoken}' }), or a client for ${options.wire}.`,
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
    } else if (exchanges.length === 0 && readHistory(body as Body, kind))
      port.warn(
        'request-unseen',
        `requests were sent unchanged, because they do not offer ${loader}: give the agent every tool of framework(…).tools()`,
      )
    if (exchanges.length > REMEMBERED) exchanges.shift()
    return exchange
  }

  return {
    tools,

    async fetch(input, init) {
      const exchange = await open(parseBody(init?.body)).catch(writeRefusal)
      if (exchange instanceof Response) return exchange
      if (!exchange) return globalThis.fetch(input, init)
      const headers = new Headers(init?.headers)
      headers.delete('content-length')
      const body = JSON.stringify(exchange.body)
      const response = await globalThis.fetch(input, { ...init, headers, body })
      if (response.ok) exchange.replied(readResponse(response.clone(), kind.assemble))
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
      // The call comes from an earlier process.
      const [answer] = await conversation.run([{ ...made, callId: id, anchor: `call:${id}` }], {
        ...dropUndefined({ execute }),
        ...options,
      })
      return { ...(answer as CallAnswer), messages: [] }
    },
  }
}

/** Reports a mistake of the host as a response: clients take an error of `fetch` for a network failure and retry. */
function writeRefusal(error: unknown): Response {
  if (!ToolwellError.is(error) || error.code !== 'invalid-option') throw error
  const { message } = error
  return Response.json({ type: 'error', error: { type: 'invalid_request_error', message } }, { status: 400 })
}

/** The conversation checks arguments. A framework that checks them first would refuse repairable ones. */
const OPEN: JsonSchema = { type: 'object', properties: {}, additionalProperties: true }

function parseBody(body: unknown): object {
  try {
    const value: unknown = typeof body === 'string' ? JSON.parse(body) : undefined
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

async function readResponse(
  response: Response,
  assemble: (events: AsyncIterable<unknown>) => Promise<unknown>,
): Promise<unknown> {
  const isStream = response.headers.get('content-type')?.includes('event-stream') && response.body
  return isStream ? assemble(readEvents(response.body as AsyncIterable<Uint8Array>)) : response.json()
}
