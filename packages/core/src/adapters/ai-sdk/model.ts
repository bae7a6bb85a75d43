/** Wraps a model of the SDK: Toolwell decides what a request holds, and reads the reply before the SDK does. */

import { isRecord } from '../../base/data.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import { argumentsObject, CODE, readArguments, type UnitCall } from '../shared/thread.js'
import { addMark } from './read.js'
import {
  type AiCallOptions,
  type AiModel,
  type AiReplyCall,
  type AiReplyPart,
  type AiStream,
  isFromCode,
  isModel,
} from './types.js'

/** The end of a reply, with the bodies of the request and the response, if the model exposes them. */
export interface Ending {
  readonly usage?: unknown
  readonly providerMetadata?: unknown
  readonly sent: unknown
  readonly received: unknown
}

/** One request to a model, and its reply. */
export interface Exchange {
  readonly options: AiCallOptions
  /** `sent`, `received`: the bodies of the request and the response, if the model exposes them. */
  warnings(sent: unknown, received?: unknown): readonly { readonly type: 'other'; readonly message: string }[]
  readonly reader: ReplyReader
  /** Closes the exchange when the reply is complete. */
  close(ending: Ending): Promise<void>
  /** Handles a refusal of the provider. True if the request can be sent in another way. */
  refused(error: unknown): Promise<boolean>
}

export type OpenExchange = (model: AiModel, options: AiCallOptions) => Promise<Exchange>

const wrapped = new WeakSet<object>()

/** Wraps a model of any version. A value that is not a model object, such as an id, is returned unchanged. */
export function wrapModel<Model>(model: Model, open: OpenExchange): Model {
  if (!isModel(model) || wrapped.has(model)) return model
  const made = new Proxy(model, {
    get(target, key) {
      if (key === 'doGenerate') return (options: AiCallOptions) => generate(target, options, open)
      if (key === 'doStream') return (options: AiCallOptions) => stream(target, options, open)
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  wrapped.add(made)
  return made
}

/** Sends a request. If the provider refuses how tools are deferred, sends it once more in another way. */
async function send<Result>(
  model: AiModel,
  options: AiCallOptions,
  open: OpenExchange,
  call: (options: AiCallOptions) => Promise<Result>,
): Promise<{ readonly exchange: Exchange; readonly result: Result }> {
  for (;;) {
    const exchange = await open(model, options)
    try {
      return { exchange, result: await call(exchange.options) }
    } catch (error) {
      if (!(await exchange.refused(error))) throw error
    }
  }
}

async function generate(model: AiModel, options: AiCallOptions, open: OpenExchange) {
  const { exchange, result } = await send(model, options, open, (sent) => model.doGenerate(sent))
  const content = result.content.flatMap((part) => exchange.reader.read(part) ?? [])
  const { usage, providerMetadata } = result
  const [sent, received] = [result.request?.body, result.response?.body]
  await exchange.close({ usage, providerMetadata, sent, received })
  const warnings = exchange.warnings(sent, received)
  return { ...result, content, warnings: [...(result.warnings ?? []), ...warnings] }
}

async function stream(model: AiModel, options: AiCallOptions, open: OpenExchange) {
  const { exchange, result } = await send(model, options, open, (sent) => model.doStream(sent))
  return { ...result, stream: read(result.stream, exchange, result.request?.body, options) }
}

function read(
  source: AiStream,
  exchange: Exchange,
  sent: unknown,
  { includeRawChunks = false }: AiCallOptions,
): AiStream {
  let received: unknown
  const transform = new TransformStream<AiReplyPart, AiReplyPart>({
    async transform(part, controller) {
      if (part.type === 'raw') {
        // The last event with a response has all of it.
        const { rawValue } = part as { readonly rawValue?: unknown }
        if (isRecord(rawValue) && isRecord(rawValue.response)) received = rawValue.response
        if (!includeRawChunks) return
      }
      // Before the SDK sees the end: it starts the calls then.
      if (part.type === 'finish') await exchange.close({ ...part, sent, received })
      const seen =
        part.type === 'stream-start' ? warned(part, exchange.warnings(sent)) : exchange.reader.read(part)
      if (seen) controller.enqueue(seen)
    },
  })
  return source.pipeThrough(transform)
}

function warned(
  part: AiReplyPart & { readonly warnings?: readonly unknown[] },
  warnings: readonly unknown[],
) {
  return { ...part, warnings: [...(part.warnings ?? []), ...warnings] }
}

/**
 * Reads the calls of a reply before the SDK does. The SDK sees the target tool with valid arguments. The conversation
 * checks what the model wrote, and the history keeps it.
 */
export interface ReplyContext {
  /** The bridge, if this request has one. */
  readonly bridge: string | undefined
  /** Whether the SDK has a tool of this name on this request. */
  known(name: string): boolean
  /** Whether Toolwell does not run the tool. */
  isBeside(name: string): boolean
  /** The SDK's name of the tool that is meant. */
  targetOf(asked: string): string | undefined
  /** Whether calls of this tool come wrapped. The SDK sees them when they are complete. */
  wraps(name: string): boolean
  /** Unwraps a call of such a tool. */
  unwrapped(call: AiReplyCall): AiReplyCall
  found(call: UnitCall): void
}

interface ReplyReader {
  /** A part of a reply as the SDK should see it; undefined if it should not. */
  read(part: AiReplyPart): AiReplyPart | undefined
}

export function createReplyReader(context: ReplyContext): ReplyReader {
  const seen = new Set<string>()
  /** Calls whose name may still change. The SDK sees them when they are complete. */
  const held = new Set<string>()
  const isHeld = (name: string) => name === context.bridge || context.wraps(name) || !context.known(name)

  const readCall = (given: AiReplyCall): AiReplyCall => {
    if (given.providerExecuted || context.isBeside(given.toolName)) return given
    const part = context.wraps(given.toolName) ? context.unwrapped(given) : given
    const id = distinct(part.toolCallId, seen)
    const written = { name: part.toolName, arguments: part.input }
    const input = readArguments(part.input)
    const code = isFromCode(part.providerMetadata) ? { fromCode: CODE } : {}
    context.found({ id, name: part.toolName, input, text: part.input, ...code })
    const shown = shownAs(written.name, input, context)
    const text = shown.input === undefined ? readable(part.input, input) : writeJson(shown.input)
    if (shown.name === part.toolName && text === part.input && id === part.toolCallId) return part
    return {
      ...part,
      toolCallId: id,
      toolName: shown.name,
      input: text,
      ...(shown.name === part.toolName ? {} : { providerMetadata: addMark(part.providerMetadata, written) }),
    }
  }

  return {
    read(part) {
      if (part.type === 'tool-call') return readCall(part as AiReplyCall)
      if (!part.type.startsWith('tool-input-')) return part
      const { id, toolName } = part as { readonly id?: string; readonly toolName?: string }
      if (id === undefined) return part
      if (toolName !== undefined && isHeld(toolName)) held.add(id)
      return held.has(id) ? undefined : part
    },
  }
}

interface Shown {
  readonly name: string
  /** Set if it differs from what the model wrote. */
  readonly input?: Readonly<Record<string, unknown>>
}

function shownAs(name: string, input: UnitCall['input'], context: ReplyContext): Shown {
  const value = 'value' in input ? input.value : undefined
  if (name === context.bridge) {
    const inner = isRecord(value) && typeof value.name === 'string' ? value : undefined
    const target = inner ? context.targetOf(String(inner.name)) : undefined
    const given = readArguments(inner?.arguments)
    if (target === undefined || !('value' in given) || !isRecord(given.value)) return { name }
    return { name: target, input: given.value }
  }
  if (context.known(name)) return { name }
  const target = context.targetOf(name)
  if (target !== undefined) return { name: target }
  if (!context.known(BRIDGE_NAME)) return { name }
  return { name: BRIDGE_NAME, input: { name, arguments: argumentsObject(input) } }
}

/** The SDK, or a server later, refuses arguments that are not an object. */
function readable(text: string, input: UnitCall['input']): string {
  if ('value' in input && isRecord(input.value)) return text
  return text.trim() === '' ? text : writeJson(argumentsObject(input))
}

/** The model may nest deeper than JSON can be written. */
function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return '{}'
  }
}

/** Some servers give all calls of a reply the same id, or none. */
function distinct(id: string, seen: Set<string>): string {
  const base = id === '' ? 'call' : id
  let own = base
  for (let count = 2; seen.has(own); count++) own = `${base}~${count}`
  seen.add(own)
  return own
}
