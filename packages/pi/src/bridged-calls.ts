/** Calls that come through the bridge, shown as calls of the inner tool to whoever asks before a call runs. */
import type { Catalogue } from '@toolwell/core'
import { isRecord } from '@toolwell/core/internal'
import type { PiEvent } from './pi.js'

const BRIDGE = 'tool_call'

export interface BridgedCalls {
  /** Changes the event in place, as pi has it: extensions behind this one see the inner tool and may change its arguments. */
  show(event: PiEvent, catalogue: Catalogue): void
  /** The arguments as the bridge takes them. */
  written(callId: string, input: unknown): unknown
}

export function bridgedCalls(): BridgedCalls {
  const rest = new Map<string, Record<string, unknown>>()
  return {
    show(event, catalogue) {
      const { toolName, toolCallId, input } = event
      if (toolName !== BRIDGE || toolCallId === undefined || !isRecord(input)) return
      const { arguments: inner, ...others } = input
      const found = typeof others.name === 'string' ? catalogue.resolve(others.name, () => true) : undefined
      if (found?.kind !== 'found' || !isRecord(inner)) return
      rest.set(toolCallId, others)
      event.toolName = found.entry.wireName
      for (const key of Object.keys(input)) delete input[key]
      Object.assign(input, inner)
    },
    written(callId, input) {
      const others = rest.get(callId)
      rest.delete(callId)
      return others ? { ...others, arguments: input } : input
    },
  }
}
