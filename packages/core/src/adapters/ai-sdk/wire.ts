/** The wire of the SDK's messages, for host messages and for a model's prompt. */

import { dropUndefined } from '../../base/data.js'
import type { WireSupport } from '../../surface/auto.js'
import type { Prompts } from '../../surface/prompts.js'
import { MISTRAL_IDS } from '../shared/inserts.js'
import type { UnitCall } from '../shared/thread.js'
import type { Wire } from '../shared/wire.js'
import { addToolChanges } from './found.js'
import { joinTurns, normaliseMessage, removeProviderCalls } from './normalise.js'
import type { NativeWay } from './protocol.js'
import { boundThinking, findSummary, isSignedSummary, type Protocol, rules } from './protocol.js'
import { readMessages, restoreMessages } from './read.js'
import { replaceMedia, writeContentOutput } from './results.js'
import { addSearches, removeRepeatedItems, writeSearchItems } from './tool-search.js'
import { type AiMessage, WIRE } from './types.js'
import { writeMessages } from './write.js'

export interface AiParts {
  readonly prompt: readonly AiMessage[]
}

/** The calls of a reply that the SDK started. */
export type AiReply = readonly UnitCall[]

export interface AiWireOptions {
  /** Names of declared tools that Toolwell does not run. */
  readonly beside?: readonly string[]
  /** How the provider can reveal tools. */
  readonly way?: NativeWay | undefined
  /** Whether the SDK has this tool on this request: results must not refer to others. */
  readonly given?: (name: string) => boolean
  /** Histories that a host keeps. They are not sent unchanged. */
  readonly stored?: boolean
  /** The provider drops invalid thinking or does not check it, so none is removed here. */
  readonly keepsThinking?: boolean
  /** The server is Mistral's. */
  readonly mistral?: boolean
  /** The request declares code execution, which may call tools. */
  readonly runsCode?: boolean
  /** Counts the answers that the provider did not show to the model for the last reply. */
  readonly countCleared?: () => number
}

/** OpenAI's search adds tools between messages, but cannot remove them. */
const NATIVE: Readonly<Record<NativeWay, NonNullable<WireSupport['native']>>> = {
  references: 'references',
  'tool-changes': 'changes',
  'tool-search': 'additions',
}

export function aiWire(
  protocol: Protocol,
  prompts: Prompts,
  {
    beside = [],
    way,
    given = () => true,
    stored = false,
    keepsThinking = false,
    mistral = false,
    runsCode = false,
    countCleared = () => 0,
  }: AiWireOptions = {},
): Wire<AiMessage, AiReply, AiParts> {
  const { ids, opensWithUser = false, turns = false, answers, ran: _, ...others } = rules[protocol]
  const inMessages = { ...others, ...(answers ? { results: prompts.noOutput() } : {}) }
  return {
    name: protocol,
    // The SDK takes the system prompt outside the messages.
    traits: {
      // A model's prompt has the SDK's form; a host may pass anything.
      ...(stored ? { form: WIRE } : {}),
      ...dropUndefined({ ids: ids && mistral ? { ...ids, ...MISTRAL_IDS } : ids }),
      modelSpeaksBetween: mistral,
      keepsMedia: protocol === WIRE,
      opensWithUser,
      thinking: protocol === 'anthropic' && !keepsThinking ? boundThinking : undefined,
      wordlessSearches: way === 'tool-search',
      findSummary,
      ...(protocol === 'anthropic' ? { replacesHistory: isSignedSummary } : {}),
      runsCode,
      // The providers of Anthropic and Google join results and the text after them into one turn.
      notesJoinAnswers: protocol !== 'anthropic' && protocol !== 'google',
      native: way && NATIVE[way],
    },
    normalise: (message) => normaliseMessage(replaceMedia(message, protocol, prompts), inMessages),
    read: readMessages,
    ...(protocol === WIRE ? { restore: restoreMessages } : {}),
    write(units, view) {
      const { section } = view
      const native = view.delivery === 'native' ? way : undefined
      const declared = native
        ? [...view.tools, ...view.declaredHidden].map(({ name }) => name).filter(given)
        : []
      // While deferral is off, references and their tools are the host's own.
      const known = view.mode === 'off' && protocol === 'anthropic' ? { has: given } : new Set(declared)
      const searches = native === 'tool-search'
      const changed =
        native === 'tool-changes' ? addToolChanges(units, known) : searches ? addSearches(units, view) : units
      const kept = stored || searches
      const written = writeMessages(changed, {
        protocol,
        section,
        prompts,
        known: kept ? undefined : known,
        wordless: searches ? view.loader : undefined,
      })
      const messages = stored ? written : removeProviderCalls(written, rules[protocol])
      if (turns) return joinTurns(messages)
      return protocol === 'openai-responses'
        ? writeSearchItems(removeRepeatedItems(messages), view, prompts)
        : messages
    },
    ofHost: () => beside,
    parts: (messages) => ({ prompt: messages }),
    countCleared,
    calls: (reply) => reply,
    answer: (answers, _view, calls) =>
      answers.length === 0
        ? []
        : [
            {
              role: 'tool',
              content: answers.map(({ callId, text, parts }, index) => ({
                type: 'tool-result',
                toolCallId: callId,
                toolName: calls[index]?.name ?? WIRE,
                output: parts ? writeContentOutput(parts) : { type: 'text', value: text },
              })),
            },
          ],
  }
}
