/**
 * Reads the calls of a reply before the SDK does. The SDK then sees the tool that is meant, with arguments that it can
 * read, whatever the model wrote; what it wrote is judged by the conversation and kept in the history.
 */

import { isRecord } from '../../base/data.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import { argumentsObject, readArguments, type UnitCall } from '../shared/thread.js'
import { marked } from './marks.js'
import type { AiReplyCall, AiReplyPart } from './types.js'

export interface ReplyContext {
  /** The bridge, where this request has one. */
  readonly bridge: string | undefined
  /** Whether the SDK has a tool of this name on this request. */
  known(name: string): boolean
  /** Whether it is a tool that Toolwell does not run. */
  isBeside(name: string): boolean
  /** The name under which the SDK has the tool that is meant. */
  targetOf(asked: string): string | undefined
  /** Whether calls of this tool come wrapped: the SDK sees them when they are whole. */
  wraps(name: string): boolean
  /** A call of such a tool as it is meant, out of what it is wrapped in. */
  unwrapped(call: AiReplyCall): AiReplyCall
  found(call: UnitCall): void
}

export interface ReplyReader {
  /** A piece of a reply as the SDK should see it; undefined where it should not. */
  read(part: AiReplyPart): AiReplyPart | undefined
}

export function createReplyReader(context: ReplyContext): ReplyReader {
  const seen = new Set<string>()
  /** Calls whose name may still change: the SDK sees them when they are complete. */
  const held = new Set<string>()
  const isHeld = (name: string) => name === context.bridge || context.wraps(name) || !context.known(name)

  const readCall = (given: AiReplyCall): AiReplyCall => {
    if (given.providerExecuted || context.isBeside(given.toolName)) return given
    const part = context.wraps(given.toolName) ? context.unwrapped(given) : given
    const id = distinct(part.toolCallId, seen)
    const written = { name: part.toolName, arguments: part.input }
    const input = readArguments(part.input)
    context.found({ id, name: part.toolName, input, text: part.input })
    const shown = shownAs(written.name, input, context)
    const text = shown.input === undefined ? readable(part.input, input) : writeJson(shown.input)
    if (shown.name === part.toolName && text === part.input && id === part.toolCallId) return part
    return {
      ...part,
      toolCallId: id,
      toolName: shown.name,
      input: text,
      ...(shown.name === part.toolName ? {} : { providerMetadata: marked(part.providerMetadata, written) }),
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
  /** Where it is not what the model wrote. */
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

/** Arguments that are no object would be refused by the SDK, or by a server when they are sent again. */
function readable(text: string, input: UnitCall['input']): string {
  if ('value' in input && isRecord(input.value)) return text
  return text.trim() === '' ? text : writeJson(argumentsObject(input))
}

/** A model can nest deeper than JSON can be written. */
function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return '{}'
  }
}

/** Some servers give all calls of a reply one id, or none. */
function distinct(id: string, seen: Set<string>): string {
  const base = id === '' ? 'call' : id
  let own = base
  for (let count = 2; seen.has(own); count++) own = `${base}~${count}`
  seen.add(own)
  return own
}
