/** Finds the history, the prompt and the tools in the request body of each wire. */

import { assemble as assembleAnthropic } from '../adapters/anthropic/stream.js'
import { WIRE as ANTHROPIC } from '../adapters/anthropic/types.js'
import { anthropicWire } from '../adapters/anthropic/wire.js'
import { assemble as assembleGoogle } from '../adapters/google/stream.js'
import { WIRE as GOOGLE } from '../adapters/google/types.js'
import { googleWire } from '../adapters/google/wire.js'
import { assemble as assembleChat } from '../adapters/openai-chat/stream.js'
import { WIRE as CHAT } from '../adapters/openai-chat/types.js'
import { chatWire } from '../adapters/openai-chat/wire.js'
import { assemble as assembleResponses } from '../adapters/openai-responses/stream.js'
import { WIRE as RESPONSES } from '../adapters/openai-responses/types.js'
import { responsesWire } from '../adapters/openai-responses/wire.js'
import type { StreamedReply } from '../adapters/shared/stream.js'
import type { Wire } from '../adapters/shared/wire.js'
import { isRecord } from '../base/data.js'
import { type ProviderFacts, type ProviderWire, providers } from '../base/wires.js'
import type { Prompts } from '../surface/prompts.js'
import { detectToolForm } from '../tool/define-tool.js'

/** The JSON of a request. */
export type Body = Readonly<Record<string, unknown>>

/** A wire with untyped messages: they come from the framework. */
export type AnyWire = Wire<unknown, unknown, Body>

interface BodyCode {
  /** `native`: the framework keeps answers in the form of the wire. */
  wire(given: { readonly loader: string; readonly prompts: Prompts }, native: boolean): AnyWire
  assemble(events: AsyncIterable<unknown>): Promise<StreamedReply<unknown, unknown>>
}

export type BodyKind = BodyCode & Pick<ProviderFacts, 'history' | 'prompt'>

const bodyCode: Readonly<Record<ProviderWire, BodyCode>> = {
  [ANTHROPIC]: {
    wire: ({ prompts }, native) => anthropicWire(prompts, { native }) as unknown as AnyWire,
    assemble: assembleAnthropic,
  },
  [GOOGLE]: { wire: ({ prompts }) => googleWire(prompts) as unknown as AnyWire, assemble: assembleGoogle },
  [CHAT]: { wire: ({ prompts }) => chatWire(prompts) as unknown as AnyWire, assemble: assembleChat },
  [RESPONSES]: {
    // A framework cannot run the provider's search, because it is not a function call.
    wire: ({ loader, prompts }) => responsesWire(loader, prompts, { native: false }) as unknown as AnyWire,
    assemble: assembleResponses,
  },
}

export function getBodyKind(wire: ProviderWire): BodyKind {
  return { ...providers[wire], ...bodyCode[wire] }
}

/** The messages of a request. The Responses API also accepts a string: a user message. */
export function readHistory(body: Body, { history }: BodyKind): readonly unknown[] | undefined {
  const given = body[history]
  if (typeof given === 'string') return [{ role: 'user', content: given }]
  return Array.isArray(given) ? given : undefined
}

/** Detects the wire of a request by the form of the tool with this name. */
export function detectWire({ tools }: Body, name: string): ProviderWire | undefined {
  const tool: unknown = Array.isArray(tools)
    ? tools.find((each) => listToolNames(each).includes(name))
    : undefined
  return isRecord(tool) ? detectToolForm(tool) : undefined
}

/** The names that a request declares. */
export function listNames({ tools }: Body): readonly string[] {
  return Array.isArray(tools) ? tools.flatMap(listToolNames) : []
}

/** The tools of a request, except Toolwell's. */
export function listOtherTools({ tools }: Body, isOurs: (name: string) => boolean): readonly unknown[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: unknown) => {
    if (!isRecord(tool) || !Array.isArray(tool.functionDeclarations))
      return listToolNames(tool).some(isOurs) ? [] : [tool]
    const rest = tool.functionDeclarations.filter((each: unknown) => !listToolNames(each).some(isOurs))
    return rest.length === 0 ? [] : [{ ...tool, functionDeclarations: rest }]
  })
}

function listToolNames(tool: unknown): readonly string[] {
  if (!isRecord(tool)) return []
  if (Array.isArray(tool.functionDeclarations)) return tool.functionDeclarations.flatMap(listToolNames)
  const { name } = isRecord(tool.function) ? tool.function : tool
  return typeof name === 'string' ? [name] : []
}
