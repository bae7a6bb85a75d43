/**
 * The SDK, its hooks and its approvals see the tool that is meant; the model is shown what it wrote. Where the two differ,
 * what it wrote is kept in the provider options of the call, which the SDK carries through every history.
 */
import { isRecord } from '../../base/data.js'
import { argumentsObject, readArguments } from '../shared/thread.js'
import { type AiCallPart, type AiMessage, type AiPart, isCall, isResult, partsOf } from './types.js'

const KEY = 'toolwell'

interface Written {
  readonly name: string
  /** Its arguments as text. */
  readonly arguments: string
}

/** Metadata of a call with what the model wrote. */
export function marked(
  metadata: Readonly<Record<string, unknown>> | undefined,
  written: Written,
): Record<string, unknown> {
  return { ...metadata, [KEY]: { ...written } }
}

/** A history as the model wrote it. The same array, with the same messages in it, where nothing differs. */
export function restored<Message extends AiMessage>(messages: readonly Message[]): readonly Message[] {
  const names = new Map<string, string>()
  const made = messages.map((message) => {
    const parts = partsOf(message)
    const next = parts.map((part) => restoredPart(part, names))
    return next.every((part, index) => part === parts[index]) ? message : { ...message, content: next }
  })
  return made.every((message, index) => message === messages[index]) ? messages : made
}

function restoredPart(part: AiPart, names: Map<string, string>): AiPart {
  const written = writtenIn(part)
  if (isCall(part)) {
    names.delete(part.toolCallId)
    if (!written) return part
    names.set(part.toolCallId, written.name)
    const input = argumentsObject(readArguments(written.arguments))
    return { ...unmarked(part), toolName: written.name, input } as AiCallPart
  }
  if (!isResult(part)) return part
  const toolName = names.get(part.toolCallId) ?? written?.name ?? part.toolName
  if (toolName === part.toolName && !written) return part
  return { ...unmarked(part), toolName } as AiPart
}

function writtenIn({ providerOptions }: AiPart): Written | undefined {
  const mark = isRecord(providerOptions) ? providerOptions[KEY] : undefined
  return isRecord(mark) && typeof mark.name === 'string' && typeof mark.arguments === 'string'
    ? { name: mark.name, arguments: mark.arguments }
    : undefined
}

function unmarked<Part extends AiPart>(part: Part): Part {
  const { providerOptions, ...rest } = part
  if (!isRecord(providerOptions)) return part
  const { [KEY]: _, ...others } = providerOptions
  return (Object.keys(others).length > 0 ? { ...rest, providerOptions: others } : rest) as Part
}
