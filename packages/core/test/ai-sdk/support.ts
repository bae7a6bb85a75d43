/** One host on both versions of the SDK: real packages and real providers, against the strict scripted endpoints. */
import { createAnthropic as createAnthropic3 } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI as createOpenAI3 } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { type Conversation, createToolwell, type Toolwell, type ToolwellOptions } from '@toolwell/core'
import { type AiSdkOptions, aiSdk } from '@toolwell/core/ai-sdk'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  responsesProtocol,
  type ScriptedCall,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import * as ai6 from 'ai'
import * as ai7 from 'ai-7'
import { createAnthropic as createAnthropic4 } from 'ai-sdk-7-anthropic'
import { createOpenAI as createOpenAI4 } from 'ai-sdk-7-openai'
import { onTestFinished } from 'vitest'
import { mixed } from '../support/tools.js'

// Tests read warnings where the SDK gives them; it need not print them as well.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

/** The functions the tests use of each version; `types.test.ts` compiles against the real types of both. */
interface Sdk {
  generateText(options: object): Promise<Result>
  streamText(options: object): StreamedResult
  ToolLoopAgent: new (
    settings: object,
  ) => {
    generate(options: object): Promise<Result>
    stream(options: object): Promise<StreamedResult>
  }
  stepCountIs(count: number): unknown
  tool(definition: object): object
  asSchema(schema: never): { jsonSchema: unknown }
  jsonSchema(schema: object, options?: object): object
}

export interface Message {
  readonly role: string
  readonly content: unknown
}

export interface Result {
  readonly text: string
  /** Of all steps in version 6, of the last one in version 7. */
  readonly response: { readonly messages: Message[] }
  /** Of all steps, in version 7. */
  readonly responseMessages?: Message[]
  readonly steps: readonly {
    readonly toolCalls: readonly { readonly toolName: string; readonly input: unknown }[]
    readonly toolResults: readonly { readonly toolName: string; readonly output: unknown }[]
    readonly content: readonly { readonly type: string; readonly error?: unknown }[]
    readonly warnings?: readonly { readonly message?: string }[]
  }[]
}

type Later<T> = { readonly [Key in keyof T]: PromiseLike<T[Key]> }
export interface StreamedResult extends Later<Result> {
  readonly fullStream: AsyncIterable<{ readonly type: string; readonly toolName?: string }>
}

export const majors = [
  { major: 6, sdk: ai6 as unknown as Sdk },
  { major: 7, sdk: ai7 as unknown as Sdk },
] as const

const protocols = {
  /** As Mistral has it: behind a result only the model speaks. */
  chat: (strictOrder: boolean) => chatProtocol({ family: strictOrder ? 'mistral' : 'openai' }),
  anthropic: (_: boolean, deferral: boolean | 'ignored' = true) =>
    anthropicProtocol({ deferral: deferral === true }),
  responses: (strictOrder: boolean, toolSearch: boolean | 'ignored' = true) =>
    responsesProtocol({ strictOrder, toolSearch }),
  /** As Gemini 3 has it: calls need the signatures they came with. */
  google: () => googleProtocol({ thoughtSignatures: true }),
  /** With the beta by which tools come and go in system messages. */
  'anthropic-changes': () => anthropicProtocol({ midConversationSystem: true }),
  /** Thinking is bound to the content before it. */
  'anthropic-thinking': () => anthropicProtocol({ boundThinking: true }),
} as const
export type WireName = keyof typeof protocols

/** A client that keeps the history itself, and the limit that Anthropic wants. */
const limits = {
  chat: {},
  anthropic: { maxOutputTokens: 1000 },
  'anthropic-changes': { maxOutputTokens: 1000 },
  'anthropic-thinking': { maxOutputTokens: 1000 },
  responses: { providerOptions: { openai: { store: false } } },
  google: {},
} as const

function modelOf(
  major: 6 | 7,
  wire: WireName,
  url: string,
  named?: string,
  name = 'google.generative-ai',
): object {
  const isAnthropic = wire.startsWith('anthropic')
  const settings = { baseURL: isAnthropic ? `${url}/v1` : url, apiKey: 'none' }
  // Of this provider there is one version here; version 7 of the SDK takes it, too.
  if (wire === 'google')
    return createGoogleGenerativeAI({ ...settings, name, baseURL: `${url}/v1beta` })('gemini-3-scripted')
  if (major === 7) {
    if (isAnthropic) return createAnthropic4(settings)('claude-scripted')
    const openai = createOpenAI4(settings)
    return wire === 'chat' ? openai.chat('gpt-scripted') : openai.responses(named ?? 'gpt-scripted')
  }
  if (isAnthropic) return createAnthropic3(settings)('claude-scripted')
  if (wire === 'responses') return createOpenAI3(settings).responses(named ?? 'gpt-scripted')
  return createOpenAICompatible({ name: 'scripted', ...settings }).chatModel('scripted')
}

export const call = (name: string, input: unknown = { value: 'x' }, id?: string): ScriptedCall => ({
  name,
  arguments: input,
  ...(id === undefined ? {} : { id }),
})
export const search = (query: string): ScriptedCall => call('tool_search', { query })
export const bridged = (name: string, input: unknown = { value: 'x' }): ScriptedCall =>
  call('tool_call', { name, arguments: input })
export const calls = (...list: ScriptedCall[]): ScriptedReply => ({ calls: list })
export const said = (text = 'Done.'): ScriptedReply => ({ text })

export interface Setup {
  readonly major: 6 | 7
  readonly wire?: WireName
  /** The model's name. Default: a name no provider knows. */
  readonly named?: string
  /** The name of Google's provider: on Vertex it goes by another. */
  readonly provider?: string
  readonly script: readonly ScriptedReply[]
  /** Off where the user speaks behind a tool's result. Default on. */
  readonly strictOrder?: boolean
  /** Off for a server that does not defer tools by its own means. Default on. */
  readonly deferral?: boolean | 'ignored'
  readonly options?: ToolwellOptions
  readonly adapter?: AiSdkOptions
  readonly well?: Toolwell
  readonly conversation?: Conversation
}

export type Body = Record<string, never> & {
  readonly tools?: readonly Readonly<Record<string, unknown>>[]
  readonly messages: readonly Readonly<Record<string, unknown>>[]
}

/** A host with a history, as a chat application keeps it. */
export async function startHost(setup: Setup) {
  const { major, wire = 'chat', script, adapter = {} } = setup
  const { sdk } = majors[major - 6] as (typeof majors)[number]
  const protocol = protocols[wire](setup.strictOrder ?? true, setup.deferral)
  const endpoint = await startScriptedEndpoint(protocol as ReturnType<typeof chatProtocol>, {
    model: [...script],
  })
  onTestFinished(() => endpoint.close())
  const well = setup.well ?? createToolwell({ tools: mixed(), mode: 'on', ...setup.options })
  const conversation = setup.conversation ?? (await well.open({ id: `thread-${Math.random()}` }))
  const lazy = aiSdk<Message>(conversation, adapter)
  const model = modelOf(major, wire, endpoint.url, setup.named, setup.provider)
  const messages: Message[] = []
  const body = (index: number) => endpoint.requests.at(index)?.body as unknown as Body
  const settings = { model, maxRetries: 0, stopWhen: sdk.stepCountIs(10), ...limits[wire] }

  return {
    sdk,
    model,
    well,
    conversation,
    lazy,
    messages,
    settings: { ...settings, ...lazy.settings },
    endpoint,
    /** One turn of the user. */
    async ask(text: string, more: object = {}): Promise<Result> {
      messages.push({ role: 'user', content: text })
      const result = await sdk.generateText({ ...settings, ...lazy.settings, messages, ...more })
      messages.push(...(result.responseMessages ?? result.response.messages))
      return result
    },
    async askStreaming(text: string, more: object = {}) {
      messages.push({ role: 'user', content: text })
      const result = sdk.streamText({ ...settings, ...lazy.settings, messages, ...more })
      const parts: { readonly type: string; readonly toolName?: string }[] = []
      for await (const part of result.fullStream) parts.push(part)
      messages.push(...((await result.responseMessages) ?? (await result.response).messages))
      return { parts, text: await result.text, steps: await result.steps }
    },
    body,
    raw: (index: number) => endpoint.requests.at(index)?.raw ?? '',
    /** Names of the tools of a request, in its order. */
    names: (index: number) => namesOf(body(index)),
    toolsJson: (index: number) => JSON.stringify(declaredIn(body(index))),
    statuses: () => endpoint.requests.map(({ status }) => status),
  }
}

/** The names of all calls in the history of a request, on any wire. */
export function sentCalls(body: Body): string[] {
  const { messages, input, contents } = body as unknown as Record<
    string,
    readonly Record<string, unknown>[] | undefined
  >
  return (messages ?? input ?? contents ?? []).flatMap(({ type, name, tool_calls: chat, content, parts }) => {
    if (type === 'function_call') return [String(name)]
    if (Array.isArray(chat)) return chat.map((each) => String(each.function.name))
    const blocks = (Array.isArray(content) ? content : Array.isArray(parts) ? parts : []) as Block[]
    return blocks.flatMap(({ type: kind, name: own, functionCall }) =>
      kind === 'tool_use' ? [String(own)] : functionCall ? [functionCall.name] : [],
    )
  })
}

interface Block {
  readonly type?: string
  readonly name?: string
  readonly functionCall?: { readonly name: string }
}

export type Host = Awaited<ReturnType<typeof startHost>>

function declaredIn({ tools = [] }: Body): readonly Readonly<Record<string, unknown>>[] {
  return tools.flatMap((tool) => (tool.functionDeclarations as typeof tools | undefined) ?? [tool])
}

function namesOf(body: Body): string[] {
  return declaredIn(body).map((tool) =>
    String(tool.name ?? (tool.function as { name?: string } | undefined)?.name),
  )
}
