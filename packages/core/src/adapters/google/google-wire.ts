/** The Gemini wire: contents, function declarations, and the system instruction that stands before both. */
import type { CallAnswer } from '../../run-calls.js'
import type { Wire } from '../shared/adapter.js'
import type { UnitCall } from '../shared/thread.js'
import { callsOf, contentOf, ownId, readContents } from './read-contents.js'
import { declarations } from './tools.js'
import {
  type GoogleContent,
  type GooglePart,
  type GoogleReply,
  type GoogleTool,
  partsOf,
  WIRE,
} from './wire.js'
import { toResponse, writeContents } from './write-contents.js'

export interface GooglePrompt {
  /** Your own. What Toolwell has to say follows it. */
  readonly systemInstruction?: string | GoogleContent | undefined
}

export interface GoogleParts {
  readonly contents: readonly GoogleContent[]
  /** Absent where there are none: an empty list is refused by servers. */
  readonly tools?: readonly GoogleTool[]
  readonly systemInstruction?: GoogleContent
}

export const googleWire: Wire<GoogleContent, GoogleReply, GoogleParts, GooglePrompt> = {
  name: WIRE,
  parse: readContents,
  write: writeContents,
  callable: () => [],
  parts(messages, view, prompt) {
    const functionDeclarations = declarations(view)
    const systemInstruction = instruct(prompt.systemInstruction, view.section)
    return {
      contents: messages.every(hasParts) ? messages : messages.filter(hasParts),
      ...(functionDeclarations.length > 0 ? { tools: [{ functionDeclarations }] } : {}),
      ...(systemInstruction ? { systemInstruction } : {}),
    }
  },
  calls(reply) {
    const content = contentOf(reply)
    return content ? callsOf(content) : []
  },
  answer(answers, _view, calls) {
    if (answers.length === 0) return []
    return [{ role: 'user', parts: answers.map((answer, index) => answerPart(answer, calls[index])) }]
  },
}

function answerPart({ outcome, text }: CallAnswer, call: UnitCall | undefined): GooglePart {
  const failed = outcome.kind === 'error' || outcome.kind === 'not-recorded'
  const id = ownId(call)
  const answered = { ...(id === undefined ? {} : { id }), name: call?.name ?? '' }
  return { functionResponse: toResponse(answered, failed ? { error: text } : { result: text }) }
}

function instruct(own: GooglePrompt['systemInstruction'], section: string): GoogleContent | undefined {
  const content = typeof own === 'string' ? { parts: own === '' ? [] : [{ text: own }] } : own
  if (section !== '') return { ...content, parts: [...(content ? partsOf(content) : []), { text: section }] }
  return content && hasParts(content) ? content : undefined
}

function hasParts(content: GoogleContent): boolean {
  return partsOf(content).length > 0
}
