/** pi's requests: which wire an API of pi's speaks, and where its payload holds what an adapter reads. */
import type { FrameworkOptions } from '@toolwell/core/framework'
import { isRecord } from '@toolwell/core/internal'

export type WireName = FrameworkOptions['wire']

/** APIs of pi that are not here have a form of their own: their requests are left as they are. */
const WIRES: Readonly<Record<string, WireName>> = {
  'anthropic-messages': 'anthropic',
  'openai-completions': 'openai-chat',
  'openai-responses': 'openai-responses',
  'azure-openai-responses': 'openai-responses',
  'openai-codex-responses': 'openai-responses',
  'google-generative-ai': 'google',
  'google-vertex': 'google',
}

export const wireOf = (api: string | undefined): WireName | undefined =>
  api !== undefined && Object.hasOwn(WIRES, api) ? WIRES[api] : undefined

/** What Google's client takes as its config stands at the top of a request on the wire. */
const IN_CONFIG = ['systemInstruction', 'tools', 'toolConfig'] as const

/** The payload as a request of the wire, and back. */
export function bodyOf(payload: unknown, wire: WireName) {
  if (!isRecord(payload)) return undefined
  if (wire !== 'google' || !isRecord(payload.config))
    return { body: payload, payloadOf: (body: Readonly<Record<string, unknown>>): unknown => body }
  const { config, ...rest } = payload
  const lifted = Object.fromEntries(
    IN_CONFIG.flatMap((key) => (config[key] === undefined ? [] : [[key, config[key]]])),
  )
  return {
    body: { ...rest, ...lifted },
    payloadOf(body: Readonly<Record<string, unknown>>): unknown {
      const top = Object.entries(body).filter(([key]) => !isInConfig(key))
      const inner = Object.entries(body).filter(([key]) => isInConfig(key))
      return { ...Object.fromEntries(top), config: { ...config, ...Object.fromEntries(inner) } }
    },
  }
}

const isInConfig = (key: string) => IN_CONFIG.some((each) => each === key)

/** Where the history of a request is. */
const HISTORY: Readonly<Record<WireName, string>> = {
  anthropic: 'messages',
  google: 'contents',
  'openai-chat': 'messages',
  'openai-responses': 'input',
}

/** A request whose history is another one. */
export function withHistory(
  body: Readonly<Record<string, unknown>>,
  wire: WireName,
  change: (history: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  const key = HISTORY[wire]
  return { ...body, [key]: change(body[key]) }
}

/** A request that does not declare some of its tools. */
export function withoutTools(
  body: Readonly<Record<string, unknown>>,
  isLeftOut: (name: string) => boolean,
): Readonly<Record<string, unknown>> {
  return Array.isArray(body.tools) ? { ...body, tools: restOf(body.tools, isLeftOut) } : body
}

function restOf(tools: readonly unknown[], isLeftOut: (name: string) => boolean): readonly unknown[] {
  return tools.flatMap((tool) => {
    if (!isRecord(tool)) return [tool]
    if (Array.isArray(tool.functionDeclarations))
      return [{ ...tool, functionDeclarations: restOf(tool.functionDeclarations, isLeftOut) }]
    const { name } = isRecord(tool.function) ? tool.function : tool
    return typeof name === 'string' && isLeftOut(name) ? [] : [tool]
  })
}
