/** Where the requests of each wire hold their history, their prompt and their tools. */

import { assemble as assembleAnthropic } from '../adapters/anthropic/stream.js'
import { anthropicWire } from '../adapters/anthropic/wire.js'
import { assemble as assembleGoogle } from '../adapters/google/stream.js'
import { googleWire } from '../adapters/google/wire.js'
import { assemble as assembleChat } from '../adapters/openai-chat/stream.js'
import { chatWire } from '../adapters/openai-chat/wire.js'
import { assemble as assembleResponses } from '../adapters/openai-responses/stream.js'
import { responsesWire } from '../adapters/openai-responses/wire.js'
import type { StreamedReply } from '../adapters/shared/streamed.js'
import type { Wire } from '../adapters/shared/wire.js'
import { isRecord } from '../base/data.js'
import type { Prompts } from '../surface/prompts.js'

/** The JSON of a request. */
export type Body = Readonly<Record<string, unknown>>

/** A wire whose messages are whatever its servers take: they come from the framework. */
export type AnyWire = Wire<unknown, unknown, Body>

export interface BodyKind {
  /** `native`: the framework keeps answers in the form of the wire. */
  wire(given: { readonly loader: string; readonly prompts: Prompts }, native: boolean): AnyWire
  /** The key of the history. */
  readonly history: string
  /** The key of the system prompt, where it is no message. */
  readonly prompt?: string
  assemble(events: AsyncIterable<unknown>): Promise<StreamedReply<unknown, unknown>>
}

export const bodyKinds = {
  anthropic: {
    wire: ({ prompts }, native) => anthropicWire(prompts, { native }) as unknown as AnyWire,
    history: 'messages',
    prompt: 'system',
    assemble: assembleAnthropic,
  },
  google: {
    wire: ({ prompts }) => googleWire(prompts) as unknown as AnyWire,
    history: 'contents',
    prompt: 'systemInstruction',
    assemble: assembleGoogle,
  },
  'openai-chat': {
    wire: ({ prompts }) => chatWire(prompts) as unknown as AnyWire,
    history: 'messages',
    assemble: assembleChat,
  },
  'openai-responses': {
    // The provider's own search is no call of a function: a framework would not run it.
    wire: ({ loader, prompts }) => responsesWire(loader, prompts, { native: false }) as unknown as AnyWire,
    history: 'input',
    prompt: 'instructions',
    assemble: assembleResponses,
  },
} satisfies Readonly<Record<string, BodyKind>>

/** The messages of a request. The Responses API also takes a text, which is the user's. */
export function historyIn(body: Body, { history }: BodyKind): readonly unknown[] | undefined {
  const given = body[history]
  if (typeof given === 'string') return [{ role: 'user', content: given }]
  return Array.isArray(given) ? given : undefined
}

/** Whose form a request has, by the tool of this name that it declares: each wire writes a tool in a way of its own. */
export function wireOf({ tools }: Body, name: string): keyof typeof bodyKinds | undefined {
  const tool: unknown = Array.isArray(tools) ? tools.find((each) => namesOf(each).includes(name)) : undefined
  if (!isRecord(tool)) return undefined
  if (Array.isArray(tool.functionDeclarations)) return 'google'
  if (isRecord(tool.function)) return 'openai-chat'
  if ('input_schema' in tool) return 'anthropic'
  return tool.type === 'function' ? 'openai-responses' : undefined
}

/** The names that a request declares. */
export function namesIn({ tools }: Body): readonly string[] {
  return Array.isArray(tools) ? tools.flatMap(namesOf) : []
}

/** The tools of a request without those for which `isOurs` holds. */
export function othersIn({ tools }: Body, isOurs: (name: string) => boolean): readonly unknown[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: unknown) => {
    if (!isRecord(tool) || !Array.isArray(tool.functionDeclarations))
      return namesOf(tool).some(isOurs) ? [] : [tool]
    const rest = tool.functionDeclarations.filter((each: unknown) => !namesOf(each).some(isOurs))
    return rest.length === 0 ? [] : [{ ...tool, functionDeclarations: rest }]
  })
}

function namesOf(tool: unknown): readonly string[] {
  if (!isRecord(tool)) return []
  if (Array.isArray(tool.functionDeclarations)) return tool.functionDeclarations.flatMap(namesOf)
  const { name } = isRecord(tool.function) ? tool.function : tool
  return typeof name === 'string' ? [name] : []
}
