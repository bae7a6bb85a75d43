/**
 * The parts of the AI SDK that this adapter reads or writes, by form: host messages and prompt messages, versions 6
 * and 7. Everything else passes through unchanged.
 */
import { isRecord } from '../../base/data.js'

export const WIRE = 'ai-sdk'

/** A `ModelMessage`, or a message of a model's prompt. */
export interface AiMessage {
  readonly role: string
  readonly content: unknown
  readonly providerOptions?: unknown
}

export interface AiPart {
  readonly type: string
  readonly providerOptions?: unknown
  /** The kind of a custom part. */
  readonly kind?: unknown
}

/** Custom parts of Anthropic's provider that it does not send (`convert-to-anthropic-prompt.ts` sends only fallbacks). */
const NOT_SENT: readonly unknown[] = ['anthropic.message_start', 'anthropic.container_upload']

/** Whether a part cannot be the last content of a reply: thinking, or a part that is not sent. */
export function isUnspoken({ type, kind }: AiPart): boolean {
  return type === 'reasoning' || (type === 'custom' && NOT_SENT.includes(kind))
}

/** Whether code that a provider runs made the call. `options`: the provider options or metadata of a call. */
export function isFromCode(options: unknown): boolean {
  return (
    isRecord(options) &&
    Object.values(options).some(
      (each) => isRecord(each) && isRecord(each.caller) && each.caller.type !== 'direct',
    )
  )
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

/** A tool as the SDK passes it to a model. */
export interface AiFunction {
  readonly type: string
  readonly name: string
  /** The id of a provider's tool. */
  readonly id?: string
  readonly description?: string
  readonly inputSchema?: unknown
  readonly strict?: boolean
  readonly inputExamples?: readonly { readonly input: unknown }[]
}

/** The options of a model call. */
export interface AiCallOptions {
  readonly prompt: readonly AiMessage[]
  readonly tools?: readonly AiFunction[]
  readonly toolChoice?: unknown
  readonly providerOptions?: unknown
  /** Asks for the chunks of the provider as they came, in a stream. */
  readonly includeRawChunks?: boolean | undefined
}

/** A call in a reply of a model. Its arguments are text. */
export interface AiReplyCall {
  readonly type: 'tool-call'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: string
  readonly providerExecuted?: boolean
  readonly providerMetadata?: Readonly<Record<string, unknown>>
}

/** A part of a reply, whole or streamed. */
export interface AiReplyPart {
  readonly type: string
}

export interface AiModel {
  readonly provider: string
  readonly modelId?: string
  doGenerate(options: AiCallOptions): Promise<AiGenerated>
  doStream(options: AiCallOptions): Promise<{ readonly stream: AiStream } & AiSent>
}

/** The request body that the model reports. */
interface AiSent {
  readonly request?: { readonly body?: unknown }
}

export interface AiGenerated extends AiSent {
  readonly content: readonly AiReplyPart[]
  readonly warnings?: readonly unknown[]
  readonly usage?: unknown
  readonly providerMetadata?: unknown
  readonly response?: { readonly body?: unknown }
}

export interface AiStream {
  pipeThrough(transform: unknown): AiStream
}

/** The options that the SDK passes to a tool. Version 7 passes more; all of it is passed on. */
export interface AiExecuteOptions {
  readonly toolCallId: string
  readonly messages: readonly AiMessage[]
  readonly abortSignal?: AbortSignal | undefined
}

export function isModel(value: unknown): value is AiModel {
  return isRecord(value) && typeof value.doGenerate === 'function' && typeof value.doStream === 'function'
}

export function listParts({ content }: AiMessage): readonly AiPart[] {
  return Array.isArray(content) ? content.filter(isPart) : []
}

function isPart(value: unknown): value is AiPart {
  return isRecord(value) && typeof value.type === 'string'
}

/** Whether the host has to answer the call. Calls that the provider runs are answered in the same message. */
export function isCall(part: AiPart): part is AiCallPart {
  return part.type === 'tool-call' && !(part as { providerExecuted?: boolean }).providerExecuted
}

export function isResult(part: AiPart): part is AiResultPart {
  return part.type === 'tool-result'
}

/** The text of a message, without thinking. */
export function readSpoken(message: AiMessage): string {
  if (typeof message.content === 'string') return message.content
  return listParts(message)
    .map((part) => (part.type === 'text' ? String((part as { text?: unknown }).text ?? '') : ''))
    .join('')
}

/** The text of a result that the model reads. */
export function readOutputText(output: unknown): string {
  if (!isRecord(output)) return typeof output === 'string' ? output : ''
  const { type, value, reason } = output
  if (type === 'text' || type === 'error-text') return String(value ?? '')
  if (type === 'content' && Array.isArray(value)) return readSpoken({ role: 'tool', content: value })
  if (type === 'execution-denied') return String(reason ?? '')
  return JSON.stringify(value) ?? ''
}

type Options = Readonly<Record<string, unknown>>

export function readOpenaiOptions({ providerOptions }: AiPart): Options {
  const { openai, azure } = isRecord(providerOptions) ? providerOptions : {}
  return isRecord(openai) ? openai : isRecord(azure) ? azure : {}
}

/** Sets the options under both names, `openai` and `azure`: the provider reads its own. */
export function setOpenaiOptions<Part extends AiPart>(part: Part, options: Options): Part {
  const { providerOptions, ...rest } = part
  const { openai: _, azure: __, ...others } = isRecord(providerOptions) ? providerOptions : {}
  const own = Object.keys(options).length > 0 ? { openai: options, azure: options } : {}
  const all = { ...others, ...own }
  return { ...rest, ...(Object.keys(all).length > 0 ? { providerOptions: all } : {}) } as unknown as Part
}

/** Removes the item id and namespace, because the part is now another call. */
export function removeItem<Part extends AiPart>(part: Part): Part {
  const { itemId, namespace, ...others } = readOpenaiOptions(part)
  return itemId === undefined && namespace === undefined ? part : setOpenaiOptions(part, others)
}
