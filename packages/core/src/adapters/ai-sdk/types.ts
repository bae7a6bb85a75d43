/**
 * The parts of the AI SDK that this adapter reads or writes, as shapes: a message of a host and a message of a prompt are
 * read alike, and so are versions 6 and 7. Everything else passes through untouched.
 */
import { isRecord } from '../../base/guards.js'

export const WIRE = 'ai-sdk'

/** A `ModelMessage`, or a message of the prompt that a model gets. */
export interface AiMessage {
  readonly role: string
  readonly content: unknown
  readonly providerOptions?: unknown
}

export interface AiPart {
  readonly type: string
  readonly providerOptions?: unknown
}

export interface AiCallPart extends AiPart {
  readonly type: 'tool-call'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

export interface AiResultPart extends AiPart {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly toolName: string
  readonly output: unknown
}

/** A tool as the SDK hands it to a model. */
export interface AiFunction {
  readonly type: string
  readonly name: string
  readonly description?: string
  readonly inputSchema?: unknown
  readonly strict?: boolean
  readonly inputExamples?: readonly { readonly input: unknown }[]
}

/** What the SDK asks a model. */
export interface AiCallOptions {
  readonly prompt: readonly AiMessage[]
  readonly tools?: readonly AiFunction[]
  readonly toolChoice?: unknown
  readonly providerOptions?: unknown
}

/** A call in a reply of a model: its arguments are text. */
export interface AiReplyCall {
  readonly type: 'tool-call'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: string
  readonly providerExecuted?: boolean
  readonly providerMetadata?: Readonly<Record<string, unknown>>
}

/** A piece of a reply, whole or streamed. */
export interface AiReplyPart {
  readonly type: string
}

export interface AiModel {
  readonly provider: string
  readonly modelId?: string
  doGenerate(options: AiCallOptions): Promise<AiGenerated>
  doStream(options: AiCallOptions): Promise<{ readonly stream: AiStream } & AiSent>
}

/** What the model says it has sent. */
interface AiSent {
  readonly request?: { readonly body?: unknown }
}

export interface AiGenerated extends AiSent {
  readonly content: readonly AiReplyPart[]
  readonly warnings?: readonly unknown[]
  readonly usage?: unknown
}

export interface AiStream {
  pipeThrough(transform: unknown): AiStream
}

/** What the SDK gives a tool besides its input. Version 7 gives more; all of it is passed on. */
export interface AiExecuteOptions {
  readonly toolCallId: string
  readonly messages: readonly AiMessage[]
  readonly abortSignal?: AbortSignal | undefined
}

export function isModel(value: unknown): value is AiModel {
  return isRecord(value) && typeof value.doGenerate === 'function' && typeof value.doStream === 'function'
}

export function partsOf({ content }: AiMessage): readonly AiPart[] {
  return Array.isArray(content) ? content.filter(isPart) : []
}

function isPart(value: unknown): value is AiPart {
  return isRecord(value) && typeof value.type === 'string'
}

/** A call that the host has to answer. What the provider runs itself is answered in the same message. */
export function isCall(part: AiPart): part is AiCallPart {
  return part.type === 'tool-call' && !(part as { providerExecuted?: boolean }).providerExecuted
}

export function isResult(part: AiPart): part is AiResultPart {
  return part.type === 'tool-result'
}

/** What was said, without what was thought. */
export function spoken(message: AiMessage): string {
  if (typeof message.content === 'string') return message.content
  return partsOf(message)
    .map((part) => (part.type === 'text' ? String((part as { text?: unknown }).text ?? '') : ''))
    .join('')
}

/** What the model reads of a result, as text. */
export function outputText(output: unknown): string {
  if (!isRecord(output)) return typeof output === 'string' ? output : ''
  const { type, value, reason } = output
  if (type === 'text' || type === 'error-text') return String(value ?? '')
  if (type === 'content' && Array.isArray(value)) return spoken({ role: 'tool', content: value })
  if (type === 'execution-denied') return String(reason ?? '')
  return JSON.stringify(value) ?? ''
}

type Options = Readonly<Record<string, unknown>>

export function openaiOptions({ providerOptions }: AiPart): Options {
  const { openai, azure } = isRecord(providerOptions) ? providerOptions : {}
  return isRecord(openai) ? openai : isRecord(azure) ? azure : {}
}

/** Under both names: the provider reads its own. */
export function withOpenaiOptions<Part extends AiPart>(part: Part, options: Options): Part {
  const { providerOptions, ...rest } = part
  const { openai: _, azure: __, ...others } = isRecord(providerOptions) ? providerOptions : {}
  const own = Object.keys(options).length > 0 ? { openai: options, azure: options } : {}
  const all = { ...others, ...own }
  return { ...rest, ...(Object.keys(all).length > 0 ? { providerOptions: all } : {}) } as unknown as Part
}

/** A part without what ties it to the item it was: it has become another call. */
export function untied<Part extends AiPart>(part: Part): Part {
  const { itemId, namespace, ...others } = openaiOptions(part)
  return itemId === undefined && namespace === undefined ? part : withOpenaiOptions(part, others)
}
