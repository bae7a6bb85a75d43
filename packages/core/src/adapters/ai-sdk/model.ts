/** A model with Toolwell right before it: what a request holds is decided here, and a reply is read here first. */
import type { ReplyReader } from './reply.js'
import { type AiCallOptions, type AiModel, type AiReplyPart, type AiStream, isModel } from './types.js'

/** One request to a model, and its reply. */
export interface Exchange {
  readonly options: AiCallOptions
  /** `sent`: the body of the request, where the model tells it. */
  warnings(sent: unknown): readonly { readonly type: 'other'; readonly message: string }[]
  readonly reader: ReplyReader
  /** The reply is complete, and this is what the model says that it cost. */
  close(usage: unknown): Promise<void>
  /** The provider refused the request; true where it can be sent in another way. */
  refused(error: unknown): Promise<boolean>
}

export type OpenExchange = (model: AiModel, options: AiCallOptions) => Promise<Exchange>

const wrapped = new WeakSet<object>()

/** The same kind of model, whatever its version; what is not a model object (an id, say) is given back as it is. */
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

/** Sends a request. Where the provider refuses how tools are deferred, it is sent once more, in the way that is left. */
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
  await exchange.close(result.usage)
  const warnings = exchange.warnings(result.request?.body)
  return { ...result, content, warnings: [...(result.warnings ?? []), ...warnings] }
}

async function stream(model: AiModel, options: AiCallOptions, open: OpenExchange) {
  const { exchange, result } = await send(model, options, open, (sent) => model.doStream(sent))
  return { ...result, stream: read(result.stream, exchange, result.request?.body) }
}

function read(source: AiStream, exchange: Exchange, sent: unknown): AiStream {
  const transform = new TransformStream<AiReplyPart, AiReplyPart>({
    async transform(part, controller) {
      // Before the SDK sees the end: that is when it starts the calls.
      if (part.type === 'finish') await exchange.close((part as { readonly usage?: unknown }).usage)
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
