/** The wire of the Gemini API. */

import { dropUndefined, isRecord } from '../../base/data.js'
import { assertKnownKeys, invalid } from '../../base/options.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { CallAnswer } from '../../turn/run.js'
import type { UnitCall } from '../shared/thread.js'
import { addOwnTools, readProviderTools } from '../shared/tools.js'
import type { Wire } from '../shared/wire.js'
import { isEmpty, readContents, readOwnId, readReplyCalls, restoreContents } from './read.js'
import { readUsage } from './stream.js'
import { writeTools } from './tools.js'
import {
  type GoogleContent,
  type GoogleFunction,
  type GooglePart,
  type GoogleReply,
  type GoogleTool,
  listParts,
  WIRE,
} from './types.js'
import { createResponse, writeContents, writeResponse } from './write.js'

export interface GooglePrompt {
  /** Your system prompt. The section follows it. */
  readonly systemInstruction?: string | GoogleContent | undefined
}

/** Do not change its arrays: they are sent again, and may be yours. */
export interface GoogleParts<Content extends GoogleContent = GoogleContent> {
  readonly contents: Content[]
  /** Absent if there are none: servers refuse an empty list. */
  readonly tools?: GoogleTool[]
  /** Your system prompt, followed by the section. Absent if both are empty. */
  readonly systemInstruction?: Content
  /** Names the callable tools if a declared tool may not be called. The declarations stay, so the cache stays valid. */
  readonly toolConfig?: GoogleToolConfig
}

export interface GoogleToolConfig {
  readonly functionCallingConfig: {
    /** `VALIDATED`, typed to fit every client's list of modes. */
    readonly mode: never
    readonly allowedFunctionNames: string[]
  }
}

export interface GoogleOptions {
  /**
   * Whether the model accepts images and PDFs in a function response. Default true. Set it to false for models before
   * Gemini 3.
   */
  readonly mediaResponses?: boolean
  /**
   * Tools that Google defines or runs, for example `{ googleSearch: {} }` or `{ computerUse: {…} }`. They come first in every
   * request. With `computerUse`, `run` returns calls of names that Toolwell does not know as `providerCalls`.
   */
  readonly providerTools?: readonly object[]
}

/** `prompts`: the texts that Toolwell adds to a history. */
export function googleWire(
  prompts: Prompts,
  options: GoogleOptions = {},
): Wire<GoogleContent, GoogleReply, GoogleParts, GooglePrompt> {
  assertKnownKeys(options, ['mediaResponses', 'providerTools'], 'google')
  const actions = (options.providerTools ?? []).some(
    (tool) => isRecord(tool) && tool.computerUse !== undefined,
  )
  const provider = readProviderTools(options.providerTools, {
    names: () => [],
    isFunction: ({ functionDeclarations: own }) => own !== undefined,
    // The model defines the actions of a computer, and their list grows with each model.
    owns: ({ name }, isOurs) => actions && !isOurs(name),
  })
  const { mediaResponses = true } = options
  return {
    name: WIRE,
    provider,
    traits: {
      form: WIRE,
      prompt: ['systemInstruction'],
      opensWithUser: true,
      textResults: !mediaResponses,
    },
    // A reply that broke off has no parts, and servers refuse it.
    normalise: (content) => (isEmpty(content) ? [] : [content]),
    read: readContents,
    restore: restoreContents,
    write: (units, _view, warn = () => undefined) => writeContents(units, warn),
    parts(messages, view, prompt) {
      const functionDeclarations = writeTools(view) as GoogleFunction[]
      const own = functionDeclarations.length > 0 ? [{ functionDeclarations }] : []
      const tools = addOwnTools<GoogleTool>(provider, own) as GoogleTool[]
      const systemInstruction = writeSystem(prompt.systemInstruction, view.section)
      return {
        // Not changed here; typed as clients expect.
        contents: messages as GoogleContent[],
        ...(tools.length > 0 ? { tools } : {}),
        ...(systemInstruction ? { systemInstruction } : {}),
        // The list of callable tools would exclude the actions of a computer.
        ...(actions ? {} : writeToolConfig(view)),
      }
    },
    usage: (reply) =>
      isRecord(reply) && 'usageMetadata' in reply ? readUsage(reply.usageMetadata) : undefined,
    calls(reply) {
      if (!isReply(reply))
        throw invalid(
          'reply',
          'run takes the response of generateContent, or the content of its first candidate: response.candidates[0].content.',
        )
      return readReplyCalls(reply)
    },
    answer(answers, _view, calls) {
      if (answers.length === 0) return []
      const parts = answers.map((answer, index) => answerPart(answer, calls[index], mediaResponses, prompts))
      return [{ role: 'user', parts }]
    },
  }
}

/** A response or a content has at least one of these fields, or none at all: this API omits empty fields. */
const REPLY_FIELDS = ['candidates', 'promptFeedback', 'usageMetadata', 'parts', 'role']

function isReply(reply: unknown): boolean {
  if (!isRecord(reply)) return false
  return Object.keys(reply).length === 0 || REPLY_FIELDS.some((field) => field in reply)
}

/** Unloaded and unavailable tools stay declared, but cannot be called. */
function writeToolConfig({ tools, masked }: SurfaceView): { readonly toolConfig?: GoogleToolConfig } {
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
  const id = readOwnId(call)
  const answered = { ...dropUndefined({ id }), name: call?.name ?? '' }
  const key = failed ? 'error' : 'result'
  if (!parts) return { functionResponse: createResponse(answered, { [key]: text }) }
  const { response, ...beside } = writeResponse(parts, key, media, prompts)
  return { functionResponse: { ...createResponse(answered, response), ...beside } }
}

function writeSystem(own: GooglePrompt['systemInstruction'], section: string): GoogleContent | undefined {
  const content = typeof own === 'string' ? { parts: own === '' ? [] : [{ text: own }] } : own
  if (section !== '')
    return { ...content, parts: [...(content ? listParts(content) : []), { text: section }] }
  return content && listParts(content).length > 0 ? content : undefined
}
