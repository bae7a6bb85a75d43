/** How the SDK writes a history down, and how it is read: the same for a host's messages and for a model's prompt. */
import type { Wire } from '../shared/adapter.js'
import type { UnitCall } from '../shared/thread.js'
import { type Protocol, rules } from './protocol.js'
import { readMessages } from './read-messages.js'
import { type AiMessage, WIRE } from './wire.js'
import { writeMessages } from './write-messages.js'

export interface AiParts {
  readonly prompt: readonly AiMessage[]
}

/** The calls of a reply that the SDK has started. */
export type AiReply = readonly UnitCall[]

export interface AiWireOptions {
  /** Names of tools that Toolwell does not run and that the request declares all the same. */
  readonly beside?: readonly string[]
  /** Whether the server defers tools itself. */
  readonly native?: boolean
}

export function aiWire(
  protocol: Protocol,
  { beside = [], native = false }: AiWireOptions = {},
): Wire<AiMessage, AiReply, AiParts> {
  const { ids, opensWithUser = false } = rules[protocol]
  return {
    name: protocol,
    // The SDK takes it beside the messages.
    systemInMessages: false,
    ...(ids ? { ids } : {}),
    opensWithUser,
    native: native && protocol === 'anthropic' ? 'references' : undefined,
    parse: readMessages,
    write(units, view) {
      const names = view.delivery === 'native' ? [...view.tools, ...view.aside] : []
      return writeMessages(units, {
        protocol,
        section: view.section,
        known: new Set(names.map(({ name }) => name)),
      })
    },
    ofHost: () => beside,
    parts: (messages) => ({ prompt: messages }),
    calls: (reply) => reply,
    answer: (answers, _view, calls) =>
      answers.length === 0
        ? []
        : [
            {
              role: 'tool',
              content: answers.map(({ callId, text }, index) => ({
                type: 'tool-result',
                toolCallId: callId,
                toolName: calls[index]?.name ?? WIRE,
                output: { type: 'text', value: text },
              })),
            },
          ],
  }
}
