/** The Gemini wire: contents, function declarations, and the system instruction that stands before both. */

import { defined, isRecord } from '../../base/guards.js'
import { assertKnownKeys, invalid } from '../../base/options.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { CallAnswer } from '../../turn/run.js'
import type { UnitCall } from '../shared/thread.js'
import type { Wire } from '../shared/wire.js'
import { normaliseParts } from './normalise.js'
import { callsOf, contentOf, contentsOf, ownId, readContents } from './read.js'
import { readUsage } from './stream.js'
import { declarations } from './tools.js'
import {
  type GoogleContent,
  type GoogleFunction,
  type GooglePart,
  type GoogleReply,
  type GoogleTool,
  partsOf,
  WIRE,
} from './types.js'
import { responseOf, toResponse, writeContents } from './write.js'

export interface GooglePrompt {
  /** Your own. What Toolwell has to say follows it. */
  readonly systemInstruction?: string | GoogleContent | undefined
}

/** Its arrays are yours to read: they are sent again, and may be the ones you gave. */
export interface GoogleParts<Content extends GoogleContent = GoogleContent> {
  readonly contents: Content[]
  /** Absent where there are none: an empty list is refused by servers. */
  readonly tools?: GoogleTool[]
  /** Yours, and the section behind it. Absent where there is neither. */
  readonly systemInstruction?: Content
  /** Names what may be called, where something that is declared may not: the declarations stay, and so does the cache. */
  readonly toolConfig?: GoogleToolConfig
}

export interface GoogleToolConfig {
  readonly functionCallingConfig: {
    /** `VALIDATED`, in a type that fits every client's own list of modes. */
    readonly mode: never
    readonly allowedFunctionNames: string[]
  }
}

export interface GoogleOptions {
  /** Whether the model takes images and PDFs in the response of a function. Default true; false for models before Gemini 3, which refuse them. */
  readonly mediaResponses?: boolean
}

/** `prompts`: what has to be said in a history, in the host's words. */
export function googleWire(
  prompts: Prompts,
  options: GoogleOptions = {},
): Wire<GoogleContent, GoogleReply, GoogleParts, GooglePrompt> {
  assertKnownKeys(options, ['mediaResponses'], 'google')
  const { mediaResponses = true } = options
  return {
    name: WIRE,
    traits: {
      form: WIRE,
      prompt: ['systemInstruction'],
      opensWithUser: true,
      textResults: !mediaResponses,
    },
    // A reply that broke off has no parts at all, and no server takes it back.
    normalise: (content) => (normaliseParts(content).length > 0 ? [content] : []),
    read: readContents,
    restore: contentsOf,
    write: (units, _view, warn = () => undefined) => writeContents(units, warn),
    parts(messages, view, prompt) {
      const functionDeclarations = declarations(view) as GoogleFunction[]
      const systemInstruction = instruct(prompt.systemInstruction, view.section)
      return {
        // Nobody here changes them; they are typed as clients want them.
        contents: messages as GoogleContent[],
        ...(functionDeclarations.length > 0 ? { tools: [{ functionDeclarations }] } : {}),
        ...(systemInstruction ? { systemInstruction } : {}),
        ...mask(view),
      }
    },
    usage: (reply) =>
      isRecord(reply) && 'usageMetadata' in reply ? readUsage(reply.usageMetadata) : undefined,
    calls(reply) {
      if (!isReply(reply))
        throw invalid(
          'reply',
          'run wants the response of generateContent, or the content of its first candidate: response.candidates[0].content.',
        )
      const content = contentOf(reply)
      return content ? callsOf(content) : []
    },
    answer(answers, _view, calls) {
      if (answers.length === 0) return []
      const parts = answers.map((answer, index) => answerPart(answer, calls[index], mediaResponses, prompts))
      return [{ role: 'user', parts }]
    },
  }
}

/** A response or a content has one of them, or nothing at all: this API leaves out what is empty. */
const REPLY_FIELDS = ['candidates', 'promptFeedback', 'usageMetadata', 'parts', 'role']

function isReply(reply: unknown): boolean {
  if (!isRecord(reply)) return false
  return Object.keys(reply).length === 0 || REPLY_FIELDS.some((field) => field in reply)
}

/** Unloaded tools, and those that are gone for now, stay declared and cannot be called. */
function mask({ tools, masked }: SurfaceView): { readonly toolConfig?: GoogleToolConfig } {
  if (masked.length === 0) return {}
  const allowedFunctionNames = tools.map(({ name }) => name).filter((name) => !masked.includes(name))
  return { toolConfig: { functionCallingConfig: { mode: 'VALIDATED' as never, allowedFunctionNames } } }
}

function answerPart(
  { outcome, text, parts }: CallAnswer,
  call: UnitCall | undefined,
  media: boolean,
  prompts: Prompts,
): GooglePart {
  const failed = ['error', 'timed-out', 'already-started', 'not-recorded'].includes(outcome.kind)
  const id = ownId(call)
  const answered = { ...defined({ id }), name: call?.name ?? '' }
  const key = failed ? 'error' : 'result'
  if (!parts) return { functionResponse: toResponse(answered, { [key]: text }) }
  const { response, ...beside } = responseOf(parts, key, media, prompts)
  return { functionResponse: { ...toResponse(answered, response), ...beside } }
}

function instruct(own: GooglePrompt['systemInstruction'], section: string): GoogleContent | undefined {
  const content = typeof own === 'string' ? { parts: own === '' ? [] : [{ text: own }] } : own
  if (section !== '') return { ...content, parts: [...(content ? partsOf(content) : []), { text: section }] }
  return content && partsOf(content).length > 0 ? content : undefined
}
